"""What all tests share."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return ROOT


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The file of test vectors."""
    return ROOT / "tests" / "data" / "vectors.json"


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder with the real data; tests that ask for it are skipped without one."""
    folder = os.environ.get("BOCU_MIRROR")
    if not folder:
        pytest.skip("no real data: BOCU_MIRROR names no folder")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"BOCU_MIRROR={folder} is not a folder")
    return path
