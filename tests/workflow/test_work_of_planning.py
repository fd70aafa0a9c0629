"""What Snakemake does to plan one more job: counted in calls of functions, which no load of the machine moves."""

import pstats
import subprocess
import sys
from collections import Counter

import pytest
import yaml
from benchmarks.planning import BARE, experiment

pytestmark = [pytest.mark.ci, pytest.mark.workflow]

JOBS = 20, 40
MOST = 1.8  # times the calls of a bare Snakefile; in seconds it is less, for theirs are longer


@pytest.fixture(scope="module")
def calls(root, tmp_path_factory):
    """Calls for more run jobs, by the name of the function and in all."""
    return profiled("ours", root, tmp_path_factory.mktemp("ours"))


def profiled(kind, root, folder):
    seen = []
    for jobs in JOBS:
        (folder / "experiment.yaml").write_text(yaml.safe_dump(experiment(jobs)))
        (folder / "bare.smk").write_text(BARE.format(jobs=jobs))
        given = {
            "ours": ["--snakefile", str(root / "Snakefile"), "--configfile", "experiment.yaml"],
            "bare": ["--snakefile", "bare.smk"],
        }[kind]
        command = [sys.executable, "-m", "cProfile", "-o", "profile", "-m", "snakemake"]
        subprocess.run(
            [*command, "--dry-run", "--cores", "1", "--quiet", "rules", *given], cwd=folder, check=True, timeout=600
        )
        counts = Counter()
        for (_, _, name), (_, count, *_) in pstats.Stats(str(folder / "profile")).stats.items():
            counts[name] += count
        seen.append(counts)
    few, many = seen
    many.subtract(few)
    return many


@pytest.mark.drill
def test_a_further_job_costs_little_more_than_in_a_bare_snakefile(calls, root, tmp_path):
    assert calls.total() < MOST * profiled("bare", root, tmp_path).total()


@pytest.mark.drill
def test_scripts_are_read_once_and_not_for_each_job(calls):
    assert calls["get_source"] >= JOBS[1] - JOBS[0]  # it is asked for
    assert calls["parse_uri"] == 0


def test_a_run_file_is_looked_up_for_its_score_alone(calls):
    further = JOBS[1] - JOBS[0]
    assert calls["file2jobs"] < 1.3 * further
