"""Commands that take an experiment answer for the experiment files of the clone."""

import itertools
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bocu.commands.main import app

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "config/experiments").glob("*.yaml")), ROOT / "config/config.yaml"]
# Finite, continuous with plug-in baselines, and hourly on measured data.
SOME = [file for file in FILES if file.stem in ("tay2024", "botorch-baselines", "kirschner2020-wind")]


@pytest.fixture
def mirror_of_names(elsewhere):
    """A mirror in which every file is there and empty: commands around a sweep open none."""
    from bocu.problems.data.catalogue import load_catalogue

    for name, dataset in load_catalogue(ROOT / "data/sources.yaml").datasets.items():
        for record in dataset.records.values():
            for file in record.files_of("mirror"):
                path = elsewhere / "mirror" / name / file.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
    return "mirror"


@pytest.mark.parametrize(
    ("command", "file"),
    [*(("check", file) for file in FILES), *itertools.product(("plan", "status", "prune"), SOME)],
    ids=lambda part: getattr(part, "stem", part),
)
def test_a_command_answers_for_a_shipped_experiment(command, file, mirror_of_names):
    for arguments in ([str(file), "--mirror", mirror_of_names], [str(file), "--config", "name=trial"]):
        told = CliRunner().invoke(app, [command, *arguments])
        assert told.exit_code == 0, f"{command} {arguments}: {told.output}\n{told.exception!r}"
        assert told.output


@pytest.mark.parametrize("file", SOME, ids=lambda file: file.stem)
def test_why_explains_the_report_of_a_shipped_experiment(file, mirror_of_names):
    name = "quickstart" if file.stem == "config" else file.stem
    told = CliRunner().invoke(app, ["why", f"results/{name}/report/index.html"])
    assert told.exit_code == 0, told.output
    assert told.output.startswith(f"results/{name}/report/index.html: stale\n  not made yet\n")


def test_editors_find_the_schema_by_the_first_line():
    for file in FILES:
        schema = file.read_text().splitlines()[0].removeprefix("# yaml-language-server: $schema=")
        assert (file.parent / schema).resolve() == ROOT / "workflow/schemas/experiment.schema.json", file
