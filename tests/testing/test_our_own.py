"""Everything that is registered keeps the promises that outsiders are held to."""

import pytest
from ambiguity.cases import CONVEX, STATED

from bocu.sweep.experiment.registry import find, registered
from bocu.testing import (
    check_algorithm,
    check_figure,
    check_law,
    check_metric,
    check_objective,
    check_problem,
    check_set,
    check_shift,
)

BOTORCH = {
    "botorch-acquisition": {},
    "qlognei": {},
    "qkg": {"fantasies": 2},
    "mars": {"contexts": 4, "samples": 16},
    "qnehvi": {"samples": 16},
}
PEERS = ("optuna", "ax", "xopt", "emukit", "smac")
NEEDED = {
    **BOTORCH,
    "constant": {"decision": 2},
    "rs": {"tau": 0.1},
    "lenient": {"tau": -1.0},  # one that the best decision meets: what it falls short by is no regret
    "satisficing": {"tau": 0.1},
    **STATED,
}
LAWS = {
    "mixture": {"of": [{"law": "uniform", "weight": 2}, {"law": "normal"}]},
    "coordinates": {"of": ["normal", "burr-xii"]},
    "empirical": {"data": [0.2, 0.9, 0.3]},
    "kde": {"data": [[0.2, 0.4], [0.5, 0.5], [0.6, 0.9]]},
    "histogram": {"weights": [1, 0, 2]},
}
HIGH = {"name": "normal", "parameters": {"mean": 0.8}}
SHIFTS = {
    "jump": {"at": 7, "to": HIGH},
    "drift": {"over": 9, "to": HIGH, "start": 4},
    "season": {"period": 6, "amplitude": {"mean": 0.3, "std": 0.05}},
    "train-test": {"at": 12, "test": HIGH},
}
# Fewer rounds and rows of these.
SLOW = {"minimax-continuous", "drbo-mmd", "drbo-kde", "drmobo", "stableopt", "sbo-kde", "gp-ucb", "dro-bo-phi", "erbo"}
SLOW |= {"ts-bocu-kde", "ucb-bocu-kde", "wdrbo", "ackley-2-4", "wass", "phi", *CONVEX, *BOTORCH, *PEERS}
# These wait for `.ci/run`.
LATER = SLOW - {"gp-ucb", "sbo-kde", "drmobo"}
# The slowest; of BoTorch's, `botorch-acquisition` and `qnehvi` stand for the others, of other packages `optuna`.
SLOWEST = {"constraints", "qkg", "qlognei", "mars", "ackley-2-4", "ax", "xopt", "emukit", "smac"}
FROM_FILES = {"sensors", "plant", "infection", "wind-commitment"}
FROM_FILES |= {"irrigation", "irrigation-nebraska", "irrigation-thresholds", "irrigation-two"}
FROM_FILES |= {"wake-steering", "wake-steering-two"}
FROM_FILES |= {"portfolio-normal", "portfolio-uniform", "portfolio-grid", "portfolio-table"}


def needed(name):
    """What has to be stated of an algorithm; searches are short, for promises do not depend on what they find."""
    given = NEEDED.get(name, {})
    if "search" not in find("algorithm", name).load().Parameters.model_fields:
        return given
    return {**given, "search": {"raw": 8, "restarts": 1} if name in BOTORCH else {"raw": 16, "restarts": 3}}


def names(kind):
    tiers = dict.fromkeys(LATER, pytest.mark.ci) | dict.fromkeys(SLOWEST, pytest.mark.drill)
    others = pytest.mark.drill if kind == "figure" else ()  # tests/figures has what they show
    first = {"summary": ()}
    return [pytest.param(entry.name, marks=(first | tiers).get(entry.name, others)) for entry in registered(kind)]


@pytest.mark.parametrize("name", names("algorithm"))
def test_algorithm(name):
    if name in PEERS:
        pytest.importorskip(name)  # the package is called so, too
    check_algorithm(name, needed(name), rounds=2 if name in BOTORCH else 3 if name in SLOW else 6)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("sbo-kde", {"model": {"refit_every": 3, "fit_restarts": 1}}),
        ("drbo-mmd", {"mmd_kernel": "context-part-of-model", "grid": "diagonal"}),
    ],
)
def test_algorithm_of_other_parameters(name, more):
    check_algorithm(name, needed(name) | more, rounds=4)


@pytest.mark.parametrize("name", names("set"))
def test_set(name):
    check_set(name, NEEDED.get(name), instances=1 if name == "phi" else 3)  # of every kind of reference


@pytest.mark.parametrize("name", names("law"))
def test_law(name):
    check_law(name, LAWS.get(name))


@pytest.mark.parametrize("name", names("shift"))
def test_shift(name):
    check_shift(name, SHIFTS[name])


@pytest.mark.parametrize("name", names("objective"))
def test_objective(name):
    check_objective(name, NEEDED.get(name))


@pytest.mark.parametrize("name", names("metric"))
def test_metric(name):
    check_metric(name, NEEDED.get(name))


@pytest.mark.parametrize("name", [each for each in names("problem") if each.values[0] not in FROM_FILES])
def test_problem(name):
    check_problem(name)


OF_A_SWEEP = {"region"}  # it needs swept parameters: tests/figures/test_region.py has them


@pytest.mark.parametrize("name", [each for each in names("figure") if each.values[0] not in FROM_FILES | OF_A_SWEEP])
def test_figure(name):
    check_figure(name)
