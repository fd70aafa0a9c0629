"""Maps of where a claim holds: what is drawn, what is said, and what the table holds."""

import csv
import json
import re

import matplotlib.patches as patches
import numpy as np
import pytest
import synthetic_cubes
from experiments import tiny

from bocu.core.errors import BocuError
from bocu.core.parameters import Reading, validate
from bocu.pages.figures.base import save
from bocu.pages.figures.region import OUTCOMES, Region, RegionParameters
from bocu.pages.figures.results import Digest, problem_names, standings_of
from bocu.pages.figures.who_wins import comparisons
from bocu.pages.report.pictures import picture
from bocu.sweep.evaluation.claims import read_claims
from bocu.sweep.evaluation.digests import build_digest
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan

CHECK = "final(pe-gp-ucb) < final(mle)"


def cubes(tmp_path, points):
    """A cube for each point: place -> values; at odd places the two algorithms change their numbers."""
    paths = []
    for place, at in enumerate(points):
        label = f"hills-{place}"
        data = synthetic_cubes.cube(label=label)
        data = data.isel(seed=np.arange(30) % synthetic_cubes.SEEDS)
        data["seed"] = ("seed", np.arange(30), data["seed"].attrs)
        if place % 2:
            swapped = data["regret"].copy()
            swapped.loc[{"algorithm": "pe-gp-ucb"}] = data["regret"].sel(algorithm="mle")
            swapped.loc[{"algorithm": "mle"}] = data["regret"].sel(algorithm="pe-gp-ucb")
            data["regret"] = swapped
        if place == 2:
            data["regret"].loc[{"algorithm": "mle"}] = data["regret"].sel(algorithm="pe-gp-ucb")
        data.attrs["swept"] = json.dumps({"problem": {label: {"base": "hills", "at": at}}})
        paths.append(synthetic_cubes.write(data, tmp_path / f"{label}.nc"))
    return paths


def grid(*axes, size=2):
    return [dict(zip(axes, values, strict=True)) for values in np.ndindex(*(size for _ in axes))]


def draw(paths, **parameters):
    figure = Region(RegionParameters(check=CHECK, **parameters))
    return figure.draw({"cubes": paths, "summary": ""})


def panels(drawing):
    return [axes for axes in drawing.figure.axes if axes.get_title() or axes.texts]


def test_cells_show_verdicts_and_numbers_and_mark_the_open(tmp_path):
    drawing = draw(cubes(tmp_path, grid("noise", "length")))
    (panel,) = panels(drawing)
    assert panel.get_xlabel() == "noise"
    assert panel.get_ylabel() == "length"
    texts = {(text.get_position()): text.get_text() for text in panel.texts}
    # Places 0 to 3 are (noise, length) = (0, 0), (0, 1), (1, 0), (1, 1).
    assert texts[0.5, 0.5].startswith("\N{MINUS SIGN}")
    assert not texts[0.5, 1.5].startswith("\N{MINUS SIGN}")
    assert texts[1.5, 0.5] == "0 ?"
    assert drawing.table["verdict"].tolist() == ["holds", "fails", "open", "fails"]
    assert drawing.table["noise"][0] == 0
    assert drawing.table["length"][0] == 0
    assert "holds at 1, open at 1, fails at 2" in drawing.caption
    assert {text.get_text() for text in drawing.figure.legends[0].get_texts()} == set(OUTCOMES)


def test_more_than_two_parameters_are_facets(tmp_path):
    drawing = draw(cubes(tmp_path, grid("a", "b", "c", "d")), rows="a", titles={"c": "third"})
    assert {axes.get_title() for axes in panels(drawing)} == {f"a {a}\nd {d}" for a in (0, 1) for d in (0, 1)}
    assert {axes.get_xlabel() for axes in panels(drawing)} == {"", "b"}
    assert {axes.get_ylabel() for axes in panels(drawing)} == {"", "third"}


def test_values_are_coloured_around_the_boundary_and_hatched_where_open(tmp_path):
    drawing = draw(cubes(tmp_path, grid("noise", "length")), show="value")
    panel = panels(drawing)[0]
    hatched = [patch for patch in panel.patches if isinstance(patch, patches.Rectangle) and patch.get_hatch()]
    assert [patch.get_xy() for patch in hatched] == [(1, 0)]
    norm = panel.collections[0].norm
    assert norm(0.0) == pytest.approx(0.5)


