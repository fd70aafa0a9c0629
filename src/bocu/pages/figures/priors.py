"""Which prior was trusted, and when and how the wrong ones were rejected (Ziomek et al. 2025, figures 1, 2b and 4b)."""

import textwrap
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
from bocu.core.rounds import CONTEXTUAL, TIME_VARYING
from bocu.core.written import counted, spoken
from bocu.pages.figures.base import Algorithms, DigestedParameters, Drawing, Figure, Inputs, Naming, nothing_to_show
from bocu.pages.figures.realised import ArmAxis, RealisedParameters, arm_axis, problem_inputs
from bocu.pages.figures.results import CubeBranch, Digest, paths_of, seed_counts, with_unit
from bocu.sweep.evaluation.prior_choices import Moment, account, weighed
from bocu.sweep.evaluation.statistics import mean_and_error
from bocu.sweep.runs.records import DONE

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from bocu.sweep.experiment.products import FigurePaths

ROW_HEIGHT = 0.17
FEWEST_ROWS = 6
PANELS_ABREAST, MOST_ABREAST = 4, 6
TITLE_WIDTH, LETTERS_ABREAST = 17, 60  # characters that fit in a line of a panel's title, and above all panels
DOT_SPREAD = 0.62
FEWEST_MARKS = 3  #: Priors and rounds of rejection from which on they are drawn: words say less.


class PriorsParameters(DigestedParameters):
    """Parameters of `ChosenPriors` and `RejectionTimes`."""

    algorithms: Algorithms = Field(
        None, description="Labels of the algorithms drawn; all that choose priors but for yardsticks, if left out."
    )


class ChosenPriors(Figure[PriorsParameters]):
    """Share of rounds in which every candidate prior was trusted, a panel an algorithm."""

    about = About(
        title="Chosen priors",
        summary="how often each candidate prior was trusted",
        paper="Ziomek et al. 2025, figures 2b and 4b",
    )
    protocols = TIME_VARYING + CONTEXTUAL
    of_priors = True
    Parameters = PriorsParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd

        cube = Digest(inputs["digest"])
        shares = {
            branch: found
            for branch in cube.branches(self.parameters.algorithms)
            if (self.parameters.algorithms or branch.algorithm not in cube.yardsticks)
            and (found := cube.trusted_shares(branch)) is not None
        }
        if not shares:
            return nothing_to_show(cube, "Priors trusted", "no algorithm reports which prior it trusts")
        # Who has no choice is told in words.
        settled = {branch: found for branch, found in shares.items() if (found == found[0]).all() and found.max() == 1}
        chosen = {branch: found for branch, found in shares.items() if branch not in settled} or settled
        panels, picture = _panels(cube, list(chosen))
        told: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        counts: dict[str, int] = {}
        for branch, found in shares.items():
            mean, error = mean_and_error(found)
            if branch in panels:
                _bars(panels[branch], mean, error, cube, branch)
            done = int((cube.status(branch) == DONE).sum())
            told[cube.written(branch)], counts[cube.written(branch)] = (mean, error), done
        picture.supxlabel("share of rounds", fontsize=style.SETTINGS["axes.labelsize"])
        caption = (
            f"Share of rounds in which each candidate prior was trusted on {cube.title}: mean over "
            f"{seed_counts(counts)}, bars with one standard error.{_best_words(cube)} An algorithm that averages over "
            "priors counts with the heaviest one."
        )
        if 0 < len(settled) < len(shares):
            only = {cube.titles[b.algorithm]: cube.priors[int(np.argmax(own[0]))] for b, own in settled.items()}
            named = spoken([f"{title} (prior {prior})" for title, prior in only.items()])
            caption += f" Not drawn: {named}, in all rounds of all seeds."
        tops = [
            f"{title} trusts prior {cube.priors[int(np.argmax(m))]} most ({m.max():.0%})"
            for title, (m, _) in told.items()
        ]
        alternative = f"Bar charts of how often each of {len(cube.priors)} priors was trusted. {spoken(tops)}."
        table = pd.DataFrame(
            [
                (title, prior, share, error)
                for title, (mean, errors) in told.items()
                for prior, share, error in zip(cube.priors, mean, errors, strict=True)
            ],
            columns=["algorithm", "prior", "share_of_rounds", "standard_error"],
        )
        return Drawing(picture, "Priors trusted", caption, alternative, cube.problem, cube.data_label, table)


