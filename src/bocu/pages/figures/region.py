"""Where a claim holds: its verdict, or the difference or ratio that it compares, over the parameters of a sweep."""

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pydantic
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import READING, Parameters
from bocu.pages.figures import marks
from bocu.pages.figures.base import Drawing, Figure, Inputs, Mention, PictureParameters, mentions, nothing_to_show
from bocu.pages.figures.results import Cube, paths_of, seed_counts, shared_data_label, with_unit
from bocu.sweep.evaluation.claims import FAILS, HOLDS, LEANS_AGAINST, LEANS_FOR, OPEN, Claim, read_claims
from bocu.sweep.evaluation.claims.expressions import Ratio, leaves, problems_of
from bocu.sweep.evaluation.regions import Cell, Value, labels_of, points_table, region
from bocu.sweep.experiment.titles import in_words, value_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure as Picture

OUTCOMES = (HOLDS, LEANS_FOR, OPEN, LEANS_AGAINST, FAILS)
COLOURS = ("#9CC9E8", "#D3E6F3", "#EDEDED", "#F9DECF", "#F2B79A")
"""Of the outcomes: light enough for text on them; both sides differ for colour-blind eyes too."""
HATCH = "//"
CELL_HEIGHT, PANEL_MARGIN, LEGEND = 0.26, 0.6, 0.75
"""Inches: of a row of cells, around a panel, and of what stands below all panels."""


