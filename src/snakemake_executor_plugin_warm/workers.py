"""The main process's side of the zygote: starts it, hands jobs to it, from many threads at once, and waits for them."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from snakemake_executor_plugin_warm import zygote as protocol
from snakemake_executor_plugin_warm.zygote import GO, READY, RETIRE, Ending, Request

#: Variables by which numerical libraries learn their number of threads as they are loaded.
THREADS = (
    "OMP_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


class NotWarm(Exception):
    """No zygote can be had; the job is to be started without one."""


class _Zygote:
    """A zygote that was started, and imports some modules."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
        self._channel, theirs = protocol.channel()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", protocol.__file__, str(theirs.fileno()), *modules],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._ready: str | None = None  # what hinders it; "" where nothing does

    @property
    def number(self) -> int:
        return self._process.pid

    def hindrance(self) -> str:
        """Wait until it is ready; return why it is not, in a line, or nothing."""
        if self._ready is None:
            message, _ = protocol.receive(self._channel)
            said = message or {"failed": f"it ended with status {self._process.wait()}"}
            self._ready = "" if said == READY else str(said["failed"])
        return self._ready

    def hand(self, request: Request, job: socket.socket) -> bool:
        """Send a request; say whether there is a zygote to send it to."""
        try:
            protocol.send(self._channel, vars(request), job)
        except OSError:
            return False
        return True

    def retire(self) -> None:
        """Let it end after its last child."""
        with contextlib.suppress(OSError):
            protocol.send(self._channel, RETIRE)

    def close(self) -> None:
        """Let it end now, and its children with it."""
        self._channel.close()
        self._process.wait()


class Workers:
    """Runs scripts in children of a zygote; any number of threads may do so at once.

    Args:
        note: is told in a line what a user should know.
        modules: to be imported once for all scripts.
    """

    def __init__(self, note: Callable[[str], None], modules: Sequence[str] = ()) -> None:
        self._note = note
        self._modules = modules
        self._lock = threading.Lock()
        self._zygote: _Zygote | None = None
        self._retired: list[_Zygote] = []
        self._off = False

    def start(self) -> None:
        """Let a zygote begin to import, unless there is one: whoever has no job for it yet need not wait."""
        with self._lock:
            if self._zygote is None and not self._off:
                self._zygote = _Zygote(self._modules)

    def run(
        self,
        script: str,
        folder: str,
        environment: Mapping[str, str],
        threads: int = 1,
        watch: Callable[[int], AbstractContextManager[object]] = lambda process: contextlib.nullcontext(),
    ) -> Ending | None:
        """Run a script to its end, as an interpreter of its own would.

        Args:
            script: the script's file.
            folder: its working directory.
            environment: all its variables, but for those of threads.
            threads: of numerical libraries.
            watch: looks at the child, by its number, from before its first step until after the last.

        Returns:
            How it ended; None where nobody knows, because the zygote was killed, and the child with it.

        Raises:
            NotWarm: there is no zygote, and nothing was run.
        """
        environment = {**environment, **dict.fromkeys(THREADS, str(threads))}
        while True:
            zygote, job = self._begin(script, folder, environment, threads)
            with job:
                message, _ = protocol.receive(job)
                if message is not None and "edited" in message:
                    self._renew(zygote, str(message["edited"]))
                    continue
                if message is None or "process" not in message:  # it could not begin
                    raise NotWarm
                with watch(message["process"]):
                    with contextlib.suppress(OSError):  # killed in between
                        protocol.send(job, GO)
                    # The zygote tells of the end of the child; where it cannot, their common end does.
                    ended, _ = protocol.receive(job)
                return None if ended is None else Ending(**ended)

    def close(self) -> None:
        """End the zygote."""
        with self._lock:
            for zygote in (*self._retired, *([self._zygote] if self._zygote else ())):
                zygote.close()
            self._retired, self._zygote, self._off = [], None, True

    def _begin(
        self, script: str, folder: str, environment: Mapping[str, str], threads: int
    ) -> tuple[_Zygote, socket.socket]:
        """Return a zygote, and the channel to the job that it has been asked for."""
        with self._lock:
            while not self._off:
                zygote = self._zygote = self._zygote or _Zygote(self._modules)
                if why := zygote.hindrance():
                    self._off = True
                    self._note(f"no warm start: {why}; each job starts an interpreter of its own")
                    break
                ours, theirs = protocol.channel()
                request = Request(script, folder, _differences(zygote.environment, environment), threads)
                with theirs:
                    if zygote.hand(request, theirs):
                        return zygote, ours
                ours.close()
                self._note(f"process {zygote.number}, which starts the jobs, was killed; another one takes its place")
                zygote.close()
                self._zygote = None
        raise NotWarm

    def _renew(self, zygote: _Zygote, edited: str) -> None:
        """Let jobs from here on run the files as they are now."""
        with self._lock:
            if self._zygote is zygote:  # the first thread to notice
                self._note(f"{edited} was edited: jobs from here on run what stands there now")
                zygote.retire()
                self._retired.append(zygote)
                self._zygote = None


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    changed: dict[str, str | None] = {name: value for name, value in after.items() if before.get(name) != value}
    return {**changed, **dict.fromkeys(before.keys() - after.keys())}
