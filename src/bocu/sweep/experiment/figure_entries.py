"""What the entries of `figures` come to: each figure, and the problems that it is drawn for."""

from collections.abc import Mapping, Sequence
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.rounds import TIME_VARYING, BoxDomain, Outline
from bocu.sweep.experiment.branches import Component
from bocu.sweep.experiment.configuration import Experiment, FigureEntry
from bocu.sweep.experiment.entries import Entries, components_chosen
from bocu.sweep.experiment.problem_entries import protocol_of
from bocu.sweep.experiment.registry import registered

ALL = "all"  # in place of problems, of a figure over the whole experiment


def figures_of(
    entries: Entries, problems: Mapping[str, Component], outlines: Mapping[str, Outline]
) -> tuple[dict[str, Component], dict[str, list[str]]]:
    """Return the figures of an experiment by label, and by the same labels the problems that each is drawn for.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed.
    """
    figures: dict[str, Component] = {}
    drawn_for: dict[str, list[str]] = {}
    for position, entry in enumerate(_entries(entries, problems, outlines)):
        figure = _against(entries.component("figure", "figures", position, entry), entries.experiment)
        figures[figure.label] = figure
        if figure.kind.scope == "experiment":
            drawn_for[figure.label] = [ALL]
            continue
        where = entries.at("figures", position)
        drawn_for[figure.label] = [
            problem.label
            for problem in components_chosen(entry.problems, "problems", problems, where)
            if _shows(figure.kind, problem, outlines[problem.label])
        ]
        if not drawn_for[figure.label]:
            raise BocuError(f"{where}: '{figure.label}' is drawn for no problem of this experiment")
    return figures, drawn_for


def _entries(
    entries: Entries, problems: Mapping[str, Component], outlines: Mapping[str, Outline]
) -> Sequence[FigureEntry]:
    """Return the entries of the file; where it has none, those of all figures that have something to show."""
    if entries.experiment.figures is not None:
        return entries.experiment.figures
    return [
        FigureEntry(label=figure.name, name=figure.name)
        for figure in registered("figure")
        if (kind := figure.load()).by_default
        and (
            kind.scope == "experiment"
            or any(_shows(kind, problem, outlines[label]) for label, problem in problems.items())
        )
    ]


def _against(figure: Component, experiment: Experiment) -> Component:
    """Return a figure with the experiment's `reference` and `leads_within`, where it takes such and names none."""
    against = getattr(figure.parameters, "against", None)
    if against is None:
        return figure
    return Component(figure.label, figure.registered, against(experiment.reference, experiment.leads_within))


def _shows(figure: Any, problem: Component, outline: Outline) -> bool:
    """Say whether a figure is defined for a problem."""
    protocol = protocol_of(problem)
    without = protocol not in TIME_VARYING and outline.priors == ()
    box = figure.finite_decisions and isinstance(outline.decisions, BoxDomain)
    return protocol in figure.protocols and not (box or (figure.of_priors and without))
