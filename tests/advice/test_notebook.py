"""The notebooks: their cells run one after the other, and print what they are shown to print."""

import ast
import contextlib
import io
import json
import re
from pathlib import Path

import matplotlib as mpl
import pytest

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def shown_by(cell: dict) -> str:
    """What a cell is shown to print, and its last value."""
    texts = [output.get("text") or output["data"]["text/plain"] for output in cell["outputs"]]
    return "".join("".join(text) for text in texts if not "".join(text).startswith("<Figure"))


def run(source: str, names: dict) -> str:
    """Run a cell as a notebook does: its last expression is shown, unless a semicolon ends it."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue() + ("" if value is None else repr(value))


@pytest.mark.ci
@pytest.mark.parametrize("name", ["suggest-notebook", "researcher-notebook", "botorch-notebook"])
def test_a_notebook_prints_what_it_shows(root, monkeypatch, name):
    monkeypatch.chdir(root / "docs")
    notebook = json.loads(Path(f"{name}.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    names: dict = {"__name__": "__main__"}
    backend = mpl.get_backend()
    mpl.use("agg")
    try:
        for cell in cells:
            said, shown = run("".join(cell["source"]), names), shown_by(cell)
            assert [line.split() for line in NUMBER.sub("#", said).splitlines()] == [
                line.split() for line in NUMBER.sub("#", shown).splitlines()
            ]
            # Fits end where rounding lets them: numbers agree as far as a reader would use them.
            numbers = [[float(number) for number in NUMBER.findall(text)] for text in (said, shown)]
            assert numbers[0] == pytest.approx(numbers[1], rel=0.03, abs=0.15)
    finally:
        names["plt"].close("all")
        mpl.use(backend)
    assert [cell for cell in cells if any("image/png" in output.get("data", {}) for output in cell["outputs"])]
