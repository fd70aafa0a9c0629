"""Robust fronts: what the decisions that runs tried guarantee, beside the best there is, and its hypervolume.

Beyond the DRMOBO paper: `bocu.evaluation.robust_front` says what is drawn.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from bocu.ambiguity.parameters import SetParameters, StatedSet
from bocu.core.about import About
from bocu.core.domains import FiniteDomain
from bocu.core.loading import refuse_unknown_classes
from bocu.core.parameters import Integer
from bocu.core.protocols import SCALARISED
from bocu.evaluation.robust_front import MARGIN, WEIGHTS
from bocu.evaluation.statistics import mean_and_error, student_factor
from bocu.figures import style
from bocu.figures.base import Drawing, Figure, Inputs, Mention, mentions, nothing_to_show
from bocu.figures.reading import Cube, seed_counts, with_unit
from bocu.figures.realised import RealisedParameters, paths_of, problem_inputs
from bocu.io.files import read_netcdf

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from bocu.evaluation.robust_front import Front
    from bocu.experiment.inputs import FigurePaths
    from bocu.problems.base import Problem, Realisation
    from bocu.problems.scalarised_optimum import Values

Runs = Sequence[tuple[str, "xr.Dataset"]]
"""Run files with the labels of their algorithms."""

TITLE = "Robust front"
TRUE_LINE: dict[str, Any] = {"color": style.BLACK, "marker": "o", "markersize": 2.5, "linewidth": 0.9}


class RobustFrontParameters(RealisedParameters):
    """Parameters of `RobustFront`."""

    set: StatedSet | None = Field(
        None,
        description="The ambiguity set that robustness is against; left out, the first that a run pursues. Of the "
        "runs, those that pursue dro over just this set are drawn, and those that pursue nothing.",
    )
    algorithms: list[str] = Field(["random", "mobo", "drmobo"], description="Registered names of what is drawn.")
    weights: Annotated[Integer, Field(ge=2)] = Field(WEIGHTS, description="Weights of the net, at least.")
    seed: Integer | None = Field(None, description="The seed whose front is drawn; the first finished, if left out.")

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        runs = [file for algorithm in self.algorithms for file in paths.run_files(algorithm)]
        return {**super().inputs(paths), "runs": runs}

    def mentioned(self) -> Iterator[Mention]:
        yield from mentions("registered algorithm", "algorithms", self.algorithms)
        yield from mentions("seed", "seed", self.seed)


@dataclass(frozen=True)
class Tried:
    """What the runs of one algorithm tried.

    Attributes:
        fronts: by seed, among all decisions of the run.
        share: hypervolume after each round as a share of the true front's, shape (seeds, rounds).
    """

    title: str
    look: style.Stroke
    fronts: Mapping[int, "Front"]
    share: np.ndarray


class RobustFront(Figure[RobustFrontParameters]):
    """Guaranteed payoffs of the fronts of one seed, and hypervolume over the rounds; for two outputs."""

    about = About(
        title="Robust front",
        summary="guaranteed payoffs of two outputs and their hypervolume, of runs and the best there is",
    )
    protocols = SCALARISED
    Parameters = RobustFrontParameters

    def compose(self, inputs: Inputs) -> Drawing:
        from bocu.core.randomness import Streams
        from bocu.runs.seed_run import build_problem

        cube = Cube(inputs["cube"])
        problem = build_problem(cube.problem_specification(), problem_inputs(inputs))
        realisation = problem.realise(Streams(cube.seeds[0]))
        outputs = realisation.description.outputs
        if outputs != 2:
            return nothing_to_show(cube, TITLE, f"a front has two outputs, this problem has {outputs}")
        runs = [(path.parent.name, read_netcdf(path)) for path in paths_of(inputs.get("runs", []))]
        stated = self.parameters.set or _first_pursued(runs)
        values, true = self._true(realisation, stated)
        tried = self._tried(cube, problem, _against(runs, stated), values, true)
        if not tried:
            return nothing_to_show(cube, TITLE, "no run is finished")
        seed = self.parameters.seed if self.parameters.seed is not None else min(tried[0].fronts)
        picture = style.new_figure(2.3)
        left, middle, right = picture.subplots(1, 3)
        shown = [(each, each.fronts[seed]) for each in tried if seed in each.fronts]
        _draw_values(left, true, shown, cube.units)
        _draw_fronts(middle, true, shown, cube.units)
        _draw_shares(right, tried)
        handles, labels = middle.get_legend_handles_labels()
        picture.legend(handles, labels, loc="outside lower center", ncols=4)
        return self._described(cube, picture, tried, seed, stated)

    def _true(self, realisation: "Realisation", stated: SetParameters) -> tuple["Values", "Front"]:
        from bocu.evaluation.robust_front import true_front
        from bocu.runs.protocol import PROTOCOLS

        description = realisation.description
        assert isinstance(description.contexts, FiniteDomain)
        situation = PROTOCOLS[description.protocol].situation(realisation, 1, np.empty(0))
        ambiguity_set = stated.over(description.contexts.points)
        ambiguity_set = ambiguity_set.with_epsilon(stated.epsilon(situation, ambiguity_set))
        dimension, outputs = description.decisions.dimension, description.outputs

        def values(payoffs: np.ndarray) -> np.ndarray:
            return ambiguity_set.values(payoffs, situation.reference)[0]

        return values, true_front(realisation.table, dimension, outputs, values, self.parameters.weights)

    def _tried(self, cube: Cube, problem: "Problem", runs: Runs, values: "Values", true: "Front") -> Sequence[Tried]:
        """Gather what the runs tried, by the label of their algorithm."""
        found: dict[str, dict[int, tuple[Front, np.ndarray]]] = {}
        for label, run in runs:
            seeds = found.setdefault(label, {})
            for row, seed in enumerate(run["seed"].values):
                seeds[int(seed)] = self._of_seed(problem, run.isel(seed=row), int(seed), values, true)
        return [
            Tried(
                cube.titles[label],
                cube.looks[label],
                {seed: front for seed, (front, _) in seeds.items()},
                np.array([share for _, share in seeds.values()]),
            )
            for label, seeds in found.items()
        ]

    def _of_seed(
        self, problem: "Problem", run: "xr.Dataset", seed: int, values: "Values", true: "Front"
    ) -> tuple["Front", np.ndarray]:
        """Return the front among all decisions of a seed, and its share of the true hypervolume in each round."""
        from bocu.core.randomness import Streams
        from bocu.evaluation.robust_front import front_among, growing_share

        realisation = problem.realise(Streams(seed))
        decisions = run["decision"].values
        payoffs = realisation.table(decisions)
        front = front_among(decisions, payoffs, true.weights, values)
        return front, growing_share(payoffs, true, values)[run["iteration"].values >= 1]

    def _described(
        self, cube: Cube, picture: "Picture", tried: Sequence[Tried], seed: int, ambiguity_set: SetParameters
    ) -> Drawing:
        counts = {each.title: len(each.fronts) for each in tried}
        caption = (
            f"{cube.title}. Left: worst-case expectation of the weighted sum of both outputs over "
            f"{ambiguity_set.name} sets of radius {ambiguity_set.radius}, for each weight of the first: the best there "
            f"is, and the best among the decisions that seed {seed} tried. Middle: what these decisions guarantee, the "
            f"worst-case expectation of "
            f"each output by itself. Right: hypervolume of the guarantees of all decisions up to a round as a share of "
            f"that of the best, mean (lines) and 95 % intervals (bands) over {seed_counts(counts)}; the corner lies "
            f"{MARGIN:.0%} of the range below the least of the best's guarantees."
        )
        ends = ", ".join(f"{each.title} {each.share[:, -1].mean():.3g}" for each in tried)
        alternative = (
            "Line charts of worst-case expectation by weight and of guaranteed payoffs, and one of shares of "
            f"hypervolume, which end at: {ends}."
        )
        return Drawing(picture, TITLE, caption, alternative, cube.problem, cube.data_label)


def _pursued(run: "xr.Dataset") -> Mapping[str, Any] | None:
    """Return the ambiguity set that a run pursues, as plain data; None where it pursues none."""
    objective = json.loads(run.attrs["specification"])["objective"]
    return objective["parameters"].get("set") if objective else None


def _first_pursued(runs: Runs) -> SetParameters:
    pursued = (_pursued(run) for _, run in runs)
    for label, run in runs:
        refuse_unknown_classes(_pursued(run), f"runs of {label}")
    return SetParameters.model_validate(
        next((ambiguity_set for ambiguity_set in pursued if ambiguity_set is not None), {})
    )


def _against(runs: Runs, ambiguity_set: SetParameters) -> Runs:
    """Leave out runs that pursue another ambiguity set."""
    return [(label, run) for label, run in runs if _pursued(run) in (None, ambiguity_set.model_dump(mode="json"))]


def _draw_values(axes: "Axes", true: "Front", shown: Sequence[tuple[Tried, "Front"]], units: str) -> None:
    axes.plot(true.weights[:, 0], true.values, **{**TRUE_LINE, "marker": ""})
    for tried, front in shown:
        axes.plot(front.weights[:, 0], front.values, **tried.look.line())
    axes.set_xlabel("weight of output 1")
    axes.set_ylabel(with_unit("worst-case expectation", units))
    style.grid(axes)


def _draw_fronts(axes: "Axes", true: "Front", shown: Sequence[tuple[Tried, "Front"]], units: str) -> None:
    first, second = _in_order(true).T
    axes.plot(first, second, label="best there is", **TRUE_LINE)
    for tried, front in shown:
        first, second = _in_order(front).T
        axes.plot(first, second, label=tried.title, marker=tried.look.marker, markersize=3.5, **tried.look.line())
    axes.set_xlabel(with_unit("guaranteed output 1", units))
    axes.set_ylabel(with_unit("guaranteed output 2", units))
    style.grid(axes, "both")


def _in_order(front: "Front") -> np.ndarray:
    """Return what is guaranteed, each point once, by the first output."""
    return np.unique(front.guaranteed.round(12), axis=0)


def _draw_shares(axes: "Axes", tried: Sequence[Tried]) -> None:
    for each in tried:
        rounds = np.arange(1, each.share.shape[1] + 1)
        mean, error = mean_and_error(each.share)
        axes.plot(rounds, mean, **each.look.line())
        if len(each.share) > 1:
            style.error_band(axes, rounds, mean, student_factor(len(each.share)) * error, each.look.colour)
    axes.set_xlabel("round")
    axes.set_ylabel("share of hypervolume")
    axes.set_ylim(0.0, 1.05)
    style.grid(axes)
