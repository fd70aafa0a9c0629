"""What is published beside the docs: small, whole, and what their pages were made from."""

import re
import runpy
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.pages.report.claims import BEGIN, END, StandingCubes, judge, section
from bocu.pages.report.forests import drawn_claims
from bocu.sweep.archive.entries import Archive
from bocu.sweep.evaluation.claims.places import Place
from bocu.sweep.evaluation.claims.reduced import read_reduced
from bocu.sweep.evaluation.claims.verdicts import FAILS, HOLDS, LEANS_AGAINST, LEANS_FOR, OPEN
from bocu.sweep.evaluation.paired_means import paired_means
from bocu.sweep.evaluation.statistics import holm
from bocu.sweep.experiment.registry import registered
from bocu.sweep.runs.seed_run import SeedRun, build_problem

pytestmark = pytest.mark.ci

EACH, ALL = 1_000_000, 7_500_000
"""Bytes; thirty seeds of a large experiment, with regret up to some rounds, take as many."""
PAPERS = ("tay2024", "kirschner2020", "huang2024", "drmobo", "ziomek2025")


def published(root):
    return sorted((root / "docs/results").glob("*.nc"))


@pytest.fixture(scope="module")
def judged(root):
    """The records of each paper's claims, and the results that they were judged by."""
    standing = StandingCubes(root / "docs/results")
    found = {}
    for paper in PAPERS:
        found[paper] = judge(root / "config/claims" / f"{paper}.yaml", standing)
    return found, standing


def test_published_results_are_small_and_name_their_experiment(root):
    files = published(root)
    assert sum(file.stat().st_size for file in files) < ALL
    for file in files:
        reduced = read_reduced(file)
        assert file.stat().st_size < EACH, file.name
        assert reduced.experiment == file.stem
        assert reduced.problems
        assert all(numbers.finished for numbers in reduced.problems.values())


def test_sections_of_pages_are_those_of_the_published_results(root, judged):
    """After a change of claims, results or statistics: `python docs/make_published.py`."""
    found, standing = judged
    for paper, records in found.items():
        page = (root / f"docs/{paper}.md").read_text(encoding="utf-8")
        told = page[page.index(BEGIN) + len(BEGIN) + 1 : page.index(END)]
        command = f"bocu claims config/claims/{paper}.yaml --results docs/results --page docs/{paper}.md"
        assert told == section(records, standing, command, f"{paper}-claims.svg"), paper
        assert (root / f"docs/{paper}-claims.svg").read_text(encoding="utf-8") == drawn_claims(records), paper


def test_no_interval_is_without_bounds(judged):
    """A ratio whose denominator may vanish can neither hold nor fail; the difference can."""
    found, _ = judged
    compared = [
        one for records in found.values() for record in records for one in record["comparisons"] if one["seeds"]
    ]
    assert len(compared) > 100
    assert [one["comparison"] for one in compared if None in (one["low"], one["high"])] == []


@pytest.mark.parametrize(
    ("experiments", "section", "words"),
    [
        ("NUMBERS", "numbers", "numbers of"),
        ("SEEN", "seen", "seen in"),
        ("JUDGED_BESIDE", "side_by_side", "verdicts of"),
    ],
)
def test_sections_of_pages_are_made_of_the_published_results(root, experiments, section, words):
    """After a change of results, figures or statistics: `python docs/make_published.py`."""
    maker = runpy.run_path(str(root / "docs/make_published.py"))
    for experiment in maker[experiments]:
        page = (root / maker["page_of"](experiment)).read_text(encoding="utf-8")
        above, below = maker["marks"](f"{words} {experiment}")
        assert page[page.index(above) + len(above) + 1 : page.index(below)] == maker[section](experiment, root)


