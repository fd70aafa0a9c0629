"""A small sweep through profiles/slurm, and what is asked of SLURM for it."""

import os
import subprocess

import pytest
import yaml
from experiments import tiny
from slurm.conftest import Sweep

from bocu.core.io.files import read_netcdf

CUBE = "results/tiny/cubes/hills.nc"


def numbers(path):
    return read_netcdf(path).drop_vars("seconds").drop_attrs()


@pytest.mark.slurm
def test_a_sweep_on_slurm_gives_the_local_cube_bit_for_bit(cluster, sweep, undisturbed):
    sweep.configure(tiny())
    text = sweep.run(CUBE)
    assert text.count("has been submitted with SLURM jobid") == 7
    assert numbers(sweep.folder / CUBE).identical(numbers(undisturbed(tiny())))
    asked = subprocess.run(
        ["squeue", "--noheader", "--states=all", "--format=%Z|%k|%m|%l"], capture_output=True, text=True, check=True
    ).stdout
    runs = [line for line in asked.splitlines() if line.startswith(f"{sweep.folder}|rule_run")]
    assert len(runs) == 4
    assert {line.split("|")[2] for line in runs} == {"900M"}
    assert {line.split("|")[3] for line in runs} == {"10:00"}


def test_the_profile_repeats_the_default_one(root):
    default = yaml.safe_load((root / "profiles/default/config.yaml").read_text())
    slurm = yaml.safe_load((root / "profiles/slurm/config.yaml").read_text())
    del default["max-jobs-per-timespan"]  # gentler on a controller that many share
    del default['?if find_spec("snakemake_executor_plugin_warm")']  # jobs go to SLURM
    assert {key: slurm.get(key) for key in default} == default


def test_a_sweep_that_submitted_nothing_asks_no_slurm_at_its_end(tmp_path, monkeypatch):
    # Commands of a SLURM whose controller does not answer.
    for command in ("squeue", "scancel"):
        (tmp_path / command).write_text("#!/bin/sh\necho slurm_load_jobs error >&2\nexit 1\n")
        (tmp_path / command).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    sweep = Sweep(tmp_path)
    sweep.clean_up()
    with pytest.raises(subprocess.CalledProcessError):
        sweep.jobs()
