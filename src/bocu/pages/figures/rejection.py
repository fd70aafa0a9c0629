"""How a prior gets rejected, from a recorded run (the idea of figure 1 of Ziomek et al. 2025).

Above: two models of the payoff before one observation that lies in the confidence band of one and outside the other's.
Below: the sum of the rejected prior's prediction errors against the bound that it crosses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.parameters import LARGEST_SEED, Integer
from bocu.core.rounds import TIME_VARYING
from bocu.core.written import counted, spoken
from bocu.pages.figures.base import Drawing, Figure, Inputs, Naming, nothing_to_show
from bocu.pages.figures.realised import ArmAxis, RealisedParameters, arm_axis, paths_of, problem_inputs
from bocu.pages.figures.results import Results, results_of, with_unit
from bocu.sweep.evaluation.prior_choices import Moment, account, weighed

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from bocu.sweep.experiment.products import FigurePaths

TITLE = "How a prior is rejected"
TRIED = 25
"""Rejections looked at for one whose observation the other model explains."""


class RejectionParameters(RealisedParameters):
    """Parameters of `Rejection`."""

    algorithm: Annotated[str, Naming("rejecting algorithm")] = Field(
        "pe-gp-ucb", description="Registered name of an algorithm that rejects priors by their errors."
    )
    seed: Annotated[Integer | None, Naming("seed")] = Field(
        None, ge=0, le=LARGEST_SEED, description="Seed of the run; the clearest rejection of all, if left out."
    )
    prior: Annotated[str | None, Naming("prior")] = Field(
        None, description="Label of the rejected prior; the clearest rejection, if left out."
    )

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        return {**super().inputs(paths), "runs": paths.run_files(self.algorithm)}


@dataclass(frozen=True)
class Scene:
    """What is drawn of a moment.

    Attributes:
        mean, width: posterior mean and half-width of the confidence interval before the observation, by prior,
            shape (priors, decisions).
        payoff: noise-free payoff in that round, shape (decisions,).
        seen: earlier decisions and observations, each of shape (earlier rounds,).
        decision, observation: of the round itself.
        other: index of the prior that is compared with.
        other_is_best: whether that is the best prior.
    """

    moment: Moment
    axis: ArmAxis
    labels: tuple[str, ...]
    mean: np.ndarray
    width: np.ndarray
    payoff: np.ndarray
    seen: tuple[np.ndarray, np.ndarray]
    decision: int
    observation: float
    other: int
    other_is_best: bool

    def inside(self, prior: int) -> bool:
        """Say whether the observation lies in the band of a prior."""
        gap = abs(self.observation - self.mean[prior, self.decision])
        return bool(gap <= self.width[prior, self.decision])


class Rejection(Figure[RejectionParameters]):
    """The clearest rejection of a wrong prior; where none was rejected, a line that says how close it came."""

    about = About(
        title="How a prior gets rejected",
        summary="how a prior gets rejected, from a real run",
        paper="Ziomek et al. 2025, figure 1",
    )
    protocols = TIME_VARYING
    finite_decisions = True
    Parameters = RejectionParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cube = results_of(inputs)
        files = paths_of(inputs.get("runs", []))
        if not files:
            return nothing_to_show(cube, TITLE, f"the experiment does not run {self.parameters.algorithm} here")
        moments = self._moments(cube, files)
        if not moments:
            return nothing_to_show(cube, TITLE, "no round of the chosen runs weighs the errors of a prior")
        if not moments[0].rejected:
            closest = moments[0]
            rejecting = spoken(
                [cube.titles[label] for label, name in cube.names.items() if name == self.parameters.algorithm]
            )
            return nothing_to_show(
                cube,
                TITLE,
                f"{rejecting} rejected no prior; prior {cube.priors[closest.prior]} came closest, with "
                f"{closest.strain:.0%} of its bound in round {closest.round} of seed {closest.seed}",
            )
        scene = self._scene(cube, moments, problem_inputs(inputs))
        run = read_netcdf(scene.moment.file).sel(seed=scene.moment.seed)
        table = _account_table(scene, run)
        if len(table) > 1:
            picture = style.new_figure(4.4)
            above, below = picture.subplots(2, 1, height_ratios=[1.5, 1.0])
            _account(below, scene, table, cube.units)
        else:  # one round is no curve: the caption has it
            picture = style.new_figure(2.8)
            above = picture.subplots()
        _models(above, scene, cube.units)
        return self._described(cube, picture, scene, table)

    def _moments(self, cube: Results, files: Sequence[Path]) -> list[Moment]:
        """Return the moments to choose from, the clearest first: rejections of wrong priors, or else closest calls."""
        wanted = self.parameters
        if wanted.prior is not None and wanted.prior not in cube.priors:
            raise BocuError(f"{cube.path}: no prior '{wanted.prior}'; allowed: {', '.join(cube.priors)}")
        found = [
            moment
            for moment in weighed(files)
            if (wanted.seed is None or moment.seed == wanted.seed)
            and (wanted.prior is None or cube.priors[moment.prior] == wanted.prior)
        ]
        rejections = [moment for moment in found if moment.rejected]
        wrong = [moment for moment in rejections if moment.prior != cube.best_prior]
        if wrong or rejections:
            return sorted(wrong or rejections, key=lambda moment: (-moment.clarity, moment.seed, moment.round))
        return [max(found, key=lambda moment: moment.strain)] if found else []

    @staticmethod
    def _scene(cube: Results, moments: Sequence[Moment], inputs: dict[str, Any]) -> Scene:
        """Return the first moment whose observation the other model explains, or the clearest."""
        first: Scene | None = None
        for moment in moments[:TRIED]:
            scene = _scene_of(cube, moment, inputs)
            first = first or scene
            if scene.inside(scene.other) and not scene.inside(moment.prior):
                return scene
        assert first is not None
        return first

    @staticmethod
    def _described(cube: Results, picture: "Picture", scene: Scene, table: "pd.DataFrame") -> Drawing:
        moment = scene.moment
        own, other = scene.labels[moment.prior], scene.labels[scene.other]
        inside, explained = scene.inside(moment.prior), scene.inside(scene.other)
        role = "the best prior" if scene.other_is_best else "the prior trusted most often besides"
        where = f"the observation (diamond) lies {'in' if inside else 'outside'} the band of prior {own} and "
        where += f"{'in' if explained else 'outside'} that of prior {other}, {role}"
        last = table.iloc[-1]
        summed = f"Below: the absolute sum of the errors that prior {own} made in the rounds it was trusted"
        if len(table) == 1:
            summed = f"Prior {own} was trusted in this round only, with an error of {last['accumulated_error']:.3g}"
        summed += f", against the bound beyond which a prior is rejected, {last['bound']:.3g} here."
        caption = (
            f"Seed {moment.seed}, round {moment.round} on {cube.title}: prior {own} is rejected. What the "
            f"models under two priors predict before the observation (means with confidence intervals); {where}. Dots: "
            f"earlier observations; grey: the payoff itself. {summed}"
        )
        alternative = (
            f"Two models with confidence bands over {counted(len(scene.payoff), 'decision')}; {where}. {summed}"
        )
        return Drawing(picture, TITLE, caption, alternative, cube.problem, cube.data_label, table)


def _scene_of(cube: Results, moment: Moment, inputs: dict[str, Any]) -> Scene:
    from bocu.sweep.runs.execution import replayed_to

    realisation, algorithm = replayed_to(moment.file, inputs, moment.seed, moment.round - 1)
    run = read_netcdf(moment.file).sel(seed=moment.seed)
    now = run.sel(iteration=moment.round)
    before = run.sel(iteration=slice(None, moment.round - 1))
    mean, sd = algorithm.posteriors(moment.round)  # type: ignore[attr-defined]
    decision = int(now["decision_index"])
    sqrt_beta = algorithm.sqrt_beta(moment.round)  # type: ignore[attr-defined]
    trusted = run["chosen_prior"].values
    plays = np.bincount(trusted[trusted >= 0], minlength=len(cube.priors))
    plays[moment.prior] = -1
    best = cube.best_prior if cube.best_prior != moment.prior else None
    return Scene(
        moment=moment,
        axis=arm_axis(realisation.description.decisions),
        labels=tuple(cube.priors),
        mean=mean,
        width=sqrt_beta * sd,
        payoff=realisation.payoffs(moment.round) @ realisation.reference(moment.round),
        seen=(before["decision_index"].values, before["observation"].values),
        decision=decision,
        observation=float(now["observation"]),
        other=int(np.argmax(plays)) if best is None else best,
        other_is_best=best is not None,
    )


def _models(axes: "Axes", scene: Scene, units: str) -> None:
    places = scene.axis.positions
    crosses = {"linestyle": "none", "marker": "x", "markersize": 4}
    payoff_look = {**style.PAYOFF_LINE, **({} if scene.axis.continuous else crosses)}
    axes.plot(places, scene.payoff, **payoff_look, label="payoff (unknown to the algorithm)")
    for prior, look, role in (
        (scene.other, style.KEPT_MODEL, "best" if scene.other_is_best else "compared with"),
        (scene.moment.prior, style.REJECTED_MODEL, "rejected"),
    ):
        label = f"under prior {scene.labels[prior]} ({role})"
        mean, width = scene.mean[prior], scene.width[prior]
        if scene.axis.continuous:
            axes.plot(places, mean, label=label, **look)
            style.error_band(axes, places, mean, width, look["color"])
        else:
            shift = -0.15 if prior == scene.other else 0.15
            axes.errorbar(places + shift, mean, yerr=width, fmt="_", color=look["color"], elinewidth=1.2, label=label)
    arms, observations = scene.seen
    axes.plot(places[arms], observations, ".", color=style.BLACK, markersize=3.5, label="earlier observations")
    axes.plot(
        places[scene.decision],
        scene.observation,
        label=f"observation of round {scene.moment.round}",
        **style.SPOTLIGHT,
    )
    scene.axis.tick(axes)
    axes.set_ylabel(with_unit("payoff", units))
    axes.margins(x=0.01)
    style.grid(axes)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


def _account(axes: "Axes", scene: Scene, table: "pd.DataFrame", units: str) -> None:
    rounds, error, limit = (table[column].to_numpy() for column in ("round", "accumulated_error", "bound"))
    own = f"absolute sum of the errors of prior {scene.labels[scene.moment.prior]}"
    axes.plot(rounds, limit, color=style.INK, linestyle=style.DASHED, marker="_", label="bound")
    axes.plot(rounds, error, color=style.REJECTED_MODEL["color"], marker=".", label=own)
    axes.plot(rounds[-1], error[-1], **style.SPOTLIGHT)
    axes.set(xlabel="round (those in which the prior was trusted)", ylabel=with_unit("accumulated error", units))
    axes.set_ylim(0, 1.12 * max(np.max(error), np.max(limit)))
    axes.set_xlim(max(0, rounds[0] - 1), rounds[-1] + max(1, 0.02 * rounds[-1]))
    axes.locator_params(axis="x", integer=True)
    style.grid(axes)
    axes.legend(loc="upper left")


def _account_table(scene: Scene, run: "xr.Dataset") -> "pd.DataFrame":
    import pandas as pd

    rounds, error, limit = account(run, scene.moment.prior, scene.moment.round)
    prior = scene.labels[scene.moment.prior]
    return pd.DataFrame({"prior": prior, "round": rounds, "accumulated_error": error, "bound": limit})
