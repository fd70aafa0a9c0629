"""Every command line and every block that README, docs and comments print does what it says, in a copy of the clone.

What would take long is cut down, by rules:

- the copy's quick start is one small problem, of which the results stand;
- `snakemake` plans (`--dry-run`), but for `--report`; of a mirror only the names of its files are there;
- what is submitted to the archive, checked there and compared with it is the quick start;
- `bocu run` plays two rounds, `bocu resume` plans the quick start and `bocu verify` plays it again; programs of
  `tests/benchmarks` and `bocu.problems`, and those of `docs` that read a mirror, read their arguments and stop there;
- `snakedeploy` reads its arguments, where it is installed; `cd` goes to a folder that is there;
- `make` says what it would do; `pip` looks at what it would install, without a network, once for all extras of it;
  `pytest` collects what it is to choose from;
- of `conda` the environment file is read; of `.ci/start-slurm` the syntax is checked;
- what needs SLURM runs where a SLURM answers;
- the handlers of a deployed workflow are left to test_deployed.py, which calls them, the loops of docs/botorch.md to
  tests/repository/test_docs.py, which looks at what they find;
- the recipes of `printed.RECIPE` are left to tests/repository/test_extending.py, which performs them in their order;
- where `...` stands for arguments, the version is asked for instead; a command that a sentence names without its
  arguments has to exist.

A command of a kind that is not among these fails.
"""

import functools
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import printed
import pytest
import yaml
from filelock import FileLock
from packaging.requirements import Requirement
from workflow.conftest import ROOT, WARM, Pipeline

from bocu.advice.asked import Settings
from bocu.problems.data.catalogue import load_catalogue
from bocu.sweep.experiment.configuration import parse_experiment
from bocu.sweep.experiment.registry import REGISTRY

pytestmark = pytest.mark.workflow

QUICK_START = {
    "name": "quickstart",
    "seeds": {"first": 0, "count": 3, "per_job": 3},
    "iterations": 5,
    "data": "simulate",
    "problems": [
        {"name": "hills", "parameters": {"grid": 40}},
        {"name": "hartmann-3", "parameters": {"decision_points": [4, 4], "context_points": [3]}},
    ],
    "algorithms": ["random", "pe-gp-ucb"],
    "figures": ["regret"],
}
CUBE = "results/quickstart/cubes/hills.nc"
RUN = "results/quickstart/runs/hills/any/pe-gp-ucb/seeds-0-2.nc"
WITH_A_DESIGN = "results/quickstart/runs/hartmann-3/any/random/seeds-0-2.nc"
CLAIM = "statement:"  # a key of claims alone
STANDS_FOR = {
    "ACCOUNT": "account",
    "EXPERIMENT": "config/config.yaml",
    "FILE": "config/config.yaml",
    "FILE.csv": "payoffs.csv",
    "FILE.yaml": "kiosk.yaml",
    "LOG.csv": "newsvendor.csv",
    "FOLDER": "mirror",
    "NAME": "name",
    "PAGE.html": "results/quickstart/report/index.html",
    "PARTITION": "partition",
    "RUN_ID": "no-such-run",
    "THAT": "local.yaml",
    "THIS": "config/config.yaml",
    "CLONE/Snakefile": "Snakefile",
    "mine/my_own.yaml": "config/config.yaml",
    "results/.../seeds-0-9.nc": RUN,
    "results/NAME": "results/quickstart",
    "results/tiny/runs/hartmann-3/any/random/seeds-*.nc": WITH_A_DESIGN,
    **dict.fromkeys(("A", "B", "ONE", "OTHER"), CUBE),
}
FILE_TO_EXPLAIN = "bocu why"  # whose FILE is no experiment


def _options(words: tuple[str, ...]) -> tuple[str, str, frozenset[object]]:
    """Return what tells a command from others of its kind: program, subcommand, options; not what they are given."""
    if words[0] not in ("bocu", "snakemake"):
        return words[0], "".join(words[1:2]), frozenset([words[2:]])
    keys = {re.sub("=.*", "", word) for word in words[2:] if word.startswith("-") or "=" in word}
    return words[0], words[1] if words[0] == "bocu" or words[1][0] != "-" else "", frozenset(keys)


# One of each set of options, as a line of its own where one stands somewhere, and the one with the most words.
_OF_OPTIONS = {
    _options(command.words): (command.words, command.inline)
    for command in sorted(printed.commands(ROOT), key=lambda c: (not c.inline, len(c.words), c.words))
}
# Not those whose options are some of another's.
COMMANDS = sorted(
    command
    for (*kind, options), command in _OF_OPTIONS.items()
    if not any(kind == others and options < more for *others, more in _OF_OPTIONS)
)


