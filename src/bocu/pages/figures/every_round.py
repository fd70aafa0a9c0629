"""Figures that need every round of a cube, or what it holds at the end of a run.

Robustness curves: what recommended decisions are worth as the law of contexts moves away from the one met, drawn from
metrics that score along a path of laws (`under: {from, to, steps}`). Robust fronts: what the decisions that runs tried
guarantee, beside the best there is, and its hypervolume; beyond the DRMOBO paper, `evaluation.robust_front` says what
is drawn. Payoff and regret at the end against a number that objectives differ in, such as the radius of their sets.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pydantic
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, Number
from bocu.core.rounds import CONTINUOUS, FINITE, GRID, SCALARISED, FiniteDomain, Situation
from bocu.core.written import spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import (
    Algorithms,
    Drawing,
    Figure,
    FigureParameters,
    Inputs,
    Mention,
    Naming,
    mentions,
    nothing_to_show,
)
from bocu.pages.figures.marks import Titles, looks_of, titles_of
from bocu.pages.figures.realised import RealisedParameters, realise
from bocu.pages.figures.regret import (
    CUT_WORDS,
    SPREAD,
    SPREADS,
    Curve,
    Spread,
    apart,
    curves_over_seeds,
    cut_off,
    draw_curves,
)
from bocu.pages.figures.results import HYPERVOLUME_SHARE, NO_OBJECTIVE, Cube, CubeBranch, seed_counts, with_unit
from bocu.robust.ambiguity.parameters import SetParameters, StatedSet
from bocu.sweep.evaluation.cubes import Family, families_of
from bocu.sweep.evaluation.metrics import build_scorer
from bocu.sweep.evaluation.robust_front import MARGIN

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

    from bocu.sweep.experiment.products import FigurePaths

TITLE = "Robustness curves"
PANEL_HEIGHT, ROW_HEIGHT = 2.2, 1.7
"""Inches: of panels above a legend, and of those whose lines are named at their ends."""
AXIS_LETTERS = 72  #: Letters below all panels together.
BEST = "best under each law"
MOST_ENDS, END_LETTERS = 6, 24
"""Lines that are named at their ends, and letters of their names: more stand in a legend below."""


class RobustnessCurveParameters(RealisedParameters):
    """Parameters of `RobustnessCurve`."""

    metrics: list[str] | None = Field(
        None,
        description="Labels of entries of `metrics` that score under a path of laws, a panel each; all such, if left "
        "out.",
    )
    algorithms: Algorithms = Field(None, description="Labels of the algorithms drawn; all, if left out.")
    set: StatedSet | None = Field(
        None,
        description="The set in whose units the horizontal axis tells how far each law is from the first of its path; "
        "left out, the axis is s.",
    )

    spread: Spread = Field("standard-error", description=SPREAD)

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        # What is recommended stands in the cube alone.
        problem_files = {} if self.set is None else super().inputs(paths)
        return {"cube": paths.cube, **{key: files for key, files in problem_files.items() if key != "digest"}}

    def mentioned(self) -> Iterator[Mention]:
        for mention in mentions("metric", "metrics", self.metrics):
            yield Mention(mention.key, mention.kind, f"{mention.name}-0")
        yield from super().mentioned()


class RobustnessCurve(Figure[RobustnessCurveParameters]):
    """Value of the decision recommended at the end along a path of laws, a panel a metric."""

    about = About(
        title="Robustness curves",
        summary="what recommended decisions are worth as the law of contexts moves away from the one met",
    )
    protocols = GRID + CONTINUOUS + SCALARISED
    by_default = False
    Parameters = RobustnessCurveParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd

        cube = Cube(inputs["cube"])
        wanted = self.parameters.metrics
        families = [each for each in families_of(cube.data) if wanted is None or each.label in wanted]
        if not families:
            return nothing_to_show(cube, TITLE, "no metric scores under a path of laws")
        cubes = {cube.problem: cube}
        titles = titles_of(cubes, {(0, cube.problem): cube.branches(self.parameters.algorithms)}, {})
        looks = style.apart(looks_of(cubes, titles))
        tables = {family.label: _table(cube, titles, family, self._places(cube, family, inputs)) for family in families}
        if all(table.empty for table in tables.values()):
            return nothing_to_show(cube, TITLE, "no run is finished")
        count, up = len(families), with_unit("lost against the best", cube.units)
        named = len(looks) > MOST_ENDS or max(map(len, looks)) > END_LETTERS
        height, abreast = (PANEL_HEIGHT, count) if named else (ROW_HEIGHT, 1)
        below = style.legend_height(list(looks)) if named else 0.0
        picture, panels = style.facets(count, height, abreast, below=below, up=up)
        parted: list[tuple[list[Curve], list[Curve]]] = []
        for axes, family in zip(panels, families, strict=True):
            lost = tables[family.label]
            curves = curves_over_seeds(lost[lost["algorithm"] != BEST], "place", "lost", looks, self.parameters.spread)
            drawn = [c if _apart(c, curves) else replace(c, look=replace(c.look, colour=style.GREY)) for c in curves]
            draw_curves(axes, drawn, from_zero=False)
            axes.set(title=family.title if count > 1 else "", xlabel=self._axis(family, abreast))
            parted.append(apart(drawn))
            if parted[-1][1]:
                cut_off(axes, *parted[-1], gains=False)
        if named:
            style.legend_below(picture, list(looks))
        else:
            picture.draw_without_rendering()  # how high panels are tells which names would meet
            for axes, (near, _) in zip(panels, parted, strict=True):
                marks.label_ends(axes, {c.title: float(c.mean[-1]) for c in near}, {c.title: c.look for c in near})
        drawing = self._described(cube, picture, families, pd.concat(tables, names=["metric"]))
        return replace(drawing, caption=drawing.caption + CUT_WORDS * any(far for _, far in parted))

    def _axis(self, family: Family, abreast: int) -> str:
        stated, under = self.parameters.set, family.specifications[0]["under"]
        start, end = _law_said(under["from"]), _law_said(under["to"])
        said = f"s → 1: {end}" if stated is None else f"{stated.family.about.title} from {start}"
        return textwrap.fill(said, AXIS_LETTERS // abreast)

    def _places(self, cube: Cube, family: Family, inputs: Inputs) -> np.ndarray:
        """Return where each law stands on the horizontal axis, shape (laws,)."""
        if self.parameters.set is None:
            return family.s
        return _distances(cube, family, inputs, self.parameters.set)

    def _described(self, cube: Cube, picture: Any, families: Sequence[Family], values: "pd.DataFrame") -> Drawing:
        counts = values[values["algorithm"] != BEST].groupby("algorithm", sort=False)["seed"].nunique().to_dict()
        titles = {family.label: family.title for family in families}
        paths = "; ".join(f"{family.title}: {_path_said(family)}" for family in families)
        caption = (
            f"{cube.title}: what the decision recommended at the end of a run is worth as contexts follow another law "
            f"than the one met. {paths[:1].upper()}{paths[1:]}. Mean (lines) and {SPREADS[self.parameters.spread]} "
            f"(bands) over {seed_counts(counts)} of what it loses against the best decision under each law; grey: who "
            "is told apart from no other under any law, by the bands."
        )
        means = values[values["algorithm"] != BEST].groupby(["metric", "algorithm", "place"], sort=False)["lost"].mean()
        ends = []
        for (metric, algorithm), line in means.groupby(level=[0, 1], sort=False):
            ends.append(f"{algorithm}, {titles[metric]}, from {line.iloc[0]:.4g} to {line.iloc[-1]:.4g}")
        alternative = f"Line charts of what is lost along a path of laws: {'; '.join(ends)}."
        title = f"{TITLE}: {spoken(list(titles.values()))}"
        if self.parameters.set is not None:
            title += f", by {self.parameters.set.family.about.title}"
        table = values.reset_index(level="metric")
        return Drawing(picture, title, caption, alternative, cube.problem, cube.data_label, table)


def _table(cube: Cube, titles: Titles, family: Family, places: np.ndarray) -> "pd.DataFrame":
    """Return what every branch is worth in the end by seed and law, and the best decision there was."""
    import pandas as pd

    rows: list[tuple[str, int, float, float]] = []
    for (_, branch), title in titles.items():
        for place, metric in zip(places, family.metrics, strict=True):
            values, best, seeds = _at_the_end(cube, branch, metric)
            rows += [(title, int(seed), float(place), float(v)) for seed, v in zip(seeds, values, strict=True)]
            rows += [(BEST, int(seed), float(place), float(v)) for seed, v in zip(seeds, best, strict=True)]
    table = pd.DataFrame(rows, columns=["algorithm", "seed", "place", "value"])
    table = table.groupby(["algorithm", "seed", "place"], sort=False, as_index=False).max()
    best = table[table["algorithm"] == BEST].set_index(["seed", "place"])["value"]
    table["lost"] = pd.MultiIndex.from_frame(table[["seed", "place"]]).map(best) - table["value"]
    return table


def _apart(curve: Curve, every: Sequence[Curve]) -> bool:
    """Say whether the band of a curve is clear of another's under some law."""
    gaps = [np.abs(curve.mean - other.mean) - curve.error - other.error for other in every if other is not curve]
    return any(bool((gap > 0).any()) for gap in gaps) or not gaps


