"""A job's block of seeds of one problem x objective x algorithm, a pure function of its specification.

Seeds are computed one by one, each from streams of its own, so that a seed's numbers depend neither on which others
share its job nor on an interruption in between.
"""

import json
import logging
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import canonical_json, set_aside, write_netcdf
from bocu.core.io.hashes import hash_files
from bocu.core.io.provenance import ACCEPTED, SCHEMA_VERSION, SIMULATED_LABEL, machine
from bocu.core.loading import refuse_unknown_classes
from bocu.core.numerics import refuse_other_kernel
from bocu.core.plain import Specification, State
from bocu.learners.algorithms.base import Algorithm
from bocu.problems.base import Problem, Realisation
from bocu.sweep.runs.checkpoints import CheckpointStore, hold
from bocu.sweep.runs.records import read_runs, run_dataset
from bocu.sweep.runs.run_cache import RunCache, digest, is_run_of
from bocu.sweep.runs.seed_run import FinishedRun, Inputs, SeedRun, build_problem

if TYPE_CHECKING:
    import xarray as xr

logger = logging.getLogger(__name__)

EXIT_TERMINATED = 128 + signal.SIGTERM


@dataclass(frozen=True)
class Block:
    """What a job is asked for."""

    specification: Specification  #: plain data; `seeds` holds the first and the last seed.
    inputs: Inputs  #: files that the problem is built from.
    fingerprint: str  #: hash of the code.
    #: hash of each definition of the code, by module and name, for `bocu why`.
    definitions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def seeds(self) -> list[int]:
        """The seeds, in order."""
        first, last = self.specification["seeds"]
        return list(range(first, last + 1))

    @property
    def rounds(self) -> int:
        """Number of rounds of all seeds together."""
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
        refuse_other_kernel(block.specification.get("kernel", ""))
        problem = build_problem(block.specification["problem"], block.inputs)
        runner = _Runner(block, problem, store, checkpoint_seconds, advance, asked_to_stop)
        earlier = _earlier(output, block, input_hashes)
        runs = runner.complete(earlier)
        dataset = run_dataset([run.record for run in runs], block.seeds, problem.prior_labels, problem.units)
        states = [canonical_json(run.streams) for run in runs]
        dataset["stream_states"] = (
            "seed",
            states,
            {"long_name": "state of the random streams at the end", "units": "1"},
        )
        dataset.attrs = {
            **_attributes(block, problem, input_hashes),
            **({ACCEPTED: earlier.attrs[ACCEPTED]} if earlier is not None and ACCEPTED in earlier.attrs else {}),
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
        self, seed: int, state: State | None, recorded: "xr.Dataset | None", before: list[FinishedRun]
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
            self._save_when_due([*before, run.result() if run.finished else run])  # type: ignore[redundant-expr]
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


def replayed_to(
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
    """Rebuild a recorded run after round `until`, to be played on: arguments and errors as of `replayed_to`.

    Its random streams stand where they began: what is drawn in further rounds is not what the run drew.
    """
    data = read_runs(run_file)
    specification = json.loads(data.attrs["specification"])
    refuse_unknown_classes(specification, str(run_file), named)
    run = SeedRun(specification, build_problem(specification["problem"], inputs), seed)
    run.replay(*_recorded(data.sel(seed=seed), until))
    return run