def test_who_wins_stands_on_each_paper_and_over_all(root):
    """After a change of results, figures or statistics: `python docs/make_published.py`."""
    maker = runpy.run_path(str(root / "docs/make_published.py"))
    wins = {}
    assert maker["PAPERS"] == PAPERS
    for paper in PAPERS:
        wins[paper], section, _ = maker["winners"](paper, root)
        above, below = maker["marks"](f"who wins in {paper}")
        page = (root / f"docs/{paper}.md").read_text(encoding="utf-8")
        assert page[page.index(above) + len(above) + 1 : page.index(below)] == section, paper
        assert all((root / "docs" / name).is_file() for name in re.findall(r'(?:src|srcset)="([^"]+)"', section))
    above, below = maker["OVERVIEW"]
    for place, told in {
        "results": maker["overview_of_papers"](root, wins),
        "papers": maker["table_of_papers"](root),
    }.items():
        page = (root / f"docs/{place}.md").read_text(encoding="utf-8")
        assert page[page.index(above) + len(above) + 1 : page.index(below)] == told, place
    classes = [entry for kinds in maker["COLUMNS"].values() for kind in kinds for entry in registered(kind)]
    assert [one.name for one in classes if one.load().about.paper and f"`{one.name}`" not in told] == []
    assert {paper for paper in PAPERS if f"]({paper}.md#claims-and-verdicts)" in told} == set(PAPERS)


def test_numbers_in_pictures_keep_their_digits(root):
    compact = runpy.run_path(str(root / "docs/make_published.py"))["compact"]
    assert compact('<text x="1.2345">0.0085</text>\n') == '<text x="1.23">0.0085</text>\n'
    assert compact('<a id="p0123456789"/><a href="#p0123456789"/>') == '<a id="p0"/><a href="#p0"/>\n'


def test_maps_of_regions_are_those_of_the_published_results(root):
    """After a change of results or statistics: `python docs/make_region_pictures.py`."""
    maker = runpy.run_path(str(root / "docs/make_region_pictures.py"))
    for experiment, labels in maker["MAPS"].items():
        above, below = maker["marks"](f"maps of {experiment}")
        page = (root / maker["page_of"](experiment)).read_text(encoding="utf-8")
        maps = maker["maps_of"](experiment, root)
        assert page[page.index(above) + len(above) + 1 : page.index(below)] == maker["counted"](experiment, maps)
        assert set(labels) <= set(maps)


def regrets(problems, objective, algorithm, count):
    """Problems by seeds, so many from 1000 on: all that there are."""
    samples = [numbers.at("final", Place(objective, algorithm, objective)) for numbers in problems]
    assert all(sorted(sample) == list(range(1000, 1000 + count)) for sample in samples)
    return np.array([[sample[seed] for seed in sorted(sample)] for sample in samples])


def beside(root, experiment):
    """The problems of an experiment, and the same of Tay et al.'s file; of each the numbers."""
    own, theirs = (read_reduced(root / f"docs/results/{name}.nc").problems for name in (experiment, "tay2024"))
    return list(own.values()), [theirs[problem] for problem in own]


def test_the_true_bound_stands_where_its_page_says(root):
    """Two files are compared there; the claims of a paper are judged by one."""
    own, theirs = beside(root, "tay2024-true-bound")

    def gaps(objective, other):
        return regrets(own, objective, "ucb-bocu-true", 30) - regrets(theirs, objective, other, 30)

    assert not gaps("tv-dro", "ucb-bocu-1").any()
    methods = ("ucb-bocu-1", "ucb-bocu-2", "ts-bocu")
    found = paired_means(np.concatenate([gaps(one, other) for other in methods for one in ("tv-wcs", "tv-gen")]))
    lower, told = (
        values.reshape(len(methods), 10).sum(axis=1).tolist()
        for values in (found.mean < 0, np.array(holm(found.p_value)) < 0.05)
    )
    words = {0: "none", 8: "eight", 10: "ten"}
    page = " ".join((root / "docs/tay2024.md").read_text(encoding="utf-8").split())
    assert f"below that of UCB-BOCU-1 in {words[lower[0]]} of ten panels" in page
    assert told[0] == 10
    assert "told apart in all of them" in page
    assert lower[1:] == [0, 0]
    assert f"UCB-BOCU-2, which is no bound, in all ten, told apart in {words[told[1]]}" in page
    assert f"TS-BOCU in all ten, told apart in {words[told[2]]}" in page


