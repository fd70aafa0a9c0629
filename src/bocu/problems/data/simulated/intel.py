"""A stand-in for the Intel lab's raw log: a thermal network of 54 motes with sun, occupancy and air conditioning.

Each mote is a node that exchanges heat with its neighbours and with the outdoors, is warmed by the sun through the wall
nearest to it and by people on working days, and is cooled or heated by its zone's air conditioning. The log has the
schema and the faults of the real one: short lines, lost readings, outages, motes that never worked, unknown mote
numbers, and temperatures that run away while a battery dies. Readings come every five minutes instead of every 31
seconds, from 28 February to 15 March 2004.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bocu.core.io.files import write_text
from bocu.core.io.provenance import SIMULATED_LABEL
from bocu.problems.data.raw_files import write_gzip

_SEED = 20040228
MOTES = 54
FIRST_DAY = np.datetime64("2004-02-28")
DAYS = 17
PERIOD = 300  # seconds between readings
PER_DAY = 24 * 3600 // PERIOD
ROOM = (40.0, 32.0)  # metres
DEAD = (5, 15)  # motes that stop after a few readings
DYING = {18: 7.3, 29: 14.6}  # mote -> days after which its battery ends
LAST_TEMPERATURE = 122.153  # degrees Celsius, what a mote reports once its battery is empty


class Readings(NamedTuple):
    """What each mote measures before faults; arrays (motes, readings) and time (readings,) in hours."""

    hours: np.ndarray
    temperature: np.ndarray
    humidity: np.ndarray
    light: np.ndarray
    voltage: np.ndarray


def simulate(path: str | os.PathLike[str]) -> None:
    """Write one raw file, `mote_locs.txt` or `data.txt.gz`, by its name."""
    positions = _positions()
    if Path(path).name == "mote_locs.txt":
        lines = [f"{mote} {x:g} {y:g}" for mote, (x, y) in enumerate(positions, start=1)]
        write_text(path, "\n".join([f"# {SIMULATED_LABEL}", *lines]) + "\n")
    else:
        weather, network, faults = (np.random.default_rng(seed) for seed in np.random.SeedSequence(_SEED).spawn(3))
        readings = _thermal_network(positions, weather, network)
        write_gzip(_log(readings, faults).encode("ascii"), SIMULATED_LABEL, path)


def _positions() -> np.ndarray:
    """Motes (54, 2) in metres: nine by six desks, moved a little, rounded to half a metre as in the real file."""
    rng = np.random.default_rng(_SEED)
    columns, rows = np.meshgrid(np.linspace(2, ROOM[0] - 2, 9), np.linspace(2, ROOM[1] - 2, 6))
    desks = np.stack([columns.ravel(), rows.ravel()], axis=1)
    return np.round(2 * (desks + rng.uniform(-1.5, 1.5, desks.shape))) / 2


def _thermal_network(positions: np.ndarray, weather: np.random.Generator, network: np.random.Generator) -> Readings:
    """Integrate the network by explicit Euler steps of one reading; all rates are per hour, well below 1 / step."""
    steps, step = DAYS * PER_DAY, PERIOD / 3600
    hours = np.arange(steps) * step
    outdoors, sky = _weather(hours, weather)
    sun = _sun(positions, hours, sky)
    people = _people(hours, network)
    distance = np.linalg.norm(positions[:, None] - positions[None, :], axis=2)
    exchange = 1.2 * np.exp(-((distance / 5.0) ** 2))
    np.fill_diagonal(exchange, 0.0)
    to_wall = np.min([positions[:, 0], ROOM[0] - positions[:, 0], positions[:, 1], ROOM[1] - positions[:, 1]], axis=0)
    leak = 0.03 + 0.12 * np.exp(-to_wall / 3.0)
    zone = (positions[:, 0] > ROOM[0] / 2).astype(int) + 2 * (positions[:, 1] > ROOM[1] / 2)
    setpoint = 21.0 + network.normal(0, 0.5, (DAYS, 4))
    power = 0.8 + network.uniform(0, 0.4, MOTES)
    offset = network.normal(0, 0.3, MOTES)
    temperature = np.empty((MOTES, steps))
    state = np.full(MOTES, 18.5) + offset
    for index in range(steps):
        day, clock = divmod(index, PER_DAY)
        working = 6.0 <= clock * step < 20.0 and _is_workday(day)
        target = setpoint[day, zone] if working else np.clip(state, 16.0, 25.0)
        change = exchange @ state - exchange.sum(axis=1) * state + leak * (outdoors[index] - state)
        change += sun[:, index] + people[:, index] + power * np.clip(target - state, -2.0, 2.0)
        state = state + step * change
        temperature[:, index] = state
    measured = temperature + offset[:, None] + network.normal(0, 0.03, temperature.shape)
    humidity = 42.0 - 1.1 * (measured - 20.0) + network.normal(0, 0.4, measured.shape)
    light = 3.0 + 900.0 * sun + 250.0 * people + network.uniform(0, 2, measured.shape)
    drain = network.uniform(0.004, 0.008, MOTES)
    voltage = 2.72 - drain[:, None] * hours / 24 + 0.006 * (measured - 20.0) + network.normal(0, 0.003, measured.shape)
    return Readings(hours, measured, humidity, light, voltage)


def _is_workday(day: int) -> bool:
    return (day + 5) % 7 < 5  # the first day is a Saturday


def _weather(hours: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Outdoor temperature (steps,) in degrees Celsius and the share of clear sky (steps,) in [0, 1]."""
    day = (hours // 24).astype(int)
    mean = 14.0 + np.cumsum(rng.normal(0.2, 1.0, DAYS))
    clear = np.clip(0.65 + 0.35 * rng.standard_normal(DAYS), 0.05, 1.0)
    passing = np.clip(1 + 0.15 * np.cumsum(rng.normal(0, 0.2, hours.size)) / np.sqrt(1 + hours), 0.5, 1.2)
    swing = (2.0 + 4.0 * clear[day]) * np.cos(2 * np.pi * (hours % 24 - 15.0) / 24)
    return mean[day] + swing, np.clip(clear[day] * passing, 0, 1)


def _sun(positions: np.ndarray, hours: np.ndarray, sky: np.ndarray) -> np.ndarray:
    """Warming (motes, steps) in degrees Celsius per hour: east windows in the morning, south at noon, then west."""
    clock = hours % 24
    near = [np.exp(-(ROOM[0] - positions[:, 0]) / 4), np.exp(-positions[:, 1] / 4), np.exp(-positions[:, 0] / 4)]
    peaks = [(9.0, 1.6, 4.5), (12.5, 2.0, 2.5), (16.0, 1.6, 5.5)]
    shine = [height * sky * np.exp(-(((clock - hour) / width) ** 2)) for hour, width, height in peaks]
    return np.stack(near, axis=1) @ np.stack(shine)


def _people(hours: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Warming (motes, steps) in degrees Celsius per hour by people, screens and lamps on working days."""
    clock, day = hours % 24, (hours // 24).astype(int)
    there = (1 / (1 + np.exp(-(clock - 8.5) * 3))) / (1 + np.exp((clock - 18.0) * 2))
    busy = np.array([_is_workday(index) for index in range(DAYS)], dtype=float)
    habit = rng.gamma(2.0, 0.6, MOTES)
    presence = rng.uniform(0.3, 1.0, (MOTES, DAYS)) * busy
    return habit[:, None] * presence[:, day] * there


def _log(readings: Readings, rng: np.random.Generator) -> str:
    """The log as text, ordered by mote and epoch as the real one."""
    lines: list[str] = []
    for mote in range(1, MOTES + 1):
        received = rng.random(readings.hours.size) > rng.uniform(0.03, 0.15)
        for start in rng.uniform(0, DAYS * 24, rng.poisson(1.0)):
            received &= (readings.hours < start) | (readings.hours > start + rng.uniform(1, 4))
        if mote in DEAD:
            received[np.cumsum(received) > 30] = False
        epochs = np.nonzero(received)[0]
        temperature, voltage = readings.temperature[mote - 1].copy(), readings.voltage[mote - 1].copy()
        if mote in DYING:
            _battery_dies(temperature, voltage, readings.hours - 24 * DYING[mote])
        lines += _lines(mote, epochs, readings, temperature, voltage, rng)
    return "\n".join(lines) + "\n"


def _battery_dies(temperature: np.ndarray, voltage: np.ndarray, hours: np.ndarray) -> None:
    """From hour 0 on the voltage falls to 2 V in a day, and the temperature climbs to its last value."""
    late = hours > 0
    progress = np.minimum(hours[late] / 24, 1.0)
    voltage[late] += progress * (2.03 - voltage[late])
    temperature[late] += progress**2 * (LAST_TEMPERATURE - temperature[late])


def _lines(
    mote: int,
    epochs: np.ndarray,
    readings: Readings,
    temperature: np.ndarray,
    voltage: np.ndarray,
    rng: np.random.Generator,
) -> list[str]:
    micro = (epochs * PERIOD + rng.uniform(0, PERIOD, epochs.size)) * 1e6
    stamps = np.datetime_as_string(FIRST_DAY + micro.astype("timedelta64[us]"), unit="us")
    columns = (temperature, readings.humidity[mote - 1], readings.light[mote - 1], voltage)
    values = np.stack([column[epochs] for column in columns], axis=1).tolist()
    lines = [
        f"{stamp[:10]} {stamp[11:]} {epoch} {mote} {t:.6g} {h:.6g} {v:.6g} {u:.6g}"
        for stamp, epoch, (t, h, v, u) in zip(stamps.tolist(), epochs.tolist(), values, strict=True)
    ]
    for index in np.nonzero(rng.random(len(lines)) < 5e-4)[0]:
        fields = lines[index].split(" ")
        lines[index] = " ".join(fields[: rng.integers(4, 8)])  # a short line
    for index in np.nonzero(rng.random(len(lines)) < 2e-5)[0]:
        lines[index] = lines[index].replace(f" {mote} ", f" {6400 + mote} ", 1)  # a number no mote has
    return lines
