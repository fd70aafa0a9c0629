"""Why a file of an experiment is out of date, or that it is not.

A run file says itself what it depends on: its specification, the code that it could reach, definition by definition,
and the contents of its input files. Of all else, the script that made it included, Snakemake's own record says what it
was made from.
Prepared data sets are taken as they stand.
"""

import ast
import functools
import json
import re
import sys
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError
from bocu.experiment.branches import Branch
from bocu.experiment.fingerprints.fingerprint import definitions, source_files
from bocu.experiment.plan import PARTIAL, Plan
from bocu.io.hashes import sha256
from bocu.sweep.changes import changes

_PACKAGE = Path(__file__).parents[1]
RECORDS = Path(".snakemake/metadata")
_SHORT = 12  # digits of a hash that are shown
_MANY = 10  # things of a kind that are shown
_BLOCK = re.compile(r"seeds-(\d+)-(\d+)\.nc")
_LONGEST_NAME = 254  # of a file of Snakemake's records


@dataclass(frozen=True)
class Explanation:
    """Why a file is stale.

    Attributes:
        reasons: what is wrong with the file itself.
        causes: stale inputs, those with the same explanation together.
    """

    reasons: tuple[str, ...] = ()
    causes: tuple[tuple[tuple[str, ...], "Explanation"], ...] = ()

    @property
    def is_stale(self) -> bool:
        return bool(self.reasons or self.causes)

    def lines(self) -> Iterator[str]:
        """Return the explanation as text, causes indented below what they make stale; each is told once."""
        return self._lines("  ", set())

    def _lines(self, indent: str, told: set[str]) -> Iterator[str]:
        for reason in self.reasons:
            yield f"{indent}{reason}"
        for files, explanation in self.causes[:_MANY]:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            if files[0] in told:
                yield f"{indent}because of {files[0]}{more}: see above"
                continue
            told.add(files[0])
            yield f"{indent}because of {files[0]}{more}:"
            yield from explanation._lines(f"{indent}  ", told)
        if len(self.causes) > _MANY:
            yield f"{indent}because of {sum(len(files) for files, _ in self.causes[_MANY:])} other inputs"


UP_TO_DATE = Explanation()
MISSING = Explanation(("not made yet",))


@dataclass(frozen=True)
class RunFile:
    """What a run file says of itself."""

    specification: Mapping[str, Any]
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


