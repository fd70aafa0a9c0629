"""What all tests share."""

import os
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from bocu.core.numerics import pin_kernel

if TYPE_CHECKING:
    from bocu.problems.data.catalogue import Catalogue

pin_kernel()  # before any test imports NumPy

ROOT = Path(__file__).parent.parent
NEEDS_MORE = ("real_data", "slurm", "browser")
# Where a file takes minutes: these begin first, so that no worker is left alone with one at the end.
LONG = (
    *(f"tests/{folder}/" for folder in ("slurm", "workflow", "golden", "browser", "shipped", "testing")),
    *("tests/repository/test_extending", "tests/experiment/test_fingerprint_mutations"),
    *("tests/ambiguity/test_machine_code", "tests/interop/test_botorch_acquisition", "tests/interop/test_audit"),
)


settings.register_profile("the same for all", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("exploring", derandomize=False, deadline=None, print_blob=True)


def pytest_configure(config: pytest.Config) -> None:
    """Let random tests try new examples in drills, and the same ones everywhere else."""
    drills = config.option.markexpr.strip() in ("", "drill")
    settings.load_profile("exploring" if drills else "the same for all")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave to `.ci/run` what a machine may lack."""
    if any(item.get_closest_marker(name) for name in NEEDS_MORE):
        item.add_marker(pytest.mark.ci)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long files first, then those of many tests."""
    files = Counter(_file(item.nodeid) for item in items)
    items.sort(key=lambda item: (not item.nodeid.startswith(LONG), -files[_file(item.nodeid)]))


def _file(name: str) -> str:
    return name.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run a file's tests on one worker, for they share what it made, and those of the one SLURM on one, too.

    Those of tests/golden share nothing.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = _file(nodeid)
            if file.startswith("tests/golden/"):
                return nodeid
            return "tests/slurm" if file.startswith("tests/slurm/") else file

    config.option.loadscopereorder = False  # they come in order
    return ByFile(config, log)


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return ROOT


@pytest.fixture(scope="session")
def catalogue(root: Path) -> "Catalogue":
    """The data sets of the clone."""
    from bocu.problems.data.catalogue import load_catalogue

    return load_catalogue(root / "data" / "sources.yaml")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def folder(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with somebody's own classes in it."""
    monkeypatch.setenv("BOCU_PLUGINS", "{}")
    shutil.copyfile(ROOT / "tests/own_plugins.py", elsewhere / "own.py")
    return elsewhere


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
