"""A stand-in for the testing simulator: infections in three groups that share test kits.

Each group has susceptible, infectious and recovered people; groups meet by a contact matrix; tests find infectious
people at a rate that grows with a group's kits a head and take them out of circulation. Inputs and output are those of
the real file: shares of kits and of initial cases in two of three groups, transmission probability, and minus the
people ever infected, standardised.
"""

import os

import numpy as np

from bocu.problems.data.raw_files import write_npz

_SEED = 2020
RUNS = 4085
POPULATION = np.array([10000.0, 6000.0, 3000.0])
CONTACTS = np.array([[9.0, 2.0, 0.5], [3.3, 6.0, 1.0], [1.7, 2.0, 3.0]])  # people met a day, by row's group
TRANSMISSION = (0.01, 0.045)  # per contact, at input 0 and 1
RECOVERY = 1 / 10  # per day
KITS = 3000.0  # per day
INITIAL_CASES = 120.0
DAYS, STEP = 112, 0.25


def simulate(path: str | os.PathLike[str]) -> None:
    """Write `infection_X_y.npz`."""
    rng = np.random.default_rng(_SEED)
    inputs = np.concatenate([_shares(rng), _shares(rng), rng.random((RUNS, 1))], axis=1)
    cases = infections(inputs)
    write_npz(path, X=inputs, y=(cases.mean() - cases) / cases.std())


def _shares(rng: np.random.Generator) -> np.ndarray:
    """Two shares of three, uniform where they sum to at most 1: (RUNS, 2)."""
    shares = rng.random((RUNS, 2))
    beyond = shares.sum(axis=1) > 1
    shares[beyond] = 1 - shares[beyond]
    return shares


def infections(inputs: np.ndarray) -> np.ndarray:
    """People ever infected (n,) for inputs (n, 5), by explicit Euler steps."""

    def all_three(two: np.ndarray) -> np.ndarray:
        return np.concatenate([two, 1 - two.sum(axis=1, keepdims=True)], axis=1)

    kits_a_head = KITS * all_three(inputs[:, :2]) / POPULATION
    found = 0.6 * (1 - np.exp(-2.0 * kits_a_head))  # per day; more kits find the same people twice
    infectious = INITIAL_CASES * all_three(inputs[:, 2:4])
    susceptible = POPULATION - infectious
    probability = TRANSMISSION[0] + (TRANSMISSION[1] - TRANSMISSION[0]) * inputs[:, 4:]
    for _ in range(round(DAYS / STEP)):
        force = probability * ((infectious / POPULATION) @ CONTACTS.T)
        new = STEP * force * susceptible
        susceptible = susceptible - new
        infectious = infectious + new - STEP * (RECOVERY + found) * infectious
    return (POPULATION - susceptible).sum(axis=1)
