"""The workflow used from another folder, as `snakedeploy deploy-workflow` leaves it."""

import shutil
import subprocess

import printed
import pytest
import yaml
from experiments import tiny
from workflow.conftest import WARM

from bocu.core.io.files import read_netcdf
from bocu.sweep.snakefile import RULES_WITH_SCRIPT

pytestmark = pytest.mark.workflow

CUBE = "results/tiny/cubes/hills.nc"
ON_A_FORGE = 'github("owner/bocu", path="workflow/Snakefile", tag="v1")'  # what snakedeploy 0.17 writes for {snakefile}
DEPLOYED = """
from snakemake.utils import min_version


min_version("6.10.0")


configfile: "config/config.yaml"


module bocu:
    snakefile:
        {snakefile}
    config:
        config


use rule * from bocu
"""


def deploy(pipeline, root, snakefile, own=""):
    """Lay a folder out as snakedeploy does: configuration and profiles are copied, the workflow is referred to."""
    for name in ("config", "profiles"):
        shutil.copytree(root / name, pipeline.folder / name)
    (pipeline.folder / "config/config.yaml").write_text(yaml.safe_dump(tiny()))
    (pipeline.folder / "workflow").mkdir()
    (pipeline.folder / "workflow/Snakefile").write_text(DEPLOYED.format(snakefile=snakefile) + own)


@pytest.fixture
def repository(root, tmp_path_factory):
    """A git repository of what the workflow is made of."""
    folder = tmp_path_factory.mktemp("repository")
    for name in ("workflow", "data"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "simulate", "mirror"))
    shutil.copy(root / "Snakefile", folder)
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    for command in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "--message", "all"], ["tag", "v1"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.mark.ci
def test_deployed_from_a_folder_it_makes_the_same_files(pipeline, root):
    deploy(pipeline, root, f'"{root / "workflow/Snakefile"}"')
    planned = pipeline.run("snakemake", "--cores", "1", "--dry-run").stdout.splitlines()
    assert {("run", "4"), ("score", "2"), ("report", "1")} <= {tuple(line.split()) for line in planned}
    pipeline.run("snakemake", *WARM, CUBE)
    assert read_netcdf(pipeline.folder / CUBE).sizes["seed"] == 4
    assert "Nothing to be done" in pipeline.run("snakemake", *WARM, CUBE).stderr


@pytest.mark.ci
def test_deployed_from_a_tag_on_a_forge_it_reads_nothing_of_a_clone(pipeline, root, repository, tmp_path_factory):
    deploy(pipeline, root, ON_A_FORGE)
    # What the repository holds by now is not what the tag says.
    for file in repository.rglob("*"):
        if file.is_file() and ".git" not in file.relative_to(repository).parts:
            file.write_text("not valid\n")
    # For git, the forge is that repository.
    pipeline.environment = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/owner/bocu",
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
    }
    pipeline.run("snakemake", *WARM, CUBE)
    assert read_netcdf(pipeline.folder / CUBE).sizes["seed"] == 4


@pytest.mark.ci
def test_handlers_of_the_deployed_workflow_are_called_from_ones_own(pipeline, root):
    (handlers,) = printed.blocks(root, "snakemake")
    deploy(pipeline, root, f'"{root / "workflow/Snakefile"}"', f"\n\n{handlers.text}")
    pipeline.run("snakemake", *WARM, "results/tiny/runs/hills/any/random/seeds-0-1.nc")
    assert (pipeline.folder / "results/tiny/experiment.json").is_file()
    assert list((pipeline.folder / "results/.calls").iterdir()) == []
    (pipeline.folder / "config/config.yaml").write_text(yaml.safe_dump(tiny(iterations=3)))
    done = pipeline.run("snakemake", "--cores", "1", "--dry-run", check=False)
    assert "are fewer than the 12 that results/tiny holds" in done.stderr


def test_scripts_that_are_fetched_are_all_that_rules_name(root):
    assert set(RULES_WITH_SCRIPT) == {path.stem for path in (root / "workflow/scripts").glob("*.py")}
