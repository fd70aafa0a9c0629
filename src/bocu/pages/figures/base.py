"""What a figure is, what its parameters may name, how its picture is finished and its files are written.

A figure is registered under a name, built from its parameters and drawn from the files that `Parameters.inputs` names.
Planning imports these modules, so matplotlib and xarray are imported where they are used.
"""

import os
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, Self

from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path, write_json, write_text
from bocu.core.io.lineage import LINEAGE, lineage_of
from bocu.core.loading import load, made
from bocu.core.parameters import Parameters, ParametersType, nearest, sections
from bocu.core.rounds import TIME_VARYING, Outline
from bocu.sweep.evaluation.prior_choices import REPORTED
from bocu.sweep.experiment.configuration import Margin
from bocu.sweep.experiment.registry import registered

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from bocu.pages.figures.results import Results
    from bocu.sweep.experiment.branches import Branch
    from bocu.sweep.experiment.plan import Plan
    from bocu.sweep.experiment.products import FigurePaths
    from bocu.sweep.experiment.registry import RegisteredClass

LINE_LETTERS = 92  #: Letters of a line of text across a picture.

MOST_TICKS = 4
STEPS = [1, 2, 2.5, 5, 10]
LETTER = 0.52  #: Width of a letter of a title, on the average, in sizes of its type.
_DARK = {
    **{light: style.DARK_COLOURS[name] for name, light in style.COLOURS.items()},
    style.INK: "#E6E6E6",
    style.GRID: "#3C4148",
    style.PALE: "#565C64",
}
"""What colours become on a dark page."""

NO_TABLE = "no table"
NOTHING = "Nothing to show: "

Inputs = Mapping[str, Any]  #: Paths by the keys of `FigureParameters.inputs`: text or `Path`, or lists of them.


@dataclass(frozen=True)
class Mention:
    """A name of something else in the experiment that stands in the parameters of a figure."""

    key: str  #: where it stands.
    #: "problem", "objective", "algorithm", "metric" or "prior": labels; of the first four also "... of the file", where
    #: a sweep's entries go by the label that they were made from; "branch": an algorithm's label, or
    #: `algorithm/objective`; "seed"; "swept parameter": its name; "swept parameter or value": that, or what labels have
    #: for a value; "rejecting algorithm": a registered name, run here or not, of one that rejects priors by their
    #: errors.
    kind: str
    name: str | int  #: what stands there.


def mentions(kind: str, key: str, value: Any) -> Iterator[Mention]:
    """Return what a value mentions: nothing, one name, the keys of a mapping, or a list of names or of such lists."""
    if isinstance(value, str | int):
        yield Mention(key, kind, value)
    elif isinstance(value, Mapping):
        for name in value:
            yield Mention(f"{key}.{name}", kind, name)
    else:
        for place, item in enumerate(value or ()):
            yield from mentions(kind, f"{key}.{place}", item)


@dataclass(frozen=True)
class Naming:
    """Says of a field of parameters what it names: `metric: Annotated[str, Naming("metric")]`."""

    kind: str


Algorithms = Annotated[list[str] | None, Naming("algorithm")]
"""The type of a field that holds labels of algorithms, or None for all."""


class PictureParameters(Parameters):
    """Parameters of any figure."""

    title: str | None = Field(None, description="Heading of the figure; that of its kind, if left out.")

    def mentioned(self) -> Iterator[Mention]:
        """Return the names of other things in the experiment, in fields with a `Naming`; planning looks them up."""
        for path, section in sections(self):
            for key, field in type(section).model_fields.items():
                for names in (each for each in field.metadata if isinstance(each, Naming)):
                    yield from mentions(names.kind, f"{path}{key}", getattr(section, key))


class ComparingParameters(PictureParameters):
    """Parameters of a figure that compares all algorithms with one."""

    reference: Annotated[str | None, Naming("algorithm")] = Field(
        None,
        description="Label of the algorithm that counts as 1; the experiment's `reference`, the registered 'random' or "
        "the first, if left out.",
    )

    def against(self, label: str | None, margin: Margin | None = None) -> Self:
        """Return these parameters with the experiment's reference and margin, where they take such and name none."""
        given = {"reference": label, "leads_within": margin}
        known = type(self).model_fields
        update = {key: value for key, value in given.items() if key in known and getattr(self, key) is None}
        return self.model_copy(update=update)


