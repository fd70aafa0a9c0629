"""The hash of the code that a piece of the pipeline can reach, definition by definition.

Jobs carry it among their parameters, so that changed code reruns exactly what uses it. From the classes, functions and
scripts that are named, names are followed through imports to the definitions that they stand for: functions, classes
(whole) and assignments. The hash is of these definitions and of what leads from which to which, not of where they
stand: moving one to another module changes nothing.

In doubt more counts: what a module does when it is imported counts for all that import it, and a module is counted
whole where its names are found by text or by `*`. Classes that are named as text (the registry's) are roots of their
own. Files other than Python, and other packages, are not looked into: versions of packages stand in every result.
"""

import functools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError
from bocu.sweep.experiment.fingerprints import definition_links
from bocu.sweep.experiment.fingerprints.definition_links import (
    PACKAGE,
    Node,
    acting,
    bindings,
    hash_of,
    imported_modules,
    known_names,
    links,
    look_up,
    own_hash,
    parents,
    read,
    source,
    source_file,
)
from bocu.sweep.experiment.plugins import HASHED
from bocu.sweep.experiment.registry import BRIDGE, REGISTRY, find

# What a script uses of these makes no number: the wrapper of jobs, progress, where machine code is kept, which
# runs are accepted, names of files, the hashes themselves.
BYSTANDERS = frozenset(
    {
        "bocu.sweep.jobs",
        "bocu.core.io.progress",
        "bocu.sweep.runs.accepting",
        "bocu.sweep.experiment.paths",
        "bocu.sweep.experiment.fingerprints.fingerprint",
    }
)
_RUN_JOB = "bocu.sweep.runs.job"  # what the script of runs calls: as it, it uses bystanders
_NAMED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_DIGITS = 16
_SHORT = 8  # digits of one definition's hash in a run file


def fingerprint(*roots: str) -> str:
    """Hash the code that `roots` reach.

    Args:
        roots: "module:Name" for a class or function, "module" or a path that ends in ".py" for all of a file.

    Returns:
        16 hexadecimal digits.

    Raises:
        BocuError: there is no such module or name.
    """
    return _joint(tuple(sorted(set(roots))))