def _at_the_end(cube: Cube, branch: CubeBranch, metric: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what recommended decisions are worth, the best there was, and the seeds, each of shape (seeds,).

    Where nothing is recommended, the last decision counts.
    """
    values, seeds = cube.values("value", branch, metric)
    regret, _ = cube.values("regret", branch, metric)
    recommended, _ = cube.values("recommended_value", branch, metric)
    worth = np.where(np.isfinite(recommended[:, -1]), recommended[:, -1], values[:, -1])
    whole = np.isfinite(worth)
    return worth[whole], (values + regret)[whole, -1], seeds[whole]


def _distances(cube: Cube, family: Family, inputs: Inputs, stated: SetParameters) -> np.ndarray:
    realisation = realise(cube, inputs, cube.seeds[0])
    weights = []
    for specification in family.specifications:
        first = _first_situation(realisation)
        shown, (situation,) = build_scorer(specification).met(realisation, [first])
        weights.append(situation.reference)
    contexts = shown.description.contexts
    assert isinstance(contexts, FiniteDomain)
    around = stated.over(contexts.points)
    found = np.array([float(around.distance(each, weights[0])) for each in weights])
    if not np.isfinite(found).all():
        raise BocuError(
            f"set: by '{stated.name}' a law of {family.label} is infinitely far from the first; take tv or mmd"
        )
    return found


def _first_situation(realisation: Any) -> Situation:
    from bocu.sweep.evaluation.discretised import is_continuous

    if is_continuous(realisation):
        return Situation(1, np.empty(0), np.empty(0), 0)
    return Situation(1, realisation.reference(1), realisation.truth(1), 0)


def _path_said(family: Family) -> str:
    under = family.specifications[0]["under"]
    return f"from {_law_said(under['from'])} to {_law_said(under['to'])}, s up to {family.s[-1]:g}"


def _law_said(end: str | Mapping[str, Any]) -> str:
    if isinstance(end, str):
        return f"the {end}"
    law = end["law"]
    told = ", ".join(f"{key} {value}" for key, value in law["parameters"].items())
    return f"{law['name']} ({told})" if told else str(law["name"])


FRONT_TITLE = "Robust front"
BEST_FRONT = "best there is"
Front = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Weights of the first output (weights,); what the weighted sum is worth (weights,); what is guaranteed of each output
by the points that no other dominates, ordered by the first, (points, 2)."""


class RobustFrontParameters(FigureParameters):
    """Parameters of `RobustFront`."""

    metric: Annotated[str | None, Naming("metric")] = Field(
        None, description="Label of the metric that values payoffs; the first, if left out."
    )
    objective: Annotated[str | None, Naming("objective")] = Field(
        None,
        description="Label of the objective pursued, whose runs are drawn beside those that pursue none; left out, the "
        "one with the metric's label, else the first.",
    )
    algorithms: Algorithms = Field(None, description="Labels of what is drawn; all, if left out.")
    seed: Annotated[Integer | None, Naming("seed")] = Field(
        None, description="The seed whose front is drawn; the first finished, if left out."
    )


@dataclass(frozen=True)
class Tried:
    """What the runs of one algorithm tried."""

    branch: CubeBranch  #: the runs.
    title: str
    look: style.Stroke
    seeds: Sequence[int]  #: those that are finished, in the order of `share`.
    share: np.ndarray  #: hypervolume after each round as a share of the best front's, shape (seeds, rounds).


class RobustFront(Figure[RobustFrontParameters]):
    """Guaranteed payoffs of the fronts of one seed, and hypervolume over the rounds; for two outputs."""

    about = About(
        title="Robust front",
        summary="guaranteed payoffs of two outputs and their hypervolume, of runs and the best there is",
    )
    protocols = SCALARISED
    Parameters = RobustFrontParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd

        cube = Cube(inputs["cube"])
        if cube.outputs != 2:
            return nothing_to_show(cube, FRONT_TITLE, f"a front has two outputs, this problem has {cube.outputs}")
        metric = cube.metric(self.parameters.metric)
        tried = self._tried(cube, metric)
        if not tried:
            return nothing_to_show(cube, FRONT_TITLE, "no run is finished")
        seed = self.parameters.seed if self.parameters.seed is not None else min(tried[0].seeds)
        met = next((each for each in tried if seed in each.seeds), tried[0])
        fronts = {
            BEST_FRONT: _front(cube, met.branch, metric, seed if seed in met.seeds else min(met.seeds), "best_front")
        }
        fronts |= {each.title: _front(cube, each.branch, metric, seed) for each in tried if seed in each.seeds}
        weighed = [(title, *pair) for title, front in fronts.items() for pair in zip(*front[:2], strict=True)]
        points = [(title, *point) for title, front in fronts.items() for point in front[2]]
        shares = [
            (each.title, *point, seed)
            for each in tried
            for seed, own in zip(each.seeds, each.share, strict=True)
            for point in enumerate(own, 1)
        ]
        tables = {
            "value by weight of output 1": pd.DataFrame(weighed, columns=["algorithm", "x", "y"]),
            "guaranteed outputs 1 and 2": pd.DataFrame(points, columns=["algorithm", "x", "y"]),
            "share of hypervolume by round": pd.DataFrame(shares, columns=["algorithm", "x", "y", "seed"]),
        }
        looks = {BEST_FRONT: style.Stroke(style.BLACK, style.SOLID, "."), **{each.title: each.look for each in tried}}
        picture = style.new_figure(4.1)
        places = picture.subplot_mosaic([["values", "fronts"], ["shares", "shares"]])
        first, second, summed = (with_unit(what, cube.units) for what in ("output 1", "output 2", "weighted sum"))
        panels = (
            ("values", "worth of the best tried, by weight", "weight of output 1", summed),
            ("fronts", "guarantees of both outputs", first, second),
            ("shares", "hypervolume of what is guaranteed", "round", "share of the best"),
        )
        for (place, title, across, up), own in zip(panels, tables.values(), strict=True):
            axes = places[place]
            draw_curves(axes, curves_over_seeds(own, "x", "y", looks, "interval-95"), from_zero=False)
            axes.set(title=title, xlabel=across, ylabel=up)
            axes.margins(x=0.03)
        places["shares"].set(ylim=(0.0, 1.0), yticks=[0.0, 0.5, 1.0])
        style.legend_below(picture)
        table = pd.concat(tables, names=["panel"]).reset_index(level="panel")
        return replace(_described(cube, picture, tried, seed, metric), table=table)

    def _tried(self, cube: Cube, metric: str) -> Sequence[Tried]:
        """Gather what the runs tried, of those that pursue nothing or the objective that is drawn."""
        objectives = cube.objectives()
        pursued = self.parameters.objective or (metric if metric in objectives else objectives[0])
        found = []
        looks = cube.looks_apart(self.parameters.algorithms)
        for branch in cube.branches(self.parameters.algorithms, [pursued]):
            share, seeds = cube.regret(branch, metric, HYPERVOLUME_SHARE)
            if len(seeds):
                title = cube.titles[branch.algorithm]
                found.append(Tried(branch, title, looks[title], seeds.tolist(), share[:, cube.iterations >= 1]))
        return found


def _front(cube: Cube, branch: CubeBranch, metric: str, seed: int, prefix: str = "front") -> Front:
    """Return the front of the decisions that a seed tried, or with the prefix "best_front" the best there is."""
    place = {"objective": branch.objective, "algorithm": branch.algorithm, "metric": metric, "seed": seed}

    def read(name: str) -> np.ndarray:
        return cube.data[name].sel(place).transpose("weight", ...).values

    points = np.unique(read(f"{prefix}_guarantee").round(12), axis=0)
    below = np.array([((point <= points).all(axis=1) & (point < points).any(axis=1)).any() for point in points])
    return read("front_weight")[:, 0], read(f"{prefix}_value"), points[~below]


def _described(cube: Cube, picture: "Picture", tried: Sequence[Tried], seed: int, metric: str) -> Drawing:
    counts = {each.title: len(each.seeds) for each in tried}
    caption = (
        f"{cube.title}. Left: value of the weighted sum of both outputs by {cube.metric_titles[metric]}, for each "
        f"weight of the first: the best there is, and the best among the decisions that seed {seed} tried. "
        "Right: what these decisions guarantee, each output by itself, where no other does better in both; a single "
        "point where both guarantee alike. Below: hypervolume of the guarantees of all decisions up to a round as a "
        f"share of that of the best, mean (lines) and 95 % intervals (bands) over {seed_counts(counts)}; "
        f"the corner lies {MARGIN:.0%} of the range, or of the size of a single point, below the least of the best's "
        "guarantees."
    )
    ends = ", ".join(f"{each.title} {each.share[:, -1].mean():.3g}" for each in tried)
    alternative = (
        "Line charts of the value of the weighted sum by weight, of guaranteed payoffs, and of shares of hypervolume, "
        f"which end at: {ends}."
    )
    return Drawing(picture, FRONT_TITLE, caption, alternative, cube.problem, cube.data_label)


TICK = 16  #: Letters of a line below a tick.


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
        return Drawing(picture, title, caption, _told_from_left_to_right(table), cube.problem, cube.data_label, table)

    def _table(self, cube: Cube, at: Mapping[str, float]) -> "pd.DataFrame":
        """Return the totals: columns `at`, `algorithm` (title), `seed`, `quantity`, `value`."""
        import pandas as pd

        for label in at:
            cube.metric(label)
        played, titles = cube.iterations >= 1, {**cube.titles, **self.parameters.titles}
        tables = [
            pd.DataFrame({"at": place, "algorithm": titles[branch.algorithm], "seed": seeds, "quantity": quantity,
                          "value": values[:, played].sum(axis=1)})
            for branch in cube.branches(self.parameters.algorithms)
            for label, place in at.items()
            if branch.objective in (label, NO_OBJECTIVE)
            for quantity, (values, seeds) in (("payoff", cube.payoff(branch)), ("regret", cube.regret(branch, label)))
        ]  # fmt: skip
        if not tables:
            return pd.DataFrame({"value": []})
        table = pd.concat(tables, ignore_index=True)
        return table[np.isfinite(table["value"])]


def _told_from_left_to_right(table: "pd.DataFrame") -> str:
    told = []
    for (quantity, title), found in table.groupby(["quantity", "algorithm"], sort=False):
        means = found.groupby("at")["value"].mean()
        told.append(f"{quantity} of {title} from {means.iloc[0]:.4g} to {means.iloc[-1]:.4g}")
    return f"Line charts; from left to right: {spoken(told)}."
