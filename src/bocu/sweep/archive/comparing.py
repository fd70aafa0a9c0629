"""Results beside those of the archive: who meets whom, up to which round, and what need not be run again.

Branches meet where problem and metric have the same identities; methods that pursue something else do not. Where rounds
differ the common ones are compared, as far as files keep them.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.io.hashes import sha256
from bocu.core.plain import Plain
from bocu.core.written import counted, spoken
from bocu.sweep.archive.entries import FOLDER, Archive, ArchivedFile, Run, core_hours, told_of
from bocu.sweep.archive.identities import Identities, asked_of, identities_of
from bocu.sweep.evaluation.claims.numbers import Numbers, Sample
from bocu.sweep.evaluation.claims.places import Place
from bocu.sweep.evaluation.claims.reduced import Reduced
from bocu.sweep.evaluation.digests import shown_pairs
from bocu.sweep.evaluation.standings import VERDICT_SEEDS, Standings
from bocu.sweep.experiment.branches import NO_OBJECTIVE
from bocu.sweep.experiment.configuration import Margin
from bocu.sweep.experiment.plan import Plan

RANDOM = "algorithm/random"


@dataclass(frozen=True)
class Meeting:
    """Methods that meet on a problem under a metric."""

    problem: str  #: label of the problem in the results that are compared.
    objective: str  #: label of what is pursued, there or in the first file that does, or `any`.
    metric: str  #: label there of what scores.
    rounds: int  #: up to which regret is summed.
    table: Standings  #: their regrets and standings, by what tells methods apart.
    runs: Mapping[str, Run]  #: the branch of each.
    titles: Mapping[str, str]  #: what is written for each.


def question(plan: Plan, folder: Path = FOLDER) -> Plain:
    """Return, plain, what is asked of an archive for the report of an experiment, with the hashes of its files."""
    return {
        "name": plan.experiment.name,
        "asked": {label: asdict(one) for label, one in asked_of(plan).items()},
        "about": told_of(plan),
        "margin": plan.experiment.leads_within.model_dump(mode="json"),
        "files": {file.name: sha256(file) for file in sorted(folder.glob("*.nc"))},
    }


def own_entry(name: str, numbers: Mapping[str, Numbers], found: Identities, about: Plain) -> ArchivedFile:
    """Return results at hand in the form of an entry of the archive.

    Args:
        name: of the experiment.
        numbers: by problem.
        found: its identities.
        about: titles and looks, as files hold them.
    """
    here = {label: own for label, own in numbers.items() if label in found.problems}
    return ArchivedFile(Path(name), Reduced(name, {}, "", (), here, None, found.stated, found.problems, about))


def met_by(entry: ArchivedFile, archive: Archive) -> Iterator[Run]:
    """Return the branches of an archive that meet those of an entry: same problem, other method, seeds in common."""
    own = {run.key for run in entry.runs}
    seeds = {run.key[0]: run.seeds for run in entry.runs}
    for problem, mine in seeds.items():
        for run in archive.by_problem.get(problem, ()):
            if run.key not in own and run.entry is not entry and run.seeds & mine:
                yield run


def board(archive: Archive) -> Iterator[tuple[ArchivedFile, Meeting]]:
    """Return all that meets in an archive, a problem and metric once.

    Labels and rounds are those of the file with most methods, of several such of that with most seeds.
    """
    foremost: dict[tuple[str, str], tuple[int, int, ArchivedFile]] = {}
    for entry in archive.entries:
        methods = Counter(run.key[0] for run in entry.runs)
        seeds = {run.key[0]: len(run.seeds) for run in entry.runs}
        for of in entry.reduced.identities.values():
            many = methods[of["problem"]], seeds.get(of["problem"], 0)
            for metric in of["metrics"].values():
                there = of["problem"], metric
                if there not in foremost or many > foremost[there][:2]:
                    foremost[there] = *many, entry
    for entry in archive.entries:
        elsewhere = {there for there, (*_, first) in foremost.items() if first is not entry}
        others = list(met_by(entry, archive))
        yield from ((entry, each) for each in meetings(entry, others, without=elsewhere, same_seeds=False))


def meetings(
    entry: ArchivedFile,
    others: Sequence[Run],
    margin: Margin | None = None,
    without: Collection[tuple[str, str]] = (),
    same_seeds: bool = True,
) -> Iterator[Meeting]:
    """Return what meets on each problem of an entry, under its metrics.

    Args:
        entry: whose problems, objectives and metrics these are.
        others: branches of other entries.
        margin: as of `Standings`.
        without: identities of problems and metrics that are left out.
        same_seeds: whether others count on the seeds of the entry alone; if not, methods of too few seeds for a verdict
            are left out where several have enough, lest they leave open what these decide.
    """
    for problem, of in entry.reduced.identities.items():
        mine = [run for run in entry.runs if run.problem == problem]
        every = [*mine, *(run for run in others if run.key[0] == of["problem"])]
        pursued = _pursued([run for run in every if not _scored_elsewhere(run, of["metrics"])])
        seeds = frozenset().union(*(run.seeds for run in mine)) if same_seeds else None
        for objective, metric in shown_pairs(
            list(pursued) or [NO_OBJECTIVE], entry.reduced.problems[problem].known.metrics
        ):
            if (of["problem"], of["metrics"][metric]) in without:
                continue
            allowed = [run for run in every if run.key[1] in ("", pursued.get(objective, ""))]
            if found := _meeting(problem, objective, metric, of["metrics"][metric], allowed, margin, seeds):
                yield found


def _scored_elsewhere(run: Run, metrics: Mapping[str, str]) -> bool:
    """Return whether what a branch pursues has a metric of its own in its file, which is none of these."""
    own = run.entry.reduced.identities[run.problem]["metrics"].get(run.objective)
    return own is not None and own not in metrics.values()


def _pursued(runs: Sequence[Run]) -> dict[str, str]:
    """Return the identities of what some of the branches pursue, by the label that the first of them has for it."""
    found: dict[str, str] = {}
    for run in runs:
        if run.key[1] and run.key[1] not in found.values():
            label = run.objective if run.objective not in found else f"{run.objective} of {run.entry.file.stem}"
            found[label] = run.key[1]
    return found


def _meeting(
    problem: str,
    objective: str,
    metric: str,
    identity: str,
    runs: Sequence[Run],
    margin: Margin | None,
    seeds: frozenset[int] | None,
) -> Meeting | None:
    scored = {
        run: label
        for run in runs
        for label, found in run.entry.reduced.identities[run.problem]["metrics"].items()
        if found == identity
    }
    if not scored:
        return None
    rounds = min(run.numbers.known.rounds for run in scored)
    regrets: dict[str, dict[int, float]] = {}
    by_method: dict[str, Run] = {}
    for run, label in scored.items():
        if rounds in run.numbers.kept_rounds and (sample := _regret(run, label, rounds)):
            own = {seed: regret for seed, regret in sample.items() if seeds is None or seed in seeds}
            regrets.setdefault(run.key[2], {}).update({**own, **regrets.get(run.key[2], {})})
            by_method.setdefault(run.key[2], run)
    enough = [key for key, own in regrets.items() if len(own) >= VERDICT_SEEDS]
    if seeds is None and sum(by_method[key].told["yardstick"] != "yes" for key in enough) > 1:
        regrets, by_method = {key: regrets[key] for key in enough}, {key: by_method[key] for key in enough}
    competing = [key for key, run in by_method.items() if run.told["yardstick"] != "yes"]
    random = next((key for key, run in by_method.items() if run.entry.reduced.stated[key]["class"] == RANDOM), None)
    if len(competing) < 2:
        return None
    table = Standings(regrets, competing, random, margin)
    return Meeting(problem, objective, metric, rounds, table, by_method, _titles(by_method))


def _regret(run: Run, metric: str, rounds: int) -> Sample:
    place = Place(run.objective, run.algorithm, metric)
    if rounds == run.numbers.known.rounds:
        return run.numbers.at("final", place)
    return run.numbers.at("at", replace(place, round=rounds))


def _titles(runs: Mapping[str, Run]) -> dict[str, str]:
    """Return what is written for methods; of several with one title the file and label say which."""
    titles = {key: str(run.told["title"]) for key, run in runs.items()}
    several = {title for title in titles.values() if list(titles.values()).count(title) > 1}
    return {
        key: f"{title} ({runs[key].entry.file.stem}: {runs[key].algorithm})" if title in several else title
        for key, title in titles.items()
    }


def spared(plan: Plan, archive: Archive) -> Iterator[str]:
    """Say what an archive spares an experiment that was not run yet, a line each.

    These are branches of other methods on its problems, which need not be run to be compared with, and its own that the
    archive has of all its seeds and rounds.
    """
    seeds = set(range(plan.experiment.seeds.first, plan.experiment.seeds.first + plan.experiment.seeds.count))
    met: list[Run] = []
    there: list[str] = []
    unknown: list[str] = []
    for label, one in asked_of(plan).items():
        try:
            own = identities_of({label: one}).problems[label]
        except BocuError:
            unknown.append(label)
            continue
        planned = {
            (own["problem"], own["objectives"].get(objective, ""), own["algorithms"][algorithm]): (objective, algorithm)
            for objective, algorithm in one.branches
        }
        for run in archive.by_problem.get(own["problem"], ()):
            if run.key not in planned:
                met += [run] * bool(run.seeds & seeds)
            elif run.seeds >= seeds and run.numbers.known.rounds >= one.rounds:
                there.append("/".join((label, *planned[run.key])))
    hours = sum(core_hours(run) for run in met)
    took = f", which took {hours:.3g} core hours" if hours > 0 else ""
    yield f"archive: {counted(len(met), 'branch')} of other methods in {archive.folder}{took}: none is run"
    if there:
        yield f"archive: there already, so that they may be left out: {spoken(list(dict.fromkeys(there)))}"
    if unknown:
        yield f"archive: not known before their data are there: {spoken(unknown)}"
