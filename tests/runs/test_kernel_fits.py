"""Kernels of problems that state none: what a fit to 30 payoffs finds, what is planned of it, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments import tiny
from grids import Waves

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.problems.candidates import FITTED, kernel_source
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import registered
from bocu.sweep.runs.kernel_fits import SEED, KernelDesign, design_of, fit_kernel, kernel_told, most_probable
from bocu.sweep.runs.seed_run import build_problem


def drawn(lengthscale: float, noise: float, seed: int) -> KernelDesign:
    """30 payoffs of a draw with one length-scale over a decision and a context, some 10 units around 50."""
    generator = np.random.default_rng(seed)
    points = generator.random((30, 2))
    gram = np.exp(-0.5 * ((points[:, None] - points[None]) ** 2).sum(axis=2) / lengthscale**2)
    values = np.linalg.cholesky(gram + 1e-9 * np.eye(30)) @ generator.standard_normal(30)
    values = 50.0 + 10.0 * (values + noise * generator.standard_normal(30))
    return KernelDesign(points[:, :1], points[:, 1:], np.arange(30), values)


@pytest.mark.parametrize("noise", [0.001, 0.2])
@pytest.mark.parametrize("lengthscale", [0.15, 0.4, 0.8])
def test_a_fit_is_near_the_truth_and_never_absurd(lengthscale: float, noise: float) -> None:
    fits = [most_probable(drawn(lengthscale, noise, seed), "squared-exponential", 10.0 * noise) for seed in range(20)]
    found = np.array([fit.lengthscale for fit in fits])
    assert np.median(found) == pytest.approx(lengthscale, rel=0.4)
    assert 0.03 < found.min() <= found.max() < 3.0
    assert all(1.0 < np.sqrt(fit.variance) < 60.0 and 0.0 < fit.mean < 100.0 for fit in fits)


def test_a_fit_needs_no_number_and_what_a_run_reads_is_what_was_fitted(tmp_path: Path) -> None:
    specification = {"class": "grids:Waves", "parameters": {"lengthscale": FITTED}}
    fit_kernel(specification, {}, tmp_path / "one.nc")
    problem = build_problem(specification, {"kernel": str(tmp_path / "one.nc")})
    model = problem.realise(Streams(0)).description.model
    streams = Streams(SEED)
    wanted = most_probable(
        design_of(Waves(Waves.Parameters(), {}).realise(streams), streams), "squared-exponential", 0.01
    )
    assert (*model.decision_kernel.lengthscale, *model.context_kernel.lengthscale) == wanted.lengthscale
    assert (model.variance, model.mean) == (wanted.variance, wanted.mean)
    told = kernel_told(problem)
    assert told["source"] == "fitted on a design"
    assert told["log_likelihood"][1] == max(told["log_likelihood"])


def plan_of(*problems: Any, **changes: Any) -> Plan:
    more = {"data": "simulate", "algorithms": ["random", "ucb-so"], **changes}
    return make_plan(tiny(problems=list(problems), **more))


def test_a_fit_is_planned_without_a_file(elsewhere: Path) -> None:
    fitted = {"name": "infection", "parameters": {"lengthscale": FITTED}}
    plan = plan_of(fitted, {"name": "infection", "label": "as-shipped"})
    file = "results/tiny/priors/infection/own_kernel.nc"
    assert plan.products.priors() == [file]
    assert plan.inputs.problem("infection")["kernel"] == file
    assert plan.inputs.prior("infection") == {"data": plan.inputs.problem("as-shipped")["data"]}
    assert plan.priors("infection")["own_kernel"]["statement"] == plan.problems["infection"].specification
    assert "kernel_fits:fit_kernel" in str(plan.parameters.prior("infection", "own_kernel"))
    assert plan.kernels() == {"fitted on a design": ["infection"], "stated": ["as-shipped"]}
    assert list(elsewhere.iterdir()) == []


def test_a_prior_that_is_believed_takes_the_place_of_a_fit() -> None:
    prior = {"name": "stated", "label": "long", "parameters": {"lengthscale": 0.5}}
    problem = {"name": "kirschner", "parameters": {"lengthscale": FITTED, "believed": "long"}}
    plan = plan_of(problem, priors=[prior])
    assert plan.priors("kirschner") == {}
    assert plan.kernels() == {"from the prior 'long'": ["kirschner"]}


def test_all_problems_of_this_project_state_theirs() -> None:
    sources = {one.name: kernel_source(one.load().Parameters.model_construct()) for one in registered("problem")}
    assert set(sources.values()) == {"", "stated"}
    for name in ("kirschner", "plant", "gp-sample", "drifting-gp-sample", "wake-steering", "wind-commitment"):
        assert sources[name] == "stated", name


@pytest.mark.parametrize(
    ("problem", "parameters", "said"),
    [
        ("kirschner", {"lengthscale": FITTED, "variance": 2.0}, "a variance is stated and no length-scale"),
        ("kirschner", {"lengthscale": "fited"}, "lengthscale"),
        ("gp-sample", {"lengthscale": FITTED}, "lengthscale"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_one_line(problem: str, parameters: Any, said: str) -> None:
    with pytest.raises(BocuError, match=said) as told:
        plan_of({"name": problem, "parameters": parameters})
    assert "problems.0" in str(told.value)
    assert "\n" not in str(told.value)
