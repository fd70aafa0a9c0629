"""Snakemake's logger plug-in `bocu`: says which job did what, how many are left and for about how long.

Snakemake finds it by the name of this package; the profiles switch it on (`logger: bocu`). Words are made by
`bocu.sweep.narrator`. What is not about jobs, warnings and errors above all, is shown as Snakemake words it; the file
under `.snakemake/log` holds everything as ever.
"""

import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from logging import INFO, WARNING, LogRecord
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from bocu.sweep.narrator import Job, Narrator

SECONDS_OF_SILENCE = 30.0  # after which running jobs are told of
LOG_LINES = 10  # of a failed job that are shown
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_STARTED_AGAIN = re.compile(r"Trying to restart job (\d+)\.")
_ABOUT_A_JOB = re.compile(r"Job (\d+)(?= has been submitted)")
_LOCKED = "Directory cannot be locked"
_AFTER_A_LOCK = "`bocu resume FILE` waits for what still runs, removes a lock that nothing holds any more, and goes on."
_NOISE = (  # said at every start, or of every step
    "Assuming unrestricted shared filesystem usage",
    "Building DAG of jobs...",
    "Config file ",
    "Elapsed time: ",
    "Removing output files of failed job ",
    "Rules claiming more threads will be scaled down",
    "Select jobs to execute...",
    "Using shell: ",
    "host: ",
)


