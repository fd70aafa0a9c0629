"""What a file of Python code defines, statement by statement: what code fingerprints are made from.

Comments, docstrings and layout are not seen, nor what changes no number: descriptions of pydantic fields, a class's
`about`, and its methods that are `planning_only`. Names of imported modules are no part of a statement's hash, so that
a definition may move.
"""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Import(NamedTuple):
    """One imported name."""

    name: str  #: what it is bound to here; "*" for all names of a module.
    module: str  #: the module, without the package that a relative import starts from.
    attribute: str  #: the name there; "" where the module itself is bound.
    level: int  #: dots of a relative import.


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


# Of a field: told to users, without effect on what the field takes.
_TOLD = frozenset({"description", "title", "examples"})
_FIELD = ("pydantic", "Field")
_ABOUT, _ABOUT_CLASS = "about", "About"
_PLANNING_ONLY = "planning_only"  # decorates methods that no run calls
_BY_TEXT = words("globals eval exec")  # find what no name leads to; so may `__name__` in a function
CHANGERS = words(  # methods that change what they are called on
    "add append appendleft clear discard extend insert pop popitem popleft register remove reverse setdefault "
    "sort update"
)
_BLIND = words(  # decorators that look at no annotation
    "abstractmethod cache cached_property classmethod compiled contextmanager lru_cache model_validator njit overload "
    "override property setter staticmethod wraps"
)
_LOADERS = words("import_module load")  # of modules and "module:Name" by their text
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_UNSEEN = words("ctx kind type_comment")  # fields of nodes


class Statement(NamedTuple):
    """A statement of a module that binds names, or does something when the module is imported."""

    names: tuple[str, ...]  #: what it binds at the level of the module.
    digest: str  #: hash of its code.
    #: names that it takes from outside of itself, with the attributes asked for: "numpy.linalg.norm", "helper".
    uses: tuple[str, ...]
    imports: tuple[Import, ...]  #: what it imports itself, in order.
    calls: tuple[str, ...]  #: what it calls when the module is imported, as `uses`.
    bases: tuple[str, ...]  #: base classes, as `uses`.
    acts: bool  #: it is neither a definition nor an assignment to names.
    changes: bool  #: it changes what a module-level name holds, whenever it runs.
    by_text: bool  #: it finds names by their text.
    hooks: bool  #: a class that has a say in what its subclasses do when they are made.
    is_assignment: bool  #: it assigns.


@dataclass(frozen=True)
class SourceFile:
    """A file of Python code."""

    statements: tuple[Statement, ...]  #: all of them but imports, in order.
    imports: tuple[Import, ...]  #: imports at the level of the module, in order.
    typing_imports: tuple[Import, ...]  #: those that only type checkers see.
    #: dictionaries of texts, by the index of their statement: what a package that loads lazily looks up.
    tables: dict[int, dict[str, str]]


