"""The commands around a sweep, on results that the real pipeline made."""

import os
import re
import shutil
import subprocess

import netCDF4
import pytest
from experiments import SENSORS, tiny
from workflow.conftest import Pipeline

from bocu.core.io.files import open_netcdf, read_netcdf
from bocu.core.io.hashes import record_digest
from bocu.core.io.lineage import SEAL, seal

pytestmark = pytest.mark.workflow

RUN = "results/tiny/runs/hills/any/pe-gp-ucb/seeds-0-1.nc"
RANDOM = "results/tiny/runs/hills/any/random/seeds-0-1.nc"
SCORE = "results/tiny/scores/hills/any/pe-gp-ucb.nc"
CUBE = "results/tiny/cubes/hills.nc"
PRIOR = "results/{}/priors/sensors/2004-03-01.nc"


@pytest.fixture(scope="module")
def made(tmp_path_factory, root):
    """The results of a small experiment, made once; tests copy them."""
    pipeline = Pipeline(tmp_path_factory.mktemp("made"))
    (pipeline.folder / "data").mkdir()
    shutil.copy(root / "data/sources.yaml", pipeline.folder / "data")
    pipeline.snakemake("--configfile", pipeline.configuration(tiny()), "--", CUBE)
    return pipeline.folder


@pytest.fixture
def there(made, pipeline):
    """A pipeline in a copy of them; links stay links."""
    subprocess.run(["cp", "-a", f"{made}/.", pipeline.folder], check=True)
    return pipeline


def why(pipeline, file, *arguments, experiment="experiment.yaml"):
    done = pipeline.run("bocu", "why", file, "--experiment", experiment, *arguments)
    assert done.stderr == ""
    return [line.strip() for line in done.stdout.splitlines()]


def change(pipeline, **changes):
    return pipeline.configuration(tiny(**changes))