def test_fourier_features_stand_where_their_page_says(root, judged):
    """Samples spread as far as they do over their own run, which is played on two problems."""
    maker = runpy.run_path(str(root / "docs/make_published.py"))
    page = " ".join((root / "docs/tay2024.md").read_text(encoding="utf-8").split())
    own, theirs = beside(root, "tay2024-fourier")
    objectives = [f"{ambiguity}-{kind}" for ambiguity in ("tv", "mmd") for kind in ("dro", "wcs", "gen")]
    panels = [(numbers.known.problem, one) for one in objectives for numbers in own]
    features = np.concatenate([regrets(own, one, "ts-bocu-fourier", 30) for one in objectives])
    exact = np.concatenate([regrets(theirs, one, "ts-bocu", 30) for one in objectives])
    share = features.mean(axis=1) / exact.mean(axis=1)
    assert "less regret in 23 of the 24 panels, by the geometric mean a fifth less" in page
    assert (share < 1.0).sum() == 23
    assert 0.75 < np.exp(np.log(share).mean()) < 0.85
    told = np.flatnonzero(np.array(holm(paired_means(features - exact).p_value)) < 0.05)
    assert "told apart in ten, five of them on Hartmann, four on plant and one on infection" in page
    assert Counter(panels[place][0] for place in told) == {"hartmann-3": 5, "plant": 4, "infection": 1}
    assert "and widest on plant for WCS under the MMD: about a fifth" in page
    assert panels[share.argmin()] == ("plant", "mmd-wcs")
    assert 0.18 < share.min() < 0.22

    gen = panels.index(("hartmann-3", "tv-gen"))
    (other,) = regrets([theirs[gen % len(own)]], "tv-gen", "ucb-bocu-2", 30)
    found = paired_means(np.stack([features[gen] - other, exact[gen] - other]))
    assert "UCB-BOCU-2 has less regret than those and more than these, each told by itself" in page
    assert found.mean[0] < 0.0 < found.mean[1]
    assert (found.p_value < 0.05).all()

    slower = [
        np.mean(list(numbers.at("seconds", Place(one, "ts-bocu", one)).values()))
        / np.mean(list(sampled.at("seconds", Place(one, "ts-bocu-fourier", one)).values()))
        for one in objectives
        for sampled, numbers in zip(own, theirs, strict=True)
    ]
    assert "in less than a third of the time in 22 of the 24 panels of figure 2" in page
    assert "about half of it in one (Hartmann, WCS under the MMD) and more than three times as much in one" in page
    longer = {panels[place]: slower[place] for place in np.flatnonzero(np.array(slower) > 1 / 3)}
    assert longer.keys() == {("hartmann-3", "mmd-wcs"), ("plant", "mmd-wcs")}
    assert 0.45 < longer["hartmann-3", "mmd-wcs"] < 0.55
    assert 3.0 < longer["plant", "mmd-wcs"] < 4.0

    swap = maker["SWAPPED"]["tay2024-fourier"]
    now = judge(root / "config/claims/tay2024.yaml", judged[1], "tay2024-fourier", swap)
    of_all = {record["id"]: record for record in judged[0]["tay2024"]}
    before = [of_all[record["id"]] for record in now]
    for_it, against_it = {HOLDS, LEANS_FOR}, {FAILS, LEANS_AGAINST}
    assert "By the paper's features 13 of its 20 claims on TS-BOCU hold, where ten do by exact samples" in page
    assert len(now) == 20
    assert [[record["verdict"] for record in each].count(HOLDS) for each in (now, before)] == [13, 10]
    assert "corrected for these 20 or for all 24" in page
    assert {record["corrected"] for record in before} == {24}
    alike = holm([record["p_value"] for record in before])
    held = [p < 0.05 and record["verdict"] in for_it for p, record in zip(alike, before, strict=True)]
    assert sum(held) == 10
    assert "none turns to the other side" in page
    for sides in ({one["verdict"], other["verdict"]} for one, other in zip(before, now, strict=True)):
        assert not (sides & for_it and sides & against_it)

    with pytest.raises(BocuError, match="another problem or metric in tay2024 and unknown-prior-contextual"):
        judge(root / "config/claims/tay2024.yaml", judged[1], "unknown-prior-contextual", ("ts-bocu", "pe-gp-ucb"))

    branches = maker["plan_of"](root / maker["file_of"]("tay2024-fourier"), root).branches

    def spread(problem):
        specification = branches[problem, "tv-gen", "ts-bocu-fourier"].specification
        run = SeedRun(specification, build_problem(specification["problem"], {}), 1000)
        while run.t <= 500:
            run.play()
        generator = np.random.default_rng(0)
        tables = [run.algorithm.sampler.draw(run.algorithm.posterior, generator) for _ in range(40)]
        return np.sqrt(np.var(tables, axis=0, ddof=1).mean() / run.algorithm.posterior.variance().mean())

    assert "half as far" in page
    assert 0.45 < spread("hartmann-3") < 0.55
    assert "nine tenths" in page
    assert 0.85 < spread("gp-sample") < 0.95


