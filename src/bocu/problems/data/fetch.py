"""Raw files from where they are published, or from a local folder with the same files. Nothing half-fetched is kept.

Where the catalogue knows a file's SHA-256, another is refused. Where it does not, that of the first file is compared
with, and a later one that differs is refused until the record, `<file>.sha256` beside it, is deleted.
The environment variable BOCU_DATA_URL, if set, replaces the published addresses: files then come from
`<BOCU_DATA_URL>/<dataset>/<file>`.
"""

import logging
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pooch
import requests

from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path
from bocu.core.io.hashes import digest_file, recorded, sha256
from bocu.problems.data.prepare import record_raw

LOG = logging.getLogger(__name__)
BASE_URL_VARIABLE = "BOCU_DATA_URL"
ATTEMPTS = 3
TIMEOUT = 60  # seconds without a byte
PROGRESS_SECONDS = 10.0  # between two progress lines


def download(
    dataset: str, file: str, known: Mapping[str, Any], path: str | os.PathLike[str], wait: float = 3.0
) -> None:
    """Fetch one raw file over HTTP, try again after a failure, check it, and rename it into place.

    Args:
        dataset: name of the data set.
        file: name of the file.
        known: `url`, and `sha256` and `bytes` or None, from the catalogue.
        path: where the file is to lie.
        wait: seconds before the second attempt, doubled before each later one.

    Raises:
        BocuError: no address, no answer, a truncated or changed body; nothing is kept then.
    """
    base = os.environ.get(BASE_URL_VARIABLE)
    url = f"{base.rstrip('/')}/{dataset}/{quote(file)}" if base else known["url"]
    if not url:
        raise BocuError(f"data set '{dataset}': {file} has no published address; allowed: another source")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with atomic_path(path) as temporary:
                _get(url, temporary)
                digest = _check(f"{url}: the download", temporary, known)
                _compare_with_first(f"{url}: the download", digest, Path(path), known)
            record_raw(path, digest)
            LOG.info("%s: done, SHA-256 %s", url, digest)
            return
        except _TransferError as error:
            if attempt == ATTEMPTS or not error.passing:
                raise BocuError(f"{url}: could not be downloaded ({error}); nothing kept") from error
            LOG.warning("%s: attempt %d of %d failed (%s)", url, attempt, ATTEMPTS, error)
            time.sleep(wait * 2 ** (attempt - 1))


def copy_from_mirror(
    mirror: str | os.PathLike[str], dataset: str, file: str, known: Mapping[str, object], path: str | os.PathLike[str]
) -> None:
    """Copy `<mirror>/<dataset>/<file>` into place and check it.

    Raises:
        BocuError: the file is missing, or differs from what the catalogue knows or from the first that was copied;
            nothing is kept then.
    """
    source = Path(mirror) / dataset / file
    if not source.is_file():
        raise BocuError(f"data.mirror: {source}: no such file")
    with atomic_path(path) as temporary:
        shutil.copyfile(source, temporary)
        digest = _check(f"{source}: the file", temporary, known)
        _compare_with_first(f"{source}: the file", digest, Path(path), known)
    record_raw(path, digest)
    LOG.info("%s: copied, SHA-256 %s", source, digest)


def _get(url: str, target: Path) -> None:
    # identity: a server that packs a transfer would otherwise hand out another file than the published one
    progress = _ProgressLines(url)
    fetch = pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT, headers={"Accept-Encoding": "identity"})
    try:
        fetch(url, str(target), None)
    except requests.RequestException as error:
        status = None if error.response is None else error.response.status_code
        reason = " ".join(str(error).split()) or type(error).__name__
        raise _TransferError(reason, passing=status is None or status >= 500) from error


def _check(what: str, file: Path, known: Mapping[str, object]) -> str:
    size, digest = file.stat().st_size, sha256(file)
    if known["bytes"] is not None and size != known["bytes"]:
        raise BocuError(
            f"{what} has {size} bytes and SHA-256 {digest}; the catalogue says {known['bytes']} bytes and SHA-256 "
            f"{known['sha256'] or 'not known'}; nothing kept"
        )
    if known["sha256"] is not None and digest != known["sha256"]:
        raise BocuError(f"{what} has SHA-256 {digest}; the catalogue says {known['sha256']}; nothing kept")
    return digest


def _compare_with_first(what: str, digest: str, path: Path, known: Mapping[str, object]) -> None:
    """Refuse another file than the first where the catalogue knows no digest."""
    first = recorded(path)
    if known["sha256"] is None and first is not None and first.sha256 != digest:
        raise BocuError(
            f"{what} has SHA-256 {digest}; the first one had {first.sha256} (recorded in {digest_file(path)}; delete "
            "it to accept the change); nothing kept"
        )


class _TransferError(Exception):
    """A transfer that broke; `passing` where another attempt may do better. No OSError, unlike those of requests."""

    def __init__(self, reason: str, passing: bool) -> None:
        super().__init__(reason)
        self.passing = passing


class _ProgressLines:
    """What pooch wants of a progress bar, as lines in a log."""

    total = 0

    def __init__(self, url: str) -> None:
        self._url = url
        self._done = 0
        self._last = time.monotonic()

    def update(self, size: int) -> None:
        self._done += size
        if time.monotonic() - self._last >= PROGRESS_SECONDS:
            self._last = time.monotonic()
            of = f" of {self.total / 1e6:.1f}" if self.total else ""
            LOG.info("%s: %.1f%s MB", self._url, self._done / 1e6, of)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass
