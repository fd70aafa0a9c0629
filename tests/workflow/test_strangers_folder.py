"""Somebody else's results through every command: nothing of theirs runs, and nothing outside of results/ changes."""

import hashlib
import json
import pickle
import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from experiments import tiny
from workflow.conftest import ROOT, Pipeline

from bocu.commands.main import COMMANDS

pytestmark = [pytest.mark.workflow, pytest.mark.ci]

SCRIPT = "</script><script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(1)>"
LONG = "x" * 10**6
RUN = "results/tiny/runs/hills/any/random/seeds-0-1.nc"
CUBE = "results/tiny/cubes/hills.nc"

# Every command, with what a user may ask of such a folder. PAGE stands for the page in it, ZIP for all of it. What only
# the records `theirs` and `settings` name: test_what_only_a_record_names.
CALLS = {
    "run": ["--experiment own.yaml --problem hills --algorithm random --output out.nc --iterations 2"],
    "list": ["algorithms", "algorithms results/theirs/none.py:Evil"],
    "check": ["own.yaml", "absolute", "numbers", "deep", "../theirs", "ZIP"],
    "init": ["out"],
    "new": ["algorithm mine --folder results/theirs"],
    "design": [f"{RUN} --output out.csv", "results/theirs/long.nc --output out.csv", "ZIP --output out.csv"],
    "schema": ["--output out.json"],
    "worst-case": ["results/theirs/long.nc --set tv --epsilon 0.1", "ZIP --set tv --epsilon 0.1"],
    "suggest": ["results/theirs/log.csv --decisions order --contexts rain --outcome profit --report out.html"],
    "replay": ["results/theirs/log.csv --decisions order --contexts rain --outcome profit --report out.html --steps 2"],
    "plan": ["own.yaml", "numbers"],
    "status": ["own.yaml", "absolute", "deep"],
    "resume": ["own.yaml", "absolute", "numbers"],
    "accept": ["own.yaml", "absolute"],
    "why": [RUN, CUBE, "results/theirs/runs/a.nc", "results/settings/a.nc", f"{RUN} --experiment own.yaml", "ZIP"],
    "diff": [
        *("results/tiny results/theirs", f"{RUN} results/theirs/long.nc", "results/theirs/long.nc ZIP"),
        "results/tiny results/theirs --within",
    ],
    "reduce": ["results/tiny --output out.nc", "results/theirs --output out.nc", "ZIP --output out.nc"],
    "prune": ["own.yaml", "own.yaml --delete", "theirs --delete"],
    "verify": ["own.yaml", "absolute", "PAGE", "results/theirs/page.html", "ZIP"],
    "report": ["own.yaml --output out/index.html", "tiny --output out/index.html"],
    "audit": ["own.yaml --cases 1 --moments 0"],
    "crate": ["own.yaml --output out", "theirs --output out", "settings --output out"],
    "submit": ["results/tiny --by me --output out.nc", "results/theirs --by me --output out.nc", "ZIP --by me"],
    "archive": ["list --folder results/theirs", "check results/theirs/long.nc --folder out", "add ZIP --folder out"],
    "id": ["own.yaml", "theirs", "absolute", "results/theirs/long.nc"],
    "claims": ["claims.yaml", "claims.yaml --results ZIP", "results/theirs/claims.yaml", "claims.yaml --results ."],
}
OUTPUTS = ("out", "reports", ".snakemake", "data", "__pycache__", ".out")
PAGES = ("out*.html", "out/*.html", "reports/**/*.html")


def evil(canary: Path) -> str:
    return f"from pathlib import Path\nPath({str(canary)!r}).touch()\n\nclass Evil:\n    pass\n"


class Payload:
    """What a pickle runs when it is read."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self):
        return Path.touch, (self.canary,)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Finished results, whose titles are HTML."""
    pipeline = Pipeline(tmp_path_factory.mktemp("made"))
    own = tiny(
        title=IMAGE,
        iterations=4,
        seeds={"count": 2, "per_job": 2},
        algorithms=[{"name": "random", "title": IMAGE}, {"name": "pe-gp-ucb", "title": SCRIPT}],
    )
    pipeline.snakemake("--configfile", pipeline.configuration(own, "own.yaml"))
    return pipeline.folder