def test_what_is_told_of_huang_as_published_is_so(root):
    """Two files are compared there, on the same seeds up to the last round of one."""
    page = " ".join((root / "docs/huang2024.md").read_text(encoding="utf-8").split())
    page = page[page.index("## As published") :]
    published, ours = (
        read_reduced(root / f"docs/results/{name}.nc").problems for name in ("huang2024-as-published", "huang2024")
    )
    robust = ["sbo-kde", "drbo-kde"]
    baselines = {*published["ackley"].known.algorithms} - {*robust, "random"}

    def regret(problem, algorithm):
        """Of the ten seeds, as published and as ours, (2, seeds)."""
        place = Place("any", algorithm, "so")
        samples = (
            published[problem].at("final", place),
            ours[problem].at("at", replace(place, round=published[problem].known.rounds)),
        )
        of_seeds = np.array([[sample[seed] for seed in range(1000, 1010)] for sample in samples])
        if algorithm != "random" and problem.startswith("portfolio"):
            of_seeds[0] -= np.subtract(*regret(problem, "random"))  # the same decisions: the optimum alone is another
        return of_seeds

    def told(gaps):
        return paired_means(gaps[None]).p_value[0] < 0.05

    def times(problem, algorithm):
        theirs, own = regret(problem, algorithm).mean(axis=1)
        return theirs / own

    assert "on ten seeds, 1000 to 1009, and 84 rounds, which can only lean." in page
    assert {numbers.known.rounds for numbers in published.values()} == {84}
    assert set(published) == set(ours)
    assert "the optimum adds the same to the regret of all" in page
    for problem in ("portfolio-normal", "portfolio-uniform"):
        added = np.subtract(*regret(problem, "random"))
        assert added.min() > 30.0
        assert np.ptp(added) < 1e-3
    of_places = {(p, one, b): regret(p, b) - regret(p, one) for p in published for one in robust for b in baselines}
    assert "as published in all 64 comparisons, in 54 of them told apart by itself; with ours in 63, in 54." in page
    counts = [
        (sum(gap[side].mean() > 0 for gap in of_places.values()), sum(told(gap[side]) for gap in of_places.values()))
        for side in (0, 1)
    ]
    assert counts == [(64, 54), (63, 54)]
    assert "On the portfolio seven of sixteen cannot be told as published, GP-UCB's among them." in page
    untold = [place for place, gap in of_places.items() if place[0].startswith("portfolio") and not told(gap[0])]
    assert len(untold) == 7
    assert [baseline for *_, baseline in untold].count("gp-ucb") == 4
    boxed = {problem: times(problem, "stableopt") for problem in published}
    assert "on seven of eight problems between a third more and over three times the regret" in page
    assert "on the portfolio with uniform contexts less than two thirds of it" in page
    assert 0.6 < boxed.pop("portfolio-uniform") < 2 / 3
    assert told(np.subtract(*regret("portfolio-uniform", "stableopt")))
    assert 1.3 < min(boxed.values()) < 1.4
    assert 3.0 < max(boxed.values()) < 3.6
    more = {p for p in published if told(gap := np.subtract(*regret(p, "minimax-continuous"))) and gap.mean() > 0}
    assert "on the four test functions, with four context coordinates and on the portfolio with normal contexts" in page
    assert more == {*published} - {"newsvendor", "portfolio-uniform"}
    assert "on Hartmann almost six times as much" in page
    assert 5.5 < times("hartmann-6", "minimax-continuous") < 6.0
    assert "little less than random decisions. DRBO-MMD has three times as much on Hartmann." in page
    assert 0.8 < regret("ackley-2-4", "minimax-continuous")[0].mean() / regret("ackley-2-4", "random")[0].mean() < 0.9
    assert 2.75 < times("hartmann-6", "drbo-mmd") < 3.25
    assert "a third of the regret on the diagonal" in page
    assert 0.28 < times("ackley-2-4", "drbo-mmd") < 0.38
    assert "On modified Branin and the newsvendor SBO-KDE and DRBO-KDE have half of our regret" in page
    assert "(0.43 to 0.57 of it, each told by itself), and nowhere more that is told" in page
    halves = [(times(p, one), p, one) for p in ("modified-branin", "newsvendor") for one in robust]
    assert [round(extreme(halves)[0], 2) for extreme in (min, max)] == [0.43, 0.57]
    for one in robust:
        assert told(np.subtract(*regret("modified-branin", one)))
        assert told(np.subtract(*regret("newsvendor", one)))
        assert not any(told(np.subtract(*regret(p, one))) and times(p, one) > 1.0 for p in published)
    ahead = {
        (told(gap), gap.mean() > 0, side, problem)
        for problem in published
        for side, gap in enumerate(regret(problem, "drbo-kde") - regret(problem, "sbo-kde"))
    }
    assert "with ours SBO-KDE is ahead on both Ackleys, as published on the newsvendor alone." in page
    found = {(side, problem) for apart, _, side, problem in ahead if apart}
    assert found == {(0, "newsvendor"), (1, "ackley"), (1, "ackley-2-4")}
    assert all(sign for apart, sign, *_ in ahead if apart)


