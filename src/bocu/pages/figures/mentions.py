"""Looking up what figures mention: labels of problems, objectives, algorithms, metrics and priors; seeds."""

from collections.abc import Collection, Mapping

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.core.rounds import TIME_VARYING, Outline
from bocu.pages.figures.base import Mention, PictureParameters
from bocu.sweep.evaluation.prior_choices import REPORTED
from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.registry import RegisteredClass, registered


def refuse_unknown_mentions(plan: Plan, figure: str, outlines: Mapping[str, Outline], where: str) -> None:
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


def _unknown(plan: Plan, mention: Mention, known: Collection[str | int], there: str) -> str:
    if mention.kind == "seed":
        seeds = plan.experiment.seeds
        return f"found {mention.name}; allowed: {seeds.first} to {seeds.first + seeds.count - 1}"
    return f"no {mention.kind} '{mention.name}'{there}; {nearest(str(mention.name), map(str, known))}"


def _known(
    plan: Plan, mention: Mention, problems: list[str], outlines: Mapping[str, Outline]
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


def _rejects(entry: RegisteredClass) -> bool:
    """Say whether an algorithm reports the errors by which it rejects priors."""
    kind = entry.load()
    return set(TIME_VARYING) <= set(kind.protocols) and {*REPORTED} <= {report.name for report in kind.reports}