class FigureParameters(PictureParameters):
    """Parameters of a figure that is drawn once for each problem.

    Attributes:
        draws_problem: whether the problem itself is drawn: then the inputs hold, under "problem", its label and
            specification besides the files that are named.
    """

    draws_problem: ClassVar[bool] = False

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        """Name the files that the figure is drawn from. Opens none."""
        return {"cube": paths.cube}


class DigestedParameters(FigureParameters):
    """Parameters of a figure that is drawn from the digest of the cube, which is read in no time."""

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        return {"digest": paths.digest}


def refuse_unknown_mentions(plan: "Plan", figure: str, outlines: Mapping[str, Outline], where: str) -> None:
    """Refuse a figure that mentions what the experiment does not have where the figure is drawn.

    Args:
        plan: what the experiment comes to.
        figure: label of the figure.
        outlines: what is known of each problem.
        where: file and key of the figure's parameters.

    Raises:
        BocuError: one line with the nearest name.
    """
    component = plan.figures[figure]
    assert isinstance(component.parameters, PictureParameters)
    whole = component.kind.scope == "experiment"
    for mention in component.parameters.mentioned():
        for problems in [list(plan.problems)] if whole else [[label] for label in plan.figure_problems[figure]]:
            known = _known(plan, mention, problems, outlines)
            if known is not None and mention.name not in known:
                there = "" if whole else f" on '{problems[0]}'"
                raise BocuError(f"{where}{mention.key}: {_unknown(plan, mention, known, there)}")


def _unknown(plan: "Plan", mention: Mention, known: Collection[str | int], there: str) -> str:
    if mention.kind == "seed":
        seeds = plan.experiment.seeds
        return f"found {mention.name}; allowed: {seeds.first} to {seeds.first + seeds.count - 1}"
    return f"no {mention.kind} '{mention.name}'{there}; {nearest(str(mention.name), map(str, known))}"


def _known(
    plan: "Plan", mention: Mention, problems: list[str], outlines: Mapping[str, Outline]
) -> Collection[str | int] | None:
    """Return the names that a mention may have; None where only the data can tell."""
    branches: list[Branch] = [branch for problem in problems for branch in plan.branches_of(problem)]
    algorithms = {branch.key[2] for branch in branches}
    match mention.kind:
        case "problem":
            return problems
        case "objective":
            return {branch.key[1] for branch in branches}
        case "algorithm":
            return algorithms
        case "branch":
            return algorithms | {f"{branch.key[2]}/{branch.key[1]}" for branch in branches}
        case "metric":
            return {metric.label for problem in problems for metric in plan.metrics_of(problem)}
        case "swept parameter":
            return list(plan.sweep.axes)
        case "swept parameter or value":
            return {*plan.sweep.axes, *(piece for axis in plan.sweep.axes.values() for piece in axis.pieces)}
        case "problem of the file" | "objective of the file" | "algorithm of the file" | "metric of the file":
            section = f"{mention.kind.partition(' ')[0]}s"
            return {plan.sweep.base(section, entry.label) for entry in getattr(plan.experiment, section)}
        case "rejecting algorithm":
            return {entry.name for entry in registered("algorithm") if _rejects(entry)}
        case "seed":
            seeds = plan.experiment.seeds
            return range(seeds.first, seeds.first + seeds.count)
        case "prior":
            return outlines[problems[0]].priors
    raise AssertionError(f"no kind '{mention.kind}'")


def _rejects(entry: "RegisteredClass") -> bool:
    """Say whether an algorithm reports the errors by which it rejects priors."""
    kind = entry.load()
    return set(TIME_VARYING) <= set(kind.protocols) and {*REPORTED} <= {report.name for report in kind.reports}


@dataclass(frozen=True)
class Drawing:
    """A finished picture with its words."""

    figure: "matplotlib.figure.Figure"  #: the picture.
    title: str  #: a short heading.
    caption: str  #: what is drawn: seeds, mean and spread, metric, units.
    alternative: str  #: what the picture shows, for readers who do not see it.
    problem: str = ""  #: label of the problem; empty for a figure of the whole experiment.
    data_label: str = ""  #: what the data are where they are not measured ("SIMULATED stand-in, ..."); empty otherwise.
    #: the numbers that are drawn, a row a point; empty where nothing is, None where the figure keeps none.
    table: "pd.DataFrame | None" = None
    narrow: "matplotlib.figure.Figure | None" = None  #: the picture for a phone, if there is another.


