"""Progress of long work: a bar in a terminal, a line every so often in a log."""

import logging
import sys
import time
from typing import Any

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 15.0


class Progress:
    """Counts steps of a known total; use as a context manager."""

    def __init__(self, total: int, description: str) -> None:
        self.total = total
        self.description = description
        self._done = 0
        self._start = self._last = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> "Progress":
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=self.total, desc=self.description, unit="round", leave=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        else:
            self._line()

    def advance(self, steps: int = 1) -> None:
        """Move on by some steps."""
        self._done += steps
        if self._bar is not None:
            self._bar.update(steps)
        elif time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._line()

    def _line(self) -> None:
        self._last = time.monotonic()
        elapsed = self._last - self._start
        logger.info("%s: %d of %d, %.0f s", self.description, self._done, self.total, elapsed)
