"""Published numbers as sections of a Markdown page, from reduced results: what figures show, and what tables come to.

Nothing is said beforehand: every sentence is made of the published numbers, whatever comes out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core import style
from bocu.core.about import read_look
from bocu.core.written import NOTHING, counted, decimals, number, probability, spoken
from bocu.pages.figures.base import finish
from bocu.pages.figures.every_round import AcrossObjectivesParameters, RobustFrontParameters
from bocu.pages.figures.over_problems import RankingParameters, what_survives, who_is_best
from bocu.pages.figures.priors import PriorsParameters
from bocu.pages.figures.regret import (
    LINE_OF_A_ROW,
    Curve,
    PanelsParameters,
    RegretParameters,
    Row,
    apart,
    cut_off,
    draw_curves,
)
from bocu.pages.figures.relative_regret import ScoreBlock, ScoreboardParameters
from bocu.pages.figures.times import DensityEstimatesParameters, RunTimesParameters, distances_of, row_heads
from bocu.pages.figures.who_wins import NARROW, WIDE, Compared, compared
from bocu.pages.figures.wind_commitment import WindFigureParameters
from bocu.sweep.evaluation.across_problems import Ranking, surviving_ranking
from bocu.sweep.evaluation.claims.numbers import Numbers, Sample
from bocu.sweep.evaluation.claims.places import Place
from bocu.sweep.evaluation.digests import shown_pairs
from bocu.sweep.evaluation.standings import LESS, MORE, TIED, TOO_FEW, VERDICT_SEEDS, Standings, plain
from bocu.sweep.evaluation.statistics import CONFIDENCE, LEAST_SEEDS, mean_and_error, student_ratio
from bocu.sweep.experiment.branches import NO_OBJECTIVE
from bocu.sweep.experiment.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

REFERENCE = "random"
"""What regret is relative to in tables of scores."""
PANELS_ABREAST = 6
TINY = 0.01
"""Ratio below which two decimals would say nothing."""
Beside = Mapping[str, Sample]
"""What stands beside each other: title -> seed -> number."""


def marks(section: str) -> tuple[str, str]:
    """Return the lines of a page between which a section stands."""
    return f"<!-- {section}: begin -->", f"<!-- {section}: end -->"


def scale_of(problems: Mapping[str, Numbers]) -> str:
    """Say how many seeds and rounds stand behind the numbers of problems."""
    found: dict[str, list[str]] = {}
    for label, numbers in problems.items():
        found.setdefault(f"{numbers.finished} seeds and {numbers.known.rounds} rounds", []).append(label)
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{scale} ({', '.join(labels)})" for scale, labels in found.items())


class PublishedNumbers:
    """What figures of an experiment show, as tables of Markdown.

    Args:
        plan: of the experiment.
        problems: its numbers by problem; of those that are not there the tables say so.
    """

    def __init__(self, plan: Plan, problems: Mapping[str, Numbers]) -> None:
        self.plan, self.numbers = plan, problems
        self.abouts, (self.objectives, _) = plan.algorithm_abouts, plan.titles
        self.metrics = list(dict.fromkeys(metric for own in problems.values() for metric in own.known.metrics))
        self.yardsticks = {about["title"] for about in self.abouts.values() if about["yardstick"] == "yes"}
        self.looks = {about["title"]: style.stroke(read_look(about["look"])) for about in self.abouts.values()}

    def spent(self) -> tuple[int, float]:
        """Return how many runs there are, and the core hours that their rounds took."""
        runs, seconds = 0, 0.0
        for numbers in self.numbers.values():
            for algorithm, objectives in numbers.known.algorithms.items():
                for objective in objectives:
                    times = numbers.at("seconds", Place(objective, algorithm, ""))
                    runs += len(times)
                    seconds += sum(times.values()) * numbers.known.rounds
        return runs, seconds / 3600

    def data(self) -> str:
        """Say which problems rest on stand-ins, and which on measured data that the command alone does not have."""
        stand_ins = [label for label, numbers in self.numbers.items() if numbers.data_label]
        asked = [
            label
            for label in self.numbers
            if label not in stand_ins and getattr(self.plan.problem_parameters(label), "source", "") == "simulate"
        ]
        said = []
        if stand_ins:
            said.append(f"Stand-ins, which nobody measured: {spoken(stand_ins)}.")
        if asked:
            said.append(
                "On measured data, for which the command takes `mirror=FOLDER` too ([data.md](data.md)): "
                f"{spoken(asked)}."
            )
        return " ".join(said)

    def section(self, figures: Sequence[str]) -> str:
        """Return the tables of some figures, by their labels.

        Panels, regret, scoreboards and rankings, times of runs, fronts, candidate priors, payoff and regret across
        objectives, and estimates of densities, which take no results.
        """
        kinds: dict[type, Callable[[Any], Iterable[str]]] = {
            PanelsParameters: self.panels,
            ScoreboardParameters: self.scores,
            RankingParameters: self.ranks,
        }
        of_a_problem: dict[type, Callable[[Any, str], Iterable[str]]] = {
            RunTimesParameters: self.times,
            DensityEstimatesParameters: self.estimates,
            RobustFrontParameters: self.fronts,
            PriorsParameters: self.chosen,
            WindFigureParameters: self.commitments,
            AcrossObjectivesParameters: self.across,
        }
        lines: list[str] = []
        for label in figures:
            parameters: Any = self.plan.figures[label].parameters
            lines += [f"**{self.titled(label)}** (`{label}`)", ""]
            if isinstance(parameters, RegretParameters):
                parameters = self._as_panels(label, parameters)
            if isinstance(parameters, tuple(of_a_problem)):
                for problem in self.plan.figure_problems[label]:
                    known = problem in self.numbers or isinstance(parameters, DensityEstimatesParameters)
                    made = of_a_problem[type(parameters)](parameters, problem) if known else self._absent([problem])
                    lines += [*made, ""]
            else:
                lines += [*kinds[type(parameters)](parameters), ""]
        return "\n".join(lines[:-1]) + "\n"

    def titled(self, figure: str) -> str:
        """Return the title of a figure, by its label."""
        found = self.plan.figures[figure]
        return getattr(found.parameters, "title", None) or found.kind.about.title

    def comparisons(self) -> list[Compared]:
        """Return what is compared with each other, as `bocu.pages.figures.who_wins` draws it."""
        margin, found = self.plan.experiment.leads_within, []
        for problem, numbers in self.numbers.items():
            known = numbers.known
            pursued = list(dict.fromkeys(o for own in known.algorithms.values() for o in own if o != NO_OBJECTIVE))
            tables = {}
            for objective, metric in shown_pairs(pursued or [NO_OBJECTIVE], known.metrics):
                beside = self._beside(problem, metric, [objective], None, {})
                competing = [title for title in beside if title not in self.yardsticks]
                random = self.title(REFERENCE, NO_OBJECTIVE, {}, False) if REFERENCE in self.abouts else None
                tables[objective, metric] = Standings(beside, competing, random, margin)
            titles = {title: title for table in tables.values() for title in table.regrets}
            found += compared((problem, *self.plan.titles), tables, (problem, titles, self.looks, numbers.data_label))
        return found

    def _as_panels(self, figure: str, parameters: RegretParameters) -> PanelsParameters:
        """Return panels that hold what a figure of regret does, a row a metric."""
        problems = list(self.plan.figure_problems[figure])
        pursued = [objective for objective in self.objectives if objective != NO_OBJECTIVE]
        rows = [Row(metric=one, problems=problems, pursued=pursued) for one in parameters.metrics or self.metrics]
        return PanelsParameters(rows=rows, algorithms=parameters.algorithms, kind=parameters.kind)

    def panels(self, parameters: PanelsParameters) -> Iterator[str]:
        """Return the lines of a table with a row for each problem and metric: mean and standard error."""
        rows: dict[tuple[str, str], Beside] = {}
        word = "final"
        rows_of = parameters.rows or [Row(metric=metric) for metric in self.metrics]
        wanted = [(label, row) for row in rows_of for label in _flat(row.problems or list(self.numbers))]
        for problem in self.numbers:
            for row in (row for label, row in wanted if label == problem):
                word = {"payoff": "payoff", "average": "mean"}.get(row.kind or parameters.kind, "final")
                only = row.algorithms or parameters.algorithms
                found = self._beside(problem, row.metric, row.pursued, only, parameters.titles, word)
                if found:
                    rows[problem, row.title or row.metric] = found
        if rows:
            columns = self._ordered(rows.values(), parameters.titles)
            several = len({metric for _, metric in rows}) > 1
            yield from head(["problem", *(["scored by"] if several else []), *columns])
            for (problem, metric), own in rows.items():
                bold = set() if word == "payoff" else set(self.standings(own, parameters).leading)
                cells = [_mean(own[title], title in bold) if title in own else NOTHING for title in columns]
                yield line([problem, *([metric] if several else []), *cells])
        yield from self._absent([label for label, _ in wanted], bool(rows))

    def curves(self, parameters: PanelsParameters, narrow: bool = False) -> "Picture | None":
        """Draw the regret of a grid of panels as far as it is kept; None where nothing is.

        Args:
            parameters: of the figure.
            narrow: two panels a row, for a phone.
        """
        cells: list[tuple[str, str, list[Curve]]] = []
        for row in parameters.rows or ():
            if (row.kind or parameters.kind) == "cumulative":
                for problem in _flat(row.problems or list(self.numbers)):
                    own = self._curves(problem, row, parameters) if problem in self.numbers else []
                    cells += [(problem, row.title or row.metric, own)] if own else []
        if not cells:
            return None
        abreast = 2 if narrow else max(2, min(PANELS_ABREAST, len({problem for problem, _, _ in cells})))
        seen = {curve.title: curve.look for _, _, own in cells for curve in own}
        titles = list(seen)
        if len(set(seen.values())) < len(seen):  # one algorithm under several objectives
            seen = {title: style.numbered_stroke(place) for place, title in enumerate(titles)}
        below, width = style.legend_height(titles), NARROW if narrow else WIDE
        picture, panels = style.facets(
            len(cells), 1.3, abreast, below=below * (2 if narrow else 1), width=width, across="round",
            up="cumulative regret",
        )  # fmt: skip
        for axes, (problem, scored, own) in zip(panels, cells, strict=True):
            own = [replace(curve, look=seen[curve.title]) for curve in own]
            draw_curves(axes, own, parameters.log_rounds, parameters.log_regret)
            near, far = apart(own)
            if far and parameters.cut and not parameters.log_regret:
                cut_off(axes, near, far, gains=False, line=LINE_OF_A_ROW)
            axes.set_title(f"{problem}\n{scored}", fontsize=7)
        if narrow:
            handles = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
            picture.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2, fontsize=6.5)
        else:
            style.legend_below(picture, titles)
        finish(picture)
        return picture

    def _curves(self, problem: str, row: Row, parameters: PanelsParameters) -> list[Curve]:
        numbers, found = self.numbers[problem], []
        known, rounds = numbers.known, sorted(numbers.kept_rounds)
        only = row.algorithms or parameters.algorithms
        for place, label in enumerate(self.abouts):
            wanted = (NO_OBJECTIVE, *(row.pursued or [row.metric]))
            pursued = [one for one in known.algorithms.get(label, ()) if one in wanted]
            if row.metric not in known.metrics or (only is not None and label not in only):
                continue
            for objective in pursued:
                at = [numbers.at("at", Place(objective, label, row.metric, round=each)) for each in rounds]
                if not at[-1]:
                    continue
                values = np.array([[one[seed] for one in at] for seed in at[-1]])
                mean, error = mean_and_error(values)
                title = self.title(label, objective, parameters.titles, len(pursued) > 1)
                look = self.looks[self.abouts[label]["title"]]
                played, middle, width = (np.append(0, each) for each in (rounds, mean, error))
                found.append(Curve(title, look, played, middle, width, len(values), place))
        return found

    def scores(self, parameters: ScoreboardParameters) -> Iterator[str]:
        """Return the lines of a table for each block: final regret relative to that of random decisions."""
        reference = self.reference(parameters)
        first = True
        for block, shown in self.blocks(parameters):
            cells = {
                problem: self._relative(self.standings(own, parameters), reference) for problem, own in shown.items()
            }
            if not any(cells.values()):
                continue
            yield from [*([] if first else [""]), f"*{block.title or block.metric}*", ""]
            first = False
            yield from head(["", *(parameters.columns.get(problem, problem) for problem in cells)])
            for title in self._ordered(cells.values(), parameters.titles):
                yield line([title, *(own.get(title, "") for own in cells.values())])
        every = [problem for block in parameters.blocks or () for problem in block.problems or ()]
        yield from self._absent(every, not first)

    def blocks(self, parameters: ScoreboardParameters) -> Iterator[tuple[ScoreBlock, dict[str, Beside]]]:
        """Return what stands in each block of a scoreboard, by problem: final regrets by title and seed."""
        for block in parameters.blocks or ():
            yield (
                block,
                {
                    problem: self._beside(problem, block.metric, block.pursued, None, parameters.titles)
                    for problem in block.problems or self.numbers
                    if problem in self.numbers
                },
            )

    def reference(self, parameters: ScoreboardParameters | PanelsParameters) -> str:
        """Return the title of random decisions in a figure."""
        return self.title(REFERENCE, NO_OBJECTIVE, parameters.titles, False)

    def ranks(self, parameters: RankingParameters) -> Iterator[str]:
        """Return the lines of a table of mean ranks with intervals and tie groups, and what survives."""
        wanted = list(parameters.problems or self.numbers)
        ranking, left_out = self.ranking(parameters, wanted)
        if ranking is None:
            yield "Too few problems or algorithms to rank."
        else:
            yield from _ranked(ranking)
            if left_out:
                yield f"Not on every problem, and left out: {spoken(left_out)}."
        yield from self._absent(wanted, True)

    def ranking(self, parameters: RankingParameters, wanted: Sequence[str]) -> tuple[Ranking | None, list[str]]:
        """Rank over some problems, as far as their results are there.

        Returns:
            The ranking, None where there is none, and the titles that do not run on all of these problems.
        """
        every = {
            problem: self._beside(problem, parameters.metric or "", parameters.pursued, parameters.algorithms, {})
            for problem in wanted
            if problem in self.numbers
        }
        competing = [title for title in self._ordered(every.values(), {}) if title not in self.yardsticks]
        titles = [title for title in competing if all(title in own for own in every.values())]
        means = {
            problem: {title: float(np.mean(list(own[title].values()))) for title in titles}
            for problem, own in every.items()
        }
        return surviving_ranking(means, parameters.halves), [title for title in competing if title not in titles]

    def times(self, parameters: RunTimesParameters, problem: str) -> Iterator[str]:
        """Return the lines of a table of seconds a run, mean and standard error, a paper's beside them."""
        numbers = self.numbers[problem]
        columns = parameters.columns or {"seconds": list(numbers.known.algorithms)}
        first = next(iter(columns.values()))

        def spent(label: str) -> str:
            objectives = numbers.known.algorithms.get(label)
            times = numbers.at("seconds", Place(objectives[0], label, "")) if objectives else {}
            return (
                _mean({seed: time * numbers.known.rounds for seed, time in times.items()}, False) if times else NOTHING
            )

        yield f"On {problem}:"
        yield ""
        rows = parameters.rows or [self.abouts[label]["title"] for label in first]
        ours = {heading: [spent(label) for label in labels] for heading, labels in columns.items()}
        yield from _columns(rows, {**parameters.published, **ours})

    def fronts(self, parameters: RobustFrontParameters, problem: str) -> Iterator[str]:
        """Return the lines of a table of hypervolumes as shares of the best front's, mean and standard error."""
        known = self.numbers[problem].known
        metric = parameters.metric or known.metrics[0]
        shares = self._beside(
            problem, metric, parameters.objective and [parameters.objective], parameters.algorithms, {}, "hypervolume"
        )
        titles = self._ordered([shares], {})
        yield f"On {problem}, scored by {metric}, as shares of the hypervolume of the best front:"
        yield ""
        yield from head(titles)
        yield line([_mean(shares[title], False) for title in titles])

    def commitments(self, parameters: WindFigureParameters, problem: str) -> Iterator[str]:
        """Return the lines of a table of revenue and robust regret over all hours, mean and standard error."""
        wanted = parameters.objective and [parameters.objective]
        given = (parameters.metric or "", wanted, parameters.algorithms, parameters.titles)
        quantities = {"revenue": "payoff", "robust regret": "final"}
        rows = {name: self._beside(problem, *given, word) for name, word in quantities.items()}
        titles = self._ordered(rows.values(), parameters.titles)
        yield from head(["", *titles])
        for name, own in rows.items():
            yield line([name, *(_mean(own[title], False) for title in titles)])

    def across(self, parameters: AcrossObjectivesParameters, problem: str) -> Iterator[str]:
        """Return the lines of a table of payoff and regret at each place of an axis, mean and standard error."""
        assert parameters.at is not None
        columns = {
            (quantity, label): self._beside(problem, label, [label], parameters.algorithms, parameters.titles, word)
            for quantity, word in (("payoff", "payoff"), ("regret", "final"))
            for label in parameters.at
        }
        titles = self._ordered(columns.values(), parameters.titles)
        yield from head([parameters.label, *(f"{place:g}" for place in parameters.at.values())])
        for quantity, title in product(("payoff", "regret"), titles):
            cells = (columns[quantity, label].get(title) for label in parameters.at)
            yield line([f"{quantity}: {title}", *(_mean(own, False) if own else NOTHING for own in cells)])

    def chosen(self, parameters: PriorsParameters, problem: str) -> Iterator[str]:
        """Return the lines of a table of candidate priors: how often each was trusted, and rejected, in percent."""
        numbers = self.numbers[problem]
        priors, rows = numbers.known.priors or (), {}
        for label, about in self.abouts.items():
            asked = label in parameters.algorithms if parameters.algorithms else about["title"] not in self.yardsticks
            objectives = numbers.known.algorithms.get(label, ()) if asked else ()
            for objective in objectives:
                cells = [_shares(numbers, Place(objective, label, "", prior)) for prior in priors]
                if any(cells):
                    rows[self.title(label, objective, {}, len(objectives) > 1)] = cells
        yield f"On {problem}, by candidate prior: rounds in which it was trusted / runs that rejected it."
        yield ""
        yield from head(["", *priors])
        for title, cells in rows.items():
            yield line([title, *cells])

    def estimates(self, parameters: DensityEstimatesParameters, problem: str) -> Iterator[str]:
        """Return the lines of a table of how far density estimates are from the law of a problem's context."""
        from bocu.sweep.runs.seed_run import build_problem

        built: Any = build_problem(self.plan.problems[problem].specification, {})
        yield from _columns(row_heads(parameters), distances_of(built.law, parameters))

    def _absent(self, wanted: Sequence[str], below: bool = False) -> Iterator[str]:
        absent = [label for label in dict.fromkeys(wanted) if label not in self.numbers]
        if absent:
            yield from [*([""] if below else []), f"No results are published of {spoken(absent)}."]

    def _beside(
        self,
        problem: str,
        metric: str,
        pursued: Sequence[str] | None,
        only: Sequence[str] | None,
        titles: Mapping[str, str],
        word: str = "final",
    ) -> Beside:
        """Return final regrets under a metric, or what another word stands for, of what pursues it or nothing."""
        numbers = self.numbers[problem]
        known = numbers.known
        found: dict[str, Sample] = {}
        if metric not in known.metrics:
            return found
        for label in (label for label in self.abouts if label in known.algorithms and (only is None or label in only)):
            wanted = (NO_OBJECTIVE, *(pursued or [metric]))
            objectives = [objective for objective in known.algorithms[label] if objective in wanted]
            for objective in objectives:
                place = Place(objective, label, "" if word == "payoff" else metric)
                if sample := numbers.at(word, place):
                    found[self.title(label, objective, titles, len(objectives) > 1)] = sample
        return found

    def title(self, label: str, objective: str, titles: Mapping[str, str], several: bool) -> str:
        """Return what tables write for a branch: a given title, else the algorithm's, with the objective if several."""
        plain = titles.get(label, self.abouts[label]["title"])
        default = f"{plain}, {self.objectives[objective]}" if several else plain
        return titles.get(f"{label}/{objective}", default)

    def _ordered(self, every: Iterable[Mapping[str, object]], titles: Mapping[str, str]) -> list[str]:
        """Return all titles in the order of the experiment's algorithms."""
        written = [
            self.title(label, objective, titles, several)
            for label in self.abouts
            for objective in self.objectives
            for several in (False, True)
        ]
        return sorted({title for own in every for title in own}, key=written.index)

    def standings(self, beside: Beside, parameters: ScoreboardParameters | PanelsParameters) -> Standings:
        """Return what is told of the pairs of what stands beside each other in a figure."""
        competing = [title for title in beside if title not in self.yardsticks]
        margin = getattr(parameters, "leads_within", None) or self.plan.experiment.leads_within
        random = self.reference(parameters) if REFERENCE in self.abouts else None
        return Standings(beside, competing, random, margin)

    def _relative(self, table: Standings, reference: str) -> dict[str, str]:
        """Return cells by title: the ratio to the reference, where its mean is positive."""
        base = table.regrets.get(reference, {})
        found: dict[str, str] = {}
        if not base or table.means[reference] <= 0:
            return found
        for title, gap in table.against(reference).items():
            beside = table.regrets[title]
            shared = sorted(set(beside) & set(base))
            own, other = (np.array([sample[seed] for seed in shared]) for sample in (beside, base))
            ratio = student_ratio(own, other)
            text = number(ratio.value, 2, significant=0.0 < abs(ratio.value) < TINY)
            text = f"**{text}**" if title in table.leading else text
            found[title] = f"*{text}*" if gap.on_average in (TIED, TOO_FEW) else text
        return found


