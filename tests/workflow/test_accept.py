"""Finished runs under changed code, in the real pipeline: kept where rounds of them come out alike, else run again."""

import json
import os
import re
import subprocess

import pytest
from experiments import tiny
from workflow.conftest import WARM, Pipeline, clone_in, would_make

from bocu.core.io.files import read_netcdf
from bocu.core.io.hashes import sha256
from bocu.sweep.runs.accepting import ONE_IN

pytestmark = [pytest.mark.ci, pytest.mark.workflow]

EXPERIMENT = {"algorithms": ["random", "mle"], "figures": ["regret"]}
RUNS = "results/tiny/runs/hills/any/mle"
RULES = "src/bocu/learners/algorithms/time_varying.py"
CHOICE = "ratings.first_best([first_best(self.surrogate.log_evidence)])"
LATE = CHOICE.replace("(self.", "((-1 if self._round is not None and self._round.t == 10 else 1) * self.")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return clone_in(tmp_path_factory.mktemp("finished"), tiny(**EXPERIMENT))


@pytest.fixture
def clone(finished, tmp_path):
    subprocess.run(["cp", "-a", f"{finished.folder}/.", tmp_path], check=True)
    return Pipeline(tmp_path, {"PYTHONPATH": str(tmp_path / "src")})


def edit(clone, name, old, new):
    file = clone.folder / name
    text, second = file.read_text(), int(file.stat().st_mtime)
    assert old in text
    file.write_text(text.replace(old, new))
    os.utime(file, (second + 1, second + 1))  # bytecode is told apart by size and second alone


def runs(clone):
    return [read_netcdf(path) for path in sorted((clone.folder / RUNS).glob("*.nc"))]


def numbers(clone):
    return [run.drop_attrs(deep=False) for run in runs(clone)]


def accepted(clone, *arguments):
    return clone.run("bocu", "accept", "experiment.yaml", *arguments, check=False)


def planned(clone, rule):
    return len(re.findall(rf"^(?:local)?rule {rule}:", would_make(clone), re.MULTILINE))


def test_a_rename_and_a_faster_loop_are_accepted_and_a_moved_function_needs_no_word(clone):
    before = numbers(clone)
    edit(clone, RULES, "_WeightedPriors", "_WeighedPriors")
    assert planned(clone, "run") == 2
    said = accepted(clone)
    assert said.returncode == 0, said.stderr
    assert re.fullmatch(
        r"hills/any/mle: accepted, 2 run files: (10|12) of 12 rounds of seed [0-3].* came out alike, bit for bit\n",
        said.stdout,
    )
    assert "note" not in said.stderr
    assert (planned(clone, "run"), planned(clone, "score")) == (0, 1)
    edit(
        clone,
        RULES,
        f"return {CHOICE}",
        "best = first_best(self.surrogate.log_evidence)\n        return ratings.first_best([best])",
    )
    assert "accepted, 2 run files" in accepted(clone).stdout
    for run, numbers_before in zip(runs(clone), before, strict=True):
        first, second = map(json.loads, json.loads(run.attrs["accepted"]))
        assert (first["as"], second["as"], second["of"]) == (second["code"], run.attrs["fingerprint"], 12)
        assert run.drop_attrs(deep=False).identical(numbers_before)
    clone.run("snakemake", *WARM, "--configfile", "experiment.yaml")
    page = (clone.folder / "results/tiny/report/index.html").read_text()
    assert re.search(r"Accepted of other code.*?(10|12) of 12 rounds of a seed came out alike, bit for bit", page, re.S)

    home = "src/bocu/learners/algorithms/unknown_prior.py"
    moved = re.search(r"^def one_hot.*?(?=^\S)", (clone.folder / home).read_text(), re.MULTILINE | re.DOTALL)[0]
    edit(clone, home, moved, "")
    edit(clone, RULES, "    one_hot,\n", "")
    edit(
        clone, RULES, "from bocu.core.about", "from bocu.learners.algorithms.moved import one_hot\nfrom bocu.core.about"
    )
    (clone.folder / home).with_name("moved.py").write_text(f"import numpy as np\n\n\n{moved}")
    assert planned(clone, "run") == 0
    assert accepted(clone).stdout == "results/tiny: no run file is out of date by changed code alone\n"


def test_other_digits_are_refused_with_their_round_and_quantity_as_far_as_they_are_played(clone):
    files = sorted((clone.folder / RUNS).glob("*.nc"))
    before = [file.read_bytes() for file in files]
    edit(clone, "src/bocu/learners/algorithms/beliefs.py", "math.sqrt(2.0 *", "math.sqrt(3.0 *")
    said = accepted(clone)
    assert said.returncode == 1
    assert re.fullmatch(
        rf"hills/any/mle: not accepted: {RUNS}/seeds-\d-\d\.nc: round 1: \w+: \d+ of 1[02] entries differ, .*\n",
        said.stdout,
    )
    assert [file.read_bytes() for file in files] == before
    edit(clone, "src/bocu/learners/algorithms/beliefs.py", "math.sqrt(3.0 *", "math.sqrt(2.0 *")

    edit(clone, RULES, CHOICE, LATE)
    said = accepted(clone, "--rounds", "12")
    assert said.returncode == 1
    assert ": round 11: " in said.stdout
    whole = [int(sha256(file), 16) // 2 % ONE_IN == 0 for file in files]
    assert accepted(clone).returncode == any(whole)  # ten rounds do not see it


def test_the_pipeline_accepts_before_it_reruns_where_the_experiment_says_so(clone):
    before = numbers(clone)
    sweep = ("snakemake", *WARM, "--configfile", "experiment.yaml", "--config", "code=accept")
    assert "Nothing to be done" in clone.run(*sweep).stderr
    edit(clone, RULES, "_WeightedPriors", "_WeighedPriors")
    clone.run(*sweep)
    log = (clone.folder / "results/tiny/logs/runs/hills/any/mle/seeds-0-1.log").read_text()
    assert re.search(r"accepted: (10|12) of 12 rounds of seed [01] came out alike", log)
    assert "stands already" in log
    assert all("accepted" in run.attrs for run in runs(clone))
    assert all(now.identical(then) for now, then in zip(numbers(clone), before, strict=True))
    assert planned(clone, "run") == 0

    edit(clone, "src/bocu/learners/algorithms/beliefs.py", "math.sqrt(2.0 *", "math.sqrt(3.0 *")
    clone.run(*sweep)
    log = (clone.folder / "results/tiny/logs/runs/hills/any/mle/seeds-0-1.log").read_text()
    assert re.search(r"not accepted, run again: round 1: \w+: ", log)
    assert not any("accepted" in run.attrs for run in runs(clone))
    assert not any(now.identical(then) for now, then in zip(numbers(clone), before, strict=True))


def test_more_rounds_continue_what_was_accepted(clone):
    edit(clone, RULES, "_WeightedPriors", "_WeighedPriors")
    longer = ("--configfile", "experiment.yaml", "--config", "iterations=15")
    clone.run("snakemake", *WARM, *longer, "code=accept")
    log = (clone.folder / "results/tiny/logs/runs/hills/any/mle/seeds-0-1.log").read_text()
    assert "continuing its 12 iterations" in log
    grown = runs(clone)
    assert all("accepted" in run.attrs for run in grown)
    clone.run("snakemake", *WARM, *longer, "name=fresh", "--", "results/fresh/runs/hills/any/mle/seeds-0-1.nc")
    done = clone.run("bocu", "diff", f"{RUNS}/seeds-0-1.nc", f"{RUNS}/seeds-0-1.nc".replace("tiny", "fresh"))
    assert "identical" in done.stdout
