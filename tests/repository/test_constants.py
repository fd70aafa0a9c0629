"""A constant that other modules need too stands in one of them."""

import ast
from collections import defaultdict

#: Public names that mean something else in each of the modules that give them the same value.
OWN = {
    "BOUNDS": "each data set's own box",
    "MOTES": "the simulator draws as many sensors as the real network has, and imports no problem",
    "PACKAGE": "of the module's own package; what preloads imports nothing",
    "PANEL_HEIGHT": "of each figure's own panels",
    "ROW": "of each figure's own rows",
    "VERSION": "of each format by itself",
    "LOG": "each module's own",
    "logger": "each module's own",
}


def test_no_public_constant_stands_twice(root):
    places = defaultdict(list)
    for file in sorted((root / "src/bocu").rglob("*.py")):
        for statement in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name, value = statement.targets[0].id, ast.unparse(statement.value)
                if not name.startswith("_") and name not in ("about", *OWN):
                    places[name, value].append(file.relative_to(root / "src").as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