def _bars(axes: "Axes", mean: np.ndarray, error: np.ndarray, cube: Digest, branch: CubeBranch) -> None:
    colour = cube.looks[branch.algorithm].colour
    places = np.arange(len(mean))
    colours = [colour if cube.best_prior in (None, place) else style.PALE for place in places]
    axes.barh(places, mean, height=0.72, color=colours)
    spread = mean > 0
    if not np.isnan(error).any():
        axes.errorbar(
            mean[spread], places[spread], xerr=error[spread], fmt="none", ecolor=style.INK, elinewidth=0.8, capsize=1.5
        )
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    style.grid(axes, "x")
    _prior_ticks(axes, cube)


class RejectionTimes(Figure[PriorsParameters]):
    """The round in which each prior was rejected, a dot a seed, a panel an algorithm."""

    about = About(
        title="Rejection times",
        summary="the rounds in which candidate priors were rejected",
    )
    protocols = TIME_VARYING + CONTEXTUAL
    of_priors = True
    Parameters = PriorsParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd
        from matplotlib.ticker import MaxNLocator

        cube = Digest(inputs["digest"])
        every = {
            branch: found
            for branch in cube.branches(self.parameters.algorithms)
            if (found := cube.rejection_rounds(branch)) is not None
        }
        if not every or not cube.priors:
            return nothing_to_show(cube, "When priors were rejected", "no algorithm rejects candidate priors")
        titles = {branch: cube.written(branch) for branch in every}
        words = [_told(titles[branch], rounds, cube) + _resets(cube, branch) for branch, rounds in every.items()]
        counts = {titles[branch]: len(rounds) for branch, rounds in every.items()}
        rejections = {branch: rounds for branch, rounds in every.items() if not np.isnan(rounds).all()}
        marks = {
            (titles[branch], cube.priors[prior], int(round_))
            for branch, rounds in rejections.items()
            for row in rounds
            for prior, round_ in enumerate(row)
            if not np.isnan(round_)
        }
        if len(marks) < FEWEST_MARKS:
            words += [f"{title}: prior {prior} in round {round_}." for title, prior, round_ in sorted(marks)]
            return nothing_to_show(cube, "When priors were rejected", " ".join(words).rstrip("."))
        panels, picture = _panels(cube, list(rejections), abreast=3)
        for branch, rounds in rejections.items():
            _strips(panels[branch], rounds, cube, branch)
        latest = max(float(np.nanmax(rounds)) for rounds in rejections.values())  # mostly they come early
        next(iter(panels.values())).set_xlim(0, min(1.15 * latest + 1, 1.02 * int(cube.iterations[-1])))
        for axes in panels.values():
            axes.xaxis.set_major_locator(MaxNLocator(3, integer=True, min_n_ticks=2))
        picture.supxlabel("round of rejection", fontsize=style.SETTINGS["axes.labelsize"])
        caption = (
            f"Rounds in which candidate priors were rejected for the first time on {cube.title}: a dot a seed, a bar "
            f"at the median, at the right the seeds that rejected the prior; {seed_counts(counts)} of "
            f"{counted(int(cube.iterations[-1]), 'round')}.{_best_words(cube)} {' '.join(words)}"
        )
        alternative = f"Strips of dots, one strip for each of {len(cube.priors)} priors. {' '.join(words)}"
        table = pd.DataFrame(
            [
                (titles[branch], cube.priors[prior], run, round_)
                for branch, rounds in every.items()
                for run, row in enumerate(rounds)
                for prior, round_ in enumerate(row)
            ],
            columns=["algorithm", "prior", "run", "round"],
        )
        return Drawing(picture, "When priors were rejected", caption, alternative, cube.problem, cube.data_label, table)


def _strips(axes: "Axes", rounds: np.ndarray, cube: Digest, branch: CubeBranch) -> None:
    seeds = len(rounds)
    look = cube.looks[branch.algorithm]
    offsets = DOT_SPREAD * ((np.arange(seeds) + 0.5) / max(seeds, 1) - 0.5)
    for prior in range(rounds.shape[1]):
        own = rounds[:, prior]
        known = ~np.isnan(own)
        axes.plot(
            own[known],
            prior + offsets[known],
            linestyle="none",
            marker="o",
            markersize=2.4,
            markeredgewidth=0,
            color=style.BLACK if prior == cube.best_prior else look.colour,
            alpha=0.75,
        )
        if known.any():
            axes.vlines(np.median(own[known]), prior - 0.36, prior + 0.36, color=style.INK, linewidth=1.1)
        share = f"{int(known.sum())}/{seeds}"
        axes.text(1.01, prior, share, transform=axes.get_yaxis_transform(), va="center", fontsize=6.5)
    for prior in range(rounds.shape[1] - 1):
        axes.axhline(prior + 0.5, color=style.PALE, linewidth=0.5)
    axes.text(1.01, 1.01, "seeds", transform=axes.transAxes, va="bottom", fontsize=6.5)
    style.grid(axes, "x")
    _prior_ticks(axes, cube)


