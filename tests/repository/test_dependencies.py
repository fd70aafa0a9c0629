"""What is declared is needed, and what is needed is declared: pyproject.toml against every import.

What no import shows stands in pyproject.toml, with its reason, under `[tool.bocu.dependencies]`.
"""

import ast
import importlib.metadata
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CODE = ("src/**/*.py", "workflow/**/*.py", "workflow/**/*.smk", "workflow/Snakefile", "Snakefile")
BESIDE = ("tests/**/*.py", "docs/**/*.py", ".ci/lint-workflow")
# Imports of other names than what brings them, where that need not be installed.
BROUGHT_BY = {"ax": "ax-platform"}
# Modules of the bridges that are imported only when asked for, beside those that bear the name of what they lead to.
BRIDGES = {"crate": ("repo2rocrate", "rocrate")}
# Wings that stand without any extra; the others are imported in a sweep.
BARE = ("core", "robust", "learners", "advice", "commands")
SMK_IMPORT = re.compile(r"^\s*(?:from|import) +([\w.]+)", re.MULTILINE)


@pytest.fixture(scope="module")
def settings(root):
    return tomllib.loads((root / "pyproject.toml").read_text())


@cache
def imported(root: Path, patterns: tuple[str, ...]) -> dict[str, set[str]]:
    """The packages that files import, by the name of the import, with the files; ours and Python's own left out."""
    files = [file for pattern in patterns for file in root.glob(pattern)]
    ours = {file.stem for file in root.glob("tests/**/*.py")} | {file.name for file in root.glob("tests/*")} | {"bocu"}
    ours |= {file.stem for folder in ("docs", "data") for file in root.glob(f"{folder}/**/*.py")}
    ours |= {folder.name for folder in root.glob("src/*")}
    found: dict[str, set[str]] = {}
    for file in files:
        for name in _names(file):
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top not in ours:
                found.setdefault(top, set()).add(file.relative_to(root).as_posix())
    return found


def _names(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".smk" or file.name == "Snakefile":
        return SMK_IMPORT.findall(text)
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module)
    return names


@cache
def _distributions():
    return importlib.metadata.packages_distributions()


def distributions(name: str) -> set[str]:
    """The distributions that an import may come from, by their normal names."""
    return {canonicalize_name(one) for one in [*_distributions().get(name, []), BROUGHT_BY.get(name, name)]}


def declared(settings, *extras: str) -> set[str]:
    project = settings["project"]
    wanted = [Requirement(line) for line in project["dependencies"]]
    stated = {**project["optional-dependencies"], **groups(settings)}
    for extra in extras:
        wanted += map(Requirement, stated[extra])
    own = {one for requirement in wanted if requirement.name == "bocu" for one in requirement.extras} - set(extras)
    if own:
        return declared(settings, *extras, *own)
    return {canonicalize_name(requirement.name) for requirement in wanted} - {"bocu"}


def groups(settings) -> dict[str, list[str]]:
    """The groups of what a change of the project needs, without those that stand for others."""
    stated = settings["dependency-groups"]
    return {name: lines for name, lines in stated.items() if all(isinstance(line, str) for line in lines)}


def reasons(settings, key: str) -> dict[str, str]:
    stated = settings["tool"]["bocu"]["dependencies"][key]
    assert all(len(reason.split()) >= 3 for reason in stated.values()), "each has its reason"
    return stated


def extras(settings) -> set[str]:
    return set(settings["project"]["optional-dependencies"]) | set(groups(settings))


def needed(root, patterns) -> set[str]:
    return {name for top in imported(root, patterns) for name in distributions(top)}


def test_every_dependency_is_imported_or_has_its_reason(root, settings):
    everything = declared(settings, "all")
    unseen = everything - needed(root, CODE)
    told = reasons(settings, "imported-nowhere")
    assert unseen == {name for name in told if name in everything}


def test_every_package_of_an_extra_is_imported_or_called_or_has_its_reason(root, settings):
    everywhere = needed(root, CODE) | needed(root, BESIDE)
    told = reasons(settings, "imported-nowhere")
    called = (root / "Makefile").read_text()
    known = declared(settings, "all")
    for extra in extras(settings):
        for name in declared(settings, extra) - known - everywhere:
            assert name in told or re.search(rf"^\t{name}\b", called, re.MULTILINE), f"{extra}: {name} is for nothing"
    assert set(told) <= declared(settings, *extras(settings)), "a reason for what is not declared"
    assert not set(told) & everywhere, "a reason for what is imported after all"


def test_every_import_of_the_code_is_declared(root, settings):
    missing = _undeclared(root, settings, CODE, declared(settings, *extras(settings) - {"test", "check", "publish"}))
    assert missing == {}


def test_every_import_beside_the_code_is_declared(root, settings):
    assert _undeclared(root, settings, BESIDE, declared(settings, *extras(settings))) == {}


def _undeclared(root, settings, patterns, known):
    brought = reasons(settings, "brought-along")
    missing = {}
    for top, files in imported(root, patterns).items():
        names = distributions(top)
        if not names & known and not names & set(brought):
            missing[top] = sorted(files)
    return missing


def test_what_is_brought_along_is_required_by_what_brings_it(settings):
    known = declared(settings, *extras(settings))
    for name, reason in reasons(settings, "brought-along").items():
        bringer = canonicalize_name(reason.split(":")[0])
        if bringer == "build":
            assert name in {canonicalize_name(Requirement(r).name) for r in settings["build-system"]["requires"]}
            continue
        assert bringer in known
        asked = {canonicalize_name(Requirement(line).name) for line in importlib.metadata.requires(bringer) or ()}
        assert name in asked, f"{bringer} does not require {name}"


def test_the_core_stands_without_its_extras(root, settings):
    """No module imports, as it is itself imported, what only an extra asks for, but the adapter that bears its name."""
    every = declared(settings, *extras(settings))
    for file in root.glob("src/bocu/**/*.py"):
        if file.name == "tensors.py":  # for tensors that are at hand
            continue
        bare = file.relative_to(root / "src/bocu").parts[0] in BARE
        optional = every - declared(settings, *(() if bare else ("all",)))
        for node in ast.parse(file.read_text()).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in names:
                top = name.partition(".")[0]
                if file.parent == root / "src/bocu/interop" and top in (file.stem, *BRIDGES.get(file.stem, ())):
                    continue
                assert not distributions(name.partition(".")[0]) <= optional, f"{file}: {name}"
