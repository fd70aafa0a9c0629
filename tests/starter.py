"""Python in children of a process that has imported what they need: the same programs, without their start.

`snakemake` and `bocu` import for seconds before they begin, and so does the process that starts warm jobs; the tests
call them hundreds of times. Here one process a worker imports for all of them, and forks a child for each call, which
reads its own arguments, variables and folder, and ends as an interpreter of its own would
(`snakemake_executor_plugin_warm.zygote`). Where the package of a call is another one than the tests', the child imports
that.
"""

import atexit
import contextlib
import functools
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = ("bocu", "snakemake_executor_plugin_warm", "snakemake_logger_plugin_bocu")
NEEDED = (
    "snakemake.cli",
    "snakemake.workflow",
    "snakemake.executors.dryrun",
    "snakemake.executors.local",
    "snakemake.report",
    "bocu.commands.main",
    "bocu.sweep.snakefile",
    "bocu.sweep.opening",
    "bocu.sweep.narrator",
    "bocu.sweep.preloaded",
    "bocu.sweep.staleness",
)
WHICH_MAY_LACK = (
    "botorch.fit",
    "botorch.models",
    "botorch.optim",
    "snakemake_executor_plugin_slurm",
    "pygments.lexers",
    "jsonschema",
    "nbformat",
    "requests",
    "yte",
)

MODULE = "import runpy\nrunpy.run_module({!r}, None, '__main__', True)\n"


class Starter:
    """Runs Python, one call at a time."""

    def __init__(self) -> None:
        from snakemake_executor_plugin_warm.workers import THREADS

        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End it."""
        self._process.stdin.close()
        self._process.wait()

    def run(
        self, words: list[str], folder: Path, environment: dict[str, str], seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a script, some code or a module to its end.

        Args:
            words: what follows Python on a command line: a file, or `-c` and code, or `-m` and a module; arguments.
            folder: the working directory.
            environment: all variables.
            seconds: what it may take at most.
        """
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
            files = [f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (out, error)]
            request = {"words": words, "folder": str(folder), "environment": environment, "files": files}
            self._process.stdin.write(json.dumps({**request, "seconds": seconds}) + "\n")
            self._process.stdin.flush()
            status = json.loads(self._process.stdout.readline())
            said = [_text(file) for file in (out, error)]
        if status is None:
            raise subprocess.TimeoutExpired(words, seconds, *said)
        return subprocess.CompletedProcess(words, status, *said)


def _text(file) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n").replace("\r", "\n")


@functools.cache
def starter() -> Starter | None:
    """Return the one of this process; none where there is no Linux."""
    if sys.platform != "linux":
        return None
    made = Starter()
    atexit.register(made.close)
    return made


def _serve() -> None:
    """Answer each line of the standard input, a request, with the status of its child; None where it took too long."""
    from snakemake_executor_plugin_warm import zygote

    there = [module for module in WHICH_MAY_LACK if importlib.util.find_spec(module.partition(".")[0])]
    zygote.preload([*NEEDED, *there])
    signal.signal(signal.SIGALRM, lambda number, frame: None)  # for the sake of `sigtimedwait`
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            _become(request)
        if not signal.sigtimedwait([signal.SIGCHLD], request["seconds"]):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            print("null", flush=True)
            continue
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(request) -> None:
    from snakemake_executor_plugin_warm import workers, zygote

    for number, (file, mode) in enumerate(
        zip([os.devnull, *request["files"]], (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True)
    ):
        opened = os.open(file, mode)
        os.dup2(opened, number)
        os.close(opened)
    before, after = dict(os.environ), request["environment"]
    here, there = (_own_paths(variables) for variables in (before, after))
    sys.path[:] = [*there, *(entry for entry in sys.path[1:] if entry not in here)]
    importlib.invalidate_caches()
    script, *arguments = request["words"]
    option = ""
    if script in ("-c", "-m"):
        option, what, *arguments = script, *arguments
        script = _file(what if option == "-c" else MODULE.format(what))
    changed = {name: after.get(name) for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    zygote.prepare(zygote.Request(script, request["folder"], changed, threads=1))
    if here != there:
        for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
            del sys.modules[name]
    elif "warm" in arguments:
        workers.subprocess = _Spare()
    if option:
        sys.path[0] = request["folder"]
    sys.argv[:] = [option or script, *arguments]
    zygote.run(script)


def _file(code: str) -> str:
    """Return a file of some code, which goes with the process."""
    number = os.memfd_create("code")
    os.write(number, code.encode())
    return f"/proc/self/fd/{number}"


def _own_paths(environment) -> list[str]:
    return list(filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)))


class _Spare:
    """A child in waiting, to be the process that starts warm jobs; stands in for the module `subprocess`."""

    DEVNULL = subprocess.DEVNULL

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if not self.pid:
            self._channel.close()
            _wait_to_be_zygote(theirs)
        theirs.close()

    def Popen(self, command, env, stdin, pass_fds):
        if self._channel is None:  # a second one
            return subprocess.Popen(command, env=env, stdin=stdin, pass_fds=pass_fds)
        socket.send_fds(self._channel, [json.dumps([env, command[3:]]).encode()], pass_fds)
        self._channel = None
        return self

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _wait_to_be_zygote(channel: socket.socket) -> None:
    from snakemake_executor_plugin_warm import zygote

    with channel:
        data, numbers, _, _ = socket.recv_fds(channel, 1 << 20, 1)
    if not data:  # no job was to be started
        os._exit(0)
    environment, (_, *modules) = json.loads(data)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = [str(numbers[0]), *modules]
    sys.path[:1] = []
    zygote.main()
    os._exit(0)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        _serve()
