"""A figure of results beside what the archive holds of the same problems: nothing of that is run again."""

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bocu.core import style
from bocu.core.about import read_look
from bocu.core.written import counted, spoken
from bocu.pages.figures.base import NOTHING, Drawing, save
from bocu.pages.figures.who_wins import Compared, compared, drawn
from bocu.sweep.archive.comparing import Meeting, meetings, met_by, own_entry
from bocu.sweep.archive.entries import Archive, ArchivedFile
from bocu.sweep.archive.identities import Asked, identities_of
from bocu.sweep.evaluation.claims.reduced import numbers_in
from bocu.sweep.experiment.configuration import Margin
from bocu.sweep.experiment.paths import ResultPaths

TITLE = "Beside the archive"


def write_beside(
    question: Mapping[str, Any], cubes: Path | Sequence[Path], folder: Path, archive: Archive | None = None
) -> Path:
    """Draw results beside those of the archive, and return the description of the figure.

    Args:
        question: of the experiment, by `comparing.question`.
        cubes: those of its problems, or the folder of its results.
        folder: where pictures, table and description are written.
        archive: what is compared with; left out, that of the clone.

    Raises:
        BocuError: a problem's data are not at hand.
    """
    asked = {label: Asked(**one) for label, one in question["asked"].items()}
    with ExitStack() as files:
        paths = [cubes] if isinstance(cubes, Path) else cubes
        numbers = {label: own for path in paths for label, own in numbers_in(path, files).items()}
        found = identities_of(asked, numbers)
        entry = own_entry(question["name"], numbers, found, question["about"])
        drawing = beside(entry, archive or Archive(), Margin.model_validate(question["margin"]))
    description = folder / Path(ResultPaths("").beside_archive()).name
    save(drawing, description.with_suffix(".png"), description.with_suffix(".svg"), description)
    return description


def beside(entry: ArchivedFile, archive: Archive, margin: Margin | None) -> Drawing:
    """Draw an entry's branches with those of an archive that meet them."""
    others = list(met_by(entry, archive))
    every = meetings(entry, others, margin)
    met = [each for each in every if len({run.entry is entry for run in each.runs.values()}) == 2]  # mine and theirs
    found = [one for each in met for one in comparison(each, entry)]
    if not any(one.unit > 0 for one in found):
        reason = f"{archive.folder} has no other method of the same problems, metrics and seeds"
        picture = style.new_figure(1.0)
        return Drawing(picture, TITLE, f"{NOTHING}{reason}", f"{NOTHING}{reason}")
    with style.applied():
        drawing = drawn(found)
    files = dict.fromkeys(run.entry for each in met for run in each.runs.values() if run.entry is not entry)
    told = spoken([file.file.name + (f" ({file.added})" if file.added else "") for file in files])
    branches = counted(len({run for each in met for run in each.runs.values() if run.entry is not entry}), "branch")
    cut = sorted(
        {(each.problem, each.rounds) for each in met if each.rounds < entry.reduced.problems[each.problem].known.rounds}
    )
    rounds = "".join(f" On {problem} up to round {last}, which all have." for problem, last in cut)
    caption = f"Not run again, and taken from the archive: {branches} of {told}.{rounds} {drawing.caption}"
    return dataclasses.replace(drawing, title=TITLE, caption=caption)


def comparison(met: Meeting, entry: ArchivedFile) -> list[Compared]:
    """Return a meeting as figures of who wins show it, titles of an entry's problem, objective and metric over it."""
    about = entry.reduced.about
    looks = {key: style.stroke(read_look(run.told["look"])) for key, run in met.runs.items()}
    words = met.problem, about["objectives"], about["metrics"]
    label = entry.reduced.problems[met.problem].data_label
    shared = met.problem, met.titles, looks, label
    one = compared(words, {(met.objective, met.metric): met.table}, shared)
    pursuing = {run.entry.reduced.about["objectives"][run.objective] for run in met.runs.values() if run.key[1]}
    scored = about["metrics"][met.metric]
    if met.objective != met.metric:
        scored += "".join(f", pursuing {told}" for told in sorted(pursuing)[:1])
    return [dataclasses.replace(each, scored=scored) for each in one]
