"""Payoff and regret at the end against a number that objectives differ in, such as the radius of their sets."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pydantic
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Number
from bocu.core.rounds import CONTINUOUS, FINITE
from bocu.core.written import spoken
from bocu.pages.figures.base import Algorithms, Drawing, Figure, FigureParameters, Inputs, Naming, nothing_to_show
from bocu.pages.figures.regret import curves_over_seeds, draw_curves
from bocu.pages.figures.results import NO_OBJECTIVE, Cube, CubeBranch, seed_counts, with_unit

if TYPE_CHECKING:
    import pandas as pd

TICK = 16
"""Letters of a line below a tick."""
_PAYOFF, _REGRET = "payoff", "regret"


class AcrossObjectivesParameters(FigureParameters):
    """Parameters of `AcrossObjectives`."""

    at: Annotated[dict[str, Number] | None, Naming("objective"), Naming("metric")] = Field(
        None,
        min_length=2,
        description="Where each objective stands on the horizontal axis, by its label; a metric of the same label "
        "scores those who pursue it. If left out, those that have such a metric, in their order.",
    )
    label: str = Field("objective", min_length=1, description="What the horizontal axis is, with its unit.")
    algorithms: Algorithms = Field(None, description="Labels of the algorithms drawn; all, if left out.")
    titles: Annotated[dict[str, str], Naming("algorithm")] = Field(
        default_factory=dict, description="What is written for an algorithm, by its label, if not its usual name."
    )
    log: bool = Field(False, description="Logarithmic horizontal axis.")

    @pydantic.model_validator(mode="after")
    def _positive_where_logarithmic(self) -> "AcrossObjectivesParameters":
        if self.log and min((self.at or {"": 0.0}).values()) <= 0.0:
            raise ValueError("log: a logarithmic axis holds positive numbers; 'at' is missing or has others")
        return self


class AcrossObjectives(Figure[AcrossObjectivesParameters]):
    """Total payoff above total regret: mean over seeds with one standard error."""

    about = About(
        title="Payoff and regret across objectives",
        summary="payoff and regret at the end against what objectives differ in, such as a radius",
    )
    protocols = FINITE + CONTINUOUS
    by_default = False  # where objectives stand is to be said
    Parameters = AcrossObjectivesParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cube, settings = Cube(inputs["cube"]), self.parameters
        at = settings.at or {
            label: float(i) for i, label in enumerate(o for o in cube.objectives() if o in cube.metrics)
        }
        table = self._table(cube, at)
        looks = cube.looks_apart(settings.algorithms, settings.titles)
        if table.empty:
            return nothing_to_show(cube, self.about.title, "no run is finished")
        quantities = list(dict.fromkeys(table["quantity"]))  # no payoff where it has several outputs
        picture, panels = style.facets(len(quantities), 2.0, 1, below=0.6, across=settings.label, sharex=True)
        for quantity, axes in zip(quantities, panels, strict=True):
            own = curves_over_seeds(table[table["quantity"] == quantity], "at", "value", looks)
            draw_curves(axes, own, settings.log, from_zero=False)
            axes.set_ylabel(with_unit(f"total {quantity}", cube.units))
        ticks = {
            place: f"{place:g}" if settings.at else textwrap.fill(cube.objective_titles[label], TICK)
            for label, place in at.items()
        }
        panels[-1].set_xticks(list(ticks), list(ticks.values()))
        panels[-1].set_xticks([], minor=True)
        style.legend_below(picture)
        counts = {str(title): int(found["seed"].nunique()) for title, found in table.groupby("algorithm", sort=False)}
        rounds = int((cube.iterations >= 1).sum())
        caption = (
            f"{spoken(quantities).capitalize()} on {cube.title}, summed over {rounds} rounds, against "
            f"{settings.label}: mean and one standard error over {seed_counts(counts)}. Regret is scored at each place "
            "by that place's metric; algorithms that pursue no objective run once and are scored by all."
        )
        title = (
            self.about.title if settings.at is None else f"{spoken(quantities).capitalize()} against {settings.label}"
        )
        return Drawing(picture, title, caption, _words(table), cube.problem, cube.data_label, table)

    def _table(self, cube: Cube, at: Mapping[str, float]) -> "pd.DataFrame":
        """Return the totals: columns `at`, `algorithm` (title), `seed`, `quantity`, `value`."""
        import pandas as pd

        for label in at:
            cube.metric(label)
        rows: list[dict[str, Any]] = []
        for branch in cube.branches(self.parameters.algorithms):
            for label, place in at.items():
                if branch.objective in (label, NO_OBJECTIVE):
                    rows += _totals(cube, branch, label, place)
        table = pd.DataFrame(rows, columns=["at", "algorithm", "seed", "quantity", "value"])
        return table.assign(algorithm=table["algorithm"].map({**cube.titles, **self.parameters.titles}))


def _totals(cube: Cube, branch: CubeBranch, metric: str, at: float) -> Iterator[dict[str, Any]]:
    """Iterate over rows of the sums over rounds of what the finished seeds of a branch met."""
    played = cube.iterations >= 1
    for quantity, (values, seeds) in {
        _PAYOFF: cube.payoff(branch),
        _REGRET: cube.regret(branch, metric),
    }.items():
        for seed, total in zip(seeds, values[:, played].sum(axis=1), strict=True):
            if np.isfinite(total):
                yield {
                    "at": at,
                    "algorithm": branch.algorithm,
                    "seed": int(seed),
                    "quantity": quantity,
                    "value": float(total),
                }


def _words(table: "pd.DataFrame") -> str:
    told = []
    for (quantity, title), found in table.groupby(["quantity", "algorithm"], sort=False):
        means = found.groupby("at")["value"].mean()
        told.append(f"{quantity} of {title} from {means.iloc[0]:.4g} to {means.iloc[-1]:.4g}")
    return f"Line charts; from left to right: {spoken(told)}."
