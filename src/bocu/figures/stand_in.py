"""The parameters of a figure from outside, while an experiment is planned: the figure itself is not imported."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bocu.experiment.plugins.stand_ins import Told
from bocu.figures.base import FigureParameters, Mention

if TYPE_CHECKING:
    from bocu.experiment.inputs import FigurePaths


class FigureStandIn(FigureParameters, Told):
    """See `bocu.experiment.plugins.stand_ins`."""

    @property
    def draws_problem(self) -> bool:  # type: ignore[override]
        return self._of.draws_problem

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        plan = paths.plan
        names = {branch.algorithm.registered.name for branch in plan.branches_of(paths.problem)}
        told = {
            "problem": paths.problem,
            "part": paths.part,
            "cube": paths.cube,
            "digest": paths.digest,
            "problem_inputs": paths.problem_inputs(),
            "run_files": {name: paths.run_files(name) for name in sorted(names)},
        }
        files: dict[str, str | list[str]] = self._of.ask("figure_files", values=self.values(), paths=told)
        return files

    def mentioned(self) -> Iterator[Mention]:
        if self._of.says("mentioned"):
            yield from (Mention(**mention) for mention in self._of.ask("mentioned", values=self.values()))
