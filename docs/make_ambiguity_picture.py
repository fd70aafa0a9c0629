"""Draw `docs/ambiguity-sets.png`: the worst-case value of one payoff vector under every set, and the objectives on it.

Run `python docs/make_ambiguity_picture.py`.
"""

from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from bocu.robust.ambiguity import (
    AmbiguitySet,
    ChiSquared,
    ConditionalValueAtRisk,
    CressieRead,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    ModifiedChiSquared,
    TotalVariation,
    Wasserstein,
    squared_exponential_gram,
    worst_case,
)
from bocu.robust.contexts.estimates import discretised, product_grid
from bocu.robust.objectives.functions import UncertaintyObjective

CONTEXTS = product_grid(0.0, 1.0, 24)
REFERENCE = discretised(lambda c: np.exp(-0.5 * ((c[:, 0] - 0.45) / 0.15) ** 2), CONTEXTS)
PAYOFFS = np.sin(5.0 * CONTEXTS[:, 0] + 0.3) + 0.4 * np.cos(17.0 * CONTEXTS[:, 0])
CURVE, TANGENT, SATISFICING, MARK = "#1b4965", "#ca6702", "#5f8d4e", "#9b2226"


def panels() -> Iterator[tuple[str, AmbiguitySet, float, float]]:
    """Title, set, largest radius shown, beta of MR in units of the radius."""
    yield "total variation", TotalVariation(0.5), 2.0, 0.35
    yield "MMD (lengthscale 0.2)", MaximumMeanDiscrepancy(0.2, squared_exponential_gram(CONTEXTS, 0.2)), 0.9, 0.03
    yield "1-Wasserstein", Wasserstein(0.1, np.abs(CONTEXTS - CONTEXTS.T)), 0.45, 0.03
    yield "modified chi-squared", ModifiedChiSquared(0.6), 4.0, 0.0
    yield "chi-squared", ChiSquared(0.6), 4.0, 0.0
    yield "Kullback-Leibler", KullbackLeibler(0.4), 3.0, 0.0
    yield "Cressie-Read, k = 3", CressieRead(0.6, 3.0), 4.0, 0.0


def draw(axes: Axes, title: str, ambiguity_set: AmbiguitySet, largest: float, beta: float) -> None:
    """One set: v(epsilon), its tangent at epsilon, and where the objectives lie."""
    radii = np.concatenate([[0.0], np.geomspace(1e-4 * largest, largest, 300)])
    axes.plot(radii, ambiguity_set.values_at(PAYOFFS, REFERENCE, radii), color=CURVE, lw=2)
    answer = worst_case(PAYOFFS, REFERENCE, ambiguity_set)
    mean, lowest = float(PAYOFFS @ REFERENCE), float(PAYOFFS.min())
    wide = np.array([0.0, 1.9 * ambiguity_set.epsilon])
    axes.plot(wide, answer.value + answer.slope * (wide - ambiguity_set.epsilon), color=TANGENT, lw=1, ls="--")
    axes.plot(ambiguity_set.epsilon, answer.value, "o", color=TANGENT, ms=5)
    axes.annotate("DRO, slope", (ambiguity_set.epsilon, answer.value), (4, 5), textcoords="offset points", fontsize=8)
    axes.plot(0.0, mean, "s", color=MARK, ms=5, clip_on=False)
    axes.annotate("SO", (0.0, mean), (5, 3), textcoords="offset points", fontsize=8)
    axes.axhline(lowest, color=MARK, lw=0.8, ls=":")
    axes.annotate("RO", (largest, lowest), (-16, 3), textcoords="offset points", fontsize=8)
    tau = lowest + 0.75 * (mean - lowest)
    k = float(UncertaintyObjective.rs(ambiguity_set, tau)(PAYOFFS, REFERENCE))
    reach = min(largest, (tau - lowest) / -k)
    axes.plot([0.0, reach], [tau, tau + k * reach], color=SATISFICING, lw=1, ls="-.")
    axes.annotate("RS", (0.8 * reach, tau + 0.8 * k * reach), (-4, -11), textcoords="offset points", fontsize=8)
    slope = float(UncertaintyObjective.wcs(ambiguity_set)(PAYOFFS, REFERENCE))
    if np.isinf(slope):
        axes.annotate("WCS = -inf", (0.0, mean), (28, 3), textcoords="offset points", fontsize=8, color=MARK)
    else:
        foot = min(largest, (mean - lowest) / -slope)
        axes.plot([0.0, foot], [mean, mean + slope * foot], color=MARK, lw=1)
        axes.annotate(f"WCS = {slope:.3g}", (0.0, mean), (28, 3), textcoords="offset points", fontsize=8, color=MARK)
        if beta:
            axes.plot(beta, mean + beta * slope, "^", color=MARK, ms=5)
            axes.annotate("MR", (beta, mean + beta * slope), (-17, -8), textcoords="offset points", fontsize=8)
    axes.set(title=title, xlabel="radius", xlim=(0, largest), ylim=(lowest - 0.12, mean + 0.22))


def draw_cvar(axes: Axes) -> None:
    """CVaR over alpha."""
    alphas = np.linspace(0.005, 1.0, 200)
    values = [float(worst_case(PAYOFFS, REFERENCE, ConditionalValueAtRisk(a)).value) for a in alphas]
    axes.plot(alphas, values, color=CURVE, lw=2)
    mean, lowest = float(PAYOFFS @ REFERENCE), float(PAYOFFS.min())
    axes.plot(1.0, mean, "s", color=MARK, ms=5, clip_on=False)
    axes.annotate("SO", (1.0, mean), (-17, 3), textcoords="offset points", fontsize=8)
    axes.axhline(lowest, color=MARK, lw=0.8, ls=":")
    axes.annotate("RO", (0.0, lowest), (3, 3), textcoords="offset points", fontsize=8)
    axes.set(title="CVaR", xlabel="alpha", xlim=(0, 1), ylim=(lowest - 0.12, mean + 0.22))


def main() -> None:
    """Draw and save."""
    figure, grid = plt.subplots(2, 4, figsize=(12, 5.6), layout="constrained")
    *first, last = grid.ravel()
    for axes, panel in zip(first, panels(), strict=True):
        draw(axes, *panel)
    draw_cvar(last)
    for axes in grid[:, 0]:
        axes.set_ylabel("worst-case value")
    figure.savefig(Path(__file__).with_name("ambiguity-sets.png"), dpi=90, metadata={"Software": None})


if __name__ == "__main__":
    main()
