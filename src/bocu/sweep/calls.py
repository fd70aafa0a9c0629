"""Calls of Snakemake in this folder: which run, which were killed, and what of theirs is still in SLURM's queue.

Each call notes itself under results/.calls when its jobs begin and takes the note away at its end. While it lives it
holds a lock beside the note, so a note whose lock is free is that of a killed call: its jobs under SLURM go on alone,
and Snakemake's own locks of files stay.

What `bocu resume` takes up of a command line stands here too. It lies under results/, which may be somebody else's, and
Snakemake runs what its arguments name: a Snakefile, Python in a profile, in resources and after `--logger`, programs of
`--precommand` and `--jobscript`. So a command is rebuilt of the options in `FLAGS`, `ONE_VALUE` and `VALUES`, with
values of these forms. The Snakefile and the profiles are those of the clone, what `--config` sets is looked at as
settings are that a record names, and files of `--configfile` as files are that it names: `bocu.sweep.opening`.
"""

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError, shown
from bocu.core.io.files import process_runs, regular_file, write_json
from bocu.core.io.hashes import edit_of, forget_digest
from bocu.sweep.experiment.paths import RESULTS, in_clone, of_clone
from bocu.sweep.experiment.plan import Plan

CALLS = Path(RESULTS, ".calls")  # no experiment has this name: a label begins with a letter or digit
LOCKS = Path(".snakemake/locks")
LOGS = Path(".snakemake/log")
RECORDS = Path(".snakemake/metadata")  # by which parameters each file was made
LONGEST_NOTE = 1_000_000  # bytes
QUEUE_SECONDS = 60.0  # that SLURM may take to answer
NOTE_SECONDS = 60.0  # that a call may take from its locks to its note

_RUN_ID = re.compile(r"SLURM run ID: (\S+)")
_RUN_RULE = "rule_run_wildcards_"
_LOCK_NAME = re.compile(r"\d+\.(input|output)\.lock")

_own: list[Any] = []  # the lock of this process's call


@dataclass(frozen=True)
class Call:
    """One call of Snakemake."""

    experiment: str  #: name of the experiment.
    host: str  #: machine it was made on.
    process: int  #: its number there.
    started: float  #: when its jobs began, seconds since 1970.
    logs: list[str]  #: Snakemake's logs of it.
    arguments: list[str]  #: its command line without the program.
    #: Snakemake's locks that it wrote, by name, and when, in ns since 1970.
    locks: dict[str, int] = field(default_factory=dict)

    @property
    def note(self) -> Path:
        """The file that says that it is under way."""
        return CALLS / f"{self.host}-{self.process}.json"

    def __str__(self) -> str:
        started = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.started))
        return f"Snakemake of {started}, process {self.process} on {self.host}"

    def is_alive(self) -> bool:
        """Whether its process runs, on whatever machine."""
        import filelock

        if not _lock(self.note).is_file():  # asking for it would make it
            return False
        try:
            with filelock.FileLock(_lock(self.note)).acquire(timeout=0):
                return False
        except filelock.Timeout:
            return True

    def run_id(self) -> str | None:
        """Return the name of its jobs under SLURM; None where it submitted none."""
        for log in self.logs:
            if not Path(log).resolve().is_relative_to(LOGS.resolve()):  # a note may be somebody else's
                continue
            with contextlib.suppress(OSError, BocuError):
                regular_file(log)
                if found := _RUN_ID.search(Path(log).read_text(encoding="utf-8", errors="replace")):
                    return found[1]
        return None


@dataclass(frozen=True)
class QueuedJob:
    """A job in SLURM's queue."""

    number: str  #: SLURM's.
    name: str  #: the run id of its call.
    state: str  #: in SLURM's words, such as RUNNING or PENDING.
    comment: str  #: rule and wildcards, as the executor plug-in writes them.

    @property
    def block(self) -> str | None:
        """The block of seeds that it computes, such as `hills/any/random/seeds-0-9`; None of other rules."""
        # No label holds an underscore, so that those of the comment were slashes.
        return self.comment.removeprefix(_RUN_RULE).replace("_", "/") if self.comment.startswith(_RUN_RULE) else None


