"""A sweep expanded: an entry for each point of its own parameters, and which of them go together."""

import copy
import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.core.plain import Plain
from bocu.sweep.experiment.configuration import LONGEST_LABEL, Entry, Experiment
from bocu.sweep.experiment.sweep_axes import EVERY, SECTIONS, Axis, Coordinate, Grid, Point, points_of_grids

Has = Callable[[str, int, str], bool]  #: Whether the class of an entry, by section and place, has a parameter.


@dataclass(frozen=True)
class SweptEntry:
    """An entry that a sweep has made."""

    base: str  #: label of the entry that it was made from.
    point: Point  #: the values of its own parameters.


@dataclass(frozen=True)
class Sweep:
    """What a sweep comes to; without one it has no axes."""

    experiment: Experiment  #: with the entries that the sweep makes.
    axes: Mapping[str, Axis] = field(default_factory=dict)  #: by name, with all values of all grids.
    #: what it has made, by section and label.
    entries: Mapping[tuple[str, str], SweptEntry] = field(default_factory=dict)
    #: of every section, where the entry that became each of its entries stands in the file.
    places: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def together(self, *named: tuple[str, str]) -> bool:
        """Say whether entries, by section and label, belong to one point at least."""
        own: dict[str, str] = {}
        for one in named:
            for name, piece in self.entries[one].point.items() if one in self.entries else ():
                if own.setdefault(name, piece) != piece:
                    return False
        return any(all(piece in grid[name] for name, piece in own.items()) for grid in self._grids)

    @functools.cached_property
    def _grids(self) -> list[Plain]:
        return [{name: axis.pieces for name, axis in grid.items()} for grid in self.experiment.sweep] or [{}]

    def base(self, section: str, label: str) -> str:
        """Return the label in the file."""
        made = self.entries.get((section, label))
        return made.base if made else label

    def coordinates(self, section: str, label: str) -> dict[str, Coordinate]:
        """Return the values of an entry's own parameters by axis; none where it is not swept."""
        made = self.entries.get((section, label))
        return {} if made is None else {name: self.axes[name].coordinate(piece) for name, piece in made.point.items()}

    def written(self, section: str, label: str) -> list[str]:
        """Return an entry's values as people read them, such as "noise 0.1"; none where it is not swept."""
        made = self.entries.get((section, label))
        point = made.point if made else {}
        return [f"{name} {self.axes[name].written(piece)}" for name, piece in point.items()]

    def place(self, section: str, position: int) -> str:
        """Say where an entry of the expanded experiment was written."""
        if section not in self.places:
            return f"{section}.{position}"
        written = f"{section}.{self.places[section][position]}"
        values = self.written(section, getattr(self.experiment, section)[position].label)
        return f"sweep: {', '.join(values)}: {written}" if values else written


def expand_sweeps(experiment: Experiment, has: Has, where: str = "") -> Sweep:
    """Replace swept entries of an experiment by one entry a point of their own parameters.

    Args:
        experiment: as the file has it.
        has: whether an entry's class has a parameter; asked where an axis sets it of every entry.
        where: the file, for error lines.

    Raises:
        BocuError: an axis sets what there is not, or twice, or two entries would have one label.
    """
    grids = experiment.sweep
    if not grids:
        return Sweep(experiment)
    axes = _whole_axes(grids, where)
    paths = _targets(experiment, axes, has, where)
    points = list(points_of_grids(grids))
    made: dict[tuple[str, str], SweptEntry] = {}
    update: dict[str, list[Any]] = {}
    places: dict[str, list[int]] = {}
    for section in SECTIONS:
        update[section], places[section] = [], []
        for position, entry in enumerate(getattr(experiment, section)):
            own = paths.get((section, position))
            if not own:
                update[section].append(entry)
                places[section].append(position)
                continue
            for point in _projected(points, list(dict.fromkeys(name for name, _ in own))):
                label = _label(entry.label, point, where)
                values = {path: axes[name].pieces[point[name]] for name, path in own}
                update[section].append(_at(entry, label, values, where))
                places[section].append(position)
                made[section, label] = SweptEntry(entry.label, point)
        label, count = (
            Counter(entry.label for entry in update[section]).most_common(1)[0] if update[section] else ("", 0)
        )
        if count > 1:
            raise BocuError(f"{where}sweep: two entries of '{section}' would have the label '{label}'")
    sweep = Sweep(experiment.model_copy(update=update), axes, made, places)
    return replace(sweep, experiment=_with_references(sweep))


