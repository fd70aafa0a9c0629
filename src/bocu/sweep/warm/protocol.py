"""What the main process, the zygote and its children say to each other: small JSON messages over local sockets.

Main process and zygote share one socket; each job brings one of its own, whose other end the zygote and the child hold:

    main -> zygote      a `Request`, with the job's socket; or `RETIRE`
    zygote -> main      once, over the shared socket: `READY`, or why it could not be made ready
    child -> main       its number, over the job's socket; it waits until the main process answers `GO`
    zygote -> main      how the child ended, an `Ending`; or, in place of a child, which source file was edited

The job's socket reads as ended once neither zygote nor child holds it any more, so the main process never takes a
child for ended that may still write.
"""

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from bocu.core.plain import Plain

MOST = 1 << 17  # bytes of a message
READY = {"ready": True}
RETIRE = {"retire": True}
GO = {"go": True}


@dataclass(frozen=True)
class Request:
    """A script to run.

    Attributes:
        script: a Python script.
        folder: the working directory.
        environment: variables that differ from the zygote's; None for those to take away.
        threads: of numerical libraries.
    """

    script: str
    folder: str
    environment: Mapping[str, str | None]
    threads: int


@dataclass(frozen=True)
class Ending:
    """How a child ended.

    Attributes:
        status: its exit status; the negative number of the signal that ended it.
        seconds: processor seconds, its own and those of its children.
        memory_mb: largest resident memory, MB, since it began.
    """

    status: int
    seconds: float
    memory_mb: float


def channel() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a channel that keeps messages apart."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(end: socket.socket, message: Mapping[str, object], passed: socket.socket | None = None) -> None:
    """Send a message, and the end of another channel with it.

    Raises:
        OSError: nobody holds the other end.
    """
    socket.send_fds(end, [json.dumps(message).encode()], [] if passed is None else [passed.fileno()])


def receive(end: socket.socket) -> tuple[Plain | None, socket.socket | None]:
    """Return the next message and the end that came with it; None where nobody holds the other end any more."""
    try:
        data, numbers, _, _ = socket.recv_fds(end, MOST, 1)
    except ConnectionResetError:  # the other end was closed before it had read all
        return None, None
    passed = socket.socket(fileno=numbers[0]) if numbers else None
    if passed is not None:
        passed.set_inheritable(False)
    return (json.loads(data) if data else None), passed