def begin(experiment: str, logs: str | Sequence[str], locks: Iterable[str | Path] = ()) -> None:
    """Note that a call of Snakemake, this process, begins its jobs, with its logs and the locks that it wrote."""
    import filelock

    resolved = [str(Path(log).resolve()) for log in ([logs] if isinstance(logs, str) else logs)]
    host, process = socket.gethostname(), os.getpid()
    written = {Path(lock).name: Path(lock).stat().st_mtime_ns for lock in locks}
    call = Call(experiment, host, process, time.time(), resolved, sys.argv[1:], written)
    CALLS.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(_lock(call.note))
    lock.acquire()
    _own.append(lock)
    write_json(call.note, asdict(call), recorded=True)


def end() -> None:
    """Take the note of this process's call away: nothing of it is left."""
    while _own:
        lock = _own.pop()
        forget(Path(lock.lock_file).with_suffix(".json"))
        lock.release()


def forget(note: Path) -> None:
    """Remove the note of a call."""
    note.unlink(missing_ok=True)
    forget_digest(note)
    _lock(note).unlink(missing_ok=True)


def calls() -> list[Call]:
    """Return the calls that have a note, the latest last; a note that cannot be read, or was edited, is left aside."""
    from pydantic import TypeAdapter

    found: list[Call] = []
    for note in CALLS.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, BocuError):
            if regular_file(note).st_size <= LONGEST_NOTE and not edit_of(note):
                call = TypeAdapter(Call).validate_json(note.read_bytes())
                found += [call] if call.note == note else []  # another name would lead elsewhere
    return sorted(found, key=lambda call: call.started)


def refuse_edited_notes() -> None:
    """Refuse to go on from a note that is not as its call wrote it.

    Raises:
        BocuError: one line with the note.
    """
    for note in sorted(CALLS.glob("*.json")):
        if note.is_file() and note.stat().st_size <= LONGEST_NOTE and (told := edit_of(note)):
            raise BocuError(f"{note}: {told}; look for jobs of its call that go on, then remove it")


