"""The numbers of the report as flat records, as tables for people, and as CSV files.

A record is a plain dict; all records of one kind have the same keys. Regret is cumulative over all rounds from 1 on, in
units of the problem's payoff, lower is better.
"""

import contextlib
import csv
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.io.files import atomic_path
from bocu.core.written import NOTHING, brief, counted, decimals, number, probability, round_time, work_time
from bocu.pages.figures.results import DONE, MISSING, NO_OBJECTIVE, Digest, Tables, final_totals, groups, shown_unit
from bocu.sweep.evaluation.audits import Audit
from bocu.sweep.evaluation.run_statistics import SECONDS, TOLD, Told
from bocu.sweep.evaluation.standings import LEADING, OPEN, STUCK_SHARE, TIED, TOO_FEW, VERDICT_SEEDS, Standings, tail
from bocu.sweep.evaluation.statistics import Interval, mean_and_error, ranks

if TYPE_CHECKING:
    import xarray as xr

Fields = dict[str, Any]


@dataclass(frozen=True)
class Spent:
    """What an algorithm took on a problem: title, mean seconds of a round, seconds of all its runs."""

    problem: str
    label: str
    title: str
    round: float
    total: float


def _place(cube: Digest, objective: str, algorithm: str, metric: str | None = None) -> Fields:
    """Return what a record begins with: what it is about."""
    scored = {} if metric is None else {"metric": metric}
    return {"problem": cube.problem, "objective": objective, **scored, "algorithm": algorithm}


def choose_reference(table: Standings, wanted: str | None = None) -> str | None:
    """Return the algorithm that others are compared with: the one wanted, or that of the least mean regret.

    Yardsticks are not chosen unasked. None where no algorithm has a finished seed.
    """
    if wanted is not None and table.regrets.get(wanted):
        return wanted
    return table.least or min(table.means, key=lambda label: table.means[label], default=None)


def final_regret(cube: Digest, found: Tables) -> Iterator[Fields]:
    """Return mean, standard error and spread of the final cumulative regret, a record an algorithm and table.

    `standing` is that of `Standings.standing`; empty for yardsticks.
    """
    for (objective, metric), table in found.items():
        for label, own in table.regrets.items():
            mean, error = mean_and_error(np.array(list(own.values())))
            spread = tail(own.values())
            yield {
                **_place(cube, objective, label, metric),
                "rounds": int(cube.iterations[-1]),
                "seeds": len(own),
                "mean": float(mean),
                "standard_error": float(error),
                "median": spread.median,
                "worst_tenth": spread.worst_tenth,
                "stuck_seeds": spread.stuck,
                "standing": table.standing.get(label, ""),
                "margin": table.margin,
                "units": cube.units,
            }


def difference_records(cube: Digest, found: Tables, wanted: str | None = None) -> Iterator[Fields]:
    """Compare every algorithm with the reference on the same seeds, a record an algorithm and table."""
    for (objective, metric), table in found.items():
        reference = choose_reference(table, wanted)
        for label, gap in table.against(reference).items() if reference else ():
            yield {
                **_place(cube, objective, label, metric),
                "reference": reference,
                "seeds": gap.difference.count,
                "mean_difference": gap.difference.value,
                "low": gap.difference.low,
                "high": gap.difference.high,
                "p_value": gap.p_value,
                "on_average": gap.on_average,
                "differing_seeds": gap.less.count,
                "share_with_less_regret": gap.less.value,
                "share_low": gap.less.low,
                "share_high": gap.less.high,
                "p_value_of_share": gap.p_usually,
                "usually": gap.usually,
                "units": cube.units,
            }


def mean_ranks(cube: Digest) -> Iterator[Fields]:
    """Rank the algorithms within each seed, a record an algorithm, objective and metric."""
    for objective, metric, branches in groups(cube):
        totals = {label: own for label, own in final_totals(cube, branches, metric).items() if own}
        found = ranks(totals)
        for label, rank in found.mean.items():
            yield {
                **_place(cube, objective, label, metric),
                "seeds": found.count,
                "mean_rank": rank,
                "friedman_p_value": found.p_value,
            }


