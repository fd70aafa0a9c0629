"""A given initial design through the pipeline: written by a command, read by jobs, rerun by its content alone."""

import netCDF4
import numpy as np
import pytest


def experiment(name, initial, **changes):
    return {
        "name": name,
        "seeds": {"first": 0, "count": 4, "per_job": 2},
        "iterations": 3,
        "problems": [{"name": "hartmann-3", "parameters": {"decision_points": [4, 4], "initial": initial}}],
        "algorithms": ["random", "ucb-so"],
        "metrics": ["so"],
        "figures": [],
        **changes,
    }


def initial_rows(path):
    with netCDF4.Dataset(path) as data:
        rows = data["iteration"][:] <= 0
        return np.array(data["decision"][:])[:, rows], np.array(data["payoff"][:])


@pytest.mark.ci
def test_runs_start_from_a_file_and_follow_what_it_holds(pipeline):
    def files(name, *algorithms):
        blocks = [f"{algorithm}/seeds-{seeds}" for algorithm in algorithms or ["random"] for seeds in ("0-1", "2-3")]
        return [pipeline.folder / f"results/{name}/runs/hartmann-3/any/{block}.nc" for block in blocks]

    def run(configuration, wanted):
        pipeline.snakemake("--configfile", configuration, "--", *(path.relative_to(pipeline.folder) for path in wanted))

    drawn = pipeline.configuration(experiment("drawn", 2), "drawn.yaml")
    run(drawn, files("drawn", "random", "ucb-so"))
    pipeline.run("bocu", "design", *files("drawn"), "--output", "design.csv")
    given = pipeline.configuration(experiment("given", {"file": "design.csv"}), "given.yaml")
    assert pipeline.planned("--configfile", given)["design"] == 1
    run(given, files("given", "random", "ucb-so"))
    for one, other in zip(files("drawn", "random", "ucb-so"), files("given", "random", "ucb-so"), strict=True):
        for mine, theirs in zip(initial_rows(one), initial_rows(other), strict=True):
            np.testing.assert_array_equal(mine, theirs)

    (pipeline.folder / "elsewhere").mkdir()
    (pipeline.folder / "design.csv").rename(pipeline.folder / "elsewhere/moved.csv")
    moved = pipeline.configuration(experiment("given", {"file": "elsewhere/moved.csv"}), "given.yaml")
    assert not {"design", "run"} & set(pipeline.planned("--configfile", moved))

    text = (pipeline.folder / "elsewhere/moved.csv").read_text().splitlines()
    text[1], text[2] = text[2], text[1]
    (pipeline.folder / "elsewhere/moved.csv").write_text("\n".join(text) + "\n")
    planned = pipeline.planned("--configfile", moved)
    assert planned["design"] == 1
    assert planned["run"] == 4
    before = initial_rows(files("given")[0])[0]
    run(moved, files("given")[:1])
    after = initial_rows(files("given")[0])[0]
    np.testing.assert_array_equal(after[0], before[0][::-1])
    np.testing.assert_array_equal(after[1:], before[1:])


def test_faults_of_a_design_end_in_one_line_before_any_job(pipeline):
    (pipeline.folder / "design.csv").write_text("seed,decision_1,decision_2,context_1\n0,0,0,0\n")
    configuration = pipeline.configuration(experiment("given", {"file": "design.csv"}))
    failed = pipeline.snakemake("--configfile", configuration, check=False)
    assert failed.returncode == 1
    line = "problems.0.parameters.initial: design.csv: no rows of seed 1; it has 1 seeds, 0 to 0"
    assert line in failed.stderr
    refused = pipeline.run("bocu", "design", "design.csv", "--output", "other.csv", check=False)
    assert refused.returncode == 1
    assert "not a readable NetCDF file" in refused.stderr
