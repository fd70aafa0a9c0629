"""Which prior was trusted, and when the wrong ones were rejected (Ziomek et al. 2025, figures 2b and 4b)."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.rounds import CONTEXTUAL, TIME_VARYING
from bocu.core.written import counted, spoken
from bocu.pages.figures.base import Algorithms, DigestedParameters, Drawing, Figure, Inputs, nothing_to_show
from bocu.pages.figures.results import CubeBranch, Results, results_of, seed_counts
from bocu.sweep.evaluation.statistics import mean_and_error
from bocu.sweep.runs.records import DONE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

ROW_HEIGHT = 0.17
FEWEST_ROWS = 6
PANELS_ABREAST, MOST_ABREAST = 4, 6
TITLE_WIDTH, LETTERS_ABREAST = 17, 60  # characters that fit in a line of a panel's title, and above all panels
DOT_SPREAD = 0.62


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

        cube = results_of(inputs)
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


def _bars(axes: "Axes", mean: np.ndarray, error: np.ndarray, cube: Results, branch: CubeBranch) -> None:
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

        cube = results_of(inputs)
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
        # Where nothing was rejected, words say so in place of a panel.
        rejections = {branch: rounds for branch, rounds in every.items() if not np.isnan(rounds).all()}
        if not rejections:
            return nothing_to_show(cube, "When priors were rejected", " ".join(words).rstrip("."))
        panels, picture = _panels(cube, list(rejections), abreast=3)
        for branch, rounds in rejections.items():
            _strips(panels[branch], rounds, cube, branch)
        next(iter(panels.values())).set_xlim(0, _last_needed(list(rejections.values()), int(cube.iterations[-1])))
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


def _strips(axes: "Axes", rounds: np.ndarray, cube: Results, branch: CubeBranch) -> None:
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


def _last_needed(found: list[np.ndarray], last: int) -> float:
    """Return where the axis of rounds may end: rejections mostly come early."""
    latest = max((float(np.nanmax(rounds)) for rounds in found if not np.isnan(rounds).all()), default=float(last))
    return min(1.15 * latest + 1, 1.02 * last)


def _told(title: str, rounds: np.ndarray, cube: Results) -> str:
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


def _resets(cube: Results, branch: CubeBranch) -> str:
    seeds = len(cube.resets(branch))
    return f" In {counted(seeds, 'seed')} it rejected all of them and took all back." if seeds else ""


def _panels(
    cube: Results, branches: Sequence[CubeBranch], abreast: int = PANELS_ABREAST
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


def _prior_ticks(axes: "Axes", cube: Results) -> None:
    labels = [f"{label} (best)" if place == cube.best_prior else label for place, label in enumerate(cube.priors)]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    if axes.get_subplotspec().is_first_col():  # type: ignore[union-attr]
        axes.set_ylabel(axes.get_ylabel() or "candidate prior")
        if cube.best_prior is not None:
            axes.get_yticklabels()[cube.best_prior].set_fontweight("bold")


def _best_words(cube: Results) -> str:
    return "" if cube.best_prior is None else f" The best prior is {cube.priors[cube.best_prior]}."
