"""What one's own work begins with: `bocu init`, the workflow in a folder, and `bocu new`, a class with its test."""

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from bocu.core.errors import BocuError


def init_command(
    folder: Annotated[Path, typer.Argument(help="Folder to lay it out in; made where there is none.")] = Path(),
) -> None:
    """Lay out Snakefile, rules, profiles and experiment files, beside what the folder holds.

    Nothing that stands is written over.
    """
    from bocu.sweep.experiment.paths import LAID_OUT

    files = {
        folder / Path(inside, name).relative_to(LAID_OUT): Path(inside, name).read_text(encoding="utf-8")
        for inside, _, names in os.walk(LAID_OUT, followlinks=True)
        for name in names
        if not inside.endswith("__pycache__")
    }
    _write("init", files, "nothing was written; give another folder")
    typer.echo(f"{folder}: {len(files)} files")
    typer.echo(f"next: cd {folder}; snakemake --cores all; the quick start is config/config.yaml")


KINDS = ("algorithm", "problem", "set", "law", "shift", "metric", "figure", "objective")


def new_command(
    kind: Annotated[str, typer.Argument(help="algorithm, problem, set, law, shift, metric, figure or objective.")],
    name: Annotated[str, typer.Argument(help="What it is called, such as `my-own` or MyOwn.")],
    folder: Annotated[Path, typer.Option(help="Folder to write into; made where there is none.")] = Path(),
) -> None:
    """Write a commented class that runs, a small experiment with it, and its conformance test.

    Nothing that stands is written over.
    """
    from bocu.core.parameters import nearest

    if kind not in KINDS:
        raise BocuError(f"new: unknown kind '{kind}'; {nearest(kind, KINDS)}")
    words = _words(name)
    files = {folder / file: text for file, text in _written(kind, words).items()}
    _write("new", files, "give another name or --folder")
    for path in files:
        typer.echo(str(path))
    code, experiment, test = files
    typer.echo(f"next: edit {code}; pytest {test}; bocu check {experiment}; {_sweep(experiment)}")


def _sweep(experiment: Path) -> str:
    """Return the command that sweeps an experiment from the folder at hand, whether the workflow lies there or not."""
    from bocu.sweep.experiment.paths import in_clone

    found = any(Path(place).is_file() for place in ("Snakefile", "workflow/Snakefile"))
    named = "" if found else f"--snakefile {in_clone('Snakefile')} "
    return f"snakemake {named}--cores all --configfile {experiment}"


def _words(name: str) -> list[str]:
    """Take a name apart: "my-own", "my_own" and "MyOwn" are my own."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)
    plain = "".join(words).lower() == re.sub(r"[-_]", "", name).lower()
    if not words or not plain or not name.isascii() or not words[0][0].isalpha() or len(name) > 40:
        raise BocuError(f"new: found name {name!r}; allowed: letters and digits, such as my-own or MyOwn, up to 40")
    return [word.lower() for word in words]


def _written(kind: str, words: list[str]) -> dict[str, str]:
    """Return the text of every file: the class, its experiment, its test."""
    import jinja2

    stem = "_".join(words)
    told = {
        "kind": kind,
        "name": "".join(word.capitalize() for word in words),
        "stem": stem,
        "label": "-".join(words),
        "title": " ".join(words).capitalize(),
    }
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bocu.commands", "templates"),
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    files = {f"{stem}.py": f"{kind}.py", f"{stem}.yaml": f"{kind}.yaml", f"test_{stem}.py": "test.py"}
    return {file: environment.get_template(f"{template}.jinja").render(told) for file, template in files.items()}


def _write(command: str, files: dict[Path, str], advice: str) -> None:
    """Write texts to files, none of which may stand already."""
    from bocu.core.io.files import write_text

    for path in files:
        if path.exists() or path.is_symlink():
            raise BocuError(f"{command}: {path} stands already; {advice}")
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
        except OSError as error:
            raise BocuError(f"{command}: {path}: {error.strerror or error}") from None
