"""Classes from outside take part as our own do: found, named, fingerprinted, planned and refused."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import own_package
import pytest
import yaml

from bocu.core import loading
from bocu.core.errors import BocuError
from bocu.core.loading import load, refuse_unknown_classes
from bocu.sweep.experiment import plugins, registry
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import RegisteredClass, find
from bocu.sweep.experiment.resources import estimate

OWN = Path(__file__).parents[1] / "own_plugins.py"


def forget():
    plugins._points.cache_clear()
    own_package.forget()


@pytest.fixture
def folder(tmp_path, monkeypatch, root):
    """The folder of an experiment of somebody's, with a home of its own, seen from the clone."""
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(loading.VARIABLE, "{}")
    mine = tmp_path / "mine"
    mine.mkdir()
    shutil.copyfile(OWN, mine / "own.py")
    forget()
    yield mine
    forget()


def experiment(**changes):
    halo = {"name": "own.py:Contamination", "radius": 0.3, "share": 0.5}
    return {
        "name": "own",
        "seeds": 2,
        "iterations": 5,
        "problems": ["own.py:Seesaw"],
        "objectives": [{"name": "dro", "label": "contaminated", "parameters": {"set": halo}}, "own.py:Hopeful"],
        "algorithms": ["random", {"name": "own.py:MyGreedy", "parameters": {"epsilon": 0.2}}, "own.py:Sober"],
        "metrics": ["own.py:Median", "own.py:Hopeful", {"name": "dro", "parameters": {"set": halo}}],
        "figures": ["regret", "own.py:LastRound"],
        **changes,
    }


def planned(folder, **changes):
    file = folder / "own.yaml"
    config = experiment(**changes)
    file.write_text(json.dumps(config))
    return make_plan(config, [file])


def everything(plan):
    """The parameters of all jobs."""
    jobs = plan.parameters
    runs = {branch.key: jobs.run(branch, 0, 1) for branch in plan.branches.values()}
    scores = {branch.key: jobs.score(branch) for branch in plan.branches.values()}
    figures = {label: jobs.figure(label, "seesaw") for label in plan.figures}
    return {"runs": runs, "scores": scores, "cubes": jobs.cube("seesaw"), "figures": figures, "report": jobs.report()}


def changed(before, after):
    """What is out of date, by kind of job."""
    out = {
        kind: {"/".join(key) if isinstance(key, tuple) else key for key in jobs if jobs[key] != after[kind][key]}
        for kind, jobs in before.items()
    }
    return {kind: keys for kind, keys in out.items() if keys}


GREEDY, SOBER, RANDOM = "seesaw/any/my-greedy", "seesaw/contaminated/sober", "seesaw/any/random"
HOPEFUL = "seesaw/hopeful/sober"
EVERY = {GREEDY, SOBER, RANDOM, HOPEFUL}


def test_a_package_that_only_an_extra_brings_is_named_by_the_extra():
    with pytest.raises(BocuError, match=r"^smac: not installed; .*: pip install 'bocu\[smac\]'$"):  # noqa: SIM117
        with loading.naming_extras():
            raise ModuleNotFoundError(name="smac.facade")
    with pytest.raises(ModuleNotFoundError), loading.naming_extras():
        raise ModuleNotFoundError(name="of_nobody")


def test_a_specification_says_what_a_class_is_and_not_where_it_stands(folder, tmp_path):
    before = everything(planned(folder))
    specification = json.loads(before["runs"]["seesaw", "any", "my-greedy"]["specification"])
    assert specification["algorithm"]["class"].startswith("algorithm/MyGreedy@")
    assert specification["problem"]["class"].startswith("problem/Seesaw@")
    ours = json.loads(before["runs"]["seesaw", "contaminated", "sober"]["specification"])["objective"]
    assert ours["class"] == "objective/dro"
    assert ours["parameters"]["set"]["name"].startswith("Contamination@")
    assert ours["parameters"]["set"]["share"] == 0.5
    assert str(tmp_path) not in json.dumps({str(key): jobs for key, jobs in before["runs"].items()})
    elsewhere = tmp_path / "else" / "where"
    shutil.copytree(folder, elsewhere)
    shutil.rmtree(folder)
    forget()
    assert everything(planned(elsewhere)) == before


EDITS = [
    ("return self.recommend()", "return 0", {"runs": {GREEDY}, "scores": {GREEDY}}),
    ('"""Best on average so far."""', '"""Best."""  # so far', {}),
    ('title="My greedy"', 'title="Mine"', {"cubes": {"description"}}),
    (
        "share = min(self.epsilon, 1.0)",
        "share = min(self.epsilon, 0.5)",
        {"runs": {SOBER}, "scores": EVERY, "cubes": {"description"}, "report": {"experiment"}},
    ),
    ("np.median(payoffs, axis=1)", "np.mean(payoffs, axis=1)", {"scores": EVERY, "cubes": {"description"}}),
    ('"A dot a seed."', '"Dots."', {"figures": {"last-round"}}),
    ("seat**2 / 2", "seat**2", {"runs": EVERY, "scores": EVERY}),
    (
        "self.weight * payoffs.max",
        "0.5 * self.weight * payoffs.max",
        {"runs": {HOPEFUL}, "scores": EVERY, "cubes": {"description"}},  # the objective is a metric too
    ),
]


def test_an_edit_reruns_what_uses_it_and_no_more(folder):
    before = everything(planned(folder))
    for old, new, stale in EDITS:
        own_package.edit(folder / "own.py", old, new)
        after = everything(planned(folder))
        assert changed(before, after) == stale, new
        before = after


def test_an_edit_between_two_plans_of_a_process_is_noticed(folder):
    def told():
        plan = planned(folder)
        return plan.algorithm_abouts["my-greedy"]["title"], plan.branches["seesaw", "any", "my-greedy"].specification

    (title, before), text = told(), (folder / "own.py").read_text()
    text = text.replace('title="My greedy"', 'title="Mine"').replace("return self.recommend()", "return 0")
    (folder / "own.py").write_text(text)
    assert title == "My greedy"
    assert told()[0] == "Mine"
    assert told()[1]["algorithm"]["class"] != before["algorithm"]["class"]


def test_a_class_is_told_what_does_not_fit_it(folder):
    with pytest.raises(
        BocuError, match=r"algorithms\.0\.objectives: 'choosy' cannot pursue 'hopeful': it has no slope"
    ):
        planned(folder, algorithms=[{"name": "own.py:Choosy", "objectives": ["hopeful"]}])


def test_a_class_from_outside_is_planned_as_ours(folder):
    day = {"dataset": "intel", "target": "2004-03-05", "priors_from": "2004-03-01"}
    common = {"algorithms": ["oracle", "pe-gp-ucb"], "objectives": [], "metrics": ["so"], "figures": ["regret"]}
    common["data"] = "simulate"
    ours = planned(folder, problems=[{"name": "sensors", "label": "weather", "parameters": _known(day)}], **common)
    theirs = planned(folder, problems=[{"name": "own.py:Weather", "parameters": _known(day)}], **common)
    assert theirs.products.by_stage() == ours.products.by_stage()
    assert theirs.priors("weather") == ours.priors("weather") != {}
    assert theirs.inputs.prior("weather") == ours.inputs.prior("weather")
    assert theirs.iterations("weather") == ours.iterations("weather")
    for key, branch in ours.branches.items():
        mine = theirs.branches[key]
        assert mine.problem.parameters.model_dump(mode="json") == branch.problem.parameters.model_dump(mode="json")
        assert estimate(mine, 2) == estimate(branch, 2)


def test_a_class_from_outside_takes_candidate_priors_and_a_given_design(folder):
    rows = [f"{seed},0.5,0.5,0.5" for seed in (0, 1)]
    (folder / "design.csv").write_text("\n".join(["seed,decision_1,decision_2,context_1", *rows]) + "\n")
    parameters = {"initial": {"file": str(folder / "design.csv")}}
    calm = {"name": "stated", "label": "calm", "parameters": {"lengthscale": 0.2}}
    common = {"priors": [calm, {**calm, "label": "wild"}], "objectives": ["so"], "figures": ["regret"]}
    common |= {"algorithms": ["random", "pe-gp-ucb"], "metrics": ["so"]}
    ours = planned(folder, problems=[{"name": "hartmann-3", "label": "cave", "parameters": parameters}], **common)
    theirs = planned(folder, problems=[{"name": "own.py:Cave", "parameters": parameters}], **common)
    plain = [plan.problems["cave"].parameters.model_dump(mode="json") for plan in (theirs, ours)]
    assert plain[0] == plain[1]
    assert [one["label"] for one in plain[0]["candidates"]] == ["calm", "wild"]
    assert theirs.designs() == ours.designs() != {}
    assert theirs.branches.keys() == ours.branches.keys()
    assert theirs.inputs.problem("cave") == ours.inputs.problem("cave")
    assert theirs.inputs.prior("cave") == ours.inputs.prior("cave") == {}


def _known(given):
    from bocu.problems.sensors import Sensors

    return {key: value for key, value in given.items() if key in Sensors.Parameters.model_fields}


@pytest.mark.parametrize(
    ("top", "said"),
    [
        ("import pandas, torch", "imports .*pandas.*torch"),
        ("def late():\n    import torch", ""),
    ],
)
def test_a_heavy_package_at_the_top_of_a_file_is_refused_by_check(folder, root, top, said):
    (folder / "own.py").write_text(f"{OWN.read_text()}\n\n{top}\n")
    (folder / "own.yaml").write_text(json.dumps(experiment()))
    command = [sys.executable, "-m", "bocu.commands.main", "check", str(folder / "own.yaml")]
    done = subprocess.run(command, cwd=root, env=os.environ, capture_output=True, text=True)
    assert done.returncode == bool(said)
    if said:
        line = done.stderr.splitlines()[-1]  # after those that say how long it is at work
        assert re.search(rf"^error: .* \(own\.py:\w+\): importing it {said}.*; import that inside the functions", line)
    else:
        assert "problem 'seesaw': from outside: own.py:Seesaw" in done.stdout


def test_what_a_class_raises_while_it_is_planned_is_one_line(folder):
    text = OWN.read_text() + "\n\ndef failing(*arguments):\n    1 / 0\n\n\nMyGreedy.plays = failing\n"
    (folder / "own.py").write_text(text)
    line = len(text[: text.index("1 / 0")].splitlines())
    with pytest.raises(BocuError, match=rf"own\.py:\w+\): {folder / 'own.py'}, line {line}: ZeroDivisionError: div"):
        planned(folder)


BREACHES = {
    "NoAbout": "about: found None; allowed: About(title=..., summary=...)",
    "NoParameters": "Parameters: found None; allowed: a class that derives from bocu.core.parameters.Parameters",
    "OfOtherWorlds": "protocols: found 'genral'; did you mean 'general'?",
    "Half": "it has no ask, recommend, tell, which every algorithm has",
    "Pursuing": "allowed: a class that derives from bocu.learners.algorithms.base.AlgorithmParameters",
    "function": "found a function that does not derive from bocu.learners.algorithms.base.Algorithm",
    "Stranger": "found a class that does not derive from bocu.learners.algorithms.base.Algorithm",
    "Absent": "defines no 'Absent'",
}
BROKEN = """
from bocu.learners.algorithms.simple import Random
from bocu.learners.algorithms.base import Algorithm
from bocu.core.about import About

class NoAbout(Random):
    about = None

class NoParameters(Random):
    Parameters = None

class OfOtherWorlds(Random):
    protocols = ("genral",)

class Half(Algorithm):
    about = About(title="x", summary="y")

class Pursuing(Random):
    pursues_objective = True

class Stranger:
    pass

def function():
    pass
"""


def test_a_breach_of_the_contract_is_one_line(folder):
    (folder / "broken.py").write_text(BROKEN)
    for name, breach in BREACHES.items():
        with pytest.raises(BocuError) as refused:
            planned(folder, algorithms=[f"broken.py:{name}"])
        line = str(refused.value)
        assert line.startswith(f"{folder / 'own.yaml'}: algorithms.0.name: ")
        assert f"broken.py:{name}" in line
        assert breach in line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "import no_such_library\nclass Mine: pass\n",
            "importing .* line 1 failed on .*: ModuleNotFoundError: No module",
        ),
        ("class Mine(:\n", "broken.py, line 1: invalid syntax"),
        ("class Mine: pass\n\0", r"/broken\.py: source code string cannot contain null bytes"),
        ("raise KeyError('no')\nclass Mine: pass\n", "importing .* line 1 failed on .*: KeyError: 'no'$"),
        ("import sys\nsys.exit(3)\nclass Mine: pass\n", "importing .* line 2 failed on .*: SystemExit: 3$"),
    ],
)
def test_a_file_that_cannot_be_imported_is_one_line(folder, text, line):
    (folder / "broken.py").write_text(text)
    with pytest.raises(BocuError, match=line):
        planned(folder, algorithms=["broken.py:Mine"])


@pytest.mark.ci
@pytest.mark.parametrize("fault", ["raise SystemExit", "1 / 0"])
def test_a_class_that_fails_when_it_is_made_is_one_line_of_a_run(folder, root, fault):
    for name in ("MyGreedy", "Seesaw"):
        text = (root / OWN).read_text() + f"\n\ndef failing(*arguments):\n    {fault}\n\n\n{name}.__init__ = failing\n"
        (folder / "failing.py").write_text(text)
        own = experiment(problems=["failing.py:Seesaw"], algorithms=["failing.py:MyGreedy"])
        (folder / "own.yaml").write_text(yaml.safe_dump(own))
        command = ["run", "--experiment", folder / "own.yaml", "--problem", "seesaw", "--algorithm", "my-greedy"]
        done = subprocess.run(
            [sys.executable, "-m", "bocu.commands.main", *command, "--output", folder / "a.nc"],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert line.startswith("error: ")
        assert f"/{name}@" in line
        assert (
            f"could not be made: {folder / 'failing.py'}, line {text[: text.index(fault)].count(chr(10)) + 1}: " in line
        )
        assert not (folder / "a.nc").exists()


WRONG = [
    (
        {"algorithms": [{"name": "own.py:MyGreedy", "parameters": {"epsilon": 2}}]},
        "epsilon: found 2; input should be",
    ),
    ({"algorithms": ["elsewhere.py:MyGreedy"]}, "no file .*elsewhere.py on "),
    ({"algorithms": ["os:system"]}, "'os' is Python's own or a library"),
    ({"algorithms": ["own.py:Median"]}, "does not derive from bocu.learners.algorithms.base.Algorithm"),
    (
        {"algorithms": [{"name": "own.py:", "label": "own"}]},
        "allowed: a name, 'module:Class' or 'path/to/file.py:Class'",
    ),
    (
        {"objectives": [{"name": "dro", "parameters": {"set": {"name": "own.py:Contamination", "shore": 1}}}]},
        r"objectives\.0\.parameters\.set\.shore: found 1; .*did you mean 'share'",
    ),
]


def test_a_wrong_value_names_file_and_key(folder):
    for change, line in WRONG:
        with pytest.raises(BocuError, match=line) as refused:
            planned(folder, **change)
        assert str(refused.value).startswith(f"{folder / 'own.yaml'}: ")


# In the process of a job


JOB = """
import json, sys
from bocu.core.errors import BocuError
from bocu.core.loading import load
try:
    print(load(sys.argv[1]).__name__)
except BocuError as error:
    print(error)
"""


def in_a_job(called, cwd):
    done = subprocess.run(
        [sys.executable, "-P", "-c", JOB, called], cwd=cwd, env=os.environ, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_job_in_another_folder_finds_the_class_and_says_what_is_amiss(folder, tmp_path):
    plan = planned(folder)
    called = plan.branches["seesaw", "any", "my-greedy"].specification["algorithm"]["class"]
    assert in_a_job(called, tmp_path) == "MyGreedy"
    text = (folder / "own.py").read_text()
    (folder / "own.py").write_text(text.replace("return self.recommend()", "return 0"))
    assert "its code has changed since the experiment was planned" in in_a_job(called, tmp_path)
    (folder / "own.py").unlink()
    assert f"no file {folder / 'own.py'} on " in in_a_job(called, tmp_path)


# What a file of results may ask for


def test_a_recorded_specification_loads_what_the_experiment_names_and_nothing_else(folder, monkeypatch):
    specification = planned(folder).branches["seesaw", "any", "my-greedy"].specification
    refuse_unknown_classes(specification, "a file")
    assert load(specification["algorithm"]["class"]).__name__ == "MyGreedy"
    monkeypatch.setenv(loading.VARIABLE, "{}")
    with pytest.raises(BocuError, match=r"a file: .* which the experiment at hand does not name; refused"):
        refuse_unknown_classes(specification, "a file")
    trap = (
        {"class": "own.py:MyGreedy"},
        {"class": "algorithm/own.py:MyGreedy"},
        {"class": "algorithm/own_plugins:Sober"},
    )
    for asked in trap:
        with pytest.raises(BocuError, match=r"asks to import|unknown algorithm"):
            refuse_unknown_classes(asked, "a file")
    monkeypatch.chdir(folder)
    with pytest.raises(Exception, match=r"unknown set 'own\.py:Contamination'"):
        load("objective/dro").from_specification({"set": {"name": "own.py:Contamination"}})


# Entry points


def install(folder, name, points, monkeypatch):
    """Put a package with entry points on the path, as pip would."""
    package = name.replace("-", "_")
    (folder / package).mkdir()
    shutil.copyfile(OWN, folder / package / "parts.py")
    (folder / package / "__init__.py").write_text("")
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(folder))
    for module in [module for module in sys.modules if module.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)  # that of another test
    plugins._points.cache_clear()


POINTS = """[bocu.algorithms]
my-greedy = their_lab.parts:MyGreedy
random = their_lab.parts:MyGreedy
[bocu.sets]
contamination = their_lab.parts:Contamination
[bocu.objectives]
hopeful = their_lab.parts:Hopeful
"""


def test_entry_points_are_named_as_our_own_are(folder, tmp_path, monkeypatch, capsys):
    from bocu.commands.listing import list_command
    from bocu.commands.schema import experiment_schema

    site = tmp_path / "site"
    site.mkdir()
    install(site, "their-lab", POINTS, monkeypatch)
    halo = {"set": {"name": "contamination", "radius": 0.1}}
    changes = {
        "problems": ["gp-sample"],
        "objectives": [{"name": "dro", "parameters": halo}],
        "algorithms": ["random", "my-greedy", "ts-bocu"],
        "metrics": ["hopeful"],
        "figures": ["regret"],
    }
    plan = planned(folder, **changes)
    specification = plan.branches["gp-sample", "any", "my-greedy"].specification
    assert specification["algorithm"]["class"] == "algorithm/my-greedy"
    assert plan.branches["gp-sample", "any", "random"].algorithm.registered == RegisteredClass(
        "algorithm", "random", registry.REGISTRY["algorithm"]["random"]
    )
    refuse_unknown_classes(specification, "a file")
    assert load("algorithm/my-greedy").__module__ == "their_lab.parts"
    branch = plan.branches["gp-sample", "any", "my-greedy"]
    before = plan.parameters.run(branch, 0, 1)
    own_package.edit(site / "their_lab/parts.py", "return self.recommend()", "return 0")
    after = plan.parameters.run(branch, 0, 1)
    assert before["specification"] == after["specification"]
    assert before["fingerprint"] != after["fingerprint"]
    list_command("algorithms")
    assert "my-greedy" in capsys.readouterr().out
    list_command("algorithms", "my-greedy")
    assert "from: entry point 'my-greedy' of their-lab" in capsys.readouterr().out
    assert "my-greedy" in json.dumps(experiment_schema(installed=True)["$defs"]["AlgorithmEntry"])
    assert "my-greedy" not in json.dumps(experiment_schema()["$defs"]["AlgorithmEntry"])
    with pytest.raises(BocuError, match="unknown algorithm 'my-gready'; did you mean 'my-greedy'"):
        find("algorithm", "my-gready")
    path = list(sys.path)
    sys.path.remove(str(site))  # as on a machine that lacks the package
    plugins._points.cache_clear()
    with pytest.raises(
        BocuError, match="'my-greedy': entry point 'my-greedy' of their-lab, which is not installed on "
    ):
        load("algorithm/my-greedy")
    sys.path[:] = path
    other = tmp_path / "other"
    other.mkdir()
    install(other, "their-other", POINTS.replace("their_lab", "their_other"), monkeypatch)
    with pytest.raises(BocuError, match="'my-greedy': offered by their-lab and by their-other; remove all but one"):
        find("algorithm", "my-greedy")


def test_a_package_is_fingerprinted_with_what_it_imports_of_its_own(folder, tmp_path, monkeypatch):
    site = tmp_path / "site"
    (site / "laboratory").mkdir(parents=True)
    (site / "laboratory/__init__.py").write_text("")
    (site / "laboratory/numbers.py").write_text("def best():\n    return 0\n\n\ndef other():\n    return 0\n")
    (site / "laboratory/main.py").write_text(
        "from bocu.learners.algorithms.simple import Random\nfrom laboratory.numbers import best\n\n\n"
        "class Mine(Random):\n    def ask(self, round):\n        return best()\n"
    )
    (folder / "beside.py").write_text(
        "from bocu.learners.algorithms.simple import Random\nfrom laboratory.numbers import best\n\n\n"
        "class Mine(Random):\n    def ask(self, round):\n        return best() + 0\n"
    )
    monkeypatch.syspath_prepend(str(site))
    forget()

    def identities():
        plan = planned(folder, algorithms=["laboratory.main:Mine", {"name": "beside.py:Mine", "label": "beside"}])
        branches = [branch for branch in plan.branches.values() if branch.problem.label == "seesaw"]
        return [branch.specification["algorithm"]["class"] for branch in branches]

    before = identities()
    assert all(called.startswith("algorithm/Mine@") for called in before)
    own_package.edit(site / "laboratory/numbers.py", "def other():\n    return 0", "def other():\n    return 1")
    forget()
    assert identities() == before
    own_package.edit(site / "laboratory/numbers.py", "def best():\n    return 0", "def best():\n    return 1")
    forget()
    assert not set(identities()) & set(before)


def test_a_worst_case_by_a_set_of_ones_own(folder, monkeypatch):
    from typer.testing import CliRunner

    from bocu.commands.main import app

    monkeypatch.chdir(folder)
    (folder / "payoffs.csv").write_text("reference,order\n0.5,4\n0.0,2\n0.5,6\n")
    said = CliRunner().invoke(app, ["worst-case", "payoffs.csv", "--set", "own.py:Contamination", "--epsilon", "0.25"])
    assert said.exit_code == 0, said.output
    assert float(said.stdout.splitlines()[1].split(",")[1]) == 0.75 * 5.0 + 0.25 * 2.0


def test_a_package_adds_a_command(tmp_path, monkeypatch, capsys):
    from bocu.commands import main

    install(
        tmp_path, "their-tools", "[bocu.commands]\nshout = their_tools:shout\nrun = their_tools:shout\n", monkeypatch
    )
    (tmp_path / "their_tools/__init__.py").write_text(
        'def shout(word: str) -> None:\n    """Shout."""\n    print(word.upper())\n'
    )
    monkeypatch.setattr(main.app, "registered_commands", list(main.app.registered_commands))
    monkeypatch.setattr(sys, "argv", ["bocu", "shout", "hello"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert not ended.value.code
    assert capsys.readouterr().out == "HELLO\n"


def test_laws_and_shifts_of_a_package_are_named_by_their_entry_points(folder, tmp_path, monkeypatch, capsys):
    from bocu.commands.listing import list_command

    site = tmp_path / "site"
    site.mkdir()
    points = "[bocu.laws]\nbeta = their_lab.parts:Beta\n[bocu.shifts]\nalternating = their_lab.parts:Alternating\n"
    install(site, "their-lab", points, monkeypatch)
    shift = {"name": "alternating", "parameters": {"storm": {"name": "beta", "parameters": {"a": 3.0}}}}
    problem = {"name": "newsvendor", "parameters": {"shift": shift}}
    plan = planned(folder, problems=[problem], algorithms=["random"], metrics=["so"], figures=["regret"])
    branch = plan.branches["newsvendor", "any", "random"]
    assert {"their_lab.parts:Alternating", "their_lab.parts:Beta"} <= set(branch.roots)
    assert [(entry.kind, name) for name, entry in plan.outside()] == [("law", "beta"), ("shift", "alternating")]
    before = plan.parameters.run(branch, 0, 1)["fingerprint"]
    own_package.edit(site / "their_lab/parts.py", "return base if t % 2 else", "return base if t % 3 else")
    again = planned(folder, problems=[problem], algorithms=["random"], metrics=["so"], figures=["regret"])
    assert again.parameters.run(branch, 0, 1)["fingerprint"] != before
    for kind, name in (("laws", "beta"), ("shifts", "alternating")):
        list_command(kind)
        assert name in capsys.readouterr().out
