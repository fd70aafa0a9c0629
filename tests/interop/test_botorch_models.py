"""BoTorch models under the continuous algorithms: what they believe, how files name them, what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from continuous_games import after_design, seed_run, specification
from named import stated
from played import finished, numbers

from bocu.core.errors import BocuError
from bocu.core.parameters import Reading, validate
from bocu.core.randomness import Streams
from bocu.core.rounds import Round
from bocu.interop.botorch.models import FactoryModel, moments
from bocu.learners.acquisition.surfaces import surface
from bocu.learners.algorithms.botorch_model import BotorchModelParameters
from bocu.learners.surrogates.continuous.model import Posterior
from bocu.learners.surrogates.continuous.structure import Hyperparameters, joint
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.seed_run import build_algorithm, build_problem

HERE = Path(__file__).parent
SEARCH = {"raw": 16, "restarts": 2}
ALGORITHMS = ["gp-ucb", "drbo-mmd", pytest.param("drmobo", marks=pytest.mark.ci)]
GENERATOR = np.random.default_rng(0)
INPUTS = GENERATOR.random((12, 3))
PAYOFFS = np.sin(4.0 * INPUTS).sum(axis=1) + 0.1 * GENERATOR.standard_normal(12)
POINTS = GENERATOR.random((7, 1))
DECISIONS = GENERATOR.random((5, 2))


def told(model):
    for row, payoff in zip(INPUTS, PAYOFFS, strict=True):
        model.add(row[:2], row[2:], payoff)
    return model


def made(model, contexts=1):
    parameters = BotorchModelParameters.model_validate(stated(model))
    return told(FactoryModel(parameters, 2, contexts))


@pytest.mark.parametrize("sqrt_beta", [1.5, 0.0, -2.0])
def test_a_model_of_our_hyper_parameters_is_our_surface(sqrt_beta):
    lengthscales, output_scale, noise = [0.3, 0.6, 0.9], 1.7, 0.02
    given = {"lengthscales": lengthscales, "output_scale": output_scale, "noise": noise}
    theirs = made({"botorch": "factories.py:settled", "parameters": given}).posterior(np.random.default_rng(1))
    here = Hyperparameters(np.array(lengthscales), output_scale, noise)
    ours = Posterior(joint(2, 1, "squared-exponential"), here, INPUTS, PAYOFFS)
    (one, pull), (other, pull_other) = (
        surface(posterior, POINTS, sqrt_beta).evaluate(DECISIONS) for posterior in (theirs, ours)
    )
    np.testing.assert_allclose(one, other, atol=1e-7)
    weights = np.random.default_rng(2).standard_normal(one.shape)
    np.testing.assert_allclose(pull(weights), pull_other(weights), atol=1e-5)
    np.testing.assert_array_equal(surface(theirs, POINTS, sqrt_beta).payoffs(DECISIONS), one)
    np.testing.assert_array_equal(surface(theirs, POINTS, sqrt_beta).rough(np.array([4, 2])).points, POINTS[[4, 2]])


def test_the_default_is_single_task_gp_as_botorch_fits_it():
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    found = made("botorch-default").posterior(np.random.default_rng(1)).model
    same = made({"botorch": "botorch.models:SingleTaskGP"}).posterior(np.random.default_rng(1)).model
    with torch.random.fork_rng():
        torch.manual_seed(int(np.random.default_rng(1).integers(2**63)))
        wanted = SingleTaskGP(torch.tensor(INPUTS), torch.tensor(PAYOFFS)[:, None])
        fit_gpytorch_mll(ExactMarginalLogLikelihood(wanted.likelihood, wanted))
    for name, value in wanted.state_dict().items():
        assert torch.equal(found.state_dict()[name], value), name
        assert torch.equal(same.state_dict()[name], value), name
    assert type(wanted.covar_module.lengthscale_prior).__name__ == "LogNormalPrior"


def test_a_mixture_over_hyper_parameters_has_the_moments_of_the_mixture():
    from botorch.posteriors.fully_bayesian import GaussianMixturePosterior
    from gpytorch.distributions import MultivariateNormal

    means = torch.tensor([[0.0, 2.0], [1.0, -1.0], [0.5, 0.5]])  # of 3 points by 2 draws of hyper-parameters
    variances = torch.tensor([[1.0, 3.0], [0.5, 0.5], [0.1, 0.2]])
    posterior = GaussianMixturePosterior(MultivariateNormal(means[..., None], variances[..., None, None]))
    mean, variance = moments(posterior)
    torch.testing.assert_close(mean[:, 0, 0], means.mean(dim=1))
    torch.testing.assert_close(variance[:, 0, 0], (variances + means**2).mean(dim=1) - means.mean(dim=1) ** 2)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_takes_a_model_and_goes_on_bit_for_bit(name):
    specified = specification(name, iterations=2, model="botorch-default", search=SEARCH)
    run = seed_run(specified)
    whole = numbers(finished(run))
    assert run.algorithm.reports == ()
    decisions = run.record.arrays["decision"]
    assert ((decisions >= 0.0) & (decisions <= 1.0)).all()
    assert not np.array_equal(
        decisions, finished(seed_run(specification(name, iterations=2, search=SEARCH))).record.arrays["decision"]
    )
    broken, resumed = seed_run(specified), seed_run(specified)
    for _ in range(4):
        broken.play()
    state = broken.state()
    torch.manual_seed(123)  # the caller's draws are no matter
    resumed.restore(state)
    before = torch.get_rng_state()
    assert numbers(finished(resumed)) == whole
    assert torch.equal(torch.get_rng_state(), before)


def test_gp_ucb_gives_its_model_decisions_alone():
    run = after_design("gp-ucb", model="botorch-default", search=SEARCH)
    run.algorithm.ask(run.announced())
    assert run.algorithm.models[0].inputs.shape == (3, 2)


def test_a_model_is_fitted_once_where_a_decision_is_recommended_before_the_next(monkeypatch):
    import botorch.fit

    fits = []
    fit = botorch.fit.fit_gpytorch_mll
    monkeypatch.setattr(botorch.fit, "fit_gpytorch_mll", lambda *given: fits.append(1) or fit(*given))
    run = after_design("sbo-kde", model="botorch-default", search=SEARCH)
    run.algorithm.recommend()
    run.algorithm.ask(run.announced())
    assert len(fits) == 1


@pytest.mark.parametrize(
    ("factory", "given", "message"),
    [
        ("two_outputs", {}, "has 2 outputs; 1 are wanted"),
        ("no_model", {}, "returned int; a BoTorch model is wanted"),
        ("of_inputs_alone", {}, "called with inputs and payoffs, it says: .*takes 1 positional argument"),
    ],
)
def test_a_factory_that_breaks_the_contract_gets_one_line(factory, given, message):
    model = made({"botorch": f"factories.py:{factory}", "parameters": given})
    with pytest.raises(BocuError, match=message) as raised:
        model.posterior(np.random.default_rng(0))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ts-bocu-kde", {"model": "botorch-default"}, "kernel is a product over decisions and contexts"),
        ("drbo-mmd", {"model": "botorch-default", "mmd_kernel": "context-part-of-model"}, "has no such part"),
        ("sbo-kde", {"model": "botorch-defalt"}, "unknown model 'botorch-defalt'; did you mean 'botorch-default'"),
        ("sbo-kde", {"model": {"botorch": "os:system"}}, "'os' is Python's own or a library"),
    ],
)
def test_a_file_that_asks_for_what_is_not_there_gets_one_line(name, parameters, message):
    kind = find("algorithm", name).load()
    with pytest.raises(BocuError, match=message) as raised:
        validate(kind.Parameters, parameters, "file.yaml: algorithms.0.parameters.", Reading(HERE))
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith("file.yaml: algorithms.0.parameters.")


def written(folder, factory):
    """A plan of an experiment file that names a factory beside it."""
    file = folder / "experiment.yaml"
    algorithm = {"name": "gp-ucb", "parameters": {"model": {"botorch": factory}, "search": SEARCH}}
    config = {"name": "own", "seeds": 1, "iterations": 1, "problems": ["ackley"], "algorithms": [algorithm]}
    file.write_text(json.dumps(config))
    return make_plan(config, [file])


def test_a_factory_of_one_s_own_is_known_by_its_code_and_not_by_its_place(tmp_path):
    plans = []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        shutil.copy(HERE / "factories.py", tmp_path / folder / "mine.py")
        plans.append(written(tmp_path / folder, "mine.py:matern"))
    specified, moved = (next(iter(plan.branches.values())).specification for plan in plans)
    assert specified == moved
    fingerprint = plans[0].parameters.run(next(iter(plans[0].branches.values())), 0, 0)["fingerprint"]
    file = tmp_path / "here" / "mine.py"
    file.write_text(file.read_text().replace("smoothness: float = 2.5", "smoothness: float = 1.5"))
    edited = written(tmp_path / "here", "mine.py:matern")
    (branch,) = edited.branches.values()
    assert branch.specification != specified
    assert edited.parameters.run(branch, 0, 0)["fingerprint"] != fingerprint
    streams = Streams(0)
    realisation = build_problem(branch.specification["problem"], {}).realise(streams)
    algorithm = build_algorithm({**branch.specification, "objective": None}, realisation, streams)
    for decision, context in realisation.initial_design(np.random.default_rng(0), 4):
        algorithm.tell(decision, context, realisation.payoff(decision, context))
    algorithm.ask(Round(1))
    assert algorithm.models[0].posterior(np.random.default_rng(0)).model.covar_module.base_kernel.nu == 1.5


def test_the_code_that_plays_models_is_a_root_of_the_runs_that_need_it_alone():
    from bocu.sweep.experiment.fingerprints.fingerprint import definitions

    def modules(model):
        algorithm = {"name": "gp-ucb", "parameters": {"model": model}}
        plan = make_plan({"name": "t", "seeds": 1, "iterations": 1, "problems": ["ackley"], "algorithms": [algorithm]})
        (branch,) = plan.branches.values()
        return definitions(branch.roots)

    assert "bocu.interop.botorch.models" not in modules({})
    reached = modules("botorch-default")["bocu.interop.botorch.models"]
    assert {"single_task_gp", "FactoryModel", "ModelSurface", "seeded"} <= set(reached)
