"""The generation node for Ax, in experiments of Ax's own client."""

import logging
import math
import random

import pytest

pytest.importorskip("ax")

from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, DerivedParameterConfig, RangeParameterConfig

from bocu.core.errors import BocuError
from bocu.interop.ax import RobustNode, robust_strategy

pytestmark = [pytest.mark.ci, pytest.mark.filterwarnings("ignore")]  # what Ax says of itself
ORDER = [RangeParameterConfig("order", (20, 90), "int")]


@pytest.fixture(autouse=True)
def silent():
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def client_of(parameters, node, objective="profit", **stated) -> Client:
    client = Client()
    client.configure_experiment(parameters=parameters, name="kiosk", **stated)
    client.configure_optimization(objective=objective)
    client.set_generation_strategy(robust_strategy(node, seed=0))
    return client


def played(client: Client, earned, trials: int) -> list[dict]:
    weather, found = random.Random(0), []
    for _ in range(trials):
        for index, decided in client.get_next_trials(max_trials=1).items():
            found.append(decided)
            rain = 10.0 * weather.random()
            client.complete_trial(index, {"profit": earned(decided, rain), "rain": rain})
    return found


def sold(decided, rain: float) -> float:
    return 3.0 * min(decided["order"], 90.0 - 6.0 * rain) - 1.5 * decided["order"]


def test_an_experiment_is_repeated_by_its_seed_and_costs_are_payoffs_the_other_way_round():
    node = RobustNode(["rain"], radius=0.4)
    client = client_of(ORDER, node)
    found = played(client, sold, 9)
    assert played(client_of(ORDER, RobustNode(["rain"], radius=0.4)), sold, 9) == found
    turned = client_of(ORDER, RobustNode(["rain"], radius=0.4), objective="-profit")
    assert played(turned, lambda decided, rain: -sold(decided, rain), 9) == found
    assert list(client.summarize()["generation_node"]) == ["Sobol"] * 5 + ["bocu"] * 4
    best = node.recommend().best
    assert best.guaranteed < best.expected


def test_a_forecast_moves_the_decision():
    node = RobustNode(["rain"], radius=0.4, explore=False)
    client = client_of(ORDER, node)
    played(client, sold, 10)
    found = []
    for rain in (1.0, 9.0):
        node.forecast = {"rain": [rain]}
        (decided,) = client.get_next_trials(max_trials=1).values()
        assert decided == node.recommend().decision
        found.append(decided["order"])
    assert found[0] > found[1] + 20


def test_all_kinds_of_parameters_are_decided():
    parameters = [
        RangeParameterConfig("x", (0, 1), "float"),
        RangeParameterConfig("n", (1, 9), "int", step_size=2),
        RangeParameterConfig("rate", (1e-4, 1e-1), "float", scaling="log"),
        ChoiceParameterConfig("shelf", ["low", "mid", "high"], "str"),
        ChoiceParameterConfig("open", [True, False], "bool"),
        ChoiceParameterConfig("town", ["Ulm"], "str"),
        DerivedParameterConfig("double", "2.0 * x", "float"),
    ]

    def earned(decided, rain):
        off = (decided["x"] - 0.5) ** 2 + (decided["n"] - 5) ** 2 / 9 + (math.log10(decided["rate"]) + 2.0) ** 2
        return (decided["shelf"] == "high") + decided["open"] - off - rain * decided["x"] / 10.0

    node = RobustNode(["rain"], radius=0.4)
    client = client_of(parameters, node)
    for decided in played(client, earned, 8):
        assert decided.keys() == {one.name for one in parameters}
        client._experiment.search_space.validate_membership(decided)
        assert decided["double"] == pytest.approx(2.0 * decided["x"])
    assert node.recommend().decision.keys() == {"x", "n", "log10(rate)", "shelf", "open"}


def test_constraints_between_parameters_are_kept():
    parameters = [RangeParameterConfig(name, (0, 1), "float") for name in ("x", "y")]
    node = RobustNode(["rain"], objective="cvar", alpha=0.5)
    client = client_of(parameters, node, parameter_constraints=["x + 2*y <= 1", "x - y >= -0.5"])
    found = played(client, lambda decided, rain: decided["x"] + 3.0 * decided["y"] + rain / 10.0, 9)
    for decided in found:
        assert decided["x"] + 2.0 * decided["y"] <= 1.0 + 1e-6
        assert decided["x"] - decided["y"] >= -0.5 - 1e-6
    best = node.recommend().decision  # where the best of the linear programme lies: both constraints at once
    assert (best["x"], best["y"]) == pytest.approx((0.0, 0.5), abs=0.05)


def test_what_an_experiment_lacks_is_said():
    client = client_of(ORDER, RobustNode(["sun"], radius=0.4))
    with pytest.raises(BocuError, match="none of 5 reports the context 'sun'"):
        played(client, sold, 6)
    client = client_of(ORDER, RobustNode(["rain"], radius=0.4), objective="profit, -rain")
    with pytest.raises(BocuError, match="one metric is wanted"):
        played(client, sold, 6)
    with pytest.raises(BocuError, match="startup: found 1"):
        robust_strategy(RobustNode(["rain"], radius=0.4), startup=1)
