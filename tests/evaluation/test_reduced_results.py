"""Reduced results judge claims and compare as the cubes do that they are made from."""

import json
import shutil
from contextlib import ExitStack

import numpy as np
import pytest
import synthetic_cubes
from typer.testing import CliRunner

from bocu.commands.main import app
from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_netcdf
from bocu.pages.report.claims import StandingCubes
from bocu.sweep.evaluation.agreement import AGREES, DIFFERS, EQUAL, TOO_FEW, agreements
from bocu.sweep.evaluation.claims.expressions import Measure, Scope
from bocu.sweep.evaluation.claims.model import Claim
from bocu.sweep.evaluation.claims.numbers import CubeNumbers
from bocu.sweep.evaluation.claims.places import Place
from bocu.sweep.evaluation.claims.records import checks_of, read_verdicts, write_verdicts
from bocu.sweep.evaluation.claims.reduced import freeze, numbers_in, read_reduced, reduce_results
from bocu.sweep.evaluation.claims.verdicts import verdicts
from bocu.sweep.evaluation.regions import region

SEEDS, ROUNDS = 36, 24
CHECKS = {
    "final": "final(pe-gp-ucb) < final(random)",
    "mean": "mean(mle) < mean(random)",
    "at-share": "at(mle, 0.5) < at(oracle, 0.25)",
    "at-end": "at(mle, 24) < at(oracle, 24)",
    "growth": "growth(mle) < 1",
    "metric": "ratio(final(mle, metric=ro), final(random, metric=ro)) < 1",
    "prior": "all(share(pe-gp-ucb, prior=b) > 0.5, rejected(pe-gp-ucb, prior=a) > 0.5, sticks(mle, prior=c) > 0.5)",
    "seconds": "seconds(mle) < 1",
    "hypervolume": "all(hypervolume(mle) < 0.9, hypervolume(mle, metric=ro) > 0.5)",
    "absent": "payoff(mle) > 0",
    "unknown": "final(nobody) < 1",
}
ABOUT = {"experiment": "synthetic", "problem": "wells"}
CLAIMS = [Claim(id=name, statement=name, check=check, **ABOUT) for name, check in CHECKS.items()]


def noisy(seeds=range(SEEDS), shift=0.0, stream=0):
    """A cube with `SEEDS` seeds whose regrets are told apart by noise; `shift` moves those of mle."""
    rng = np.random.default_rng(stream)
    cube = synthetic_cubes.cube().isel(seed=np.arange(len(seeds)) % synthetic_cubes.SEEDS)
    cube = cube.assign_coords(seed=("seed", list(seeds), {"long_name": "seed", "units": "1"}))
    cube["regret"] = cube["regret"] * rng.uniform(0.5, 1.5, cube["regret"].shape)
    cube["regret"].loc[{"algorithm": "mle"}] += shift
    cube["regret"].attrs = {"long_name": "a number", "units": "degree_Celsius"}
    return cube


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of an experiment, one finished problem and one that left the plan, and their reduction."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "synthetic" / "cubes").mkdir(parents=True)
    cube = noisy().isel(iteration=np.arange(ROUNDS) % synthetic_cubes.ITERATIONS)
    cube["iteration"] = cube["iteration"].copy(data=np.arange(1, ROUNDS + 1))
    fronts = np.random.default_rng(1).uniform(0.8, 0.95, (*cube["regret"].shape[:4], 3, 2))
    for name, front in {"front_guarantee": fronts, "best_front_guarantee": np.ones_like(fronts)}.items():
        dims = (*cube["regret"].dims[:4], "weight", "output")
        cube[name] = (dims, front, {"long_name": "a number", "units": "degree_Celsius"})
    cube["status"][0, 2, -1] = 0
    cube["regret"][0, 2, :, -1] = np.nan
    synthetic_cubes.write(cube, folder / "synthetic/cubes/wells.nc")
    synthetic_cubes.write(noisy().assign_attrs(problem_label="left"), folder / "synthetic/cubes/left.nc")
    made = {"config": {"seeds": {"count": SEEDS}, "mirror": "/secret"}, "files": ["/secret/wells.yaml"]}
    record = {"iterations_of": {"wells": ROUNDS}, "made_from": made, "data": {"mirror": "/secret"}, "title": "Wells"}
    (folder / "synthetic/experiment.json").write_text(json.dumps(record), encoding="utf-8")
    reduce_results(folder / "synthetic", folder / "published" / "synthetic.nc")
    return folder