class Figure(ABC, Generic[ParametersType]):
    """A family of pictures. Subclasses say what stands in them in `compose`; `draw` gives them their style."""

    about: ClassVar[About]
    #: Drawn for each "problem" that it is defined for, or once for the whole "experiment".
    scope: ClassVar[Literal["problem", "experiment"]] = "problem"
    #: The protocols of the problems that it is defined for.
    protocols: ClassVar[tuple[str, ...]] = ()
    #: Whether a figure of the whole experiment is drawn from the digests of the cubes, and from no cube.
    digested: ClassVar[bool] = False
    #: Whether it is about candidate priors, and so drawn of problems that have some.
    of_priors: ClassVar[bool] = False
    #: Whether it lays out finitely many decisions, and so is not drawn where they are a box.
    finite_decisions: ClassVar[bool] = False
    #: Whether it is drawn where an experiment names no figures.
    by_default: ClassVar[bool] = True
    Parameters: ClassVar[type[Parameters]]

    def __init__(self, parameters: ParametersType) -> None:
        self.parameters = parameters

    @abstractmethod
    def compose(self, inputs: Inputs) -> Drawing:
        """Draw, without the mark of simulated data."""

    def draw(self, inputs: Inputs) -> Drawing:
        """Draw from files.

        Args:
            inputs: the files, by the keys of `Parameters.inputs`; experiment-wide figures get `summary`, and `digests`
                where they are `digested`, else `cubes`.

        Raises:
            BocuError: a file is missing or broken, or holds nothing that the figure could show.
        """
        with style.applied():
            drawing = self.compose(inputs)
            if isinstance(self.parameters, PictureParameters) and self.parameters.title:
                drawing = replace(drawing, title=self.parameters.title)
            for picture in filter(None, (drawing.figure, drawing.narrow)):
                finish(picture)
                if drawing.data_label:
                    style.mark_simulated(picture)
            if not drawing.data_label:
                return drawing
            return replace(
                drawing,
                caption=f"{drawing.caption} Simulated data ({drawing.data_label}).",
                alternative=f"{drawing.alternative} The picture is marked as showing simulated data.",
            )


def nothing_to_show(cube: "Results", title: str, reason: str, whole_experiment: bool = False) -> Drawing:
    """Say in a picture why there is none, so that a figure that an experiment cannot fill does not stop it."""
    return said_only(title, reason, "" if whole_experiment else cube.problem, cube.data_label)


def said_only(title: str, reason: str, problem: str, data_label: str = "") -> Drawing:
    """Say in a line why there is no picture, and of what data it would have been."""
    said = f"{NOTHING}{reason}."
    lines = textwrap.wrap(said, LINE_LETTERS)
    figure = style.new_figure(0.12 + 0.15 * len(lines))
    # In inches from below, out of the way of the strip that simulated data add above.
    figure.text(0.0, 0.06, "\n".join(lines), ha="left", va="bottom", transform=figure.dpi_scale_trans)
    return Drawing(figure, title, said, said, problem, data_label)


def draw_files(parameters: Mapping[str, Any], inputs: Inputs, outputs: Mapping[str, str | Path]) -> None:
    """Draw a figure as a figure job of the workflow is told to.

    Args:
        parameters: `specification`, plain, and of a figure of the problem itself `problem`, of `JobParameters.figure`.
        inputs: the files that it is drawn from.
        outputs: what `save` writes: `png`, `svg`, `description`; table and PDF stand beside the last.
    """
    specification = parameters["specification"]
    kind = load(specification["class"])
    figure: Figure = made(specification["class"], kind, kind.Parameters.model_validate(specification["parameters"]))
    drawn_from = {**inputs, **({"problem": parameters["problem"]} if "problem" in parameters else {})}
    save(figure.draw(drawn_from), outputs["png"], outputs["svg"], outputs["description"])


