"""Snakemake's executor plug-in `warm`: its local executor, whose Python scripts start in children of a warm process.

`snakemake --executor warm`. Snakemake finds it by the name of this package, and imports it at every start. What it does
is done by `bocu.sweep.warm`; here stands all that touches parts of Snakemake that are not public, of the minor versions
in `KNOWN`. Under another version, and for what is no Python script of this environment, it is the local executor.
"""

import os
import signal
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import snakemake
from snakemake import script as scripts
from snakemake.benchmark import benchmarked
from snakemake.executors import local
from snakemake.shell import shell

from bocu.sweep.warm.workers import NotWarm, Workers

#: Minor versions of Snakemake whose private parts this module was tried with.
KNOWN = ("9.27",)

_TEMPORARY = ("TMPDIR", "TMP", "TEMPDIR", "TEMP")

common_settings = local.common_settings


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
            self._workers = Workers(self._note)
            self._python_script = scripts.PythonScript
            scripts.PythonScript = _warm(self._python_script, self._workers, self._cold)

    def run_job(self, job: Any) -> None:
        if self._workers is not None and not self._begun:
            self._begun = True
            self._workers.start()
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
            scripts.PythonScript = self._python_script


class JobFailed(Exception):
    """A warm job failed: which, and how."""


def _hindrance() -> str:
    """Say what makes warm jobs impossible here; nothing where they are possible."""
    if sys.platform != "linux":
        return f"it needs Linux, this is {sys.platform}"
    version = str(snakemake.__version__)
    if version.rpartition(".")[0] not in KNOWN:
        return f"it is made for Snakemake {' and '.join(KNOWN)}, this is {version}"
    return ""


def _look_once_a_timespan(scheduler: Any) -> None:
    """Let a scheduler look for jobs by the clock once a timespan of its rate limit.

    It sets a timer whenever it looks, and looks whenever one runs out: with each finished job once more a second, until
    that is all it does (10,900 times for 300 jobs of a second).
    """
    waiting = threading.Lock()

    def look() -> None:
        waiting.release()
        scheduler._open_jobs.release()

    def set_one(delay: float) -> None:
        if waiting.acquire(blocking=False):
            timer = threading.Timer(delay, look)
            timer.daemon = True  # nothing to wait for at the end
            timer.start()

    scheduler._schedule_reevalutation = set_one


def _warm(cold: Any, workers: Workers, kept_cold: set[int]) -> Any:
    """Return a class of Python scripts that takes the place of Snakemake's."""

    class WarmScript(cold):
        def execute_script(self, fname: str, edit: bool = False) -> None:
            if self._stays_cold():
                super().execute_script(fname, edit=edit)
                return
            try:
                ending = workers.run(fname, str(Path.cwd()), self._environment(), self.threads, self._measured)
            except NotWarm:
                super().execute_script(fname, edit=edit)
                return
            if ending is not None and self.bench_record is not None:
                _complete(self.bench_record, ending.seconds, ending.memory_mb)
            if ending is None or ending.status:
                raise JobFailed(f"{self._name()}: {_told(None if ending is None else ending.status)}")

        def _stays_cold(self) -> bool:
            """Whether it asks for another Python, a shell of its own, or to be ended by Snakemake."""
            elsewhere = self.container_img or self.conda_env or self.env_modules or self.resources.get("shell_exec")
            return bool(elsewhere or shell._process_prefix or shell._process_suffix or self.jobid in kept_cold)

        def _environment(self) -> dict[str, str]:
            folder = self.resources.get("tmpdir")
            return {**os.environ, **(dict.fromkeys(_TEMPORARY, str(folder)) if folder else {})}

        def _measured(self, process: int) -> AbstractContextManager[object]:
            return nullcontext() if self.bench_record is None else benchmarked(process, self.bench_record)

        def _name(self) -> str:
            from bocu.sweep.narrator import Job

            return Job(self.rulename, dict(self.wildcards.items()), self.log, self.output).name

    return WarmScript


def _complete(record: Any, seconds: float, memory_mb: float) -> None:
    """Put in what the system counted: Snakemake samples, and so sees little of a short job."""
    record.data_collected = True
    record.cpu_time = seconds
    record.max_rss = max(record.max_rss or 0.0, memory_mb)


def _told(status: int | None) -> str:
    if status is None:
        return "killed, with the process that had started it"
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
