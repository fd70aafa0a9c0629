"""What one seed's run leaves behind, round by round, and the run file that holds a block of seeds."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.io.files import read_netcdf
from bocu.core.io.provenance import refuse_other_schema
from bocu.core.rounds import Context, Decision, Domain, FiniteDomain
from bocu.learners.algorithms.base import Reported
from bocu.sweep.runs.protocol import Turn

if TYPE_CHECKING:
    import xarray as xr


_CORE = (
    ("decision_index", "int32", -1, "index of the decision in its finite domain; -1 in a continuous one", "1"),
    ("context_index", "int32", -1, "index of the context in its finite domain; -1 in a continuous one", "1"),
    (
        "recommended_index",
        "int32",
        -1,
        "index of the decision that would be deployed after the round; -1 in a continuous domain or if not asked for",
        "1",
    ),
    ("payoff", "float64", np.nan, "noise-free payoff of the decision in the context", "payoff"),
    ("observation", "float64", np.nan, "payoff as observed", "payoff"),
    ("seconds", "float64", np.nan, "time to choose and to learn", "s"),
)

ROUNDS = {"long_name": "round; 0 and below: the initial design", "units": "1"}


class Record:
    """Arrays with one row a round, the initial design first; rows that were not played hold fill values."""

    def __init__(
        self,
        iterations: int,
        decisions: Domain,
        contexts: Domain,
        reports: Sequence[Reported],
        priors: int = 0,
        initial: int = 0,
        outputs: int = 1,
        recommends_always: bool = False,
    ) -> None:
        self.initial = initial
        self.iterations = iterations
        iterations += initial
        self.domains = {"decision": decisions, "context": contexts}
        self.reports = reports
        self.outputs = outputs
        self.recommends_always = recommends_always
        several = ("payoff", "observation") if outputs > 1 else ()
        self.arrays: dict[str, np.ndarray] = {
            name: np.full((iterations, outputs) if name in several else iterations, fill, dtype=dtype)
            for name, dtype, fill, _, _ in _CORE
        }
        for kind, domain in self.domains.items():
            self.arrays[kind] = np.full((iterations, domain.dimension), np.nan)
        self.arrays["recommended"] = np.full((iterations, decisions.dimension), np.nan)
        for report in reports:
            shape = (iterations, priors) if report.per_prior else (iterations,)
            self.arrays[report.name] = np.full(shape, fill_value(report), dtype=report.dtype)

    def recommends(self, t: int) -> bool:
        """Say whether a run records what it would recommend after round `t`.

        It does after every round on a simulator, where that is what counts; elsewhere, since it takes as long as a
        decision, after rounds 1, 2, 5, 10, 20, 50, ... and the last.
        """
        often = self.recommends_always or t == self.iterations or str(t).rstrip("0") in ("1", "2", "5")
        return t >= 1 and often

    def write(self, row: int, turn: Turn) -> None:
        """Keep a turn as a row."""
        decisions, contexts = self.domains["decision"], self.domains["context"]
        # Under "time-varying" the context is the step itself, whose domain is a box of one dimension.
        self._write_member("decision", row, decisions, turn.decision)
        self._write_member("context", row, contexts, turn.context)
        if turn.recommended is not None:
            self._write_member("recommended", row, decisions, turn.recommended)
        self.arrays["payoff"][row] = turn.payoff
        self.arrays["observation"][row] = turn.observation
        self.arrays["seconds"][row] = turn.seconds
        for report in self.reports if turn.report else ():
            self.arrays[report.name][row] = turn.report[report.name]

    def _write_member(self, name: str, row: int, domain: Domain, member: Decision | Context) -> None:
        self.arrays[name][row] = domain.coordinates(member)  # type: ignore[arg-type]
        if isinstance(domain, FiniteDomain):
            self.arrays[f"{name}_index"][row] = member

    def seen(self, rows: int) -> np.ndarray:
        """Return the contexts of the first rows: indices `(rows,)`, or coordinates `(rows, dimension)` of a box."""
        return self.arrays[context_variable(self.domains["context"])][:rows]

    def read(self, row: int) -> Turn:
        """Return the turn of a row."""
        chosen = {
            kind: int(self.arrays[f"{kind}_index"][row]) if isinstance(domain, FiniteDomain) else self.arrays[kind][row]
            for kind, domain in self.domains.items()
        }
        report = {report.name: self.arrays[report.name][row] for report in self.reports}
        payoff, observation = (self.arrays[name][row] for name in ("payoff", "observation"))
        seconds = float(self.arrays["seconds"][row])
        return Turn(chosen["decision"], chosen["context"], payoff, observation, report, seconds)

    def copy_rows(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over the rows that `arrays` have, from the first on."""
        for name, values in arrays.items():
            self.arrays[name][: len(values)] = values
        # The last round of a shorter run is any other of a longer one.
        others = [row for row in range(len(self.arrays["payoff"])) if not self.recommends(row + 1 - self.initial)]
        self.arrays["recommended"][others], self.arrays["recommended_index"][others] = np.nan, -1


