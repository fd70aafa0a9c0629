"""Claims in a report and in a page: beside their figure, in a table, in files."""

import csv
import json
import re
from xml.etree import ElementTree

import pytest
import synthetic_cubes
from typer.testing import CliRunner

from bocu.commands.main import app
from bocu.core.errors import BocuError
from bocu.pages.report.claims import (
    BEGIN,
    END,
    StandingCubes,
    judge,
    measured,
    numbers,
    opening,
    section,
    write_section,
)
from bocu.pages.report.forests import WIDTH, chip, drawn_claims, forest
from bocu.sweep.evaluation.claims.model import Claim, read_claims
from bocu.sweep.evaluation.claims.records import read_verdicts, write_verdicts
from bocu.sweep.evaluation.claims.verdicts import OUTCOMES

CLAIMS = [
    {"id": "few", "statement": "Random is <worst>.", "paper": "ziomek2025", "where": "figure 2", "figure": "regret"},
    {"id": "another", "statement": "Elsewhere.", "experiment": "another", "ours": "all of it"},
    {
        "id": "all-figures",
        "statement": "Everywhere.",
        "check": "all(final(mle) < final(random) for problem in [wells])",
    },
    {"id": "untold", "statement": "Nothing tells.", "check": None},
]


def stated(**keys):
    plain = {"experiment": "synthetic", "problem": "wells", "check": "final(mle) < final(random)", **keys}
    return {"file": "claims.yaml", **Claim(**plain).model_dump(mode="json")}


@pytest.fixture(scope="module")
def claimed(make_site):
    """A report of a problem of 5 seeds, with claims."""
    site = make_site([synthetic_cubes.cube()], drawn=True)
    verdicts = site.folder / "verdicts.json"
    write_verdicts([stated(**claim) for claim in CLAIMS], "synthetic", site.cubes, verdicts)
    return site, verdicts, site.rebuild(claims=[verdicts])


def test_all_claims_stand_in_a_table_with_their_verdicts(claimed):
    page = claimed[2]
    assert page.faults == []
    head, *rows = page.tables["claims-table"]
    assert head == ["Claim", "Where", "Verdict", "Numbers", "Seeds", "p", "p, corrected", "Ours"]
    assert [row[0] for row in rows] == ["Random is <worst>.", "Everywhere."]
    assert rows[0][1] == "Ziomek et al. 2025, figure 2"
    assert rows[0][2] == "open: too few seeds: 5 paired, a claim leans from 10 on"
    assert rows[0][3].startswith("final(mle) < final(random): ")
    assert "2 open, 2 not run" in page.words


def test_claims_of_runs_that_are_not_here_are_one_folded_line(claimed):
    source = claimed[2].source
    folded = source[source.index("<summary>2 claims about runs that are not here</summary>") :]
    folded = folded[: folded.index("</details>")]
    assert "Elsewhere." in folded
    assert "Nothing tells." in folded
    assert source.count("<strong>not run</strong>") == folded.count("<strong>not run</strong>") == 2


def test_a_claim_stands_beside_its_figure_alone(claimed):
    source = claimed[2].source
    assert source.count("Random is &lt;worst&gt;.") == 2
    beside = source.index("Random is &lt;worst&gt;.")
    assert source.index('id="figure-wells-regret"') < beside < source.index('id="figure-wells-rejectiontimes"')
    assert source.count("Everywhere.") == 1  # names no figure


