"""What the candidate priors say before any data (Ziomek et al. 2025, figure 3)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core import style
from bocu.core.about import About
from bocu.core.rounds import TIME_VARYING
from bocu.core.written import spoken
from bocu.learners.surrogates.time_varying import TimeVaryingPrior
from bocu.pages.figures import marks
from bocu.pages.figures.base import Drawing, Figure, Inputs, nothing_to_show
from bocu.pages.figures.realised import ArmAxis, OneSeedParameters, arm_axis, realise
from bocu.pages.figures.results import Results, results_of, with_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


class PriorMeans(Figure[OneSeedParameters]):
    """Means of the candidate priors over the decisions; their standard deviations where all means agree."""

    about = About(
        title="Prior means",
        summary="what the candidate priors say before any data",
        paper="Ziomek et al. 2025, figure 3",
    )
    protocols = TIME_VARYING
    finite_decisions = True
    Parameters = OneSeedParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd

        cube = results_of(inputs)
        seed = cube.seeds[0] if self.parameters.seed is None else self.parameters.seed
        description = realise(cube, inputs, seed).description
        if not description.priors:
            return nothing_to_show(cube, "Prior means", "the problem has no candidate priors")
        axis = arm_axis(description.decisions)
        means = np.stack([prior.mean for prior in description.priors if isinstance(prior, TimeVaryingPrior)])
        best = _place(description.priors, description.best_prior)
        if not axis.continuous or np.ptp(means, axis=0).max() == 0:
            return self._deviations(cube, axis, description.priors, best, seed)
        labels = [prior.label for prior in description.priors]
        picture, axes = style.single(2.5)
        for place, (label, mean) in enumerate(zip(labels, means, strict=True)):
            true = place == best
            look = style.BEST_PRIOR if true else {"color": style.GREY, "linewidth": 0.9}
            axes.plot(axis.positions, mean, zorder=2.5 if true else 2, **look)
            top = int(np.argmax(mean))
            axes.annotate(f"{label} (true)" if true else label, (axis.positions[top], mean[top]), (0, 2),
                          textcoords="offset points", ha="center", va="bottom", fontsize=7,
                          fontweight="bold" if true else "normal")  # fmt: skip
        axis.tick(axes)
        axes.set_ylabel(with_unit("prior mean of the payoff", cube.units))
        axes.margins(x=0.03, y=0.12)
        style.grid(axes)
        drawn = "" if best is None else f" Solid black: prior {labels[best]}, the one that the payoff is drawn from."
        caption = (
            f"Means of the {len(labels)} candidate priors of {cube.title} over the decisions, each named at its peak."
            f"{drawn}"
        )
        peaks = [
            f"{label} at {axis.positions[int(np.argmax(mean))]:.3g}" for label, mean in zip(labels, means, strict=True)
        ]
        alternative = f"Line chart of {len(labels)} prior means over the decisions. Highest points: {spoken(peaks)}."
        table = pd.concat(
            [pd.DataFrame({"prior": label, "decision": axis.positions, "mean": mean})
             for label, mean in zip(labels, means, strict=True)]
        )  # fmt: skip
        return Drawing(picture, "Prior means", caption, alternative, cube.problem, cube.data_label, table)

    def _deviations(self, cube: Results, axis: ArmAxis, priors: Sequence[Any], best: int | None, seed: int) -> Drawing:
        import pandas as pd

        labels = [prior.label for prior in priors]
        deviations = np.sqrt(np.stack([np.diag(prior.covariance) for prior in priors]))
        picture = self._map(cube, axis, priors, deviations)
        true = "" if best is None else f" The best prior is {labels[best]}."
        rates = [f"{prior.label} {prior.forgetting:.3g}" for prior in priors]
        caption = (
            f"The candidate priors of {cube.title}. Colour: prior standard deviation of each decision (decisions of "
            f"seed {seed}); at the right the prior mean and the rate at which the prior forgets in a round.{true}"
        )
        alternative = (
            f"Heat map of prior standard deviations, {len(labels)} priors by {deviations.shape[1]} decisions, from "
            f"{deviations.min():.3g} to {deviations.max():.3g}. Forgetting rates: {spoken(rates)}."
        )
        table = pd.concat(
            [pd.DataFrame({"prior": label, "decision": axis.positions, "standard_deviation": deviation})
             for label, deviation in zip(labels, deviations, strict=True)]
        )  # fmt: skip
        return Drawing(picture, "Candidate priors", caption, alternative, cube.problem, cube.data_label, table)

    @staticmethod
    def _map(cube: Results, axis: ArmAxis, priors: Sequence[Any], deviations: np.ndarray) -> "Picture":
        picture, axes = style.single(0.9 + 0.2 * len(priors))
        label = with_unit("prior standard deviation", cube.units)
        marks.field(
            axes, axis.positions, np.arange(len(priors)), deviations, label, location="top", aspect=40, pad=0.02
        )
        axes.set_yticks(range(len(priors)), [prior.label for prior in priors])
        axes.invert_yaxis()
        axis.tick(axes)
        axes.set_ylabel("candidate prior")
        for place, prior in enumerate(priors):
            flat = np.ptp(prior.mean) == 0
            told = (f"mean {prior.mean[0]:.4g}, " if flat else "") + f"forgets {prior.forgetting:.2g}"
            axes.text(1.01, place, told, transform=axes.get_yaxis_transform(), va="center", fontsize=6.5)
        return picture


def _place(priors: Sequence[object], wanted: object) -> int | None:
    return next((place for place, prior in enumerate(priors) if prior is wanted), None)