def definitions(roots: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the short hash of every definition that `roots` reach: what a changed fingerprint is explained by.

    Returns:
        Hashes by module, or file name of a script, and name.
    """
    hashes: dict[str, dict[str, list[str]]] = {}
    for node in _reached(roots):
        module = Path(node[0]).name if node[0].endswith(".py") else node[0]  # scripts, wherever they lie
        hashes.setdefault(module, {}).setdefault(_name(node), []).append(own_hash(node))
    return {module: {name: hash_of(all_)[:_SHORT] for name, all_ in of.items()} for module, of in hashes.items()}


def own_code(root: str) -> str:
    """Hash the definitions that a class from outside reaches in its own file or package.

    Where they stand is no part of it, nor what they use of this project.

    Args:
        root: "module:Class", or "/path/to/file.py:Class".

    Returns:
        16 hexadecimal digits.

    Raises:
        BocuError: there is no such module or name.
    """
    nodes = [node for node in _reached([root]) if node[0].partition(".")[0] != PACKAGE]
    return hash_of(sorted(f"{_name(node)} {own_hash(node)}" for node in nodes))[:_DIGITS]


def forget() -> None:
    """Look at all files again: one was edited while this process runs."""
    for module in (definition_links, sys.modules[__name__]):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def source_files(roots: Iterable[str]) -> list[Path]:
    """Return the files that hold what `roots` reach, in the order in which they are met on the way from a root."""
    nearest: dict[Path, int] = {}
    for root in sorted(set(roots)):
        for steps, (module, _) in enumerate(_graph(root)[1]):
            if file := source_file(module):
                nearest[file] = min(steps, nearest.get(file, steps))
    return sorted(nearest, key=lambda file: (nearest[file], file))


def run_roots(specification: Mapping[str, object]) -> list[str]:
    """Return what a run of a specification starts from."""
    return ["bocu.sweep.runs.execution:execute", *named_code(specification)]


def named_code(data: object) -> list[str]:
    """Return where the classes and functions stand that plain data names, in order.

    They are named as specifications name classes and sets, or as "module:Name".
    """
    found: dict[str, None] = {}
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting.extend(value.values())
            for stated in (value.get("set"), *_parts(value)):
                if isinstance(stated, Mapping):
                    found[find("set", stated["name"]).target] = None
            if isinstance(value.get("name"), str) and isinstance(value.get("parameters"), Mapping):
                found.update(dict.fromkeys(_stated(value["name"])))
            if isinstance(value.get("botorch"), str):
                found[BRIDGE] = None
            found.update(dict.fromkeys(_factories(value)))
            for named in (value.get("class"), value.get("of")):
                kind, slash, name = str(named).partition("/")
                if slash and kind in REGISTRY:
                    found[find(kind, name).target] = None
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        elif isinstance(value, str) and _NAMED.fullmatch(value) and source(value.partition(":")[0]) is not None:
            found[value] = None
    return sorted(found)


def _stated(name: str) -> Iterator[str]:
    """Return where the law or shift stands that is stated by a name with parameters."""
    if HASHED in name:
        yield find("law", name).target
        return
    for kind in ("law", "shift"):
        try:
            yield find(kind, name).target
        except BocuError:
            continue


def _parts(stated: Mapping[str, object]) -> list[Any]:
    """Return the parts of a set that is made of several."""
    parts = stated.get("of")
    return parts if isinstance(parts, list) and "radius" in stated else []


def _factories(section: Mapping[str, object]) -> Iterator[str]:
    """Return where the factories stand that a section of parameters names, of models and acquisition functions."""
    for key, kind in (("botorch", "model"), ("acquisition", "acquisition")):
        called = section.get(key)
        if isinstance(called, str) and (called in REGISTRY[kind] or HASHED in called):
            yield find(kind, called).target


@functools.cache
def _joint(roots: tuple[str, ...]) -> str:
    return hash_of(sorted(_graph(root)[0] for root in roots))[:_DIGITS]


def _reached(roots: Iterable[str]) -> list[Node]:
    return sorted({node for root in set(roots) for node in _graph(root)[1]})


@functools.cache
def _graph(root: str) -> tuple[str, tuple[Node, ...]]:
    """Return the hash of all that one root reaches, and the statements reached.

    Statements are numbered as they are met, so the hash tells which name leads to which statement, and no place.
    """
    numbers: dict[Node, int] = {}
    order: list[Node] = []
    lines: list[str] = []

    def number(node: Node) -> str:
        if node not in numbers:
            numbers[node] = len(order)
            order.append(node)
        return str(numbers[node])

    start = _start(root)
    lines.append(",".join(map(number, start)))
    modules = _Modules(_module_of(root))
    done = 0
    while True:
        while done < len(order):
            node = order[done]
            done += 1
            lines.append(own_hash(node))
            modules.add(node[0])
            passed_by = _passed_by(node[0])
            uses, imported = links(node)
            for use, targets in uses:
                followed = [t for t in targets if isinstance(t, str) or t[0] not in passed_by]
                lines.append(f"{use}>{','.join(t if isinstance(t, str) else number(t) for t in followed)}")
            for module in imported:
                if module not in passed_by:
                    modules.add(module)
        more = [node for node in modules.acting if node not in numbers]
        if not more:
            return hash_of(lines), tuple(order)
        lines.append("acts " + ",".join(map(number, sorted(more, key=lambda node: (own_hash(node), node)))))


def _passed_by(module: str) -> frozenset[str]:
    """Return the modules of which nothing is followed from here."""
    return BYSTANDERS if module.endswith(".py") or module == _RUN_JOB else frozenset()


class _Modules:
    """The modules that are imported, and what they do then."""

    def __init__(self, first: str) -> None:
        self._found: set[str] = set()
        self.acting: list[Node] = []
        self.add(first)

    def add(self, module: str) -> None:
        waiting = [module]
        while waiting:
            module = waiting.pop()
            if module in self._found:
                continue
            self._found.add(module)
            if source(module) is None:
                continue
            self.acting.extend((module, index) for index in acting(module))
            passed_by = _passed_by(module)
            waiting.extend(m for m in imported_modules(module, read(module).imports) if m not in passed_by)
            waiting.extend(parents(module))


def _module_of(root: str) -> str:
    return root if root.endswith(".py") else root.partition(":")[0]


def _start(root: str) -> list[Node]:
    module, name = _module_of(root), "" if root.endswith(".py") else root.partition(":")[2]
    if source(module) is None:
        raise BocuError(f"{module}: no such module or file to take a fingerprint of")
    if not name:
        return [(module, index) for index in range(len(read(module).statements))]
    known = name.partition(".")[0] in known_names(module) or "__getattr__" in bindings(module)
    targets = [t for t in look_up(module, name.split(".")) if not isinstance(t, str)] if known else []
    if not targets:
        raise BocuError(f"{module}: defines no {name} to take a fingerprint of")
    return targets


def _name(node: Node) -> str:
    return ", ".join(read(node[0]).statements[node[1]].names) or "what it does when imported"