class Staleness:
    """Explains the files of one plan; each is looked at once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._known: dict[str, Explanation] = {}
        self._hash = functools.cache(_hash)
        self._blocks = frozenset(plan.blocks)

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
        path = self.plan.run_file(branch, first, last)
        if path not in self._known:
            self._known[path] = self._run(path, branch, first, last)
        return self._known[path]

    def identity(self, branch: Branch, first: int, last: int) -> dict[str, Any] | None:
        """Return what the numbers of a block depend on, or None where an input file is not made yet."""
        from bocu.runs.execution import Block

        parameters = self.plan.run_parameters(branch, first, last)
        inputs = self.plan.problem_inputs(branch.problem.label)
        hashes = self._hashes(branch.problem.label)
        known = {path: value for path, value in hashes.items() if value is not None}
        block = Block(json.loads(parameters["specification"]), inputs, parameters["fingerprint"])
        return block.identity(known) if len(known) == len(hashes) else None

    def _explain(self, file: str) -> Explanation:
        if not file.startswith(f"{self.plan.results}/"):
            return UP_TO_DATE if Path(file).exists() else MISSING  # a data set
        parts = Path(file).relative_to(self.plan.results).parts
        part = ""
        if parts[0] == PARTIAL.strip("/"):
            part, parts = PARTIAL, parts[1:]
        maker = _MAKERS.get(parts[0])
        if maker is None:
            raise BocuError(f"{file}: nothing is known of it; allowed: a file under {', '.join(_MAKERS)}")
        try:
            return maker(self, file, parts[1:], part)
        except _NotPlanned as error:
            return Explanation((f"not part of the experiment: {error}; `bocu prune` lists it",))

    # Run files

    def _run_at(self, file: str, parts: Sequence[str], part: str) -> Explanation:
        branch = self._branch(parts[:-1])
        match = _BLOCK.fullmatch(parts[-1])
        block = (int(match[1]), int(match[2])) if match else None
        if block is None or block not in self._blocks:
            shown = [f"{first}-{last}" for first, last in self.plan.blocks[:_MANY]]
            more = ", ..." if len(self.plan.blocks) > _MANY else ""
            raise _NotPlanned(f"its blocks of seeds are {', '.join(shown)}{more}")
        return self.run(branch, *block)

    def _run(self, path: str, branch: Branch, first: int, last: int) -> Explanation:
        causes = self._causes(flat(self.plan.problem_inputs(branch.problem.label)))
        if not Path(path).is_file():
            return Explanation(MISSING.reasons, causes)
        try:
            found = read_run_file(path)
        except BocuError:
            return Explanation(("not a readable run file",), causes)
        parameters = self.plan.run_parameters(branch, first, last)
        reasons = [
            *changes(found.specification, json.loads(parameters["specification"])),
            *_changed_code(found, parameters["fingerprint"], branch),
            *self._changed_script(path, parameters["script"]),
            *self._changed_inputs(found.inputs, branch.problem.label),
        ]
        return Explanation(tuple(reasons), causes)

    def _changed_script(self, path: str, script: str) -> Iterator[str]:
        record = _record(path)
        before = _recorded_parameters(record).get("script") if record is not None else None
        if record is not None and before not in (None, script):
            yield _edited([self.plan.script("run")], record["endtime"])

    def _design(self, file: str, parts: Sequence[str], part: str) -> Explanation:
        """Explain the copy of a given initial design, which is named by what it holds."""
        return UP_TO_DATE if Path(file).exists() else MISSING

    def _hashes(self, problem: str) -> dict[str, str | None]:
        return {path: self._hash(path) for path in flat(self.plan.problem_inputs(problem))}

    def _changed_inputs(self, recorded: Mapping[str, str], problem: str) -> Iterator[str]:
        hashes = self._hashes(problem)
        # A run that was taken over recorded other paths: contents count.
        before = {**{Path(path).name: value for path, value in recorded.items()}, **recorded}
        for path, value in hashes.items():
            if value is None or value in recorded.values():
                continue
            old = before.get(path, before.get(Path(path).name))
            yield f"input {path}: " + (f"{old[:_SHORT]} -> {value[:_SHORT]} (SHA-256)" if old else "not used before")
        if None not in hashes.values():
            for path, value in recorded.items():
                if value not in hashes.values() and path not in hashes and Path(path).name not in map(_base, hashes):
                    yield f"input {path}: not used any more"

    # Everything else, by Snakemake's records

    def _made(
        self, file: str, inputs: Mapping[str, Any] | Sequence[str], parameters: Any, roots: Sequence[str]
    ) -> Explanation:
        names = flat(inputs) if isinstance(inputs, Mapping) else list(inputs)
        causes = self._causes(names)
        if not Path(file).is_file():
            return Explanation(MISSING.reasons, causes)
        record = _record(file)
        reasons: list[str] = []
        if record is not None:
            reasons += _changed_parameters(record, parameters, roots)
            reasons += _changed_names(record, names)
        reasons += self._newer(file, names, record)
        return Explanation(tuple(reasons), causes)

    def _newer(self, file: str, names: Sequence[str], record: Mapping[str, Any] | None) -> Iterator[str]:
        time = Path(file).stat().st_mtime
        checksums = (record or {}).get("input_checksums") or {}
        for name in names:
            if Path(name).is_file() and Path(name).stat().st_mtime > time:
                known = checksums.get(name)
                if known is None or known != f"sha256:{self._hash(name)}":
                    yield f"older than its input {name}"

    def _causes(self, names: Sequence[str]) -> tuple[tuple[tuple[str, ...], Explanation], ...]:
        same: dict[Explanation, list[str]] = {}
        for name in names:
            explanation = self.explain(name)
            if explanation.is_stale:
                same.setdefault(explanation, []).append(name)
        return tuple((tuple(files), explanation) for explanation, files in same.items())

    def _branch(self, parts: Sequence[str]) -> Branch:
        branch = self.plan.branches.get(tuple(parts))  # type: ignore[arg-type]
        if branch is None:
            raise _NotPlanned(f"it has no branch {'/'.join(parts)}")
        return branch

    def _problem(self, label: str) -> str:
        if label not in self.plan.problems:
            raise _NotPlanned(f"it has no problem '{label}'")
        return label

    def _prior(self, file: str, parts: Sequence[str], part: str) -> Explanation:
        problem, prior = self._problem(parts[0]), Path(parts[-1]).stem
        if prior not in self.plan.priors(problem):
            raise _NotPlanned(f"'{problem}' has no prior '{prior}'")
        parameters = self.plan.prior_parameters(problem, prior)
        return self._made(file, self.plan.prior_inputs(problem), parameters, [self.plan.script("fit_prior")])

    def _score(self, file: str, parts: Sequence[str], part: str) -> Explanation:
        branch = self._branch([*parts[:-1], Path(parts[-1]).stem])
        runs = [] if part else self.plan.run_files(branch)
        inputs = {**self.plan.problem_inputs(branch.problem.label), "runs": runs}
        roots = [self.plan.script("score"), *self.plan.score_roots(branch)]
        return self._made(file, inputs, self.plan.score_parameters(branch, part), roots)

    def _cube(self, file: str, parts: Sequence[str], part: str) -> Explanation:
        if file == self.plan.summary(part):
            code = self.plan.fingerprint("summary")
            return self._made(file, self.plan.cubes(part), code, [self.plan.script("summary")])
        problem = self._problem(Path(parts[-1]).stem)
        parameters = self.plan.cube_parameters(problem, part)
        return self._made(file, self.plan.score_files(problem, part), parameters, [self.plan.script("cube")])

    def _figure(self, file: str, parts: Sequence[str], part: str) -> Explanation:
        if file not in self.plan.figure_files(Path(file).suffix[1:], part):
            raise _NotPlanned(f"it has no figure {'/'.join(parts)}")
        folder, label = parts[0], Path(parts[-1]).stem
        inputs = self.plan.figure_inputs(label, folder, part)
        parameters = self.plan.figure_parameters(label, folder)
        roots = [self.plan.script("figure"), *self.plan.figure_roots(label, folder)]
        return self._made(file, inputs, parameters, roots)

    def _report(self, file: str, parts: Sequence[str], part: str) -> Explanation:
        pictures = [name for suffix in ("png", "svg", "json") for name in self.plan.figure_files(suffix, part)]
        inputs = [*pictures, *self.plan.cubes(part), self.plan.summary(part)]
        roots = [self.plan.script("report")]
        return self._made(self.plan.report(part), inputs, self.plan.report_parameters(), roots)


def partial_report(plan: Plan) -> list[str]:
    """Return the report of what exists so far; none where the report of the whole experiment stands up to date.

    Raises:
        BocuError: no run exists yet.
    """
    part = plan.part_that_exists()
    if Staleness(plan).explain(plan.report()).is_stale:
        return [plan.report(part)]
    print(f"{plan.report()}: complete and up to date; there is nothing partial to make", file=sys.stderr)
    return []


class _NotPlanned(Exception):
    """The file is of a kind that experiments make, but this one does not make it."""


_MAKERS: Mapping[str, Callable[[Staleness, str, Sequence[str], str], Explanation]] = {
    "runs": Staleness._run_at,
    "scores": Staleness._score,
    "cubes": Staleness._cube,
    "designs": Staleness._design,
    "priors": Staleness._prior,
    "figures": Staleness._figure,
    "report": Staleness._report,
}


def _hash(path: str) -> str | None:
    return sha256(path) if Path(path).is_file() else None


def _base(path: str) -> str:
    return Path(path).name


def flat(inputs: Mapping[str, str | list[str]]) -> list[str]:
    """Return all paths among the inputs of a rule."""
    return [path for value in inputs.values() for path in ([value] if isinstance(value, str) else value)]


@functools.cache
def _definitions(roots: tuple[str, ...]) -> dict[str, dict[str, str]]:
    return definitions(roots)


def _changed_code(found: RunFile, fingerprint: str, branch: Branch) -> Iterator[str]:
    if found.fingerprint == fingerprint:
        return
    if not found.definitions:
        yield "code: changed; the file does not say which definition"
        return
    before, now = _flat(found.definitions), _flat(_definitions(tuple(branch.roots)))
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
    yield from lines[:_MANY]
    if len(lines) > _MANY:
        yield f"code: {len(lines) - _MANY} more definitions"
    if not lines:
        yield "code: changed while the run was waiting"


def _flat(code: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, str], str]:
    return {(module, name): value for module, of in code.items() for name, value in of.items()}


def _source(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _record(file: str) -> dict[str, Any] | None:
    """Return Snakemake's record of how a file was made."""
    name = urlsafe_b64encode(file.encode()).decode()
    pieces = [name[start : start + _LONGEST_NAME] for start in range(0, len(name), _LONGEST_NAME)]
    path = RECORDS.joinpath(*(f"@{piece}" for piece in pieces[:-1]), pieces[-1])
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record


