"""Draw `docs/robustness.png`: what plans of ever more distrust earn in each climate, and print it.

    python docs/make_irrigation_picture.py

Everything is exact but for the seasons, which are few: the tables came with the project, and no run is needed.
"""

import tempfile
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import seaborn as sns
from make_decision_tables import CASES, build
from matplotlib.figure import Figure

from bocu.core.randomness import Streams
from bocu.robust.ambiguity import TotalVariation, worst_case
from bocu.sweep.evaluation.paired_means import PairedMeans, paired_means

PICTURE = Path(__file__).with_name("robustness.png")
RADII = np.linspace(0.0, 1.2, 49)
RADIUS = 0.3
CLIMATES = {
    "observed": "observed 1991 to 2021",
    "historical": "modelled for 1995 to 2014",
    "2040-59": "modelled for 2040 to 2059",
    "2080-99": "modelled for 2080 to 2099",
}
"""Columns of the decision table, and what they are called here."""


class Earned(NamedTuple):
    """What the best plans earn.

    Attributes:
        more: climate -> what the best plan of each of `RADII` earns more than that of radius 0, over its seasons.
        sentence: the same at `RADIUS`, in words.
    """

    more: dict[str, PairedMeans]
    sentence: str


def earned() -> Earned:
    """Find the best plan for every radius, and look at what it earns in every climate."""
    case = CASES["irrigation"]
    with tempfile.TemporaryDirectory() as folder:
        problem = build(case, Path(folder))
        table, reference = problem.payoff_table(Streams(0)), problem.references[0]
    plans = [int(worst_case(table, reference, TotalVariation(radius)).value.argmax()) for radius in RADII]
    assert problem.situations is not None
    laws = dict(zip(case.truths, problem.truths_of_situations, strict=True))
    seasons = {climate: problem.situations.payoffs[:, laws[climate] > 0] for climate in CLIMATES}
    more = {climate: paired_means(own[plans] - own[plans[0]]) for climate, own in seasons.items()}
    at = int(np.argmin(np.abs(RADII - RADIUS)))
    told = []
    for climate, name in CLIMATES.items():
        mean, half = more[climate].mean[at], more[climate].half[at]
        told.append(f"{mean:+.0f} ({mean - half:+.0f} to {mean + half:+.0f}) in the climate {name}")
    usual = seasons["observed"][plans[0]].mean()
    sentence = (
        "Irrigation of potatoes, committed before the season, on a crop model of Suffolk: what the plan that distrusts "
        f"the past (total variation {RADIUS:g}) earns more than the plan that trusts it, in pounds a hectare with 95 % "
        f"intervals, is {', '.join(told)}. As observed the trusting plan earns {usual:,.0f}. The radius was chosen "
        "when these numbers stood."
    )
    return Earned(more, sentence.replace("-", "−"))


def main() -> None:
    """Write the picture and print the sentence."""
    found = earned()
    sns.set_theme(style="ticks", palette="colorblind")
    with mpl.rc_context({"font.size": 9, "axes.titlesize": 9, "axes.labelsize": 9}):
        figure = Figure(figsize=(8.0, 2.7), layout="constrained")
        panels = figure.subplots(1, len(CLIMATES), sharex=True, sharey=True)
        for axes, colour, (climate, name) in zip(panels, sns.color_palette(), CLIMATES.items(), strict=False):
            own = found.more[climate]
            axes.axhline(0.0, color="0.5", linewidth=0.8)
            axes.axvline(RADIUS, color="0.6", linewidth=0.8, linestyle=":")
            axes.step(RADII, own.mean, where="mid", color=colour)
            axes.fill_between(
                RADII, own.mean - own.half, own.mean + own.half, step="mid", color=colour, alpha=0.25, linewidth=0
            )
            axes.set(title=name, xlim=(0.0, RADII[-1]))
        panels[0].set_ylabel("GBP a hectare more than\nthe plan that trusts the past")
        figure.supxlabel("total variation radius that the plan guards against", fontsize=9)
        sns.despine(figure)
        figure.savefig(PICTURE, dpi=130)
    print(found.sentence)


if __name__ == "__main__":
    main()
