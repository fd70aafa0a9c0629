"""The claims of Ziomek et al. (2025) that only the raw log of the Intel lab can settle: one file plans all of it."""

import pytest

from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan

NAMED = {"sensors-mle-commits", "sensors-relies-on-two-days", "sensors-thirteen-priors"}
DAYS = [f"2004-03-{day:02d}" for day in range(1, 14)]


def plan_of(root, name, **changes):
    file = root / f"config/experiments/{name}.yaml"
    return make_plan({**read_experiment_file(file), **changes}, [file], sources_file=root / "data/sources.yaml")


@pytest.mark.parametrize("data", ["download", "simulate"])
def test_the_log_gives_thirteen_priors_and_all_three_claims_are_judged(root, data):
    plan = plan_of(root, "ziomek2025-log", data=data)
    parameters = plan.problem_parameters("sensors")
    assert (parameters.record, parameters.source) == ("log", data)
    assert list(parameters.prior_labels) == DAYS
    assert plan.iterations("sensors") == 144
    judged = {claim.claim.id for claim in plan.claims if claim.claim.experiment == "ziomek2025-log"}
    assert judged == NAMED