PARSE_ARGUMENTS = """
import argparse, os, runpy, sys
parse = argparse.ArgumentParser.parse_args
def parse_and_stop(self, *arguments, **keywords):
    parse(self, *arguments, **keywords)
    raise SystemExit(0)
argparse.ArgumentParser.parse_args = parse_and_stop
module, path, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = path
sys.path.insert(0, os.getcwd() if module == "-m" else os.path.dirname(path))  # as Python does
runpy.run_module(path, run_name="__main__") if module == "-m" else runpy.run_path(path, run_name="__main__")
raise SystemExit(f"{path} reads no arguments")
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Pipeline:
    """A copy of the clone with a small quick start that is done; made once for all workers of pytest-xdist."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if base.name.startswith("popen-") else base) / "printed"
    with FileLock(f"{shared}.lock"):
        if not shared.exists():
            _make_clone(shared.with_name("printed.part"))
            shared.with_name("printed.part").rename(shared)
    own = tmp_path_factory.mktemp("clone") / "clone"
    subprocess.run(["cp", "-a", shared, own], check=True)
    return Pipeline(own)


def _make_clone(folder: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(QUICK_START))
    # What the pages write inside the project does as well beside an experiment.
    (greedy,) = (step for step in printed.steps(ROOT) if step.file == "src/bocu/learners/algorithms/epsilon_greedy.py")
    (folder / "own.py").write_text(greedy.text)
    (mine,) = (block for block in printed.blocks(ROOT, "yaml") if CLAIM in block.text)
    (folder / "mine.yaml").write_text(mine.text)
    (folder / "payoffs.csv").write_text("reference,one,two\n0.5,1,2\n0.5,3,1\n")
    # What docs/suggest.md and docs/suggest-examples.md ask about.
    Pipeline(folder).run(sys.executable, "docs/make_newsvendor_log.py")
    Pipeline(folder).run(sys.executable, "docs/make_suggest_examples.py", "irrigation", "wind", "--only-log")
    for name, dataset in load_catalogue(ROOT / "data/sources.yaml").datasets.items():
        for record in dataset.records.values():
            for file in record.files_of("mirror"):
                (folder / "mirror" / name).mkdir(parents=True, exist_ok=True)
                (folder / "mirror" / name / file.name).touch()
    Pipeline(folder).run("snakemake", *WARM)
    for name in ("local", "cluster"):
        shutil.copytree(folder / "results/quickstart", folder / "results" / name)
    (folder / "local.yaml").write_text(yaml.safe_dump({**QUICK_START, "name": "local"}))


@dataclass(frozen=True)
class Line:
    """A command with what its placeholders stand for."""

    words: list[str]
    inline: bool

    def starts(self, *words: str) -> bool:
        return self.words[: len(words)] == list(words)


@functools.cache
def _slurm_answers() -> bool:
    return shutil.which("sinfo") is not None and subprocess.run(["sinfo"], capture_output=True).returncode == 0


def _snakemake(line: Line, clone: Pipeline) -> None:
    if "profiles/slurm" in line.words and not _slurm_answers():
        pytest.skip("no SLURM answers")
    if line.words[-1] == "...":
        clone.run(*line.words[:-1], "--version")
    elif "--report" in line.words:
        clone.run(*line.words)
        assert (clone.folder / line.words[line.words.index("--report") + 1]).is_file()
    else:
        done = clone.run("snakemake", "--dry-run", *line.words[1:])
        silenced = line.words[-2:] == ["--quiet", "all"]
        assert silenced or re.search("Job stats|Nothing to be done", done.stdout + done.stderr)


