"""What is asked for, in every place that asks for it."""

import re
import shutil
import subprocess
import sys
import tomllib

import yaml
from setuptools import find_packages

from snakemake_executor_plugin_warm import KNOWN

# conda's names where they differ
CONDA_NAMES = {"pytorch-cpu": "torch", "matplotlib-base": "matplotlib", "snakemake-minimal": "snakemake"}


def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


def test_conda_and_pip_ask_for_the_same(root):
    conda = {}
    for entry in yaml.safe_load((root / "environment.yml").read_text())["dependencies"]:
        if not isinstance(entry, str):
            continue
        name, bounds = re.match(r"([a-z0-9-]+)(.*)", entry).groups()
        conda[CONDA_NAMES.get(name, name)] = bounds
    assert conda.pop("pip") == ""
    assert conda.pop("python") == project(root)["requires-python"]
    assert conda == everything(root)


def test_the_recipe_asks_for_what_the_bare_package_asks_for(root):
    recipe = yaml.safe_load((root / "packaging/recipe.yaml").read_text())
    python, *others = recipe["requirements"]["run"]
    assert [line.replace(" ", "") for line in others] == sorted(project(root)["dependencies"])
    assert f">={recipe['context']['python_min']}" == project(root)["requires-python"]
    assert python.startswith("python >=")


def everything(root):
    """What the extra `all` asks for, name by bounds."""
    extras = project(root)["optional-dependencies"]
    found, waiting = {}, [*project(root)["dependencies"], *extras["all"]]
    for entry in waiting:
        if own := re.fullmatch(r"bocu\[(.*)\]", entry):
            waiting += [line for extra in own[1].split(",") for line in extras[extra]]
        else:
            name, bounds = re.match(r"([a-z0-9-]+)(.*)", entry).groups()
            found[name] = bounds
    return found


def pins(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def test_the_slurm_plugin_is_in_no_default_installation(root):
    assert not [line for line in pins(root / "requirements.txt") if "slurm" in line]
    assert not [name for name in everything(root) if "slurm" in name]
    assert "slurm" not in (root / "environment.yml").read_text()


def test_every_dependency_is_pinned_and_torch_comes_first(root):
    lines = pins(root / "requirements.txt")
    assert lines[0].startswith("torch==")
    for path in root.glob("requirements-*.txt"):
        lines += pins(path)
    pinned = {re.match(r"([A-Za-z0-9_.-]+)==", line).group(1).lower().replace("_", "-") for line in lines}
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    asked = [*settings["project"]["optional-dependencies"].values(), *settings["dependency-groups"].values()]
    named = {name for one in asked for name in one if isinstance(name, str) and not name.startswith("bocu[")}
    for requirement in (*everything(root), *named):
        name = re.match(r"[A-Za-z0-9_-]+", requirement).group().lower()
        assert name in pinned, f"requirements.txt does not pin {name}"


def test_condas_pip_lines_install_the_package_without_asking_for_anything_else(root, tmp_path):
    """As conda does it: the lines go to a requirements file, and `pip install -U -r` reads that beside the clone."""
    environment = yaml.safe_load((root / "environment.yml").read_text())
    (pip,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, tmp_path)
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    (tmp_path / "requirements.txt").write_text("\n".join(pip) + "\n")
    offline = ["--dry-run", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *offline, "-U", "-r", "requirements.txt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    would = [line for line in done.stdout.splitlines() if line.startswith("Would install")]
    assert [re.fullmatch(r"Would install bocu-[0-9.]+", line) is not None for line in would] == [True]


def test_the_package_and_its_plugins_are_what_a_wheel_takes(root):
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
    found = {name.partition(".")[0] for name in find_packages(root / settings["where"][0], settings["exclude"])}
    apart = {tomllib.loads(path.read_text())["project"]["name"] for path in root.glob("src/*/pyproject.toml")}
    assert found == {"bocu", "snakemake_logger_plugin_bocu"}
    assert apart == {"snakemake-executor-plugin-warm"}


TEXT = {".py", ".md", ".yaml", ".yml", ".toml", ".txt", ".smk", ".cff", ".rst", ".jinja", ".css", ".js", ""}


def test_no_machine_path_or_registry_host_is_in_the_project(root):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    pattern = re.compile(r"/home/[a-z]|/root/|pypi\.org|registry\.npmjs|files\.pythonhosted")
    for name in filter(None, listed.split("\0")):
        path = root / name
        if path.is_file() and path.suffix in TEXT and path.name not in ("test_packaging.py", "recipe.yaml"):
            assert not pattern.search(path.read_text(encoding="utf-8", errors="ignore")), name


def test_the_citation_names_every_paper_as_reports_do(root):
    from bocu.sweep.experiment.papers import known_papers

    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    cited = {}
    for reference in citation["references"]:
        names = (
            f"{author.get('given-names', '')} {author.get('family-names') or author['name']}".strip()
            for author in reference["authors"]
        )
        cited[reference["title"]] = (", ".join(names), reference.get("year"), reference.get("url", ""))
    assert cited == {paper.title: (paper.authors, paper.year, paper.link) for paper in known_papers().values()}


def test_all_that_is_said_of_the_version_agrees(root):
    import bocu

    assert yaml.safe_load((root / "CITATION.cff").read_text())["version"] == bocu.__version__
    assert yaml.safe_load((root / "packaging/recipe.yaml").read_text())["context"]["version"] == bocu.__version__
    assert f"## {bocu.__version__}" in (root / "CHANGELOG.md").read_text()


def test_the_forge_runs_every_python_that_the_package_promises(root):
    workflow = yaml.safe_load((root / ".github/workflows/ci.yml").read_text())
    promised = {
        entry.rpartition(" ")[2]
        for entry in project(root)["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", entry)
    }
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert set(matrix["python"]) == promised
    assert {*matrix["snakemake"], *(one["snakemake"] for one in matrix["include"])} == set(KNOWN)
    nox = (root / "noxfile.py").read_text()
    assert set(re.search(r"PYTHONS = (.*)", nox)[1].split('"')[1::2]) == promised
    assert set(re.search(r"SNAKEMAKES = (.*?)  #", nox)[1].split('"')[1::2]) == set(KNOWN)
    assert project(root)["requires-python"] == f">={min(promised, key=lambda version: int(version.split('.')[1]))}"
