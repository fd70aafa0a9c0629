"""What was asked before changes no bit of an answer: everything asked twice and in two orders, in one process."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from acquisition.gaussian_posteriors import STRUCTURES, posterior
from ambiguity.cases import make_set
from played import finished
from test_our_own import BOTORCH, FROM_FILES, NEEDED, PEERS, SLOW, names, needed

import bocu.learners.acquisition
from bocu.core.kernels import Matern52, SquaredExponential
from bocu.core.randomness import Streams
from bocu.core.rounds import FiniteDomain
from bocu.learners.acquisition.base import Functional, Surface, SurfaceAcquisition
from bocu.learners.acquisition.functionals import (
    ExpectedValue,
    MeanLessDeviation,
    MeanLessRange,
    MinimumValue,
    ObjectiveValue,
    SampledTotalVariation,
    SlopePenalty,
    Stencil,
    WorstCaseValue,
)
from bocu.learners.acquisition.minimax import Chord, MinimaxFunctional, PublishedMinimax
from bocu.learners.acquisition.multistart import maximise
from bocu.learners.acquisition.surfaces import SampledSurface, WeightedSurface, surface
from bocu.learners.surrogates.box_time_varying import BoxPosteriors, BoxPrior, ConstantMean
from bocu.learners.surrogates.continuous.model import ContinuousGP
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.learners.surrogates.pathwise import PathwiseSampler
from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior
from bocu.problems.base import Realisation
from bocu.robust.ambiguity import KullbackLeibler, worst_case
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.runs.seed_run import SeedRun, build_problem
from bocu.testing.breaches import subject
from bocu.testing.games import game, run_specification, stated

Questions = dict[str, Callable[[], object]]
"""What is asked of objects that stay, by a name; answers are arrays, numbers, or sequences and mappings of them."""


def differing(questions: Callable[[], Questions]) -> list[str]:
    """Ask in order, the same objects backwards, and new ones backwards; return whose answers differ in a bit."""
    asked, anew = questions(), questions()
    assert len(asked) > 1
    first = {name: bits(ask()) for name, ask in asked.items()}
    second = {name: bits(ask()) for name, ask in reversed(asked.items())}
    third = {name: bits(ask()) for name, ask in reversed(anew.items())}
    return [name for name in first if not first[name] == second[name] == third[name]]


def bits(answer: object) -> object:
    if isinstance(answer, Mapping):
        return {key: bits(value) for key, value in answer.items()}
    if isinstance(answer, tuple | list):
        return [bits(value) for value in answer]
    array = np.asarray(answer)
    return array.dtype.str, array.shape, array.tobytes()


CONTEXTS = np.random.default_rng(0).random((9, 2))
REFERENCES = {
    "whole": np.random.default_rng(1).dirichlet(np.ones(9)),
    "with holes": np.array([0.2, 0.0, 0.1, 0.0, 0.4, 0.1, 0.0, 0.0, 0.2]),
}
TABLES = {rows: np.random.default_rng(rows).normal(size=(rows, 9)) for rows in (1, 5, 40)}
RADII = (0.0, 0.05, 0.4, 3.0)


def of_set(name: str) -> Questions:
    found = subject("set", name)
    built = found.kind.stated(found.parameters({"name": name, **NEEDED.get(name, {})}), CONTEXTS)
    questions: Questions = {}
    for said, p in REFERENCES.items():
        for rows, table in TABLES.items():
            if rows > 5 and name in SLOW:
                continue
            where = f"{said}, {rows} rows"
            for radius in RADII if built.has_radius else RADII[:1]:
                sized = built.with_epsilon(radius)
                questions |= {
                    f"values at {radius}, {where}": lambda s=sized, f=table, p=p: s.values(f, p),
                    f"worst case at {radius}, {where}": lambda s=sized, f=table, p=p: whole(worst_case(f, p, s)),
                }
            if built.has_radius:
                questions |= {
                    f"values at radii, {where}": lambda f=table, p=p: built.values_at(f, p, [0.1, 0.3]),
                    f"satisficing, {where}": lambda f=table, p=p: built.satisficing(f, p, -0.3),
                }
    return questions


def whole(answer: object) -> list[object]:
    return [value for name in type(answer).__slots__ if (value := getattr(answer, name)) is not None]


@pytest.mark.parametrize("name", names("set"))
def test_sets(name):
    assert differing(lambda: of_set(name)) == []


SAMPLES = 30
AXIS = np.linspace(0.0, 1.0, SAMPLES)[:, None]
SETS = {kind: make_set(kind, 0.4, AXIS, lengthscale=0.1) for kind in ("tv", "mmd", "wass", "chi2mod")}
FULL = np.random.default_rng(1).dirichlet(np.ones(SAMPLES))
PARTIAL = np.bincount([3, 4, 9, 10, 10, 14, 15, 21], minlength=SAMPLES) / 8
FUNCTIONALS: dict[str, Callable[[], Functional]] = {
    "expectation": ExpectedValue,
    "expectation under a reference": lambda: ExpectedValue(FULL),
    "minimum": MinimumValue,
    "sampled total variation": lambda: SampledTotalVariation(0.3, 20),
    "deviation": lambda: MeanLessDeviation(0.2, FULL),
    "range": lambda: MeanLessRange(0.2, FULL),
    "slope": lambda: SlopePenalty(0.1, SAMPLES - 4, Stencil.around(np.array([[0.2], [0.6]]), 0.01, np.ones(1))),
    "satisficing": lambda: ObjectiveValue(UncertaintyObjective.rs(KullbackLeibler(0.1), -0.6), FULL),
    "mean and risk": lambda: ObjectiveValue(UncertaintyObjective.mr(SETS["mmd"], 0.5), PARTIAL),
    **{f"worst case, {name}": lambda s=s: WorstCaseValue(s, PARTIAL) for name, s in SETS.items()},
    **{f"chord, {name}": lambda s=s: Chord(s, PARTIAL) for name, s in SETS.items()},
    "minimax as published": lambda: PublishedMinimax(Chord(SETS["mmd"], PARTIAL), 0.1),
    **{f"minimax, {name}": lambda s=s: MinimaxFunctional(s, PARTIAL) for name, s in SETS.items()},
}


def of_functionals() -> Questions:
    tables = [np.random.default_rng(rows).normal(size=(rows, SAMPLES)).cumsum(axis=1) for rows in (20, 21, 22, 3)]
    made = {name: make() for name, make in FUNCTIONALS.items()}
    return {
        f"{name}, {len(table)} rows": lambda f=functional, u=table: f(u)
        for name, functional in made.items()
        for table in tables
    }


def test_functionals():
    assert differing(of_functionals) == []


def of_acquisition() -> set[type]:
    path = bocu.learners.acquisition.__path__, "bocu.learners.acquisition."
    modules = [importlib.import_module(each.name) for each in pkgutil.iter_modules(*path)]
    return {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}


def test_functionals_are_all():
    used = {type(make()) for make in FUNCTIONALS.values()}
    assert {kind for kind in of_acquisition() if issubclass(kind, Functional) and kind is not Functional} == used


def surfaces() -> dict[str, Surface]:
    made: dict[str, Surface] = {}
    for name, structure in STRUCTURES.items():
        given, points = posterior(structure), np.tile(AXIS, structure.contexts)
        made[name] = surface(given, points, 1.5)
        made[f"weighted {name}"] = WeightedSurface([made[name], surface(given, points, -0.5)], np.array([0.4, 0.6]))
        if structure.separable:
            waves = given.prior_sample(64, np.random.default_rng(6))
            made[f"sampled {name}"] = SampledSurface(given, points, waves, np.ones(len(given.inputs)))
    return made


SEARCHED = ("squared-exponential 2+1", "sampled matern 2+1")


def of_surfaces() -> Questions:
    questions: Questions = {}
    for name, shown in surfaces().items():
        for rows in (1, 3, 40):
            decisions, weights = np.random.default_rng(rows).random((rows, shown.dimension)), np.ones((rows, SAMPLES))
            questions |= {
                f"payoffs, {name}, {rows} rows": lambda s=shown, x=decisions: s.payoffs(x),
                f"gradient, {name}, {rows} rows": lambda s=shown, x=decisions, w=weights: s.evaluate(x)[1](w),
            }
        for kind in ("expectation", "minimax, mmd") if name in SEARCHED else ():
            climbed = SurfaceAcquisition(shown, FUNCTIONALS[kind]())
            for seed in (0, 1):
                questions[f"{kind}, {name}, search {seed}"] = lambda a=climbed, seed=seed: best_point(a, seed)
    return questions


def best_point(acquisition: SurfaceAcquisition, seed: int) -> list[object]:
    found = maximise(acquisition, np.random.default_rng(seed), raw=32, restarts=6)
    return [found.decision, found.value]


def test_surfaces_and_searches():
    assert differing(of_surfaces) == []
    used = {type(each) for each in surfaces().values()}
    assert {kind for kind in of_acquisition() if issubclass(kind, Surface) and not kind.__abstractmethods__} == used


LINE = np.linspace(0.0, 1.0, 21)[:, None]


def of_surrogates() -> Questions:
    contexts = np.array([[0.0], [0.3], [1.0]])
    prior = GridPrior(LINE, contexts, Matern52((0.2,)), SquaredExponential((0.5,)), variance=1.5, noise=0.1)
    grid, pathwise = GridPosterior(prior), PathwiseSampler(prior)
    still = [
        TimeVaryingPrior(label, np.full(len(LINE), mean), SquaredExponential((0.2,))(LINE, LINE), forgetting)
        for label, mean, forgetting in (("still", 0.0, 0.0), ("moving", 1.0, 0.2))
    ]
    over_box = [BoxPrior(each.label, ConstantMean(0.4), Matern52((0.2,)), 1.5, each.forgetting) for each in still]
    arms, box = TimeVaryingPosteriors(still, 0.1), BoxPosteriors(over_box, 0.1)
    model = ContinuousGP(STRUCTURES["mixed 3+1"])
    generator = np.random.default_rng(0)
    for t in range(1, 13):
        arm, value = int(generator.integers(len(LINE))), float(generator.standard_normal())
        grid.add(arm, t % 3, value)
        arms.observe(arm, t, value)
        box.observe(LINE[arm], t, value)
        model.add(generator.random(3), generator.random(1), value)
    some = np.array([3, 8, 20])
    return {
        "grid, mean of some": lambda: grid.mean_of(some),
        "grid, variance of some": lambda: grid.variance_of(some),
        "grid, evidence": lambda: (grid.log_evidence(), grid.log_determinant()),
        "grid, mean": lambda: grid.mean().copy(),
        "grid, deviation": lambda: grid.deviation().copy(),
        "grid, state": lambda: {name: grid.state()[name] for name in ("factor", "values")},
        "grid, draw": lambda: pathwise.draw(grid, np.random.default_rng(1)),
        "grid, draw of the prior": lambda: pathwise.draw_prior(np.random.default_rng(2)),
        "arms, now": lambda: arms.predict(12),
        "arms, later": lambda: arms.predict(20),
        "arms, evidence": lambda: arms.log_evidence,
        "box, now": lambda: box.predict([0, 1], LINE, 12),
        "box, later": lambda: box.predict([1], LINE[:4], 19),
        "box, evidence": lambda: box.log_evidence,
        "model, glance": lambda: model.glance(np.random.default_rng(4)).moments(np.full((2, 4), 0.4)),
        "model, another glance": lambda: model.glance(np.random.default_rng(5)).moments(np.full((1, 4), 0.7)),
    }


def test_surrogates():
    assert differing(of_surrogates) == []


def of_problem(name: str) -> Questions:
    specification = stated("problem", name, {})
    problem = build_problem(specification, {})
    met = {seed: problem.realise(Streams(seed)) for seed in (0, 1)}
    finite = isinstance(met[0].description.decisions, FiniteDomain)
    questions: Questions = {}
    for seed, shown in met.items():
        for t in (1, 2, 5):
            if finite:
                questions[f"payoffs of round {t}, seed {seed}"] = lambda s=shown, t=t: s.payoffs(t).copy()
            questions[f"observation in round {t}, seed {seed}"] = lambda s=shown, t=t: observed(s, t)
    return questions


def observed(shown: Realisation, t: int) -> object:
    generator, decision, context = np.random.default_rng(0), 0, t
    if not isinstance(shown.description.decisions, FiniteDomain):
        decision = 0.4 * shown.description.decisions.lower + 0.6 * shown.description.decisions.upper
    if shown.description.protocol != "time-varying":
        context = shown.draw_context(t, generator)
    return context, shown.observe(decision, context, shown.payoff_at(t, decision, context), generator)


@pytest.mark.parametrize("name", [each for each in names("problem") if each.values[0] not in FROM_FILES])
def test_problems(name):
    assert differing(lambda: of_problem(name)) == []


PROTOCOLS = {"time-varying", "general", "data-driven", "simulator", "continuous", "scalarised"}
PURSUED = (
    ("so", {}),
    ("dro", {"set": {"name": "mmd", "radius": 0.2}}),
    ("ro", {}),
    ("var", {"alpha": 0.2}),
    ("dro", {"set": {"name": "cvar", "alpha": 0.2}}),
    ("dro", {"set": {"name": "chi2mod", "radius": 0.2}}),
)


def of_learner(name: str) -> Questions:
    found = subject("algorithm", name)
    parameters = found.parameters(needed(name))
    questions: Questions = {}
    for protocol in PROTOCOLS.intersection(found.kind.protocols):
        problem = build_problem(game(protocol), {})
        pursued = None
        if found.kind.pursues(protocol):
            fitting = [
                stated("objective", objective, given)
                for objective, given in PURSUED
                if not parameters.unfit(objective, subject("objective", objective).parameters(given))
            ]
            pursued = fitting[-1]
        specification = run_specification(game(protocol), found.specification(parameters), pursued, 3)
        for seed in (0, 1):
            questions[f"{protocol}, seed {seed}"] = lambda p=problem, s=specification, seed=seed: played(s, p, seed)
    return questions


def played(specification: dict, problem: object, seed: int) -> dict[str, np.ndarray]:
    run = finished(SeedRun(specification, problem, seed))
    return {name: values for name, values in run.record.arrays.items() if name != "seconds"}


# Of those whose models outlive a decision.
@pytest.mark.parametrize("name", [each for each in names("algorithm") if each.values[0] not in {*BOTORCH, *PEERS}])
def test_learners(name):
    assert differing(lambda: of_learner(name)) == []
