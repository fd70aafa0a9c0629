"""What Python's syntax says of names: imported, bound, local, dotted."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Import(NamedTuple):
    """One imported name.

    Attributes:
        name: what it is bound to here; "*" for all names of a module.
        module: the module, without the package that a relative import starts from.
        attribute: the name there; "" where the module itself is bound.
        level: dots of a relative import.
    """

    name: str
    module: str
    attribute: str
    level: int


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def imports_of(node: ast.Import | ast.ImportFrom) -> Iterator[Import]:
    """Yield what a statement imports, in order."""
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield Import(alias.asname or alias.name, node.module or "", alias.name, node.level)
        return
    for alias in node.names:
        if alias.asname:
            yield Import(alias.asname, alias.name, "", 0)
        else:
            # `import a.b` binds a, and loads a.b.
            yield Import(alias.name.partition(".")[0], alias.name.partition(".")[0], "", 0)
            if "." in alias.name:
                yield Import("", alias.name, "", 0)


def dotted_name(node: ast.AST) -> str | None:
    """Return the text of a name with attributes, or None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def bound_names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds at the level of its module."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    waiting: list[ast.AST] = [node]
    seen: set[str] = set()
    while waiting:
        child = waiting.pop()
        names: list[str] = []
        if isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
            names = [child.id]
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [child.name]
        elif isinstance(child, ast.Import | ast.ImportFrom):
            names = [found.name for found in imports_of(child) if found.name]
        elif isinstance(child, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and child.name:
            names = [child.name]
        for name in names:
            if name not in seen:
                seen.add(name)
                yield name
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            waiting.extend(reversed(list(ast.iter_child_nodes(child))))


def local_names(function: ast.AST) -> frozenset[str]:
    """Return the names that are the function's own. One that is missed costs a rerun, one too many would be a fault."""
    arguments: ast.arguments = function.args  # type: ignore[attr-defined]
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    names = {argument.arg for argument in every if argument}
    elsewhere: set[str] = set()
    body = function.body  # type: ignore[attr-defined]
    waiting: list[ast.AST] = list(body) if isinstance(body, list) else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            elsewhere.update(node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
            waiting.extend(node.body)
        elif not isinstance(node, (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
    return frozenset(names - elsewhere)


def names_in(text: str) -> Iterator[str]:
    """Yield the names in a text that is an expression; none where it is no Python."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return
    yield from (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def table_of(node: ast.stmt) -> dict[str, str] | None:
    """Return the dictionary of texts that a statement assigns, or None for anything else."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if not isinstance(value, ast.Dict):
        return None
    found = {}
    for key, item in zip(value.keys, value.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            return None
        if not (isinstance(item, ast.Constant) and isinstance(item.value, str)):
            return None
        found[key.value] = item.value
    return found


def is_plain_target(node: ast.expr) -> bool:
    """Say whether what is assigned to is a name, or a tuple or list of names."""
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Tuple | ast.List) and all(map(is_plain_target, node.elts))
    )


def is_for_type_checkers(test: ast.expr) -> bool:
    """Say whether a condition is `TYPE_CHECKING`, of whatever module."""
    return (dotted_name(test) or "").rpartition(".")[2] == "TYPE_CHECKING"


def is_for_main_programs(node: ast.stmt) -> bool:
    """Say whether a statement runs only where its module is the program."""
    return isinstance(node, ast.If) and not node.orelse and ast.unparse(node.test) == "__name__ == '__main__'"


def is_string(node: ast.AST) -> bool:
    """Say whether an expression is a string as it stands."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_text(node: ast.AST) -> bool:
    """Say whether a statement is a string alone, as docstrings are."""
    return isinstance(node, ast.Expr) and is_string(node.value)
