"""The worst expectation of one decision against the radius, and what every objective is of it.

After Tay et al. (2024, figure 1), who draw a diagram; this is a decision of a problem. SO, DRO, RO and MR are heights:
of the curve at radius 0 and at the radius, of the least payoff of all contexts, and of the tangent at 0, as far to the
right as the weight of the slope. WCS and RS are the slopes of lines: of that tangent, and of the least steep line from
the aspiration that stays below the curve.
"""

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import LARGEST_SEED, Integer, Number, Positive
from bocu.core.rounds import CONTEXTUAL, FiniteDomain, Situation
from bocu.pages.figures.base import Drawing, Figure, Inputs
from bocu.pages.figures.realised import ProblemFigureParameters, problem_of
from bocu.pages.figures.results import with_unit
from bocu.robust.ambiguity.parameters import StatedSet, by_default
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.evaluation.one_decision import objectives_of, reach

RADII = 401
"""Points of the curve."""


class WorstExpectationParameters(ProblemFigureParameters):
    """Parameters of `WorstExpectation`."""

    seed: Integer = Field(0, ge=0, le=LARGEST_SEED, description="The seed whose problem is drawn, where seeds differ.")
    set: StatedSet = Field(by_default("tv"), description="Ambiguity set, whose radius is that of DRO.")
    decision: Integer | None = Field(None, ge=0, description="Index of the decision; the best under DRO, if left out.")
    tau: Number | None = Field(
        None,
        description="Aspiration of RS; midway between the expectation and the worst one at the radius, if left out.",
    )
    beta: Positive | None = Field(None, description="Weight of the slope in MR; half the radius, if left out.")


class WorstExpectation(Figure[WorstExpectationParameters]):
    """The worst expectation over the radius, with the objectives as heights and slopes."""

    about = About(
        title="Objectives of a decision",
        summary="worst expectation of one decision against the radius, and the objectives on it",
        paper="Tay et al. 2024, figure 1",
    )
    protocols = CONTEXTUAL
    Parameters = WorstExpectationParameters

    def compose(self, inputs: Inputs) -> Drawing:
        from bocu.core.randomness import Streams

        settings = self.parameters
        problem, label, data_label = problem_of(inputs)
        realisation = problem.realise(Streams(settings.seed))
        contexts = realisation.description.contexts
        assert isinstance(contexts, FiniteDomain)
        table, reference = realisation.payoffs(1), realisation.reference(1)
        ambiguity_set = settings.set.over(contexts.points)
        situation = Situation(1, reference, realisation.truth(1), 0, margin=realisation.margin(1))
        radius = settings.set.epsilon(situation, ambiguity_set)
        if settings.decision is not None and settings.decision >= len(table):
            raise BocuError(f"decision: found {settings.decision}; allowed: 0 to {len(table) - 1}")
        best = UncertaintyObjective.dro(ambiguity_set.with_epsilon(radius)).argmax(table, reference).index
        decision = best if settings.decision is None else settings.decision
        payoffs = table[decision]
        found = objectives_of(payoffs, reference, ambiguity_set, radius, settings.tau, settings.beta)

        picture, axes = style.single(3.2)
        radii = np.linspace(0.0, reach(payoffs, reference, ambiguity_set, max(radius, found["beta"])), RADII)
        curve = ambiguity_set.values_at(payoffs[None], reference, list(radii))[0]
        axes.plot(radii, curve, color=style.BLACK, label="worst expectation")
        low, high = float(curve.min()), float(max(curve.max(), found["tau"]))
        for name, start, slope, colour, dash in (
            ("slope: WCS", found["so"], found["wcs"], style.BLUE, style.DOTTED),
            ("slope: RS", found["tau"], found["rs"], style.GREEN, style.DASH_DOT),
        ):
            if np.isfinite(slope):
                axes.plot(radii, start + slope * radii, color=colour, linestyle=dash, label=name)
        dots = {"SO": (0.0, found["so"]), "DRO": (radius, found["dro"]), "RO": (float(radii[-1]), found["ro"])}
        dots |= {"MR": (found["beta"], found["mr"])} if np.isfinite(found["mr"]) else {}
        for (name, (at, value)), colour in zip(
            dots.items(), (style.BLUE, style.VERMILLION, style.BLACK, style.PURPLE), strict=False
        ):
            axes.plot(at, value, linestyle="none", marker="o", color=colour, label=f"height: {name}", zorder=3)
        spare = 0.08 * max(high - low, 1e-12)
        axes.set_ylim(min(low, found["mr"]) - spare if np.isfinite(found["mr"]) else low - spare, high + spare)
        axes.set(xlabel=f"radius of {settings.set.family.about.title}", ylabel=with_unit("payoff", problem.units))
        style.grid(axes)
        picture.legend(loc="outside lower center", ncols=4)
        told = ", ".join(f"{name.upper()} {found[name]:.3g}" for name in ("so", "dro", "ro", "mr", "wcs", "rs"))
        caption = (
            f"{problem.title}, decision {decision}: the worst expectation over the set against its radius. Heights "
            f"of dots: SO, DRO at radius {radius:.3g}, RO, MR with weight {found['beta']:.3g}; slopes of broken lines: "
            f"WCS and RS at aspiration {found['tau']:.3g}. {told}."
        )
        alternative = (
            f"Line chart of the worst expectation, falling from {found['so']:.3g} at radius 0 to {found['ro']:.3g} at "
            f"{radii[-1]:.3g}, with four dots and two broken lines: {told}."
        )
        return Drawing(picture, "Objectives of a decision", caption, alternative, label, data_label)
