"""Gzip files with a comment in their header, the one place where a table without a header can carry a label."""

import os
import struct
import zlib
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path

_MAGIC = b"\x1f\x8b\x08"
_HAS_COMMENT = 0x10
_HEADER_SIZE = 10  # RFC 1952: magic, method, flags, time, extra flags, operating system


def write_gzip(content: bytes, comment: str, path: str | os.PathLike[str]) -> None:
    """Write a gzip file whose header says `comment`; the same content gives the same bytes (no time, no host)."""
    packer = zlib.compressobj(level=3, wbits=-zlib.MAX_WBITS)
    body = packer.compress(content) + packer.flush()
    header = _MAGIC + bytes([_HAS_COMMENT]) + struct.pack("<LBB", 0, 0, 255) + comment.encode("latin-1") + b"\0"
    with atomic_path(path) as temporary:
        temporary.write_bytes(header + body + struct.pack("<LL", zlib.crc32(content), len(content) & 0xFFFFFFFF))


def read_comment(path: str | os.PathLike[str]) -> str:
    """The comment in a gzip header, or nothing.

    Raises:
        BocuError: not a gzip file.
    """
    with Path(path).open("rb") as stream:
        start = stream.read(4096)
    if not start.startswith(_MAGIC):
        raise BocuError(f"{path}: not a gzip file")
    if start[3] != _HAS_COMMENT:
        return ""
    return start[_HEADER_SIZE:].split(b"\0", 1)[0].decode("latin-1")