def test_files_hold_claims_and_comparisons(claimed):
    site, verdicts, _ = claimed
    with (site.output.parent / "tables" / "claims.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows] == ["open", "not run", "open", "not run"]
    assert rows[0]["check"] == "final(mle) < final(random)"
    assert rows[1]["ours"] == "all of it"
    with (site.output.parent / "tables" / "claim-comparisons.csv").open(encoding="utf-8", newline="") as file:
        compared = list(csv.DictReader(file))
    assert [(row["id"], row["seeds"]) for row in compared] == [("few", "5"), ("all-figures", "5")]
    record = read_verdicts(verdicts)[0]
    assert float(compared[0]["value"]) == record["comparisons"][0]["value"]


def comparison(side, name):
    sides = {"for": (0.01, 1.0), "against": (1.0, 0.01), "open": (0.4, 1.0)}
    p_for, p_against = sides[side]
    where = {"problem": "wells", "metric": "", "objective": ""}
    return {
        "comparison": name,
        "seeds": 10,
        **where,
        "value": -1.25,
        "low": -2.0,
        "high": -0.5,
        "p_for": p_for,
        "p_against": p_against,
    }


def test_many_comparisons_are_counted_and_the_most_telling_shown():
    found = [comparison(side, f"c{n}") for n, side in enumerate(["open", "for", "against", "for", "open"])]
    told = numbers({"comparisons": found, "problem": None, "verdict": "fails"})
    assert told[0] == "5 comparisons: 2 for it, 1 against, by themselves at 5 %"
    assert told[1] == "c2 (wells): −1.25 [−2.00, −0.50]"
    held = numbers({"comparisons": found, "problem": None, "verdict": "holds"})
    assert [text.partition(" ")[0] for text in held[1:]] == ["c1", "c3"]
    either = {"comparisons": found, "problem": None, "verdict": "open", "check": "any(c0, c1, c2, c3, c4)"}
    assert numbers(either) == held
    weakest = {**comparison("for", "weak"), "p_for": 0.04}
    all_for_it = [comparison("for", "c"), weakest, *[comparison("for", "c")] * 2]
    (_, shown) = numbers({"comparisons": all_for_it, "problem": None, "verdict": "holds"})
    assert shown.startswith("weak (wells)")


def test_a_forest_has_what_is_for_the_claim_at_the_right(tmp_path):
    sides = ["open", "for", "against", "for"]
    compared = [{**comparison(side, f"c{n}"), "boundary": 0.0} for n, side in enumerate(sides)]
    unknown = {**compared[0], "low": None}
    record = {"id": "many", "comparisons": [*compared, unknown]}
    (tmp_path / "claims.svg").write_text(drawn_claims([record, {"id": "none", "comparisons": [unknown]}]))
    picture = ElementTree.parse(tmp_path / "claims.svg")
    spaced = "{http://www.w3.org/2000/svg}"
    dots = [(dot.get("class"), float(dot.get("cx"))) for dot in picture.iter(f"{spaced}circle")]
    middle = WIDTH / 2
    assert [(side, at > middle) for side, at in dots] == [
        ("against", False),
        *[(s, True) for s in ("open", "for", "for")],
    ]
    moved = [{**one, **{end: one[end] + 3.0 for end in ("value", "low", "high", "boundary")}} for one in compared]
    drawn = [drawn_claims([{"id": "many", "comparisons": of}]) for of in (compared, moved)]
    assert drawn[0] == drawn[1]
    views = {view.get("id") for view in picture.iter(f"{spaced}view")}
    shown = [chip(verdict, "claims.svg") for verdict in OUTCOMES] + [forest(record, "claims.svg")]
    assert {re.search(r"#([a-z-]+)", image)[1] for image in shown} == views
    assert forest({"id": "none", "comparisons": [unknown]}, "claims.svg") == ""


def test_an_interval_without_width_is_not_written():
    assert measured({"value": 0.95, "low": 0.95 - 1e-17, "high": 0.95 + 1e-16, "seeds": 10}) == "0.95"
    assert measured({"value": 2.0, "low": None, "high": None, "seeds": 1}) == "2"


def test_a_section_takes_the_place_between_the_marks(claimed, tmp_path):
    records = read_verdicts(claimed[1])
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n{BEGIN}\nold\n{END}\nbelow\n", encoding="utf-8")
    write_section(page, section(records, StandingCubes(tmp_path), "bocu claims"))
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# Title\n{BEGIN}\nMade by `bocu claims`: 2 open, 2 not run.\n")
    assert text.endswith(f"{END}\nbelow\n")
    assert "old" not in text
    assert "| Random is &lt;worst>. | Ziomek et al. 2025, figure 2 | **open**: too few seeds" in text
    write_section(page, section(records, StandingCubes(tmp_path), "bocu claims"))
    assert page.read_text(encoding="utf-8") == text
    page.write_text(f"{END}{BEGIN}", encoding="utf-8")
    with pytest.raises(BocuError, match="found no place for a section"):
        write_section(page, "")


def test_cubes_that_stand_are_found_and_their_scale_is_told(claimed, tmp_path):
    site = claimed[0]
    folder = tmp_path / "results" / "synthetic"
    (folder / "partial" / "cubes").mkdir(parents=True)
    (folder / "partial" / "cubes" / "wells.nc").write_bytes(site.cubes[0].read_bytes())
    made = {"files": ["wells.yaml"], "config": {"iterations": 12, "seeds": {"count": 5}, "mirror": "/secret"}}
    (folder / "experiment.json").write_text(json.dumps({"made_from": made}), encoding="utf-8")
    standing = StandingCubes(tmp_path / "results")
    assert standing.cube("synthetic", "wells") == folder / "partial" / "cubes" / "wells.nc"
    assert standing.cube("synthetic", "sensors") is None
    assert list(standing.scales(read_verdicts(claimed[1]))) == [
        "`synthetic` (wells): 5 seeds and 12 rounds, by `--config iterations=12 'seeds={count: 5}'`"
    ]


@pytest.fixture
def there(claimed, tmp_path, monkeypatch):
    """Write claims beside the cube of an experiment, and return what calls `bocu claims` there."""

    def make(claims, name="synthetic", **shared):
        cubes = tmp_path / f"results/{name}/cubes"
        cubes.mkdir(parents=True, exist_ok=True)
        (cubes / "wells.nc").write_bytes(claimed[0].cubes[0].read_bytes())
        plain = [{key: value for key, value in claim.items() if key != "file"} for claim in claims]
        (tmp_path / "claims.yaml").write_text(json.dumps({**shared, "claims": plain}), encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        return lambda *options: CliRunner().invoke(app, ["claims", "claims.yaml", *options])

    return make


def test_the_command_prints_what_is_asked_for(claimed, there, tmp_path):
    (tmp_path / "page.md").write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    call = there([stated(**claim) for claim in CLAIMS])

    def told(*options):
        done = call(*options)
        assert done.exit_code == 0, done.output
        return done.output

    assert "few          open     5" in told()
    assert told().endswith("4 claims: 2 open, 2 not run\njudged by synthetic (wells): 5 seeds and 12 rounds\n")
    (tmp_path / "docs/results").mkdir(parents=True)
    (tmp_path / "docs/results/synthetic.nc").write_bytes(b"")
    assert told().endswith("published results of synthetic: --results docs/results\n")
    refused = call("--results", "nowhere").exception
    assert str(refused).endswith("it does not exist; published results of synthetic: --results docs/results")
    assert json.loads(told("--json")) == read_verdicts(claimed[1])
    assert [row["id"] for row in csv.DictReader(told("--csv").splitlines())] == [claim["id"] for claim in CLAIMS]
    told("--page", "page.md")
    page, picture = ((tmp_path / name).read_text(encoding="utf-8") for name in ("page.md", "page-claims.svg"))
    assert "| Elsewhere. |" in page
    assert {f'id="{name}"' in picture for name in re.findall(r'"page-claims.svg#([^"]+)"', page)} == {True}
    assert isinstance(call("--json", "--csv").exception, BocuError)


@pytest.mark.parametrize(
    ("changes", "options", "told"),
    [
        ({"problem": "wels"}, (), "claims.0.problem (one): no problem 'wels'; did you mean 'wells'? (allowed: wells)"),
        ({"check": "final(mel) < final(random)"}, (), "claims.0.check (one): no algorithm 'mel' on 'wells'; did you"),
        ({"experiment": "synthetics"}, (), "no results of synthetics in results; did you mean 'synthetic'? (allowed: "),
        ({}, ("--results", "empty"), "no results of synthetic in empty; it holds none"),
        ({}, ("--experiment", "syn"), "no results of syn in results; allowed: synthetic"),
    ],
)
def test_a_name_that_no_results_have_is_refused_with_what_is_there(there, tmp_path, changes, options, told):
    for place in ("results/synthetic/partial/cubes", "empty/figures"):
        (tmp_path / place).mkdir(parents=True)
    one = stated(id="one", statement="A claim.")
    written = {"experiment": one.pop("experiment")}
    refused = there([one | changes], **written)(*options).exception
    assert isinstance(refused, BocuError)
    assert str(refused).removeprefix("claims.yaml: ").startswith(told), str(refused)


def test_a_planned_problem_without_a_cube_is_not_run(there, tmp_path):
    there([stated(id="now", statement="Now."), stated(id="later", statement="Later.", problem="sensors")])
    record = {"iterations_of": {"wells": 12, "sensors": 12}}
    (tmp_path / "results/synthetic/experiment.json").write_text(json.dumps(record), encoding="utf-8")
    found = judge(tmp_path / "claims.yaml", StandingCubes(tmp_path / "results"))
    assert [record["verdict"] for record in found] == ["open", "not run"]


def test_claims_are_asked_of_another_experiment_with_the_same_labels(claimed, there):
    first, elsewhere, *_ = (stated(**claim) for claim in CLAIMS)
    own = {key: value for key, value in first.items() if key != "experiment"} | {"ours": "the model"}
    call = there([own, elsewhere], "as-coded", experiment=first["experiment"])
    asked = ("--experiment", "as-coded")
    (found,) = json.loads(call(*asked, "--json").output)
    assert (found["experiment"], found["ours"]) == ("as-coded", "")
    assert found["comparisons"] == read_verdicts(claimed[1])[0]["comparisons"]
    page = call(*asked, "--markdown").output
    assert "Made by `bocu claims claims.yaml --experiment as-coded --markdown`: 1 open." in page
    refused = there([first], "as-coded")(*asked).exception
    assert isinstance(refused, BocuError)
    assert "no 'experiment'" in str(refused)


def test_one_method_of_another_experiment_takes_the_place_of_one_of_the_files_own(there, tmp_path):
    checks = {"one": "ratio(mle, random) < 9", "both": "ratio(oracle, mle) < 9", "other": "ratio(oracle, random) < 9"}
    claims = [stated(id=name, statement="A claim.", check=check) for name, check in checks.items()]
    call = there([{**claim, "experiment": "own"} for claim in claims], "own", experiment="own")
    twice = synthetic_cubes.cube()
    twice["regret"] = (2 * twice["regret"]).assign_attrs(twice["regret"].attrs)
    cube = tmp_path / "results/twice/cubes/wells.nc"
    synthetic_cubes.write(twice, cube)

    def ratios(*options):
        found = json.loads(call(*options, "--json").output)
        return {record["id"]: record["comparisons"][0]["value"] for record in found}

    def swapped(swap):
        return "--experiment", "twice", "--swap", swap

    own = ratios()
    assert ratios("--experiment", "twice") == pytest.approx(own)
    assert ratios(*swapped("mle=oracle")) == pytest.approx({"one": 2 * own["other"]})
    assert ratios(*swapped("random=random")) == pytest.approx({"one": own["one"] / 2, "other": own["other"] / 2})
    refused = {
        "mle": "--swap: found mle; wanted: LABEL=THERE, with --experiment",
        "mle=orcale": "no algorithm 'orcale' on 'wells'; did you mean 'oracle'?",
        "nobody=mle": "claims.yaml: no claim about 'nobody' on the problems of twice",
    }
    for swap, told in refused.items():
        assert str(call(*swapped(swap)).exception).startswith(told)
    told = call("--experiment", "thrice", "--swap", "mle=oracle").exception
    assert str(told).startswith("claims.yaml: no results of thrice in results; did you mean 'twice'?")
    synthetic_cubes.write(twice.sel(iteration=twice["iteration"] < 5), cube)
    assert str(call(*swapped("mle=oracle")).exception) == "'oracle' on 'wells': found 4 rounds; wanted: 12"


OPENING = {
    "check": "ratio(final(random), final(mle)) < 1",
    "statement": "Random beats MLE.",
    "sentence": "On wells Random loses {less} than MLE.",
}


def of_seeds(count):
    """The cube of wells over as many seeds."""
    data = synthetic_cubes.cube()
    found = data.isel(seed=[seed % data.sizes["seed"] for seed in range(count)])
    found["seed"] = ("seed", range(count), data["seed"].attrs)
    return found


@pytest.mark.parametrize(
    ("seeds", "keys", "opens"),
    [
        (30, {}, r"On wells Random loses 6\d % less \(95 % interval 6\d to 6\d\) than MLE \(30 paired seeds\)\."),
        (30, {"sentence": "It is {value} of it"}, r"It is 0\.3\d+ \[0\.3\d+, 0\.3\d+\] of it \(30 paired seeds\)\."),
        (30, {"check": "ratio(mle, random) < 1"}, r"Claimed, and not shown .*: Random beats MLE \(fails\)\."),
        (5, {}, r"Claimed, and not shown .*: Random beats MLE \(open: too few seeds: 5 paired, .* 10 on\)\."),
        (30, {"experiment": "another"}, ""),
        (30, {"sentence": ""}, ""),
    ],
)
def test_a_page_opens_with_the_sentence_of_a_claim_that_holds(tmp_path, seeds, keys, opens):
    cube = synthetic_cubes.write(of_seeds(seeds), tmp_path / "wells.nc")
    write_verdicts([stated(**{"id": "one", **OPENING, **keys})], "synthetic", [cube], tmp_path / "verdicts.json")
    found = opening(read_verdicts(tmp_path / "verdicts.json"))
    assert len(found) == (1 if opens else 0)
    assert all(re.fullmatch(opens, sentence) for sentence, *_ in found), found


EACH = {"check": "all(ratio(final(X), final(mle)) > 1 for X in [random, oracle])", "sentence": "Beside MLE: {each}."}


@pytest.mark.parametrize(
    ("seeds", "sides"),
    [(12, ("1 of 1, more in none", "none of 1, more in 1")), (5, ("none of 1, more in none",) * 2)],
)
def test_a_page_opens_with_every_algorithm_whatever_came_out(tmp_path, seeds, sides):
    data = of_seeds(seeds)
    data["regret"].loc[{"algorithm": "oracle"}] = 3.0 * data["regret"].sel(algorithm="mle").values
    cube = synthetic_cubes.write(data, tmp_path / "wells.nc")
    write_verdicts([stated(**{"id": "one", **OPENING, **EACH})], "synthetic", [cube], tmp_path / "verdicts.json")
    (record,) = read_verdicts(tmp_path / "verdicts.json")
    assert record["verdict"] != "holds"
    ((sentence, lines, figure),) = opening([record], {"algorithm": {"random": "Random"}})
    assert sentence == (
        f"Beside MLE: Random less in {sides[0]}; oracle less in {sides[1]} ({seeds} paired seeds; at 5 %, corrected by "
        "Holm for all 2 comparisons)."
    )
    assert re.fullmatch(r"wells: Random −6\d % \[−\d+, −\d+\], oracle \+200 % \[\+200, \+200\]", *lines), lines
    assert figure == ""


def test_the_figure_of_what_a_page_opens_with_stands_below_the_answers(make_site):
    site = make_site([synthetic_cubes.cube()], drawn=True)
    words = json.loads(site.figures[0].read_text())
    site.figures[0].write_text(json.dumps({**words, "problem": ""}))  # drawn once for all problems
    verdicts = site.folder / "verdicts.json"
    write_verdicts([stated(id="one", **{**OPENING, **EACH}, figure="regret")], "synthetic", site.cubes, verdicts)
    source = site.rebuild(claims=[verdicts]).source
    figures = [found.start() for found in re.finditer(r'<figure id="[^"]*regret"', source)]
    assert len(figures) == 1
    assert source.index('id="answers"') < source.index('class="opening-lines"') < figures[0]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"sentence": "It is {better}."}, "found '{better}'; allowed with this check: value, less, more"),
        ({"sentence": "It is {less."}, "allowed: one word in braces"),
        ({"check": "final(mle) < final(random)"}, "found '{less}'; allowed with this check: value"),
        (
            {"check": "all(final(mle) < final(oracle), final(mle) > final(random))"},
            "found '{less}'; allowed with this check: no word in braces",
        ),
        (
            {"check": "all(ratio(mle, random) < 1, ratio(mle, oracle) > 1)", **{"sentence": "{each}"}},
            "found '{each}'; allowed with this check: no word in braces",
        ),
    ],
)
def test_a_sentence_names_only_numbers_that_its_check_has(tmp_path, keys, told):
    file = tmp_path / "claims.yaml"
    claim = {"id": "one", "experiment": "synthetic", "problem": "wells", **OPENING, **keys}
    file.write_text(json.dumps({"claims": [claim]}))
    with pytest.raises(BocuError) as raised:
        read_claims(file)
    assert str(raised.value).startswith(f"{file}: claims.0.sentence (one): ")
    assert told in str(raised.value)
