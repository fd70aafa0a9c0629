"""One run is a pure function of its specification: a block of seeds of one problem x objective x algorithm.

Seeds are computed one by one, each from streams of its own, so that a seed's numbers depend neither on which others
share its job nor on an interruption in between.
"""

import json
import logging
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.algorithms.base import Algorithm
from bocu.algorithms.plain_state import needs_telling, when_told
from bocu.core.domains import FiniteDomain
from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.loading import load, refuse_unknown_classes
from bocu.core.parameters import validate
from bocu.core.randomness import Streams
from bocu.core.rounds import Situation
from bocu.io.files import canonical_json, set_aside, write_netcdf
from bocu.io.hashes import hash_files
from bocu.io.provenance import SCHEMA_VERSION, SIMULATED_LABEL, machine
from bocu.objectives.configured import Objective
from bocu.problems.base import Problem, Realisation
from bocu.runs.checkpoints import CheckpointStore, hold
from bocu.runs.protocol import PROTOCOLS, Announcer
from bocu.runs.records import Record, read_runs, run_dataset
from bocu.runs.run_cache import RunCache, digest, is_run_of

if TYPE_CHECKING:
    import xarray as xr

logger = logging.getLogger(__name__)

Inputs = Mapping[str, str | list[str]]
EXIT_TERMINATED = 128 + signal.SIGTERM


def build_problem(specification: Mapping[str, Any], inputs: Inputs) -> Problem:
    """Build the problem of a run specification from its files."""
    target = load(specification["class"])
    return target(validate(target.Parameters, specification["parameters"], "specification.problem.parameters."), inputs)


def build_algorithm(specification: Mapping[str, Any], realisation: Realisation, streams: Streams) -> Algorithm:
    """Build the algorithm of a run specification for what one seed meets."""
    target = load(specification["algorithm"]["class"])
    where = "specification.algorithm.parameters."
    parameters = validate(target.Parameters, specification["algorithm"]["parameters"], where)
    objective = build_objective(specification["objective"])
    contexts = realisation.description.contexts
    # Over a finite set of contexts the objective is one and the same in all rounds, but for its radius.
    pursued = objective.over(contexts.points) if objective and isinstance(contexts, FiniteDomain) else objective
    try:
        return target(realisation.description, pursued, parameters, streams["algorithm"])
    except BocuError as error:
        raise BocuError(f"{specification['algorithm']['class']}: {error}") from None


def build_objective(specification: Mapping[str, Any] | None) -> Objective | None:
    """Build the objective of a run specification; None where none is pursued."""
    if specification is None:
        return None
    objective: Objective = load(specification["class"]).from_specification(specification["parameters"])
    return objective