class RegionParameters(PictureParameters):
    """Parameters of `Region`. Naming of parameters are those of the experiment's `sweep`."""

    claim: str | None = Field(
        None,
        description="Instead of a check, one of a claims file, `ziomek2025/hills-ahead-of-mle`: FILE.yaml in claims/ "
        "beside this file or beside its folder, and the claim's id. Its problem, metric and statement are "
        "taken over where the figure states none.",
    )
    check: str = Field(
        "",
        description="What has to hold, as in a claim (docs/claims.md), by the labels of this file: "
        "`final(pe-gp-ucb) < final(mle)`; this or a claim is required.",
    )
    problem: str | None = Field(None, description="Label of the problem in this file; the one there is, if left out.")
    metric: str | None = Field(
        None, description="Label of the metric in this file; that of the objective's label or the first, if left out."
    )
    title: str = Field("", description="What is claimed, above the picture; the check, if left out.")
    show: Literal["verdict", "value"] = Field(
        "verdict",
        description="What colours show: the verdict, or the difference or ratio that the one comparison of the check "
        "is about.",
    )
    x: str | None = Field(None, description="Parameter along the horizontal axis; the first by name, if left out.")
    y: str | None = Field(None, description="Parameter along the vertical axis; the next, if left out.")
    columns: str | None = Field(None, description="Parameter that differs from column to column; the next.")
    rows: str | None = Field(None, description="Parameter that differs from row to row; the next.")
    titles: dict[str, str] = Field(
        default_factory=dict, description="What is written for parameters, and for their values that have names."
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _check_of_a_claim(cls, data: object, info: pydantic.ValidationInfo) -> object:
        """Put what a claim says in the place of its name, so that the figure is drawn anew when that changes."""
        if not isinstance(data, Mapping) or not isinstance(data.get("claim"), str):
            return data
        if data.get("check"):
            raise ValueError("check: found one beside a claim; allowed: one of them")
        reading = (info.context or {}).get(READING)
        try:
            stated = _stated(data["claim"], (reading and reading.folder) or Path())
        except BocuError as error:
            raise ValueError(f"claim: {error}") from None
        taken = {"check": stated.check, "problem": stated.problem, "metric": stated.metric, "title": stated.statement}
        return {**taken, **data, "claim": None}

    @pydantic.model_validator(mode="after")
    def _is_a_check(self) -> "RegionParameters":
        if not self.check:
            raise ValueError("check: this key is required, or a claim")
        try:
            leaf = next(iter(leaves(self.stated.node)), None)
            several = len(list(leaves(self.stated.node))) > 1
            problems = [problem for problem in problems_of(self.stated.node) if problem]
        except BocuError as error:
            raise ValueError(f"check: {error}") from None
        if len(problems) > 1:
            raise ValueError(f"check: found one about {', '.join(problems)}; allowed: one problem")
        if self.show == "value" and (leaf is None or several):
            raise ValueError("show: 'value' goes with a check of one comparison")
        return self

    @property
    def stated(self) -> Claim:
        """The check as a claim."""
        return Claim(
            id="region", statement=self.check, experiment="region", problem=self.problem, metric=self.metric,
            check=self.check,
        )  # fmt: skip

    @property
    def placed(self) -> list[str]:
        """The parameters whose place is stated."""
        return [axis for axis in (self.x, self.y, self.columns, self.rows) if axis is not None]

    def mentioned(self) -> Iterator[Mention]:
        for key in ("x", "y", "columns", "rows"):
            yield from mentions("swept parameter", key, getattr(self, key))
        yield from mentions("swept parameter or value", "titles", self.titles)
        yield from mentions("problem of the file", "problem", self.problem)
        yield from mentions("metric of the file", "metric", self.metric)
        for dim, labels in labels_of(self.stated).items():
            for label in labels:
                yield Mention("check", f"{dim} of the file", label)


def _stated(name: str, folder: Path) -> Claim:
    """Return the claim that a figure of a file in some folder names, "FILE/ID"."""
    file, _, own = name.rpartition("/")
    places = [Path(os.path.normpath(folder / within / f"{file}.yaml")) for within in ("claims", "../claims")]
    found = next((place for place in places if file and place.is_file()), None)
    if found is None:
        allowed = ", ".join(str(place.parent) for place in places)
        raise BocuError(f"found '{name}'; allowed: FILE/ID with FILE.yaml in {allowed}")
    claim = read_claims(found).claim(own)
    if claim.check is None:
        raise BocuError(f"found '{name}', which has no check")
    return claim


class Layout(Parameters):
    """Which parameter of the sweep goes where; None: there is none."""

    x: str
    y: str | None
    columns: str | None
    rows: str | None


class Region(Figure[RegionParameters]):
    """A heat map of verdicts over the parameters of a sweep, with panels where there are more than two."""

    about = About(title="Region of validity", summary="where a claim holds: its verdict over a sweep's parameters")
    scope = "experiment"
    by_default = False  # what is claimed is to be said
    Parameters = RegionParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd

        cubes = [Cube(path) for path in paths_of(inputs["cubes"])]
        settings = self.parameters
        title = settings.title or settings.check
        cells = region(settings.stated, [cube.data for cube in cubes])
        shown = [cube for cube in cubes if cube.problem in {cell.problem for cell in cells}]
        drawn = self.map_of(cells, shown[0].units if shown else "")
        if isinstance(drawn, str):
            return nothing_to_show(cubes[0], title, drawn, whole_experiment=True)
        label = shared_data_label(shown)
        return Drawing(drawn[0], title, *drawn[1:], "", label, pd.DataFrame(points_table(cells)))

    def map_of(self, cells: Sequence[Cell], units: str) -> "tuple[Picture, str, str] | str":
        """Return picture, caption and alternative text of the points of a sweep; a text: why there are none.

        Args:
            cells: what `region` says of the check.
            units: those of the payoff.
        """
        axes = list(dict.fromkeys(axis for cell in cells for axis in cell.at))
        if not cells:
            return "no run is finished"
        if not axes:
            return "nothing that the check names is swept"
        layout, left = _layout(self.parameters, axes)
        if left:
            return f"'{left[0]}' is swept too, and a map has four places for parameters"
        values = {axis: _values(cells, axis) for axis in axes}
        return self._drawn(cells, layout, values, units), *self._told(cells, layout, values)

    def _drawn(self, cells: Sequence[Cell], layout: Layout, values: Mapping[str, list[Value]], units: str) -> "Picture":
        from matplotlib.cm import ScalarMappable

        settings = self.parameters
        across = values[layout.columns] if layout.columns else [""]
        down = values[layout.rows] if layout.rows else [""]
        high = CELL_HEIGHT * (len(values[layout.y]) if layout.y else 1)
        picture, panels = style.facets(
            len(down) * len(across),
            high + PANEL_MARGIN,
            len(across),
            below=LEGEND,
            across=self._title(layout.x),
            up=self._title(layout.y) if layout.y else "",
            sharex=True,
            sharey=True,
        )
        scale = _scale(cells) if settings.show == "value" else None
        look: dict[str, Any] = {} if scale is None else {"norm": scale, "cmap": self._colour_map}
        for panel, (below, beside) in zip(panels, itertools.product(down, across), strict=True):
            fixed = {axis: at for axis, at in ((layout.rows, below), (layout.columns, beside)) if axis}
            inside = [cell for cell in cells if fixed.items() <= cell.at.items()]
            _panel(panel, inside, values[layout.x], values[layout.y] if layout.y else [""], layout, **look)
            panel.set_xticks(panel.get_xticks(), list(map(self._value, values[layout.x])))
            panel.set_yticks(
                panel.get_yticks(), [self._value(value) for value in values[layout.y]] if layout.y else [""]
            )
            panel.set_title("\n".join(f"{self._title(axis)} {self._value(at)}" for axis, at in fixed.items()))
        if scale is None:
            _verdict_legend(picture)
        else:
            _value_legend(picture, panels, ScalarMappable(scale, self._colour_map), self._quantity(cells, units))
        return picture

    @property
    def _colour_map(self) -> str:
        """Blue where the check would hold, as where it does."""
        comparison = next((leaf.comparison for leaf in leaves(self.parameters.stated.node)), None)
        return style.DIVERGING_SHARES if comparison and comparison.relation == ">" else style.DIVERGING

    def _title(self, axis: str) -> str:
        return self.parameters.titles.get(axis, in_words(axis))

    def _value(self, value: Value) -> str:
        return self.parameters.titles.get(str(value)) or value_in_words(value)

    def _quantity(self, cells: Sequence[Cell], units: str) -> str:
        comparison = next(leaves(self.parameters.stated.node)).comparison
        if isinstance(comparison.left, Ratio):
            return str(comparison.left)
        finding = cells[0].finding
        minus = "" if finding is None or finding.boundary else f" - {comparison.right}"
        return with_unit(f"{comparison.left}{minus}", units)

    def _told(self, cells: Sequence[Cell], layout: Layout, values: Mapping[str, list[Value]]) -> tuple[str, str]:
        settings = self.parameters
        counts = {outcome: sum(cell.verdict.outcome == outcome for cell in cells) for outcome in OUTCOMES}
        tally = ", ".join(f"{outcome} at {count}" for outcome, count in counts.items() if count)
        seeds = {cell.problem: cell.verdict.seeds for cell in cells}
        numbers = " Numbers: what is compared, mean over seeds." if any(cell.finding for cell in cells) else ""
        marks = "hatched where open" if settings.show == "value" else "'?' where open"
        caption = (
            f"Where `{settings.check}` holds, at {len(cells)} points of the sweep: {tally} ({seed_counts(seeds)}); "
            f"{marks}. Verdicts at 95 %, corrected together (Benjamini and Hochberg); empty: not run.{numbers}"
        )
        along = " and ".join(self._title(axis) for axis in (layout.x, layout.y) if axis)
        held = [cell for cell in cells if cell.verdict.outcome == HOLDS]
        told = "; ".join(
            f"{self._title(axis)} {', '.join(self._value(value) for value in own)}"
            for axis, own in (
                (axis, [v for v in values[axis] if any(c.at[axis] == v for c in held)]) for axis in values
            )
        )
        alternative = f"Heat map over {along}: {tally}. " + (f"Points where it holds have {told}." if held else "")
        return caption, alternative


def _layout(settings: RegionParameters, axes: Sequence[str]) -> tuple[Layout, list[str]]:
    """Return which parameter goes where, and those that are left."""
    free = [axis for axis in axes if axis not in settings.placed]
    chosen: dict[str, str | None] = {}
    for place in ("x", "y", "columns", "rows"):
        stated = getattr(settings, place)
        chosen[place] = stated if stated in axes else free.pop(0) if free else None
    return Layout.model_validate(chosen), free


def _values(cells: Sequence[Cell], axis: str) -> list[Value]:
    """Return the values of a parameter: numbers in their order, words in that of the sweep."""
    found = list(dict.fromkeys(cell.at[axis] for cell in cells))
    return sorted(found) if all(isinstance(value, int | float) for value in found) else found


def _scale(cells: Sequence[Cell]) -> Any:
    """Return the scale of colours around the boundary; of ratios a logarithmic one."""
    from matplotlib.colors import CenteredNorm, LogNorm

    findings = [cell.finding for cell in cells if cell.finding is not None]
    known = np.array([finding.value.value for finding in findings])
    known, boundary = known[np.isfinite(known)], findings[0].boundary
    if boundary > 0 and len(known) and known.min() > 0:
        reach = max(1.1, float(np.exp(np.abs(np.log(known / boundary)).max())))
        return LogNorm(boundary / reach, boundary * reach)
    reach = float(np.abs(known - boundary).max()) if len(known) else 1.0
    return CenteredNorm(boundary, reach or 1.0)


def _panel(
    panel: "Axes", cells: Sequence[Cell], across: Sequence[Value], up: Sequence[Value], layout: Layout, **colours: Any
) -> None:
    """Draw the points of a panel by their values, or by their outcomes; the vertical axis grows upwards."""
    import pandas as pd
    from matplotlib.patches import Rectangle

    by_outcome = "norm" not in colours
    numbers = pd.DataFrame(np.nan, index=list(up), columns=list(across))
    words = numbers.astype(object)
    for cell in cells:
        place = (cell.at[layout.y] if layout.y else "", cell.at[layout.x])
        finding, is_open = cell.finding, cell.verdict.outcome == OPEN
        word = "" if finding is None else _short(finding.value.value)
        words.loc[place] = f"{word} ?".strip() if is_open and by_outcome else word
        if by_outcome:
            numbers.loc[place] = OUTCOMES.index(cell.verdict.outcome)
        elif finding is not None:
            numbers.loc[place] = finding.value.value
            if is_open:
                corner = (across.index(place[1]), up.index(place[0]))
                panel.add_patch(Rectangle(corner, 1, 1, fill=False, hatch=HATCH, ec=style.GREY, linewidth=0, zorder=2))
    if by_outcome:
        colours |= {"cmap": list(COLOURS), "vmin": 0, "vmax": len(OUTCOMES) - 1}
    marks.heat(
        panel, numbers, words, (), [*words.stack().index], cbar=False, linewidths=0.5,
        annot_kws={"fontsize": 6.5}, **colours,
    )  # fmt: skip
    panel.invert_yaxis()
    panel.tick_params(length=0, labelrotation=0)


def _short(value: float) -> str:
    return (f"{value:.0f}" if abs(value) >= 100 else f"{value:.2g}").replace("-", "\N{MINUS SIGN}")


def _verdict_legend(picture: "Picture") -> None:
    from matplotlib.patches import Patch

    patches = [Patch(color=colour, label=outcome) for outcome, colour in zip(OUTCOMES, COLOURS, strict=True)]
    picture.legend(handles=patches, loc="outside lower center", ncols=len(patches))


def _value_legend(picture: "Picture", panels: Sequence["Axes"], shown: "ScalarMappable", quantity: str) -> None:
    from matplotlib.colors import LogNorm

    bar = picture.colorbar(shown, ax=list(panels), orientation="horizontal", aspect=50, pad=0.02)
    bar.set_label(f"{quantity}; hatched: open")
    if isinstance(shown.norm, LogNorm):  # from half as large to twice, say: no power of ten lies within
        ticks = np.geomspace(float(shown.norm.vmin or 0), float(shown.norm.vmax or 0), 5).tolist()
        bar.set_ticks(ticks, labels=[f"{tick:.2g}" for tick in ticks], minor=False)
        bar.minorticks_off()
