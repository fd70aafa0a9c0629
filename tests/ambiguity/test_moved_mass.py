"""Total variation by machine code: numpy's digits, whatever the rows, and no compiler in the process that runs it."""

import ctypes
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import filelock
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocu.ambiguity import TotalVariation, machine_code, moved_mass, object_code
from bocu.ambiguity.checks import Floats
from bocu.ambiguity.rows import Rows, Wanted

PARTS = ("value", "slope", "distribution", "rate")


@pytest.fixture(scope="module")
def linked() -> Callable[..., object]:
    function = moved_mass.LINKED.find(make=True)
    assert function is not None
    return function


def rows(seed: int, decisions: int, n: int, ties: int, zeros: float, own: bool) -> tuple[Floats, Floats]:
    """Payoffs of so many digits, and references without mass at a share of the contexts; some zeros are negative."""
    generator = np.random.default_rng(seed)
    payoffs = np.round(generator.standard_normal((decisions, n)), ties)
    payoffs[0] = payoffs[0, 0]  # constant
    payoffs[payoffs == 0.0] *= generator.choice([-1.0, 1.0])
    p = generator.dirichlet(np.full(n, generator.choice([0.05, 1.0, 1e6])), size=decisions if own else 1)
    p[generator.random(p.shape) < zeros] = generator.choice([0.0, -0.0])
    p[:, 0] += p.sum(axis=1) == 0.0
    return payoffs, p / p.sum(axis=1, keepdims=True)


def assert_same_digits(one: Rows, other: Rows, parts: tuple[str, ...]) -> None:
    for part in parts:
        assert getattr(one, part).tobytes() == getattr(other, part).tobytes(), part


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    decisions=st.integers(1, 40),
    n=st.one_of(st.integers(1, 40), st.integers(1, 700), st.sampled_from([64, 127, 128, 129, 136, 256, 264, 1024])),
    ties=st.sampled_from([0, 1, 2, 15]),
    zeros=st.sampled_from([0.0, 0.3, 0.9]),
    own=st.booleans(),
    radius=st.one_of(st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.0, 3.0, np.inf]), st.floats(0.0, 2.0), st.just(1e-300)),
    order=st.sampled_from("CF"),
)
def test_machine_code_has_the_digits_of_numpy(
    linked: Callable[..., object],
    seed: int,
    decisions: int,
    n: int,
    ties: int,
    zeros: float,
    own: bool,
    radius: float,
    order: str,
) -> None:
    payoffs, p = rows(seed, decisions, n, ties, zeros, own)
    around = TotalVariation(radius)
    f = np.array(around.spanning(payoffs, p, (decisions,)).f, order=order)
    f.flags.writeable = p.flags.writeable = order == "C"
    for wanted, parts in ((Wanted(False), PARTS[:2]), (Wanted(), PARTS[:3]), (Wanted(rate=True), PARTS)):
        assert_same_digits(
            around.solve_by_numpy(f, p, wanted), moved_mass.solved_with(linked, f, p, [radius], wanted), parts
        )
    radii = [0.0, radius, 0.7]
    each = [TotalVariation(one).solve_by_numpy(f, p, Wanted(False)).value for one in radii]
    assert (
        np.stack(each, axis=1).tobytes() == moved_mass.solved_with(linked, f, p, radii, Wanted(False)).value.tobytes()
    )


@pytest.mark.parametrize("n", [3, 64, 300])
def test_the_source_read_by_python_has_them_too(n: int) -> None:
    payoffs, p = rows(0, 4, n, 1, 0.3, True)
    around = TotalVariation(0.4)
    f = around.spanning(payoffs, p, (4,)).f

    def interpreted(*arguments: Any) -> None:
        moved_mass.moved_mass(*(one if isinstance(one, int) else _memory(one, 4 * n) for one in arguments))

    found = moved_mass.solved_with(interpreted, f, p, [0.4], Wanted(rate=True))
    assert_same_digits(around.solve_by_numpy(f, p, Wanted(rate=True)), found, PARTS)


def _memory(first: Any, size: int) -> Any:
    return ctypes.cast(ctypes.pointer(first), ctypes.POINTER(type(first) * size)).contents


AS_CALLS_GO_ON = """
import hashlib, json, sys
import numpy as np
from bocu.ambiguity import TotalVariation, machine_code, moved_mass

if sys.argv[1] == "nowhere":
    machine_code.places = lambda: []
generator = np.random.default_rng(0)
payoffs, reference = np.round(generator.standard_normal((500, 3, 64)), 1), generator.dirichlet(np.ones(64))
seen, digest = [], hashlib.sha256()
for table in (payoffs[0], payoffs.reshape(-1, 64), *[payoffs[1]] * 8, *[payoffs.reshape(-1, 64)] * 40):
    around = TotalVariation(0.3)
    for numbers in (*around.values(table, reference), around.values_at(table, reference, [0.1])):
        digest.update(numbers.tobytes())
    seen.append([moved_mass.LINKED._function is not None, "llvmlite" in sys.modules, "numba" in sys.modules])
print(json.dumps([seen[2], seen[-1], digest.hexdigest()]))
"""


def test_many_calls_are_worth_linking_it_and_the_digits_stay(linked: Callable[..., object]) -> None:
    def played(where: str) -> list[object]:
        command = [sys.executable, "-c", AS_CALLS_GO_ON, where]
        found: list[object] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return found

    few, many, digits = played("anywhere")
    assert few == [False, False, False]
    assert many == [True, True, False]
    assert played("nowhere") == [few, [False, True, False], digits]


def test_code_with_other_digits_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "places", lambda: [tmp_path])
    assert object_code.Linked(moved_mass.moved_mass, lambda function: False).find(make=True) is None
    (file,) = tmp_path.glob("*/linked")
    assert object_code.Linked(moved_mass.moved_mass, moved_mass.has_digits_of_numpy).find(make=False) is not None
    assert not moved_mass.has_digits_of_numpy(lambda *arguments: None)

    file.write_bytes(file.read_bytes()[:-1])  # as a crash would
    again = object_code.Linked(moved_mass.moved_mass, moved_mass.has_digits_of_numpy)
    assert again.find(make=False) is None
    assert again.find(make=True) is not None


def test_while_another_process_compiles_it_numpy_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "places", lambda: [tmp_path])
    folder = tmp_path / machine_code.folder_name(moved_mass.moved_mass.__module__)
    folder.mkdir()
    waiting = object_code.Linked(moved_mass.moved_mass, moved_mass.has_digits_of_numpy)
    with filelock.FileLock(folder / "lock"):
        assert waiting.after(1.0) is None
    assert waiting.after(0.0) is None  # it was just looked for
    assert waiting.after(1.0) is not None