def _bocu(line: Line, clone: Pipeline) -> None:
    if line.inline and all(word.startswith("-") for word in line.words[2:]):
        clone.run(*line.words, "--help")
        return
    if "profiles/slurm" in line.words and not _slurm_answers():
        pytest.skip("no SLURM answers")
    if "--replay" in line.words:
        clone.run("bocu", "reduce", "results/quickstart", "--output", "quickstart.nc")
        line = replace(line, words=[*line.words[:2], "quickstart.nc", *line.words[3:]])
    if line.starts("bocu", "archive", "check") and line.words[3:]:
        clone.run("bocu", "submit", "results/quickstart", "--by", "us", "--how", "here", "--output", "archived.nc")
        options = [STANDS_FOR["EXPERIMENT"] if word.endswith(".yaml") else word for word in line.words[4:]]
        line = replace(line, words=[*line.words[:3], "archived.nc", *options])
    if line.starts("bocu", "submit"):
        line = replace(line, words=[*line.words[:2], "results/quickstart", *line.words[3:], "--output", "submitted.nc"])
    if line.starts("bocu", "report") and "--archive" in line.words:
        line = replace(line, words=[*line.words[:2], "quickstart", *line.words[3:]])
    if line.starts("bocu", "reduce"):  # what was made here stands for a sweep of hours
        line = replace(line, words=[*line.words[:2], "results/quickstart", *line.words[3:]])
    if "--within" in line.words:
        line = replace(line, words=[*line.words[:2], line.words[3], *line.words[3:]])
    if line.starts("bocu", "crate"):
        if importlib.util.find_spec("repo2rocrate") is None:
            pytest.skip("not installed: repo2rocrate")
        line = replace(line, words=[*line.words[:4], f"crate-{Path(line.words[2]).stem}", *line.words[5:]])
    shorter = ["--iterations", "2"] if line.starts("bocu", "run") else []
    if line.starts("bocu", "resume"):
        line = replace(line, words=[*line.words[:2], STANDS_FOR["EXPERIMENT"], *line.words[3:]])
        shorter = [*([] if "--" in line.words else ["--", "--cores", "1"]), "--dry-run"]
    assert clone.run(*line.words, *shorter).stdout


def _make(line: Line, clone: Pipeline) -> None:
    clone.run("make", "--dry-run", *line.words[1:])


def _pip(line: Line, clone: Pipeline) -> None:
    assert line.starts("pip", "install")
    if "--requirement" in line.words:
        file = clone.folder / line.words[line.words.index("--requirement") + 1]
        lines = [entry for entry in file.read_text().splitlines() if entry and not entry.startswith("#")]
        assert all(Requirement(entry) for entry in lines)
    else:
        path, _, extras = line.words[-1].partition("[")
        known = tomllib.loads((clone.folder / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert extras in ("", "EXTRA]") or set(extras[:-1].split(",")) <= known.keys()
        said = _would_install(clone.folder, path)
        assert re.search("Would install .*(bocu|herpkg|snakemake-executor-plugin-warm)", said)


@functools.cache
def _would_install(folder: Path, path: str) -> str:
    """Return what pip says of a package."""
    offline = ("--dry-run", "--no-index", "--no-build-isolation", "--no-deps")
    return Pipeline(folder).run(sys.executable, "-m", "pip", "install", *offline, path).stdout


def _conda(line: Line, clone: Pipeline) -> None:
    if line.starts("conda", "activate"):
        assert yaml.safe_load((clone.folder / "environment.yml").read_text())["name"] == line.words[2]
        return
    assert line.words[:-1] == ["conda", "env", "create", "--file"]
    environment = yaml.safe_load((clone.folder / line.words[-1]).read_text())
    assert {"name", "channels", "dependencies"} == environment.keys()


def _python(line: Line, clone: Pipeline) -> None:
    words = [sys.executable, *line.words[1:]]
    if line.starts("python", "-m", "pip"):
        _pip(Line(line.words[2:], line.inline), clone)
    elif line.starts("python", "-m", "pytest"):
        if {"-k", "-m"} & set(words[3:]):
            clone.run(*words, "--collect-only", "-q")
        else:
            assert (clone.folder / words[-1]).exists()
    elif line.words[-1] == "...":
        clone.run(*words[:-1], "--version")
    elif line.words[1] in ("docs/make_gallery.py", "docs/make_published.py"):  # of sweeps that are not made here
        assert (clone.folder / line.words[1]).is_file()
    elif line.words[1] == "docs/make_learning_tables.py":  # likewise
        assert "no cubes; made by snakemake" in clone.run(*words, check=False).stderr
    elif line.words[1] == "docs/make_suggest_examples.py" and "--mirror" not in line.words:  # tests/advice plays them
        clone.run(*words, "--only-log")
    elif line.words[1].startswith("docs/") and "--mirror" not in line.words:
        clone.run(*words)
    elif line.words[1] == "-c":
        assert clone.run(*words).stdout
    elif line.words[1] == "-m":
        clone.run(sys.executable, "-c", PARSE_ARGUMENTS, *words[1:])
    else:
        clone.run(sys.executable, "-c", PARSE_ARGUMENTS, "", *words[1:])


def _slurm(line: Line, clone: Pipeline) -> None:
    if not _slurm_answers():
        pytest.skip("no SLURM answers")
    clone.run(*line.words)


def _snakedeploy(line: Line, clone: Pipeline) -> None:
    if shutil.which("snakedeploy") is None:
        pytest.skip("no snakedeploy")
    clone.run(*line.words, "--help")


def _sbatch(line: Line, clone: Pipeline) -> None:
    """Try what the job would do."""
    wrapped = shlex.split(line.words[line.words.index("--wrap") + 1])
    assert wrapped[0] == "exec"
    _snakemake(Line([STANDS_FOR.get(word, word) for word in wrapped[1:]], line.inline), clone)


def _cd(line: Line, clone: Pipeline) -> None:
    (folder,) = line.words[1:]
    assert (clone.folder / folder).is_dir()


def _checker(line: Line, clone: Pipeline) -> None:
    """Ask for help what looks at each commit; what it finds is not for tests."""
    if shutil.which(line.words[0]) is None:
        pytest.skip(f"not installed: {line.words[0]}")
    clone.run(line.words[0], "--help")


def _script(line: Line, clone: Pipeline) -> None:
    clone.run("bash", "-n", *line.words)


KINDS: dict[str, Callable[[Line, Pipeline], None]] = {
    "bocu": _bocu,
    "cd": _cd,
    **dict.fromkeys(("codespell", "repo-review", "rumdl", "zizmor"), _checker),
    "conda": _conda,
    "make": _make,
    "pip": _pip,
    "python": _python,
    "sbatch": _sbatch,
    "scancel": _slurm,
    "snakedeploy": _snakedeploy,
    "snakemake": _snakemake,
    ".ci/start-slurm": _script,
}


@pytest.mark.ci
@pytest.mark.parametrize(("words", "inline"), COMMANDS, ids=[" ".join(words) for words, _ in COMMANDS])
def test_a_command_does_what_it_says(words, inline, clone, monkeypatch):
    wanted = list(words)
    while "=" in wanted[0]:
        monkeypatch.setenv(*wanted.pop(0).split("="))
    stands_for = {**STANDS_FOR, **({"FILE": RUN} if wanted[:2] == FILE_TO_EXPLAIN.split() else {})}
    filled = [key + equals + stands_for.get(value, value) for key, equals, value in (_setting(word) for word in wanted)]
    assert filled[0] in KINDS, f"no rule says how to try '{' '.join(words)}'"
    KINDS[filled[0]](Line(filled, inline), clone)


def _setting(word: str) -> tuple[str, str, str]:
    """Split `key=value`; a word without `=` is a value."""
    key, equals, value = word.partition("=")
    return (key, equals, value) if equals else ("", "", key)


@pytest.mark.ci
@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, id=f"{block.page}-{i}")
        for i, block in enumerate(printed.blocks(ROOT, "python"))
        if block.page != "docs/botorch.md"
    ],
)
def test_a_block_of_python_runs(block, clone):
    if printed.lacking(block):
        pytest.skip(f"not installed: {', '.join(printed.lacking(block))}")
    clone.run(sys.executable, "-c", block.text)