def test_verdicts_and_numbers_are_those_of_the_cubes(results):
    reduced = read_reduced(results / "published/synthetic.nc")
    by_cubes = verdicts(CLAIMS, lambda experiment, problem: results / experiment / "cubes" / f"{problem}.nc")
    by_reduced = verdicts(CLAIMS, lambda experiment, problem: reduced.problems[problem])
    for claim, whole, found in zip(CLAIMS, by_cubes, by_reduced, strict=True):
        assert (found.outcome, found.reason, found.seeds) == (whole.outcome, whole.reason, whole.seeds), claim.id
        if claim.id != "at-share":
            assert repr(found) == repr(whole)
        else:  # in single precision
            assert found.findings[0].value.value == pytest.approx(whole.findings[0].value.value, rel=1e-6)
            assert found.p_value == pytest.approx(whole.p_value, rel=1e-5)
    assert {found.outcome for found in by_reduced} == {"holds", "fails", "open", "not run"}


def test_a_round_that_was_not_kept_is_named_with_those_that_were(results):
    numbers = read_reduced(results / "published/synthetic.nc").problems["wells"]
    with pytest.raises(BocuError, match=r"round 11 of 'wells'; kept in reduced results: 2, 5, 6, 7, 10, 12, .*, 24$"):
        numbers.measured(Measure("at", "mle", 11.0), Scope("wells"))


def test_claims_on_a_problem_that_is_planned_and_was_not_gathered_are_not_run(results, tmp_path):
    folder = tmp_path / "synthetic"
    shutil.copytree(results / "synthetic", folder)
    record = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    record["iterations_of"]["springs"] = ROUNDS
    (folder / "experiment.json").write_text(json.dumps(record), encoding="utf-8")
    reduce_results(folder, tmp_path / "published/synthetic.nc")
    standing = StandingCubes(tmp_path / "published")
    assert standing.problems("synthetic") == {"wells", "springs"}
    assert standing.cube("synthetic", "springs") is None


def test_final_numbers_alone_are_the_same_and_say_what_was_left_out(results, tmp_path):
    runner = CliRunner().invoke(
        app, ["reduce", str(results / "synthetic"), "--final", "--output", str(tmp_path / "final.nc")]
    )
    assert runner.exit_code == 0, runner.output
    kept, every = (read_netcdf(file) for file in (tmp_path / "final.nc", results / "published/synthetic.nc"))
    words = {"final", "seconds", "share", "rejected"}
    assert set(kept["row_word"].values.astype(str)) == words < set(every["row_word"].values.astype(str))
    assert not kept["regret_until"].size
    whole, final = (
        read_reduced(file).problems["wells"] for file in (results / "published/synthetic.nc", tmp_path / "final.nc")
    )
    for word in ("final", "mean", "seconds"):
        measure = Measure(word, "mle")
        assert final.measured(measure, Scope("wells")) == whole.measured(measure, Scope("wells"))
    with pytest.raises(BocuError, match="'wells' was reduced without 'growth', which the check asks for; kept: final,"):
        final.measured(Measure("growth", "mle"), Scope("wells"))
    with pytest.raises(BocuError, match=r"found round 5 of 'wells'; kept in reduced results: 24$"):
        final.measured(Measure("at", "mle", 5.0), Scope("wells"))
    sticks = Measure("sticks", "pe-gp-ucb", options=(("prior", "b"),))
    with pytest.raises(BocuError, match="'wells' was reduced without 'sticks'"):
        final.measured(sticks, Scope("wells"))
    by_final = verdicts(CLAIMS, lambda experiment, problem: final)
    assert {found.outcome for found in by_final} >= {"holds", "not run"}
    shared = agreements({"wells": final}, {"wells": CubeNumbers(read_netcdf(results / "synthetic/cubes/wells.nc"))})
    assert {one.verdict for one in shared.shared} == {EQUAL}


