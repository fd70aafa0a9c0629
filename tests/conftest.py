"""What all tests share."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEEDS_MORE = ("real_data", "slurm", "browser")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `.ci/run` what a machine may lack, and to one worker the tests that share what their module made."""
    for item in items:
        if any(item.get_closest_marker(name) for name in NEEDS_MORE):
            item.add_marker(pytest.mark.ci)
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))


def _group(item: pytest.Item) -> str:
    if "cluster" in getattr(item, "fixturenames", ()):
        return "slurm"  # there is one
    fixtures = getattr(item, "_fixtureinfo", None)
    definitions = fixtures.name2fixturedefs.values() if fixtures is not None else ()
    return item.location[0] if any(found[-1].scope == "module" for found in definitions) else ""


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
