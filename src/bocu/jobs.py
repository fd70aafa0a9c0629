"""What every job of the workflow shares: its log, and the one line that a user's fault gets."""

import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bocu.errors import BocuError


@contextlib.contextmanager
def job(snakemake: Any) -> Iterator[None]:
    """Send log lines, warnings and tracebacks of a job to its log file.

    A `BocuError` ends the job with exit status 1 and one line, in the log and on the terminal.
    """
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as file, _standard_error_to(file) as terminal:
        _log_to_standard_error()
        try:
            yield
        except BocuError as error:
            from bocu.broken import told

            line = f"error: {told(error)}"
            print(line, file=sys.stderr, flush=True)
            print(line, file=terminal, flush=True)
            raise SystemExit(1) from None
        except Exception as error:
            traceback.print_exc()
            print(f"error: {type(error).__name__}: {error} (traceback in {log})", file=terminal, flush=True)
            raise SystemExit(1) from None


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
            sys.stderr.flush()
            os.dup2(saved, 2)
            os.close(saved)


def _log_to_standard_error() -> None:
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr, force=True
    )
    logging.captureWarnings(True)