def _changed_parameters(record: Mapping[str, Any], parameters: Any, roots: Sequence[str]) -> Iterator[str]:
    old, new = _recorded_parameters(record), _plain(parameters)
    if old.pop("fingerprint", None) != new.pop("fingerprint", None):
        yield _edited(roots, record["endtime"])
    yield from changes(old, new)


def _recorded_parameters(record: Mapping[str, Any]) -> dict[str, Any]:
    return _plain(ast.literal_eval(record["params"][0])) if record["params"] else {}


def _edited(roots: Sequence[str], since: float) -> str:
    files = [_shown(file) for file in source_files(roots) if file.stat().st_mtime > since]
    return "code: changed" + (f"; edited since then: {', '.join(files)}" if files else "")


def _shown(file: Path) -> str:
    return file.relative_to(_PACKAGE.parent).as_posix() if file.is_relative_to(_PACKAGE) else str(file)


def _plain(parameters: Any) -> dict[str, Any]:
    """Unfold the JSON texts that parameters of rules are."""
    if not isinstance(parameters, Mapping):
        return {"fingerprint": parameters}
    return {key: json.loads(value) if value[:1] in "[{" else value for key, value in parameters.items()}


def _changed_names(record: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    before, now = set(record["input"]), set(names)
    if before != now:
        for name in sorted(now - before)[:3]:
            yield f"input {name}: not used before"
        for name in sorted(before - now)[:3]:
            yield f"input {name}: not used any more"