class LogHandler(LogHandlerBase):
    """Prints to the terminal, a line a finished job."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        settings = self.common_settings
        self._stream = sys.stdout if settings.stdout else sys.stderr
        self._coloured = self._stream.isatty() and not settings.nocolor
        self._quiet = {str(getattr(about, "name", about)).lower() for about in settings.quiet or ()}
        self._narrator = Narrator()
        self._lock_of_jobs = threading.Lock()
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None
        self._statistics = ""
        self._printed = time.monotonic()

    def emit(self, record: LogRecord) -> None:
        try:
            with self._lock_of_jobs:
                lines = list(self._lines(record))
                if lines:
                    self._print(lines, record.levelno)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        self._stop.set()
        super().close()

    def _lines(self, record: LogRecord) -> Iterable[str]:
        if tell := _TELL.get(getattr(record, "event", None)):
            return tell(self, record)
        if record.levelno >= WARNING:
            return self._as_snakemake_does(record)
        return () if "all" in self._quiet else self._message(record)

    def _message(self, record: LogRecord) -> Iterable[str]:
        text, event = record.getMessage(), getattr(record, "event", None)
        settings = self.common_settings
        wanted: dict[object, bool] = {
            LogEvent.SHELLCMD: settings.printshellcmds,
            LogEvent.DEBUG_DAG: settings.debug_dag,
        }
        if not (settings.verbose or wanted.get(event, record.levelno >= INFO and not text.startswith(_NOISE))):
            return ()
        if about := _ABOUT_A_JOB.match(text):
            return (f"{self._narrator.name(int(about[1]))}{text[about.end() :]}",)
        if again := _STARTED_AGAIN.fullmatch(text):
            return (f"{self._narrator.name(int(again[1]))} is started again",)
        return self._as_snakemake_does(record)

    def _as_snakemake_does(self, record: LogRecord) -> Iterable[str]:
        text = self.format(record)
        lines = (text,) if text and text != "None" else ()
        return (*lines, _AFTER_A_LOCK) if _LOCKED in text else lines

    def _started(self, record: LogRecord) -> Iterable[str]:
        """A job begins, or, of a dry run, would."""
        given = record.__dict__
        job = Job(given["rule_name"], given["wildcards"], _logs(given), given["output"])
        if self.common_settings.dryrun:
            return () if self._quiet & {"rules", "all"} else (f"{job.name}: {' '.join(given['reason'].split())}",)
        self._narrator.start(given["jobid"], job)
        if self._watcher is None and not self._quiet & {"progress", "all"}:
            self._watcher = threading.Thread(target=self._watch, daemon=True)
            self._watcher.start()
        if given["rule_msg"] and "all" not in self._quiet:
            return (given["rule_msg"],)
        return ()

    def _finished(self, record: LogRecord) -> Iterable[str]:
        self._narrator.finish(record.__dict__["job_id"])
        return ()

    def _progress(self, record: LogRecord) -> Iterable[str]:
        lines = list(self._narrator.progress(record.__dict__["done"], record.__dict__["total"]))
        return () if self._quiet & {"progress", "all"} else lines

    def _planned(self, record: LogRecord) -> Iterable[str]:
        """The table of jobs; a dry run sends it twice."""
        statistics = record.__dict__.get("stats") or {}
        self._narrator.plan({rule: count for rule, count in statistics.items() if rule != "total"})
        before, self._statistics = self._statistics, record.getMessage()
        hidden = self._statistics == before or "all" in self._quiet
        hidden = hidden or ("progress" in self._quiet and not self.common_settings.dryrun)
        return () if hidden else (self._statistics,)

    def _provided(self, record: LogRecord) -> Iterable[str]:
        """Cores, or how many jobs may be submitted."""
        given = record.__dict__
        if given.get("cores") or given.get("nodes"):
            self._narrator.provide(int(given.get("cores") or given["nodes"]))
        return self._unsaid(record)

    def _failed(self, record: LogRecord) -> Iterable[str]:
        given = record.__dict__
        job = Job(given["rule_name"], {}, _logs(given), given["output"])
        name = self._narrator.name(given["jobid"])
        self._narrator.fail(given["jobid"])
        lines = [f"failed: {name}"]
        lines += [f"    {given['rule_msg']}"] if given["rule_msg"] else []
        lines += [f"    {key}: {value}" for key, value in given["aux"].items()]
        lines += [f"    command: {given['shellcmd']}"] if given["shellcmd"] else []
        lines += [f"    log: {path}" for path in job.logs]
        if self.common_settings.show_failed_logs:
            lines += [f"        {line}" for line in job.last_lines(LOG_LINES)]
        return lines

    def _unsaid(self, record: LogRecord) -> Iterable[str]:
        return self._as_snakemake_does(record) if self.common_settings.verbose else ()

    def _watch(self) -> None:
        """Tell of running jobs where nothing else was told for a while."""
        while not self._stop.wait(max(self._printed + SECONDS_OF_SILENCE - time.monotonic(), 0.0)):
            with self._lock_of_jobs:
                if self._stream.closed:  # by a program that called Snakemake as a function
                    return
                if time.monotonic() - self._printed >= SECONDS_OF_SILENCE:
                    self._print(self._narrator.running(), INFO)

    def _print(self, lines: Iterable[str], level: int) -> None:
        before, after = (_RED, _PLAIN) if self._coloured and level > WARNING else ("", "")
        for line in lines:
            self._stream.write(f"{before}{line}{after}\n")
        self._stream.flush()
        self._printed = time.monotonic()


def _logs(given: Mapping[str, Any]) -> Sequence[str]:
    """Return the logs of a job; those of blocks of runs are opened by the jobs themselves, unknown to Snakemake."""
    if given["log"] or given["rule_name"] != "run":
        return given["log"]
    from bocu.sweep.experiment.paths import log_file

    return [str(log_file(path)) for path in given["output"]]


_TELL: Mapping[object, Callable[[LogHandler, LogRecord], Iterable[str]]] = {
    LogEvent.WORKFLOW_STARTED: LogHandler._unsaid,
    LogEvent.RESOURCES_INFO: LogHandler._provided,
    LogEvent.RULEGRAPH: LogHandler._unsaid,
    LogEvent.GROUP_INFO: LogHandler._unsaid,
    LogEvent.JOB_STARTED: LogHandler._unsaid,
    LogEvent.JOB_INFO: LogHandler._started,
    LogEvent.JOB_FINISHED: LogHandler._finished,
    LogEvent.JOB_ERROR: LogHandler._failed,
    LogEvent.PROGRESS: LogHandler._progress,
    LogEvent.RUN_INFO: LogHandler._planned,
}