def told_records(cube: Digest, told: Told) -> Iterator[Fields]:
    """Return what is told of a statistic, a record a branch and metric; times have no metric."""
    if cube.outputs < told.outputs:
        return
    for objective, metric, branches in groups(cube) if "metric" in told.columns else [("", None, cube.branches())]:
        for branch in branches:
            values = np.array([*cube.per_seed(told.statistic, branch, metric).values()])
            place = _place(cube, objective or branch.objective, branch.algorithm, metric)
            yield {**place, **told.summary(values, int(cube.iterations[-1]))}


def spent(cube: Digest) -> list[Spent]:
    """Return what each algorithm took on a problem, asking and telling, over all its objectives."""
    found: dict[str, tuple[float, float, int]] = {}
    for branch in cube.branches():
        times = np.array([*cube.per_seed(SECONDS, branch).values()])
        total, rounds, seeds = found.get(branch.algorithm, (0.0, 0.0, 0))
        found[branch.algorithm] = (
            total + float(times.sum()) * float(cube.iterations[-1]),
            rounds + float(times.sum()),
            seeds + len(times),
        )
    return [
        Spent(cube.called, label, cube.titles[label], rounds / seeds, total)
        for label, (total, rounds, seeds) in found.items()
        if seeds
    ]


def holes(cube: Digest) -> Iterator[Fields]:
    """Name what is not there: seeds without a run, and finished seeds that a metric does not score, a record each."""
    for branch in cube.branches():
        status = cube.status(branch)
        missing = np.asarray(cube.seeds)[status == MISSING]
        found = [("no run", "", missing)] if len(missing) else []
        done = np.asarray(cube.seeds)[status == DONE]
        for metric in cube.metrics:
            unscored = np.setdiff1d(done, [*cube.totals(branch, metric)])
            if len(unscored):
                found.append(("no regret in some round", metric, unscored))
        for what, metric, seeds in found:
            told = {"what": what, "metric": metric, "count": len(seeds), "seeds": seed_ranges(seeds.tolist())}
            yield {**_place(cube, branch.objective, branch.algorithm), **told}


def with_titles(cube: Digest, record: Fields) -> Fields:
    """Return a record with titles in place of the labels of objective, metric and algorithm."""
    titles = {
        "objective": "" if record["objective"] == NO_OBJECTIVE else cube.objective_titles[record["objective"]],
        "algorithm": cube.titles[record["algorithm"]],
        "metric": cube.metric_titles.get(record.get("metric", ""), ""),
    }
    return {**record, **titles}


def resets(cube: Digest) -> Iterator[Fields]:
    """Name the runs in which all candidate priors were rejected, a record a run, with the first such round."""
    for branch in cube.branches():
        for seed, round_ in cube.resets(branch).items():
            yield {**_place(cube, branch.objective, branch.algorithm), "seed": seed, "round": round_}


def checkpoints(summary: "xr.Dataset", cube: Digest) -> Iterator[Fields]:
    """Return cumulative regret after some of the rounds, from the summary, a record an algorithm and checkpoint."""
    own = summary.sel(problem=cube.data.attrs["problem_label"])
    regret = own["cumulative_regret"].transpose("objective", "algorithm", "metric", "seed", "checkpoint")
    totals, rounds = regret.values, own["iteration_of"].values
    places = {dim: {str(label): i for i, label in enumerate(regret[dim].values)} for dim in regret.dims[:3]}
    for objective, metric, branches in groups(cube):
        for branch in branches:
            place = places["objective"][branch.objective], places["algorithm"][branch.algorithm]
            values = totals[(*place, places["metric"][metric])]
            whole = values[~np.isnan(values).any(axis=1)]
            mean, error = mean_and_error(whole)
            for point, round_ in enumerate(rounds):
                yield {
                    **_place(cube, objective, branch.algorithm, metric),
                    "round": int(round_),
                    "seeds": len(whole),
                    "mean": float(mean[point]),
                    "standard_error": float(error[point]),
                    "units": cube.units,
                }


def seed_ranges(seeds: list[int]) -> str:
    """Write seeds briefly: [0, 1, 2, 5] becomes "0-2, 5"."""
    parts: list[list[int]] = []
    for seed in sorted(seeds):
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