def test_a_map_of_regions_is_that_of_the_cubes(results):
    reduced = read_reduced(results / "published/synthetic.nc").problems.values()
    cells = region(CLAIMS[0], list(reduced))
    assert repr(cells) == repr(region(CLAIMS[0], [read_netcdf(results / "synthetic/cubes/wells.nc")]))


def test_the_file_says_what_was_run_and_names_no_place_of_a_machine(results):
    data = read_netcdf(results / "published/synthetic.nc")
    assert json.loads(data.attrs["settings"]) == {"seeds": {"count": SEEDS}}
    assert len(data.attrs["experiment_sha256"]) == 64
    assert data.attrs["title"] == "Wells"
    assert list(data["problem"].values) == ["wells"]  # the other one is not planned
    assert b"secret" not in (results / "published/synthetic.nc").read_bytes()


def test_the_file_says_by_what_its_runs_were_made(tmp_path):
    told = {"commit": '["abc", "def-dirty"]', "kernel": '["Haswell, AVX2"]', "fingerprint": '["0123456789abcdef"]'}
    synthetic_cubes.write(noisy().assign_attrs(told), tmp_path / "synthetic/cubes/wells.nc")
    synthetic_cubes.write(noisy().assign_attrs(problem_label="before"), tmp_path / "synthetic/cubes/before.nc")
    reduce_results(tmp_path / "synthetic", tmp_path / "reduced.nc")
    found = read_netcdf(tmp_path / "reduced.nc").attrs
    assert {key: json.loads(found[key]) for key in told} == {  # of the cube of an earlier version nothing is known
        key: [*json.loads(value), "unknown"] for key, value in told.items()
    }


def test_what_claims_asked_when_results_were_reduced_is_kept_and_a_change_says_so(results, tmp_path):
    folder = tmp_path / "synthetic"
    shutil.copytree(results / "synthetic", folder)
    cubes = [folder / "cubes/wells.nc"]
    write_verdicts(
        [
            *({"file": "c.yaml", **one.model_dump()} for one in CLAIMS[:2]),
            {"file": "c.yaml", **CLAIMS[2].model_dump(), "experiment": "another"},
        ],
        "synthetic",
        cubes,
        folder / "claims/verdicts.json",
    )
    records = read_verdicts(folder / "claims/verdicts.json")[:2]
    reduce_results(folder, tmp_path / "published/synthetic.nc")
    assert read_reduced(tmp_path / "published/synthetic.nc").checks == checks_of(records)

    def said(records, place=tmp_path / "published"):
        return list(StandingCubes(place).frozen(records))

    assert said(records) == ["What is asked of `synthetic` is as frozen with it."]
    records[1]["check"] = "final(mle) < final(random)"
    first, second = (f"c.yaml: {one['id']}" for one in records)
    assert said(records) == [f"What is asked of `synthetic` is new or changed: {second}."]
    assert said(records[1:]) == [f"What is asked of `synthetic` is new or changed: {second}; gone: {first}."]
    assert said([records[0], {**records[1], "id": "new"}])[0].endswith(f"changed: c.yaml: new; gone: {second}.")

    older = tmp_path / "older"
    shutil.copytree(results / "published", older)
    assert said(records, older) == ["What is asked of `synthetic` was never frozen."]
    freeze(older / "synthetic.nc", records)
    freeze(older / "synthetic.nc", records[:1])  # the first time stays
    assert said(records, older) == ["What is asked of `synthetic` is as frozen with it."]


