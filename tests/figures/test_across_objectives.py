import numpy as np
import pytest
from synthetic_cubes import ITERATIONS, SEEDS, constant_regret

from bocu.pages.figures.every_round import AcrossObjectives, AcrossObjectivesParameters

AT = {"so": 0.5, "ro": 2.0}


def draw(cube_path, **parameters):
    settings = AcrossObjectivesParameters(**{"at": AT, "label": "radius", **parameters})
    return AcrossObjectives(settings).draw({"cube": cube_path})


def test_points_are_total_regret_scored_by_the_metric_of_their_place(cube_path):
    drawing = draw(cube_path, algorithms=["random", "mle"])
    (regret,) = drawing.figure.axes  # the cube holds no payoff
    assert regret.get_xlabel() == "radius"
    lines = [line for line in regret.get_lines() if len(line.get_xdata())]
    wanted = {
        tuple(
            np.mean([sum(constant_regret(a, metric, s, t + 1) for t in range(ITERATIONS)) for s in range(SEEDS)])
            for metric in AT
        )
        for a in ("random", "mle")
    }
    assert len(lines) == 2
    for line in lines:
        assert list(line.get_xdata()) == [0.5, 2.0]
        assert any(np.allclose(line.get_ydata(), one) for one in wanted)
    assert "Random" in drawing.alternative


def test_a_logarithmic_axis_takes_positive_places(cube_path):
    assert draw(cube_path, log=True).figure.axes[0].get_xscale() == "log"
    with pytest.raises(ValueError, match="positive"):
        draw(cube_path, at={"so": 0, "ro": 1}, log=True)
