"""The sampler for Optuna, in studies of Optuna's own."""

import importlib.util
import math
import random
import re
import warnings

import pytest

pytest.importorskip("optuna")

import optuna
from optuna.testing.pytest_samplers import BasicSamplerTestCase

from bocu.core.errors import BocuError
from bocu.interop.optuna import RobustSampler

pytestmark = pytest.mark.ci

HUB = "docs/optunahub"


@pytest.fixture(autouse=True)
def silent():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.mark.filterwarnings("ignore:no trial reports the context")
class TestOptunasOwnTests(BasicSamplerTestCase):
    """In whose studies no trial reports a context."""

    @pytest.fixture
    def sampler(self):
        return lambda: RobustSampler(["rain"], radius=0.4, seed=0)


def kiosk(sign: float = 1.0, reported: bool = True):
    weather = random.Random(0)

    def earned(trial):
        order, rain = trial.suggest_int("order", 20, 90), 10.0 * weather.random()
        if reported:
            trial.set_user_attr("rain", rain)
        return sign * (3.0 * min(order, 90.0 - 6.0 * rain) - 1.5 * order)

    return earned


def study_of(objective, trials: int, direction: str = "maximize", **asked):
    sampler = RobustSampler(["rain"], **{"radius": 0.4, "seed": 0, **asked})
    study = optuna.create_study(sampler=sampler, direction=direction)
    study.optimize(objective, n_trials=trials)
    return study, sampler


def decided(study) -> list[dict]:
    return [trial.params for trial in study.trials]


def test_a_study_is_repeated_by_its_seed_and_costs_are_payoffs_the_other_way_round():
    study, sampler = study_of(kiosk(), 9)
    assert decided(study_of(kiosk(), 9)[0]) == decided(study)
    assert decided(study_of(kiosk(-1.0), 9, "minimize")[0]) == decided(study)
    assert decided(study_of(kiosk(), 5, seed=1)[0]) != decided(study)[:5]
    best = sampler.recommend(study).best
    assert best.guaranteed < best.expected


def test_the_first_trials_are_those_of_the_random_sampler():
    random_study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    random_study.optimize(kiosk(), n_trials=5)
    assert decided(study_of(kiosk(), 5)[0]) == decided(random_study)


def test_without_exploring_the_next_trial_is_what_is_recommended():
    study, sampler = study_of(kiosk(), 8, explore=False)
    advice = sampler.recommend(study)
    assert study.ask({"order": optuna.distributions.IntDistribution(20, 90)}).params == advice.decision


def test_a_forecast_moves_the_decision():
    study, sampler = study_of(kiosk(), 12)
    found = []
    for rain in (1.0, 9.0):
        sampler.forecast = {"rain": [rain]}
        found.append(sampler.recommend(study).decision["order"])
    assert found[0] > found[1] + 20


def test_all_kinds_of_parameters_are_decided_within_their_distributions():
    weather = random.Random(0)

    def earned(trial):
        x = trial.suggest_float("x", 0.1, 0.9, step=0.2)
        n = trial.suggest_int("n", 1, 9, step=2)
        rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
        size = trial.suggest_int("size", 1, 100, log=True)
        shelf = trial.suggest_categorical("shelf", ["low", None, 3])
        trial.suggest_float("alone", 2.0, 2.0)
        if shelf == "low":
            trial.suggest_float("height", 0.0, 1.0)
        rain = weather.random()
        trial.set_user_attr("rain", rain)
        return (shelf == 3) - (x - 0.5) ** 2 - (n - 5) ** 2 / 9 - (math.log10(rate * size) + 1.0) ** 2 - rain * x

    study, sampler = study_of(earned, 9)  # Optuna refuses what lies outside a distribution
    assert all(trial.state == optuna.trial.TrialState.COMPLETE for trial in study.trials)
    assert sampler.recommend(study).decision.keys() == {"x", "n", "log10(rate)", "log10(size)", "shelf"}
    for trial in study.trials:
        for name, value in trial.params.items():
            distribution = trial.distributions[name]
            assert distribution._contains(distribution.to_internal_repr(value))


def test_what_a_study_lacks_is_said():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        study, sampler = study_of(kiosk(reported=False), 9)
    assert [str(one.message) for one in told] == [
        "no trial reports the context 'rain': decisions are random until one does"
    ]
    with pytest.raises(BocuError, match="none of 9 reports the context 'rain'"):
        sampler.recommend(study)
    study = optuna.create_study(sampler=RobustSampler(["rain"], radius=0.4), directions=["maximize", "minimize"])
    with pytest.raises(BocuError, match="found 2 objectives"):
        study.ask()


def test_failed_and_pruned_trials_do_not_count():
    study, sampler = study_of(kiosk(), 6)
    before = sampler.recommend(study)
    for state in (optuna.trial.TrialState.FAIL, optuna.trial.TrialState.PRUNED):
        study.add_trial(optuna.create_trial(state=state, params={}, distributions={}))
    assert sampler.recommend(study) == before


def test_optunahub_loads_the_folder_that_is_laid_out_for_it(root):
    hub = pytest.importorskip("optunahub")
    found = hub.load_local_module("samplers/robust_context", registry_root=str(root / HUB))
    assert found.RobustSampler is RobustSampler
    assert issubclass(found.RobustSampler, optuna.samplers.BaseSampler)


def test_the_example_of_the_folder_runs(root, capsys):
    pytest.importorskip("optunahub")
    file = root / HUB / "samplers/robust_context/example.py"
    spec = importlib.util.spec_from_file_location("hub_example", file)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert re.fullmatch(r"\{'order': \d+\}\n", capsys.readouterr().out)