def _told(title: str, rounds: np.ndarray, cube: Digest) -> str:
    seeds = len(rounds)
    if np.isnan(rounds).all():
        return f"{title} rejected no prior in any of {counted(seeds, 'seed')}."
    best = cube.best_prior
    wrong = [prior for prior in range(rounds.shape[1]) if prior != best]
    mean = (~np.isnan(rounds[:, wrong])).sum(axis=1).mean()
    told = (
        f"{title} rejected {mean:.1f} of {len(wrong)} {'wrong ' if best is not None else ''}priors in a run on average"
    )
    if best is None:
        return f"{told}."
    return f"{told}, and the best one in {int((~np.isnan(rounds[:, best])).sum())} of {counted(seeds, 'seed')}."


def _resets(cube: Digest, branch: CubeBranch) -> str:
    seeds = len(cube.resets(branch))
    return f" In {counted(seeds, 'seed')} it rejected all of them and took all back." if seeds else ""


def _panels(
    cube: Digest, branches: Sequence[CubeBranch], abreast: int = PANELS_ABREAST
) -> tuple[dict[CubeBranch, "Axes"], "Picture"]:
    """Open a panel a branch: a row an objective, where several are pursued and a row has room for the algorithms."""
    algorithms = list(dict.fromkeys(branch.algorithm for branch in branches))
    objectives = list(dict.fromkeys(branch.objective for branch in branches))
    gridded = len(objectives) > 1 and len(algorithms) <= MOST_ABREAST
    rows = len(objectives) if gridded else -(-len(branches) // abreast)
    columns = len(algorithms) if gridded else -(-len(branches) // rows)
    picture = style.new_figure(rows * (ROW_HEIGHT * max(len(cube.priors), FEWEST_ROWS) + 0.35) + 0.35)
    grid = picture.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes in grid.flat:
        axes.set_visible(False)
    panels: dict[CubeBranch, Axes] = {}
    for place, branch in enumerate(branches):
        row, column = objectives.index(branch.objective), algorithms.index(branch.algorithm)
        axes = grid[row, column] if gridded else grid.flat[place]
        axes.set_visible(True)
        axes.tick_params(labelbottom=row == rows - 1 if gridded else place >= len(branches) - columns)
        title = cube.titles[branch.algorithm] if gridded else cube.written(branch)
        letters = min(TITLE_WIDTH, LETTERS_ABREAST // columns)
        axes.set_title(textwrap.fill(title, letters, break_on_hyphens=False) if row == 0 or not gridded else "")
        panels[branch] = axes
    if gridded:
        for row, objective in zip(grid, objectives, strict=True):
            row[0].set_ylabel(textwrap.fill(cube.objective_titles[objective], TITLE_WIDTH), fontweight="bold")
    return panels, picture


def _prior_ticks(axes: "Axes", cube: Digest) -> None:
    labels = [f"{label} (best)" if place == cube.best_prior else label for place, label in enumerate(cube.priors)]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    if axes.get_subplotspec().is_first_col():  # type: ignore[union-attr]
        axes.set_ylabel(axes.get_ylabel() or "candidate prior")
        if cube.best_prior is not None:
            axes.get_yticklabels()[cube.best_prior].set_fontweight("bold")


def _best_words(cube: Digest) -> str:
    return "" if cube.best_prior is None else f" The best prior is {cube.priors[cube.best_prior]}."


TITLE = "How a prior is rejected"
TRIED = 25  #: Rejections looked at for one whose observation the other model explains.


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
    """What is drawn of a moment."""

    moment: Moment
    axis: ArmAxis
    labels: tuple[str, ...]
    # mean, width: posterior mean and half-width of the confidence interval before the observation, by prior, shape
    # (priors, decisions).
    mean: np.ndarray
    width: np.ndarray
    payoff: np.ndarray  #: noise-free payoff in that round, shape (decisions,).
    seen: tuple[np.ndarray, np.ndarray]  #: earlier decisions and observations, each of shape (earlier rounds,).
    # decision, observation: of the round itself.
    decision: int
    observation: float
    other: int  #: index of the prior that is compared with.
    other_is_best: bool  #: whether that is the best prior.

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
        cube = Digest(inputs["digest"])
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

    def _moments(self, cube: Digest, files: Sequence[Path]) -> list[Moment]:
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
    def _scene(cube: Digest, moments: Sequence[Moment], inputs: dict[str, Any]) -> Scene:
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
    def _described(cube: Digest, picture: "Picture", scene: Scene, table: "pd.DataFrame") -> Drawing:
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


def _scene_of(cube: Digest, moment: Moment, inputs: dict[str, Any]) -> Scene:
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