def reduced_part(folder, cubes, seeds, name="name", earlier=()):
    """Reduce cubes by label, of an experiment of two problems and 36 seeds, of which some seeds were run."""
    asked = {"first": seeds[0], "count": len(seeds)}
    made = {"config": {"seeds": asked}, "stated": {"seeds": SEEDS}}
    record = {"made_from": made, "seeds": {**asked, "per_job": 4}, "iterations_of": {"wells": 1, "ponds": 1}}
    for label, cube in cubes.items():
        told = {"commit": name, "kernel": name, **cube.attrs, "problem_label": label}
        synthetic_cubes.write(cube.sel(seed=list(seeds)).assign_attrs(told), folder / f"synthetic/cubes/{label}.nc")
    (folder / "synthetic/experiment.json").write_text(json.dumps(record))
    reduce_results(folder / "synthetic", folder / "synthetic.nc", earlier=earlier)
    return folder / "synthetic.nc"


@pytest.fixture
def two():
    """Two problems, every run of which is done."""
    done = noisy(stream=1)
    done["status"][:] = 1
    return {"wells": noisy().assign(status=done["status"]), "ponds": done}


@pytest.mark.parametrize(
    "parts",
    [
        [("wells ponds", 0, 12), ("wells ponds", 12, 36)],
        [("ponds", 0, 36), ("wells", 0, 36)],
        [("ponds", 0, 36), ("wells", 24, 36), ("wells", 0, 24)],
    ],
)
def test_what_joins_published_results_makes_those_of_the_whole(two, parts, tmp_path):
    """Reduced in parts, the last joined by the others, results are those of the whole."""
    *first, then = (
        (tmp_path / name, {label: two[label] for label in labels.split()}, range(start, stop), name)
        for name, (labels, start, stop) in zip("abc", parts, strict=False)
    )
    earlier = [reduced_part(*part) for part in first]
    for part, claim in zip(earlier, (CLAIMS[0], CLAIMS[0].model_copy(update={"problem": "ponds"})), strict=False):
        freeze(part, [{"file": "c.yaml", **claim.model_dump()}])
    joined, whole = reduced_part(*then, earlier), reduced_part(tmp_path / "whole", two, range(36))
    both, wanted = read_netcdf(joined), read_netcdf(whole)
    assert both.drop_attrs().identical(wanted.drop_attrs())
    assert json.loads(both.attrs.pop("kernel")) == [*"abc"[: len(parts)]]
    del wanted.attrs["kernel"], wanted.attrs["commit"], both.attrs["commit"]
    assert json.loads(both.attrs.pop("checks")) == read_reduced(earlier[0]).checks != {}
    assert both.attrs == wanted.attrs


def test_a_problem_may_join_with_fewer_seeds(two, tmp_path):
    earlier = reduced_part(tmp_path / "first", {"ponds": two["ponds"]}, range(12, 36))
    found = read_reduced(reduced_part(tmp_path / "then", two, range(12), earlier=[earlier]))
    for label, count in (("wells", 12), ("ponds", 36)):
        expected = CubeNumbers(two[label].sel(seed=range(count)).assign_attrs(problem_label=label))
        place = Place("any", "mle", "so")
        assert found.problems[label].at("final", place) == expected.at("final", place)


def test_what_does_not_join_published_results_is_refused(two, tmp_path):
    wells = two["wells"]
    earlier = reduced_part(tmp_path / "earlier", {"wells": wells}, range(12))
    assert read_reduced(earlier).trial == "reduced: 12 of 36 seeds"
    other = {
        "'wells': found seed 11, which is there already": ({"wells": wells}, range(11, 36)),
        "found seeds 0 to 11; wanted: no gap between them and the others": ({"wells": wells}, range(13, 36)),
        "'wells': found another algorithms than": ({"wells": wells.drop_sel(algorithm="mle")}, range(12, 36)),
        "found synthetic; wanted: other": ({"ponds": two["ponds"].assign_attrs(experiment="other")}, range(12)),
    }
    for place, (told, part) in enumerate(other.items()):
        with pytest.raises(BocuError, match=rf"earlier/synthetic\.nc: {told}"):
            reduced_part(tmp_path / str(place), *part, earlier=[earlier])
        assert not (tmp_path / str(place) / "synthetic.nc").exists()


