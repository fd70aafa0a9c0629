"""Pages made of finished experiments, and computed again from their run files."""

import json
import random
import re
import shutil
from dataclasses import replace

import pytest
import yaml
from experiments import run_all, tiny
from typer.testing import CliRunner

from bocu.commands.main import app
from bocu.core.errors import BrokenFileError
from bocu.pages.recomputed import part_of, verify_page
from bocu.pages.report.build import build_page
from bocu.sweep.experiment.record import write_record
from bocu.sweep.opening import open_plan

PAGE = "results/tiny/report/index.html"


def bocu(*arguments):
    return CliRunner().invoke(app, arguments)


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A folder with the results of two experiments, and the page of the first."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("tiny", "other"):
            file = folder / f"{name}.yaml"
            rows = {"name": "panels", "parameters": {"rows": [{"metric": "so", "problems": ["hills"]}]}}
            file.write_text(yaml.safe_dump(tiny(name=name, figures=[rows])))
            plan = open_plan(file)
            run_all(plan)
            write_record(plan, [file])
        described = json.loads(open_plan("tiny").parameters.report()["experiment"])  # as the job has it
        build_page([replace(part_of(open_plan("tiny")), experiment=described)], PAGE)
        yield folder


def test_a_page_that_was_just_made_stands(there):
    done = bocu("verify", PAGE)
    assert done.exit_code == 0, done.output
    numbers = re.fullmatch(rf"{PAGE}: ([\d,]+) numbers computed again from run files, all stand\n", done.output)
    assert int(numbers[1].replace(",", "")) > 200


@pytest.mark.parametrize(
    ("pattern", "edited", "named"),
    [
        (r'("mean":)([\d.]+)', r"\g<1>0.5", "hills, so: algorithms: random: mean: the page says 0.5; the run files "),
        (r'("totals":\[\[)([\d.]+)', r"\g<1>7.25", "hills, so: totals: the page says 7.25; the run files say "),
        (r'("instantaneous":.*?"mean":")(....)', r"\g<1>AAAA", "instantaneous: of: random: mean: not the curve"),
        (
            r"(<td>)(\d\.\d+ ± [\d.]+)(</td>)",
            r"\g<1>0.1 ± 0.1\g<3>",
            "PE-GP-UCB: Final regret: the page says 0.1 ± 0.1",
        ),
        (r"(<dt>Seeds</dt><dd>[^<]*)\d", r"\g<1>7", "after #overview: the page says "),
        (r'(id="time-table".*?<td>)\d', r"\g<1>X", "table time-table: "),
        (r"(grid: )60", r"\g<1>61", "after #problem-hills-data: the page says grid: 61; the run files say grid: 60"),
    ],
    ids=["a mean", "a total", "a curve", "a cell", "a sentence", "a cell of another table", "a parameter"],
)
def test_a_number_that_was_edited_is_named(there, pattern, edited, named):
    text = (there / PAGE).read_text()
    changed, count = re.subn(pattern, edited, text, count=1, flags=re.DOTALL)
    assert count == 1
    page = there / "edited.html"
    page.write_text(changed)
    (fault,) = verify_page(page).faults
    assert named in fault


@pytest.mark.ci
def test_digits_of_tables_and_sentences_are_all_compared(there):
    text, rng, page = (there / PAGE).read_text(), random.Random(29), there / "edited.html"
    shown = text[: text.index('<script type="application/json"')]
    digits = [
        match.start() + place
        for match in re.finditer(r"(?<=>)[^<>]+(?=</)", shown[shown.index("<main") :])
        for place, letter in enumerate(match[0], shown.index("<main"))
        if letter.isdecimal()
    ]
    for place in rng.sample(digits, 8):
        page.write_text(f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}")
        assert verify_page(page).faults, text[place - 40 : place + 20]


def test_a_cell_of_a_table_beside_the_page_is_compared(there):
    folder = there / "copied"
    shutil.copytree((there / PAGE).parent, folder)
    table = folder / "tables/final-regret.csv"
    (digits,) = re.findall(r"\d+\.\d{3}", table.read_text())[:1]
    table.write_text(table.read_text().replace(digits, f"{digits[:-1]}{(int(digits[-1]) + 1) % 10}", 1))
    (fault,) = verify_page(folder / "index.html").faults
    assert fault.startswith(f"{table}: hills: ")


def test_a_page_of_another_form_gets_a_line(there):
    text = (there / PAGE).read_text()

    def of(identifier, change):
        found = re.search(rf'(<script type="application/json" id="{identifier}">)(.*?)(?=</script>)', text, re.DOTALL)
        content = json.loads(found[2])
        changed = change(content)
        return text.replace(found[0], found[1] + json.dumps(content if changed is None else changed))

    page = there / "formless.html"
    indices = (list, lambda index: index.pop("experiments"), lambda index: index.update(panels=[{}]))
    for written in (
        *(of("numbers", change) for change in indices),
        text.replace('"numbers">', '"numbers">' + "[" * 10**5, 1),
    ):
        page.write_text(written)
        with pytest.raises(BrokenFileError, match="no page of a report"):
            verify_page(page)
    page.write_text(of('numbers-[^"]*', lambda panel: panel.update(algorithms=["\x1b[2J"])))
    done = bocu("verify", "formless.html")
    assert "hills, so: no numbers of the form that reports have\n" in done.output
    page.write_text(text.replace("PE-GP-UCB", "\x1b[2J" + 10**5 * "1"))
    assert all(line.isprintable() and len(line) < 2000 for line in bocu("verify", "formless.html").output.splitlines())


def test_several_experiments_share_a_page_that_is_verified_too(there):
    done = bocu("report", "tiny", "other.yaml")
    assert done.output == "reports/tiny-other/index.html\n", done.output
    assert "other/hills" in (there / "reports/tiny-other/index.html").read_text()
    verified = bocu("verify", "reports/tiny-other/index.html")
    assert verified.exit_code == 0, verified.output


def test_faults_of_the_user_are_one_line(there):
    (there / "none.html").write_text("<html></html>")
    for arguments, told in (
        (("verify", "none.html"), "none.html: no page of a report, or of an earlier version"),
        (("verify", "gone.html"), "gone.html: no such file"),
        (("verify", PAGE, "--config", "iterations=3"), "a page knows its experiments"),
        (("report", "tiny", "tiny"), "experiment 'tiny' is named twice"),
    ):
        assert told in str(bocu(*arguments).exception)
    file = there / "unmade.yaml"
    file.write_text(yaml.safe_dump(tiny(name="unmade", figures=[])))
    assert "results/unmade: no digests to make a page of" in str(bocu("report", "unmade.yaml").exception)
