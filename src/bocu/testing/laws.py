"""Whether laws of contexts and their shifts keep their promises: what is drawn, weighed and integrated is one law."""

from collections.abc import Mapping

import numpy as np

from bocu.core.errors import BocuError
from bocu.problems.optima import quadrature_rule
from bocu.robust.contexts.estimates import product_grid
from bocu.robust.contexts.laws import JointLaw, Law, LawParameters
from bocu.robust.contexts.shifts import Schedule, Shift, ShiftParameters
from bocu.testing.breaches import Subject, same, subject

_DIMENSIONS = (1, 2)
_DRAWS = 64
_POINTS = 2**12
_TOLERANCE = 0.02  #: Of moments of contexts in the unit cube: quadrature against quasi-random points.


def check_law(what: str | type[Law], parameters: Mapping[str, object] | None = None) -> None:
    """Check a law of contexts of one and two coordinates, or of those that it is defined for.

    Draws lie in the unit cube, are the same for the same generator and take one number a coordinate from it, whatever
    else they take from a copy; they are those before clipping, clipped; a density is 0 or more; quasi-random contexts
    and quadrature have the same moments; weights on a grid sum to 1.

    Args:
        what: as an experiment file may name it, or the class.
        parameters: those that differ from the defaults.

    Raises:
        Breach: a promise is not kept.
    """
    __tracebackhide__ = True
    found = subject("law", what)
    checked = found.parameters(parameters)
    with found.calling("__init__"):
        family: Law = found.kind(checked)
    refused = []
    for dimension in _DIMENSIONS:
        at = Subject(found.entry, found.kind, f"{found.said}: of {dimension} coordinates")
        try:
            with at.calling("over"):
                law = family.over(dimension)
        except AssertionError as error:
            if not isinstance(error.__cause__, BocuError):
                raise
            refused.append(str(error))
            continue
        at.wants(isinstance(law, JointLaw), f"over: found {law!r}; allowed: a bocu.robust.contexts.laws.JointLaw")
        at.wants(law.dimension == dimension, f"over: found a law of {law.dimension} coordinates")
        _check_law(at, law)
    found.wants(len(refused) < len(_DIMENSIONS), "; ".join(refused))


def _check_law(found: Subject, law: JointLaw) -> None:
    dimension = law.dimension
    generator, again, plain = (np.random.default_rng(0) for _ in range(3))
    with found.calling("sample"):
        drawn = law.sample(generator, _DRAWS)
        found.wants(same(drawn, law.sample(again, _DRAWS)), "sample: the same generator draws other contexts")
    found.wants(drawn.shape == (_DRAWS, dimension), f"sample: found shape {drawn.shape}")
    inside = np.isfinite(drawn).all() and drawn.min() >= 0.0 and drawn.max() <= 1.0
    found.wants(inside, "sample: a context lies outside of the unit cube")
    plain.random((_DRAWS, dimension))
    untouched = generator.bit_generator.state == plain.bit_generator.state
    found.wants(untouched, f"sample: takes other than {dimension} numbers a context: later contexts are not paired")
    uniforms = np.random.default_rng(1).random((_DRAWS, law.uniforms))
    with found.calling("unclipped"):
        clipped = np.clip(law.unclipped().transform(uniforms), 0.0, 1.0)
    found.wants(np.allclose(clipped, law.transform(uniforms)), "unclipped: its contexts, clipped, are others")
    if law.support is None:
        with found.calling("density"):
            density = np.asarray(law.density(drawn))
        sound = density.shape == (_DRAWS,) and np.isfinite(density).all() and density.min() >= 0.0
        found.wants(sound, f"density: found {density}; allowed: {_DRAWS} numbers, 0 or more")
    with found.calling("points"):
        points = law.points(_POINTS, np.random.default_rng(2))
    with found.calling("quadrature"):
        rule = quadrature_rule(law)
    found.wants(abs(rule.weights.sum() - 1.0) <= _TOLERANCE, f"quadrature: the mass is {rule.weights.sum():.3g}, not 1")
    for power in (1, 2):
        apart = np.abs((points**power).mean(axis=0) - rule.weights @ rule.points**power).max()
        found.wants(apart <= _TOLERANCE, f"draws and density are of two laws: moment {power} is {apart:.3g} apart")
    grid = product_grid(np.zeros(dimension), np.ones(dimension), 50)
    with found.calling("weights_on"):
        weights = law.weights_on(grid)
    sums = weights.shape == (len(grid),) and weights.min() >= 0.0 and abs(weights.sum() - 1.0) <= 1e-8
    found.wants(sums, f"weights_on: they sum to {weights.sum():.6g}, the least is {weights.min():.3g}")


def check_shift(
    what: str | type[Shift],
    parameters: Mapping[str, object] | None = None,
    *,
    base: str | Mapping[str, object] = "normal",
    rounds: int = 20,
) -> None:
    """Check a shift of a law of one coordinate.

    Every round has a law, within the box, and a law that is announced; it is the same whenever it is asked for; before
    the first round that it names it is the stated one, which stays as it is.

    Args:
        what: as an experiment file may name it, or the class.
        parameters: those that differ from the defaults.
        base: the law that is shifted, as an experiment file states it.
        rounds: to be looked at.

    Raises:
        Breach: a promise is not kept.
    """
    __tracebackhide__ = True
    found = subject("shift", what)
    checked = found.parameters(parameters)
    stated = LawParameters.model_validate(base)
    before = stated.model_dump(mode="json")
    with found.calling("__init__"):
        shift, again = (found.kind(checked) for _ in range(2))
    with found.calling("begins"):
        begins = shift.begins()
    found.wants(isinstance(begins, int) and begins >= 1, f"begins: found {begins!r}; allowed: a round, 1 or more")
    laws = {}
    for t in range(1, rounds + 1):
        for name in ("law", "announced"):
            with found.calling(f"round {t}: {name}"):
                law = getattr(shift, name)(stated, t)
            found.wants(isinstance(law, LawParameters), f"round {t}: {name}: found {law!r}; allowed: LawParameters")
            laws[name, t] = law
        if t < begins:
            found.wants(laws["law", t] == stated, f"round {t}: law: another one before round {begins}, where it begins")
    for (name, t), law in reversed(laws.items()):
        with found.calling(f"round {t}: {name}"):
            found.wants(getattr(again, name)(stated, t) == law, f"round {t}: {name}: another one when asked again")
    found.wants(stated.model_dump(mode="json") == before, "law: writes into the law that it was handed")
    schedule = Schedule(
        stated, ShiftParameters(name=found.entry.called, parameters=checked.model_dump(mode="json")), dimension=1
    )
    for t in range(1, rounds + 1):
        with found.calling(f"round {t}"):
            schedule.law(t)