def queued(of: Iterable[Call]) -> list[QueuedJob]:
    """Ask SLURM for the jobs of calls that are still in its queue; where none submitted any, it is not asked.

    Raises:
        BocuError: SLURM does not answer.
    """
    names = [name for call in of if (name := call.run_id())]
    if not names:
        return []
    command = ["squeue", "--noheader", f"--name={','.join(names)}", "--format=%i|%j|%T|%k"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=QUEUE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BocuError(f"SLURM's queue cannot be asked here: {error}") from None
    if done.returncode:
        raise BocuError(f"SLURM's queue cannot be asked: {' '.join(done.stderr.split())}")
    return [QueuedJob(*line.split("|", 3)) for line in done.stdout.splitlines()]


def locked_files(plan: Plan) -> list[str]:
    """Return what Snakemake's locks in this folder keep from a plan: files of its results, and data sets being made.

    Snakemake ends with a LockException where any of them would be made or read.
    """
    outputs = list(_locked_outputs())
    if not outputs:
        return []
    needed = [f"{plan.results}/"]
    for file in plan.inputs.of_problems():
        needed += [file, f"{Path(file).parent.as_posix()}/raw/"]
    return sorted(file for file in outputs if file.startswith(tuple(needed)))


def _locked_outputs() -> Iterator[str]:
    for lock in LOCKS.glob("*.output.lock"):
        with contextlib.suppress(OSError):  # its Snakemake ends
            yield from lock.read_text(encoding="utf-8").splitlines()


def unlock_after_kills() -> Iterator[Call]:
    """Remove the locks of Snakemake's that nothing holds, so that it need not be told to; return whose they were.

    These are locks of a call of this machine whose process is gone and that left no job in SLURM's queue. Others may be
    of a Snakemake elsewhere, or of jobs that go on: they stay.
    """
    import filelock

    for call in calls():
        if not _locks_of(call) or call.host != socket.gethostname() or process_runs(call.process):
            continue
        # Held, so that of two that come at once one alone looks and removes.
        with contextlib.suppress(filelock.Timeout, BocuError), filelock.FileLock(_lock(call.note)).acquire(timeout=0):
            left = [] if queued([call]) else _locks_of(call)
            for lock in left:
                lock.unlink(missing_ok=True)
            if left:
                yield call


def _locks_of(call: Call) -> list[Path]:
    """Return the locks that a call wrote and that stand: their names are given out again, their times are not."""
    found = []
    for name, written in call.locks.items():
        with contextlib.suppress(OSError):
            if _LOCK_NAME.fullmatch(name) and (LOCKS / name).stat().st_mtime_ns == written:
                found.append(LOCKS / name)
    return found


def locks_are_new() -> bool:
    """Whether Snakemake's locks may be of a call that has no note yet: it writes them shortly before."""
    noted = max((call.started for call in calls()), default=0.0)
    written = [lock.stat().st_mtime for lock in LOCKS.glob("*.lock")]
    return any(noted < moment and time.time() - moment < NOTE_SECONDS for moment in written)


def hindrance(plan: Plan) -> str | None:
    """Say in a line why Snakemake may not begin now, and what to do; None where nothing hinders it."""
    files = locked_files(plan)
    if not files:
        return None
    what = files[0] + (f" and {len(files) - 1} more" if len(files) > 1 else "")
    alive = [call for call in calls() if call.is_alive()]
    if not alive:
        return f"{what}: locked by a Snakemake that was killed; `bocu resume FILE` waits for its jobs and goes on"
    names = "; ".join(f"{call}, for '{call.experiment}'" for call in alive)
    return (
        f"{what}: made by another Snakemake now ({names}); until it ends, this one may end in a LockException. "
        "`bocu resume FILE` waits for it, then begins"
    )


def forget_records(files: Sequence[str], arguments: Sequence[str]) -> str:
    """Have Snakemake forget by which parameters files were made: they stand as they are.

    Args:
        files: outputs of the workflow.
        arguments: of Snakemake, that tell the experiment.

    Returns:
        Why it did not, where it did not: it then has a job look at each of the files, once. Else nothing.
    """
    if not files or not RECORDS.is_dir():
        return ""
    snakemake = [sys.executable, "-P", "-m", "snakemake", "--snakefile", str(in_clone("Snakefile"))]
    done = subprocess.run([*snakemake, "--cleanup-metadata", *files, *arguments], capture_output=True, text=True)
    if done.returncode == 0 or "metadata was not present" in done.stderr:
        return ""
    return f"Snakemake could not forget how the runs were made ({' '.join(done.stderr.split())})"


def _lock(note: Path) -> Path:
    return note.with_suffix(".lock")


_NUMBER = r"\d+(\.\d+)?"
_WORD = r"[a-z][a-z0-9_-]*"
_RULE = r"[a-z][a-z0-9_]*"
_AMOUNT = rf"({_NUMBER}|[A-Za-z0-9][A-Za-z0-9_-]*)"  # Snakemake evaluates it: a number or a name calls nothing
_RESOURCE = "(mem_mb|disk_mb|runtime|nodes|tasks|cpus_per_task|slurm_account|slurm_partition|slurm_constraint|qos)"
_TARGET = r"(?!.*\.\.)[A-Za-z0-9][\w./-]*"

FLAGS = frozenset(
    {
        *("--keep-going", "-k", "--rerun-incomplete", "--ri", "--show-failed-logs", "--printshellcmds", "-p"),
        *("--nocolor", "--verbose", "--notemp", "--nt", "--forceall", "-F", "--force", "-f"),
        *("--slurm-requeue", "--slurm-no-requeue", "--slurm-no-account", "--slurm-keep-successful-logs"),
    }
)
ONE_VALUE = {
    **dict.fromkeys(("--cores", "-c", "--jobs", "-j"), rf"{_NUMBER}|all|unlimited"),
    **dict.fromkeys(("--retries", "--restart-times", "-T", "--latency-wait", "--output-wait", "-w"), _NUMBER),
    **dict.fromkeys(("--local-cores", "--max-threads", "--scheduler-subsample", "--max-checksum-file-size"), _NUMBER),
    **dict.fromkeys(("--max-status-checks-per-second", "--seconds-between-status-checks"), _NUMBER),
    **dict.fromkeys(("--executor", "-e"), "local|warm|slurm"),
    "--max-jobs-per-timespan": r"\d+/\d+[smh]?",
    "--scheduler": "greedy|ilp",
    "--slurm-qos": r"[A-Za-z0-9][\w-]*",
    "--slurm-reservation": r"[A-Za-z0-9][\w-]*",
    "--slurm-status-command": "squeue|sacct",
    "--slurm-init-seconds-before-status-checks": _NUMBER,
}
VALUES = {
    **dict.fromkeys(("--quiet", "-q"), _WORD),
    **dict.fromkeys(("--until", "-U", "--omit-from", "-O", "--forcerun", "-R", "--prioritize", "-P"), _TARGET),
    **dict.fromkeys(("--default-resources", "--default-res"), rf"{_RESOURCE}={_AMOUNT}"),
    **dict.fromkeys(("--resources", "--res"), rf"{_WORD}={_NUMBER}"),
    "--set-resources": rf"{_RULE}:{_RESOURCE}={_AMOUNT}",
    "--set-threads": rf"{_RULE}=\d+",
    "--rerun-triggers": "code|input|mtime|params|software-env",
    "--logger": "bocu",
}
CLONE = {"--snakefile": "Snakefile", "-s": "Snakefile", "--workflow-profile": "profiles"}
"""Options whose value is this file of the clone, or in this folder of it."""
_SETTINGS = ("--config", "-C")
_FILES = ("--configfile", "--configfiles")
_JOINED = re.compile(r"(-[cjTw])(\d+)")


@dataclass
class Recorded:
    """A command line of Snakemake, taken apart."""

    options: list[str] = field(default_factory=list)  #: all but what follows, as they stood.
    files: list[str] = field(default_factory=list)  #: of `--configfile`.
    settings: list[str] = field(default_factory=list)  #: of `--config`, "key=value" each.
    targets: list[str] = field(default_factory=list)  #: what it was to make.

    def command(self) -> list[str]:
        """Return the arguments put together again."""
        files = ["--configfile", *self.files] if self.files else []
        settings = ["--config", *self.settings] if self.settings else []
        return [*self.options, *files, *settings, *(["--", *self.targets] if self.targets else [])]


def read_recorded(arguments: Sequence[str]) -> Recorded:
    """Take a recorded command line apart.

    Raises:
        BocuError: an option or a value that is not taken up.
    """
    found = Recorded()
    for option, values in _grouped(arguments):
        if option == "--":
            found.targets += [_of_form(value, _TARGET, value) for value in values]
        elif option in _FILES:
            found.files = list(values)
        elif option in _SETTINGS:
            found.settings = list(values)
        elif option in CLONE and len(values) == 1 and _of_the_clone(option, values[0]):
            found.options += [option, *values]
        elif option in FLAGS and not values:
            found.options.append(option)
        elif option in ONE_VALUE and len(values) == 1:
            found.options += [option, _of_form(values[0], ONE_VALUE[option], f"{option} {values[0]}")]
        elif option in VALUES:
            found.options += [option, *(_of_form(each, VALUES[option], f"{option} {each}") for each in values)]
        else:
            raise _not_taken_up(" ".join([option, *values]))
    return found


def _grouped(arguments: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Return every option with its values; targets follow "--"."""
    words = list(arguments)
    while words:
        option, equals, value = words.pop(0).partition("=")
        if option == "--":
            yield "--", words
            return
        if joined := _JOINED.fullmatch(option):
            option, equals, value = joined[1], "=", joined[2]
        if not option.startswith("-"):
            yield "--", [option + equals + value]
            continue
        single = option in FLAGS or bool(equals)
        most = 1 if option in ONE_VALUE or option in CLONE else len(words)
        values = [value] if equals else []
        while words and not single and len(values) < most and not words[0].startswith("-"):
            values.append(words.pop(0))
        yield option, values


def _of_form(value: str, form: str, said: str) -> str:
    if not re.fullmatch(form, value):
        raise _not_taken_up(said)
    return value


def _of_the_clone(option: str, value: str) -> bool:
    path = Path(value).resolve()
    return (option == "--workflow-profile" and value == "none") or any(
        place in (path, path.parent) for place in of_clone(CLONE[option])
    )


def _not_taken_up(said: str) -> BocuError:
    return BocuError(f"found {shown(said)}, which is not taken up")
