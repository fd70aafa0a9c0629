"""Objectives as experiment files state them, and the radius of a round."""

import numpy as np
import pytest
from ambiguity.cases import STATED

from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.core.rounds import Situation
from bocu.robust.ambiguity import (
    ModifiedChiSquared,
    SetParameters,
    TotalVariation,
    linearised,
    sensitivity,
)
from bocu.robust.objectives.functions import General, UncertaintyObjective, WorstCaseSensitivity
from bocu.sweep.experiment.registry import registered
from bocu.sweep.runs.protocol import Announcer

POINTS = np.linspace(0.0, 1.0, 5)[:, None]
UNIFORM = np.full(5, 0.2)
SKEW = np.array([0.4, 0.3, 0.1, 0.1, 0.1])
PAYOFFS = np.random.default_rng(0).normal(size=(7, 5))

MINIMAL = {"rs": {"tau": 0.1}}


def situation(t=1, reference=SKEW, truth=UNIFORM, observed=0, **more):
    return Situation(t, reference, truth, observed, **more)


def chosen_set(**keys):
    return validate(SetParameters, keys, "")


def test_what_is_stated_is_written_out_with_the_keys_of_its_set_alone():
    stated = General.Parameters.model_validate({"set": {"name": "mmd", "lengthscale": 0.3}})
    written = stated.model_dump(mode="json")
    assert written["set"] == {"name": "mmd", "radius": "margin", "lengthscale": 0.3, "jitter": 1e-6}
    assert General.Parameters.model_validate(written) == stated
    assert General.Parameters().model_dump(mode="json")["set"] == {"name": "tv", "radius": "margin"}


@pytest.mark.parametrize("entry", [*registered("set")], ids=lambda entry: entry.name)
def test_what_a_class_says_of_its_slope_and_sensitivity_is_so(entry):
    family, built = entry.load(), chosen_set(name=entry.name, **STATED.get(entry.name, {})).over(POINTS)
    assert np.isfinite(built.values(PAYOFFS, SKEW)[1]).all() == family.finite_slope_at_zero
    if family.sensitivity_power is None:
        with pytest.raises(BocuError, match="take tv, mmd, wass, chi2 or chi2mod"):
            linearised(PAYOFFS, SKEW, built)
    else:
        # The line touches the value at radius 0: over the power of a small radius, what is lost is the sensitivity.
        epsilon = 1e-9 ** (1.0 / family.sensitivity_power)
        lost = (PAYOFFS @ SKEW - built.with_epsilon(epsilon).values(PAYOFFS, SKEW)[0]) / 1e-9
        assert lost == pytest.approx(sensitivity(PAYOFFS, SKEW, built), rel=1e-4)


def stated(name, **parameters):
    target = next(entry for entry in registered("objective") if entry.name == name).load()
    return target.from_specification({**MINIMAL.get(name, {}), **parameters})


@pytest.mark.parametrize("entry", [*registered("objective")], ids=lambda entry: entry.name)
def test_a_stated_objective_is_the_mathematical_one(entry):
    objective = stated(entry.name).over(POINTS).with_epsilon(0.3)
    tv = TotalVariation(0.3)
    known = {
        "so": UncertaintyObjective.so(),
        "ro": UncertaintyObjective.ro(),
        "dro": UncertaintyObjective.dro(tv),
        "wcs": UncertaintyObjective.wcs(tv),
        "mr": UncertaintyObjective.mr(tv, 1.0),
        "gen": UncertaintyObjective.gen(tv, 1.0, 1.0),
        "rs": UncertaintyObjective.rs(tv, 0.1),
        "var": UncertaintyObjective.var(0.1),
    }
    assert objective(PAYOFFS, SKEW) == pytest.approx(known[entry.name](PAYOFFS, SKEW))


def test_the_margin_follows_distributions_that_change():
    announcer = Announcer(chosen_set(name="tv"), POINTS)
    first, still = announcer.epsilon(situation()), announcer.epsilon(situation(t=2))
    moved = announcer.epsilon(situation(t=3, reference=UNIFORM))
    assert (first, still, moved) == (pytest.approx(0.6), pytest.approx(0.6), 0.0)


