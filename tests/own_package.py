"""A package of a test's own, or an edited copy of ours, in the place where fingerprints look for code."""

import shutil
from pathlib import Path

import pytest

from bocu.sweep.experiment.fingerprints import definition_links, fingerprint
from bocu.sweep.experiment.fingerprints.fingerprint import forget as forget

SOURCE = Path(fingerprint.__file__).parents[3]


def put(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fingerprints see `folder` in place of the package."""
    monkeypatch.setattr(definition_links, "_ROOT", folder)
    forget()


def copy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the package and let fingerprints see the copy."""
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    put(folder, monkeypatch)
    return folder


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text that stands once in a file."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, (file, old, text.count(old))
    file.write_text(text.replace(old, new), encoding="utf-8")
    forget()
