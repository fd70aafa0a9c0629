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

from ambiguity.cases import CONVEX
from bocu.robust.ambiguity import machine_code, preparation
from bocu.sweep.experiment.registry import registered

OUTER = """
from bocu.robust.ambiguity.compiled import compiled
from own_loops import helpers

@compiled
def outer(x):
    return helpers.inner(x) + OFFSET

OFFSET = 10.0

@compiled
def faulty(x):
    return x.no_such_thing
"""
INNER = """
from bocu.robust.ambiguity.compiled import compiled

@compiled
def inner(x):
    return 2.0 * x
"""
RUN = """
import json, sys
from bocu.robust.ambiguity import compiled
from own_loops.outer import outer
made = []
compile_apart = compiled._compile_apart
compiled._compile_apart = lambda *order: made.append(compile_apart(*order)) or made[-1]
value = outer(1.0)
print(json.dumps([value, made.count(True) + sum(outer.stats.cache_misses.values())]))
"""
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def obey_permissions() -> None:
    """Let permissions of files hold for root, too, in the programme that is started next."""
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


class Loops:
    """A package with two compiled functions, one calling the other, and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.temporary = folder / "home", folder / "temporary"
        self.package = folder / "library/own_loops"
        for made in (self.home, self.temporary, self.package):
            made.mkdir(parents=True)
        self.write("__init__", "")
        self.write("outer", OUTER)
        self.write("helpers", INNER)
        paths = [str(self.package.parent), str(Path(machine_code.__file__).parents[3])]
        self.environment = {
            **os.environ,
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
            self.environment.pop(name, None)

    def write(self, module: str, text: str) -> None:
        (self.package / f"{module}.py").write_text(text)

    def start(self, code: str = RUN, **options: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", code],
            env=self.environment,
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def run(self, code: str = RUN, **options: Any) -> Any:
        """Run code in a process of its own; give what it printed: of RUN, the value and how often it compiled."""
        return finished(self.start(code, **options))

    def code(self, place: Path) -> list[Path]:
        return sorted(place.rglob("*.nbc"))


def finished(child: "subprocess.Popen[str]") -> Any:
    out, errors = child.communicate()
    assert child.returncode == 0, errors
    return json.loads(out)


@pytest.fixture
def loops(tmp_path: Path) -> Loops:
    return Loops(tmp_path)


def test_a_changed_helper_in_another_file_changes_the_numbers(loops: Loops) -> None:
    assert loops.run() == [12.0, 1]
    assert loops.run() == [12.0, 0]
    loops.write("helpers", INNER.replace("2.0", "3.0"))
    assert loops.run() == [13.0, 1]
    # What was compiled before stands beside it.
    loops.write("helpers", INNER)
    assert loops.run() == [12.0, 0]


def test_a_changed_helper_of_the_package_itself_changes_the_numbers(tmp_path: Path, root: Path) -> None:
    shutil.copytree(root / "src/bocu", tmp_path / "bocu", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = (
        "import numpy as np\n"
        "from bocu.robust.ambiguity.mmd.near_reference import follow_from_reference as follow\n"
        "p, N = np.full(4, 1 / 4), np.eye(4) - 1 / 4\n"
        "f = np.array([[0.0, 0.3, 0.6, 1.0]])\n"
        "print(follow(f, -f @ N, p, N, np.array([0.6]), 3)[0].tolist())\n"
    )

    def run() -> str:
        return subprocess.run(
            [sys.executable, "-c", code], env=environment, text=True, capture_output=True, check=True
        ).stdout

    first = run()
    assert run() == first
    helper = tmp_path / "bocu/robust/ambiguity/mmd/dense.py"
    text = helper.read_text()
    assert text.count("scale = 1.0 / pivot") == 1
    helper.write_text(text.replace("scale = 1.0 / pivot", "scale = 1.5 / pivot"))
    assert run() != first
    helper.write_text(text)
    assert run() == first


def test_many_that_start_at_once_compile_once(loops: Loops) -> None:
    children = [loops.start() for _ in range(4)]
    found = [finished(child) for child in children]
    assert [value for value, _ in found] == [12.0] * 4
    assert sum(compiled for _, compiled in found) == 1


@pytest.mark.drill
def test_a_home_that_is_read_only_is_read(loops: Loops) -> None:
    assert loops.run() == [12.0, 1]
    there = loops.code(loops.home)
    assert there
    for path in [loops.home, *loops.home.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    assert loops.run(preexec_fn=obey_permissions) == [12.0, 0]
    # What it does not hold is kept elsewhere.
    loops.write("helpers", INNER.replace("2.0", "3.0"))
    assert loops.run(preexec_fn=obey_permissions) == [13.0, 1]
    assert loops.code(loops.home) == there
    assert loops.code(loops.temporary)
    assert loops.run(preexec_fn=obey_permissions) == [13.0, 0]
    for path in [loops.home, *loops.home.rglob("*")]:
        path.chmod(0o700)


@pytest.mark.drill
def test_where_nothing_can_be_kept_each_process_compiles(loops: Loops) -> None:
    nowhere = "from bocu.robust.ambiguity import machine_code as m\nm.places = lambda: []\n"
    assert loops.run(nowhere + RUN) == [12.0, 1]
    assert loops.run(nowhere + RUN) == [12.0, 1]
    assert not loops.code(loops.folder)


@pytest.mark.drill
@pytest.mark.parametrize("others", [0o777, 0o770, "a link"])
def test_what_others_may_write_to_is_not_run(loops: Loops, others: int | str) -> None:
    assert loops.run() == [12.0, 1]
    place = loops.home / ".cache/bocu/machine-code"
    assert place.stat().st_mode & 0o077 == 0
    if isinstance(others, int):
        place.chmod(others)
    else:
        place.symlink_to(place.rename(loops.folder / "theirs"))
    assert loops.run() == [12.0, 1]
    assert loops.code(loops.temporary)


@pytest.mark.drill
def test_code_that_a_crash_cut_short_is_compiled_again(loops: Loops) -> None:
    loops.run()
    for path in loops.code(loops.home):
        path.write_bytes(path.read_bytes()[:100])
    assert loops.run() == [12.0, 1]
    assert loops.run() == [12.0, 0]


def test_a_function_that_does_not_compile_leaves_no_lock(loops: Loops) -> None:
    fault = (
        "from bocu.robust.ambiguity import compiled\n"
        "from own_loops.outer import faulty\n"
        "try:\n    faulty(1.0)\nexcept Exception as error:\n    assert 'no_such_thing' in str(error), error\n"
        "else:\n    raise SystemExit('it compiled')\n"
        "lock = compiled._lock(next(iter(compiled.machine_code.places())) / faulty._cache.cache_path)\n"
        "print(str(lock.is_locked).lower())\n"
    )
    assert loops.run(fault) is False


def test_the_name_covers_what_a_module_reaches_and_not_the_rest(root: Path) -> None:
    def sources(module: str) -> set[str]:
        return set(machine_code._sources(module, machine_code._source(module)))

    below = {"bocu.robust.ambiguity.compiled", "bocu.robust.ambiguity.machine_code"}
    assert sources("bocu.robust.ambiguity.mmd.dense") == {"bocu.robust.ambiguity.mmd.dense"} | below
    solver = {f"bocu.robust.ambiguity.mmd.{name}" for name in ("critical_line", "active_set", "dense")}
    assert sources("bocu.robust.ambiguity.mmd.critical_line") == solver | below
    # All compiled functions of the package are prepared, or called by such as are.
    entries = set[str]().union(*map(sources, preparation.ENTRIES))
    for file in (root / "src/bocu").rglob("*.py"):
        if "import compiled\n" in file.read_text() and file.stem != "preparation":
            assert ".".join(file.relative_to(root / "src").with_suffix("").parts) in entries


def test_after_preparation_nothing_is_left_to_compile() -> None:
    code = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, preparation, squared_exponential_gram, worst_case
from bocu.robust.objectives.functions import UncertaintyObjective

preparation.prepare()
assert preparation.is_ready()
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
entries = [f for f in functions if f.__name__ in ("follow", "follow_from_reference", "maximise_nonnegative", "pivot")]
assert len(entries) == 4
print([len(function.signatures) for function in entries])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == {1}


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


def test_the_sets_that_run_compiled_code_say_so() -> None:
    keys = {"cr": {"k": 3.0}, "cvar": {"alpha": 0.3}, "phi": {"phi": "own_divergences:MODIFIED_CHI_SQUARED"}, **CONVEX}
    stated = [{"name": entry.name, **keys.get(entry.name, {})} for entry in registered("set")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WHICH_IMPORT_NUMBA, json.dumps(stated)]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    found = dict(map(json.loads, done.stdout.splitlines()))
    assert found == {entry.name: entry.load().compiled for entry in registered("set")}


BITS = """
import hashlib
import numpy as np
from bocu.robust.ambiguity.mmd.critical_line import follow

generator = np.random.default_rng(0)
points = generator.random((40, 2))
M = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 0.05) + 1e-6 * np.eye(40)
p = generator.dirichlet(np.ones(40))
f = generator.random((20, 40)) @ M
f -= f.min(axis=1, keepdims=True)
print(hashlib.sha256(follow(f, p, M @ p, M, np.array([0.1]), np.empty(0), 1e-9)[0].tobytes()).hexdigest())
"""


@pytest.mark.drill
def test_no_bit_depends_on_who_compiled(tmp_path: Path) -> None:
    kept = dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR"), str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **kept}
    first, second = (
        subprocess.run([sys.executable, "-c", BITS], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first == second
