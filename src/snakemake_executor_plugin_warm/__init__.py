"""Snakemake's executor plug-in `warm`: its local executor, whose Python scripts start in children of a warm process.

`snakemake --executor warm --warm-preload MODULE...`. It needs Linux, and takes the place of parts of Snakemake that are
not public, in the minor versions of `KNOWN`: the class of Python scripts, what the local executor does when a job has
ended, how a job asks for its pipes, the scheduler's timers and its handler of SIGTERM. Under another version, and for
what is no Python script of this environment, it is the local executor.
"""

import functools
import os
import signal
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import snakemake
from snakemake import script as scripts
from snakemake.benchmark import benchmarked
from snakemake.executors import local
from snakemake.jobs import Job
from snakemake.shell import shell
from snakemake_interface_executor_plugins.settings import ExecutorSettingsBase

from snakemake_executor_plugin_warm.workers import NotWarm, Workers
from snakemake_executor_plugin_warm.zygote import Ending

#: Minor versions of Snakemake that it was tried with.
KNOWN = ("9.25", "9.26", "9.27")

_TEMPORARY = ("TMPDIR", "TMP", "TEMPDIR", "TEMP")

common_settings = local.common_settings


@dataclass
class ExecutorSettings(ExecutorSettingsBase):
    """Options of the command line, `--warm-...`."""

    #: modules that are imported once for all scripts.
    preload: list[str] = field(
        default_factory=list,
        metadata={
            "help": "Modules that Python scripts of rules import, to be imported once for all of them. "
            "After an edit of a file of their packages they are imported anew.",
            "nargs": "+",
            "metavar": "MODULE",
        },
    )


