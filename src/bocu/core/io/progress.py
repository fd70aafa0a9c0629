"""Progress of long work: a bar in a terminal, a line every so often in a log; and that a silent command is at work."""

import logging
import sys
import threading
import time
from typing import Any, TextIO

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 15.0
SECONDS_OF_SILENCE = 2.0  # after which a terminal shows that a command is at work
SECONDS_OF_SILENCE_IN_A_LOG = 30.0  # the first time; twice as long each time after
_ERASE = "\r\x1b[K"  # the line of a terminal


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


class AtWork:
    """Shows on standard error that a command is at work where it says nothing for a while; use as a context manager.

    In a terminal a line counts the seconds, erased before anything else is written. Elsewhere there is a line now and
    then.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self._streams = sys.stdout, sys.stderr
        self._is_terminal = sys.stderr.isatty()
        self._start = self._last = time.monotonic()
        self._silence = SECONDS_OF_SILENCE if self._is_terminal else SECONDS_OF_SILENCE_IN_A_LOG
        self._shown = self._within_a_line = False
        self._lock = threading.RLock()
        self._end = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "AtWork":
        sys.stdout, sys.stderr = (_Heard(stream, self) for stream in self._streams)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._watcher.join()
        self._erase()
        sys.stdout, sys.stderr = self._streams

    def write(self, stream: TextIO, text: str) -> int:
        """Write what the command says."""
        with self._lock:
            self._erase()
            written = stream.write(text)
            if text:
                self._last = time.monotonic()
                self._within_a_line = not text.endswith("\n") and stream.isatty()
            return written

    def _watch(self) -> None:
        while not self._end.wait(0.5):
            with self._lock:
                now = time.monotonic()
                if now - self._last < self._silence or self._within_a_line:
                    continue
                line = f"{self.command}: at work for {now - self._start:.0f} s"
                if self._is_terminal:
                    self._streams[1].write(_ERASE + line)
                    self._shown = True
                else:
                    self._streams[1].write(f"{line}\n")
                    self._last, self._silence = now, 2 * self._silence
                self._streams[1].flush()

    def _erase(self) -> None:
        if self._shown:
            self._streams[1].write(_ERASE)
            self._streams[1].flush()
            self._shown = False


class _Heard:
    """A stream whose writes `AtWork` hears of."""

    def __init__(self, stream: TextIO, at_work: AtWork) -> None:
        self._stream = stream
        self._at_work = at_work

    def write(self, text: str) -> int:
        return self._at_work.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
