"""The pictures of the methods' pages, drawn while the site is built: each is made by the library, none by hand."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import seaborn as sns
from matplotlib.figure import Figure

import bocu
from bocu.core.errors import BocuError
from bocu.learners.algorithms.base import Algorithm, Description
from bocu.learners.surrogates.time_varying import TimeVaryingPrior
from bocu.robust.ambiguity import squared_exponential_gram
from bocu.robust.contexts.estimates import discretised, product_grid
from bocu.robust.objectives.functions import DistributionallyRobust

TEXT = "#808080"  # legible on white and on black
THEME = {
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.transparent": True,
    "font.size": 9,
    "svg.hashsalt": "bocu",
}
ROUNDS = 40
SLOW = ("ax", "botorch-acquisition", "mars", "minimax-continuous", "optuna", "qkg", "qlognei", "qnehvi", "xopt")
SLOW_ROUNDS = 12  # of those
FEW_STARTS = {"search": {"raw": 32, "restarts": 1}}  # for one decision, in a picture
GIVEN: Mapping[str, Mapping[str, Any]] = {  # where a parameter is required, or the default takes minutes
    "constant": {"decision": 20},
    "botorch-acquisition": {"acquisition": "qLogNoisyExpectedImprovement", **FEW_STARTS},
    **dict.fromkeys(("mars", "qkg", "qlognei", "qnehvi"), FEW_STARTS),
}
STOCK, DEMAND = np.linspace(0.0, 1.0, 41), np.linspace(0.0, 1.0, 21)
FORECAST = discretised(lambda c: np.exp(-0.5 * ((c[:, 0] - 0.65) / 0.18) ** 2), DEMAND[:, None])

CONTEXTS = product_grid(0.0, 1.0, 24)
REFERENCE = discretised(lambda c: np.exp(-0.5 * ((c[:, 0] - 0.45) / 0.15) ** 2), CONTEXTS)
PAYOFFS = np.sin(5.0 * CONTEXTS[:, 0] + 0.3) + 0.4 * np.cos(17.0 * CONTEXTS[:, 0])


def payoff(stock: Any, demand: Any) -> Any:
    """Return the profit of an order that costs half of what a sold piece brings."""
    return 2.0 * np.minimum(stock, demand) - stock


def ambiguity_set(name: str, radius: float) -> bocu.AmbiguitySet | None:
    """Return a set of such a radius over the contexts of the pictures; None for what a user has to state in full."""
    if name == "mmd":
        return bocu.MaximumMeanDiscrepancy(radius, squared_exponential_gram(CONTEXTS, 0.2))
    if name == "wass":
        return bocu.Wasserstein(radius, np.abs(CONTEXTS - CONTEXTS.T))
    if name == "cr":
        return bocu.CressieRead(radius, 3.0)
    if name == "cvar":
        return bocu.ConditionalValueAtRisk(max(1.0 - radius, 0.02))
    plain = {
        "tv": bocu.TotalVariation,
        "chi2": bocu.ChiSquared,
        "chi2mod": bocu.ModifiedChiSquared,
        "kl": bocu.KullbackLeibler,
    }
    return plain[name](radius) if name in plain else None


RADII = {"tv": 1.6, "mmd": 0.8, "wass": 0.35, "chi2": 3.0, "chi2mod": 3.0, "kl": 2.0, "cr": 3.0, "cvar": 0.95}


def draw_set(name: str, target: Path) -> bool:
    """Draw the worst distributions at three radii, and the value against the radius; return whether there is one."""
    if name not in RADII:
        return False
    radii = np.linspace(0.0, RADII[name], 60)
    shades = sns.color_palette("flare", 3)
    with mpl.rc_context(THEME):
        figure = Figure(figsize=(8.0, 2.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.fill_between(CONTEXTS[:, 0], REFERENCE, color=TEXT, alpha=0.25, label="reference")
        values = [float(bocu.worst_case(PAYOFFS, REFERENCE, ambiguity_set(name, r)).value) for r in radii]
        unit = "1 - alpha" if name == "cvar" else "radius"
        for shade, place in zip(shades, (6, 15, 30), strict=True):
            answer = bocu.worst_case(PAYOFFS, REFERENCE, ambiguity_set(name, radii[place]))
            left.plot(CONTEXTS[:, 0], answer.distribution, color=shade, label=f"worst, {unit} {radii[place]:.2g}")
            right.plot(radii[place], values[place], "o", color=shade)
        above = left.twinx()
        above.plot(CONTEXTS[:, 0], PAYOFFS, color=TEXT, linestyle=":", linewidth=1)
        above.set_ylabel("payoff (dotted)")
        left.set(xlabel="context", ylabel="probability")
        left.legend(frameon=False, fontsize=8)
        sns.lineplot(x=radii, y=values, ax=right, color=TEXT, zorder=0)
        right.set(xlabel=unit, ylabel="worst expectation")
        figure.savefig(target)
    return True


def objectives() -> dict[str, bocu.UncertaintyObjective]:
    """Return one of each objective, under total variation."""
    tv, made = bocu.TotalVariation(0.4), bocu.UncertaintyObjective
    return {
        "so": made.so(),
        "ro": made.ro(),
        "dro": made.dro(tv),
        "wcs": made.wcs(tv),
        "mr": made.mr(tv, 0.3),
        "gen": made.gen(tv, 1.0, 0.2),
        "rs": made.rs(tv, 0.2),
        "var": made.var(0.2),
    }


def draw_objective(name: str, target: Path) -> bool:
    """Draw the objective of every order of a newsvendor, and where it is largest."""
    if name not in objectives():
        return False
    payoffs = payoff(STOCK[:, None], DEMAND[None, :])
    values = np.asarray(objectives()[name](payoffs, FORECAST))
    expected = payoffs @ FORECAST
    with mpl.rc_context(THEME):
        figure = Figure(figsize=(6.0, 2.9), layout="constrained")
        axes = figure.subplots()
        axes.plot(STOCK, payoffs[:, ::4], color=TEXT, alpha=0.25, linewidth=0.8)
        sns.lineplot(x=STOCK, y=expected, ax=axes, color=TEXT, linestyle="--", label="expectation")
        finite = np.isfinite(values)
        sns.lineplot(x=STOCK[finite], y=values[finite], ax=axes, color="#ca6702", label=name)
        best = int(np.argmax(np.where(finite, values, -np.inf)))
        axes.plot(STOCK[best], values[best], "o", color="#ca6702", clip_on=False)
        axes.set(xlabel="order (thin: profit at one demand)", ylabel="value")
        axes.legend(frameon=False, fontsize=8)
        figure.savefig(target)
    return True


def draw_algorithm(name: str, target: Path) -> bool:
    """Draw what an algorithm decides in a game against the world; return whether it plays one of ours."""
    played = game(name)
    if played is None:
        return False
    made, decisions, contexts, surface = played
    with mpl.rc_context(THEME):
        figure = Figure(figsize=(8.0, 2.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        rounds = np.arange(1, len(decisions) + 1)
        points: dict[str, Any] = {"c": rounds, "cmap": "flare", "s": 16, "edgecolors": TEXT, "linewidths": 0.5}
        left.contourf(*surface, levels=12, cmap="Greys", alpha=0.6)
        drawn = left.scatter(decisions, contexts, **points, zorder=2)
        left.set(xlabel=made[0], ylabel=made[1], title="decisions and what they met; dark: payoff")
        figure.colorbar(drawn, ax=left, label="round")
        right.scatter(rounds, decisions, **points)
        right.set(xlabel="round", ylabel=made[0], title="decisions in order")
        figure.savefig(target)
    return True


Played = tuple[tuple[str, str], list[float], list[float], tuple[np.ndarray, np.ndarray, np.ndarray]]


def game(name: str) -> Played | None:
    """Play what an algorithm is defined for: a newsvendor's table, his box, two sellers, or arms that change."""
    several = bocu.algorithm(name).protocols == ("scalarised",)
    for play in (_outputs, _table, _box, _arms) if several else (_table, _box, _arms):
        try:
            return play(name)
        except BocuError:
            continue
    return None


