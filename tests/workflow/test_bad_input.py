"""Bad input through the real command line: one clear line, a non-zero exit, no partial file."""

import pytest
from experiments import tiny

pytestmark = pytest.mark.workflow

ENTRY = {"name": "hills", "parameters": {"grid": 60}}

FAULTS = {
    "unknown key": ({"iteration": 3}, "iteration: unknown key; did you mean 'iterations'?"),
    "unknown nested key": ({"seeds": {"count": 3, "perjob": 1}}, "seeds.perjob: unknown key; did you mean 'per_job'?"),
    "wrong type": ({"iterations": "many"}, "iterations: found 'many'; input should be a valid integer"),
    "a list where a number belongs": ({"iterations": [1]}, "iterations: found [1]"),
    "truth value": ({"threads": True}, "threads: found True; a number is wanted"),
    "negative seeds": ({"seeds": {"count": -3}}, "seeds.count: found -3; input should be greater than or equal to 1"),
    "negative first seed": ({"seeds": {"first": -3, "count": 1}}, "seeds.first: found -3"),
    "no iterations": ({"iterations": 0}, "iterations: found 0"),
    "no problems": ({"problems": []}, "problems: found []"),
    "name in capitals": ({"name": "Tiny"}, "name: found 'Tiny'"),
    "label with a slash": ({"algorithms": [{"name": "mle", "label": "a/b"}]}, "algorithms.0.label: found 'a/b'"),
    "label twice": ({"algorithms": ["mle", "mle"]}, "algorithms: the label 'mle' stands twice"),
    "unknown problem": ({"problems": ["hill"]}, "problems.0.name: unknown problem 'hill'; did you mean 'hills'?"),
    "unknown algorithm": (
        {"algorithms": ["pegpucb"]},
        "algorithms.0.name: unknown algorithm 'pegpucb'; did you mean 'pe-gp-ucb'?",
    ),
    "unknown metric": ({"metrics": ["sso"]}, "metrics.0.name: unknown metric 'sso'; did you mean 'so'?"),
    "unknown figure": ({"figures": ["regrets"]}, "figures.0.name: unknown figure 'regrets'; did you mean 'regret'?"),
    "unknown parameter": (
        {"problems": [{"name": "hills", "parameters": {"gird": 1}}]},
        "problems.0.parameters.gird: unknown key; did you mean 'grid'?",
    ),
    "parameter out of range": (
        {"algorithms": [{"name": "pe-gp-ucb", "parameters": {"delta": -1}}]},
        "algorithms.0.parameters.delta: found -1",
    ),
    "duplicate branch": (
        {"algorithms": ["mle", {"name": "mle", "label": "copy"}]},
        "'copy' is the same as 'mle': duplicate branches",
    ),
    "empty branch": (
        {"algorithms": ["mle", {"name": "random", "problems": []}]},
        "'random' runs on no problem of this experiment: an empty branch",
    ),
    "problem without algorithm": (
        {
            "problems": [ENTRY, {"name": "hills", "label": "idle"}],
            "algorithms": [{"name": "mle", "problems": ["hills"]}],
        },
        "no algorithm runs on 'idle': an empty branch",
    ),
    "filter with unknown label": (
        {"algorithms": [{"name": "mle", "problems": ["hils"]}]},
        "has the label 'hils'; did you mean 'hills'?",
    ),
    "unknown source": (
        {"data": "web"},
        "data.source: found 'web'; input should be 'download', 'mirror', 'shipped' or 'simulate'",
    ),
    "mirror without folder": ({"data": "mirror"}, "source 'mirror' and the key 'mirror'"),
    "missing mirror": ({"problems": ["sensors"], "mirror": "nowhere"}, "nowhere"),
    "priors after the target": (
        {"problems": [{"name": "sensors", "parameters": {"log": {"priors_from": "2004-03-20"}}}], "data": "simulate"},
        "priors_from 2004-03-20 is not before the target",
    ),
    "interval that is not offered": (
        {"problems": [{"name": "sensors", "parameters": {"log": {"interval": 7}}}], "data": "simulate"},
        "interval 7 min; allowed: ",
    ),
}


def assert_one_line(done, *parts):
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")]
    assert done.returncode != 0
    assert len(lines) == 1, done.stdout + done.stderr
    for part in parts:
        assert part in lines[0]
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_experiment_gets_one_line(pipeline, root, fault):
    (pipeline.folder / "data").symlink_to(root / "data")
    change, message = FAULTS[fault]
    config = pipeline.configuration(tiny(**change), "faulty.yaml")
    assert_one_line(pipeline.run("bocu", "check", config, check=False), "faulty.yaml: ", message)


@pytest.mark.parametrize("fault", ["unknown key", "unknown algorithm", "missing mirror"])
def test_the_workflow_says_the_same_line(pipeline, fault):
    change, message = FAULTS[fault]
    config = pipeline.configuration(tiny(**change), "faulty.yaml")
    assert_one_line(pipeline.snakemake("--configfile", config, check=False), "faulty.yaml: ", message)
    assert not (pipeline.folder / "results").exists()
    assert not (pipeline.folder / "data").exists()


