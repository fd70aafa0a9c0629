"""A sweep inside one SLURM job, by profiles/allocation."""

import shlex
import signal
import subprocess

import pytest
import yaml
from experiments import tiny
from slurm.conftest import BIN, CUBE, ROOT
from slurm.test_faults import assert_undisturbed, catches, numbers, one_block

PROFILE = ROOT / "profiles/allocation"


def submit(sweep, target, *options):
    """Submit the whole sweep as one job, as its profile says."""
    sweep.submits = True
    words = [
        *(str(BIN / "snakemake"), "--snakefile", str(ROOT / "Snakefile")),
        *("--workflow-profile", str(PROFILE), "--configfile", "experiment.yaml", "--", target),
    ]
    asked = ["--partition=debug", "--ntasks=1", "--cpus-per-task=2", "--mem=3000", "--output=slurm.txt"]
    command = ["sbatch", "--parsable", *asked, *options, f"--chdir={sweep.folder}"]
    wrapped = f"export PATH={shlex.quote(str(BIN))}:$PATH; exec {shlex.join(words)}"
    done = subprocess.run([*command, "--wrap", wrapped], capture_output=True, text=True)
    assert done.returncode == 0 or "--wait" in options, done.stderr
    return done.stdout.strip(), (sweep.folder / "slurm.txt").read_text() if "--wait" in options else ""


def children_at_work(sweep):
    """Return the warm children that hold a block: they alone heed SIGTERM, which the process they come from ignores."""
    warm = [process for process, words in sweep.processes() if b"bocu.sweep.warm.zygote" in words]
    return [process for process in warm if catches(process, signal.SIGTERM)]


@pytest.mark.slurm
def test_a_sweep_in_one_job_gives_the_local_cube_bit_for_bit(cluster, sweep, undisturbed):
    sweep.configure(tiny())
    number, text = submit(sweep, CUBE, "--wait")
    assert numbers(sweep.folder / CUBE).identical(numbers(undisturbed(tiny()))), text
    assert sweep.jobs("COMPLETED") == [number]
    assert "no warm start" not in text
    log = next((sweep.folder / ".snakemake/log").glob("*.log")).read_text()
    assert "Provided cores: 2" in log
    assert 'Resource("mem_mb", 3000)' in log


@pytest.mark.slurm
def test_a_cancelled_job_saves_what_it_has_and_the_next_goes_on_from_there(cluster, sweep, undisturbed, wait_until):
    """SIGTERM reaches the runs, which save though no checkpoint is due, and Snakemake, which leaves no lock."""
    experiment = one_block(1000)
    sweep.configure(experiment)
    number, _ = submit(sweep, CUBE)
    wait_until(lambda: children_at_work(sweep), "a run that computes")
    subprocess.run(["scancel", number], check=True)
    wait_until(lambda: number in sweep.jobs("CANCELLED"), "the end of the job")
    assert sweep.checkpoints()
    assert not list((sweep.folder / ".snakemake/locks").glob("*"))
    _, text = submit(sweep, CUBE, "--wait")
    assert "going on from a checkpoint" in sweep.log(), text
    assert_undisturbed(sweep, undisturbed, experiment)


def test_the_profile_repeats_the_default_one():
    default = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text())
    here = yaml.safe_load((PROFILE / "config.yaml").read_text())
    assert set(here.pop("__definitions__")) >= set(default.pop("__definitions__"))
    assert {key: here.get(key) for key in default} == default