def _ranked(ranking: Ranking) -> Iterator[str]:
    yield from head(["", "mean rank", f"{CONFIDENCE:.0%} interval over problems", "group"])
    for label, mean, low, high in zip(ranking.labels, ranking.mean, ranking.low, ranking.high, strict=True):
        yield line([label, f"{mean:.2f}", f"{low:.2f} to {high:.2f}", ranking.letters[label]])
    yield ""
    tested = probability(ranking.p_value, sign=True)
    yield (
        f"{who_is_best(ranking)}. {ranking.problems} problems; Friedman's test that all rank alike has p {tested}. Who "
        "shares a letter is not told apart by Nemenyi's test, for which ranks have to be "
        f"{ranking.critical_difference:.2f} apart. {what_survives(ranking)}."
    )


def _flat(problems: Sequence[str | list[str]]) -> list[str]:
    return [label for entry in problems for label in ([entry] if isinstance(entry, str) else entry)]


def _mean(sample: Sample, bold: bool) -> str:
    mean, error = (float(value) for value in mean_and_error(np.array(list(sample.values()))))
    if np.isnan(error):
        return number(mean, 3, significant=True)
    digits = decimals(error)
    text = f"{mean:z,.{digits}f} ± {error:z,.{digits}f}".replace("-", "−")
    return f"**{text}**" if bold else text