def test_an_override_is_blamed_on_the_command_line(pipeline):
    config = pipeline.configuration(tiny())
    done = pipeline.snakemake("--configfile", config, "--config", "iterations=few", check=False)
    assert_one_line(done, "error: --config: iterations: found 'few'")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--algorithm", "mle"), ["no branch 'hills/any/mle'; did you mean 'hills/any/"]),
        (
            ("--algorithm", "random", "--objective", "dro"),
            ["no branch 'hills/dro/random'; did you mean 'hills/any/random'?"],
        ),
        (("--algorithm", "random", "--iterations", "-4"), ["--config: iterations: found -4"]),
    ],
)
def test_bocu_run_refuses_what_is_not_there(pipeline, root, arguments, parts):
    (pipeline.folder / "data").symlink_to(root / "data")
    config = pipeline.configuration(tiny())
    done = pipeline.run(
        "bocu", "run", "--experiment", config, "--problem", "hills", "--output", "a.nc", *arguments, check=False
    )
    assert_one_line(done, *parts)
    assert not (pipeline.folder / "a.nc").exists()


def test_bocu_run_names_the_command_that_makes_a_missing_input(pipeline, root):
    (pipeline.folder / "data").symlink_to(root / "data")
    config = pipeline.configuration(tiny(problems=["sensors"], data={"source": "download"}))
    done = pipeline.run(
        "bocu",
        "run",
        "--experiment",
        config,
        "--problem",
        "sensors",
        "--algorithm",
        "random",
        "--output",
        "a.nc",
        check=False,
    )
    assert_one_line(done, "log-10min.nc: no such file; `snakemake data/download/intel/log-10min.nc` makes it")


@pytest.mark.parametrize("text", ["a: [1", "just text", ""])
def test_a_file_that_is_no_experiment_gets_one_line(pipeline, text):
    (pipeline.folder / "faulty.yaml").write_text(text)
    assert_one_line(pipeline.run("bocu", "check", "faulty.yaml", check=False), "faulty.yaml: ")


def test_an_unknown_kind_to_list_gets_one_line(pipeline):
    said = (
        "unknown kind 'problem'; did you mean 'problems'? (allowed: algorithms, data, figures, laws, metrics, models, "
    )
    assert_one_line(pipeline.run("bocu", "list", "problem", check=False), f"{said}objectives, ")


RAW = {
    "YAML 1.1": ("iterations: 1:30\n", "iterations: found '1:30' in line 15; YAML 1.1 takes it for 90"),
    "a key twice": ("iterations: 3\niterations: 4\n", "the key 'iterations' stands twice"),
    "radius of several forms": (
        "objectives: [{name: dro, parameters: {set: {radius: margins}}}]\n",
        "objectives.0.parameters.set.radius: found 'margins'; did you mean 'margin'? (allowed: a number from 0 on",
    ),
    "metric in a figure": (
        "figures: [{name: regret, parameters: {metrics: [soo]}}]\n",
        "figures.0.parameters.metrics.0: no metric 'soo' on 'hills'; did you mean 'so'?",
    ),
    "label of a file": ("problems: [{name: hills, label: summary}]\n", "problems.0.label: found 'summary'"),
    "huge seeds": ("seeds: {count: 1000000000}\n", "seeds.count: found 1000000000; "),
    "unknown paper": ("papers: [ziomek2052]\n", "papers.0: unknown paper 'ziomek2052'; did you mean 'ziomek2025'?"),
}


@pytest.mark.parametrize("fault", RAW)
def test_both_ways_of_entry_say_the_same_line(pipeline, root, fault):
    (pipeline.folder / "data").symlink_to(root / "data")
    text, message = RAW[fault]
    keys = [line.partition(":")[0] for line in text.splitlines()]
    pipeline.configuration({key: value for key, value in tiny().items() if key not in keys}, "faulty.yaml")
    with (pipeline.folder / "faulty.yaml").open("a") as file:
        file.write(text)
    checked = pipeline.run("bocu", "check", "faulty.yaml", check=False)
    assert_one_line(checked, "faulty.yaml: ", message)
    planned = pipeline.snakemake("--configfile", "faulty.yaml", check=False)
    assert_one_line(planned, message)
    assert not (pipeline.folder / "results").exists()


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_another_encoding_ends_snakemake_too(pipeline, encoding):
    import yaml

    text = yaml.safe_dump(tiny(title="Übung"), allow_unicode=True)
    (pipeline.folder / "faulty.yaml").write_bytes(text.encode(encoding))
    done = pipeline.snakemake("--configfile", "faulty.yaml", check=False)
    assert done.returncode != 0
    assert not (pipeline.folder / "results").exists()


def test_a_byte_order_mark_disturbs_neither(pipeline, root):
    import yaml

    (pipeline.folder / "data").symlink_to(root / "data")
    (pipeline.folder / "marked.yaml").write_text(yaml.safe_dump(tiny()), encoding="utf-8-sig")
    assert "1 problem" in pipeline.run("bocu", "check", "marked.yaml").stdout
    assert pipeline.planned("--configfile", "marked.yaml")["run"] == 4