def _whole_axes(grids: Sequence[Grid], where: str) -> dict[str, Axis]:
    """Return the axes with the values of all grids."""
    axes = dict(grids[0])
    for place, grid in enumerate(grids[1:], 1):
        for name, axis in grid.items():
            if axis.of != axes[name].of or isinstance(axis.values, dict) != isinstance(axes[name].values, dict):
                raise BocuError(f"{where}sweep.{place}.{name}: it sets something else than in the first grid")
            values: Any
            if isinstance(axis.values, dict):
                values = {**axes[name].pieces, **axis.pieces}
            else:
                values = list({**axes[name].pieces, **axis.pieces}.values())
            axes[name] = Axis(of=axis.of, values=values)
    return axes


def _targets(
    experiment: Experiment, axes: Mapping[str, Axis], has: Has, where: str
) -> dict[tuple[str, int], list[tuple[str, tuple[str, ...]]]]:
    """Return what is set of each entry, by section and place: names of axes and paths of keys."""
    found: dict[tuple[str, int], list[tuple[str, tuple[str, ...]]]] = {}
    for name, axis in axes.items():
        for section, label, path in axis.targets:
            entries = getattr(experiment, section)
            if label == EVERY:
                places = [place for place in range(len(entries)) if has(section, place, path[0])]
                if not places:
                    raise BocuError(f"{where}sweep.{name}: no entry of '{section}' has the parameter '{path[0]}'")
            else:
                places = [place for place, entry in enumerate(entries) if entry.label == label]
                if not places:
                    raise BocuError(
                        f"{where}sweep.{name}: no entry of '{section}' has the label '{label}'; "
                        f"{nearest(label, [entry.label for entry in entries])}"
                    )
            for place in places:
                own = found.setdefault((section, place), [])
                if other := next((other for other, there in own if there == path), None):
                    twice = f"'{'.'.join(path)}' of '{entries[place].label}'"
                    raise BocuError(f"{where}sweep.{name}: {twice} is set by '{other}' too")
                own.append((name, path))
    return found


def _projected(points: Sequence[Point], names: Sequence[str]) -> list[Point]:
    found = {tuple(point[name] for name in names): None for point in points}
    return [dict(zip(names, pieces, strict=True)) for pieces in found]


def _label(base: str, point: Point, where: str) -> str:
    label = "-".join([base, *(part for name, piece in point.items() for part in (name, piece))])
    if len(label) > LONGEST_LABEL:
        raise BocuError(
            f"{where}sweep: '{label}' is longer than {LONGEST_LABEL} letters; give parameters shorter names, such as "
            "`length: {of: problems.hills.kernel_lengthscale, values: [...]}`"
        )
    return label


def _at(entry: Entry, label: str, values: Mapping[tuple[str, ...], object], where: str) -> Entry:
    parameters = copy.deepcopy(entry.parameters)
    for path, value in values.items():
        inside = parameters
        for key in path[:-1]:
            found = inside.get(key)
            # A set, a model or a law may be written by its name alone.
            inside[key] = {"name": found} if isinstance(found, str) else {} if found is None else found
            if not isinstance(inside[key], dict):
                raise BocuError(f"{where}sweep: '{key}' of '{entry.label}' is no mapping; nothing inside it can be set")
            inside = inside[key]
        inside[path[-1]] = value
    return entry.model_copy(update={"label": label, "parameters": parameters})


def _with_references(sweep: Sweep) -> Experiment:
    """Let entries that name others by their labels in the file name all that were made of these."""
    made: dict[tuple[str, str], list[str]] = {}
    for (section, label), entry in sweep.entries.items():
        made.setdefault((section, entry.base), []).append(label)
    update = {}
    for section in (*SECTIONS, "priors", "figures"):
        entries = []
        for entry in getattr(sweep.experiment, section) or []:
            wanted = {}
            for key in ("problems", "objectives"):
                if labels := getattr(entry, key, None):
                    wanted[key] = [new for label in labels for new in made.get((key, label), [label])]
            entries.append(entry.model_copy(update=wanted) if wanted else entry)
        if getattr(sweep.experiment, section) is not None:
            update[section] = entries
    return sweep.experiment.model_copy(update=update)
