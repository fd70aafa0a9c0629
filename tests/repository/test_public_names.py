"""What `import bocu` offers to code of one's own."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest
import synthetic_cubes

import bocu
from bocu.core.io.provenance import SCHEMA_VERSION
from bocu.pages.figures import results as figures
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.sweep.evaluation.cubes import build_summary


@pytest.fixture
def cube_file(tmp_path):
    """A cube below the folder of an experiment."""
    return synthetic_cubes.write(synthetic_cubes.cube(), tmp_path / "results/trial/cubes/wells.nc")


@pytest.mark.parametrize("name", bocu.__all__)
def test_each_public_name_is_what_its_module_holds(name):
    home = importlib.import_module(f"bocu.{bocu._HOME[name]}")
    assert getattr(bocu, name) is getattr(home, name)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'worst_cas'"):
        bocu.worst_cas  # noqa: B018


def test_every_set_of_the_library_is_public():
    sets = {
        name
        for name in dir(importlib.import_module("bocu.robust.ambiguity"))
        if isinstance(kind := getattr(importlib.import_module("bocu.robust.ambiguity"), name), type)
        and issubclass(kind, AmbiguitySet)
    }
    assert sets - set(bocu.__all__) == set()


def test_a_learner_finds_the_decision_of_best_worst_expectation():
    decisions, contexts = np.linspace(0, 1, 9), np.linspace(0, 1, 5)
    payoffs = 2 * np.minimum.outer(decisions, contexts) - decisions[:, None]
    reference, objective = np.full(5, 0.2), bocu.UncertaintyObjective.dro(bocu.TotalVariation(0.4))
    learner = bocu.learner("ucb-bocu-2", decisions, contexts, objective, noise=0.01, lengthscale=0.5)
    world = np.random.default_rng(0)
    for day in range(1, 31):
        decision = learner.ask(bocu.Round(t=day, reference=reference))
        context = world.integers(5)
        learner.tell(decision, context, payoffs[decision, context])
    values = objective(payoffs, reference)
    assert values[learner.recommend()] == values.max()


@pytest.mark.parametrize(
    ("arguments", "settings", "line"),
    [
        (("ts-boc", [0.0], [0.0]), {}, "unknown algorithm 'ts-boc'; did you mean 'ts-bocu'"),
        (("ts-bocu", [0.0], [0.0]), {}, "^ts-bocu: found objective None; an UncertaintyObjective is wanted"),
        (("pe-gp-ucb", [0.0], [0.0]), {}, "^pe-gp-ucb: the problem offers no candidate priors"),
        (("sbo-kde", [0.0], [0.0]), {}, "^sbo-kde: contexts in a bounded box are wanted"),
        (("ucb-so", [0.0], [0.0]), {"sqrt_bet": 1}, "^ucb-so: sqrt_bet: unknown key; did you mean 'sqrt_beta'"),
        (("ucb-so", [], [0.0]), {}, r"decisions: found shape \(0, 1\); allowed"),
        (("ucb-so", [0.0], [0.0]), {"lengthscale": (1, 2, 3)}, "lengthscale: found 3 numbers; allowed: 1, or 2"),
        (("ucb-so", [0.0], bocu.BoxDomain(np.zeros(1), np.ones(1), ("c",), ("1",))), {}, "contexts: found a box"),
    ],
)
def test_what_a_learner_cannot_be_built_from_gets_one_line(arguments, settings, line):
    with pytest.raises(bocu.BocuError, match=line):
        bocu.learner(*arguments, **settings)


def test_a_cube_opens_lazily_by_file_and_by_folder(cube_file):
    with bocu.open_cube(cube_file) as by_file, bocu.open_cube(cube_file.parents[1], cube_file.stem) as by_folder:
        assert by_file.identical(by_folder)
        assert not by_file["regret"].variable._in_memory


@pytest.mark.parametrize(("version", "writer"), [(1, "an earlier"), (99, "a later")])
def test_a_cube_of_another_version_says_what_to_do(cube_file, version, writer):
    synthetic_cubes.write(synthetic_cubes.cube().assign_attrs(schema_version=version), cube_file)
    for opened in (bocu.open_cube, figures.Cube):
        with pytest.raises(bocu.BocuError) as caught:
            opened(cube_file)
        line = str(caught.value)
        assert line.startswith(f"{cube_file}: attribute 'schema_version': found {version}; allowed: {SCHEMA_VERSION}")
        assert f"{writer} version of bocu wrote it" in line
        assert line.endswith("delete it and it will be made again")


def test_the_summary_is_what_a_folder_opens_with(cube_file):
    build_summary([cube_file], cube_file.with_name("summary.nc"))
    with bocu.open_cube(cube_file.parents[1]) as summary:
        assert summary["cumulative_regret"].dims[0] == "problem"


def test_what_is_no_cube_gets_one_line(cube_file, tmp_path):
    import xarray as xr

    with pytest.raises(bocu.BocuError, match=f"no such file; cubes that are there: {cube_file.stem}"):
        bocu.open_cube(cube_file.parents[1], "elsewhere")
    with pytest.raises(bocu.BocuError, match="'problem' goes with the folder"):
        bocu.open_cube(cube_file, "hills")
    with pytest.raises(bocu.BocuError, match="no such file"):
        bocu.open_cube(tmp_path / "nothing.nc")
    xr.Dataset({"x": ("seed", [1, 2])}).to_netcdf(tmp_path / "other.nc")
    with pytest.raises(bocu.BocuError, match="no cube: it has no dimension objective and no algorithm and no metric"):
        bocu.open_cube(tmp_path / "other.nc")


def test_a_shell_completes_commands():
    environment = {**os.environ, "COMP_WORDS": "bocu wor", "COMP_CWORD": "1", "_BOCU_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv = ['bocu']; from bocu.commands.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "worst-case" in done.stdout
    assert "status" not in done.stdout