def test_a_list_of_radii_stays_at_its_last():
    parameters = chosen_set(radius=[0.5, 0.2])
    assert [parameters.epsilon(situation(t), parameters.over(POINTS)) for t in (0, 1, 2, 3)] == [0.5, 0.5, 0.2, 0.2]


def test_the_announced_radius_or_a_share_is_taken_and_missing_it_is_said():
    for radius, wanted in (({"announced": 0.25}, 0.2), ("announced", 0.8)):
        parameters = chosen_set(radius=radius)
        assert parameters.epsilon(situation(margin=0.8), parameters.over(POINTS)) == pytest.approx(wanted)
        with pytest.raises(BocuError, match="announces no radius"):
            parameters.epsilon(situation(), parameters.over(POINTS))
    with pytest.raises(BocuError, match=r"radius\.announced: found 0"):
        chosen_set(radius={"announced": 0})


def test_a_divergence_of_ones_own_is_named_by_its_functions():
    own = chosen_set(name="phi", phi="own_divergences:MODIFIED_CHI_SQUARED", radius=0.1).over(POINTS).with_epsilon(0.1)
    known = ModifiedChiSquared(0.1)
    assert own.values(PAYOFFS, SKEW)[0] == pytest.approx(known.values(PAYOFFS, SKEW)[0], abs=1e-8)


@pytest.mark.parametrize("target", ["no_such_module:PHI", "own_divergences:NONE", "own_divergences:ALONE"])
def test_a_divergence_that_is_not_there_is_said(target):
    with pytest.raises(BocuError, match=r"phi: found .*two or three"):
        chosen_set(name="phi", phi=target).over(POINTS)


def test_a_slope_that_has_no_weight_may_be_infinite():
    at_zero = {"set": {"name": "kl", "radius": 0.0}}
    assert validate(General.Parameters, {**at_zero, "beta": 0.0}, "here: ").beta == 0.0
    with pytest.raises(BocuError, match="the slope of 'kl' at radius 0 is -inf"):
        validate(General.Parameters, at_zero, "here: ")


def test_wcs_does_not_depend_on_the_radius():
    objective = WorstCaseSensitivity.from_specification({"set": {"name": "mmd"}}).over(POINTS)
    assert objective.with_epsilon(0.4)(PAYOFFS, SKEW).tolist() == objective(PAYOFFS, SKEW).tolist()


def test_exact_takes_the_difference_away():
    objective = General.from_specification({"slope": {"difference": 1e-3}}).over(POINTS).with_epsilon(0.3)
    exact = UncertaintyObjective.gen(TotalVariation(0.3), 1.0, 1.0)
    assert objective.exact()(PAYOFFS, SKEW) == pytest.approx(exact(PAYOFFS, SKEW))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("wcs", {"set": "kl"}, "slope of 'kl' at radius 0 is -inf"),
        ("mr", {"set": {"name": "chi2"}}, "slope of 'chi2' at radius 0 is -inf"),
        ("gen", {"set": {"name": "chi2mod", "radius": 0}}, "slope of 'chi2mod' at radius 0 is -inf"),
        ("dro", {"set": {"name": "cr"}}, r"set\.k: this key is required"),
        ("dro", {"set": {"name": "tv", "alpha": 0.5}}, "set.alpha: found 0.5; the set 'tv' has no such key"),
        ("dro", {"set": {"radius": []}}, "holds one number or more"),
        ("dro", {"set": "phi"}, r"set\.phi: this key is required"),
        ("dro", {"set": {"name": "phi", "phi": "no colon"}}, "pattern"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(name, parameters, message):
    target = next(entry for entry in registered("objective") if entry.name == name).load()
    with pytest.raises(BocuError, match=message) as caught:
        validate(target.Parameters, parameters, "objectives.0.parameters.")
    assert "\n" not in str(caught.value)
