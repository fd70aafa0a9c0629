"""What is known before deciding: columns of contexts whose values are given, and seasons of dates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bocu.advice.logs import Forecast, LogTable, weighted
from bocu.advice.time import Clock
from bocu.core.errors import BocuError, shown
from bocu.core.parameters import nearest
from bocu.robust.contexts.estimates import effective_number

#: Days of each season that may be asked for.
SEASONS = {"year": 365.25, "week": 7.0, "day": 1.0}


def with_season(
    table: LogTable, clock: Clock, season: str | None, known: Mapping[str, float]
) -> tuple[LogTable, dict[str, float]]:
    """Return a log with two more contexts, the place in a season, and what is known, these of the next row among it.

    The next row is as long after the last as rows are apart (median).

    Raises:
        BocuError: there is no such season, or rows have no dates.
    """
    if season is None:
        return table, dict(known)
    if season not in SEASONS:
        raise BocuError(f"--season: found {shown(season)}; {nearest(season, SEASONS)}")
    if clock.unit != "days":
        raise BocuError("--season: rows have no dates; --time names their column")
    after = float(np.median(np.diff(clock.times))) if len(clock.times) > 1 else 0.0
    angle = 2.0 * np.pi * np.append(clock.times, clock.times[-1] + after) / SEASONS[season]
    waves = {f"{season}, cosine": np.cos(angle), f"{season}, sine": np.sin(angle)}
    columns = {**table.columns, **{name: wave[:-1].tolist() for name, wave in waves.items()}}
    return replace(table, columns=columns), {**known, **{name: float(wave[-1]) for name, wave in waves.items()}}


def given_what_is_known(
    reference: Forecast, names: Sequence[str], known: Mapping[str, float], *, from_log: bool
) -> Forecast:
    """Return a reference where some contexts are known.

    The others of a log are weighted by how near it came to what is known: a normal kernel over the known columns, in
    standard deviations, of the width of Scott (1992), n^(-1 / (k + 4)) for k columns. Those of a forecast stay.

    Raises:
        BocuError: what is known is no context.
    """
    for name in known:
        if name not in names:
            raise BocuError(f"--known: found {shown(name)}; {nearest(name, names)}")
    if not known:
        return reference
    columns, values = [names.index(name) for name in known], np.array(list(known.values()))
    contexts, weights, notes = reference.contexts.copy(), reference.weights, reference.notes
    if from_log:
        met = contexts[:, columns]
        spread = np.sqrt(weights @ (met - weights @ met) ** 2)
        width = effective_number(weights) ** (-1.0 / (len(columns) + 4))
        away = ((met - values) / np.where(spread > 0.0, spread * width, 1.0)) ** 2
        nearness = away.sum(axis=1)
        weights = weights * np.exp(-0.5 * (nearness - nearness.min()))
        weights = weights / weights.sum()
        told = ", ".join(f"{name} = {value:.4g}" for name, value in known.items())
        count = effective_number(weights)
        notes = (*notes, f"known beforehand: {told}; other contexts as in rows near it, which count as {count:.0f}")
    contexts[:, columns] = values
    return weighted(contexts, weights, notes)
