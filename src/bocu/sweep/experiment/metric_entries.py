"""What the entries of `metrics` come to: a metric for each law that it scores under, and what it cannot score."""

from collections.abc import Collection
from dataclasses import replace

from bocu.core.errors import BocuError
from bocu.core.loading import load
from bocu.core.parameters import Reading, sections
from bocu.core.rounds import CONTINUOUS, TIME_VARYING
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.contexts.cells import points_of
from bocu.sweep.experiment.branches import Component
from bocu.sweep.experiment.configuration import LONGEST_LABEL, MetricEntry

# By name: evaluation knows what a law of scoring is.
_READ_UNDER, _SEVERAL_UNDER = "bocu.sweep.evaluation.under:read_under", "bocu.sweep.evaluation.under:several"


def metrics_of(
    entry: MetricEntry, metric: Component, taken: Collection[str], where: str, reading: Reading
) -> list[Component]:
    """Return the metrics of an entry: one for each law that it scores under.

    Args:
        entry: as the file has it.
        metric: what it names.
        taken: labels of all entries.
        where: the place of the entry, for errors.
        reading: how what it names is found.

    Raises:
        BocuError: a law is not one, or there is no label for each.
    """
    metric = replace(metric, entry=entry.label)
    if entry.under is None:
        return [metric]
    laws = [law.model_dump(mode="json") for law in load(_READ_UNDER)(entry.under, f"{where}under.", reading)]
    if not load(_SEVERAL_UNDER)(entry.under):
        return [replace(metric, under=laws[0])]
    labels = [f"{metric.label}-{place}" for place in range(len(laws))]
    for label in labels:
        if len(label) > LONGEST_LABEL or label in taken:
            raise BocuError(f"{where}under: '{label}' is too long a label or stands twice; give the entry another")
    return [replace(metric, label=label, under=law) for label, law in zip(labels, laws, strict=True)]


def refuse_unscorable(where: str, metric: Component, problem: Component, protocol: str) -> None:
    """Refuse what makes no sense where one law is all that there is, and what its discretisation is too large for.

    One law is all on continuous contexts, and under another law.

    Raises:
        BocuError: one line with the key.
    """
    if metric.under is not None and protocol in TIME_VARYING:
        raise BocuError(f"{where}.under: '{problem.label}' has time steps for contexts, which follow no law")
    continuous = protocol in CONTINUOUS
    if not continuous and metric.under is None:
        return
    cells = points_of(problem.kind.size(problem.parameters).context_coordinates) if continuous else 0
    for path, section in sections(metric.parameters):
        if not isinstance(section, SetParameters):
            continue
        counts = section.family.has_radius and getattr(metric.kind, "radius_matters", True)
        if counts and section.radius == "margin":
            alone = f"on '{problem.label}'" if metric.under is None else "under a law"
            raise BocuError(
                f"{where}.parameters.{path}radius: found 'margin', the distance of the truth from the reference, "
                f"which {alone} is 0; give a number"
            )
        most = section.family.most_cells
        if most is not None and cells > most:
            raise BocuError(
                f"{where}.parameters.{path}name: '{section.name}' takes up to {most} contexts; the discretisation "
                f"of '{problem.label}' has {cells}"
            )
