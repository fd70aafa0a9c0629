"""The logger plug-in, by the conformance tests of its interface."""

import io
import re

import pytest
from snakemake.logging import DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

from snakemake_logger_plugin_bocu import LogHandler


class TestLogHandler(TestLogHandlerBase):
    __test__ = True

    def get_log_handler_cls(self):
        return LogHandler

    def get_log_handler_settings(self):
        return None

    @pytest.fixture(autouse=True)
    def _no_fault_of_the_handler_itself(self, capsys):
        """Faults inside of a handler are printed by `logging`, not raised."""
        yield
        assert "--- Logging error ---" not in capsys.readouterr().err


def handler(monkeypatch, terminal, **settings):
    """A handler that writes to `terminal`."""
    monkeypatch.setattr("sys.stderr", terminal)
    given = MockOutputSettings()
    given.quiet = {"rules"}
    for key, value in settings.items():
        setattr(given, key, value)
    made = LogHandler(common_settings=given, settings=None)
    made.setFormatter(DefaultFormatter())
    return made


class Terminal(io.StringIO):
    def isatty(self):
        return True


def record(level, text, **fields):
    import logging

    made = logging.LogRecord("snakemake", level, "x.py", 1, text, (), None)
    for key, value in fields.items():
        setattr(made, key, value)
    return made


@pytest.mark.parametrize("quiet", [set(), {"rules"}, {"rules", "progress"}, {"all"}])
def test_no_kind_of_quiet_swallows_an_error(monkeypatch, quiet):
    out = io.StringIO()
    handler(monkeypatch, out, quiet=quiet).emit(record(40, "LockException: the folder is locked"))
    assert out.getvalue() == "LockException: the folder is locked\n"


def test_errors_are_red_in_a_terminal_alone(monkeypatch):
    out = Terminal()
    handler(monkeypatch, out).emit(record(40, "no"))
    handler(monkeypatch, out).emit(record(20, "yes"))
    handler(monkeypatch, out, nocolor=True).emit(record(40, "no"))
    assert out.getvalue() == "\x1b[31mno\x1b[0m\nyes\nno\n"


def test_what_is_said_of_a_job_by_its_number_is_said_by_its_name(monkeypatch):
    out = io.StringIO()
    made = handler(monkeypatch, out)
    made.emit(
        record(
            20, "x", event=LogEvent.JOB_INFO, jobid=12, rule_name="run", rule_msg=None,
            wildcards={"block": "hills/any/mle/seeds-0-1"}, log=[], reason="",
            output=["results/trial/runs/hills/any/mle/seeds-0-1.nc"],
        )
    )  # fmt: skip
    made.emit(record(20, "Job 12 has been submitted with SLURM jobid 77 (log: x.log)."))
    made.emit(record(20, "Trying to restart job 12."))
    made.emit(record(20, "Select jobs to execute..."))
    made.close()
    name = "run hills/any/mle seeds 0-1"
    assert out.getvalue().splitlines() == [
        f"{name} has been submitted with SLURM jobid 77 (log: x.log).",
        f"{name} is started again",
    ]


def test_time_left_is_told_of_the_jobs_that_were_planned(monkeypatch):
    def told(**stats):
        out = io.StringIO()
        made = handler(monkeypatch, out)
        table = record(20, "Job stats:", event=LogEvent.RUN_INFO, stats=stats)
        for line in (table, table, record(20, "", event=LogEvent.RUN_INFO, stats=None), table):
            made.emit(line)
        made.emit(
            record(
                20, "x", event=LogEvent.JOB_INFO, jobid=1, rule_name="trial", rule_msg=None, wildcards={}, log=[],
                reason="", output=["a"],
            )
        )  # fmt: skip
        made.emit(record(20, "", event=LogEvent.JOB_FINISHED, job_id=1))
        made.emit(record(20, "", event=LogEvent.PROGRESS, done=1, total=400))
        made.close()
        *tables, progress = filter(None, out.getvalue().splitlines())
        assert tables == ["Job stats:", "Job stats:"]
        return re.fullmatch(r"trial a: .*; 1 of 400 jobs, about (.*) left", progress)[1]

    # The sum that ends the table is no kind of job.
    assert told(trial=400, total=400_000).endswith(" min")
    assert not told(trial=400_000).endswith(" min")
