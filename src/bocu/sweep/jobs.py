"""What every job of the workflow shares: its log, and the one line that a user's fault gets.

A broken file is left under another name, so that the next call makes it anew.
"""

import contextlib
import json
import logging
import os
import re
import socket
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import set_aside
from bocu.core.io.lineage import making, unfold, writing
from bocu.core.loading import naming_extras
from bocu.core.plain import Plain
from bocu.problems.data.catalogue import SOURCES
from bocu.sweep.experiment.paths import checkpoint_folder, log_file

logger = logging.getLogger(__name__)

ATTEMPT = "attempt"  # with which the line that each attempt at a block opens its part of the log begins


@contextlib.contextmanager
def job(snakemake: Any) -> Iterator[Plain]:
    """Send log lines, warnings and tracebacks of a job to its log file, and let its products carry their lineage.

    A `BocuError` ends the job with exit status 1 and one line, in the log and on the terminal.

    Returns:
        The parameters of the job as plain data: groups and texts of JSON unfolded.
    """
    parameters = {key: value for key, value in snakemake.params.items() if not isinstance(value, Words)}
    rule = f"rule {snakemake.rule}"
    with logged(snakemake.log[0]), making(snakemake.output, parameters, snakemake.input, rule):
        yield unfold(parameters)


@contextlib.contextmanager
def logged(log: str) -> Iterator[None]:
    """Do as `job` where a rule has no script, and its product no lineage."""
    with _one_line(), _log_in(Path(log), "w"):
        yield


@contextlib.contextmanager
def block_job(snakemake: Any) -> Iterator[Plain]:
    """Do as `job` for a job that runs a block of seeds, once no other process runs the block.

    The log is opened when the block is held, and added to: whoever held it before is left undisturbed, and what earlier
    attempts said stays.
    """
    from bocu.sweep.runs.checkpoints import hold

    run_file = snakemake.output[0]
    with (
        _one_line(),
        hold(checkpoint_folder(run_file)) as waited,
        _log_in(log_file(run_file), "a"),
        writing(snakemake.output, f"rule {snakemake.rule}"),
    ):
        number = os.environ.get("SLURM_JOB_ID")
        place = f"{socket.gethostname()}, process {os.getpid()}" + (f", SLURM job {number}" if number else "")
        logger.info("%s on %s, after waiting %.0f s for another process", ATTEMPT, place, waited)
        yield unfold(dict(snakemake.params.items()))


@contextlib.contextmanager
def _one_line() -> Iterator[None]:
    """End the process with one line for what goes wrong before there is a log."""
    try:
        yield
    except BocuError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        raise SystemExit(1) from None


@contextlib.contextmanager
def _log_in(log: Path, mode: str) -> Iterator[None]:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        opened = log.open(mode, encoding="utf-8")
    except OSError as error:
        raise BocuError(f"{log}: the log could not be written: {error.strerror}") from None
    with opened as file, _standard_error_to(file) as terminal:
        logging.basicConfig(
            level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr, force=True
        )
        logging.captureWarnings(True)
        try:
            with naming_extras():
                yield
        except BocuError as error:
            line = f"error: {fault_told(error)}"
            _written(f"{line}\n")
            print(line, file=terminal, flush=True)
            raise SystemExit(1) from None
        except KeyboardInterrupt:
            logger.warning("asked to stop by the keyboard")
            raise
        except Exception as error:
            where = "traceback in" if _written(traceback.format_exc()) else "no room for the traceback in"
            print(f"error: {type(error).__name__}: {error} ({where} {log})", file=terminal, flush=True)
            raise SystemExit(1) from None


def _written(text: str) -> bool:
    """Write to the log; say whether it could be: the disk that is full may be the log's own."""
    try:
        # Not by `sys.stderr`, which would keep what it could not write and fail again when the process ends.
        os.write(2, text.encode())
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _standard_error_to(file: Any) -> Iterator[Any]:
    """Point file descriptor 2 at `file`, so that compiled code and child processes follow; give the old one."""
    sys.stderr.flush()
    saved = os.dup(2)
    os.dup2(file.fileno(), 2)
    with os.fdopen(os.dup(saved), "w") as terminal:
        try:
            yield terminal
        finally:
            with contextlib.suppress(OSError):
                sys.stderr.flush()
            os.dup2(saved, 2)
            os.close(saved)


_MARKUP = re.compile(r"([\\*_`|])")


@dataclass(frozen=True)
class Words:
    """The words of a figure, read from its description only when they are asked for: planning opens no file."""

    description: str  #: the JSON file that is written with the figure.

    @property
    def title(self) -> str:
        """The heading, plain."""
        return self._read("title")

    @property
    def caption(self) -> str:
        """What is drawn, as reStructuredText that is all text."""
        return _MARKUP.sub(r"\\\1", self._read("caption"))

    def _read(self, key: str) -> str:
        return str(json.loads(Path(self.description).read_text(encoding="utf-8"))[key])


def fault_told(error: BocuError) -> str:
    """Return the line for a fault that ended a job; a broken file that the pipeline can make again is set aside."""
    if not isinstance(error, BrokenFileError) or not _is_made_by_the_pipeline(error.path):
        return str(error)
    return f"{error.path}: {error.fault}; renamed to {set_aside(error.path).name}, the next call makes it again"


def _is_made_by_the_pipeline(path: Path) -> bool:
    """Whether a path is one of results/... or data/<source>/...: what lies elsewhere is the user's own."""
    parts = Path(os.path.relpath(path)).parts
    return parts[0] == "results" or (parts[0] == "data" and len(parts) > 2 and parts[1] in SOURCES)