class Executor(local.Executor):
    """The local executor, with warm Python scripts."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._workers: Workers | None = None
        self._cold: set[int] = set()
        self._begun = False
        if hindrance := _hindrance():
            self._note(f"no warm start: {hindrance}; each job starts an interpreter of its own")
        else:
            self._workers = Workers(self._note, self.workflow.executor_settings.preload)
            self._scripts = scripts.PythonScript
            scripts.PythonScript = _warm(self._scripts, self._workers, self._cold)
            self._is_piped = Job.is_pipe_or_service_input
            Job.is_pipe_or_service_input = lambda job, path: path in piped_to(job)

    def run_job(self, job: Any) -> None:
        if self._workers is not None and not self._begun:
            self._begun = True
            self._workers.start()
            _heed_sigterm_beside(self.workflow.scheduler)
            _look_once_a_timespan(self.workflow.scheduler)
        if job.is_group():  # Snakemake ends members of groups by itself
            self._cold.update(member.jobid for member in job)
        super().run_job(job)

    def shutdown(self) -> None:
        super().shutdown()
        self._end()

    def cancel(self) -> None:
        super().cancel()
        self._end()

    def _callback(self, job_info: Any, future: Any) -> None:
        failure = None if future.cancelled() else future.exception()
        while failure is not None and not isinstance(failure, JobFailed):
            failure = failure.__context__
        if failure is None:
            super()._callback(job_info, future)
        else:  # in one line, where the local executor shows places in Snakefiles and in itself
            self.logger.error(f"error: {failure}")
            self.report_job_error(job_info)

    def _note(self, line: str) -> None:
        self.logger.warning(f"note: {line}")

    def _end(self) -> None:
        if self._workers is not None:
            self._workers.close()
            scripts.PythonScript = self._scripts
            Job.is_pipe_or_service_input = self._is_piped


class JobFailed(Exception):
    """A warm job failed: which, and how."""


def _hindrance() -> str:
    """Say what makes warm jobs impossible here; nothing where they are possible."""
    if sys.platform != "linux":
        return f"it needs Linux, this is {sys.platform}"
    version = str(snakemake.__version__)
    if version.rpartition(".")[0] not in KNOWN:
        return f"it is made for Snakemake {', '.join(KNOWN)}, this is {version}"
    return ""


@functools.lru_cache(1)
def piped_to(job: Job) -> frozenset[Any]:
    """Return the inputs of a job that come through a pipe or from a service, of a job that it runs beside.

    Asked for one input after the other, for each of which Snakemake walks through all jobs that the job comes from: a
    rule that waits for 100,000 files would begin after a quarter of an hour and more.
    """
    before = job.dag.dependencies[job].items()
    return frozenset(path for made_by, paths in before for path in made_by.pipe_or_service_output if path in paths)


def _heed_sigterm_beside(scheduler: Any) -> None:
    """Let SIGTERM be heeded while the main thread holds the scheduler's lock.

    Snakemake's handler waits for that lock. Python runs handlers in the main thread, between two of its steps: where it
    holds the lock just then, it would wait for itself, and jobs that end would wait for it, for ever.
    """

    def heed(number: int, frame: object) -> None:
        threading.Thread(target=scheduler.exit_gracefully).start()

    if signal.getsignal(signal.SIGTERM) == scheduler.exit_gracefully:
        signal.signal(signal.SIGTERM, heed)


def _look_once_a_timespan(scheduler: Any) -> None:
    """Let a scheduler have one timer, in place of one for each look for jobs.

    A timer lasts the timespan of `--max-jobs-per-timespan`; when it runs out the scheduler looks, and sets the next:
    with each finished job one look a second more. After a thousand short jobs they take a third of all processor time.
    """
    waiting = threading.Lock()

    def look() -> None:
        waiting.release()
        scheduler._open_jobs.release()

    def schedule(delay: float) -> None:
        if waiting.acquire(blocking=False):
            timer = threading.Timer(delay, look)
            timer.daemon = True  # nothing to wait for at the end
            timer.start()

    scheduler._schedule_reevalutation = schedule


def _warm(cold: Any, workers: Workers, kept_cold: set[int]) -> Any:
    """Return a class of Python scripts that takes the place of Snakemake's."""
    environment = dict(os.environ)

    class WarmScript(cold):
        def execute_script(self, fname: str, edit: bool = False) -> None:
            if edit or self._stays_cold():
                super().execute_script(fname, edit=edit)
                return
            record, watch = self.bench_record, nullcontext if self.bench_record is None else self._benchmarked
            script, folder = str(Path(fname).absolute()), str(Path.cwd())
            try:
                ending = workers.run(script, folder, self._environment(), self.threads, watch)
            except NotWarm:
                super().execute_script(fname, edit=edit)
                return
            if ending is not None and record is not None:
                _complete(record, ending)
            if ending is None or ending.status:
                wildcards = "/".join(map(str, self.wildcards))
                raise JobFailed(f"{self.rulename} {wildcards}: {_told(None if ending is None else ending.status)}")

        def _benchmarked(self, process: int) -> AbstractContextManager[object]:
            return benchmarked(process, self.bench_record)

        def _stays_cold(self) -> bool:
            """Whether it asks for another Python, a shell of its own, or to be ended by Snakemake."""
            elsewhere = self.container_img or self.conda_env or self.env_modules or self.resources.get("shell_exec")
            return bool(elsewhere or shell._process_prefix or shell._process_suffix or self.jobid in kept_cold)

        def _environment(self) -> dict[str, str]:
            folder = self.resources.get("tmpdir")
            return {**environment, **(dict.fromkeys(_TEMPORARY, str(folder)) if folder else {})}

    return WarmScript


def _complete(record: Any, ending: Ending) -> None:
    """Put in what the system counted: Snakemake samples, and so sees little of a short job."""
    record.data_collected = True
    record.cpu_time = ending.seconds
    record.cpu_usage = 100 * ending.seconds  # of which the mean load is made
    record.max_rss = max(record.max_rss or 0.0, ending.memory_mb)


def _told(status: int | None) -> str:
    if status is None:
        return "killed, with the process that had started it"
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
