"""What became of every block of seeds: done, stale, running, queued, failed or missing, from files, logs and queue."""

import re
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from bocu.core.io.files import process_runs
from bocu.core.io.hashes import edited
from bocu.sweep import narrator
from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.paths import block_name
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.jobs import ATTEMPT
from bocu.sweep.runs.checkpoints import peek
from bocu.sweep.staleness import MISSING, Staleness

LEAST_SILENCE = 60.0  # seconds; a job that runs saves checkpoints and logs more often
_ROUNDS = re.compile(r"rounds: (\d+) of \d+")
_BEGUN = re.compile(rf"{ATTEMPT} on (.+), process (\d+)")
_STOPPED = "asked to stop"
KILLED = "ended without a word, as a job that is killed does (most often for memory)"
_COMPUTING = ("RUNNING", "COMPLETING", "SUSPENDED")  # of SLURM's states
NO_QUEUE: Mapping[str, str] = MappingProxyType({})


class BlockState(StrEnum):
    """What a block can be."""

    DONE = "done"
    STALE = "stale"
    RUNNING = "running"
    QUEUED = "queued"
    FAILED = "failed"
    MISSING = "missing"


@dataclass(frozen=True, eq=False)  # parameters of a branch may be lists, which neither compare fast nor have a hash
class BlockStatus:
    """A block of seeds as its files show it; each is itself alone, so that it can be a key.

    Attributes:
        rounds: rounds done of those of all its seeds; what a checkpoint holds counts, for the block resumes there.
        error: where it failed, the last line of its log, or that it ended without one.
    """

    branch: Branch
    first: int
    last: int
    state: BlockState
    rounds: int
    error: str = ""

    @property
    def of(self) -> int:
        """Number of rounds of all its seeds."""
        return (self.last - self.first + 1) * self.branch.iterations


def statuses(plan: Plan, staleness: Staleness, queue: Mapping[str, str] = NO_QUEUE) -> Iterator[BlockStatus]:
    """Look at every block of a plan.

    Args:
        plan: the plan.
        staleness: what is up to date of it.
        queue: state in SLURM's words of the blocks in its queue, by name, such as `hills/any/random/seeds-0-9`.
    """
    held = held_locks()
    for branch in plan.branches.values():
        for first, last in plan.blocks_of(branch):
            state = queue.get(block_name(branch, first, last), "")
            yield _status_of(plan, staleness, branch, first, last, held, state)


def by_branch(blocks: Iterable[BlockStatus]) -> dict[tuple[str, str, str], list[BlockStatus]]:
    """Sort blocks by the key of their branch."""
    found: dict[tuple[str, str, str], list[BlockStatus]] = {}
    for block in blocks:
        found.setdefault(block.branch.key, []).append(block)
    return found


def _status_of(
    plan: Plan, staleness: Staleness, branch: Branch, first: int, last: int, held: frozenset[int], in_queue: str
) -> BlockStatus:
    reasons = staleness.run(branch, first, last).reasons or edited(plan.paths.run_file(branch, first, last))
    rounds = (last - first + 1) * branch.iterations
    if not reasons:
        return BlockStatus(branch, first, last, BlockState.DONE, rounds)
    log, checkpoint = Path(plan.paths.log(branch, first, last)), Path(plan.paths.checkpoint(branch, first, last))
    tail = _tail(log)
    error = _error(tail)
    saved = min(_rounds(tail, checkpoint), rounds)
    told = bool(error) or _STOPPED in tail[-400:]
    ended = told or _is_gone(tail)
    if in_queue in _COMPUTING or _is_held(checkpoint, held) or (not ended and is_running(checkpoint, log, plan, held)):
        return BlockStatus(branch, first, last, BlockState.RUNNING, saved)
    if in_queue:
        return BlockStatus(branch, first, last, BlockState.QUEUED, _saved(checkpoint))
    run_file = Path(plan.paths.run_file(branch, first, last))
    if error and (not run_file.exists() or log.stat().st_mtime > run_file.stat().st_mtime):
        return BlockStatus(branch, first, last, BlockState.FAILED, _saved(checkpoint), error)
    if not told and (checkpoint / "lock").exists():  # which goes when the run file stands
        kept = _saved(checkpoint)
        return BlockStatus(
            branch, first, last, BlockState.FAILED, kept, f"{KILLED}; {kept} of {rounds} rounds are saved"
        )
    state = BlockState.MISSING if reasons == MISSING.reasons else BlockState.STALE
    return BlockStatus(branch, first, last, state, _saved(checkpoint))


def held_locks() -> frozenset[int]:
    """Return the inodes of files that a process of this machine has locked, without asking for any of the locks."""
    try:
        lines = Path("/proc/locks").read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    return frozenset(int(word.rpartition(":")[2]) for line in lines for word in line.split() if word.count(":") == 2)


def is_running(checkpoint: Path, log: Path, plan: Plan, held: frozenset[int]) -> bool:
    """Whether a process holds a block: its lock is taken on this machine, or its files were written lately."""
    if not (checkpoint / "lock").exists():
        return False
    if _is_held(checkpoint, held):
        return True
    silence = max(LEAST_SILENCE, 3 * plan.experiment.checkpoint_seconds)
    written = [path.stat().st_mtime for path in (log, *checkpoint.glob("generation-*")) if path.exists()]
    return time.time() - max(written, default=0.0) < silence


def _is_gone(tail: str) -> bool:
    """Whether the process of the last attempt was one of this machine and is no more."""
    begun = _BEGUN.search(tail)
    return begun is not None and begun[1] == socket.gethostname() and not process_runs(int(begun[2]))


def _is_held(checkpoint: Path, held: frozenset[int]) -> bool:
    try:
        return (checkpoint / "lock").stat().st_ino in held
    except OSError:
        return False


def _tail(log: Path) -> str:
    """Return the end of a log, of its last attempt alone."""
    text = narrator.tail(log)
    return text[max(0, text.rfind(f" {ATTEMPT} on ")) :]


def _error(tail: str) -> str:
    last = tail.rpartition("\n")[2]
    failed = last.startswith("error: ") or ("Traceback (most recent call last)" in tail and " INFO " not in last)
    return last if failed else ""


def _rounds(tail: str, checkpoint: Path) -> int:
    logged = _ROUNDS.findall(tail)
    return max(int(logged[-1]) if logged else 0, _saved(checkpoint))


def _saved(checkpoint: Path) -> int:
    header = peek(checkpoint)
    return sum(int(run["done"]) for run in header["content"]["runs"]) if header else 0