def test_what_is_no_reduction_is_refused(results, tmp_path):
    with pytest.raises(BocuError, match="no cubes in it"):
        reduce_results(tmp_path, tmp_path / "out.nc")
    assert not (tmp_path / "out.nc").exists()
    with pytest.raises(BrokenFileError, match="reduced_version"):
        read_reduced(results / "synthetic/cubes/wells.nc")
    synthetic_cubes.write(noisy().isel(iteration=0, seed=0).drop_vars(["iteration", "seed"]), tmp_path / "other.nc")
    with ExitStack() as files, pytest.raises(BocuError, match="and no reduced results: no dimension seed, iteration"):
        numbers_in(tmp_path / "other.nc", files)


def compared(one, other, **options):
    found = agreements({"wells": CubeNumbers(one)}, {"wells": CubeNumbers(other)}, **options)
    return {(one.place.algorithm, one.place.metric): one for one in found.shared}


def test_only_what_differs_on_the_same_seeds_differs():
    found = compared(noisy(shift=0.05), noisy())
    assert {place: one.verdict for place, one in found.items()} == {
        place: DIFFERS if place[0] == "mle" else EQUAL for place in found
    }
    gap = found["mle", "so"].gap
    assert (gap.value, gap.count) == (pytest.approx(0.05 * synthetic_cubes.ITERATIONS), SEEDS)


def test_rounding_and_chance_agree():
    assert {one.verdict for one in compared(noisy(), noisy(shift=1e-8)).values()} == {EQUAL, AGREES}
    other = compared(noisy(), noisy(stream=1))
    assert {one.verdict for one in other.values()} == {AGREES}
    assert all(one.gap.low < 0 < one.gap.high or one.p_value >= 0.05 for one in other.values())


def test_other_seeds_are_compared_unpaired_and_few_seeds_not_at_all():
    others = compared(noisy(), noisy(range(100, 100 + SEEDS), stream=1))
    assert {(one.verdict, one.paired) for one in others.values()} == {(AGREES, False)}
    far = compared(noisy(shift=50.0), noisy(range(100, 100 + SEEDS), stream=1))
    assert far["mle", "so"].verdict == DIFFERS
    few = compared(noisy(range(5)), noisy(stream=1))
    assert {(one.verdict, one.gap.count) for one in few.values()} == {(TOO_FEW, 5)}


def test_what_ran_for_fewer_rounds_is_compared_up_to_the_last_that_both_have():
    def until_six(cube):
        return cube.isel(iteration=cube["iteration"] <= 6)

    whole, other = noisy(), noisy(stream=1)
    found = compared(whole, until_six(other))
    assert {one.word for one in found.values()} == {"to round 6"}
    expected = compared(until_six(whole), until_six(other))
    for place, one in found.items():
        assert repr(one.gap) == repr(expected[place].gap)
    assert {one.verdict for one in compared(whole, until_six(whole)).values()} == {EQUAL}


def test_chance_differs_as_rarely_as_the_level_says():
    """Of 20 pairs of results of one law, 10 comparisons each, about 5 % differ anywhere."""
    differ = [
        any(one.verdict == DIFFERS for one in compared(noisy(stream=2 * i), noisy(stream=2 * i + 1)).values())
        for i in range(20)
    ]
    assert np.mean(differ) < 0.2


