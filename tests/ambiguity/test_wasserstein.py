"""Wasserstein sets: transports on a line and elsewhere against a linear programme, worst cases on a line."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog

from bocu.robust.ambiguity import Wasserstein, worst_case


def costs(points: np.ndarray) -> np.ndarray:
    points = points if points.ndim == 2 else points[:, None]
    return np.sqrt(((points[:, None] - points) ** 2).sum(-1))


def transport(q: np.ndarray, p: np.ndarray, cost: np.ndarray) -> float:
    """Least cost by a linear programme (HiGHS), one row of the constraints left out: the others imply it."""
    n = len(p)
    leaves, arrives = np.kron(np.eye(n), np.ones((1, n))), np.kron(np.ones((1, n)), np.eye(n))
    equal, values = np.vstack([leaves, arrives])[:-1], np.concatenate([p, q])[:-1]
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(cost.ravel(), A_eq=equal, b_eq=values, method="highs", options=options)
    assert found.status == 0, found.message
    return float(found.fun)


def some_points(place: str, n: int, generator: np.random.Generator) -> np.ndarray:
    along = np.sort(generator.normal(size=n))
    return {
        "line": generator.permutation(along),
        "line in space": along[:, None] * np.array([0.6, 0.0, 0.8]) + np.array([5.0, -3.0, 0.0]),
        "line with copies": np.round(generator.random(n), 1),
        "plane": generator.random((n, 2)),
        "plane with copies": np.round(generator.random((n, 2)), 1),
    }[place]


PLACES = ("line", "line in space", "line with copies", "plane", "plane with copies")


def two_distributions(n: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q, p = generator.dirichlet(np.full(n, 0.5), 2)
    q[generator.random(n) < 0.3] = 0.0
    p[generator.random(n) < 0.3] = 0.0
    return q / q.sum(), p / p.sum()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n", [2, 7, 24])
def test_distance_is_the_least_cost_of_a_transport(place: str, n: int) -> None:
    for seed in range(6):
        generator = np.random.default_rng(100 * n + seed)
        cost = costs(some_points(place, n, generator))
        q, p = two_distributions(n, generator)
        assert float(Wasserstein(0.0, cost).distance(q, p)) == pytest.approx(transport(q, p, cost), abs=1e-9)


def test_masses_that_differ_by_rounding_are_moved() -> None:
    generator = np.random.default_rng(2)
    for place in PLACES:
        cost = costs(some_points(place, 12, generator))
        p = generator.dirichlet(np.ones(12))
        q = np.roll(p, 3) * (1.0 + 5e-9)
        expected = transport(np.roll(p, 3), p, cost)
        assert float(Wasserstein(0.0, cost).distance(q, p)) == pytest.approx(expected, abs=1e-7)


def worst_plan(f: np.ndarray, p: np.ndarray, cost: np.ndarray, epsilon: float) -> float:
    """Worst-case expectation as a linear programme over transport plans (HiGHS)."""
    n = len(p)
    leaves = np.kron(np.eye(n), np.ones((1, n)))
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        np.tile(f, n), A_ub=cost.reshape(1, -1), b_ub=[epsilon], A_eq=leaves, b_eq=p, method="highs", options=options
    )
    assert found.status == 0, found.message
    return float(found.fun)


def matrix_set(epsilon: float, cost: np.ndarray) -> Wasserstein:
    """The same set solved by its matrix of costs, as where the contexts lie on no line."""
    ambiguity_set = Wasserstein(epsilon, cost)
    ambiguity_set._line = None
    return ambiguity_set


LINES = ("line", "line in space", "line with copies")
RADII = (0.0, 1e-6, 0.01, 0.1, 1.0, 10.0)


def payoffs_and_reference(seed: int, n: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Payoffs `(3, n)`, some with ties, and a reference, shared or a row each, some with zeros."""
    f = generator.normal(size=(3, n))
    if seed % 3 == 0:
        f = np.round(f)
    p = generator.dirichlet(np.full(n, 0.5), 3 if seed % 2 else None)
    if seed % 4 == 0:
        p[..., generator.random(n) < 0.4] = 0.0
        p[..., 0] += 1e-3
    return f, p / p.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("place", LINES)
