"""Draw `docs/robustness.png`: what plans of ever more distrust earn in each climate; and print what README opens with.

    python docs/make_readme_picture.py

Everything is exact: the tables came with the project, and no run is needed.
"""

import tempfile
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from make_decision_tables import CASES, build
from matplotlib.figure import Figure

from bocu.ambiguity import TotalVariation, worst_case
from bocu.core.randomness import Streams

PICTURE = Path(__file__).with_name("robustness.png")
RADII = np.linspace(0.0, 1.2, 49)
RADIUS = 0.3
STAYS, COMES = "historical", "2080-99"


class Earned(NamedTuple):
    """What the best plans earn.

    Attributes:
        curves: the mean profit of the plan that is best for a radius, in a climate: columns radius, climate, profit.
        sentence: the same at radius 0 and `RADIUS`, in words.
    """

    curves: pd.DataFrame
    sentence: str


def earned() -> Earned:
    """Find the best plan for every radius, and look at what it earns in every climate."""
    case = CASES["irrigation"]
    with tempfile.TemporaryDirectory() as folder:
        problem = build(case, Path(folder))
        table, reference = problem.payoff_table(Streams(0)), problem.references[0]
    plans = [int(worst_case(table, reference, TotalVariation(radius)).value.argmax()) for radius in RADII]
    assert problem.situations is not None
    seasons = problem.situations.payoffs
    profits = {c: seasons @ law for c, law in zip(case.truths, problem.truths_of_situations, strict=True)}
    climates = [climate for climate in case.truths if climate != "observed"]
    rows = [
        (radius, climate, profits[climate][plan])
        for radius, plan in zip(RADII, plans, strict=True)
        for climate in climates
    ]
    robust = plans[int(np.argmin(np.abs(RADII - RADIUS)))]
    cost = 1.0 - profits[STAYS][robust] / profits[STAYS][plans[0]]
    gain = profits[COMES][robust] / profits[COMES][plans[0]] - 1.0
    sentence = (
        f"On a crop model of potatoes in Suffolk, the irrigation plan that distrusts the past a little costs "
        f"{cost:.1%} while the climate stays as it was, and earns {gain:.0%} more in that of 2080 to 2099."
    )
    return Earned(pd.DataFrame(rows, columns=["radius", "climate", "profit"]), sentence.replace("%", " %"))


def main() -> None:
    """Write the picture and print the sentence."""
    found = earned()
    sns.set_theme(style="ticks", palette="colorblind")
    with mpl.rc_context({"font.size": 10}):
        figure = Figure(figsize=(7.2, 3.0), layout="constrained")
        axes = figure.subplots()
        sns.lineplot(
            found.curves, x="radius", y="profit", hue="climate", style="climate", drawstyle="steps-mid", ax=axes
        )
        axes.axvline(RADIUS, color="0.6", linewidth=0.8, linestyle=":")
        axes.set(
            xlabel="distrust of the past climate (total variation radius the plan guards against)",
            ylabel="mean profit, GBP a hectare",
            xlim=(0.0, RADII[-1]),
        )
        axes.legend(title="climate that comes", frameon=False)
        sns.despine(figure)
        figure.savefig(PICTURE, dpi=130)
    print(found.sentence)


if __name__ == "__main__":
    main()