def _shares(numbers: Numbers, place: Place) -> str:
    """Return the shares of rounds that trusted a prior and of runs that rejected it, as far as they are reported."""
    found = (numbers.at(word, place) for word in ("share", "rejected"))
    return " / ".join(f"{100 * np.mean(list(sample.values())):.0f} %" for sample in found if sample)


def _columns(rows: Sequence[str], cells: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table of columns by their headings."""
    yield from head(["", *cells])
    for place, row in enumerate(rows):
        yield line([row, *(column[place] for column in cells.values())])


def head(titles: Sequence[str]) -> Iterator[str]:
    """Return the two lines that a table begins with, of titles that are Markdown."""
    yield line(titles)
    yield "|---" * len(titles) + "|"


def line(cells: Sequence[str]) -> str:
    """Return a line of a table, of cells that are Markdown."""
    return f"| {' | '.join(cells)} |"


def overview(published: PublishedNumbers, scoreboards: Sequence[str], rankings: Sequence[str]) -> str:
    """Return what some scoreboards and rankings of an experiment come to, as Markdown.

    Args:
        published: its numbers.
        scoreboards: labels of figures.
        rankings: likewise.
    """
    if not published.numbers:
        return "No results are published yet.\n"
    lines = [_ran(published)]
    standings = _Standings(published)
    figures: Mapping[str, Any] = {label: figure.parameters for label, figure in published.plan.figures.items()}
    for label in scoreboards:
        standings.add(figures[label])
    lines += ["", *standings.told()]
    for label in rankings:
        lines += ["", *_survival(published, figures[label])]
    return "\n".join(lines) + "\n"


def _ran(published: PublishedNumbers) -> str:
    """Say how many runs there are, and what their rounds took."""
    runs, hours = published.spent()
    planned, found = len(published.plan.problems), len(published.numbers)
    of = f"{found} problems" if found == planned else f"{found} of {planned} problems"
    ran = f"{runs:,} runs, whose rounds took {number(hours, 1)} hours on one core each."
    return f"{of}, {scale_of(published.numbers)}: {ran}"


class _Standings:
    """How often each method of some scoreboards is ahead of random decisions, leads, and leads alone."""

    def __init__(self, published: PublishedNumbers) -> None:
        self.published = published
        self.counts: dict[str, Counter[str]] = {}
        self.columns: Counter[str] = Counter()
        self.seeds: set[int] = set()

    def add(self, parameters: ScoreboardParameters) -> None:
        """Count the columns of a scoreboard: a column is a problem under a metric."""
        reference = self.published.reference(parameters)
        for _, shown in self.published.blocks(parameters):
            for own in shown.values():
                base = own.get(reference, {})
                # Of nothing lost at random no share can be told; the tables leave these columns empty.
                if not base or np.mean(list(base.values())) <= 0:
                    continue
                table = self.published.standings(own, parameters)
                leading = table.leading
                verdicts = {title: plain(gap.on_average) for title, gap in table.against(reference).items()}
                rivals = [title for title in own if title not in self.published.yardsticks]
                self.seeds.add(len(base))
                self.columns["all"] += 1
                self.columns["untold"] += not leading
                self.columns["alone"] += table.alone is not None
                self.columns["nobody"] += not any(verdicts.get(title) == LESS for title in rivals)
                for title in own:
                    counts = self.counts.setdefault(title, Counter())
                    counts["columns"] += 1
                    counts["leads"] += title in leading
                    counts["alone"] += table.alone == title
                    counts["better"] += verdicts.get(title) == LESS
                    counts["worse"] += verdicts.get(title) == MORE

    def told(self) -> Iterator[str]:
        """Return the lines of the table and of what it comes to, methods in the order of the experiment."""
        columns = self.columns
        if not columns["all"]:
            yield "No column has a number for random decisions yet."
            return
        least = min(self.seeds)
        yield (
            f"A column is a problem under a metric; there are {columns['all']}.{_power(least)} In {columns['untold']} "
            f"columns nobody can be told to lead, in {columns['alone']} one method leads and all others are behind, in "
            f"{columns['nobody']} nobody is told to be better than random decisions."
        )
        yield ""
        yield from head(["method", "columns", "better than random", "worse", "in the leading group", "leads alone"])
        for title, counts in self.counts.items():
            shown = [counts[key] for key in ("columns", "better", "worse", "leads", "alone")]
            lead = ["–", "–"] if title in self.published.yardsticks else [str(count) for count in shown[3:]]
            yield line([title, *map(str, shown[:3]), *lead])


def _power(seeds: int) -> str:
    """Say what so few seeds can tell, in a sentence with a space before; empty where they are enough."""
    if seeds < LEAST_SEEDS:
        return f" With {counted(seeds, 'seed')} no two methods can be told apart."
    if seeds < VERDICT_SEEDS:
        return f" With {counted(seeds, 'seed')} a test leans one way; who leads takes {VERDICT_SEEDS}."
    return ""


def _survival(published: PublishedNumbers, parameters: RankingParameters) -> Iterator[str]:
    """Return what the ranking over some problems is worth: on halves of them, and with one of each kind alone."""
    wanted = list(parameters.problems or published.numbers)
    title = parameters.title or "Ranking"
    ranking, _ = published.ranking(parameters, wanted)
    if ranking is None:
        yield f"- **{title}**: too few problems or algorithms to rank."
        return
    yield (
        f"- **{title}**, {counted(ranking.problems, 'problem')}: {who_is_best(ranking)}. Of {ranking.halves} random "
        f"halves of the problems {ranking.same_order:.0%} keep the whole order; of the pairs of methods "
        f"{ranking.same_pairs:.0%} keep theirs in a half, and {ranking.labels[0]}, first of all, is first in "
        f"{ranking.same_first:.0%} of them."
    )
    alone = _one_of_each_kind(published.plan.problems, [label for label in wanted if label in published.numbers])
    if len(alone) < ranking.problems:
        other, _ = published.ranking(parameters, alone)
        said = (
            "too few to rank" if other is None else f"{who_is_best(other)}; {other.labels[0]} has the least mean rank"
        )
        yield f"  With one problem of each kind alone ({spoken(alone)}): {said}."


def _one_of_each_kind(problems: Any, labels: Sequence[str]) -> list[str]:
    """Return the first problem of each registered name: variants of one function are no draws of their own."""
    first: dict[str, str] = {}
    for label in labels:
        first.setdefault(problems[label].registered.name, label)
    return list(first.values())
