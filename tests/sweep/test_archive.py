"""The archive of the clone: read by xarray alone, known by identities, compared without a run."""

import copy
import re
from collections import Counter
from dataclasses import replace

import pytest
import typer
import yaml

from bocu.commands.main import app
from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.io.hashes import sha256
from bocu.sweep.archive.comparing import board, meetings, met_by, own_entry
from bocu.sweep.archive.entries import Archive, ArchivedFile, faults, refuse_places
from bocu.sweep.archive.identities import Identities, identity_of
from bocu.sweep.archive.replays import Again
from bocu.sweep.evaluation.claims.reduced import read_reduced, with_identities

OUTSIDER = "harbour.nc"


@pytest.fixture(scope="module")
def outsider(root):
    file = root / "docs/results" / OUTSIDER
    return ArchivedFile(file, read_reduced(file))


def only(entry, *algorithms):
    """The entry of results with some of its methods alone."""
    numbers = dict(entry.reduced.problems)
    for label, own in numbers.items():
        numbers[label] = own.named({})
        kept = {name: objectives for name, objectives in own.known.algorithms.items() if name in algorithms}
        numbers[label].known = replace(own.known, algorithms=kept)
    found = Identities(dict(entry.reduced.stated), dict(entry.reduced.identities))
    return own_entry("mine", numbers, found, entry.reduced.about)


