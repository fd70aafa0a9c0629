"""Robustness curves: what recommended decisions are worth as the law of contexts moves away from the one met.

Drawn from metrics that score along a path of laws (`under: {from, to, steps}`): nothing is run again.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.rounds import CONTINUOUS, GRID, SCALARISED, FiniteDomain, Situation
from bocu.core.written import spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import Algorithms, Drawing, Figure, Inputs, Mention, mentions, nothing_to_show
from bocu.pages.figures.marks import Titles, looks_of, titles_of
from bocu.pages.figures.realised import RealisedParameters, realise
from bocu.pages.figures.regret import SPREAD, SPREADS, Curve, Spread, curves_over_seeds, draw_curves
from bocu.pages.figures.results import Cube, CubeBranch, seed_counts, with_unit
from bocu.robust.ambiguity.parameters import SetParameters, StatedSet
from bocu.sweep.evaluation.cubes import Family, families_of
from bocu.sweep.evaluation.metrics import build_scorer

if TYPE_CHECKING:
    import pandas as pd

    from bocu.sweep.experiment.products import FigurePaths

TITLE = "Robustness curves"
PANEL_HEIGHT = 2.2
AXIS_LETTERS = 72
"""Letters below all panels together."""
BEST = "best under each law"


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
        count, up = len(families), with_unit("lost against the best under each law", cube.units)
        below = style.legend_height(list(looks)) if count > 1 else 0.0
        picture, panels = style.facets(count, PANEL_HEIGHT, count, below=below, up=up)
        for axes, family in zip(panels, families, strict=True):
            lost = tables[family.label]
            curves = curves_over_seeds(lost[lost["algorithm"] != BEST], "place", "lost", looks, self.parameters.spread)
            draw_curves(axes, [curve if _apart(curve, curves) else _faded(curve) for curve in curves], from_zero=False)
            axes.set(title=family.title, xlabel=self._axis(family, count))
            if count == 1:
                axes.margins(x=0.0)
                marks.label_ends(axes, {curve.title: float(curve.mean[-1]) for curve in curves}, looks)
        if count > 1:
            style.legend_below(picture, list(looks))
        return self._described(cube, picture, families, pd.concat(tables, names=["metric"]))

    def _axis(self, family: Family, abreast: int) -> str:
        stated, end = self.parameters.set, family.specifications[0]["under"]["to"]
        said = f"s → 1: {_law_said(end)}" if stated is None else f"{stated.family.about.title} from s = 0"
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


def _faded(curve: Curve) -> Curve:
    return replace(curve, look=replace(curve.look, colour=style.GREY))


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
