"""Files that are none, or not what they should be: one line, and nothing of anybody else's is replaced."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml
from bad_configurations import grid
from experiments import tiny
from test_bad_configurations import assert_one_readable_line, called

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.io.yaml_files import read_yaml
from bocu.core.loading import refuse_unknown_classes
from bocu.robust.ambiguity import TotalVariation
from bocu.robust.ambiguity import worst_case as solve
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.execution import replayed_to

# What is no file


def make_folder(path):
    path.mkdir()


def make_circle(path):
    path.symlink_to(path.name)


def make_large(path):
    with path.open("wb") as file:
        file.truncate(100_000_000)


STRANGE = {
    "a folder": (make_folder, "found a folder"),
    "a pipe": (os.mkfifo, "found a pipe"),
    "a link in a circle": (make_circle, "symbolic links"),
    "a link to nothing": (lambda path: path.symlink_to("nothing"), "no such file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "found a device"),
    "100 MB": (make_large, "100 MB; allowed: up to 4 MB"),
    "nothing": (lambda path: None, "no such file"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_what_is_no_experiment_file_gets_one_line(kind, tmp_path, monkeypatch, capsys):
    make, says = STRANGE[kind]
    path = tmp_path / "strange.yaml"
    make(path)
    status, _, error = called(monkeypatch, capsys, "check", path)
    assert_one_readable_line(status, error, path, [says])


# Encodings that are read


def test_a_merge_may_be_overridden(tmp_path):
    path = tmp_path / "merged.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: {x: 4, <<: *a}\n")
    assert read_yaml(path) == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}, "c": {"x": 4, "y": 2}}


# CSV as spreadsheets write it


GOOD = "reference,a,b\n0.5,1.5,2\n0.5,0.25,-1\n"
SHEETS = {
    "a byte order mark": GOOD.encode("utf-8-sig"),
    "semicolons": GOOD.replace(",", ";").encode(),
    "semicolons and decimal commas": GOOD.replace(",", ";").replace(".", ",").encode(),
    "tabs": GOOD.replace(",", "\t").encode(),
    "tabs and decimal commas": GOOD.replace(",", "\t").replace(".", ",").encode(),
    "Windows line ends": GOOD.replace("\n", "\r\n").encode("utf-8-sig"),
    "quotes": GOOD.replace("1.5", '"1.5"').encode(),
    "empty lines": GOOD.replace("\n", "\n\n").encode(),
}


def worst_case(path, monkeypatch, capsys, *options):
    return called(monkeypatch, capsys, "worst-case", path, "--epsilon", "0.3", *options)


@pytest.mark.parametrize("sheet", SHEETS)
def test_a_sheet_says_the_same_however_it_is_written(sheet, tmp_path, monkeypatch, capsys):
    plain, other = tmp_path / "plain.csv", tmp_path / "other.csv"
    plain.write_text(GOOD)
    other.write_bytes(SHEETS[sheet])
    expected = worst_case(plain, monkeypatch, capsys)
    assert expected[1].startswith("decision,value,slope,q1,q2\na,")
    assert worst_case(other, monkeypatch, capsys) == expected


BAD_SHEETS = {
    "cp1252": (GOOD.replace("a", "ä", 1).replace("reference", "reference").encode("cp1252"), "not UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), "found text in UTF-16"),
    "decimal commas beside commas": (GOOD.replace("1.5", '"1,5"').encode(), "line 2, column a: '1,5' is not a number"),
    "underscores": (b"reference,a\n1,1_000\n", "'1_000' is not a number"),
    "an open quote": (b'reference,a\n1,"2\n', "not CSV"),
    "a column twice": (b"reference,a,a\n1,2,3\n", "'a' stands twice"),
    "nothing": (b"", "a header and one row"),
    "a long cell": (b"reference,a\n1," + b"x" * 1_000_000, "line 2"),
    "no number": (GOOD.replace("1.5", "nan").encode(), "is nan"),
}


@pytest.mark.parametrize("sheet", BAD_SHEETS)
def test_a_wrong_sheet_gets_one_line(sheet, tmp_path, monkeypatch, capsys):
    content, says = BAD_SHEETS[sheet]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    status, out, err = worst_case(path, monkeypatch, capsys)
    assert out == ""
    assert_one_readable_line(status, err, path, [says])


def test_a_broken_netcdf_file_gets_one_line(tmp_path, monkeypatch, capsys):
    path = tmp_path / "broken.nc"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(200))
    status, _, err = worst_case(path, monkeypatch, capsys)
    assert_one_readable_line(status, err, path, ["not a readable NetCDF file"])


def test_text_in_netcdf_gets_one_line(tmp_path, monkeypatch, capsys):
    path = tmp_path / "text.nc"
    payoffs = (("decision", "context"), np.array([["a", "b"]], dtype=object))
    xr.Dataset({"payoffs": payoffs, "reference": ("context", [0.5, 0.5])}).to_netcdf(path)
    status, _, err = worst_case(path, monkeypatch, capsys)
    assert_one_readable_line(status, err, path, ["payoffs must be an array of real numbers"])


@pytest.mark.parametrize("option", ["--lengthscale", "--alpha", "--k"])
def test_an_option_that_the_set_ignores_gets_one_line(option, tmp_path, monkeypatch, capsys):
    path = tmp_path / "payoffs.csv"
    path.write_text(GOOD)
    status, out, err = worst_case(path, monkeypatch, capsys, option, "0.5")
    assert (status, out) == (1, "")
    assert err.startswith(f"error: {option}: found '0.5'; the set 'tv' has no such key")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--epsilon", "1e300"), "--epsilon: found 1e+300; allowed: up to 1e+12, or inf"),
        (("--radius", "0.1"), "--radius: the radius is --epsilon here"),
    ],
)
def test_a_radius_that_none_means_gets_one_line(options, says, tmp_path, monkeypatch, capsys):
    path = tmp_path / "payoffs.csv"
    path.write_text(GOOD)
    assert worst_case(path, monkeypatch, capsys, *options) == (1, "", f"error: {says}\n")


def test_a_radius_beyond_all_distances_is_noted(tmp_path, monkeypatch, capsys):
    path = tmp_path / "payoffs.csv"
    path.write_text(GOOD)
    status, out, err = worst_case(path, monkeypatch, capsys, "--epsilon", "3")
    assert err == "note: --epsilon: 3 is beyond 2, the largest by 'tv': every distribution is in the set\n"
    assert (status, out) == worst_case(path, monkeypatch, capsys, "--epsilon", "2")[:2]
    assert worst_case(path, monkeypatch, capsys, "--epsilon", "2")[2] == ""
    sets = [("tv", 2.0), ("tv", 2.1), ("mmd", [1, 1.5]), ("kl", 1e11), ("tv", "margin")]
    dro = [
        {"name": "dro", "label": f"dro-{i}", "parameters": {"set": {"name": name, "radius": radius}}}
        for i, (name, radius) in enumerate(sets)
    ]
    assert [note.partition(" is beyond")[0] for note in make_plan(grid(objectives=dro)).notes()] == [
        "objective 'dro-1': set.radius: 2.1",
        "objective 'dro-2': set.radius: 1.5",
    ]


# Where a command may write


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("run --experiment tiny.yaml --problem hills --algorithm random", "--output"),
        ("design run.nc", "--output"),
        ("reduce results/tiny", "--output"),
        ("schema", "--output"),
        ("report tiny", "--output"),
        ("suggest log.csv", "--report"),
        ("replay log.csv", "--report"),
    ],
)
def test_a_folder_that_is_missing_is_named_and_not_made(command, option, elsewhere, monkeypatch, capsys):
    said = f"error: {option}: found new/file; there is no folder new; make it first, or name another\n"
    assert called(monkeypatch, capsys, *command.split(), option, "new/file") == (1, "", said)
    assert not list(elsewhere.iterdir())


# What a run may replace


def run(monkeypatch, capsys, output, *more, experiment="tiny.yaml"):
    words = ["run", "--experiment", experiment, "--problem", "hills", "--algorithm", "random", "--output", output]
    status, _, error = called(monkeypatch, capsys, *words, "--iterations", "2", *more)
    return status, error


def foreign_text(path):
    path.write_text("my thesis")


def foreign_netcdf(path):
    xr.Dataset({"temperature": ("time", [1.0])}).to_netcdf(path)


FOREIGN = {
    "text": (foreign_text, "no run file"),
    "NetCDF": (foreign_netcdf, "no run file"),
    "a folder": (make_folder, "found a folder"),
    "a pipe": (os.mkfifo, "found a pipe"),
    "a link in a circle": (make_circle, "symbolic links"),
    "a device": (lambda path: path.symlink_to("/dev/null"), "found a device"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_run_replaces_nothing_but_a_run_file(kind, elsewhere, monkeypatch, capsys):
    (elsewhere / "tiny.yaml").write_text(yaml.safe_dump(tiny()))
    make, says = FOREIGN[kind]
    output = elsewhere / "out.nc"
    make(output)
    before = os.lstat(output)
    status, error = run(monkeypatch, capsys, output)
    assert status == 1
    assert error.count("\n") == 1
    assert says in error
    after = os.lstat(output)
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (before.st_ino, before.st_mtime_ns, before.st_size)
    assert sorted(path.name for path in elsewhere.iterdir()) == ["out.nc", "tiny.yaml"]


def test_a_run_takes_the_name_of_an_experiment(elsewhere, monkeypatch, capsys):
    (elsewhere / "config/experiments").mkdir(parents=True)
    (elsewhere / "config/experiments/any.yaml").write_text(yaml.safe_dump(tiny()))
    assert run(monkeypatch, capsys, "out.nc", experiment="tiny") == (0, "")
    assert Path("out.nc").is_file()


@pytest.mark.parametrize(("option", "value"), [("--seed", "-1"), ("--seed", str(2**63)), ("--seeds", "1000000000")])
def test_seeds_that_no_run_file_holds_get_one_line(elsewhere, monkeypatch, capsys, option, value):
    (elsewhere / "tiny.yaml").write_text(yaml.safe_dump(tiny()))
    status, error = run(monkeypatch, capsys, "out.nc", option, value)
    assert (status, error.count("\n")) == (1, 1)
    assert error.startswith("error: --seed, --seeds: ")


# What a file may ask to import


def test_a_run_file_imports_nothing_that_is_not_registered(elsewhere, monkeypatch, capsys):
    (elsewhere / "tiny.yaml").write_text(yaml.safe_dump(tiny()))
    assert run(monkeypatch, capsys, "out.nc")[0] == 0
    (elsewhere / "trap.py").write_text("from pathlib import Path\nPath('sprung').touch()\nclass Trap: pass\n")
    monkeypatch.syspath_prepend(str(elsewhere))
    # As somebody writes it who means harm: with a seal of its own.
    data = read_netcdf("out.nc")
    specification = json.loads(data.attrs["specification"])
    specification["algorithm"]["class"] = "trap:Trap"
    write_netcdf(data.assign_attrs(specification=json.dumps(specification)), "out.nc")
    with pytest.raises(BocuError, match=r"out\.nc: asks to import 'trap:Trap', which is neither registered"):
        replayed_to("out.nc", {}, 0, 1)
    assert not Path("sprung").exists()


def test_a_divergence_in_a_file_is_imported_only_where_the_experiment_names_it():
    recorded = {
        "objective": {
            "class": "bocu.robust.objectives.functions:DistributionallyRobust",
            "parameters": {"set": {"phi": "a:b"}},
        }
    }
    with pytest.raises(BocuError, match="asks to import 'a:b'"):
        refuse_unknown_classes(recorded, "a file")
    refuse_unknown_classes(recorded, "a file", ["a:b"])


# A full disk that also holds the log


JOB = """
import types
from pathlib import Path
from bocu.core.errors import BocuError
from bocu.core.io.files import write_text
from bocu.sweep.jobs import job
Path({filler!r}).write_bytes(b"x")
with job(types.SimpleNamespace(log=[{log!r}], output=[], params={{}}, input=[], rule="score")):
    try:
        with open({filler!r}, "wb") as file:
            file.write(bytes(10_000_000))
    except OSError:
        pass
    {then}
