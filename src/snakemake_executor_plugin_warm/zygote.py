"""The process that has imported what jobs need, and forks a child for each: `python -P zygote.py NUMBER MODULE...`.

NUMBER is that of a socket to the process that has jobs to run; the modules are imported first. This file imports
Python's own library alone, so that nothing else is in the children but what was asked for.

It has one thread, so that a fork copies all there is of it, and runs no job itself. It ends with the process that
started it, whose death it sees as the end of their socket, and its children end with it: `PR_SET_PDEATHSIG` has the
kernel kill them, for none may write beside the one that is started in its place.

What they say to each other are small JSON messages over local sockets. Main process and zygote share one socket; each
job brings one of its own, whose other end the zygote and the child hold:

    main -> zygote      a `Request`, with the job's socket; or `RETIRE`
    zygote -> main      once, over the shared socket: `READY`, or why it could not be made ready
    child -> main       its number, over the job's socket; it waits until the main process answers `GO`
    zygote -> main      how the child ended, an `Ending`; or, in place of a child, which source file was edited

The job's socket reads as ended once neither zygote nor child holds it any more, so the main process never takes a
child for ended that may still write.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import importlib.util
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

READY = {"ready": True}
RETIRE = {"retire": True}
GO = {"go": True}

_MOST = 1 << 17  # bytes of a message
_PR_SET_PDEATHSIG = 1
_QUIET = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the main process says when to end
_PEAK = "/proc/self/clear_refs"
_FORGET_PEAK = "5"  # sets VmHWM, the largest resident memory, to what is resident now


@dataclass(frozen=True)
class Request:
    """A script to run."""

    script: str  #: a Python script.
    folder: str  #: the working directory.
    environment: Mapping[str, str | None]  #: variables that differ from the zygote's; None for those to take away.
    threads: int  #: of numerical libraries.


@dataclass(frozen=True)
class Ending:
    """How a child ended."""

    status: int  #: its exit status; the negative number of the signal that ended it.
    seconds: float  #: processor seconds, its own and those of its children.
    memory_mb: float  #: largest resident memory, MB, since it began.


def channel() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a channel that keeps messages apart."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(end: socket.socket, message: Mapping[str, object], passed: socket.socket | None = None) -> None:
    """Send a message, and the end of another channel with it.

    Raises:
        OSError: nobody holds the other end.
    """
    socket.send_fds(end, [json.dumps(message).encode()], [] if passed is None else [passed.fileno()])


def receive(end: socket.socket) -> tuple[Any, socket.socket | None]:
    """Return the next message and the end that came with it; None where nobody holds the other end any more."""
    try:
        data, numbers, _, _ = socket.recv_fds(end, _MOST, 1)
    except ConnectionResetError:  # the other end was closed before it had read all
        return None, None
    passed = socket.socket(fileno=numbers[0]) if numbers else None
    if passed is not None:
        passed.set_inheritable(False)
    return (json.loads(data) if data else None), passed


class Sources:
    """The files of the packages that some modules belong to, as they were before they were imported."""

    def __init__(self, modules: Sequence[str]) -> None:
        found = (importlib.util.find_spec(name) for name in {module.partition(".")[0] for module in modules})
        folders = [folder for spec in found if spec for folder in spec.submodule_search_locations or ()]
        self._all = {str(file): _stamp(str(file)) for folder in folders for file in Path(folder).rglob("*.py")}
        self._imported: dict[str, object] = {}

    def note_imported(self) -> None:
        """Note what is imported by now."""
        files = {getattr(module, "__file__", None) for module in tuple(sys.modules.values())}
        self._imported = {file: stamp for file, stamp in self._all.items() if file in files}

    def edited(self) -> str | None:
        """Return a file that is not what was imported from it; None where there is none."""
        return next((file for file, stamp in self._imported.items() if _stamp(file) != stamp), None)


def _stamp(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)  # noqa: PTH116 (half the time, for every file and job)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


JEMALLOC = "jemalloc_bg_thd"
"""A thread of an allocator that stops and starts it around a fork itself; pyarrow, which pandas imports, brings it."""


def preload(modules: Sequence[str]) -> None:
    """Import modules.

    Raises:
        Exception: what an import raised.
        RuntimeError: an import has started threads, which a fork does not copy.
    """
    for module in modules:
        importlib.import_module(module)
    own = str(os.getpid())
    tasks = [task for task in Path("/proc/self/task").iterdir() if task.name != own]
    threads = [name for task in tasks if (name := (task / "comm").read_text().strip()) != JEMALLOC]
    if threads:
        raise RuntimeError(f"an imported module has started threads: {', '.join(sorted(threads))}")
    gc.freeze()  # no collection of garbage in a child touches, and so copies, what is there by now


class Zygote:
    """Serves requests, and is a child's memory of where it came from.

    Args:
        shared: the end of the channel to the main process.
        sources: what this process runs of the files of packages.
    """

    def __init__(self, shared: socket.socket, sources: Sources) -> None:
        self._shared = shared
        self._sources = sources
        self._number = os.getpid()
        self._jobs: dict[int, socket.socket] = {}
        self._retired = False
        self._kernel = ctypes.CDLL(None, use_errno=True)
        self._selector = selectors.DefaultSelector()
        self._woken, self._waker = os.pipe()
        for end in (self._woken, self._waker):
            os.set_blocking(end, False)
        self._signals = {number: signal.getsignal(number) for number in (*_QUIET, signal.SIGCHLD)}

    def serve(self) -> Request | None:
        """Fork a child for each request.

        Returns:
            In a child, what it is to run; in the zygote, None when it is to end.
        """
        for number in _QUIET:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        self._selector.register(self._shared, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        while self._jobs or not self._retired:
            for key, _ in self._selector.select():
                if key.fileobj == self._woken:
                    self._reap()
                    continue
                message, job = receive(self._shared)
                if message is None:
                    self._kill()
                    return None
                if message == RETIRE:
                    self._retired = True
                elif job is not None and (request := self._fork(Request(**message), job)) is not None:
                    return request
        return None

    def _fork(self, request: Request, job: socket.socket) -> Request | None:
        if edited := self._sources.edited():
            with job, contextlib.suppress(OSError):
                send(job, {"edited": edited})
            return None
        try:
            number = os.fork()
        except OSError:  # no room for another process: the channel's end says that nothing was begun
            job.close()
            return None
        if number:
            self._jobs[number] = job
            return None
        self._become_child(job)
        return request

    def _become_child(self, job: socket.socket) -> None:
        # First of all: from here on it ends with the zygote, which may have ended before.
        if self._kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) or os.getppid() != self._number:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        for number, handler in self._signals.items():
            signal.signal(number, handler)
        self._selector.close()
        self._shared.close()
        for end in (self._woken, self._waker):
            os.close(end)
        for other in self._jobs.values():
            other.close()
        self._jobs.clear()
        try:
            send(job, {"process": os.getpid()})
            answer, _ = receive(job)
        except OSError:
            answer = None
        if answer != GO:
            os._exit(1)
        job.detach()  # held until this process ends

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._woken, 4096):
                pass
        while self._jobs:
            number, status, usage = os.wait4(-1, os.WNOHANG)
            if not number:
                return
            ending = Ending(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
            with self._jobs.pop(number) as job, contextlib.suppress(OSError):
                send(job, asdict(ending))

    def _kill(self) -> None:
        for number in self._jobs:
            os.kill(number, signal.SIGKILL)
        for number in self._jobs:
            os.waitpid(number, 0)


def prepare(request: Request) -> None:
    """Make this child what an interpreter that starts for the script would be."""
    with contextlib.suppress(OSError):  # a kernel without it
        Path(_PEAK).write_text(_FORGET_PEAK, encoding="ascii")
    os.chdir(request.folder)
    for name, value in request.environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    tempfile.tempdir = None  # by the environment
    if request.threads != 1:  # libraries that are loaded began with one
        with contextlib.suppress(ImportError):  # they stay with it
            from threadpoolctl import threadpool_limits

            threadpool_limits(request.threads)
    if random := sys.modules.get("numpy.random"):
        random.seed()  # the global generator, which would be everybody's; Python's own does so itself
    sys.argv = [request.script]
    sys.path.insert(0, str(Path(request.script).parent))


def run(script: str) -> NoReturn:
    """Run a script as the main program and end this process as an interpreter would, with the same status and words.

    What stands in memory is not taken apart, object by object, which takes longer than many a job: a library that would
    close at the very end what the script left open does not.
    """
    status = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as leaving:
        status = _status(leaving.code)
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != script:
            trace = trace.tb_next  # what led to the script is of no interest
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        status = 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads it, or it is closed
            status = status or 120  # Python's own
    os._exit(status)


def _status(code: object) -> int:
    if code is None or isinstance(code, int):
        return int(code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


def main() -> None:
    """Serve the process at the other end of the socket whose number is the first argument."""
    number, *modules = sys.argv[1:]
    with socket.socket(fileno=int(number)) as shared:
        shared.set_inheritable(False)
        sources = Sources(modules)
        try:
            preload(modules)
        except Exception as error:
            said: Mapping[str, object] = {"failed": " ".join(f"{type(error).__name__}: {error}".split())}
        else:
            said = READY
        sources.note_imported()
        with contextlib.suppress(OSError):  # the main process needed it no longer
            send(shared, said)
        request = Zygote(shared, sources).serve()
    if request is not None:
        prepare(request)
        run(request.script)


if __name__ == "__main__":
    main()