NO_WIDTH = 1e-9  #: Errors and intervals that are a smaller share of their value are rounding.


@dataclass(frozen=True)
class Table:
    """A table of the page."""

    identifier: str  #: unique on the page.
    caption: str  #: what it shows.
    header: tuple[str, ...]  #: headings of the columns; the first column heads the rows.
    rows: tuple[tuple[str, ...], ...]  #: texts.
    #: indices of the rows that lead: the least regret among competitors, and what is not told apart from it.
    best: tuple[int, ...] = ()
    #: what it is about, for the page's filters: "problem", "objective", "metric".
    about: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()  #: algorithm label of each row; none where rows are something else.
    links: tuple[str, ...] = ()  #: where the last cell of each row leads; none where nowhere.
    columns: tuple[str, ...] = ()  #: names of the columns for the page's script.
    panel: str = ""  #: what the page calls the comparison that it shows; empty for no comparison.
    #: what each row is about, for the page's filters, of a table of claims: labels by kind.
    scopes: tuple[Mapping[str, str], ...] = ()


@contextlib.contextmanager
def csv_file(path: str | Path, columns: Sequence[str]) -> Iterator[Callable[[Sequence[Fields]], None]]:
    """Open a CSV file for records of one kind; it appears under its name when the block ends well.

    Returns:
        What writes records: numbers in full, no number as an empty field.
    """
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()

        def write(records: Sequence[Fields]) -> None:
            for record in records:
                writer.writerow({key: "" if _no_number(value) else value for key, value in record.items()})

        yield write


def parquet_beside(tables: Sequence[Path]) -> list[Path]:
    """Write CSV tables as Parquet beside them, where the extra `parquet` is installed; return what was written."""
    if importlib.util.find_spec("pyarrow") is None:
        return []
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    written = []
    for path in tables:
        found = arrow_csv.read_csv(path)
        written.append(path.with_suffix(".parquet"))
        with atomic_path(written[-1]) as temporary:
            parquet.write_table(found, temporary)
    return written


def comparison(
    cube: Digest,
    objective: str,
    metric: str,
    kinds: Mapping[str, Sequence[Fields]],
    links: Mapping[str, str] | None = None,
) -> Table:
    """Set side by side what is known of the algorithms under one objective and metric.

    Args:
        cube: the problem.
        objective: the objective pursued.
        metric: label of the metric.
        kinds: records by kind: "final-regret", "differences", "ranks", and the statistics that are told.
        links: where the run files of an algorithm lie, by label.
    """

    def of(kind: str) -> dict[str, Fields]:
        return {
            record["algorithm"]: record
            for record in kinds[kind]
            if record["problem"] == cube.problem
            and record.get("metric", metric) == metric
            and (record["objective"] in (objective, NO_OBJECTIVE))
        }

    final, gaps, ranked = of("final-regret"), of("differences"), of("ranks")
    columns = [(told, of(told.file)) for told in TOLD if not told.caption]
    order = sorted(final, key=lambda label: (isnan(final[label]["mean"]), final[label]["mean"]))
    reference = next(iter(gaps.values()))["reference"] if gaps else None
    rows = []
    for label in order:
        gap = gaps.get(label)
        rows.append(
            (
                cube.titles[label],
                _regret(final[label]),
                "reference" if label == reference else interval(_difference(gap)) if gap else NOTHING,
                probability(gap["p_value"]) if gap else NOTHING,
                gap["on_average"] if gap and gap["seeds"] else NOTHING,
                _usually(gap) if gap else NOTHING,
                number(ranked[label]["mean_rank"], 2) if label in ranked else NOTHING,
                *(told.cell(own[label]) if label in own else NOTHING for told, own in columns),
                str(final[label]["seeds"]),
            )
        )
    unit = shown_unit(cube.units)
    regret = f"Final regret{f' [{unit}]' if unit else ''}"
    best = tuple(place for place, label in enumerate(order) if final[label]["standing"] == LEADING)
    friedman = next((record["friedman_p_value"] for record in ranked.values()), float("nan"))
    alike = "" if isnan(friedman) else f" Friedman's test that all rank alike: p {probability(friedman, sign=True)}."
    caption = (
        f"Cumulative regret after {counted(int(cube.iterations[-1]), 'round')}, {scored(cube, objective, metric)}: "
        f"mean ± standard error over seeds.{_led(final, cube.titles) if gaps else ''}{alike}"
    )
    against = f"More than {cube.titles[reference]}" if reference else "Difference"
    headings, names = ([getattr(told, key) for told, _ in columns] for key in ("heading", "name"))
    header = ("Algorithm", regret, against, "p", "On average", "Usually", "Mean rank", *headings, "Seeds")
    return Table(
        f"problem-{cube.problem}-regret-{objective}-{metric}",
        caption,
        header,
        tuple(rows),
        best,
        about=about(cube, objective, metric),
        labels=tuple(order),
        links=tuple((links or {}).get(label, "") for label in order),
        columns=("algorithm", "regret", "difference", "p", "verdict", "usually", "rank", *names, "seeds"),
        panel=identifier(cube.problem, objective, metric),
    )