"""


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", disk], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.mark.parametrize(
    ("then", "says"),
    [
        ("write_text({target!r}, 'x' * 100_000)", "could not be written: No space left on device"),
        ("raise BocuError('a fault of the user')", "a fault of the user"),
        ("raise ValueError('a fault of ours')", "ValueError: a fault of ours (no room for the traceback in "),
    ],
)
def test_a_full_disk_that_holds_the_log_gets_one_line(small_disk, then, says):
    names = {"filler": str(small_disk / "filler"), "log": str(small_disk / "job.log")}
    script = JOB.format(then=then.format(target=str(small_disk / "target")), **names)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert says in done.stderr


# The public functions


@pytest.mark.parametrize(
    ("payoffs", "says"),
    [
        (np.array([1.0 + 2.0j, 1.0]), "complex128"),
        ([1.0 + 0.0j, 1.0], "complex128"),
        (np.ma.masked_array([1.0, 2.0], mask=[False, True]), "masked in places"),
        ([np.ma.masked_array([1.0, 2.0], mask=[False, True])], "masked in places"),
        (np.array([1.0, 2.0], dtype=object), "dtype object"),
        (["1", "2"], "dtype <U1"),
        (np.array(["2004-01-01", "2004-01-02"], dtype="datetime64[D]"), "datetime64"),
        ([[1.0, 2.0], [1.0]], "array of real numbers"),
        ({"a": 1.0}, "dtype object"),
    ],
)
def test_payoffs_are_real_numbers(payoffs, says):
    ambiguity_set, p = TotalVariation(0.1), np.array([0.5, 0.5])
    everything = [lambda: solve(payoffs, p, ambiguity_set)]
    for objective in (
        UncertaintyObjective.so(),
        UncertaintyObjective.dro(ambiguity_set),
        UncertaintyObjective.wcs(ambiguity_set),
    ):
        everything.append(lambda objective=objective: objective(payoffs, p))
    for call in everything:
        with pytest.raises(BocuError, match="payoffs ") as caught:
            call()
        assert says in str(caught.value)


def test_complex_tensors_are_refused():
    torch = pytest.importorskip("torch")
    payoffs, p, ambiguity_set = torch.tensor([1.0 + 2.0j, 1.0]), np.array([0.5, 0.5]), TotalVariation(0.1)
    objectives = (UncertaintyObjective.so(), UncertaintyObjective.ro(), UncertaintyObjective.dro(ambiguity_set))
    for call in (solve, *(lambda f, p, _, o=objective: o(f, p) for objective in objectives)):
        with pytest.raises(BocuError, match="real numbers"):
            call(payoffs, p, ambiguity_set)


# A plan knows before the first job what jobs refuse


def test_what_is_written_out_as_the_default_of_another_set_is_refused_only_where_it_is_written():
    given = {"name": "dro", "parameters": {"set": {"name": "mmd", "lengthscale": 0.1, "radius": 0.1}}}
    plan = make_plan(grid(objectives=[given]))
    (branch,) = [branch for branch in plan.branches.values() if branch.objective]
    assert branch.specification["objective"]["parameters"]["set"]["lengthscale"] == 0.1
