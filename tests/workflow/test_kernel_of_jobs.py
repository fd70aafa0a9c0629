"""Jobs compute by the one numerical kernel however they are started, and what is set otherwise is another result."""

import json

import netCDF4
import pytest
from core.test_numerics import NAMES, pinned_here
from experiments import tiny
from workflow.conftest import ROOT

from bocu.core.numerics import KERNEL

pytestmark = [pytest.mark.ci, pytest.mark.workflow, pinned_here]

UNSET = [word for name in NAMES for word in ("-u", name)]
RUN = "results/tiny/runs/hills/any/random/seeds-0-1.nc"


def kernels(file):
    """Return the kernel that a run file was computed by, and the one that was asked for."""
    with netCDF4.Dataset(file) as data:
        return data.kernel, json.loads(data.specification)["kernel"]


@pytest.mark.parametrize("executor", ["local", "warm"])
def test_a_run_job_computes_by_it(pipeline, executor):
    file = pipeline.configuration(tiny())
    snakemake = ["snakemake", "--snakefile", ROOT / "Snakefile", "--cores", "1", "--executor", executor]
    snakemake += ["--configfile", file, "--", RUN]
    pipeline.run("env", *UNSET, *snakemake)
    assert kernels(pipeline.folder / RUN) == (KERNEL, KERNEL)
    if executor == "warm":
        done = pipeline.run("env", *UNSET, "OPENBLAS_CORETYPE=Nehalem", *snakemake)
        assert "note: OPENBLAS_CORETYPE=Nehalem: set by you" in done.stderr
        assert kernels(pipeline.folder / RUN) == ("Nehalem, AVX2", f"{KERNEL}; OPENBLAS_CORETYPE=Nehalem")


def test_a_command_computes_by_it(pipeline):
    file = pipeline.configuration(tiny())
    command = ["bocu", "run", "--experiment", file, "--problem", "hills", "--algorithm", "random", "--output", "a.nc"]
    pipeline.run("env", *UNSET, *command)
    assert kernels(pipeline.folder / "a.nc") == (KERNEL, KERNEL)
    for command in (["bocu", "check", file], ["bocu", "plan", file]):
        done = pipeline.run("env", *UNSET, "OPENBLAS_CORETYPE=Nehalem", *command)
        assert done.stderr.startswith("note: OPENBLAS_CORETYPE=Nehalem: set by you, so part of what is run")