@pytest.mark.parametrize(
    "block", [pytest.param(block, id=f"{block.page}-{i}") for i, block in enumerate(printed.blocks(ROOT, "yaml"))]
)
def test_each_key_of_a_block_of_yaml_fits_into_an_experiment(block):
    if CLAIM in block.text:  # a claims file, which the commands of its page read
        return
    if block.page.startswith("docs/suggest"):
        Settings.model_validate(yaml.safe_load(block.text))
        return
    for key in re.split(r"^(?=\w)", block.text, flags=re.MULTILINE)[1:]:
        parse_experiment({**QUICK_START, **yaml.safe_load(key)})


def test_blocks_of_toml_offer_classes_of_groups_that_are_looked_at():
    groups = {
        group
        for block in printed.blocks(ROOT, "toml")
        for group in tomllib.loads(block.text)["project"]["entry-points"]
    }
    assert groups
    assert groups <= {f"bocu.{kind}s" for kind in REGISTRY}


def test_no_block_is_of_an_unknown_kind():
    assert {block.language for block in printed.blocks(ROOT)} <= {
        "python",
        "snakemake",
        "mermaid",
        "text",
        "toml",
        "yaml",
        *printed.SHELL,
    }


def test_only_the_page_that_is_performed_as_a_whole_has_recipes():
    assert {block.page for block in printed.steps(ROOT)} == {printed.RECIPE}


def test_files_that_commands_name_are_there():
    named = {word for words, _ in _OF_OPTIONS.values() for word in words if word.startswith(("config/", "docs/"))}
    assert len(named) > 20
    assert not [name for name in named if not (ROOT / name).exists()]


def test_commands_of_each_kind_of_place_are_found():
    found = {(command.page, command.inline) for command in printed.commands(ROOT)}
    assert {("README.md", False), ("README.md", True), ("docs/commands.md", False), ("environment.yml", False)} <= found
    assert {f"config/experiments/{file.name}" for file in (ROOT / "config/experiments").glob("*.yaml")} <= {
        page for page, _ in found
    }