def _stated() -> Iterator[Any]:
    """Objectives to build an algorithm with: none, or the worst expectation, on a grid or as a file states it."""
    yield None
    made = bocu.UncertaintyObjective
    yield from (made.dro(bocu.TotalVariation(0.4)), made.dro(bocu.ConditionalValueAtRisk(0.2)), made.var(0.2))
    yield DistributionallyRobust(DistributionallyRobust.Parameters(set={"name": "tv", "radius": 0.4}))


def _learner(name: str, decisions: Any, contexts: Any, **given: Any) -> Algorithm:
    refused: BocuError | None = None
    for objective in _stated():
        try:
            return bocu.learner(name, decisions, contexts, objective, **given, **GIVEN.get(name, {}))
        except BocuError as error:
            refused = error
    assert refused is not None
    raise refused


def _table(name: str) -> Played:
    made = _learner(name, STOCK, DEMAND, noise=0.05, lengthscale=0.3)
    return _played(made, name, STOCK, lambda x, c: payoff(x, c))


def _outputs(name: str) -> Played:
    made = _learner(name, _box_of("order"), DEMAND, noise=0.05, outputs=2)
    return _played(made, name, None, lambda x, c: np.array([payoff(x, c), 1.0 - abs(x - c)]))


def _box(name: str) -> Played:
    order = _box_of("order")
    demand = _box_of("demand")
    made = _learner(name, order, demand, noise=0.05)
    rng = np.random.default_rng(0)
    decisions, contexts = [], []
    for t in range(-3, (SLOW_ROUNDS if name in SLOW else ROUNDS) + 1):
        x = rng.random(1) if t < 1 else np.asarray(made.ask(bocu.Round(t=t)))
        c = np.clip(rng.normal(0.65, 0.18, 1), 0.0, 1.0)
        made.tell(x, c, float(payoff(x, c)[0] + 0.05 * rng.normal()))
        if t > 0:
            decisions.append(float(x[0]))
            contexts.append(float(c[0]))
    return ("order", "demand"), decisions, contexts, _surface(lambda x, c: payoff(x, c))


