"""A small sweep through profiles/slurm, and what is asked of SLURM for it."""

import subprocess

import pytest
from experiments import tiny
from slurm.conftest import CUBE
from slurm.test_faults import numbers


@pytest.mark.slurm
def test_a_sweep_on_slurm_gives_the_local_cube_bit_for_bit(cluster, sweep, undisturbed):
    experiment = tiny(algorithms=["pe-gp-ucb"])
    sweep.configure(experiment)
    text = sweep.run(CUBE)
    assert text.count("has been submitted with SLURM jobid") == 4
    assert numbers(sweep.folder / CUBE).identical(numbers(undisturbed(experiment)))
    asked = subprocess.run(
        ["squeue", "--noheader", "--states=all", "--format=%Z|%k|%m|%l"], capture_output=True, text=True, check=True
    ).stdout
    runs = [line for line in asked.splitlines() if line.startswith(f"{sweep.folder}|rule_run")]
    assert len(runs) == 2
    assert {line.split("|")[2] for line in runs} == {"900M"}
    assert {line.split("|")[3] for line in runs} == {"10:00"}