class SeedRun:
    """One seed's run, advanced row by row: the initial design, then the rounds."""

    def __init__(self, specification: Mapping[str, Any], problem: Problem, seed: int) -> None:
        self.rows: int = problem.initial + specification["iterations"]
        self.initial = problem.initial
        self.streams = Streams(seed)
        self.realisation = problem.realise(self.streams)
        self.algorithm = build_algorithm(specification, self.realisation, self.streams)
        self.protocol = PROTOCOLS[problem.protocol]
        description = self.realisation.description
        objective = build_objective(specification["objective"])
        ambiguity = self.algorithm.ambiguity or (objective.ambiguity if objective else None)
        contexts = description.contexts
        points = contexts.points if isinstance(contexts, FiniteDomain) else None
        self.announcer = Announcer(ambiguity, points)
        self.design = problem.initial_design(self.realisation, self.streams)
        self.record = Record(
            specification["iterations"],
            description.decisions,
            description.contexts,
            self.algorithm.reports,
            len(problem.prior_labels),
            self.initial,
            description.outputs,
        )
        self.done = 0

    @property
    def t(self) -> int:
        """The round that comes next; 0 and below in the initial design."""
        return self.done - self.initial + 1

    @property
    def finished(self) -> bool:
        return self.done == self.rows

    def play(self) -> None:
        if self.t < 1:
            turn = self.protocol.start(self.realisation, self.algorithm, self.streams, self.design[self.done])
        else:
            announced = self.announcer.announce(self.situation())
            turn = self.protocol.play(self.realisation, self.algorithm, self.streams, announced)
            if self.record.recommends(self.t):
                turn = replace(turn, recommended=self.protocol.recommended(self.algorithm, turn))
        self.record.write(self.done, turn)
        self.done += 1

    def situation(self) -> Situation:
        """Return what stands before the next row."""
        return self.protocol.situation(self.realisation, self.t, self.record.seen(self.done))

    def replay(self, arrays: Mapping[str, np.ndarray], stream_states: dict[str, Any] | None) -> None:
        """Tell without asking what `arrays` recorded, then put the streams where they stood after it."""
        self.record.copy_rows(arrays)
        self._tell_again(len(arrays["payoff"]))
        if stream_states is not None:
            self.streams.restore(stream_states)

    def _tell_again(self, rows: int) -> None:
        """Tell the algorithm the first rows of the record without asking it."""
        while self.done < rows:
            announced = self.announcer.announce(self.situation()) if self.t >= 1 else None
            self.protocol.replay(self.algorithm, self.record.read(self.done), announced)
            self.done += 1

    def state(self) -> dict[str, Any]:
        return {
            "done": self.done,
            "record": self.record.arrays,
            "streams": self.streams.state(),
            "algorithm": self.algorithm.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.record.copy_rows(state["record"])
        if state["done"] < self.rows:
            known = state["algorithm"]
            if needs_telling(known):
                self._tell_again(state["done"])
                known = when_told(known)
            self.algorithm.restore(known)
        self.done = state["done"]
        self.streams.restore(state["streams"])

    def result(self) -> "FinishedRun":
        return FinishedRun(self.record, self.streams.state())


@dataclass(frozen=True)
class FinishedRun:
    """What stays of a seed's run after its last round: what it recorded and where its streams stood, no posterior."""

    record: Record
    streams: dict[str, Any]

    def state(self) -> dict[str, Any]:
        """Return what `SeedRun.restore` takes."""
        done = len(self.record.arrays["payoff"])
        return {"done": done, "record": self.record.arrays, "streams": self.streams, "algorithm": {}}


@dataclass(frozen=True)
class Block:
    """What a job is asked for.

    Attributes:
        specification: plain data; `seeds` holds the first and the last seed.
        inputs: files that the problem is built from.
        fingerprint: hash of the code.
        definitions: hash of each definition of the code, by module and name, for `bocu why`.
    """

    specification: Mapping[str, Any]
    inputs: Inputs
    fingerprint: str
    definitions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def seeds(self) -> list[int]:
        first, last = self.specification["seeds"]
        return list(range(first, last + 1))

    @property
    def rounds(self) -> int:
        return len(self.seeds) * int(self.specification["iterations"])

    def identity(self, inputs: Mapping[str, str]) -> dict[str, Any]:
        """Return what the numbers depend on; `inputs` are the hashes of the files."""
        return {"specification": self.specification, "fingerprint": self.fingerprint, "inputs": sorted(inputs.values())}


def execute(
    block: Block,
    output: str | Path,
    checkpoints: str | Path,
    checkpoint_seconds: float = 20.0,
    advance: Callable[[int], None] = lambda steps: None,
    shared: RunCache | None = None,
) -> None:
    """Run a block of seeds and write its run file.

    While another process runs the block, this one waits; what stands at `output` of the same identity then is the
    result. A block that was run before, under another name or label, is taken over. An interrupted block goes on from
    its checkpoint. A run file at `output` of the same specification but fewer iterations is continued by replaying it.
    In all cases the numbers are those of an undisturbed run, bit for bit.

    Args:
        block: what to run.
        output: the run file.
        checkpoints: folder of this block's checkpoints; removed when the run file stands.
        checkpoint_seconds: time between two checkpoints; 0 saves after every round.
        advance: told how many rounds were done, for a progress display.
        shared: the runs of all experiments; none are looked up where it is left out.

    Raises:
        BocuError: an input file is missing or broken, or the block cannot be locked.
    """
    from threadpoolctl import threadpool_limits

    start = time.perf_counter()
    input_hashes = _hash_inputs(block.inputs)
    identity = block.identity(input_hashes)
    store = CheckpointStore(checkpoints, digest(identity))
    with (
        hold(checkpoints),
        threadpool_limits(block.specification["threads"]),
        _termination() as asked_to_stop,
    ):
        if _stands(output, identity) or (shared is not None and shared.take_over(identity, output)):
            advance(block.rounds)
            store.clear()
            return
        problem = build_problem(block.specification["problem"], block.inputs)
        runner = _Runner(block, problem, store, checkpoint_seconds, advance, asked_to_stop)
        runs = runner.complete(_earlier(output, block, input_hashes))
        dataset = run_dataset([run.record for run in runs], block.seeds, problem.prior_labels, problem.units)
        states = [canonical_json(run.streams) for run in runs]
        dataset["stream_states"] = (
            "seed",
            states,
            {"long_name": "state of the random streams at the end", "units": "1"},
        )
        dataset.attrs = {
            **_attributes(block, problem, input_hashes),
            **machine(),
            "wall_seconds": time.perf_counter() - start,
        }
        write_netcdf(dataset, output)
        if shared is not None:
            shared.offer(identity, output)
        store.clear()


def _stands(output: str | Path, identity: Mapping[str, object]) -> bool:
    """Whether another process has written the run file while this one waited, or before it started."""
    if not Path(output).is_file() or not is_run_of(Path(output), identity):
        return False
    logger.info("%s: stands already, of the same specification, code and inputs", output)
    return True


@dataclass
class _Runner:
    block: Block
    problem: Problem
    store: CheckpointStore
    seconds: float
    advance: Callable[[int], None]
    asked_to_stop: Callable[[], bool]

    def complete(self, earlier: "xr.Dataset | None") -> list[FinishedRun]:
        """Run all seeds, from a checkpoint or an earlier run file where there is one."""
        saved = (self.store.load() or {}).get("runs", [])
        if saved:
            done = sum(run["done"] for run in saved)
            logger.info("%s: going on from a checkpoint, %d rounds done", self.store.folder, done)
        finished: list[FinishedRun] = []
        self._last = time.monotonic()
        for position, seed in enumerate(self.block.seeds):
            state = saved[position] if position < len(saved) else None
            recorded = None if earlier is None else earlier.isel(seed=position)
            finished.append(self._complete(seed, state, recorded, finished))
        return finished

    def _complete(
        self, seed: int, state: Mapping[str, object] | None, recorded: "xr.Dataset | None", before: list[FinishedRun]
    ) -> FinishedRun:
        """Run one seed, whose posterior goes with this frame: before the next seed's is built."""
        run = SeedRun(self.block.specification, self.problem, seed)
        if state is not None:
            run.restore(state)
        elif recorded is not None:
            run.replay(*_recorded(recorded))
        self.advance(max(0, run.t - 1))
        while not run.finished:
            run.play()
            self.advance(int(run.t > 1))
            self._save_when_due([*before, run.result() if run.finished else run])
        return run.result()

    def _save_when_due(self, runs: Sequence[SeedRun | FinishedRun]) -> None:
        stop = self.asked_to_stop()
        if stop or time.monotonic() - self._last >= self.seconds:
            self.store.save({"runs": [run.state() for run in runs]})
            self._last = time.monotonic()
        if stop:
            logger.warning("asked to stop: saved a checkpoint in %s", self.store.folder)
            raise SystemExit(EXIT_TERMINATED)


@contextmanager
def _termination() -> Iterator[Callable[[], bool]]:
    """Turn SIGTERM into a flag that is looked at between rounds."""
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        yield lambda: bool(received)
    finally:
        signal.signal(signal.SIGTERM, before)


def _hash_inputs(inputs: Inputs) -> dict[str, str]:
    try:
        return hash_files(inputs)
    except FileNotFoundError as error:
        raise BocuError(f"{error.filename}: no such file; `snakemake {error.filename}` makes it") from None


def _earlier(output: str | Path, block: Block, input_hashes: Mapping[str, str]) -> "xr.Dataset | None":
    """Return the run file that stands at `output` if this block only continues it; a broken one is set aside."""
    if not Path(output).is_file():
        return None
    try:
        earlier = read_runs(output)
    except BrokenFileError as error:
        logger.warning("not continued: %s: %s; renamed to %s", output, error.fault, set_aside(output).name)
        return None
    found = json.loads(earlier.attrs["identity"])
    wanted = block.identity(input_hashes)
    shorter = found["specification"].get("iterations", 0) < wanted["specification"]["iterations"]
    found["specification"]["iterations"] = wanted["specification"]["iterations"]
    if not shorter or canonical_json(found) != canonical_json(wanted):
        return None
    logger.info("%s: continuing its %d iterations", output, earlier["iteration"].values[-1])
    return earlier


def _recorded(run: "xr.Dataset", until: int | None = None) -> tuple[dict[str, np.ndarray], dict[str, Any] | None]:
    """Return the arrays of one seed of a run file, and the state of its streams at the end of all rounds."""
    rows = run if until is None else run.sel(iteration=slice(None, until))
    arrays = {str(name): rows[name].values for name in rows.data_vars if "iteration" in rows[name].dims}
    return arrays, json.loads(str(run["stream_states"].item())) if until is None else None


def _attributes(block: Block, problem: Problem, input_hashes: Mapping[str, str]) -> dict[str, object]:
    best = problem.best_prior
    return {
        "schema_version": SCHEMA_VERSION,
        "title": problem.title,
        "protocol": problem.protocol,
        "payoff_units": problem.units,
        "data_label": SIMULATED_LABEL if problem.simulated else "",
        "best_prior": best.label if best is not None and best.label in problem.prior_labels else "",
        "data_provenance": canonical_json(dict(problem.provenance)),
        "specification": canonical_json(block.specification),
        "fingerprint": block.fingerprint,
        "definitions": canonical_json(dict(block.definitions)),
        "inputs": canonical_json(input_hashes),
        "identity": canonical_json(block.identity(input_hashes)),
        "numeric_threads": block.specification["threads"],
    }


def replay(
    run_file: str | Path, inputs: Inputs, seed: int, until: int, named: Collection[str] = ()
) -> tuple[Realisation, Algorithm]:
    """Rebuild what an algorithm knew after round `until` of a recorded run.

    Args:
        run_file: the run file.
        inputs: the files that its problem is built from.
        seed: a seed of the file.
        until: the last round to be told; 0 for the initial design alone.
        named: classes, "module:Class", that it may ask for besides those registered and entry points.

    Returns:
        The problem as the seed met it, and the algorithm.

    Raises:
        BocuError: the file asks for a class that may not be imported.
    """
    run = replayed(run_file, inputs, seed, until, named)
    return run.realisation, run.algorithm


def replayed(run_file: str | Path, inputs: Inputs, seed: int, until: int, named: Collection[str] = ()) -> SeedRun:
    """Rebuild a recorded run after round `until`, to be played on: arguments and errors as of `replay`.

    Its random streams stand where they began: what is drawn in further rounds is not what the run drew.
    """
    data = read_runs(run_file)
    specification = json.loads(data.attrs["specification"])
    refuse_unknown_classes(specification, str(run_file), named)
    run = SeedRun(specification, build_problem(specification["problem"], inputs), seed)
    run.replay(*_recorded(data.sel(seed=seed), until))
    return run
