"""What holds of all code: names stand once, methods say what they do, examples print what they say; its page."""

import ast
import doctest
import functools
import importlib
import inspect
import pkgutil
import re
import runpy
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import bocu
from bocu.core.errors import BocuError
from bocu.core.loading import naming_extras


def test_no_two_modules_have_one_name(root):
    """Two of one name, in folders that are no packages, would be one module to Python; the collection would fail."""
    places = defaultdict(list)
    for file in (root / "tests").rglob("test_*.py"):
        inside = file.parent if (file.parent / "__init__.py").exists() else None
        places[inside, file.name].append(file.relative_to(root).as_posix())
    assert [files for files in places.values() if len(files) > 1] == []


@pytest.fixture(scope="module")
def modules(root):
    return {
        "bocu." + ".".join(file.relative_to(root / "src/bocu").with_suffix("").parts): ast.parse(
            file.read_text("utf-8")
        )
        for file in (root / "src/bocu").rglob("*.py")
        if file.name != "__init__.py"
    }


def places(modules, *kinds):
    found = defaultdict(set)
    for module, tree in modules.items():
        for statement in tree.body:
            if isinstance(statement, kinds) and not statement.name.startswith("_"):
                found[statement.name].add(module)
    return {name: where for name, where in found.items() if len(where) > 1}


def test_no_public_class_stands_in_two_modules(modules):
    assert places(modules, ast.ClassDef) == {}


def test_no_function_is_imported_by_its_name_from_two_modules(modules):
    twice, imported = places(modules, ast.FunctionDef), defaultdict(set)
    for tree in modules.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if node.module in twice.get(alias.name, ()):
                        imported[alias.name].add(node.module)
    assert {name: where for name, where in imported.items() if len(where) > 1} == {}


def public_classes() -> Iterator[type]:
    for info in pkgutil.walk_packages(bocu.__path__, "bocu."):
        for found in vars(imported(info.name)).values():
            if inspect.isclass(found) and found.__module__ == info.name and not found.__name__.startswith("_"):
                yield found


def imported(name: str) -> ModuleType:
    """The module; an empty one where a package is not installed that only an extra brings."""
    try:
        with naming_extras():
            return importlib.import_module(name)
    except BocuError:
        return ModuleType(name)


def function_of(member: object) -> FunctionType | None:
    """The function behind a method, a class method or a property."""
    if isinstance(member, classmethod | staticmethod):
        member = member.__func__
    elif isinstance(member, property):
        member = member.fget
    elif isinstance(member, functools.cached_property):
        member = member.func
    return member if isinstance(member, FunctionType) else None


def test_public_methods_have_docstrings_where_they_are_declared() -> None:
    # ruff's D102 asks for one at every method that overrides a documented one, too.
    undocumented = [
        f"{owner.__module__}: {owner.__name__}.{name}"
        for owner in public_classes()
        for name, member in vars(owner).items()
        if not name.startswith("_")
        and (function := function_of(member)) is not None
        and not function.__doc__
        and not any(name in vars(base) for base in owner.__mro__[1:])
    ]
    assert undocumented == []


SOURCE = Path(__file__).parents[2] / "src"
MODULES = [
    ".".join(file.relative_to(SOURCE).with_suffix("").parts)
    for file in sorted((SOURCE / "bocu").rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.ci
@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    found = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert found.attempted
    assert not found.failed


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/architecture.md").read_text()


def test_the_layers_are_those_that_imports_are_held_to(root: Path, page: str) -> None:
    maker = runpy.run_path(str(root / "docs/make_layers.py"))
    assert maker["BLOCK"].search(page).group() == maker["drawn"](), "python docs/make_layers.py"
    rooms = {file.parent.name for file in (root / "src/bocu").glob("*/__init__.py")}
    assert {name for row in maker["layers"]() for name in row} == rooms


def test_the_lowest_wing_knows_none_above_it_by_its_types_either(root: Path) -> None:
    for file in (root / "src/bocu/core").rglob("*.py"):
        known = set(re.findall(r"^\s*(?:from|import) bocu\.(\w+)", file.read_text(), re.MULTILINE))
        assert known <= {"core"}, file


def test_what_the_page_names_is_there(root: Path, page: str) -> None:
    for name in re.findall(r"`(bocu\.[\w.]+)", page):
        module, rest = name, []
        while (
            not (root / "src" / module.replace(".", "/")).is_dir()
            and not (root / "src" / f"{module.replace('.', '/')}.py").is_file()
        ):
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
        found = importlib.import_module(module)
        for part in rest:
            found = getattr(found, part)
    for file in re.findall(r"`([\w/]+\.(?:py|smk))`", page):
        assert any((root / place / file).is_file() for place in ("", "src/bocu", "src/bocu/robust/ambiguity")), file