def test_what_is_told_of_huang_at_350_evaluations_is_so(root, judged):
    page = " ".join((root / "docs/huang2024.md").read_text(encoding="utf-8").split())
    page = page[page.index("## At 350 evaluations") : page.index("<!-- verdicts of huang2024-350: begin -->")]
    longer, shorter = (
        read_reduced(root / f"docs/results/{name}.nc").problems for name in ("huang2024-350", "huang2024")
    )
    robust, baselines = ("sbo-kde", "drbo-kde"), ("gp-ucb", "drbo-mmd", "minimax-continuous", "stableopt")
    everybody, seeds = {*robust, *baselines, "random"}, range(1000, 1010)

    def regret(problem, algorithm, until=340):
        sample = longer[problem].at("at", Place("any", algorithm, "so", round=until))
        return np.array([sample[seed] for seed in seeds])

    def quarters(problem, algorithm):
        return np.diff([regret(problem, algorithm, until) for until in (85, 170, 255, 340)], axis=0)

    def behind(problem, one, since=0):
        """Who has more regret than one after a round, told apart by itself."""
        lost = {other: regret(problem, other) - (regret(problem, other, since) if since else 0) for other in everybody}
        gaps = {other: lost[other] - lost[one] for other in everybody - {one}}
        return {who for who, gap in gaps.items() if gap.mean() > 0 and paired_means(gap[None]).p_value[0] < 0.05}

    assert "Ten of their thirty seeds were played on, and ten can only lean." in page
    for numbers in longer.values():
        assert sorted(numbers.at("final", Place("any", "random", "so"))) == [*seeds]
        assert {*numbers.known.algorithms} == everybody
    assert "SBO-KDE and DRBO-KDE have the least mean regret on all eight, as they had at 150" in page
    assert set(longer) == set(shorter)
    for problem, numbers in shorter.items():
        then = {one: np.mean([*numbers.at("final", Place("any", one, "so")).values()]) for one in everybody}
        now = {one: regret(problem, one).mean() for one in everybody}
        assert all({*sorted(everybody, key=mean.get)[:2]} == {*robust} for mean in (then, now)), problem
    assert "after them the two are not told apart" in page
    assert behind("ackley", "sbo-kde", since=136) == everybody - {*robust}
    mean = {one: regret("ackley-2-4", one).mean() for one in everybody}
    assert (
        "SBO-KDE and DRBO-KDE have less regret than every baseline, DRBO-KDE a seventeenth less than StableOpt" in page
    )
    assert sorted(everybody, key=mean.get)[:3] == [*robust, "stableopt"]
    assert mean["drbo-kde"] / mean["stableopt"] == pytest.approx(16 / 17, abs=0.01)
    assert "told by itself, barely (p = 0.049 before any correction)" in page
    assert all(behind("ackley-2-4", one) >= {*baselines} for one in robust)
    gap = regret("ackley-2-4", "stableopt") - regret("ackley-2-4", "drbo-kde")
    assert paired_means(gap[None]).p_value[0] == pytest.approx(0.049, abs=5e-4)
    assert "**Two claims that are open at 150 lean for here.**" in page
    now = judge(root / "config/claims/huang2024.yaml", judged[1], "huang2024-350")
    verdicts = [{one["id"]: one["verdict"] for one in found} for found in (judged[0]["huang2024"], now)]
    lean = {claim for claim, verdict in verdicts[1].items() if verdict == LEANS_FOR}
    assert {claim: verdicts[0][claim] for claim in lean} == dict.fromkeys(lean, OPEN)
    assert len(lean) == 2
    assert "ends at more than four times SBO-KDE's regret" in page
    assert 4.0 < mean["drbo-mmd"] / mean["sbo-kde"] < 5.0
    flat = {
        problem: {one for one in everybody if (of := quarters(problem, one).mean(axis=1))[2] < of[0] / 2}
        for problem in longer
    }
    assert "the last quarter of the rounds has less than half of the regret of the second" in page
    assert flat["ackley-2-4"] == {"drbo-mmd"}
    assert "**On modified Branin DRBO-MMD flattens**, and its minimax approximation and StableOpt do not" in page
    assert flat["modified-branin"] == {"drbo-mmd", *robust}
    assert "on the newsvendor too, where its approximation does not" in page
    assert flat["newsvendor"] == {"drbo-mmd"}
    assert "StableOpt and the approximation flatten as well and it ends beside DRBO-KDE" in page
    assert flat["portfolio-uniform"] == {"drbo-mmd", "minimax-continuous", "stableopt"}
    assert not {"drbo-mmd"} & behind("portfolio-uniform", "drbo-kde")
    assert "with normal contexts no method's regret flattens" in page
    assert flat["portfolio-normal"] == set()
    assert "the two are still behind in no comparison" in page
    for problem in ("newsvendor", "portfolio-normal", "portfolio-uniform"):
        assert not any({*robust} & behind(problem, baseline) for baseline in baselines)
    assert "one of SBO-KDE's ten seeds sticks**, and has more than half of its regret." in page
    assert "None of DRBO-KDE's sticks; all of StableOpt's but one do." in page
    stuck = {one: quarters("complicated-hartmann", one)[2] > 50 for one in (*robust, "stableopt")}
    assert {one: many.sum() for one, many in stuck.items()} == {"sbo-kde": 1, "drbo-kde": 0, "stableopt": 9}
    of_seeds = regret("complicated-hartmann", "sbo-kde")
    assert of_seeds[stuck["sbo-kde"]].sum() > of_seeds.sum() / 2
    assert "random decisions and GP-UCB alone still lose there" in page
    late = {one: np.mean(regret("hartmann-6", one) - regret("hartmann-6", one, 136)) for one in everybody}
    assert {one for one in everybody if late[one] > 1} == {"random", "gp-ucb"}


def test_what_the_page_says_to_play_again_is_what_was_noted(root):
    page = (root / "docs/results.md").read_text(encoding="utf-8")
    named = page[page.index("**What today's code plays again.**") : page.index("; and `huang2024-estimates`")]
    first, rest, cut = (set(re.findall(r"`([a-z0-9-]+)`", part)) for part in named.split(";")[1:])
    noted = {entry.file.stem: entry.checked for entry in Archive(root / "docs/results").entries if entry.checked}
    assert first | rest | cut == set(noted)
    assert {name for name, found in noted.items() if len(found["seeds"]) == 2} == first
    assert {name: found["rounds"] for name, found in noted.items() if "rounds" in found} == dict.fromkeys(cut, 136)
    assert not any(found["regrets"]["same to rounding"] for found in noted.values())
