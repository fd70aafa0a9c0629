"""A sweep inside one SLURM job, by profiles/allocation."""

import re
import shlex
import signal
import subprocess

import pytest
import yaml
from experiments import tiny
from slurm.conftest import BIN, CUBE, ROOT
from slurm.test_faults import assert_undisturbed, catches, numbers, one_block

PROFILE = ROOT / "profiles/allocation"


def submit(sweep, target, *options, output="slurm.txt"):
    """Submit the whole sweep as one job, as its profile says; with `--wait` return what it wrote, else its number."""
    sweep.submits = True
    words = [
        *(str(BIN / "snakemake"), "--snakefile", str(ROOT / "Snakefile")),
        *("--workflow-profile", str(PROFILE), "--configfile", "experiment.yaml", "--", target),
    ]
    asked = ["--partition=debug", "--ntasks=1", "--cpus-per-task=2", "--mem=3000", f"--output={output}"]
    command = ["sbatch", "--parsable", *asked, *options, f"--chdir={sweep.folder}"]
    wrapped = f"export PATH={shlex.quote(str(BIN))}:$PATH; exec {shlex.join(words)}"
    done = subprocess.run([*command, "--wrap", wrapped], capture_output=True, text=True)
    assert done.returncode == 0, (sweep.folder / output).read_text()
    return (sweep.folder / output).read_text() if "--wait" in options else done.stdout.strip()


def children_at_work(sweep):
    """Return the warm children that hold a block: they alone heed SIGTERM, which the process they come from ignores."""
    name = b"plugin_warm/zygote.py"
    warm = [process for process, words in sweep.processes() if any(word.endswith(name) for word in words)]
    return [process for process in warm if catches(process, signal.SIGTERM)]


@pytest.mark.slurm
def test_a_sweep_in_one_job_gives_the_local_cube_bit_for_bit(cluster, sweep, undisturbed):
    experiment = tiny(algorithms=["pe-gp-ucb"])
    sweep.configure(experiment)
    text = submit(sweep, CUBE, "--wait")
    assert numbers(sweep.folder / CUBE).identical(numbers(undisturbed(experiment))), text
    assert len(sweep.jobs("COMPLETED")) == 1
    assert "no warm start" not in text
    log = next((sweep.folder / ".snakemake/log").glob("*.log")).read_text()
    assert "Provided cores: 2" in log
    assert 'Resource("mem_mb", 3000)' in log


@pytest.mark.slurm
def test_a_cancelled_job_saves_what_it_has_and_the_next_goes_on_from_there(cluster, sweep, undisturbed, wait_until):
    """SIGTERM reaches the runs, which save though no checkpoint is due, and Snakemake, which leaves no lock."""
    experiment = one_block(1000)
    sweep.configure(experiment)
    number = submit(sweep, CUBE)
    wait_until(lambda: children_at_work(sweep), "a run that computes")
    subprocess.run(["scancel", number], check=True)
    wait_until(lambda: number in sweep.jobs("CANCELLED"), "the end of the job")
    assert sweep.checkpoints()
    assert not list((sweep.folder / ".snakemake/locks").glob("*"))
    text = submit(sweep, CUBE, "--wait")
    assert "going on from a checkpoint" in sweep.log(), text
    assert_undisturbed(sweep, undisturbed, experiment)


@pytest.mark.slurm
def test_allocations_share_a_folder_and_each_makes_its_problem(cluster, sweep, wait_until):
    labels = {"a": 60, "b": 50}
    problems = [{"name": "hills", "label": label, "parameters": {"grid": grid}} for label, grid in labels.items()]
    sweep.configure(tiny(problems=problems))
    numbers = [submit(sweep, f"results/tiny/cubes/{label}.nc", output=f"{label}.txt") for label in labels]
    wait_until(lambda: set(sweep.jobs("COMPLETED") + sweep.jobs("FAILED")) == set(numbers), "the end of both")
    assert set(sweep.jobs("COMPLETED")) == set(numbers)
    rest = sweep.run(slurm=False)
    assert not re.search(r"^(run|score|cube) ", rest, re.MULTILINE)  # a line a finished job
    assert re.search(r"^report ", rest, re.MULTILINE)


def test_the_profiles_repeat_the_default_one():
    default = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text())
    here = yaml.safe_load((PROFILE / "config.yaml").read_text())
    assert set(here.pop("__definitions__")) >= set(default.pop("__definitions__"))
    warm = '?if find_spec("snakemake_executor_plugin_warm")'  # here the executor is part of the profile
    assert here[warm].pop("executor") == "warm"
    assert {key: here.get(key) for key in default} == default
    slurm = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())
    del default["max-jobs-per-timespan"]  # gentler on a controller that many share
    del default[warm]  # jobs go to SLURM
    assert {key: slurm.get(key) for key in default} == default
