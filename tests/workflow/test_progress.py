"""What the real pipeline says while it runs."""

import re
import subprocess
import sys

import pytest
from experiments import SENSORS, tiny
from workflow.conftest import ROOT

pytestmark = pytest.mark.workflow

RUN = "results/tiny/runs/hills/any/random/seeds-0-1.nc"


def test_each_job_says_what_it_did_and_no_line_speaks_of_a_jobs_number(pipeline):
    done = pipeline.snakemake("--configfile", pipeline.configuration(tiny()), "--", RUN)
    told = [line for line in done.stderr.splitlines() if line.startswith("run hills")]
    assert len(told) == 1
    assert re.fullmatch(r"run hills/any/random seeds 0-1: 24 rounds in \S+ s; 1 of 1 jobs", told[0])
    assert re.search(r"^all 1 jobs done in ", done.stderr, re.MULTILINE)
    for noise in ("jobid", "Select jobs", "Execute ", "SNAKEMAKE", "\x1b["):
        assert noise not in done.stderr
    assert "Nothing to be done" in pipeline.snakemake("--configfile", "experiment.yaml", "--", RUN).stderr
    (log,) = sorted((pipeline.folder / ".snakemake/log").iterdir())[:1]
    assert "SNAKEMAKE" in log.read_text()  # which holds everything as ever


def test_a_dry_run_shows_its_table_once_and_its_jobs_when_asked(pipeline):
    config = pipeline.configuration(tiny())
    summary = pipeline.snakemake("--dry-run", "--configfile", config).stdout
    assert summary.count("Job stats:") == 1
    assert re.search(r"^run +4$", summary, re.MULTILINE)
    assert "This was a dry-run" in summary
    assert "Reasons:" in summary
    assert "run hills/any/random seeds 0-1" not in summary
    every = pipeline.snakemake("--dry-run", "--quiet", "progress", "--configfile", config, "--", RUN).stdout
    assert f"run hills/any/random seeds 0-1: Missing output files: {RUN}" in every


@pytest.mark.parametrize("quiet", [(), ("--quiet", "all")])
def test_a_failed_job_is_named_with_its_log_and_what_it_said_however_quiet(pipeline, quiet):
    config = pipeline.configuration(tiny(problems=[SENSORS], data="simulate", algorithms=["random"], seeds=2))
    broken = pipeline.folder / "data/simulate/intel/log-10min.nc"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no netcdf")
    prior = "results/tiny/priors/sensors/2004-03-01.nc"
    done = pipeline.snakemake("--configfile", config, "--rerun-triggers", "mtime", *quiet, "--", prior, check=False)
    assert done.returncode == 1
    said = done.stderr.splitlines()
    assert "failed: fit_prior sensors/2004-03-01" in said
    assert "    log: results/tiny/logs/priors/sensors/2004-03-01.log" in said
    assert any(line.startswith("        error: data/simulate/intel/log-10min.nc: not a readable") for line in said)


def test_where_the_package_is_not_installed_one_line_says_so(tmp_path):
    """The profile asks for the plug-in only where there is one, so that the Snakefile can say what is missing."""
    code = """
import importlib.abc, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("bocu", "snakemake_logger_plugin_bocu"):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
sys.path = [entry for entry in sys.path if not entry.endswith("src")]
import importlib.util
importlib.util.find_spec = lambda name, find=importlib.util.find_spec: None if "bocu" in name else find(name)
sys.meta_path.insert(0, Hidden())
from snakemake.cli import main
main(sys.argv[1:])
"""
    files = ["--snakefile", str(ROOT / "Snakefile"), "--configfile", str(ROOT / "config/config.yaml")]
    command = [sys.executable, "-c", code, *files, "--dry-run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "usage:" not in done.stderr
    assert done.stderr.splitlines()[-1] == (
        "error: No module named 'bocu'; install the package in this environment first: pip install -e ."
    )