def test_commands_reduce_compare_and_judge_by_what_is_published(results, tmp_path, monkeypatch):
    def run(*words):
        return CliRunner().invoke(app, [str(word) for word in words])

    folder, published = results / "synthetic", tmp_path / "published"
    published.mkdir()
    done = run("reduce", folder, "--output", published / "synthetic.nc")
    assert "1 problem of synthetic" in done.output, done.output
    final_alone = tmp_path / "final.nc"
    reduce_results(folder, final_alone, final=True)
    same = run("diff", folder, published / "synthetic.nc", "--within")
    assert (same.exit_code, same.output) == (0, "10 compared at 0.95, corrected together (Holm): 10 equal bits\n")

    synthetic_cubes.write(noisy(), tmp_path / "one.nc")
    synthetic_cubes.write(noisy(shift=0.05), tmp_path / "other.nc")
    other = run("diff", tmp_path / "other.nc", tmp_path / "one.nc", "--within", "--level", 0.99)
    assert other.exit_code == 1
    assert f"wells    any        mle        so      final   differs  0.6 [0.6, 0.6]  {SEEDS} paired" in other.output
    synthetic_cubes.write(noisy().assign_attrs(problem_label="elsewhere"), tmp_path / "other.nc")
    assert run("diff", tmp_path / "other.nc", published / "synthetic.nc", "--within").exit_code == 2

    rounds = synthetic_cubes.ITERATIONS
    shorter = run("diff", tmp_path / "one.nc", published / "synthetic.nc", "--within")
    assert f"to round {rounds}" in shorter.output
    assert f"reduced: {rounds} of {ROUNDS} rounds\n" in shorter.output
    none = run("diff", tmp_path / "one.nc", final_alone, "--within")
    assert (none.exit_code, "none kept of both" in none.output) == (2, True)

    claims = [{"id": name, "statement": name, "problem": "wells", "check": check} for name, check in CHECKS.items()]
    places = (results, published, published / "synthetic.nc")
    for written, exit_code in ((claims[:-1], 0), (claims, 1)):  # the last asks for an algorithm that is not there
        file = tmp_path / "claims.yaml"
        file.write_text(json.dumps({"experiment": "synthetic", "claims": written}), encoding="utf-8")
        told = [run("claims", file, "--results", place) for place in places]
        assert [done.exit_code for done in told] == [exit_code] * 3
        assert len({(done.output, str(done.exception)) for done in told}) == 1
    file.write_text(json.dumps({"experiment": "synthetic", "claims": claims[:-1]}), encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text("<!-- claims: begin -->\n<!-- claims: end -->\n", encoding="utf-8")
    run("claims", tmp_path / "claims.yaml", "--results", published, "--page", page)
    text = page.read_text(encoding="utf-8")
    assert f"{SEEDS} seeds and 24 rounds, by `--config 'seeds={{count: {SEEDS}}}'`" in text
    assert f"--results {published.as_posix()} --page" in text


def test_numbers_of_a_folder_are_those_of_its_plan(results):
    with ExitStack() as files:
        numbers = numbers_in(results / "synthetic", files)
        assert list(numbers) == ["wells"]
        assert len(numbers["wells"].at("final", Place("any", "mle", "so"))) == SEEDS - 1


def test_every_round_is_kept_where_claims_are_judged_over_rounds(tmp_path):
    folder = tmp_path / "synthetic"
    (folder / "cubes").mkdir(parents=True)
    cube = noisy(range(2))
    synthetic_cubes.write(cube, folder / "cubes/wells.nc")
    claims = [
        Claim(
            id="over", statement="s", check="all(final(mle) < 2 * final(random), at(mle, 0.5) > 0)", blocks=[4], **ABOUT
        ),
        Claim(id="ratio", statement="s", check="ratio(final(mle), final(random)) < 2", blocks=[3, 5], **ABOUT),
    ]
    reduce_results(folder, tmp_path / "without.nc")
    without = read_reduced(tmp_path / "without.nc").problems["wells"].by_blocks(2)
    with pytest.raises(BocuError, match="'wells' was reduced without its rounds"):
        without.measured(Measure("final", "mle"), Scope("wells"))
    write_verdicts(
        [{"file": "own.yaml", **claim.model_dump(mode="json")} for claim in claims],
        "synthetic",
        [folder / "cubes/wells.nc"],
        folder / "claims/verdicts.json",
    )
    reduce_results(folder, tmp_path / "with.nc")
    reduced = read_reduced(tmp_path / "with.nc")
    by_reduced, by_cubes = (
        verdicts(claims, lambda *_, source=source: source)
        for source in (reduced.problems["wells"], folder / "cubes/wells.nc")
    )
    for found, whole in zip(by_reduced, by_cubes, strict=True):
        assert (found.outcome, found.reason, found.seeds) == (whole.outcome, whole.reason, whole.seeds)
        assert found.findings[0].value.value == pytest.approx(whole.findings[0].value.value, rel=1e-5)
    assert by_reduced[0].seeds == synthetic_cubes.ITERATIONS // 4