def about(cube: Digest, objective: str, metric: str) -> dict[str, str]:
    """Return what a table is about, for the page's filters."""
    return {"problem": cube.problem, "objective": objective, "metric": metric}


def identifier(problem: str, objective: str, metric: str) -> str:
    """Return what a comparison is called within the page."""
    return f"{problem}-{objective}-{metric}"


def _regret(final: Fields) -> str:
    """Write mean and standard error, and median and worst tenth where the mean alone does not tell of who sticks."""
    text = plus_minus(final["mean"], final["standard_error"])
    if final["stuck_seeds"] <= STUCK_SHARE * final["seeds"]:
        return text
    spread = f"median {brief(final['median'])}, worst tenth {brief(final['worst_tenth'])}"
    return f"{text}; {spread}; sticks in {final['stuck_seeds']} of {final['seeds']}"


def _difference(gap: Fields) -> Interval:
    return Interval(gap["mean_difference"], gap["low"], gap["high"], gap["seeds"])


def _usually(gap: Fields) -> str:
    """Write the verdict on the share of seeds, and in how many there is less regret."""
    if gap["usually"] == TOO_FEW or not gap["differing_seeds"]:
        return NOTHING if gap["usually"] == TOO_FEW else TIED
    less = round(gap["share_with_less_regret"] * gap["differing_seeds"])
    return f"{gap['usually']} (less in {less} of {gap['differing_seeds']})"


def _led(final: Mapping[str, Fields], titles: Mapping[str, str]) -> str:
    """Say what marked rows are, in a sentence with a space before."""
    where = {label: record["standing"] for label, record in final.items()}
    if LEADING not in where.values():
        few = max(record["seeds"] for record in final.values()) < VERDICT_SEEDS
        return f" Nobody leads yet: a verdict takes {VERDICT_SEEDS} paired seeds." if few else " No two are told apart."
    margin = brief(next(iter(final.values()))["margin"])
    open_ = [titles[label] for label, standing in where.items() if standing == OPEN]
    rest = f" Open: {', '.join(open_)}." if open_ else ""
    return f" Bold: the least regret, and what has at most {margin} more, as the interval has it.{rest}"


def along_the_way(cube: Digest, objective: str, metric: str, records: Sequence[Fields]) -> Table:
    """Show how cumulative regret grows over the rounds."""
    own = [r for r in records if (r["problem"], r["objective"], r["metric"]) == (cube.problem, objective, metric)]
    rounds = sorted({record["round"] for record in own})
    cells = {(record["algorithm"], record["round"]): record for record in own}
    labels = list(dict.fromkeys(record["algorithm"] for record in own))
    rows = tuple(
        (
            cube.titles[label],
            *(plus_minus(cells[label, t]["mean"], cells[label, t]["standard_error"]) for t in rounds),
        )
        for label in labels
    )
    unit = shown_unit(cube.units)
    caption = (
        f"Cumulative regret{f' in {unit}' if unit else ''} on the way, {scored(cube, objective, metric)}: mean "
        "± standard error over seeds."
    )
    header = ("Algorithm", *(f"Round {t}" for t in rounds))
    return Table(
        f"problem-{cube.problem}-way-{objective}-{metric}",
        caption,
        header,
        rows,
        about=about(cube, objective, metric),
        labels=tuple(labels),
    )


