"""Entries of an experiment file: where each was written, and the component that it names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.parameters import Reading, nearest
from bocu.robust.objectives.functions import Objective
from bocu.sweep.experiment.branches import Component, ScoringObjective
from bocu.sweep.experiment.configuration import Entry, Experiment
from bocu.sweep.experiment.entry_parameters import read_parameters
from bocu.sweep.experiment.registry import find
from bocu.sweep.experiment.sweep_expansion import Sweep


@dataclass(frozen=True)
class Entries:
    """The entries of an experiment.

    Attributes:
        sweep: the experiment, with what its sweep leaves out.
        origin: from a key to what error lines begin with: the file that has it.
        folder: from a key to the folder that paths below it are relative to.
    """

    sweep: Sweep
    origin: Callable[[str], str]
    folder: Callable[[str], Path]

    @property
    def experiment(self) -> Experiment:
        """What the files say."""
        return self.sweep.experiment

    def at(self, section: str, position: int) -> str:
        """Say where an entry was written: its file, and the keys that lead there."""
        place = self.sweep.place(section, position)
        return f"{self.origin(place.partition(':')[0].partition('.')[0])}{place}"

    def component(self, kind: str, section: str, position: int, entry: Entry) -> Component:
        """Return what an entry names, with its parameters checked.

        Raises:
            BocuError: one line with file, key, what was found and what is allowed.
        """
        where = self.at(section, position)
        folder = self.folder(section)
        found = find(kind, entry.name, f"{where}.name: ", folder)
        try:
            family = found.load()
        except BocuError as error:
            raise BocuError(f"{where}.name: {error}") from None
        parameters = read_parameters(family, entry.parameters, f"{where}.parameters.", Reading(folder))
        made = ScoringObjective if kind == "metric" and issubclass(family, Objective) else Component
        return made(entry.label, found, parameters, title=getattr(entry, "title", ""))


def components_chosen(
    wanted: Sequence[str] | None, key: str, components: Mapping[str, Component], where: str
) -> list[Component]:
    """Return the components that an entry restricts itself to under `key`; all where it says nothing.

    Raises:
        BocuError: a label is none of theirs.
    """
    for place, label in enumerate(named := wanted or []):
        if label in named[:place]:
            raise BocuError(f"{where}.{key}.{place}: '{label}' stands twice; allowed: once")
        if label not in components:
            raise BocuError(f"{where}.{key}: no entry of '{key}' has the label '{label}'; {nearest(label, components)}")
    return [component for label, component in components.items() if wanted is None or label in wanted]