def test_worst_cases_on_a_line_are_those_of_the_programme(place: str) -> None:
    for seed in range(6):
        generator = np.random.default_rng(seed)
        cost = costs(some_points(place, 12, generator))
        f, p = payoffs_and_reference(seed, 12, generator)
        for epsilon in RADII[1:]:
            found = worst_case(f, p, Wasserstein(epsilon, cost))
            for row, reference in enumerate(np.broadcast_to(p, f.shape)):
                assert found.value[row] == pytest.approx(worst_plan(f[row], reference, cost, epsilon), abs=1e-8)


@pytest.mark.parametrize("place", LINES)
@pytest.mark.parametrize("n", [2, 5, 33])
def test_worst_cases_on_a_line_are_those_of_the_matrix(place: str, n: int) -> None:
    for seed in range(12):
        generator = np.random.default_rng(1000 * n + seed)
        cost = costs(some_points(place, n, generator))
        f, p = payoffs_and_reference(seed, n, generator)
        line, matrix = Wasserstein(0.0, cost), matrix_set(0.0, cost)
        for epsilon in RADII:
            found = worst_case(f, p, line.with_epsilon(epsilon), rate=True)
            known = worst_case(f, p, matrix.with_epsilon(epsilon), rate=True)
            np.testing.assert_allclose(found.value, known.value, rtol=0.0, atol=1e-12)
            np.testing.assert_allclose(found.slope, known.slope, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose((found.distribution * f).sum(-1), found.value, rtol=0.0, atol=1e-12)
            np.testing.assert_allclose(found.distribution.sum(-1), 1.0, rtol=0.0, atol=1e-12)
            assert found.distribution.min() >= 0.0
            far = line.distance(found.distribution, np.broadcast_to(p, f.shape))
            assert (far <= epsilon * (1.0 + 1e-9) + 1e-12).all()
            np.testing.assert_allclose((found.rate * f).sum(-1), (known.rate * f).sum(-1), rtol=1e-7, atol=1e-9)
            without, slope = line.with_epsilon(epsilon).values(f, p)
            assert without.tolist() == found.value.tolist()
            assert slope.tolist() == found.slope.tolist()
        mean, low = (f * p).sum(-1), f.min(-1)
        for share in (0.05, 0.5, 0.95):
            tau = low + share * (mean - low)
            expected = matrix.satisficing(f, p, tau)
            np.testing.assert_allclose(line.satisficing(f, p, tau), expected, rtol=1e-9, atol=1e-12)


def test_costs_that_are_no_distances_on_a_line_are_not_taken_for_them() -> None:
    cost = costs(np.array([0.0, 0.3, 1.0]))
    assert Wasserstein(0.0, cost)._line is not None
    squared = Wasserstein(1.0, cost**2)
    assert squared._line is None
    assert float(squared.distance([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])) == pytest.approx(1.0)
    cost[0, 1] = cost[1, 0] = 0.3 + 1e-9
    assert Wasserstein(0.0, cost)._line is None


def test_transports_are_measured_without_torch() -> None:
    code = (
        "import sys\nimport numpy as np\nfrom bocu.robust.ambiguity import Wasserstein\n"
        "assert Wasserstein(0.0, 1.0 - np.eye(3)).distance([0.5, 0.5, 0.0], [0.0, 0.0, 1.0]) == 1.0\n"
        "print([name for name in ('ot', 'torch', 'jax', 'cupy', 'tensorflow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "['ot']\n", done.stderr


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("made", [Wasserstein, matrix_set])
def test_contexts_at_one_place_are_one_context(made: Callable[[float, np.ndarray], Wasserstein]) -> None:
    # The payoffs of 1 and 0.5 are at one place, so that 0.5 is what is certain there; the floor 0 lies one unit away.
    cost = costs(np.array([0.0, 0.0, 1.0]))
    apart, f, p = made(0.0, cost), np.array([1.0, 0.5, 0.0]), np.array([1.0, 0.0, 0.0])
    assert float(worst_case(f, p, apart).value) == 0.5
    expected = [0.0, 0.0, -0.25, -0.5, -np.inf, -np.inf]
    assert apart.satisficing(np.tile(f, (6, 1)), p, [-1.0, 0.0, 0.25, 0.5, 0.75, 2.0]).tolist() == expected
    # Where all contexts are one, its worst payoff is certain.
    together = made(0.3, np.zeros((3, 3)))
    assert together.satisficing(np.tile(f, (3, 1)), p, [0.0, 1e-6, 1.0]).tolist() == [0.0, -np.inf, -np.inf]
    assert float(worst_case(f, p, together, rate=True).value) == 0.0