def own_library(pipeline, root):
    package = pipeline.folder / "library/bocu"
    shutil.copytree(root / "src/bocu", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(root / "workflow/scripts", pipeline.folder / "workflow/scripts")
    pipeline.environment["PYTHONPATH"] = str(package.parent)
    return package


# why


def test_a_changed_parameter_is_named_with_both_values_and_only_in_its_branch(there):
    change(there, algorithms=["random", {"name": "pe-gp-ucb", "parameters": {"delta": 0.2}}])
    lines = why(there, RUN)
    assert lines[0] == f"{RUN}: stale"
    assert len(lines) == 2
    assert lines[1].startswith("algorithm.parameters.delta: ")
    assert lines[1].endswith(" -> 0.2")
    assert why(there, RANDOM) == [f"{RANDOM}: up to date"]
    cube = why(there, CUBE)
    assert f"because of {SCORE}:" in cube
    assert f"because of {RUN} and 1 more:" in cube
    assert not any("random" in line for line in cube)


def test_iterations_seeds_metrics_and_missing_files_are_told(there):
    change(there, iterations=20)
    assert why(there, RUN)[1] == "iterations: 12 -> 20"
    assert "note: the results were last made with another setting: iterations: 12 -> 20" in why(there, RUN)
    change(there, metrics=["so", "best-fixed-decision"])
    assert why(there, RUN) == [f"{RUN}: up to date"]
    assert any(line.startswith("metrics.best-fixed-decision: (none) -> ") for line in why(there, SCORE))
    change(there, seeds={"count": 6, "per_job": 2})
    assert f"because of {RUN.replace('0-1', '4-5')}:" in why(there, SCORE)
    assert "not made yet" in why(there, SCORE)
    change(there, seeds={"count": 4, "per_job": 3})
    assert why(there, RUN)[1].startswith("not part of the experiment: its blocks of seeds are 0-2, 3-3;")


def test_an_input_that_was_only_touched_makes_nothing_stale_and_one_with_other_contents_does(there):
    config = there.folder / "experiment.yaml"
    os.utime(there.folder / RUN)
    assert why(there, SCORE) == [f"{SCORE}: up to date"]
    assert there.planned("--configfile", config, "--", SCORE) == {}
    with netCDF4.Dataset(there.folder / RUN, "a") as data:
        data["payoff"][:] += 1.0
    assert why(there, SCORE)[1:] == [f"older than its input {RUN}"]
    assert there.planned("--configfile", config, "--", SCORE) == {"score": 1}


def edit(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_the_changed_definition_is_named_and_comments_are_none(there, root):
    package = own_library(there, root)
    simple = package / "learners/algorithms/simple.py"
    simple.write_text(simple.read_text() + "\n# a comment\nANOTHER = 1\n")
    assert why(there, RANDOM) == [f"{RANDOM}: up to date"]
    edit(
        simple,
        "class Random(WithoutModel[RandomParameters]):",
        "class Random(WithoutModel[RandomParameters]):\n    another = 1\n",
    )
    assert why(there, RANDOM)[1:] == ["code: bocu/learners/algorithms/simple.py: Random changed"]
    assert why(there, RUN) == [f"{RUN}: up to date"]
    edit(
        package / "sweep/runs/protocol.py", "epsilon = self._ambiguity.epsilon(", "epsilon = +self._ambiguity.epsilon("
    )
    assert "code: bocu/sweep/runs/protocol.py: Announcer changed" in why(there, RUN)
    edit(package / "sweep/evaluation/cubes.py", "def build_cube(", "def _unused():\n    return 1\n\n\ndef build_cube(")
    assert not any("bocu/sweep/evaluation/cubes.py" in line for line in why(there, CUBE))
    edit(package / "sweep/evaluation/cubes.py", "def build_cube(", "@staticmethod\ndef build_cube(")
    line = next(line for line in why(there, CUBE) if line.startswith("code: changed"))
    assert "bocu/sweep/evaluation/cubes.py" in line


def test_the_experiment_is_found_by_the_name_in_the_path(there):
    folder = there.folder / "config/experiments"
    folder.mkdir(parents=True)
    (there.folder / "experiment.yaml").rename(folder / "whatever.yaml")
    assert there.run("bocu", "why", RUN).stdout == f"{RUN}: up to date\n"
    assert there.run("bocu", "why", there.folder / RUN).stdout == f"{RUN}: up to date\n"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("results/other/runs/a/b/c/d.nc", "belongs to 'other', the experiment is 'tiny'"),
        ("somewhere.nc", "not a file of an experiment"),
        ("results/tiny/experiment.json", "nothing is known of it; allowed: a file under runs, "),
    ],
)
def test_why_refuses_what_it_does_not_know(there, file, message):
    done = there.run("bocu", "why", file, "--experiment", "experiment.yaml", check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


# plan


def table(text, first):
    """Return the rows of the table with this first heading, by their first cell."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == [first])
    rows = {}
    for line in lines[start + 1 :]:
        if not line.strip():
            break
        rows[line.split()[0]] = line.split()[1:]
    return rows


def test_plan_counts_what_is_done_and_what_would_run(there):
    text = there.run("bocu", "plan", "experiment.yaml", "--cores", "3").stdout
    assert text.startswith("results/tiny: 1 problem, 2 branches, 8 runs in 4 jobs of up to 2 seeds")
    stages = table(text, "stage")
    assert stages["runs"] == ["4", "4", "0"]
    assert stages["scores"] == ["2", "2", "0"]
    assert stages["cubes"] == ["2", "1", "1"]
    assert stages["figures"] == ["1", "0", "1"]
    assert "2 run files" in text
    assert "on 3 cores" in text
    change(there, seeds={"count": 8, "per_job": 2}, algorithms=["random", "pe-gp-ucb", "mle"])
    text = there.run("bocu", "plan", "experiment.yaml").stdout
    stages = table(text, "stage")
    assert stages["runs"] == ["12", "4", "8"]
    assert stages["scores"] == ["3", "0", "3"]
    assert "model" in next(line for line in text.splitlines() if " mle " in line)
    planned = there.planned("--configfile", there.folder / "experiment.yaml", "--", CUBE)
    assert planned == {"run": 8, "score": 3, "cube": 1}


def test_plan_says_what_another_experiment_ran(there):
    there.configuration(tiny(name="other", algorithms=["random", "mle"]), "other.yaml")
    assert "2 of the run jobs take over" in there.run("bocu", "plan", "other.yaml").stdout


# status


def test_status_follows_a_sweep_from_nothing_to_the_end(there):
    counts = status(there, "experiment.yaml")
    assert counts == {
        "blocks": 4,
        "done": 4,
        "stale": 0,
        "running": 0,
        "queued": 0,
        "failed": 0,
        "missing": 0,
        "rounds": 100,
    }
    assert "all runs are done" in there.run("bocu", "status", "experiment.yaml", "--watch", "0.1").stdout
    change(there, iterations=20)
    assert status(there, "experiment.yaml")["stale"] == 4
    (there.folder / RUN).unlink()
    assert status(there, "experiment.yaml") | {"rounds": 0} == {
        "blocks": 4, "done": 0, "stale": 3, "running": 0, "queued": 0, "failed": 0, "missing": 1, "rounds": 0
    }  # fmt: skip


def status(pipeline, experiment):
    text = pipeline.run("bocu", "status", experiment).stdout
    head = next(line for line in text.splitlines() if line.startswith("problem")).split()[3:10]
    return dict(zip([*head, "rounds"], map(int, table(text, "problem")["all"][:8]), strict=True))


# prune


def listed(pipeline, *arguments):
    text = pipeline.run("bocu", "prune", "experiment.yaml", *arguments).stdout
    return {word for line in text.splitlines() for word in line.split() if word.startswith("results/")}


def test_prune_lists_exactly_what_the_plan_no_longer_names_and_deletes_it_when_told(there):
    assert there.run("bocu", "prune", "experiment.yaml").stdout == "results/tiny: nothing to prune\n"
    before = {path for path in there.folder.rglob("*") if path.is_file()}
    change(there, seeds={"count": 5, "per_job": 3}, algorithms=["pe-gp-ucb"])
    gone = {f"results/tiny/{kind}/hills/any/random/seeds-{block}.{suffix}"
            for kind, suffix in (("runs", "nc"), ("logs/runs", "log"), ("benchmarks/runs", "tsv"))
            for block in ("0-1", "2-3")}  # fmt: skip
    gone |= {name.replace("random", "pe-gp-ucb") for name in gone}
    gone |= {f"results/tiny/{kind}/hills/any/random.{suffix}"
             for kind, suffix in (("scores", "nc"), ("logs/scores", "log"), ("benchmarks/scores", "tsv"))}  # fmt: skip
    gone |= {f"{name}.sha256" for name in gone if name.endswith(".nc")}
    assert listed(there) == gone
    assert {path for path in there.folder.rglob("*") if path.is_file()} >= before
    there.run("bocu", "prune", "experiment.yaml", "--delete")
    for name in gone:
        assert not (there.folder / name).exists()
    assert not (there.folder / "results/tiny/runs").exists()
    assert (there.folder / CUBE).exists()
    # Now nothing links to the shared runs.
    shared = {str(path.relative_to(there.folder)) for path in there.folder.glob("results/.run-cache/*/*.nc*")}
    assert len(shared) == 8  # four, each with its record
    assert listed(there, "--delete") == shared
    assert not (there.folder / "results/.run-cache").exists()
    assert listed(there) == {"results/tiny:"}


def test_prune_refuses_another_experiment_than_was_run(there):
    change(there, seeds=2)
    done = there.run("bocu", "prune", "experiment.yaml", check=False)
    assert done.returncode == 1
    assert "are fewer than the 0 to 3 that results/tiny holds" in done.stderr
    assert "overwrite: true" in done.stderr
    assert RUN.replace("0-1", "2-3") in listed(
        there, "--config", "overwrite=true", "--config", "seeds={count: 2, per_job: 2}"
    )
    change(there, data="simulate")
    done = there.run("bocu", "prune", "experiment.yaml", check=False)
    assert "other data" in done.stderr
    assert done.returncode == 1


# sharing


def test_another_name_and_label_runs_nothing_and_gives_the_same_cube(there):
    shared = {**tiny(name="other"), "algorithms": [{"name": "random", "label": "chance"}, "pe-gp-ucb", "mle"]}
    config = there.configuration(shared, "other.yaml")
    there.snakemake("--configfile", config, "--", "results/other/cubes/hills.nc")
    for new, old in (("chance", "random"), ("pe-gp-ucb", "pe-gp-ucb")):
        log = (there.folder / f"results/other/logs/runs/hills/any/{new}/seeds-0-1.log").read_text()
        assert "taken over from results/.run-cache/" in log
        path = there.folder / f"results/other/runs/hills/any/{new}/seeds-0-1.nc"
        assert path.read_bytes() == (there.folder / RUN.replace("pe-gp-ucb", old)).read_bytes()
    assert "taken over" not in (there.folder / "results/other/logs/runs/hills/any/mle/seeds-0-1.log").read_text()
    one, two = (read_netcdf(there.folder / f"results/{name}/cubes/hills.nc") for name in ("tiny", "other"))
    assert (one["regret"].values == two["regret"].sel(algorithm=["chance", "pe-gp-ucb"]).values).all()
    # Nothing of it reruns, and nothing of the first either.
    assert there.planned("--configfile", config, "--", "results/other/cubes/hills.nc") == {}
    assert there.planned("--configfile", there.folder / "experiment.yaml", "--", CUBE) == {}


@pytest.mark.ci
def test_fitted_priors_are_the_same_bytes_in_every_experiment_so_their_runs_are_shared(pipeline, root):
    for name in ("one", "two"):
        experiment = tiny(name=name, problems=[SENSORS], data="simulate", algorithms=["random"], seeds=2)
        run = f"results/{name}/runs/sensors/any/random/seeds-0-1.nc"
        pipeline.snakemake("--configfile", pipeline.configuration(experiment, f"{name}.yaml"), "--", run)
    assert (pipeline.folder / PRIOR.format("one")).read_bytes() == (pipeline.folder / PRIOR.format("two")).read_bytes()
    log = pipeline.folder / "results/two/logs/runs/sensors/any/random/seeds-0-1.log"
    assert "taken over" in log.read_text()

    # What was taken over recorded the paths of the other experiment; the contents count, and a changed one is named.
    shutil.copy(root / "data/sources.yaml", pipeline.folder / "data")
    run = "results/two/runs/sensors/any/random/seeds-0-1.nc"
    assert why(pipeline, run, experiment="two.yaml") == [f"{run}: up to date"]
    prior = pipeline.folder / PRIOR.format("two")
    with netCDF4.Dataset(prior, "a") as data:
        data["mean"][:] += 1.0
    record_digest(prior)
    with open_netcdf(prior, decode_times=False) as data:  # as if fitted so: contents are known by their seal
        changed = seal(data.load())
    with netCDF4.Dataset(prior, "a") as data:
        data.setncattr(SEAL, changed)
    record_digest(prior)
    stages = table(pipeline.run("bocu", "plan", "two.yaml").stdout, "stage")
    assert (stages["data"], stages["priors"]) == (["1", "1", "0"], ["3", "3", "0"])
    lines = [line for line in why(pipeline, run, experiment="two.yaml") if line.startswith("input ")]
    assert len(lines) == 1
    assert re.fullmatch(rf"input {PRIOR.format('two')}: [0-9a-f]{{12}} -> [0-9a-f]{{12}} \(SHA-256\)", lines[0])
    prior.unlink()
    assert f"because of {PRIOR.format('two')}:" in why(pipeline, run, experiment="two.yaml")


# what a name stands for


def test_a_sweep_that_was_given_a_name_on_the_command_line_is_explained_by_that_name(there):
    config = there.folder / "experiment.yaml"
    target = "results/trial/runs/hills/any/random/seeds-0-0.nc"
    settings = ("--config", "name=trial", "iterations=5", "seeds={count: 1}")
    there.snakemake("--configfile", config, *settings, "--", target)
    assert there.run("bocu", "why", target).stdout == f"{target}: up to date\n"
    assert status(there, "trial")["done"] == 1
    other = there.run("bocu", "why", target, "--experiment", "experiment.yaml", check=False)
    assert other.returncode == 1
    assert "belongs to 'trial', the experiment is 'tiny'; leave --experiment out, or add --config name=trial" in (
        other.stderr
    )


def test_check_takes_a_file_or_a_name_and_settings(there):
    told = "1 problem, 2 branches, 4 run jobs, 8 runs\n"
    assert there.run("bocu", "check", "experiment.yaml").stdout == f"experiment.yaml: {told}"
    there.run("mkdir", "config")
    (there.folder / "experiment.yaml").rename(there.folder / "config/config.yaml")
    assert there.run("bocu", "check", "tiny").stdout == f"tiny: {told}"
    more = there.run("bocu", "check", "tiny", "--config", "seeds={count: 6}").stdout
    assert more == "tiny: 1 problem, 2 branches, 6 run jobs, 12 runs\n"


def test_partial_of_a_finished_experiment_makes_nothing_again(there):
    config = there.folder / "experiment.yaml"
    planned = ("--configfile", config, "--", "partial")
    assert there.planned(*planned)["score"] == 2  # the runs stand, the report does not
    there.snakemake("--configfile", config)
    assert there.planned(*planned) == {"partial": 1}
    done = there.snakemake(*planned)
    assert "results/tiny/report/index.html: complete and up to date" in done.stderr
    assert not (there.folder / "results/tiny/partial").exists()
    # A run of another specification is not complete: what exists is shown, and no run is started.
    change(there, iterations=20)
    assert there.planned(*planned).keys() == {"score", "cube", "summary", "figure", "report", "partial"}