def test_its_table_stands_beside_it_and_in_the_report(tmp_path):
    drawing = draw(cubes(tmp_path, grid("noise")))
    files = [tmp_path / "all" / f"map.{suffix}" for suffix in ("png", "svg", "json")]
    files[0].parent.mkdir()
    save(drawing, *files)
    shown = picture(files[2], tmp_path)
    assert shown.table == "all/map.csv"
    assert [row["verdict"] for row in csv.DictReader((tmp_path / shown.table).open())] == ["holds", "fails"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"check": "final(a) <"}, "check: "),
        ({"check": "all(final(x) < final(y) for problem in [a, b])"}, "found one about a, b; allowed: one problem"),
        ({"check": "all(final(a) < final(b), final(a) < final(c))", "show": "value"}, "goes with a check of one"),
    ],
)  # fmt: skip
def test_wrong_checks_get_one_line(parameters, message):
    with pytest.raises(BocuError, match=message) as caught:
        validate(RegionParameters, parameters, "")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"check": "final(mlle) < final(random)"}, "figures.0.parameters.check: no algorithm of the file 'mlle'; did"),
        ({"x": "noisse"}, "figures.0.parameters.x: no swept parameter 'noisse'; did you mean 'noise'"),
        ({"problem": "hill"}, "figures.0.parameters.problem: no problem of the file 'hill'; did you mean 'hills'"),
        ({"metric": "ro"}, "figures.0.parameters.metric: no metric of the file 'ro'"),
    ],
)  # fmt: skip
def test_a_map_names_what_the_file_names(parameters, message):
    swept = {"problems.hills.noise": [0.1, 0.2], "algorithms.mle.sqrt_beta": [1, 2]}
    experiment = tiny(problems=["hills"], algorithms=["random", "mle"], sweep=swept)
    good = {"check": "final(mle) < final(random)", "problem": "hills", "x": "noise", "metric": "so"}
    make_plan({**experiment, "figures": [{"name": "region", "parameters": good}]})
    with pytest.raises(BocuError, match=message):
        make_plan({**experiment, "figures": [{"name": "region", "parameters": {**good, **parameters}}]})


def test_a_map_of_a_claim_is_that_of_its_check(tmp_path):
    (tmp_path / "claims").mkdir()
    file = tmp_path / "claims" / "paper.yaml"
    file.write_text(
        "experiment: another\nclaims:\n"
        "  - {id: ahead, statement: MLE is ahead., problem: hills, metric: so, check: final(mle) < final(random)}\n"
        "  - {id: untold, statement: Nothing can tell., problem: hills, check: null}\n",
        encoding="utf-8",
    )
    reading = Reading(tmp_path / "experiments")
    found = validate(RegionParameters, {"claim": "paper/ahead", "x": "noise"}, "", reading)
    spelt_out = {"title": "MLE is ahead.", "problem": "hills", "metric": "so", "check": "final(mle) < final(random)"}
    assert found == validate(RegionParameters, {**spelt_out, "x": "noise"}, "", reading)
    assert validate(RegionParameters, found.model_dump(mode="json"), "") == found  # a job has no claims file
    titled = validate(
        RegionParameters, {"claim": "paper/ahead", "title": "Mine", "problem": "hills-rough"}, "", reading
    )
    assert (titled.title, titled.problem) == ("Mine", "hills-rough")
    for wrong, told in [
        ({"claim": "paper/behind"}, "claim: no claim 'behind'; "),
        ({"claim": "other/ahead"}, "found 'other/ahead'; allowed: FILE/ID with FILE.yaml in"),
        ({"claim": "ahead"}, "found 'ahead'; allowed: FILE/ID"),
        ({"claim": "paper/untold"}, "found 'paper/untold', which has no check"),
        ({"claim": "paper/ahead", "check": "final(a) < 1"}, "found one beside a claim"),
        ({"x": "noise"}, "check: this key is required, or a claim"),
    ]:
        with pytest.raises(BocuError, match=re.escape(told)):
            validate(RegionParameters, wrong, "", reading)


def test_maps_of_the_shipped_regions_take_their_checks_from_claims(root):
    file = root / "config/experiments/ziomek2025-regions.yaml"
    plan = make_plan(read_experiment_file(file), [file])
    checks = {label: figure.parameters.check for label, figure in plan.figures.items()}
    claims = read_claims(root / "config/claims/ziomek2025.yaml")
    assert checks["ahead-of-mle"] == claims.claim("hills-ahead-of-mle").check
    assert checks["ahead-of-fully-bayesian"] == claims.claim("hills-ahead-of-fully-bayesian").check


def test_values_with_names_and_swept_problems_are_written_for_people(tmp_path):
    points = [{"kernel": kernel, "noise": noise} for kernel in ("se-se", "joint-m") for noise in (0.5, 1)]
    paths = cubes(tmp_path, points)
    drawing = draw(paths, titles={"se-se": "SE × SE"})
    (panel,) = panels(drawing)
    assert [label.get_text() for label in panel.get_xticklabels()] == ["SE × SE", "joint m"]
    assert "kernel SE × SE" in drawing.alternative
    build_digest(paths[0], tmp_path / "digest.nc")
    results = Digest(tmp_path / "digest.nc")
    assert results.called == "hills, kernel se se, noise 0.5"
    assert next(iter(problem_names([results]).values())) == "Three wells, kernel se se, noise 0.5"
    told, *_ = comparisons(results, None, standings_of(results))
    assert told.called.startswith("hills, kernel se se, noise 0.5, ")
