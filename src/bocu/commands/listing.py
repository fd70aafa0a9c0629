"""`bocu list`: what is registered, with its parameters, and what goes with what, as tables for people and as JSON."""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bocu.core.errors import BocuError

if TYPE_CHECKING:
    from bocu.sweep.experiment.combinations import Applicability

HEAD = """# What goes with what

Made by `make schema` from the classes, which are asked one by one; `bocu list --combinations` prints it, and with
`--json` every combination by itself, those that do not run with their reason. Radii are numbers here: `margin` and
`announced` need a problem that states a reference, or announces a radius. A dash: not defined."""

YES, NO = "yes", "–"


def combinations_json(answers: Iterable["Applicability"]) -> str:
    """Return every combination as JSON, a list of objects."""
    return json.dumps([{**asdict(answer), "runs": answer.runs} for answer in answers], indent=1, ensure_ascii=False)


def combinations_tables(answers: Sequence["Applicability"]) -> str:
    """Return the combinations as Markdown tables."""
    from bocu.sweep.experiment.combinations import scorers

    parts = [HEAD, *_places(answers), *_pursuits(answers), *_own_sets(answers), *_scorers(scorers())]
    return "\n\n".join(parts) + "\n"


def _places(answers: Sequence["Applicability"]) -> Iterator[str]:
    """Yield where each algorithm is defined."""
    yield "## Where an algorithm runs"
    kinds = dict.fromkeys(answer.kind for answer in answers)
    protocols = {kind: list(dict.fromkeys(a.protocol for a in answers if a.kind == kind)) for kind in kinds}
    rows, reasons = [], _Reasons()
    for name in dict.fromkeys(answer.algorithm for answer in answers):
        row = [f"`{name}`"]
        for kind in kinds:
            here = [a for a in answers if (a.algorithm, a.kind) == (name, kind)]
            refused = {a.protocol: a.reason for a in here if a.objective is None and a.set is None and a.reason}
            played = [protocol for protocol in protocols[kind] if protocol not in refused]
            told = YES if not refused else ", ".join(played) or NO
            # The class's own protocols stand in the row already.
            special = {reason for reason in refused.values() if not reason.startswith("it is defined for")}
            row.append(told + "".join(f" ({reasons.number(reason)})" for reason in sorted(special)))
        rows.append(row)
    yield _table(["algorithm", *(f"{kind}: {', '.join(protocols[kind])}" for kind in kinds)], rows)
    yield from reasons.listed()


def _pursuits(answers: Sequence["Applicability"]) -> Iterator[str]:
    """Yield which objectives are pursued, over which sets: one table for the algorithms that answer alike."""
    yield "## What is pursued"
    alike: dict[tuple[tuple[str, str | None, str], ...], list[str]] = {}
    idle = []
    for name in dict.fromkeys(answer.algorithm for answer in answers):
        found = [(a.objective, a.set, a.reason) for a in answers if a.algorithm == name and a.objective is not None]
        if found:
            pursued = tuple(dict.fromkeys((str(objective), *rest) for objective, *rest in found))
            alike.setdefault(pursued, []).append(name)  # type: ignore[arg-type]
        else:
            idle.append(name)
    for pattern, names in alike.items():
        yield f"### {_named(names)}"
        yield from _objectives_by_sets(pattern)
    yield f"Pursue no objective: {_named(idle)}."


def _objectives_by_sets(pattern: Iterable[tuple[str, str | None, str]]) -> Iterator[str]:
    cells: dict[str, dict[str | None, str]] = {}
    for objective, name, reason in pattern:
        cells.setdefault(objective, {})[name] = reason
    sets = [name for name in dict.fromkeys(name for row in cells.values() for name in row) if name is not None]
    reasons = _Reasons()
    rows = []
    for objective, row in cells.items():
        told = {name: YES if not reason else f"{NO} ({reasons.number(reason, name)})" for name, reason in row.items()}
        rows.append([f"`{objective}`", told.get(None, ""), *(told.get(name, "") for name in sets)])
    yield _table(["objective", "no set", *(f"`{name}`" for name in sets)], rows)
    yield from reasons.listed()


def _own_sets(answers: Sequence["Applicability"]) -> Iterator[str]:
    """Yield the sets of algorithms that have one of their own."""
    yield "## Sets of an algorithm's own"
    rows, reasons = [], _Reasons()
    found = [answer for answer in answers if answer.objective is None and answer.set is not None]
    sets = list(dict.fromkeys(answer.set for answer in found))
    for name in dict.fromkeys(answer.algorithm for answer in found):
        told = {
            a.set: YES if a.runs else f"{NO} ({reasons.number(a.reason, a.set)})" for a in found if a.algorithm == name
        }
        rows.append([f"`{name}`", *(told[each] for each in sets)])
    yield _table(["algorithm", *(f"`{name}`" for name in sets)], rows)
    yield from reasons.listed()


