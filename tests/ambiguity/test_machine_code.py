"""Machine code follows all that it was compiled from, is compiled once, and is found wherever it can be kept."""

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ambiguity.cases import STATED
from bocu.robust.ambiguity import compiled
from bocu.sweep.experiment.registry import registered

RUN = """
import json
import numpy as np
from bocu.robust.ambiguity.mmd.critical_line import follow_from_reference as follow
p, N = np.full(4, 1 / 4), np.eye(4) - 1 / 4
f = np.array([[0.0, 0.3, 0.6, 1.0]])
print(json.dumps([follow(f, -f @ N, p, N, np.array([0.6]), 3)[0].tolist(), sum(follow.stats.cache_misses.values())]))
"""
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def obey_permissions() -> None:
    """Let permissions of files hold for root, too, in the programme that is started next."""
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


class Copy:
    """A copy of the package, and a home of its own."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.home, self.temporary = folder / "home", folder / "temporary"
        for made in (self.home, self.temporary):
            made.mkdir(parents=True)
        shutil.copytree(source, folder / "bocu", ignore=shutil.ignore_patterns("__pycache__"))
        self.helper = folder / "bocu/robust/ambiguity/mmd/critical_line.py"
        own = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "PYTHONPATH": str(folder)}
        self.environment = {**os.environ, **own, "PYTHONDONTWRITEBYTECODE": "1"}
        for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
            self.environment.pop(name, None)

    def start(self, code: str = RUN, **options: Any) -> "subprocess.Popen[str]":
        pipe, command = subprocess.PIPE, [sys.executable, "-c", code]
        return subprocess.Popen(command, env=self.environment, text=True, stdout=pipe, stderr=pipe, **options)

    def run(self, code: str = RUN, **options: Any) -> Any:
        """Run code in a process of its own; return what it printed: of RUN, numbers and how often it compiled."""
        return finished(self.start(code, **options))

    def code(self, place: Path) -> dict[Path, int]:
        """The machine code in a place, and when it was written."""
        return {path: path.stat().st_mtime_ns for path in sorted(place.rglob("*.nbc"))}


def finished(child: "subprocess.Popen[str]") -> Any:
    out, errors = child.communicate()
    assert child.returncode == 0, errors
    return json.loads(out)


@pytest.fixture
def copy(tmp_path: Path, root: Path) -> Copy:
    return Copy(tmp_path, root / "src/bocu")


@pytest.mark.ci
def test_a_changed_helper_changes_the_numbers_and_many_at_once_compile_once(copy: Copy) -> None:
    children = [copy.start() for _ in range(2)]
    (first, misses), other = map(finished, children)
    assert misses == 0
    assert other == [first, 0]
    kept = copy.code(copy.home)
    text = copy.helper.read_text()
    assert text.count("scale = 1.0 / pivot") == 1
    copy.helper.write_text(text.replace("scale = 1.0 / pivot", "scale = 1.5 / pivot"))
    changed, misses = copy.run()
    assert (changed != first, misses) == (True, 0)
    # What was compiled before stands beside it.
    copy.helper.write_text(text)
    assert copy.run() == [first, 0]
    assert kept.items() < copy.code(copy.home).items()


@pytest.mark.drill
def test_a_home_that_is_read_only_is_read(copy: Copy) -> None:
    first, _ = copy.run()
    there = copy.code(copy.home)
    for path in [copy.home, *copy.home.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    assert copy.run(preexec_fn=obey_permissions) == [first, 0]
    # What it does not hold is kept elsewhere.
    copy.helper.write_text(copy.helper.read_text().replace("scale = 1.0 / pivot", "scale = 1.5 / pivot"))
    assert copy.run(preexec_fn=obey_permissions)[0] != first
    assert copy.code(copy.home) == there
    assert copy.code(copy.temporary)
    for path in [copy.home, *copy.home.rglob("*")]:
        path.chmod(0o700)


@pytest.mark.drill
def test_where_nothing_can_be_kept_each_process_compiles(copy: Copy, tmp_path: Path) -> None:
    nowhere = "from bocu.robust.ambiguity import compiled\ncompiled.places = lambda: []\n"
    assert copy.run(nowhere + RUN)[0] == copy.run()[0]
    shutil.rmtree(copy.home)
    copy.run(nowhere + RUN)
    assert not copy.code(tmp_path)


@pytest.mark.drill
@pytest.mark.parametrize("others", [0o777, 0o770, "a link"])
def test_what_others_may_write_to_is_not_run(copy: Copy, others: int | str, tmp_path: Path) -> None:
    found = copy.run()
    place = copy.home / ".cache/bocu/machine-code"
    assert place.stat().st_mode & 0o077 == 0
    if isinstance(others, int):
        place.chmod(others)
    else:
        place.symlink_to(place.rename(tmp_path / "theirs"))
    assert copy.run() == found
    assert copy.code(copy.temporary)


@pytest.mark.drill
def test_code_that_a_crash_cut_short_is_compiled_again(copy: Copy) -> None:
    first, _ = copy.run()
    for path in copy.code(copy.home):
        path.write_bytes(path.read_bytes()[:100])
    assert copy.run() == [first, 1]
    assert copy.run() == [first, 0]


def test_all_that_is_compiled_names_the_folder(root: Path) -> None:
    named = {name for name, _ in compiled._sources()}
    room = root / "src/bocu/robust/ambiguity"
    using = {file for file in (root / "src/bocu").rglob("*.py") if "import Array, " in file.read_text()}
    assert {file.relative_to(room).as_posix() for file in using} | {"compiled.py"} == named


def test_nothing_is_left_to_compile_for_those_who_call() -> None:
    code = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, compiled, squared_exponential_gram, worst_case
from bocu.robust.objectives.functions import UncertaintyObjective

assert compiled.folder()
assert compiled.is_ready()
generator = np.random.default_rng(0)
for n in (3, 20, 64):
    gram = squared_exponential_gram(np.linspace(0, 1, n), 0.2)
    spread, sparse = generator.dirichlet(np.ones(n)), np.eye(n)[1] / 2 + np.eye(n)[2] / 2
    for reference in (spread, sparse, np.stack([spread, sparse])):
        payoffs = generator.normal(size=(5, 2, n))
        for epsilon in (0.0, 0.01, 0.1, 0.3, 1.0):
            set = MaximumMeanDiscrepancy(epsilon, gram)
            worst_case(payoffs, reference, set)
            worst_case(np.asfortranarray(payoffs[0]), reference, set)
        for objective in (UncertaintyObjective.wcs(set), UncertaintyObjective.gen(set, 1.0, 0.5)):
            objective(payoffs, reference)
            if reference.ndim == 1:
                objective.argmax(payoffs[:, 0], reference)
        UncertaintyObjective.rs(set, 0.1)(payoffs, reference)
functions = [
    function
    for name, module in sys.modules.items() if name.startswith("bocu.")
    for function in vars(module).values() if isinstance(function, Dispatcher)
]
assert {"follow", "maximise_nonnegative"} <= {function.__name__ for function in functions}
print(sum(sum(function.stats.cache_misses.values()) for function in functions))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0\n"


WHICH_IMPORT_NUMBA = """
import json, os, sys
import numpy as np
from bocu.robust.ambiguity.base import worst_case
from bocu.robust.ambiguity.parameters import SetParameters

def works_out(stated):
    points = np.linspace(0, 1, 6)
    made = SetParameters.model_validate(stated).over(points).with_epsilon(0.7)
    worst_case(np.cos(9 * points), np.full(6, 1 / 6), made)

assert "numba" not in sys.modules
for stated in json.loads(sys.argv[1]):
    if not (child := os.fork()):
        works_out(stated)
        print(json.dumps([stated["name"], "numba" in sys.modules]), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, stated
"""


@pytest.mark.ci
def test_the_sets_that_run_compiled_code_say_so() -> None:
    stated = [{"name": entry.name, **STATED.get(entry.name, {})} for entry in registered("set")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WHICH_IMPORT_NUMBA, json.dumps(stated)]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    found = dict(map(json.loads, done.stdout.splitlines()))
    assert found == {entry.name: entry.load().compiled for entry in registered("set")}
