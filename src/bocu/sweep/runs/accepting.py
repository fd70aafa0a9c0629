"""Finished runs that the code of today would play alike: they stand under its fingerprint, and are not run again.

A refactoring changes the fingerprint of a run, and none of its numbers. Whether it did is found out by playing rounds
of a recorded seed anew, and comparing all that was recorded of them with the file: bit for bit, times aside. The hash
of the run file picks the seed; and of one file in `ONE_IN` it has all rounds of that seed played. What is not played is
not seen: a change that shows later, in other seeds, or on another type of processor.
"""

import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import canonical_json, write_netcdf
from bocu.core.io.hashes import checked, hash_files
from bocu.core.io.provenance import ACCEPTED, accepted
from bocu.core.numerics import refuse_other_kernel
from bocu.core.written import counted
from bocu.sweep.differences import TIMES, dataset_differences
from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.fingerprints.fingerprint import definitions
from bocu.sweep.experiment.paths import RUN_CACHE, checkpoint_folder
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.products import flat
from bocu.sweep.runs.checkpoints import hold
from bocu.sweep.runs.execution import Block
from bocu.sweep.runs.records import read_runs, run_dataset
from bocu.sweep.runs.run_cache import RunCache
from bocu.sweep.runs.seed_run import SeedRun, build_problem

if TYPE_CHECKING:
    import xarray as xr

logger = logging.getLogger(__name__)

ROUNDS = 10  #: That are played anew, after the initial design, where the file's hash does not pick all.
ONE_IN = 10


@dataclass(frozen=True)
class PlayedAnew:
    """What is played anew of a run file."""

    seed: int
    rounds: int  #: the first so many, and the initial design.
    of: int  #: all rounds of the file.

    def __str__(self) -> str:
        return f"{self.rounds} of {self.of} rounds of seed {self.seed}"

    @property
    def whole(self) -> bool:
        """Whether that is all there is of the seed."""
        return self.rounds == self.of


@dataclass(frozen=True)
class OutdatedRun:
    """A finished run file of a block's specification and inputs, of as many rounds or fewer, by other code."""

    path: Path
    block: Block  #: what is asked for, of as many rounds as the file has.
    inputs: Mapping[str, str]  #: SHA-256 of the block's input files.
    data: "xr.Dataset"  #: the file.
    fingerprint: str  #: of the code that made it.
    digest: str  #: SHA-256 of the file as it was read.
    replay: PlayedAnew  #: what its hash picks of it.

    def difference(self) -> str:
        """Play the rounds anew, and say what came out otherwise first, and in which round; empty: nothing did.

        Raises:
            BocuError: this process computes by another kernel than the specification wants.
        """
        from threadpoolctl import threadpool_limits

        specification = self.block.specification
        refuse_other_kernel(specification.get("kernel", ""))
        with threadpool_limits(specification["threads"]):
            problem = build_problem(specification["problem"], self.block.inputs)
            run = SeedRun(specification, problem, self.replay.seed)
            while run.t <= self.replay.rounds:
                run.play()
        now = run_dataset([run.record], [self.replay.seed], problem.prior_labels, problem.units)
        before = self.data.sel(seed=[self.replay.seed])
        streams = str(before["stream_states"].item())
        one, other = (
            data.drop_attrs(deep=False)
            .drop_vars([TIMES, "stream_states"], errors="ignore")
            .isel(iteration=slice(run.done))
            for data in (before, now)
        )
        found = list(dataset_differences(one, other))
        if found:
            first = min(found, key=lambda one: np.inf if one.iteration is None else one.iteration)
            place = "" if first.iteration is None else f"round {first.iteration}: "
            return f"{place}{first.what}: {first.text}"
        if self.replay.whole and streams != canonical_json(run.streams.state()):
            return f"round {self.replay.of}: other random numbers were drawn"
        return ""

    def accept(self, replay: PlayedAnew, cache: RunCache) -> None:
        """Let the file stand under the fingerprint of today, with a word of what was played anew for that."""
        identity = self.block.identity(self.inputs)
        told = {"code": self.fingerprint, "as": self.block.fingerprint, **asdict(replay)}
        attributes = {
            "fingerprint": self.block.fingerprint,
            "definitions": canonical_json(dict(self.block.definitions)),
            "identity": canonical_json(identity),
            ACCEPTED: json.dumps([*accepted(self.data.attrs), canonical_json(told)]),
        }
        write_netcdf(self.data.assign_attrs(attributes), self.path)
        cache.offer(identity, self.path)


