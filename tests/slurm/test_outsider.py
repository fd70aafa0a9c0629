"""An outsider's package and file, as docs/plug-in has them: installed beside ours, checked, swept, on SLURM too.

Nothing of ours is edited, and the environment that runs them is not that of the tests.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from slurm.conftest import HERE, ROOT

from bocu.core.about import read_look
from bocu.core.io.files import read_netcdf
from bocu.core.style import stroke

SMALL = ("--config", "iterations=4", "seeds={count: 2, per_job: 1}")
RUN = "results/harbour/runs/harbour/robust/robust-botorch/seeds-0-0.nc"
IN_TURN = "results/harbour/runs/harbour/any/in-turn/seeds-0-0.nc"

pytestmark = [pytest.mark.ci, pytest.mark.workflow]


@dataclass
class Site:
    """A working folder of the outsider's, and an environment of her own."""

    folder: Path
    python: Path

    def run(self, *command: str | Path, python: Path | None = None) -> subprocess.CompletedProcess[str]:
        variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        words = [str(python or self.python), "-m", *map(str, command)]
        return subprocess.run(words, cwd=self.folder, env=variables, capture_output=True, text=True, timeout=900)

    def well(self, *command: str | Path) -> str:
        done = self.run(*command)
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout + done.stderr

    def snakemake(self, *arguments: str | Path) -> str:
        base = ("snakemake", "--snakefile", ROOT / "Snakefile", "--configfile", "harbour.yaml")
        return self.well(*base, *SMALL, *arguments)


def environment(folder: Path) -> Path:
    """Make an environment with all that ours has, and `bocu` from this clone; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    ours = [str(ROOT / "src"), *(path for path in sys.path if path.endswith("site-packages"))]
    (packages / "dependencies.pth").write_text("\n".join(ours))
    return folder / "bin/python"


def put_files(folder: Path) -> Path:
    folder.mkdir()
    for name in ("harbour.yaml", "in_turn.py", "test_herpkg.py"):
        shutil.copy(ROOT / "docs/plug-in" / name, folder)
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outsider")
    python = environment(folder / "environment")
    source = shutil.copytree(ROOT / "docs/plug-in/herpkg", folder / "herpkg")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--no-build-isolation", "--ignore-installed", source], check=True)
    return Site(put_files(folder / "work"), python)


@pytest.fixture(scope="module")
def swept(site):
    site.snakemake("--cores", "2", "--executor", "warm")
    return site


def test_it_comes_from_her_package_and_nothing_of_ours_is_edited(site):
    where = site.run("timeit", "-n1", "-r1", "import herpkg, bocu; print(herpkg.__file__, bocu.__file__)").stdout
    assert str(site.python.parents[1]) in where.split()[0]
    assert str(ROOT / "src") in where.split()[1]
    assert "herpkg" not in "".join(path.read_text() for path in (ROOT / "src/bocu").rglob("*.py"))


@pytest.mark.drill
def test_it_keeps_what_we_promise(site):
    done = site.run("pytest", "-q", "-p", "no:cacheprovider", "test_herpkg.py")
    assert "5 passed" in done.stdout, done.stdout


def test_it_is_listed_and_checked(site):
    found = site.well("bocu.commands.main", "check", "harbour.yaml")
    assert "harbour.yaml: 1 problem, 4 branches, 8 run jobs, 16 runs" in found
    for kind, name, title in (
        ("algorithms", "robust-botorch", "Robust BoTorch"),
        ("problems", "harbour", "Harbour"),
        ("sets", "contamination", "contamination"),
        ("metrics", "median", "Median"),
    ):
        listed = site.well("bocu.commands.main", "list", kind)
        assert re.search(rf"^{name} +{title} .*herpkg", listed, flags=re.MULTILINE), listed


def test_its_report_has_its_name_title_and_colour(swept):
    results = swept.folder / "results/harbour"
    page = (results / "report/index.html").read_text()
    for words in ("Robust BoTorch", "In turn", "Harbour", "median", "contamination", "Against Robust BoTorch"):
        assert words in page, words
    cube = read_netcdf(results / "cubes/harbour.nc")
    told = cube.set_index({}).sel(algorithm="robust-botorch") if "algorithm" in cube.coords else cube
    look = str(told["algorithm_look"].values)
    assert look == "sky long-dash P"
    looks = [str(each) for each in cube["algorithm_look"].values]
    assert len({each.rpartition(" ")[0] for each in looks}) == len(looks) == 4
    picture = (results / "figures/harbour/regret.svg").read_text().lower()
    for each in looks:
        assert stroke(read_look(each)).colour.lower() in picture, each
    words = json.loads((results / "figures/harbour/regret.json").read_text())
    assert "Robust BoTorch" in words["alternative"] + words["caption"]


def test_where_it_is_not_installed_one_line_says_so(swept, tmp_path):
    bare = environment(tmp_path / "bare")
    for command in (
        ("bocu.commands.main", "check", "harbour.yaml"),
        ("snakemake", "--snakefile", ROOT / "Snakefile", "--configfile", "harbour.yaml", "--cores", "1", "--", RUN),
    ):
        done = swept.run(*command, python=bare)
        assert done.returncode != 0
        assert "Traceback" not in done.stderr
        said = [line for line in done.stderr.splitlines() if "unknown" in line]
        assert len(said) == 1, done.stderr
        assert re.search(r"unknown \w+ '(harbour|robust-botorch|contamination|median)'", said[0])


@pytest.mark.slurm
def test_on_slurm_it_gives_the_same_bits(cluster, swept, tmp_path):
    there = Site(put_files(tmp_path / "cluster"), swept.python)
    text = there.snakemake("--workflow-profile", ROOT / "profiles/slurm", *HERE, "--", RUN, IN_TURN)
    assert text.count("has been submitted with SLURM jobid") == 3  # the fit of its kernel, and two blocks
    for run in (RUN, IN_TURN):
        one, other = (read_netcdf(site.folder / run).drop_vars("seconds").drop_attrs() for site in (there, swept))
        assert one.identical(other), run
