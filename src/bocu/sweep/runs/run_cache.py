"""Run files that experiments share: a store addressed by what the numbers depend on.

A finished run file is linked into the store. A block with the same specification, code and inputs, under whatever name
or label, is then copied from there and not run again. It is a copy because a link would carry the time of the first
file: Snakemake compares times, and a run file older than the score of another run would pass for scored already.
"""

import json
import logging
import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import atomic_path, canonical_json, set_aside
from bocu.sweep.runs.records import read_runs

logger = logging.getLogger(__name__)


def digest(identity: Mapping[str, object]) -> str:
    """Hash what a run's numbers depend on."""
    return sha256(canonical_json(identity).encode()).hexdigest()


class RunCache:
    """The store.

    Attributes:
        folder: where its entries lie, named by the digest of their identity. Removing it makes everything run anew.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def entry(self, identity: Mapping[str, object]) -> Path:
        """Return the file of an identity, whether there is one or not."""
        name = digest(identity)
        return self.folder / name[:2] / f"{name}.nc"  # many small folders: none is slow to list

    def take_over(self, identity: Mapping[str, object], output: str | os.PathLike[str]) -> bool:
        """Copy the run file of an identity to `output`, provenance and all.

        Returns:
            Whether there was one; a broken entry is set aside, and made anew when the block has run.
        """
        entry = self.entry(identity)
        if not entry.is_file():
            return False
        try:
            _check(entry, identity)
        except BrokenFileError as error:
            aside = set_aside(entry).name
            logger.warning("%s: damaged entry of the shared runs: %s; renamed to %s", entry, error.fault, aside)
            return False
        with atomic_path(output) as temporary:
            shutil.copyfile(entry, temporary)
        logger.info("taken over from %s: the same specification, code and inputs were run before", entry)
        return True

    def offer(self, identity: Mapping[str, object], run_file: str | os.PathLike[str]) -> None:
        """Put a finished run file into the store. It costs no space where links can be made, and no run if it fails."""
        try:
            with atomic_path(self.entry(identity), recorded=True) as temporary:
                _link_or_copy(Path(run_file), temporary)
        except BocuError as error:
            logger.warning("not shared with other experiments: %s", error)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


def _check(run_file: Path, identity: Mapping[str, object]) -> None:
    """Refuse a file that is not as it was written, or is not the run of an identity."""
    if canonical_json(json.loads(read_runs(run_file).attrs["identity"])) != canonical_json(identity):
        raise BrokenFileError(run_file, "attribute 'identity' is not the one that it is stored under")


def is_run_of(run_file: Path, identity: Mapping[str, object]) -> bool:
    """Whether a file is as it was written, and the run of an identity."""
    try:
        _check(run_file, identity)
    except BrokenFileError:
        return False
    return True
