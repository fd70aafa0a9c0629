"""Whether a figure keeps its promises: drawn of a small sweep, twice the same, with words beside the picture."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bocu.pages.figures.base import Drawing, Figure, save
from bocu.sweep.evaluation.cubes import build_cube, build_summary
from bocu.sweep.evaluation.digests import build_digest
from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.execution import Block, execute
from bocu.testing.breaches import Subject, subject
from bocu.testing.games import named_game

_LABEL = "checked"
_SUFFIXES = (".png", ".svg", ".pdf", ".json")


def check_figure(
    what: str | type[Figure],
    parameters: Mapping[str, object] | None = None,
    *,
    experiment: Mapping[str, object] | None = None,
) -> None:
    """Check a figure on a sweep of seconds.

    It is drawn without a fault, twice to the same bytes, and says in words what it shows.

    Args:
        what: as an experiment file may name it, or the class.
        parameters: those that differ from the defaults.
        experiment: keys of the experiment that differ from ours: problems, objectives, algorithms, metrics, ...

    Raises:
        Breach: a promise is not kept.
    """
    __tracebackhide__ = True
    found = subject("figure", what)
    checked = found.parameters(parameters)
    protocols = found.kind.protocols or ("general",)
    protocol = next((each for each in protocols if named_game(each) is not None), None)
    if protocol is None and experiment is None:
        found.broken(f"no problem of ours is played as {' or '.join(protocols)}; give one as experiment['problems']")
    name, given = (protocol and named_game(protocol)) or ("", {})
    wanted = {
        "name": "conformance",
        "seeds": 3,
        "iterations": 5,
        "problems": [{"name": name, "parameters": given}],
        "algorithms": ["random"],
        **(experiment or {}),
        "figures": [{"name": _written(found), "label": _LABEL, "parameters": checked.model_dump(mode="json")}],
    }
    with _working_folder():
        plan = _planned(found, wanted)
        _play(plan)
        for folder in plan.figure_problems[_LABEL]:
            _check(Subject(found.entry, found.kind, f"{found.said}: of {folder}"), checked, plan, folder)


def _written(found: Subject) -> str:
    return found.entry.target if found.entry.code else found.entry.name


@contextlib.contextmanager
def _working_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _planned(found: Subject, wanted: Mapping[str, object]) -> Plan:
    scripts = Path("scripts")  # the workflow's own are not asked for
    scripts.mkdir()
    for stage in ("cube", "run"):
        (scripts / f"{stage}.py").write_text('"""Nothing."""\n')
    with found.calling("planning"):
        return make_plan(wanted, scripts=scripts)


def _play(plan: Plan) -> None:
    for branch in plan.branches.values():
        for first, last in plan.blocks_of(branch):
            block = Block({**branch.specification, "seeds": [first, last]}, {}, "conformance")
            execute(block, plan.paths.run_file(branch, first, last), plan.paths.checkpoint(branch, first, last))
        metrics = [{"label": each.label, **each.specification} for each in plan.metrics_of(branch.problem.label)]
        score(plan.products.runs(branch), {}, branch.specification, metrics, plan.paths.score_file(branch))
    for problem in plan.problems:
        build_cube(json.loads(plan.parameters.cube(problem)["description"]), plan.paths.cube(problem))
        build_digest(plan.paths.cube(problem), plan.paths.digest(problem))
    build_summary(plan.products.digests(), plan.paths.summary())


def _check(found: Subject, parameters: object, plan: Plan, folder: str) -> None:
    inputs: dict[str, Any] = dict(plan.inputs.figure(_LABEL, folder))
    if getattr(parameters, "draws_problem", False):
        inputs["problem"] = {"label": folder, "specification": plan.problems[folder].specification}
    written = []
    for turn in ("one", "two"):
        with found.calling("draw"):
            drawing = found.kind(parameters).draw(inputs)
        _words(found, drawing, folder)
        files = [Path(turn) / folder / f"{_LABEL}{suffix}" for suffix in _SUFFIXES]
        with found.calling("save"):
            save(drawing, files[0], files[1], files[-1])  # the PDF and the table are named after the words
        written.append([file.read_bytes() for file in files])
    for suffix, one, two in zip(_SUFFIXES, *written, strict=True):
        found.wants(one == two, f"drawn twice, the {suffix[1:]} differs")


def _words(found: Subject, drawing: Drawing, folder: str) -> None:
    found.wants(isinstance(drawing, Drawing), f"compose: found {type(drawing).__name__}; allowed: a Drawing")
    for name in ("title", "caption", "alternative"):
        text = getattr(drawing, name)
        found.wants(isinstance(text, str) and text.strip(), f"compose: no {name}")
    wanted = folder if found.kind.scope == "problem" else ""
    found.wants(drawing.problem == wanted, f"compose: problem: found {drawing.problem!r}; allowed: {wanted!r}")