def test_the_five_lines_of_the_page_read_a_file(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    code = re.search(r"```python\n(.*?)```", (root / "docs/archive.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    assert len(code.split("\n\n")[1].splitlines()) == 4  # and the import
    exec(code, {})
    told = capsys.readouterr().out
    numbers = read_reduced(root / "docs/results/kirschner2020.nc").problems.values()
    assert all(method in told for one in numbers for method in one.known.algorithms)


def test_the_outsiders_entry_belongs_was_played_again_and_says_who_made_it(root, outsider):
    assert list(faults(outsider, Archive(root / "docs/results"))) == []
    assert outsider.checked["regrets"]["equal bits"] > 0  # of this very file: the note holds its hash
    assert "outsider" in outsider.added
    assert {run.algorithm for run in outsider.runs} == {"robust-botorch", "in-turn", "ts-bocu", "random"}
    assert all(identity_of(stated) == identity for identity, stated in outsider.reduced.stated.items())


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("stated", None, [1]),
        ("stated", "class", 3),
        ("stated", "parameters", {"objective": 3}),
        ("identities", "problem", None),
        ("identities", "algorithms", {}),
        ("identities", "metrics", {"median": "x"}),
        ("about", "algorithms", {}),
        ("about", "algorithms", {"random": {"title": "", "look": "none of ours", "yardstick": "no"}}),
        ("about", "config", "rm"),
    ],
)
def test_identities_of_another_form_are_a_broken_file(tmp_path, outsider, part, key, value):
    data = read_netcdf(outsider.file)
    held = {each: copy.deepcopy(getattr(outsider.reduced, each)) for each in ("stated", "identities", "about")}
    place = held[part] if part == "about" else next(iter(held[part].values()))
    if key is None:
        held[part][next(iter(held[part]))] = value
    else:
        place[key] = value
    file = tmp_path / "strange.nc"
    write_netcdf(with_identities(data, *held.values()), file)
    with pytest.raises(BrokenFileError, match=r"strange\.nc"):
        read_reduced(file)


def test_one_method_meets_all_others_of_its_problem_on_the_same_seeds(root, outsider):
    archive = Archive(root / "docs/results")
    mine = only(outsider, "random")
    met = [run for run in met_by(mine, archive) if run.entry.file.name == OUTSIDER]
    assert {run.algorithm for run in met} == {"robust-botorch", "in-turn", "ts-bocu"}
    found = list(meetings(mine, met))
    assert {each.metric for each in found} == {"robust", "median"}
    for each in found:
        assert len(each.table.competing) == len(each.table.regrets) == 4
        for key, own in each.table.regrets.items():
            run = each.runs[key]
            assert set(own) == run.seeds
    assert list(met_by(only(outsider, *outsider.reduced.about["algorithms"]), archive)) == []


def test_on_the_board_every_problem_that_several_played_stands_once_under_each_metric_of_any_file(root):
    archive = Archive(root / "docs/results")
    found = [
        (of["problem"], met.objective, of["metrics"][met.metric])
        for entry, met in board(archive)
        for of in [entry.reduced.identities[met.problem]]
    ]
    assert len(found) == len(set(found))
    methods = {(run.key[0], run.algorithm) for entry in archive.entries for run in entry.runs}
    played = Counter(problem for problem, _ in methods)
    asked = {
        (of["problem"], metric)
        for entry in archive.entries
        for of in entry.reduced.identities.values()
        for metric in of["metrics"].values()
        if played[of["problem"]] > 1
    }
    assert {(problem, metric) for problem, _, metric in found} == asked
    shown = {entry.file.stem for entry, met in board(archive) if met.problem == "plant-jump"}
    assert shown == {"shifts-1"}, "twelve methods there, three of them again in shifts-1-fresh, on other seeds"
    hills = read_reduced(root / "docs/results/ziomek2025.nc").identities["hills"]["problem"]
    shown = {
        entry.file.stem for entry, met in board(archive) if entry.reduced.identities[met.problem]["problem"] == hills
    }
    assert shown == {"ziomek2025"}, "a hundred seeds there, thirty of as many methods in ziomek2025-continuous"


def test_a_longer_run_of_the_same_seeds_is_no_duplicate(root):
    archive = Archive(root / "docs/results")
    (longer,) = (entry for entry in archive.entries if entry.file.stem == "huang2024-350")
    shorter = next(entry for entry in archive.entries if entry.file.stem == "huang2024")
    assert all(run.seeds < other.seeds for run in longer.runs for other in shorter.runs if run.key == other.key)
    assert list(faults(longer, archive)) == []


def test_who_has_few_seeds_leaves_nothing_open_that_others_decide(root):
    """`shifts-1-peers.nc` has ten seeds of methods on a problem that twelve others have thirty of."""
    archive = Archive(root / "docs/results")
    (few,) = (entry for entry in archive.entries if entry.file.stem == "shifts-1-peers")
    suite = read_reduced(root / "docs/results/shifts-1.nc").identities
    assert all(suite[label]["problem"] == of["problem"] for label, of in few.reduced.identities.items())
    beside = next(one for one in meetings(few, list(met_by(few, archive))) if one.problem == "plant-jump")
    (shown,) = (
        one for _, one in board(archive) if (one.problem, one.objective, one.metric) == ("plant-jump", "tv-0p5", "met")
    )
    assert "Emukit" in beside.titles.values()
    assert "Emukit" not in shown.titles.values()
    assert "leading" in shown.table.standing.values()
    assert min(map(len, shown.table.regrets.values())) == 30


#: Versions of the board that are frozen.
FROZEN = {"board-1.csv": "b8795e772c5ffe4c757bf93380b9d7323e153188cb2af49502021fe2c7627a7c"}


def test_what_another_file_scores_by_a_metric_of_its_own_is_judged_by_that_alone(root):
    """`tay2024-true-bound.nc` has the problems of `tay2024.nc`, and no metric of its objectives under the MMD."""
    met = [met for entry, met in board(Archive(root / "docs/results")) if entry.file.name.startswith("tay2024")]
    assert met
    assert {one.problem for one in met if one.objective not in ("any", one.metric)} == set()


def test_a_frozen_board_never_changes(root):
    assert {file.name: sha256(file) for file in (root / "docs").glob("board-*.csv")} == FROZEN


def test_a_label_of_another_method_is_told(root, outsider):
    stated = {**outsider.reduced.stated}
    ours = dict(outsider.reduced.identities["harbour"])
    other = {**stated[ours["algorithms"]["ts-bocu"]], "probe": "0" * 16}
    stated[identity_of(other)] = other
    ours["algorithms"] = {**ours["algorithms"], "ts-bocu": identity_of(other)}
    theirs = replace(outsider.reduced, stated=stated, identities={"harbour": ours})
    archive = Archive(root / "docs/results")
    archive.__dict__["entries"] = [outsider]
    told = list(faults(ArchivedFile(root / "mine.nc", theirs), archive))
    assert len(told) == 1
    assert told[0].startswith("label 'ts-bocu': on 'harbour' harbour.nc has another method under it, ")


def test_strangers_files_are_played_by_a_workflow_that_may_only_read(root):
    text = (root / ".github/workflows/archive.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert set(workflow[True]) == {"pull_request"}  # YAML's `on`
    assert workflow["permissions"] == {}
    assert all(job["permissions"] == {"contents": "read"} for job in workflow["jobs"].values())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert [step["with"]["persist-credentials"] for step in steps if "checkout" in step.get("uses", "")] == [False]
    assert "secrets." not in text
    assert "--trust" not in text


def test_a_kernel_is_no_place_and_what_may_be_one_is(tmp_path):
    refuse_places({"parameters": {"model": {"kernel": "matern-5/2"}}}, tmp_path)
    for place in ("matern-5/2/..", "~", "of\\own"):
        with pytest.raises(BocuError, match="which may be a place; not read without --trust"):
            refuse_places({"algorithms": [{"name": place}]}, tmp_path)


def test_a_file_plans_the_problems_that_it_has_by_the_experiment_that_it_holds(root, tmp_path):
    entries = Archive(root / "docs/results").entries
    swept = [entry for entry in entries if "sweep" in entry.reduced.about.get("config", {})]
    assert len(swept) > 3
    for entry in swept:
        plan, _ = Again(entry.file, entry.reduced).plan(entry.reduced.seeds[:1], tmp_path)
        assert set(entry.reduced.problems) <= set(plan.problems), entry.file.name


def test_no_command_trusts_files_unless_it_is_asked_to():
    commands = list(typer.main.get_command(app).commands.values())
    for command in commands:
        commands += getattr(command, "commands", {}).values()
    trusting = [option for command in commands for option in command.params if option.name == "trust"]
    assert len(trusting) > 10
    assert not any(option.default for option in trusting)
