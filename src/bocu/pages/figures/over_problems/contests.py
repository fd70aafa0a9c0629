"""What is compared over problems: one contest a problem, and the algorithms that take part in all of them."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeVar

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.core.written import counted, spoken
from bocu.pages.figures.base import (
    Algorithms,
    ComparingParameters,
    Drawing,
    Figure,
    Inputs,
    Naming,
    PictureParameters,
    nothing_to_show,
)
from bocu.pages.figures.marks import looks_of, titles_of
from bocu.pages.figures.results import DONE, CubeBranch, Results, all_results, shared_data_label
from bocu.sweep.evaluation.run_statistics import SECONDS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture


class OverProblemsParameters(PictureParameters):
    """Parameters of any figure that compares algorithms over problems."""

    metric: Annotated[str | None, Naming("metric")] = Field(
        None,
        description="Label of the metric; left out, that of each problem's first objective, or its first metric.",
    )
    problems: Annotated[list[str] | None, Naming("problem")] = Field(
        None, description="Labels of the problems; all that the metric scores, if left out."
    )
    pursued: Annotated[list[str] | None, Naming("objective")] = Field(
        None,
        description="Labels of the objectives whose runs take part, beside those of algorithms that pursue none; the "
        "metric's label, or each problem's first, if left out.",
    )
    algorithms: Algorithms = Field(
        None,
        description="Labels of the algorithms that are compared; all but yardsticks that run on every problem, if left "
        "out.",
    )


OverProblemsType = TypeVar("OverProblemsType", bound=OverProblemsParameters)


class RelativeParameters(OverProblemsParameters, ComparingParameters):
    """Parameters of such a figure in which regret is relative to that of one algorithm."""


@dataclass(frozen=True)
class Contest:
    """One problem under one metric.

    Attributes:
        cube: its results.
        metric: label of the metric.
        branches: who takes part, by title.
    """

    cube: Results
    metric: str
    branches: Mapping[str, CubeBranch]

    @property
    def problem(self) -> str:
        """Label of the problem."""
        return self.cube.problem

    @property
    def rounds(self) -> int:
        """The last round."""
        return int(self.cube.iterations[-1])

    def totals(self, title: str) -> dict[int, float]:
        """Return the final cumulative regret by seed."""
        return self.cube.totals(self.branches[title], self.metric)

    def seconds(self, title: str) -> dict[int, float]:
        """Return the mean time of a round by seed; empty where some are not known."""
        branch = self.branches[title]
        times = self.cube.per_seed(SECONDS, branch)
        return times if len(times) == np.count_nonzero(self.cube.status(branch) == DONE) else {}


@dataclass(frozen=True)
class Contests:
    """All problems that are compared.

    Attributes:
        each: one a problem.
        titles: who takes part in all of them, in the order of the experiment.
        looks: by title.
        labels: label of the algorithm by title.
        left_out: titles of those that run on some of the problems only.
    """

    each: Sequence[Contest]
    titles: Sequence[str]
    looks: Mapping[str, style.Stroke]
    labels: Mapping[str, str]
    left_out: Sequence[str]

    @property
    def problems(self) -> list[str]:
        """Labels of the problems."""
        return [contest.problem for contest in self.each]

    @property
    def data_label(self) -> str:
        """As of `Drawing`."""
        return shared_data_label([contest.cube for contest in self.each])

    def title_of(self, label: str) -> str | None:
        """Return what is written for an algorithm; None where it does not take part in all contests."""
        return next((title for title in self.titles if self.labels[title] == label), None)

    def means(self) -> dict[str, dict[str, float]]:
        """Return the mean final regret over seeds: problem -> title -> mean, of those with a finished seed."""
        found: dict[str, dict[str, float]] = {}
        for contest in self.each:
            totals = {title: contest.totals(title) for title in self.titles}
            found[contest.problem] = {title: float(np.mean(list(own.values()))) for title, own in totals.items() if own}
        return found

    def paired(self, contest: Contest, titles: Sequence[str]) -> np.ndarray:
        """Return the final regret of some on the seeds that all of them finished, shape (titles, seeds)."""
        totals = [contest.totals(title) for title in titles]
        shared = sorted(set.intersection(*(set(own) for own in totals)))
        return np.array([[own[seed] for seed in shared] for own in totals]).reshape(len(titles), len(shared))

    @property
    def said(self) -> str:
        """The problems and what scores them, and who is left out, in a sentence or two for captions."""
        by = [contest.cube.metric_titles[contest.metric] for contest in self.each]
        alike = len(set(by)) == 1
        each = [f"{title} ({contest.problem})" for title, contest in zip(by, self.each, strict=True)]
        scored = f"scored by {spoken(by[:1] if alike else each)}"
        missing = f" Not on every problem, and left out: {spoken(self.left_out)}." if self.left_out else ""
        return f"{counted(len(self.each), 'problem')} ({spoken(self.problems)}), {scored}.{missing}"


def contests_of(inputs: Inputs, parameters: OverProblemsParameters, yardsticks: bool = False) -> Contests:
    """Gather what is compared.

    Args:
        inputs: those of the figure.
        parameters: likewise.
        yardsticks: whether algorithms that know what others have to learn take part where none are named.

    Raises:
        BocuError: no problem has the metric, or there is no such problem.
    """
    cubes = {cube.problem: cube for cube in all_results(inputs)}
    for label in parameters.problems or ():
        if label not in cubes:
            raise BocuError(f"problems: no problem '{label}'; {nearest(label, cubes)}")
    chosen = {label: cubes[label] for label in (parameters.problems or cubes)}
    if parameters.metric is not None:
        scored = {label: cube for label, cube in chosen.items() if parameters.metric in cube.metrics}
        if not scored:
            next(iter(chosen.values())).metric(parameters.metric)
        chosen = scored
    metrics: dict[str, str] = {}
    branches: dict[tuple[int, str], list[CubeBranch]] = {}
    for label, cube in chosen.items():
        objectives = cube.objectives()
        wanted = parameters.metric or objectives[0]
        metrics[label] = wanted if wanted in cube.metrics else cube.metrics[0]
        pursued = parameters.pursued or ([wanted] if wanted in objectives else objectives[:1])
        known = None if parameters.algorithms is None else [a for a in parameters.algorithms if a in cube.names]
        branches[0, label] = cube.branches(known, pursued)
    titles = titles_of(chosen, branches, {})
    looks = looks_of(chosen, titles)
    each = [
        Contest(cube, metrics[label], {titles[label, branch]: branch for branch in branches[0, label]})
        for label, cube in chosen.items()
    ]
    labels = {title: branch.algorithm for (_, branch), title in titles.items()}
    known_too_much = {title for c in each for title, b in c.branches.items() if b.algorithm in c.cube.yardsticks}
    competing = [t for t in looks if yardsticks or parameters.algorithms is not None or t not in known_too_much]
    everywhere = [title for title in competing if all(title in contest.branches for contest in each)]
    finished = [title for title in everywhere if all(contest.totals(title) for contest in each)]
    left_out = [title for title in competing if title not in finished]
    return Contests(each, finished, style.apart({t: looks[t] for t in finished}), labels, left_out)


Compared = tuple["Picture", str, str, "pd.DataFrame"]
"""A picture, its caption, its alternative and its table."""


class FigureOverProblems(Figure[OverProblemsType]):
    """A figure of the whole experiment that reads digests, and is drawn where it is asked for."""

    scope = "experiment"
    digested = True
    by_default = False  # problems that are compared want choosing
    #: Whether algorithms that know what others have to learn take part where none are named.
    yardsticks: ClassVar[bool] = False

    def compose(self, inputs: Inputs) -> Drawing:
        found = contests_of(inputs, self.parameters, self.yardsticks)
        title, shown = self.about.title, self.compare(found)
        if isinstance(shown, str):
            return nothing_to_show(found.each[0].cube, title, shown, whole_experiment=True)
        picture, caption, alternative, table = shown
        return Drawing(picture, title, caption, alternative, "", found.data_label, table)

    @abstractmethod
    def compare(self, found: Contests) -> Compared | str:
        """Draw, or say why there is no picture."""
