"""Why a file of an experiment is out of date, or that it is not, as a dry run of Snakemake would find.

Each file says itself what it was made from: a run file its specification, code and inputs, all else the parameters and
inputs of its job (`bocu.core.io.lineage`). Records of Snakemake's are not looked at, and need not be there.
"""

import functools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_netcdf
from bocu.core.io.hashes import TIMESTAMP, contents_sha256, sha256
from bocu.core.io.lineage import Lineage, read_lineage, unfold
from bocu.core.plain import Plain, Specification
from bocu.problems.data.catalogue import SOURCES, Prepared
from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.fingerprints.fingerprint import definitions, source_files
from bocu.sweep.experiment.paths import FIGURE_SUFFIXES, PARTIAL
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.products import flat

_PACKAGE = Path(__file__).parents[1]
_BLOCK = re.compile(r"seeds-(\d+)-(\d+)\.nc")
_SHOWN_NAMES = 3
_NEAREST = 2  # edited files that are shown of those that a job's code is in
UNKNOWN = "it does not say what it was made from"
_STAGES = (
    *("runs", "scores", "cubes", "digests", "designs", "priors", "optima", "figures", "claims", "report"),
    "audit.json",
)
MANY = 10  # things of a kind that are shown


@dataclass(frozen=True)
class Explanation:
    """Why a file is stale."""

    reasons: tuple[str, ...] = ()  #: what is wrong with the file itself.
    #: stale inputs, those with the same explanation together.
    causes: tuple[tuple[tuple[str, ...], "Explanation"], ...] = ()

    @property
    def is_stale(self) -> bool:
        """Whether anything is to be made again."""
        return bool(self.reasons or self.causes)

    def lines(self) -> Iterator[str]:
        """Return the explanation as text, causes indented below what they make stale; each is told once."""
        return self._lines("  ", set())

    def _lines(self, indent: str, told: set[str]) -> Iterator[str]:
        for reason in self.reasons:
            yield f"{indent}{reason}"
        for files, explanation in self.causes[:MANY]:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            if files[0] in told:
                yield f"{indent}because of {files[0]}{more}: see above"
                continue
            told.add(files[0])
            yield f"{indent}because of {files[0]}{more}:"
            yield from explanation._lines(f"{indent}  ", told)
        if len(self.causes) > MANY:
            yield f"{indent}because of {sum(len(files) for files, _ in self.causes[MANY:])} other inputs"


UP_TO_DATE = Explanation()
MISSING = Explanation(("not made yet",))