def audited(found: Audit) -> Table:
    """Show how far worst cases lay from those of an independent solver, by problem, set and kind."""
    rows = (
        (str(g["problem"]), str(g["set"]), str(g["kind"]), f"{g['cases']:,}", f"{g['largest']:.0e}")
        for g in found.groups
    )
    caption = (
        f"Worst cases of this experiment: answers of our solvers, {found.stored:,} of them from score files, against "
        f"{found.solver}, by what they were drawn from: payoffs of decisions scored or recommended, or rows met while "
        "an algorithm chose. Errors are shares of the payoffs' range; that solver's own gap is at most "
        f"{found.largest_gap:.0e}."
    )
    return Table("audit-table", caption, ("Problem", "Set", "Drawn from", "Cases", "Largest error"), tuple(rows))


def by_itself(cube: Digest, objective: str, metric: str, told: Told, records: Sequence[Fields]) -> Table:
    """Show a statistic that has a table of its own, the largest first."""
    own = [r for r in records if (r["problem"], r["objective"], r["metric"]) == (cube.problem, objective, metric)]
    own.sort(key=lambda record: (isnan(record[told.value]), -record[told.value]))
    rounds = counted(int(cube.iterations[-1]), "round")
    return Table(
        f"problem-{cube.problem}-{told.name}-{objective}-{metric}",
        told.caption.format(rounds=rounds, scored=scored(cube, objective, metric)),
        ("Algorithm", told.heading, "Seeds"),
        tuple((cube.titles[record["algorithm"]], told.cell(record), str(record["seeds"])) for record in own),
        about=about(cube, objective, metric),
        labels=tuple(record["algorithm"] for record in own),
    )


def scored(cube: Digest, objective: str, metric: str) -> str:
    """Say in a caption what scores, and which objective is pursued, where one is."""
    by = f"scored by {cube.metric_titles[metric]}"
    if objective == NO_OBJECTIVE:
        return by
    pursued = cube.objective_titles[objective]
    return f"pursued and {by}" if pursued == cube.metric_titles[metric] else f"{by}, pursuing {pursued}"


def plus_minus(mean: float, error: float) -> str:
    """Write a mean with its error, both to the digit that the error's second figure has: "15.22 ± 0.38"."""
    if isnan(mean):
        return NOTHING
    if not error > NO_WIDTH * abs(mean):
        return number(mean, 4, significant=True)
    digits = decimals(error)
    return f"{number(mean, digits)} ± {number(error, digits)}"


def interval(difference: Interval) -> str:
    """Write a difference with its interval: "+2.51 [1.20, 3.94]"."""
    value, low, high = difference.value, difference.low, difference.high
    if isnan(value):
        return NOTHING
    if isnan(low):
        return number(value, 4, significant=True, sign=True)
    digits = decimals((high - low) / 4) if high - low > NO_WIDTH * abs(value) else 2
    return f"{number(value, digits, sign=True)} [{number(low, digits)}, {number(high, digits)}]"


def times(spent: Sequence[Spent]) -> Table:
    """Show how long each algorithm decided, over all problems."""
    totals: dict[str, list[Spent]] = {}
    for one in spent:
        totals.setdefault(one.label, []).append(one)
    whole = sum(one.total for one in spent)
    order = sorted(totals, key=lambda label: -sum(one.total for one in totals[label]))
    rows = []
    for label in order:
        mine = totals[label]
        own, most = sum(one.total for one in mine), max(mine, key=lambda one: one.total)
        share_of_all = f"{own / whole:.1%}" if whole else NOTHING
        slowest = max(mine, key=lambda one: one.round)
        rows.append(
            (
                most.title,
                work_time(own),
                share_of_all,
                f"{most.problem} ({work_time(most.total)})",
                f"{round_time(slowest.round)} ({slowest.problem})",
            )
        )
    header = ("Algorithm", "Time", "Share", "Most on", "Slowest round, mean of a problem")
    caption = f"Time of all runs: {work_time(whole)} on one core, by algorithm."
    return Table("time-table", caption, header, tuple(rows), labels=tuple(order))


def _no_number(value: object) -> bool:
    return isinstance(value, float) and isnan(value)