def _outdated_runs(plan: Plan, branch: Branch, rounds: int) -> Iterator[OutdatedRun]:
    """Return the run files of a branch that only other code keeps from being up to date."""
    inputs, roots = plan.inputs.problem(branch.problem.label), plan.parameters.run_roots(branch)
    existing = plan.products.existing_runs(branch)
    if not existing or not all(Path(path).is_file() for path in flat(inputs)):
        return
    hashes = hash_files(inputs)
    for seeds in plan.blocks_of(branch):
        path, parameters = plan.paths.run_file(branch, *seeds), plan.parameters.run(branch, *seeds)
        if path not in existing:
            continue
        code = definitions(roots)
        block = Block(json.loads(parameters["specification"]), inputs, parameters["fingerprint"], code)
        if (run := outdated_run(path, block, hashes, rounds)) is not None:
            yield run


def outdated_run(path: str | Path, block: Block, hashes: Mapping[str, str], rounds: int = ROUNDS) -> OutdatedRun | None:
    """Return the run file that only other code keeps from being that of a block; None where it is none.

    Args:
        path: where the block's run file is to stand.
        block: what is asked for.
        hashes: SHA-256 of the block's input files.
        rounds: to be played anew of a file of which the hash does not pick all.
    """
    try:
        data = read_runs(path)
    except BocuError:  # what is missing or broken is made anew
        return None
    found = json.loads(data.attrs["identity"])
    iterations = found["specification"]["iterations"]
    as_long = replace(block, specification={**block.specification, "iterations": iterations})
    other = {**as_long.identity(hashes), "fingerprint": found["fingerprint"]}
    longer = iterations > block.specification["iterations"]
    if longer or found["fingerprint"] == block.fingerprint or canonical_json(found) != canonical_json(other):
        return None
    digest = checked(path)
    picked, position = divmod(int(digest, 16), len(block.seeds))
    played = min(rounds, iterations) if picked % ONE_IN else iterations
    replay = PlayedAnew(block.seeds[position], played, iterations)
    return OutdatedRun(Path(path), as_long, hashes, data, found["fingerprint"], digest, replay)


def accept_run(path: str | Path, block: Block, cache: RunCache) -> None:
    """Accept a block's run file, where one stands by other code and plays alike; say in the log where it does not."""
    if not Path(path).is_file() or (run := outdated_run(path, block, hash_files(block.inputs))) is None:
        return
    if different := run.difference():
        logger.warning("%s: not accepted, run again: %s", path, different)
        return
    run.accept(run.replay, cache)
    logger.info("%s: accepted: %s came out alike, bit for bit, under changed code", path, run.replay)


def accept_branches(plan: Plan, rounds: int, tell: Callable[[str], None]) -> tuple[list[str], bool]:
    """Accept the run files of a plan that stand by other code and play alike.

    Of the files of a branch by one code the first is played, and those of which the hash picks all rounds; they stand
    for the others.

    Args:
        plan: the experiment.
        rounds: to be played anew of a file of which the hash does not pick all.
        tell: told a line for each branch and code.

    Returns:
        The files that were accepted, and whether all were that might have been.
    """
    done: list[str] = []
    all_alike = True
    for branch in plan.branches.values():
        by_code: dict[str, list[OutdatedRun]] = {}
        for run in _outdated_runs(plan, branch, rounds):
            by_code.setdefault(run.fingerprint, []).append(run)
        for runs in by_code.values():
            played = [run for run in runs if run is runs[0] or run.replay.whole]
            different = next(((run, told) for run in played if (told := run.difference())), None)
            name = "/".join(branch.key)
            if different is not None:
                all_alike = False
                tell(f"{name}: not accepted: {different[0].path}: {different[1]}")
                continue
            for run in runs:
                folder = checkpoint_folder(run.path)
                with hold(folder):
                    if checked(run.path) == run.digest:  # nobody made it anew meanwhile
                        run.accept(run.replay if run in played else played[0].replay, RunCache(RUN_CACHE))
                        done.append(str(run.path))
                    shutil.rmtree(folder, ignore_errors=True)
            replays = ", ".join(str(run.replay) for run in played)
            tell(f"{name}: accepted, {counted(len(runs), 'run file')}: {replays} came out alike, bit for bit")
    return done, all_alike