class Staleness:
    """Explains the files of one plan; each is looked at once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._known: dict[str, Explanation] = {}
        self._contents = functools.cache(lambda path: contents_sha256(path) if Path(path).exists() else None)
        self._bytes = functools.cache(sha256)
        self._fault = functools.cache(_fault)

    def explain(self, file: str) -> Explanation:
        """Say why a file, named as the plan names it, is stale.

        Raises:
            BocuError: it is no file that an experiment makes.
        """
        if file not in self._known:
            self._known[file] = self._explain(file)
        return self._known[file]

    def run(self, branch: Branch, first: int, last: int) -> Explanation:
        """Say why a run file is stale."""
        path = self.plan.paths.run_file(branch, first, last)
        if path not in self._known:
            self._known[path] = self._run(path, branch, first, last)
        return self._known[path]

    def identity(self, branch: Branch, first: int, last: int) -> Plain | None:
        """Return what the numbers of a block depend on, or None where an input file is not made yet."""
        from bocu.sweep.runs.execution import Block

        parameters = self.plan.parameters.run(branch, first, last)
        inputs = self.plan.inputs.problem(branch.problem.label)
        hashes = self._hashes(branch.problem.label)
        known = {path: value for path, value in hashes.items() if value is not None}
        block = Block(json.loads(parameters["specification"]), inputs, parameters["fingerprint"])
        return block.identity(known) if len(known) == len(hashes) else None

    def _explain(self, file: str) -> Explanation:
        if not file.startswith(f"{self.plan.results}/"):
            return self._data(file)
        parts = Path(file).relative_to(self.plan.results).parts
        part = ""
        if parts[0] == PARTIAL.strip("/"):
            part, parts = PARTIAL, parts[1:]
        if parts[0] not in _STAGES:
            raise BocuError(f"{file}: nothing is known of it; allowed: a file under {', '.join(_STAGES)}")
        try:
            return self._of_stage(parts[0], file, parts[1:], part)
        except _NotPlanned as error:
            return Explanation((f"not part of the experiment: {error}; `bocu prune` lists it",))

    # Run files

    def _run_at(self, parts: Sequence[str]) -> Explanation:
        branch = self._branch(parts[:-1])
        match = _BLOCK.fullmatch(parts[-1])
        block = (int(match[1]), int(match[2])) if match else None
        blocks = self.plan.blocks_of(branch)
        if block is None or block not in blocks:
            shown = [f"{first}-{last}" for first, last in blocks[:MANY]]
            more = ", ..." if len(blocks) > MANY else ""
            raise _NotPlanned(f"its blocks of seeds are {', '.join(shown)}{more}")
        return self.run(branch, *block)

    def _run(self, path: str, branch: Branch, first: int, last: int) -> Explanation:
        names = flat(self.plan.inputs.problem(branch.problem.label))
        causes = self._causes([path], names)
        if not Path(path).is_file():
            return Explanation(MISSING.reasons, causes)
        try:
            found = read_run_file(path)
        except BocuError:
            return Explanation(("not a readable run file",), causes)
        parameters = self.plan.parameters.run(branch, first, last)
        reasons = [
            *changes(found.specification, json.loads(parameters["specification"])),
            *changed_code(found, parameters["fingerprint"], tuple(self.plan.parameters.run_roots(branch))),
            *changed_inputs(found.inputs, self._hashes(branch.problem.label)),
            *self._edited_inputs(names, _made_at(path)),
        ]
        return Explanation(tuple(reasons), causes)

    def _edited_inputs(self, names: Sequence[str], since: float) -> Iterator[str]:
        """Name the inputs that hold something else than their seals say; as Snakemake, look at later ones alone."""
        for name in names:
            if Path(name).suffix == ".nc" and Path(name).is_file() and _made_at(name) > since and self._fault(name):
                yield f"input {name}: {self._fault(name)}"

    def _hashes(self, problem: str) -> dict[str, str | None]:
        return {path: self._contents(path) for path in flat(self.plan.inputs.problem(problem))}

    # Everything else, by its lineage

    def _made(
        self,
        outputs: Sequence[str],
        inputs: Mapping[str, str | list[str]] | Sequence[str],
        parameters: Plain,
    ) -> Explanation:
        """Explain what one job makes; the first of its outputs carries the lineage."""
        names = flat(inputs) if isinstance(inputs, Mapping) else list(inputs)
        causes = self._causes(outputs, names)
        if not all(Path(output).exists() for output in outputs):
            return Explanation(MISSING.reasons, causes)
        lineage = read_lineage(outputs[0])
        if lineage is None:
            return Explanation((UNKNOWN,), causes)
        since = min(map(_made_at, outputs))
        reasons = [
            *_changed_parameters(
                lineage, unfold(parameters), self.plan.parameters.roots[parameters["fingerprint"]], since
            ),
            *_changed_names(lineage, names),
            *self._newer(lineage, names, since),
        ]
        return Explanation(tuple(reasons), causes)

    def _newer(self, lineage: Lineage, names: Sequence[str], since: float) -> Iterator[str]:
        """Name the inputs that were made later and differ: Snakemake looks at times, and then at contents of files."""
        for name in names:
            known = lineage.inputs.get(name)
            if known is None or not Path(name).exists() or _made_at(name) <= since:
                continue
            if Path(name).is_dir() or known != self._bytes(name):
                yield f"older than its input {name}"

    def _causes(self, outputs: Sequence[str], names: Sequence[str]) -> tuple[tuple[tuple[str, ...], Explanation], ...]:
        stands = all(Path(output).exists() for output in outputs)
        same: dict[Explanation, list[str]] = {}
        for name in names:
            explanation = self.explain(name)
            # A data set that was deleted is made again when something needs it, and makes nothing stale.
            deleted = stands and explanation == MISSING and not name.startswith(f"{self.plan.results}/")
            if explanation.is_stale and not deleted:
                same.setdefault(explanation, []).append(name)
        return tuple((tuple(files), explanation) for explanation, files in same.items())

    # Data sets

    def _data(self, file: str) -> Explanation:
        parts = Path(file).parts
        if len(parts) >= 4 and parts[0] == "data" and parts[1] in SOURCES and parts[2] in self.plan.catalogue.datasets:
            if parts[3] == "raw" and parts[1] != "shipped":
                return self._raw(file, parts[1], parts[2], parts[-1])
            made = self.plan.catalogue.prepared_files().get(file)
            if made is not None:
                return self._prepared(file, made)
        return UP_TO_DATE if Path(file).exists() else MISSING

    def _raw(self, file: str, source: str, dataset: str, name: str) -> Explanation:
        jobs = self.plan.parameters
        make = {"download": jobs.download, "mirror": jobs.mirror, "simulate": jobs.simulate}[source]
        inputs = self.plan.inputs.mirrored(dataset, [name]) if source == "mirror" else []
        return self._made([file], inputs, make(dataset, name))

    def _prepared(self, file: str, made: Prepared) -> Explanation:
        jobs, name = self.plan.parameters, (made.source, made.dataset, Path(file).stem)
        return self._made([file], flat(self.plan.inputs.prepared(*name)), jobs.prepared(*name))

    # Files under the results

    def _branch(self, parts: Sequence[str]) -> Branch:
        branch = self.plan.branches.get(tuple(parts))  # type: ignore[arg-type]
        if branch is None:
            raise _NotPlanned(f"it has no branch {'/'.join(parts)}")
        return branch

    def _problem(self, label: str) -> str:
        if label not in self.plan.problems:
            raise _NotPlanned(f"it has no problem '{label}'")
        return label

    def _of_stage(self, stage: str, file: str, parts: Sequence[str], part: str) -> Explanation:
        """Explain a file by the folder of the results that it lies in, the parts of its path there, and its stem."""
        plan, jobs, paths, inputs, products = (
            self.plan, self.plan.parameters, self.plan.paths, self.plan.inputs, self.plan.products
        )  # fmt: skip
        stem = Path(file).stem
        if stage == "runs":
            return self._run_at(parts)
        if stage == "designs":  # copies of given initial designs, which are named by what they hold
            return UP_TO_DATE if Path(file).exists() else MISSING
        if stage == "audit.json":
            return self._audit(file)
        if file == paths.summary(part):
            return self._made([file], products.digests(part), jobs.summary())
        if stage == "priors":
            problem = self._problem(parts[0])
            _refuse_unplanned(stem in plan.priors(problem), f"'{problem}' has no prior '{stem}'")
            return self._made([file], inputs.prior(problem), jobs.prior(problem, stem))
        if stage == "optima":
            problem = self._problem(parts[0])
            _refuse_unplanned(stem in plan.optima(problem), f"'{problem}' has no metric '{stem}' that is searched for")
            return self._made([file], inputs.problem(problem), jobs.optima(problem, stem))
        if stage == "scores":
            branch = self._branch([*parts[:-1], stem])
            return self._made([file], inputs.score(branch, part), jobs.score(branch, part))
        if stage == "figures":
            _refuse_unplanned(
                file in products.figures(Path(file).suffix[1:], part), f"it has no figure {'/'.join(parts)}"
            )
            outputs = [paths.figure(stem, parts[0], suffix, part) for suffix in reversed(FIGURE_SUFFIXES)]
            return self._made(outputs, inputs.figure(stem, parts[0], part), jobs.figure(stem, parts[0]))
        if stage == "claims":
            _refuse_unplanned(file in products.claims(part), "it names no file of claims")
            return self._made([file], inputs.claims(part), jobs.claims())
        if stage == "report":
            pictures = [name for suffix in FIGURE_SUFFIXES for name in products.figures(suffix, part)]
            gathered = [*products.digests(part), *products.audits(part), *products.claims(part), paths.summary(part)]
            return self._made([paths.report(part), paths.report_tables(part)], [*pictures, *gathered], jobs.report())
        problem = self._problem(stem)
        outputs = [paths.cube(problem, part), paths.digest(problem, part)]
        return self._made(outputs, products.scores(problem, part), jobs.cube(problem, part))

    def _audit(self, file: str) -> Explanation:
        """Explain what `bocu audit` found, by times alone: it may have been asked for in other numbers."""
        names = self.plan.products.audited()
        causes = self._causes([file], names)
        if not Path(file).exists():
            return Explanation(MISSING.reasons, causes)
        since = Path(file).stat().st_mtime
        newer = [name for name in names if Path(name).is_file() and Path(name).stat().st_mtime > since]
        return Explanation(tuple(f"older than its input {name}" for name in newer[:1]), causes)


def partial_report(plan: Plan) -> list[str]:
    """Return the report of what exists so far; none where the report of the whole experiment stands up to date.

    Raises:
        BocuError: no run exists yet.
    """
    part = plan.products.part_that_exists()
    if Staleness(plan).explain(plan.paths.report()).is_stale:
        return [plan.paths.report(part)]
    print(f"{plan.paths.report()}: complete and up to date; there is nothing partial to make", file=sys.stderr)
    return []


class _NotPlanned(Exception):
    """The file is of a kind that experiments make, but this one does not make it."""


def _refuse_unplanned(planned: bool, told: str) -> None:
    if not planned:
        raise _NotPlanned(told)


def _fault(path: str) -> str:
    """Read a NetCDF file whole and say what is wrong with it."""
    try:
        read_netcdf(path)
    except BrokenFileError as error:
        return error.fault
    return ""


def _made_at(path: str) -> float:
    """Return when a file or folder was made, in seconds; of a folder as Snakemake knows it."""
    timestamp = Path(path, TIMESTAMP)
    return (timestamp if timestamp.exists() else Path(path)).stat().st_mtime


def _changed_parameters(
    lineage: Lineage, parameters: Mapping[str, object], roots: Sequence[str], since: float
) -> Iterator[str]:
    old, new = dict(lineage.parameters), dict(parameters)
    if old.pop("fingerprint", None) != new.pop("fingerprint", None):
        yield _edited(roots, since)
    yield from changes(old, new)


def _edited(roots: Sequence[str], since: float) -> str:
    files = [_shown(file) for file in source_files(roots) if file.stat().st_mtime > since]
    if not files:
        return "code: changed"
    more = f" and {len(files) - _NEAREST} further away" if len(files) > _NEAREST else ""
    return f"code: changed; edited since then: {', '.join(files[:_NEAREST])}{more}"


def _shown(file: Path) -> str:
    return file.relative_to(_PACKAGE.parent).as_posix() if file.is_relative_to(_PACKAGE) else str(file)


def _changed_names(lineage: Lineage, names: Sequence[str]) -> Iterator[str]:
    before, now = set(lineage.inputs), set(names)
    for name in sorted(now - before)[:_SHOWN_NAMES]:
        yield f"input {name}: not used before"
    for name in sorted(before - now)[:_SHOWN_NAMES]:
        yield f"input {name}: not used any more"


_SHOWN = 80  # characters of a value
_ABSENT = object()


def changes(old: object, new: object, where: str = "") -> Iterator[str]:
    """Return a line for every key that differs, such as ``problem.parameters.noise: 0.05 -> 0.07``.

    Entries of lists are told apart by their labels where they have any.
    """
    if isinstance(old, list) and isinstance(new, list):
        old, new = _by_name(old), _by_name(new)
        if list(old) != list(new) and old.keys() == new.keys():
            yield f"{where}: other order"
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from changes(old.get(key, _ABSENT), new.get(key, _ABSENT), f"{where}.{key}" if where else str(key))
    elif _text(old) != _text(new):  # 1 and 1.0 are the same number, but not the same specification
        yield f"{where}: {_cut(_text(old))} -> {_cut(_text(new))}"


def _by_name(entries: list[Any]) -> dict[str, object]:
    return {_name(entry, position): entry for position, entry in enumerate(entries)}


def _name(entry: object, position: int) -> str:
    if isinstance(entry, Mapping) and "label" in entry:
        return str(entry["label"])
    if isinstance(entry, Mapping) and {"objective", "algorithm"} <= entry.keys():
        return f"{entry['objective']}/{entry['algorithm']}"
    return str(position)


def _text(value: object) -> str:
    return "(none)" if value is _ABSENT else json.dumps(value, sort_keys=True)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


_SHORT = 12  # digits of a hash that are shown


@dataclass(frozen=True)
class RunFile:
    """What a run file says of itself."""

    specification: Specification
    fingerprint: str
    definitions: Mapping[str, Mapping[str, str]]
    inputs: Mapping[str, str]


def read_run_file(path: str | Path) -> RunFile:
    """Read the attributes of a run file, no numbers.

    Raises:
        BocuError: it cannot be read, or is no run file.
    """
    import netCDF4

    try:
        with netCDF4.Dataset(path) as data:
            return RunFile(
                json.loads(data.getncattr("specification")),
                data.getncattr("fingerprint"),
                json.loads(getattr(data, "definitions", "{}")),
                json.loads(data.getncattr("inputs")),
            )
    except (OSError, AttributeError, ValueError) as error:
        raise BocuError(f"{path}: not a readable run file ({str(error).splitlines()[0]})") from None


def changed_code(found: RunFile, fingerprint: str, roots: tuple[str, ...]) -> Iterator[str]:
    """Say which definitions differ from those that `roots` reach now."""
    if found.fingerprint == fingerprint:
        return
    if not found.definitions:
        yield "code: changed; the file does not say which definition"
        return
    before, now = _flat(found.definitions), _flat(_definitions(roots))
    # What only moved to another module is the same.
    came = Counter((name, now[module, name]) for module, name in now.keys() - before.keys())
    went = Counter((name, before[module, name]) for module, name in before.keys() - now.keys())
    moved = came & went
    lines = [
        f"code: {_source(module)}: {name} " + ("changed" if (module, name) in before else "not used before")
        for (module, name), value in now.items()
        if before.get((module, name)) != value and not moved[name, value]
    ]
    lines += [
        f"code: {_source(module)}: {name} not used any more"
        for (module, name), value in before.items()
        if (module, name) not in now and not moved[name, value]
    ]
    yield from lines[:MANY]
    if len(lines) > MANY:
        yield f"code: {len(lines) - MANY} more definitions"
    if not lines:
        yield "code: changed while the run was waiting"


def changed_inputs(recorded: Mapping[str, str], hashes: Mapping[str, str | None]) -> Iterator[str]:
    """Say which input files hold something else now.

    Args:
        recorded: SHA-256 of contents that the run file tells, by path.
        hashes: those of today's; None for a file that is not there.
    """
    # A run that was taken over recorded other paths: contents count.
    before = {**{Path(path).name: value for path, value in recorded.items()}, **recorded}
    for path, value in hashes.items():
        if value is None or value in recorded.values():
            continue
        old = before.get(path, before.get(Path(path).name))
        yield f"input {path}: " + (f"{old[:_SHORT]} -> {value[:_SHORT]} (SHA-256)" if old else "not used before")
    if None not in hashes.values():
        names = {Path(path).name for path in hashes}
        for path, value in recorded.items():
            if value not in hashes.values() and path not in hashes and Path(path).name not in names:
                yield f"input {path}: not used any more"


_definitions = functools.cache(definitions)


def _flat(code: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, str], str]:
    return {(module, name): value for module, of in code.items() for name, value in of.items()}


def _source(module: str) -> str:
    return module if module.endswith(".py") else f"{module.replace('.', '/')}.py"
