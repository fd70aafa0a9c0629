"""What the names in a definition stand for: from one definition to those that it uses, through imports.

Imports of this package are followed; of a user's package its own, and those of what is not installed as it is but
worked on where it stands. Of libraries the full name is enough.
"""

import functools
import hashlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.sweep.experiment.fingerprints.definitions import CHANGERS, Import, SourceFile, words
from bocu.sweep.experiment.fingerprints.source_memo import source_of

PACKAGE = "bocu"
_ROOT = Path(__file__).parents[3]
_LIBRARIES = words("botorch cvxpy gpytorch numba numpy pandas pydantic scipy snakemake torch xarray")

_COPIED = {"site-packages", "dist-packages"}  # where installers copy packages to, of this environment or another
_STANDARD = sysconfig.get_path("stdlib")

Node = tuple[str, int]  # a module, or the path of a file, and the index of one of its statements
Target = Node | str  # or what is not followed, by its full name
Links = tuple[tuple[str, tuple[Target, ...]], ...]


@functools.cache
def links(node: Node) -> tuple[Links, tuple[str, ...]]:
    """Return what each name that a statement uses stands for, and the modules that it imports itself."""
    module, index = node
    code = read(module)
    statement = code.statements[index]
    own: dict[str, list[Import]] = {}
    for found in statement.imports:
        own.setdefault(found.name, []).append(found)
    found_links: dict[tuple[str, tuple[Target, ...]], None] = {}
    for use in statement.uses:
        head, *rest = use.split(".")
        targets: list[Target] = []
        for found in own.get(head, []):
            targets += _imported(module, found, rest)
        if head in known_names(module):
            targets += look_up(module, [head, *rest])
        if statement.names == ("__getattr__",):
            targets = [t for t in targets if isinstance(t, str) or t[1] not in read(t[0]).tables]
        # Of other packages the name itself is enough: what is asked of it stands in the code.
        label = head if all(isinstance(target, str) for target in targets) else use
        found_links[label, tuple(targets)] = None
    for found in (*statement.imports, *code.imports):
        if found.name == "*":
            found_links["*", tuple(_imported(module, found, []))] = None
    if statement.by_text:
        found_links["by text", tuple(_whole(module))] = None
    return tuple(found_links), tuple(imported_modules(module, statement.imports))


def look_up(module: str, names: list[str]) -> list[Target]:
    """Return what a dotted name stands for in a module; nothing while it is being looked up for itself."""
    question = module, tuple(names)
    if question in _looking_up:  # modules that import a name from one another
        return []
    _looking_up.add(question)
    try:
        return _looked_up(module, names)
    finally:
        _looking_up.remove(question)


_looking_up: set[tuple[str, tuple[str, ...]]] = set()


def _looked_up(module: str, names: list[str]) -> list[Target]:
    head, *rest = names
    code = read(module)
    found: list[Target] = [(module, index) for index in bindings(module).get(head, ())]
    for imported in code.imports:
        if imported.name == head:
            found += _imported(module, imported, rest)
    if found:
        return found
    if "__getattr__" in bindings(module):
        lazy = _lazily(module, head, rest)
        if lazy:
            return [(module, index) for index in bindings(module)["__getattr__"]] + lazy
    if source(f"{module}.{head}") is not None:
        return _of_module(f"{module}.{head}", rest)
    stars = [target for one in code.imports if one.name == "*" for target in _imported(module, one, [])]
    return stars or _whole(module)


def _lazily(module: str, name: str, rest: list[str]) -> list[Target]:
    """Return what a package that loads on first use hands on under a name, by its tables and its imports for typing."""
    found: list[Target] = []
    code = read(module)
    for table in code.tables.values():
        place = table.get(name)
        if place is None:
            continue
        home, _, attribute = place.partition(":")
        for candidate in (f"{module}.{home.lstrip('.')}", home):
            if source(candidate) is not None:
                found += _of_module(candidate, [attribute or name, *rest])
                break
    for imported in code.typing_imports:
        if imported.name == name:
            found += _imported(module, imported, rest)
    return list(dict.fromkeys(found))


def _imported(module: str, found: Import, rest: list[str]) -> list[Target]:
    """Return what an imported name stands for, with the attributes `rest` asked of it."""
    base = _absolute(module, found)
    if not _is_ours(base, module):
        return [f"{base}.{found.attribute}".rstrip(".")]
    if found.name == "*":
        return _whole(base)
    return _of_module(base, [found.attribute, *rest] if found.attribute else rest)


def _of_module(module: str, names: list[str]) -> list[Target]:
    if source(module) is None:
        return [module + "".join(f".{name}" for name in names)]
    return look_up(module, names) if names else _whole(module)


def _whole(module: str) -> list[Target]:
    if source(module) is None:
        return [module]
    found: list[Target] = [(module, index) for index in range(len(read(module).statements))]
    for imported in read(module).imports:
        if imported.attribute and imported.name != "*":
            base = _absolute(module, imported)
            if _is_ours(base, module) and source(base) and imported.attribute in bindings(base):
                found += [(base, index) for index in bindings(base)[imported.attribute]]
    return found


def imported_modules(module: str, imports: Iterable[Import]) -> Iterator[str]:
    """Yield the modules that imports of a module load, of those that are followed."""
    for found in imports:
        base = _absolute(module, found)
        if _is_ours(base, module):
            yield base
            if found.attribute and source(f"{base}.{found.attribute}") is not None:
                yield f"{base}.{found.attribute}"


def _absolute(module: str, found: Import) -> str:
    if not found.level:
        return found.module
    file = source_file(module)
    parts = module.split(".")
    drop = found.level - (1 if file is not None and file.name == "__init__.py" else 0)
    return ".".join(parts[: len(parts) - drop] + ([found.module] if found.module else []))


