"""The remarks of `snakemake --lint`, and what else the workflow catalogue looks at."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml


@pytest.fixture
def lint(tmp_path, root):
    """Return what the check says of a copy of the workflow, in which one text was replaced."""

    def check(file=None, old="", new=""):
        for name in ("workflow", "config", "profiles", "data", "Snakefile", ".ci"):
            copy = shutil.copytree if (root / name).is_dir() else shutil.copy
            copy(root / name, tmp_path / name)
        if file is not None:
            text = (tmp_path / file).read_text()
            assert text.count(old) == 1
            (tmp_path / file).write_text(text.replace(old, new))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        command = [sys.executable, ".ci/lint-workflow"]
        return subprocess.run(command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True)

    return check


def test_lint_says_what_is_allowed_and_no_more(lint):
    done = lint()
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.ci
def test_a_rule_without_a_log_is_refused(lint):
    done = lint("workflow/rules/designs.smk", '    log:\n        f"{plan.results}/logs/designs/{{sha256}}.log",\n', "")
    assert done.returncode == 1
    assert "snakemake --lint: design: No log directive defined; not in workflow/lint-allowed.yaml" in done.stderr


@pytest.mark.ci
def test_an_allowance_that_nothing_needs_is_refused(lint):
    done = lint("workflow/lint-allowed.yaml", "- rule: run\n", "- rule: score\n  remark: Tabs\n- rule: run\n")
    assert done.returncode == 1
    assert "workflow/lint-allowed.yaml: score: 'Tabs' is not said any more; take it out" in done.stderr


def test_each_allowance_has_its_reason(root):
    for entry in yaml.safe_load((root / "workflow/lint-allowed.yaml").read_text()):
        assert set(entry) == {"rule", "remark", "reason"}
        assert len(entry["reason"].split()) > 5


def test_the_catalogue_finds_what_standardised_usage_asks_for(root):
    assert (root / "workflow/Snakefile").is_file()
    assert "config.yaml" in (root / "config/README.md").read_text()
    assert {"snakemake", "workflow"} <= set((root / "README.md").read_text().lower().replace("`", " ").split())
    usage = yaml.safe_load((root / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert set(usage["software-stack-deployment"]) <= {"conda", "apptainer", "apptainer+conda", "report"}
    assert set(usage) == {"mandatory-flags", "software-stack-deployment"}
