"""Bad input through the real command line: one clear line, a non-zero exit, no partial file."""

import pytest
from experiments import tiny

pytestmark = pytest.mark.workflow

FAULTS = {
    "unknown key": ("iteration: 3\n", "iteration: unknown key; did you mean 'iterations'?"),
    "unknown algorithm": (
        "algorithms: [pegpucb]\n",
        "algorithms.0.name: unknown algorithm 'pegpucb'; did you mean 'pe-gp-ucb'?",
    ),
    "missing mirror": ("problems: [sensors]\nmirror: nowhere\n", "nowhere"),
    "YAML 1.1": ("iterations: 1:30\n", "iterations: found '1:30' in line 15; YAML 1.1 takes it for 90"),
    "metric in a figure": (
        "figures: [{name: regret, parameters: {metrics: [soo]}}]\n",
        "figures.0.parameters.metrics.0: no metric 'soo' on 'hills'; did you mean 'so'?",
    ),
    "huge seeds": ("seeds: {count: 1000000000}\n", "seeds.count: found 1000000000; "),
}


def assert_one_line(done, *parts):
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")]
    assert done.returncode != 0
    assert len(lines) == 1, done.stdout + done.stderr
    for part in parts:
        assert part in lines[0]
    assert "Traceback" not in done.stdout + done.stderr


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
        *("bocu", "run", "--experiment", config, "--problem", "sensors", "--algorithm", "random", "--output", "a.nc"),
        check=False,
    )
    assert_one_line(done, "log-10min.nc: no such file; `snakemake data/download/intel/log-10min.nc` makes it")


@pytest.mark.parametrize("fault", FAULTS)
def test_both_ways_of_entry_say_the_same_line(pipeline, root, fault):
    (pipeline.folder / "data").symlink_to(root / "data")
    text, message = FAULTS[fault]
    keys = [line.partition(":")[0] for line in text.splitlines()]
    pipeline.configuration({key: value for key, value in tiny().items() if key not in keys}, "faulty.yaml")
    with (pipeline.folder / "faulty.yaml").open("a") as file:
        file.write(text)
    checked = pipeline.run("bocu", "check", "faulty.yaml", check=False)
    assert_one_line(checked, "faulty.yaml: ", message)
    planned = pipeline.snakemake("--configfile", "faulty.yaml", check=False)
    assert_one_line(planned, message)
    assert not (pipeline.folder / "results").exists()
