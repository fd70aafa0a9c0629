"""No edit of code that a run executed goes unnoticed: what ran is traced, then each piece of it is changed in turn."""

import ast
import copy
import dis
import functools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import numpy as np
import own_package
import pytest
from experiments import tiny

from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.fingerprints.definition_links import bindings
from bocu.sweep.experiment.fingerprints.fingerprint import definitions, fingerprint
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.execution import Block, execute

SOURCE = own_package.SOURCE
GAMES = [
    tiny(algorithms=["pe-gp-ucb"]),
    tiny(
        problems=[{"name": "kirschner", "parameters": {"function": "b", "spread": "sd", "protocol": "general"}}],
        objectives=[{"name": "dro", "parameters": {"set": {"name": "chi2", "radius": 0.2}}}],
        algorithms=["ucb-bocu-1"],
        metrics=[{"name": "dro", "parameters": {"set": {"name": "mmd", "radius": "margin"}}}],
        iterations=4,
    ),
    tiny(problems=[{"name": "ackley"}], algorithms=["sbo-kde"], metrics=["so"], iterations=3),
]


LOOKED_UP = SOURCE / "sweep/experiment/registry.py"  # it leads from a name to a class, which is a root of its own


class Trace:
    """Collects the code of the package that runs."""

    def __init__(self) -> None:
        self.codes: set[CodeType] = set()

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        file = frame.f_code.co_filename
        if file.startswith(str(SOURCE)) and file != str(LOOKED_UP):
            self.codes.add(frame.f_code)

    def __enter__(self) -> "Trace":
        sys.setprofile(self._called)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.setprofile(None)


@functools.cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def module_of(file: Path) -> str:
    return ".".join(("bocu", *file.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def statement_at(file: Path, line: int) -> ast.stmt:
    for node in tree(file).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        if first <= line <= node.end_lineno:
            return node
    raise AssertionError((file, line))


def played(game: dict, folder: Path) -> tuple[list[str], list[str], Trace, Trace]:
    """Play a small experiment, and return what run and score start from and what they executed."""
    plan = make_plan(game)
    (branch,) = plan.branches.values()
    parameters = plan.parameters.score(branch)
    block = Block({**branch.specification, "seeds": [0, 1]}, {}, "code")
    run, scored = Trace(), Trace()
    # The first time imports what is imported late; imports execute more than is used.
    for path in (folder / "first.nc", folder / "second.nc"):
        run.codes.clear()
        scored.codes.clear()
        with run:
            execute(block, path, folder / "checkpoints")
        with scored:
            score([str(path)], {}, branch.specification, json.loads(parameters["metrics"]), f"{path}.score")
    return branch.roots, plan.parameters.roots[plan.parameters.score(branch)["fingerprint"]], run, scored


@pytest.fixture(
    scope="module",
    params=[GAMES[0], pytest.param(GAMES[1], marks=pytest.mark.ci), pytest.param(GAMES[2], marks=pytest.mark.drill)],
    ids=lambda game: game["algorithms"][0],
)
def executed(request, tmp_path_factory):
    run_roots, score_roots, run, scored = played(request.param, tmp_path_factory.mktemp("game"))
    return [(run_roots, run), (score_roots, scored)]


def only_plans(node: ast.AST) -> bool:
    """Whether a statement is a method that no run calls."""
    return isinstance(node, ast.FunctionDef) and "planning_only" in map(ast.unparse, node.decorator_list)


def bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store)}


def globals_of(code: CodeType) -> set[str]:
    """Return the names that a piece of compiled code takes from its module."""
    return {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def test_all_that_ran_is_reached_and_so_are_the_names_that_it_used(executed):
    for roots, trace in executed:
        assert len(trace.codes) > 30
        reached = {
            module: {one for name in names for one in name.split(", ")} for module, names in definitions(roots).items()
        }
        for code in trace.codes:
            file = Path(code.co_filename)
            module = module_of(file)
            unseen = {node.decorator_list[0].lineno for node in ast.walk(tree(file)) if only_plans(node)}
            assert code.co_firstlineno not in unseen, (module, code.co_qualname)
            assert bound(statement_at(file, code.co_firstlineno)) & reached[module], (module, code.co_qualname)
            missing = globals_of(code) & set(bindings(module)) - reached[module]
            assert not missing, (module, code.co_qualname, missing)


def mutants(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield expressions in a statement, each with another that computes something else."""
    waiting: list[ast.AST] = [node]
    while waiting:
        found = waiting.pop()
        if only_plans(found):
            continue
        if isinstance(found, ast.JoinedStr) or (
            getattr(found, "value", None).__class__ is ast.Constant and (isinstance(found, ast.Expr))
        ):
            continue  # texts: messages and docstrings
        if isinstance(found, ast.Call) and ast.unparse(found.func) in ("Field", "pydantic.Field"):
            continue
        other = copy.deepcopy(found)
        if isinstance(found, ast.Constant) and isinstance(found.value, bool):
            yield found, repr(not found.value)
        elif isinstance(found, ast.Constant) and isinstance(found.value, int | float):
            yield found, f"({found.value!r} + 1)"
        elif isinstance(found, ast.BinOp) and not isinstance(found.op, ast.BitOr):
            other.op = ast.Sub() if isinstance(found.op, ast.Add) else ast.Add()
            yield found, f"({ast.unparse(other)})"
        elif isinstance(found, ast.Compare):
            other.ops[0] = ast.Gt() if isinstance(found.ops[0], ast.LtE) else ast.LtE()
            yield found, f"({ast.unparse(other)})"
        elif isinstance(found, ast.UnaryOp) and isinstance(found.op, ast.USub):
            yield found, f"({ast.unparse(found.operand)})"
        elif isinstance(found, ast.Return) and ast.unparse(found) not in ("return", "return None"):
            yield found, "return None"
        waiting.extend(ast.iter_child_nodes(found))


def mutated(text: bytes, node: ast.AST, new: str) -> bytes:
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    return text[:start] + new.encode() + text[end:]


@pytest.fixture(scope="module")
def tried():
    """What was changed in a game before: that each game reaches all that it runs, the test above shows."""
    return set()


@pytest.mark.ci
def test_every_change_of_what_ran_changes_the_fingerprint(executed, tried, tmp_path, monkeypatch):
    package = own_package.copy(tmp_path / "bocu", monkeypatch)
    generator = np.random.default_rng(0)
    for part, (roots, trace) in enumerate(executed):
        before = fingerprint(*roots)
        statements = {(file := Path(code.co_filename), statement_at(file, code.co_firstlineno)) for code in trace.codes}
        # Every second: the others are of the same files.
        for file, node in sorted(statements, key=lambda found: (str(found[0]), found[1].lineno))[part::2]:
            if (part, file, node.lineno) in tried:
                continue
            target = package / file.relative_to(SOURCE)
            text = target.read_bytes()
            choices = list(mutants(node))
            for index in generator.permutation(len(choices))[:1]:
                target.write_bytes(mutated(text, *choices[index]))
                compile(target.read_bytes(), str(target), "exec")
                own_package.forget()
                assert fingerprint(*roots) != before, (file, ast.unparse(choices[index][0]), choices[index][1])
                tried.add((part, file, node.lineno))
            target.write_bytes(text)
        own_package.forget()
        assert fingerprint(*roots) == before
    assert len(tried) > 60