def context_variable(contexts: Domain) -> str:
    """Name the variable that says which contexts were met: indices of a finite space, coordinates of a box."""
    return "context_index" if isinstance(contexts, FiniteDomain) else "context"


def decision_variable(decisions: Domain) -> str:
    """Name the variable that says what was decided, as `context_variable` does."""
    return "decision_index" if isinstance(decisions, FiniteDomain) else "decision"


def fill_value(report: Reported) -> float:
    """Return what stands where nothing was reported."""
    return np.nan if report.dtype.startswith("float") else -1


def run_dataset(
    records: Sequence[Record], seeds: Sequence[int], prior_labels: Sequence[str], payoff_units: str
) -> "xr.Dataset":
    """Stack the records of a block: dimensions seed, iteration, decision_dim, context_dim, prior."""
    import xarray as xr

    first = records[0]
    described = {name: (long_name, payoff_units if unit == "payoff" else unit) for name, _, _, long_name, unit in _CORE}
    described |= {
        report.name: (report.long_name, report.units.replace("payoff", payoff_units)) for report in first.reports
    }
    described |= {kind: (f"coordinates of the {kind}", f"see {kind}_units") for kind in first.domains}
    described["recommended"] = (
        "coordinates of the decision that would be deployed after the round; not a number if not asked for",
        "see decision_units",
    )
    trailing = {report.name: ["prior"] for report in first.reports if report.per_prior}
    trailing |= {kind: [f"{kind}_dim"] for kind in first.domains} | {"recommended": ["decision_dim"]}
    trailing |= {name: ["output"] for name in ("payoff", "observation") if first.outputs > 1}
    data: dict[str, Any] = {}  # one dataset of all: to add a variable to a dataset takes as long as to make it
    for name in first.arrays:
        long_name, units = described[name]
        values = np.stack([record.arrays[name] for record in records])
        data[name] = (["seed", "iteration", *trailing.get(name, [])], values, {"long_name": long_name, "units": units})
    data["seed"] = ("seed", np.asarray(seeds), {"long_name": "seed", "units": "1"})
    iterations = np.arange(1, len(first.arrays["payoff"]) + 1) - first.initial
    data["iteration"] = ("iteration", iterations, ROUNDS)
    for kind, domain in first.domains.items():
        names = {"long_name": f"what each coordinate of the {kind} is", "units": "1"}
        data[f"{kind}_dim"] = (f"{kind}_dim", list(domain.names), names)
        units_of = {"long_name": f"unit of each coordinate of the {kind}", "units": "1"}
        data[f"{kind}_units"] = (f"{kind}_dim", list(domain.units), units_of)
    data["status"] = ("seed", np.full(len(seeds), DONE, dtype="i1"), STATUS_ATTRIBUTES)
    if prior_labels:
        data["prior"] = ("prior", list(prior_labels), {"long_name": "candidate prior", "units": "1"})
    return xr.Dataset(data)


def read_runs(path: str | os.PathLike[str]) -> "xr.Dataset":
    """Read a whole run file, which has to be as it was written.

    Raises:
        BrokenFileError: it is damaged, was edited, or is of another schema.
        BocuError: it is missing.
    """
    data = read_netcdf(path, sealed=True)
    refuse_other_schema(path, data.attrs)
    return data


MISSING, DONE, NOT_DEFINED = 0, 1, 2
STATUS_ATTRIBUTES = {
    "long_name": "whether the run stands",
    "units": "1",
    "flag_values": np.array([MISSING, DONE, NOT_DEFINED], dtype=np.int8),
    "flag_meanings": "missing done not_defined",
}