def parents(module: str) -> list[str]:
    """Return the packages that a module stands in: they are imported before it."""
    if module.endswith(".py"):
        return []
    parts = module.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def _is_ours(module: str, asked_by: str) -> bool:
    """Whether imports of a module are followed: those of this package, of the one that asks, and what users edit."""
    top = module.partition(".")[0]
    asker = "" if asked_by.endswith(".py") else asked_by.partition(".")[0]
    return top in (PACKAGE, asker) or (asker != PACKAGE and _is_edited(top))


@functools.cache
def known_names(module: str) -> set[str]:
    """Return the names that a module binds, by definitions and imports."""
    return {*bindings(module), *(found.name for found in read(module).imports)}


@functools.cache
def bindings(module: str) -> dict[str, list[int]]:
    """Return the statements that bind each name of a module."""
    found: dict[str, list[int]] = {}
    for index, statement in enumerate(read(module).statements):
        for name in statement.names:
            found.setdefault(name, []).append(index)
    return found


@functools.cache
def own_hash(node: Node) -> str:
    """Hash a statement with what it takes from other packages."""
    outside = [f"{use}>{t}" for use, targets in links(node)[0] for t in targets if isinstance(t, str)]
    return hash_of([read(node[0]).statements[node[1]].digest, *outside])


def read(module: str) -> SourceFile:
    """Return what a module that there is was taken apart into."""
    found = source(module)
    if found is None:
        raise BocuError(f"{module}: no such module")
    return found


@functools.cache
def source(module: str) -> SourceFile | None:
    """Return what a module was taken apart into, or None where there is none."""
    file = source_file(module)
    return None if file is None else source_of(file)


@functools.cache
def source_file(module: str) -> Path | None:
    """Return the file of a module, or None where there is none."""
    if module.endswith(".py"):
        return Path(module) if Path(module).is_file() else None
    top, *parts = module.split(".")
    folder = _ROOT if top == PACKAGE else _folder(top)
    if folder is None:
        return None
    base = folder.joinpath(*parts)
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@functools.cache
def _is_edited(package: str) -> bool:
    """Say whether a package is one that is worked on where it stands: none that was installed as it is."""
    folder = _folder(package) if package else None
    return folder is not None and not _COPIED & {*folder.parts} and not folder.is_relative_to(_STANDARD)


@functools.cache
def _folder(package: str) -> Path | None:
    """Return the folder of a user's package, or None where it is one that versions tell enough of."""
    if package in sys.stdlib_module_names or package in _LIBRARIES:
        return None
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if found is None or not found.origin or not found.origin.endswith(".py"):
        return None
    file = Path(found.origin)
    return file.parent if file.name == "__init__.py" else file.with_suffix("")


def hash_of(lines: Iterable[str]) -> str:
    """Return the SHA-256 of lines of text, 64 hexadecimal digits."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


# Calls that leave everything else as it is.
_HARMLESS = words(
    "abc collections contextlib dataclasses datetime decimal enum fractions functools itertools math numba numpy "
    "operator pathlib pydantic re scipy string types typing typing_extensions zoneinfo"
)
_HARMLESS_CALLS = frozenset({"logging.getLogger"})
_NOT_HARMLESS = ("numpy.random", "numpy.set")
_HARMFUL_BUILTINS = words("__import__ delattr eval exec input open print setattr")
_READING = words(  # methods of values that change nothing
    "copy count difference encode endswith format get index intersection items join keys lower lstrip max mean min "
    "partition replace rpartition rsplit rstrip split startswith strip sum title union upper values"
)


@functools.cache
def acting(module: str) -> tuple[int, ...]:
    """Return the statements that do, or may do, more than define a name."""
    return tuple(
        index
        for index, statement in enumerate(read(module).statements)
        if statement.acts
        or not all(_is_harmless((module, index), call) for call in statement.calls)
        or any(_hooks(module, base) for base in statement.bases)
    )


def _is_harmless(node: Node, call: str) -> bool:
    """Whether what a statement calls while its module is imported leaves everything else as it is."""
    head, *rest = call.split(".")
    targets = next((found for use, found in links(node)[0] if use in (call, head)), None)
    if targets is None:
        return head not in _HARMFUL_BUILTINS  # a builtin, or a name of the statement's own
    if rest and rest[-1] in CHANGERS:
        return False
    for target in targets:
        if isinstance(target, str):
            full = ".".join([target, *rest])
            harmless = target.partition(".")[0] in _HARMLESS and not full.startswith(_NOT_HARMLESS)
            if not harmless and full not in _HARMLESS_CALLS:
                return False
        elif read(target[0]).statements[target[1]].is_assignment and rest:
            if rest[-1] not in _READING:
                return False
        elif _leads_to_changes(target):
            return False
    return True


@functools.cache
def _leads_to_changes(start: Node) -> bool:
    """Whether a definition, or one that it uses, changes what a module-level name holds."""
    seen = {start}
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if read(node[0]).statements[node[1]].changes:
            return True
        for _, targets in links(node)[0]:
            new = {target for target in targets if not isinstance(target, str)} - seen
            seen |= new
            waiting.extend(new)
    return False


def _hooks(module: str, base: str) -> bool:
    """Whether a base class, or one of its own, has a say in what subclasses do when they are made."""
    if not base or base.partition(".")[0] not in known_names(module):
        return False
    for target in look_up(module, base.split(".")):
        if not isinstance(target, str):
            found = read(target[0]).statements[target[1]]
            if found.hooks or any(_hooks(target[0], deeper) for deeper in found.bases):
                return True
    return False