@pytest.fixture
def stranger(made, tmp_path):
    """A working folder with somebody else's results, and with files of the user's that are none of their business."""
    home = tmp_path / "home"
    shutil.copytree(made, home / "work", ignore=shutil.ignore_patterns(".snakemake"))
    (home / "precious").mkdir()
    for name in ("notes.txt", "seeds-0-1.nc", "a.json", "host-1.json"):
        (home / "precious" / name).write_text("mine")
    (home / "work/claims.yaml").write_text(yaml.safe_dump({"paper": "tiny", "experiment": "tiny", "claims": []}))
    pipeline = Pipeline(home / "work", {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    fill(home / "work/results", tmp_path / "canary", home / "precious")
    shutil.make_archive(str(tmp_path / "all"), "zip", home / "work/results/theirs")
    shutil.move(tmp_path / "all.zip", home / "work/results/theirs/all.zip")
    return pipeline


def fill(results: Path, canary: Path, precious: Path) -> None:
    """Put what a stranger may have put there."""
    import netCDF4

    theirs = results / "theirs"
    theirs.mkdir()
    (theirs / "evil.py").write_text(evil(canary))
    (theirs / "Snakefile").write_text(evil(canary))
    experiment = {**tiny(name="theirs"), "algorithms": ["evil.py:Evil"]}
    (theirs / "evil.yaml").write_text(yaml.safe_dump(experiment))
    record = json.loads((results / "tiny/experiment.json").read_text())
    written = {
        "theirs": {"files": ["results/theirs/evil.yaml"], "config": {}},
        "settings": {"files": ["own.yaml"], "config": {"algorithms": [f"{theirs}/evil.py:Evil"], "name": "settings"}},
        "absolute": {
            "files": [f"{theirs}/evil.yaml", "/dev/zero"],
            "config": {"--snakefile": str(theirs / "Snakefile")},
        },
        "numbers": {"files": 3, "config": [LONG]},
    }
    for name, made_from in written.items():
        (results / name).mkdir(exist_ok=True)
        (results / name / "experiment.json").write_text(json.dumps({**record, "name": name, "made_from": made_from}))
    (results / "deep").mkdir()
    (results / "deep/experiment.json").write_text("[" * 10**5)
    with netCDF4.Dataset(theirs / "long.nc", "w") as data:
        for name in ("specification", "fingerprint", "inputs", "lineage", "title", "experiment", "description"):
            data.setncattr(name, LONG)
        data.createDimension("context", 2)
        data.createVariable("payoff", float, ("context",)).setncattr("long_name", SCRIPT)
    for stage in ("runs", "cubes", "scores"):
        (theirs / stage).mkdir()
        shutil.copy(theirs / "long.nc", theirs / stage / "a.nc")
    (theirs / "log.csv").write_text(
        "order,rain,profit\n" + "".join(f"{IMAGE if i % 2 else SCRIPT},{i % 3},{i % 5}\n" for i in range(30))
    )
    (theirs / "claims.yaml").write_text(yaml.safe_dump({"paper": IMAGE, "experiment": "theirs", "claims": [LONG]}))
    numbers = {"version": 1, "panels": [], "experiments": ["results/theirs/evil.yaml", "../../precious"]}
    (theirs / "page.html").write_text(f'<script type="application/json" id="numbers">{json.dumps(numbers)}</script>')
    # Links that lead out of it, folders and files.
    (results / "tiny/runs/more").symlink_to(precious)
    shutil.rmtree(results / "tiny/checkpoints", ignore_errors=True)
    (results / "tiny/checkpoints").mkdir()
    (results / "tiny/checkpoints/hills").symlink_to(precious)
    (results / "tiny/audit.json").symlink_to(precious / "a.json")
    (results / "theirs/logs").symlink_to(precious)
    # Calls of Snakemake, and machine code.
    (results / ".calls").mkdir(exist_ok=True)
    for number, arguments in enumerate(COMMAND_LINES):
        note(results, f"host-{number}", number, arguments(results))
    note(results, "aside", 7, ["--cores", "1"], host="../../../precious/host", process=1)
    (results / ".calls/host-8.lock").symlink_to(precious / "notes.txt")
    note(results, "host-8", 8, ["--snakefile", "evil"], logs=["/dev/zero", str(precious / "notes.txt")])
    code = results / ".machine-code"
    for name in ("wasserstein_chain-0", "critical_line-0"):
        (code / name).mkdir(parents=True)
        (code / name / "ready").touch()
        (code / name / "walk-1.py311.nbi").write_bytes(pickle.dumps(Payload(canary)))


def note(results: Path, name: str, number: int, arguments: list[str], **changes: object) -> None:
    told = {"experiment": "tiny", "host": "host", "process": number, "started": float(number), "logs": [], **changes}
    (results / f".calls/{name}.json").write_text(json.dumps({**told, "arguments": arguments}))


COMMAND_LINES = [
    lambda results: ["--cores", "1", "--snakefile", f"{results}/theirs/Snakefile"],
    lambda results: ["--snakef", f"{results}/theirs/Snakefile"],
    lambda results: [f"-s{results}/theirs/Snakefile"],
    lambda results: ["--workflow-profile", f"{results}/theirs"],
    lambda results: ["--configfile", "results/theirs/evil.yaml"],
    lambda results: ["--configfile", "own.yaml", "--config", "algorithms=[results/theirs/evil.py:Evil]"],
    lambda results: ["--default-resources", "mem_mb=__import__('pathlib').Path('canary').touch()"],
    lambda results: ["--precommand", "touch canary"],
    lambda results: ["--configfile", "own.yaml", "--directory", f"{results}/../../precious"],
    lambda results: ["--config", "name=x", "--", "-s", f"{results}/theirs/Snakefile"],
]


def snapshot(folder: Path) -> dict[str, str]:
    """What stands outside of results/, but for what the commands are asked to write."""
    found = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        below = parts[1] if parts[0] == "work" and len(parts) > 1 else ""
        if below != "results" and not below.startswith(OUTPUTS) and path.is_file():
            found["/".join(parts)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def assert_harmless(pipeline: Pipeline, before: dict[str, str], *command: str) -> str:
    done = pipeline.run(*command, check=False)
    said = f"{shlex.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert done.returncode in (0, 1, 2), said
    assert "Traceback" not in done.stdout + done.stderr, said
    assert not list(pipeline.folder.parent.parent.rglob("canary")), said
    assert snapshot(pipeline.folder.parent) == before, said
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) <= 1, said
    assert all(len(line) < 2000 for line in (done.stdout + done.stderr).splitlines()), said[:2000]
    for page in [page for place in PAGES for page in pipeline.folder.glob(place)]:
        text = page.read_text()
        assert SCRIPT not in text
        assert IMAGE not in text
    return done.stdout + done.stderr


def test_every_command_is_asked():
    assert set(CALLS) == set(COMMANDS)


@pytest.mark.parametrize("name", CALLS)
def test_nothing_of_a_strangers_runs_and_nothing_outside_is_written(stranger, name):
    before = snapshot(stranger.folder.parent)
    for line in CALLS[name]:
        words = line.replace("PAGE", "results/tiny/report/index.html").replace("ZIP", "results/theirs/all.zip").split()
        assert_harmless(stranger, before, "bocu", name, *words)


def test_what_only_a_record_names_is_refused_in_a_line_that_says_what_it_was(stranger):
    before = snapshot(stranger.folder.parent)
    for command in ("status", "verify", "check", "plan", "report", "accept", "audit", "prune", "resume"):
        for name in ("theirs", "settings"):
            said = assert_harmless(stranger, before, "bocu", command, name)
            (line,) = said.splitlines()
            assert line.startswith("error: ")
            assert f"not imported: {stranger.folder}/results/theirs/evil.py:Evil" in line
            assert f"because results/{name}/experiment.json asks for it" in line
            assert "--trust" in line
    done = stranger.run("bocu", "status", "theirs", "--trust", check=False)
    assert "Traceback" not in done.stderr
    assert (stranger.folder.parent.parent / "canary").exists()


def test_a_recorded_command_line_is_refused_in_a_line_that_says_what_it_would_have_run(stranger):
    before = snapshot(stranger.folder.parent)
    results = stranger.folder / "results"
    for link in (results / "tiny").rglob("*"):
        if link.is_symlink():
            link.unlink()
    for number, recorded in enumerate(COMMAND_LINES):
        shutil.rmtree(results / ".calls")
        (results / ".calls").mkdir()
        arguments = recorded(results)
        note(results, f"host-{number}", number, arguments)
        (line,) = assert_harmless(stranger, before, "bocu", "resume", "own.yaml").splitlines()
        assert line.startswith(f"error: results/.calls/host-{number}.json: ")
        assert f"not run: {shlex.join(['snakemake', *arguments])}; " in line
        assert line.endswith("give arguments after `--`, or --trust to run these")


def test_a_link_out_of_results_is_not_written_through(stranger):
    for command in (["resume"], ["accept"], ["audit"], ["prune", "--delete"]):
        done = stranger.run("bocu", *command, "own.yaml", check=False)
        assert done.returncode == 1
        line = done.stderr.splitlines()[-1]
        assert "a link out of results/, to " in line
        assert "--trust" in line


def test_a_command_line_that_names_nothing_of_a_strangers_is_taken_up(stranger):
    results = stranger.folder / "results"
    shutil.rmtree(results / ".calls")
    for link in (results / "tiny").rglob("*"):
        if link.is_symlink():
            link.unlink()
    (results / ".calls").mkdir()
    given = ["--snakefile", f"{ROOT}/Snakefile", "--cores", "1", "--executor", "warm"]
    note(results, "host-1", 1, [*given, "--configfile", "own.yaml", "--", CUBE])
    said = assert_harmless(stranger, snapshot(stranger.folder.parent), "bocu", "resume", "own.yaml")
    assert f"snakemake {shlex.join([*given, '--configfile', 'own.yaml', '--', CUBE])}" in said
    assert "Nothing to be done" in said
    assert not list((results / ".calls").iterdir())
