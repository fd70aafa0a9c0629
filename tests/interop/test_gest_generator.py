"""The generator for gest-api, in Xopt's own loop and by the standard alone."""

import random

import pytest

pytest.importorskip("xopt")

from gest_api.vocs import VOCS, ContextualVariable, ContinuousVariable, DiscreteVariable
from xopt import Evaluator, Xopt

from bocu.core.errors import BocuError
from bocu.interop.gest_api import RobustGenerator

pytestmark = pytest.mark.ci

ORDER = ContinuousVariable(domain=[20, 90], dtype=int)


def kiosk(direction="MAXIMIZE", **more) -> VOCS:
    return VOCS(variables={"order": ORDER, "rain": ContextualVariable()}, objectives={"profit": direction}, **more)


def played(generator, points: int, sign: float = 1.0) -> Xopt:
    """Sell so many days in Xopt's loop, at rains that are the same each time."""
    weather = random.Random(0)

    def sold(decided):
        rain = 10.0 * weather.random()
        profit = 3.0 * min(decided["order"], 90.0 - 6.0 * rain) - 1.5 * decided["order"]
        return {"profit": sign * profit, "rain": rain}

    loop = Xopt(generator=generator, evaluator=Evaluator(function=sold))
    for _ in range(points):
        loop.step()
    return loop


def test_xopts_loop_is_repeated_by_its_seed_and_costs_are_payoffs_the_other_way_round():
    loop = played(RobustGenerator(kiosk(), radius=0.4, seed=0), 9)
    orders = loop.data["order"].tolist()
    assert loop.data["rain"].notna().all()
    assert played(RobustGenerator(kiosk(), radius=0.4, seed=0), 9).data["order"].tolist() == orders
    turned = RobustGenerator(kiosk("MINIMIZE"), radius=0.4, seed=0)
    assert played(turned, 9, sign=-1.0).data["order"].tolist() == orders
    assert played(RobustGenerator(kiosk(), radius=0.4, seed=1), 5).data["order"].tolist() != orders[:5]
    best = loop.generator.recommend().best
    assert best.guaranteed < best.expected


def test_a_forecast_moves_the_decision():
    generator = played(RobustGenerator(kiosk(), radius=0.4, seed=0, explore=False), 10).generator
    found = []
    for rain in (1.0, 9.0):
        generator.forecast = {"rain": [rain]}
        assert generator.suggest() == generator.suggest(1) == [generator.recommend().decision]
        found.append(generator.suggest()[0]["order"])
    assert found[0] > found[1] + 20


def test_all_kinds_of_variables_are_decided_with_the_constants():
    variables = {
        "x": [0.0, 1.0],
        "size": DiscreteVariable(values={1, 3, 5}),
        "shelf": DiscreteVariable(values={"low", "high"}),
        "town": DiscreteVariable(values={"Ulm"}),
        "rain": ContextualVariable(domain=[0, 10]),
    }
    vocs = VOCS(variables=variables, objectives={"profit": "MAXIMIZE"}, constants={"price": 3.0})
    generator, weather = RobustGenerator(vocs, radius=0.4, seed=0), random.Random(0)
    for _ in range(8):
        (point,) = generator.suggest(1)
        assert point.keys() == {"x", "size", "shelf", "town", "price"}
        assert 0.0 <= point["x"] <= 1.0
        assert all(point[name] in variables[name].values for name in ("size", "shelf", "town"))
        rain = 10.0 * weather.random()
        profit = (point["shelf"] == "high") - (point["x"] - 0.5) ** 2 - abs(point["size"] - 3) - rain * point["x"] / 10
        generator.ingest([{**point, "rain": rain, "profit": profit}])
    assert generator.recommend().decision["size"] == 3
    generator.ingest([{**point, "rain": rain, "profit": float("nan")}])
    assert len(generator.suggest(3)) == 3


@pytest.mark.parametrize(
    "stated",
    [
        kiosk(constraints={"stock": ["LESS_THAN", 5.0]}),
        VOCS(variables=kiosk().variables, objectives={"profit": "EXPLORE"}),
        VOCS(variables=kiosk().variables, objectives={"profit": "MAXIMIZE", "waste": "MINIMIZE"}),
    ],
)
def test_what_is_asked_otherwise_is_refused(stated):
    with pytest.raises(ValueError, match="one objective is wanted"):
        RobustGenerator(stated, radius=0.4)


def test_bounds_are_finite_and_contexts_there():
    endless = ContinuousVariable(domain=[0, float("inf")])
    with pytest.raises(ValueError, match="variable 'order': found bounds"):
        RobustGenerator(VOCS(variables={"order": endless}, objectives={"profit": "MAXIMIZE"}), radius=0.4)
    with pytest.raises(BocuError, match="at least one column"):
        RobustGenerator(VOCS(variables={"order": ORDER}, objectives={"profit": "MAXIMIZE"}), radius=0.4)