def read_source(text: bytes, file: str) -> SourceFile:
    """Take a file apart.

    Args:
        text: its content.
        file: its name, for errors.

    Raises:
        SyntaxError: it is no Python.
    """
    tree = ast.parse(text, filename=file)
    imports: list[Import] = []
    typing_imports: list[Import] = []
    kept: list[ast.stmt] = []
    waiting = tree.body[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.extend(imports_of(node))
        elif isinstance(node, ast.If) and (dotted_name(node.test) or "").rpartition(".")[2] == "TYPE_CHECKING":
            typing_imports.extend(
                found
                for child in node.body
                if isinstance(child, ast.Import | ast.ImportFrom)
                for found in imports_of(child)
            )
            waiting.extend(node.orelse[::-1])
        elif not is_text(node):
            kept.append(node)
    fields = {found.name for found in imports if (found.module, found.attribute) == _FIELD}
    fields |= {f"{found.name}.Field" for found in imports if (found.module, found.attribute) == ("pydantic", "")}
    readers = [_Reader(node, fields) for node in kept]
    outside = {found.name for found in imports}.union(*(reader.names for reader in readers))
    tables = {index: table for index, node in enumerate(kept) if (table := table_of(node))}
    statements = tuple(reader.statement(outside) for reader in readers)
    return SourceFile(statements, tuple(imports), tuple(typing_imports), tables)


class _Reader(ast.NodeVisitor):
    """Reads one statement of a module: its hash, and what it uses, in one walk."""

    def __init__(self, node: ast.stmt, fields: Collection[str]) -> None:
        self.node = node
        self.names = tuple(bound_names(node))
        self._fields = fields
        self._text: list[str] = []
        self._uses: set[str] = set()
        self._calls: set[str] = set()
        self._imports: list[Import] = []
        self._changed: set[str] = set()
        self._by_text = self._sets_globals = self._in_class = False
        self._scopes: list[frozenset[str]] = []  # names of the functions around; their code runs later
        self._blind = True  # whether nothing looks at the annotations of the function at hand
        self._noted = False  # in annotations that nothing looks at
        self._write(node)

    def statement(self, outside: set[str]) -> Statement:
        """Return what was found; `outside` are the names that the module binds."""
        node = self.node
        own = {found.name for found in self._imports}
        is_assignment = isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        is_assignment |= isinstance(node, ast.Assign) and all(map(is_plain_target, node.targets))
        hooks = isinstance(node, ast.ClassDef) and (
            any(keyword.arg == "metaclass" for keyword in node.keywords)
            or any(isinstance(child, ast.FunctionDef) and child.name == "__init_subclass__" for child in node.body)
        )
        bases = [dotted_name(base) or "" for base in node.bases] if isinstance(node, ast.ClassDef) else []
        return Statement(
            self.names,
            sha256("".join(self._text).encode("utf-8", "surrogatepass")).hexdigest(),
            tuple(sorted(use for use in self._uses if use.partition(".")[0] in outside | own)),
            tuple(self._imports),
            tuple(sorted(self._calls)),
            tuple(bases),
            not (is_assignment or isinstance(node, _DEFINITIONS) or is_for_main_programs(node)),
            self._sets_globals or bool(self._changed & (outside | own)),
            self._by_text and self.names != ("__getattr__",),  # of a module, which is followed by its tables
            hooks,
            is_assignment,
        )

    def _is_local(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes)

    def _write(self, value: object) -> None:
        if isinstance(value, list):
            self._text.append("[")
            for item in value:
                if not (isinstance(item, ast.Expr) and is_text(item)):
                    self._write(item)
            self._text.append("]")
        elif isinstance(value, ast.AST):
            self.visit(value)
        else:
            self._text.append(f"{value!r};")

    def generic_visit(self, node: ast.AST) -> None:
        self._text.append(f"{type(node).__name__}(")
        for name in node._fields:
            if name not in _UNSEEN:
                self._write(getattr(node, name, None))
        self._text.append(")")

    def visit_Name(self, node: ast.Name) -> None:
        self._text.append(f"{node.id};")
        if not self._noted and not self._is_local(node.id):
            self._uses.add(node.id)
            self._by_text |= node.id in _BY_TEXT or (node.id == "__name__" and bool(self._scopes))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._by_text |= node.attr == "__subclasses__"
        dotted = dotted_name(node)
        if dotted is None or self._noted or self._is_local(dotted.partition(".")[0]):
            self.generic_visit(node)
            return
        self._text.append(f"{dotted};")
        self._uses.add(dotted)
        if not isinstance(node.ctx, ast.Load):
            self._changed.add(dotted.partition(".")[0])

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._note_change(node.value)
        self.generic_visit(node)

    def _note_change(self, node: ast.AST) -> None:
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name) and not self._is_local(node.id):
            self._changed.add(node.id)

    def visit_Call(self, node: ast.Call) -> None:
        called = dotted_name(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS:
            self._note_change(node.func.value)
        if isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr") and node.args:
            self._note_change(node.args[0])
        if called is not None and called.split(".")[-1] in _LOADERS and node.args and is_string(node.args[0]):
            module, _, attribute = node.args[0].value.partition(":")  # type: ignore[attr-defined]
            self._imports.append(Import(called.partition(".")[0], module, attribute, 0))
        if not self._scopes and called is not None:
            self._calls.add(called)
        if called and called in self._fields and not self._is_local(called.partition(".")[0]):
            self._text.append("Call(")
            self._write(node.func)
            self._write(node.args)
            self._write([keyword for keyword in node.keywords if keyword.arg not in _TOLD])
            self._text.append(")")
        else:
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        blind, in_class = self._blind, self._in_class
        if isinstance(node, ast.Lambda):
            self._text.append("Lambda(")
        else:
            self._text.append(f"Function({type(node).__name__};{node.name};")
            self._decorators(node)
            self._blind = all(map(_is_blind, node.decorator_list))
            self._annotation(node.returns)
            self._write(getattr(node, "type_params", []))
        self._write(node.args)  # with its defaults, which are worked out outside
        self._blind, self._in_class = blind, False
        self._scopes.append(local_names(node))
        self._write(node.body)
        self._scopes.pop()
        self._in_class = in_class
        self._text.append(")")

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def _annotation(self, node: ast.expr | None) -> None:
        """Write the annotation of an argument, a result or a local variable."""
        noted, self._noted = self._noted, self._noted or self._blind
        self._write(node)
        self._noted = noted

    def visit_arg(self, node: ast.arg) -> None:
        self._text.append(f"{node.arg}:")
        self._annotation(node.annotation)

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        if not self._scopes:
            self._calls.update(filter(None, map(dotted_name, node.decorator_list)))
        self._write(node.decorator_list)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._text.append(f"Class({node.name};")
        self._decorators(node)
        if not self._scopes:
            self._calls.update(dotted for word in node.keywords if (dotted := dotted_name(word.value)))
        self._write(node.bases)
        self._write(node.keywords)
        self._write(getattr(node, "type_params", []))
        inside, self._in_class = self._in_class, True
        self._write([child for child in node.body if not (_is_about(child) or _is_for_planning(child))])
        self._in_class = inside
        self._text.append(")")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if self._scopes and not self._in_class:
            self._text.append("AnnAssign(")
            self._write(node.target)
            self._text.append(f"{ast.unparse(node.annotation)};")  # of a local variable: never worked out
            self._write(node.value)
            self._text.append(")")
            return
        for child in ast.walk(node.annotation):
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                self._uses.update(names_in(child.value))  # a reference that is looked up later
        self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.Import | ast.ImportFrom) -> None:
        found = list(imports_of(node))
        self._imports.extend(found)
        self._text.append(f"Import({','.join(one.name for one in found)})")

    visit_Import = visit_ImportFrom

    def visit_Global(self, node: ast.Global) -> None:
        self._sets_globals = True
        self._uses.update(node.names)
        self.generic_visit(node)


def _is_about(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    called = dotted_name(node.value.func) if isinstance(node.value, ast.Call) else None
    made = node.value is None or (called or "").rpartition(".")[2] == _ABOUT_CLASS
    return made and [*map(dotted_name, targets)] == [_ABOUT]


def _is_for_planning(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        (dotted_name(decorator) or "").rpartition(".")[2] == _PLANNING_ONLY for decorator in node.decorator_list
    )


def _is_blind(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (dotted_name(called) or "").rpartition(".")[2] in _BLIND


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


def is_for_main_programs(node: ast.stmt) -> bool:
    """Say whether a statement runs only where its module is the program."""
    return isinstance(node, ast.If) and not node.orelse and ast.unparse(node.test) == "__name__ == '__main__'"


def is_string(node: ast.AST) -> bool:
    """Say whether an expression is a string as it stands."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_text(node: ast.AST) -> bool:
    """Say whether a statement is a string alone, as docstrings are."""
    return isinstance(node, ast.Expr) and is_string(node.value)