def _played(made: Algorithm, name: str, table: np.ndarray | None, world: Any) -> Played:
    rng = np.random.default_rng(0)
    decisions, contexts = [], []
    for t in range(-3, (SLOW_ROUNDS if name in SLOW else ROUNDS) + 1):
        weights = rng.dirichlet(np.ones(2))
        announced = weights if made.description.outputs > 1 else None
        round = bocu.Round(t=max(t, 1), reference=FORECAST, weights=announced)
        if t < 1:
            chosen = int(rng.integers(len(table))) if table is not None else rng.random(1)
        else:
            chosen = made.ask(round)
        if isinstance(chosen, tuple):  # the simulator's protocol: it chooses the context too
            chosen = chosen[0]
        c = int(rng.choice(len(DEMAND), p=FORECAST))
        x = float(table[chosen]) if table is not None else float(np.ravel(chosen)[0])
        value = world(x, DEMAND[c])
        made.tell(chosen, c, value + 0.05 * rng.normal(size=np.shape(value)))
        if t > 0:
            decisions.append(x)
            contexts.append(float(DEMAND[c]))
    return ("order", "demand"), decisions, contexts, _surface(lambda x, c: payoff(x, c))


def _arms(name: str) -> Played:
    """Two beliefs about where a drifting hill stands, one of them right."""
    arms = np.linspace(0.0, 1.0, 50)
    covariance = 0.05 * np.exp(-((arms[:, None] - arms[None, :]) ** 2) / (2 * 0.1**2))
    beliefs = [
        TimeVaryingPrior(belief, np.exp(-((arms - peak) ** 2) / 0.02), covariance)
        for belief, peak in (("left", 0.25), ("right", 0.75))
    ]
    from bocu.core.rounds import FiniteDomain

    contexts = FiniteDomain(np.arange(1.0, ROUNDS + 1)[:, None], ("time",), ("1",))
    description = Description(
        FiniteDomain(arms[:, None], ("place",), ("1",)), contexts, 0.1, "time-varying",
        priors=beliefs, best_prior=beliefs[1],
    )  # fmt: skip
    kind = bocu.algorithm(name)
    made = kind(description, None, kind.Parameters(), np.random.default_rng(0))
    rng, decisions = np.random.default_rng(0), []
    hill = lambda x, t: np.exp(-((x - 0.75 - 0.1 * np.sin(t / 6.0)) ** 2) / 0.02)  # noqa: E731
    for t in range(1, ROUNDS + 1):
        arm = made.ask(bocu.Round(t=t))
        made.tell(arm, t, float(hill(arms[arm], t) + 0.1 * rng.normal()))
        decisions.append(float(arms[arm]))
    grid = np.arange(1.0, ROUNDS + 1)
    surface = (arms, grid, hill(arms[None, :], grid[:, None]))
    return ("place", "time"), decisions, list(grid), surface


def _box_of(name: str) -> bocu.BoxDomain:
    return bocu.BoxDomain(np.zeros(1), np.ones(1), (name,), ("1",))


def _surface(world: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return STOCK, DEMAND, world(STOCK[None, :], DEMAND[:, None])