def save(drawing: Drawing, png: str | Path, svg: str | Path, description: str | Path) -> None:
    """Write a drawing as PNG, SVG and PDF, its words as JSON, its table as CSV; each appears whole or not at all.

    PDF and table have the name of the words; where there is no table, its file holds a line of text.
    The same drawing gives the same bytes: no dates, no random identifiers. The JSON names the pictures relative to
    itself, so that a results folder can be moved.
    """
    folder, lineage = Path(description).parent, lineage_of(description)
    csv, pdf = (Path(description).with_suffix(suffix) for suffix in (".csv", ".pdf"))
    table = None if drawing.table is None or drawing.table.empty else drawing.table
    if table is not None and drawing.data_label:
        table = table.assign(data=drawing.data_label)
    title, told = {"Title": drawing.title}, drawing.alternative
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": None, **title, "Description": told},
        "svg": {"Date": None, **title, "Description": told},
        "pdf": {"CreationDate": None, **title, "Subject": told},
    }
    with style.applied():
        for path, kind in ((png, "png"), (svg, "svg"), (pdf, "pdf")):
            with atomic_path(path) as temporary:
                if kind == "svg":
                    temporary.write_text(svg_of(drawing.figure, metadata["svg"]), encoding="utf-8")
                else:
                    drawing.figure.savefig(temporary, format=kind, metadata=metadata[kind], transparent=kind != "png")
            drawing.figure.set_layout_engine("none")  # once is enough: it would take as long again for each file
        narrow: dict[str, str] = {} if drawing.narrow is None else {"narrow": svg_of(drawing.narrow, metadata["svg"])}
    write_text(csv, f"{NO_TABLE}\n" if table is None else table.to_csv(index=False))
    write_json(
        description,
        {
            "title": drawing.title,
            "caption": drawing.caption,
            "alternative": drawing.alternative,
            "problem": drawing.problem,
            "data_label": drawing.data_label,
            "png": link(png, folder),
            "svg": link(svg, folder),
            "pdf": link(pdf, folder),
            **({} if table is None else {"csv": link(csv, folder)}),
            **narrow,
            **({} if lineage is None else {LINEAGE: asdict(lineage)}),
        },
    )


def svg_of(figure: "matplotlib.figure.Figure", metadata: Mapping[str, Any]) -> str:
    """Return a picture as SVG that suits dark pages, in the style that is applied."""
    written = StringIO()
    figure.savefig(written, format="svg", metadata=metadata, transparent=True)
    return themed(written.getvalue())


def link(path: str | Path, folder: Path) -> str:
    """Return where a file lies for what stands in a folder."""
    return Path(os.path.relpath(path, folder)).as_posix()


def finish(figure: "matplotlib.figure.Figure") -> None:
    """Set on all axes two to four ticks where matplotlib chose them, and break titles that are too long."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _tick(axis)
        _fit_title(axes)


def _tick(axis: "Axis") -> None:
    from matplotlib.ticker import AutoLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    locator = axis.get_major_locator()
    if type(locator) is AutoLocator:
        low, high = sorted(axis.get_view_interval())
        whole = axis.get_label_text() == "round"
        many, few = (
            MaxNLocator(ticks, steps=STEPS, min_n_ticks=2, integer=whole) for ticks in (MOST_TICKS, MOST_TICKS - 1)
        )
        shown = [place for place in many.tick_values(low, high) if low <= place <= high]
        axis.set_major_locator(many if len(shown) <= MOST_TICKS else few)
    elif type(locator) is LogLocator:
        low, high = sorted(axis.get_view_interval())
        decades = [place for place in locator.tick_values(low, high) if low <= place <= high]
        if len(decades) > MOST_TICKS:
            axis.set_major_locator(LogLocator(numticks=MOST_TICKS))
            axis.set_minor_locator(NullLocator())
        elif len(decades) < 3:
            places = [digit * 10.0**power for power in range(-12, 13) for digit in (1, 2, 5)]
            shown = [place for place in places if low <= place <= high]
            if len(shown) > MOST_TICKS:
                shown = shown[:: -(-len(shown) // MOST_TICKS)]
            axis.set_ticks(shown)
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())


def _fit_title(axes: "Axes") -> None:
    place = axes.get_subplotspec()
    figure = axes.get_figure(root=True)
    if place is None or figure is None:
        return
    abreast = place.get_gridspec().ncols / len(place.colspan)
    for title in (axes.title, axes._left_title):  # type: ignore[attr-defined]
        size = float(title.get_fontsize()) * LETTER / 72.0
        letters = max(8, int(0.92 * figure.get_size_inches()[0] / abreast / size))
        lines = title.get_text().split("\n")
        if max(map(len, lines)) > letters:
            title.set_text("\n".join(textwrap.fill(line, letters, break_on_hyphens=False) for line in lines))


def themed(svg: str) -> str:
    """Return an SVG picture whose ink turns light where the reader asks for dark pages; its ground is transparent."""
    rules = "".join(
        f'[style*="{what}: {light.lower()}"]{{{what}:{dark.lower()} !important}}'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    )
    rule = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>\n"
    return re.sub(r"(<svg\b[^>]*>\n?)", lambda found: found[1] + rule, svg, count=1)