def _scorers(metrics: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield which protocols each metric scores."""
    from bocu.core.rounds import EVERY

    yield "## What scores"
    rows = [[f"`{name}`", *(YES if each in protocols else NO for each in EVERY)] for name, protocols in metrics.items()]
    yield _table(["metric", *EVERY], rows)


class _Reasons:
    """Reasons, numbered as they come; alike for all sets that they are given of."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, reason: str, of: str | None = None) -> int:
        told = reason.replace(f"the set '{of}'", "this set").replace(f"'{of}'", "this set")
        return self._numbers.setdefault(told, len(self._numbers) + 1)

    def listed(self) -> Iterator[str]:
        if self._numbers:
            yield "\n".join(f"{number}. {reason}" for reason, number in self._numbers.items())


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


KINDS = {
    "problems": "problem",
    "priors": "prior",
    "sets": "set",
    "laws": "law",
    "shifts": "shift",
    "objectives": "objective",
    "algorithms": "algorithm",
    "metrics": "metric",
    "figures": "figure",
    "models": "model",
}


def list_command(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="problems, priors, sets, laws, shifts, objectives, algorithms, models, metrics, figures or data."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(help="One of them, `module:Class` or `file.py:Class`, with its parameters.")
    ] = None,
    combinations: Annotated[
        bool, typer.Option("--combinations", help="What goes with what: algorithms, problems, objectives, sets.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The combinations as JSON, each with its reason.")] = False,
) -> None:
    """List what an experiment file may name, or which of it goes together."""
    from bocu.core.parameters import nearest
    from bocu.sweep.experiment.plugins import offered
    from bocu.sweep.experiment.registry import aliases, find, registered

    if combinations or as_json:
        if kind is not None or not combinations:
            raise BocuError("list: `--combinations` stands alone, or with `--json`, which goes with it only")
        _list_combinations(as_json)
        return
    if kind is None:
        raise BocuError(f"list: of what? {', '.join([*KINDS, 'data'])}; or `--combinations`")
    if kind in ("data", "models"):
        _list_data() if kind == "data" else _list_models()
        return
    if kind not in KINDS:
        raise BocuError(f"list: unknown kind '{kind}'; {nearest(kind, [*KINDS, 'data'])}")
    if name is not None:
        _describe(find(KINDS[kind], name, folder=Path()))
        return
    rows = [(entry, entry.load().about) for entry in registered(KINDS[kind])]
    for entry in offered(KINDS[kind]):
        try:
            rows.append((entry, _about(entry)))
        except BocuError as error:  # one that is broken hides no other
            typer.echo(f"warning: {error}", err=True)
    name_width, title_width = (
        max(map(len, column)) for column in zip(*((e.name, a.title) for e, a in rows), strict=True)
    )
    for entry, about in rows:
        others = aliases(KINDS[kind], entry.name)
        also = f" (also: {', '.join(others)})" if others else ""
        origin = f"; {entry.origin}" if entry.origin else ""
        typer.echo(f"{entry.name:<{name_width}}  {about.title:<{title_width}}  {about.line}{also}{origin}")


def _about(entry: Any) -> Any:
    """Return what is told of a class; of a factory that says nothing, its name."""
    from bocu.core.about import About

    if entry.kind != "model":
        return entry.load().about
    return getattr(entry.load(), "about", None) or About(entry.name, "a factory of BoTorch models")


def _describe(entry: Any) -> None:
    from bocu.robust.ambiguity.parameters import told

    kind = entry.load()
    about = _about(entry)
    typer.echo(f"{entry.name}: {about.title}: {about.line}")
    if entry.origin:
        typer.echo(f"from: {entry.origin}")
    if protocols := getattr(kind, "protocols", ()):
        typer.echo(f"protocols: {', '.join(protocols)}")
    if not hasattr(kind, "Parameters"):  # a factory
        typer.echo(f"called as: {entry.name}{inspect.signature(kind)}")
        return
    fields = kind.Parameters.model_fields
    typer.echo("parameters:" if fields else "parameters: none")
    for key, field in fields.items():
        default = "required" if field.is_required() else f"default {field.get_default(call_default_factory=True)!r}"
        typer.echo(f"  {key}: {told(str(field.description))} ({default})")


def _list_models() -> None:
    """List the factories of models, of which nothing is imported."""
    from bocu.sweep.experiment.plugins import offered
    from bocu.sweep.experiment.registry import registered

    for entry in (*registered("model"), *offered("model")):
        typer.echo(f"{entry.name}  {entry.shown}")


def _list_data() -> None:
    from bocu.problems.data.catalogue import load_catalogue, sources_file

    for name, dataset in load_catalogue(sources_file()).datasets.items():
        typer.echo(f"{name}: {dataset.title}; licence: {dataset.licence}")
        for record, entry in dataset.records.items():
            typer.echo(f"  {record} ({', '.join(entry.sources)}): {entry.description}")


def _list_combinations(as_json: bool) -> None:
    from bocu.sweep.experiment.combinations import combinations

    found = list(combinations())
    typer.echo(combinations_json(found) if as_json else combinations_tables(found), nl=as_json)
