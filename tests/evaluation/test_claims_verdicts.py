"""Verdicts on made-up cubes whose numbers are known."""

import numpy as np
import pytest
import xarray as xr

from bocu.core.errors import BocuError
from bocu.sweep.evaluation.claims import (
    FAILS,
    HOLDS,
    LEANS_AGAINST,
    LEANS_FOR,
    NOT_RUN,
    OPEN,
    read_claims,
    verdict,
    verdicts,
)
from bocu.sweep.evaluation.claims.expressions import thresholds
from bocu.sweep.evaluation.claims.model import Claim
from bocu.sweep.evaluation.claims.verdicts import NOT_COMPARABLE, STAND_IN
from bocu.sweep.runs.records import DONE, MISSING, NOT_DEFINED

ROUNDS = 20
LATE = np.arange(11, 21)


def cube(regret, chosen=None, objectives=("any",), label="hills", initial=2):
    """A cube of algorithms: label -> regret of each seed in every round, shape (seeds, rounds) or (seeds,).

    With several objectives a label is `algorithm/objective`. `chosen`: label -> index of the prior, as regret.
    """
    names = list(dict.fromkeys(key.partition("/")[0] for key in regret))
    seeds = max(len(own) for own in regret.values())
    shape = (len(objectives), len(names), seeds, initial + ROUNDS)
    status = np.full(shape[:3], NOT_DEFINED, dtype=np.int8)
    numbers, trusted = np.full(shape, np.nan), np.full(shape, -1, dtype=np.int16)
    for key, own in regret.items():
        name, _, objective = key.partition("/")
        place = objectives.index(objective or objectives[0]), names.index(name)
        status[place] = MISSING
        status[place][: len(own)] = DONE
        numbers[place][: len(own), initial:] = own if np.ndim(own) == 2 else np.reshape(own, (-1, 1))
        numbers[place][: len(own), :initial] = 100.0
        if chosen and name in chosen:
            trusted[place][: len(own), initial:] = np.reshape(chosen[name], (len(own), -1))
    branch = ("objective", "algorithm", "seed", "iteration")
    return xr.Dataset(
        {
            "regret": (("metric", *branch), np.stack([numbers, 2 * numbers])),
            "payoff": (branch, 3.0 - numbers),
            "status": (branch[:3], status),
            "chosen_prior": (branch, trusted),
            "active_priors": ((*branch, "prior"), np.full((*shape, 2), 1, dtype=np.int8)),
            "seconds": (branch, np.where(np.isnan(numbers), np.nan, 0.5)),
        },
        {
            "objective": list(objectives),
            "algorithm": names,
            "metric": ["so", "twice"],
            "seed": np.arange(seeds),
            "iteration": np.arange(1 - initial, ROUNDS + 1),
            "prior": ["0", "1"],
        },
        {"problem_label": label},
    )


def claim(check, **keys):
    return Claim(**{"id": "c", "statement": "s", "experiment": "e", "problem": "hills", "check": check, **keys})


def spread(seeds, mean, reach=1.0):
    """Numbers of seeds around a mean, the same in every round: regret sums to `mean` a seed on average."""
    return (mean + reach * np.linspace(-1, 1, seeds)) / ROUNDS


def test_a_clear_difference_leans_from_ten_paired_seeds_on_and_holds_from_thirty():
    clear = claim("final(a) < final(b)")
    for seeds, outcome in [(9, OPEN), (10, LEANS_FOR), (29, LEANS_FOR), (30, HOLDS)]:
        found = verdict(clear, cube({"a": spread(seeds, 5), "b": spread(40, 9)}))
        assert (found.outcome, found.seeds) == (outcome, seeds)
    assert verdict(claim("final(b) < final(a)"), cube({"a": spread(30, 5), "b": spread(30, 9)})).outcome == FAILS
    few = verdict(clear, cube({"a": spread(9, 5), "b": spread(12, 9)}))
    assert few.reason == "too few seeds: 9 paired, a claim leans from 10 on"
    leaning = verdict(clear, cube({"a": spread(10, 9), "b": spread(12, 5)}))
    assert (leaning.outcome, leaning.reason) == (LEANS_AGAINST, "10 paired seeds, a verdict takes 30")


def test_a_difference_whose_interval_holds_zero_is_open():
    gaps = np.tile([-1.0, 1.2, -0.8, 1.1, -1.0, 0.9, 1.0, -1.1, 0.2, -0.1], 3) / ROUNDS
    found = verdict(claim("final(a) < final(b)"), cube({"a": spread(30, 5) + gaps, "b": spread(30, 5)}))
    assert (found.outcome, found.reason) == (OPEN, "the interval holds the boundary")
    value = found.findings[0].value
    assert value.low < 0 < value.high
    assert value.value == pytest.approx(gaps.mean() * ROUNDS)


def test_interval_and_p_value_say_the_same_and_those_of_a_ratio_too():
    a, b = spread(30, 5, 4), spread(30, 8, 7)[::-1].copy()
    b[3] += 1.0  # skewed
    data = cube({"a": a, "b": b})
    for text in ("final(a) - final(b)", "ratio(a, b)"):
        ends = verdict(claim(f"{text} < 1"), data).findings[0].value
        width = ends.high - ends.low
        for edge in (ends.low, ends.high):
            p_values = [verdict(claim(f"{text} < {edge + s * 0.02 * width}"), data).raw_p_value for s in (-1, 1)]
            assert min(p_values) < 0.05 < max(p_values)


def test_what_an_open_claim_would_take_is_told():
    gaps = np.tile([1.0, -0.8], 15) / ROUNDS
    data = cube({"a": spread(30, 5), "b": spread(30, 5) + gaps})
    found = verdict(claim("final(a) < final(b)"), data)
    effect = gaps.mean() / gaps.std(ddof=1)
    assert found.outcome == OPEN
    assert found.seeds_wanted == pytest.approx(((1.96 + 0.8416) / effect) ** 2, abs=1)
    assert found.hours_wanted == pytest.approx(found.seeds_wanted * 2 * ROUNDS * 0.5 / 3600)
    assert verdict(claim("final(a) < final(a)"), data).seeds_wanted == 0
    assert verdict(claim("final(a) < 9"), data).seeds_wanted is None


def test_payoff_is_summed_over_the_rounds_after_the_initial_design():
    found = verdict(claim("payoff(a) > payoff(b)"), cube({"a": spread(30, 5), "b": spread(30, 9)}))
    assert found.outcome == HOLDS
    assert found.findings[0].value.value == pytest.approx(4.0)
    value = verdict(claim("payoff(a) > 50"), cube({"a": spread(30, 5)})).findings[0].value
    assert value.value == pytest.approx(3 * ROUNDS - 5)


def test_seeds_are_paired():
    """Seeds differ far more than the algorithms do; on each seed b has a little more."""
    a = spread(30, 50, reach=40)
    small = np.array([1.0, 1.1] * 15) / ROUNDS
    assert verdict(claim("final(a) < final(b)"), cube({"a": a, "b": a + small})).outcome == HOLDS


@pytest.mark.parametrize(("check", "end"), [("ratio(a, b) < 0.9", "high"), ("ratio(b, a) > 1.1", "low")])
def test_the_farthest_threshold_that_holds_is_the_end_of_the_interval(check, end):
    data = cube({"a": spread(30, 5), "b": spread(30, 8, 3)[::-1]})
    found = verdict(claim(check), data)
    assert found.thresholds == pytest.approx([getattr(found.findings[0].value, end)], rel=0.01)
    both = verdict(claim(f"all({check}, final(a) < final(b))"), data)
    assert both.thresholds == found.thresholds
    assert verdict(claim(f"all({check}, final(b) < final(a))"), data).thresholds == ()
    assert verdict(claim("final(a) < final(b)"), data).thresholds is None


def test_a_factor_is_a_threshold_and_several_move_together():
    data = cube({"a": spread(30, 5), "b": spread(30, 8, 3)[::-1]})
    ratio = verdict(claim("ratio(a, b) < 0.9"), data)
    assert verdict(claim("final(a) < 0.9 * final(b)"), data).thresholds == ratio.thresholds
    both = verdict(claim("all(ratio(a, b) < 0.9, ratio(b, a) > 0.7)"), data).thresholds
    assert both == pytest.approx([ratio.thresholds[0], 0.7 * 0.9 / ratio.thresholds[0]])
    assert not thresholds(claim("payoff(a) < 0.9 * payoff(b)").node)


def test_holm_takes_back_what_would_hold_alone_and_it_leans():
    # The p value of these gaps is between 1 % and 5 %: enough alone, too much beside three others without evidence.
    gaps = np.tile([0.9, -0.7, 0.8, -0.3, 0.8, -0.6, 1.0, -0.9, 0.6, -0.5], 3) / ROUNDS
    still = np.tile([0.5, -0.5], 15) / ROUNDS
    data = cube({"a": spread(30, 5), "b": spread(30, 5) + gaps + 0.012, "c": spread(30, 5) + still})
    weak = claim("final(a) < final(b)")
    alone = verdict(weak, data)
    assert alone.outcome == HOLDS
    assert 0.0125 < alone.p_value < 0.05
    others = [claim("final(a) < final(c)", id=f"other-{n}") for n in range(3)]
    together = verdicts([weak, *others], lambda experiment, problem: data)[0]
    assert (together.outcome, together.corrected) == (LEANS_FOR, 4)
    assert together.reason == "by an uncorrected interval, not after Holm's correction for 4 claims"
    assert together.p_value == pytest.approx(4 * alone.p_value)
    assert together.raw_p_value == alone.p_value
    effect = (gaps + 0.012).mean() / gaps.std(ddof=1)
    assert together.seeds_wanted == pytest.approx(((2.4977 + 0.8416) / effect) ** 2, abs=1)  # each of four at 1.25 %
    apart = verdicts([weak, *(one.model_copy(update={"family": "another"}) for one in others)], lambda *_: data)
    assert apart[0].outcome == HOLDS


def test_claims_without_numbers_of_the_paper_do_not_count_in_its_family():
    data = cube({"a": spread(30, 5), "b": spread(30, 9)})
    few = cube({"a": spread(9, 5), "b": spread(9, 9)})
    aside = [
        claim("final(a) < final(b)", id="elsewhere", experiment="another"),
        claim("final(a) < final(b)", id="otherwise", not_comparable="another solver"),
        claim("final(a) < final(b)", id="in-place", stand_in="4 priors"),
        claim("final(a) < final(b)", id="few", experiment="few"),
    ]
    known = {"e": data, "few": few}
    found = verdicts([claim("final(a) < final(b)"), *aside], lambda experiment, problem: known.get(experiment))
    assert [one.outcome for one in found] == [HOLDS, NOT_RUN, NOT_COMPARABLE, STAND_IN, OPEN]
    assert [one.corrected for one in found] == [1, 0, 0, 0, 0]
    assert "another" in found[1].reason
    assert [one.reason for one in found[2:4]] == ["another solver", "4 priors"]
    assert found[2].raw_p_value < 0.05


def test_numbers_of_stand_ins_give_no_verdict_on_a_paper():
    data = cube({"a": spread(30, 5), "b": spread(30, 9)}).assign_attrs(data_label="simulated")
    found = verdict(claim("final(a) < final(b)"), data)
    assert (found.outcome, found.reason) == (STAND_IN, "simulated")


def test_a_claim_fails_with_what_follows_from_it():
    gaps = np.tile([1.0, -0.36], 15) / ROUNDS
    data = cube({"a": spread(30, 5), "b": spread(30, 5) - gaps, **{x: spread(30, 9, 3) for x in "cdef"}})
    least, ahead = claim("rank(a, among=[b, c, d, e, f]) == 1", id="least"), claim("final(a) < final(b)", id="ahead")
    assert verdict(least, data).outcome == OPEN  # five parts were looked through
    both = verdicts([least, ahead], lambda *_: data)
    assert [one.outcome for one in both] == [FAILS, FAILS]
    assert both[0].reason == "follows from 'ahead', which fails"


def test_all_takes_its_weakest_part_and_any_pays_for_its_choice():
    data = cube({"a": spread(30, 5), "b": spread(30, 9), "c": spread(30, 5) + 0.5 * np.tile([0.5, -0.4], 15) / ROUNDS})
    strong, weak = (verdict(claim(f"final(a) < final({other})"), data).findings[0] for other in "bc")
    both = verdict(claim("all(final(a) < final(b), final(a) < final(c))"), data)
    either = verdict(claim("any(final(a) < final(b), final(a) < final(c))"), data)
    assert both.for_it == weak.for_it
    assert both.outcome == OPEN
    assert either.for_it == pytest.approx(2 * strong.for_it)
    assert either.outcome == HOLDS
    assert verdict(claim("atleast(1, final(a) < final(b), final(a) < final(c))"), data).for_it == either.for_it
    assert verdict(claim("rank(a, among=[b, c]) == 1"), data).for_it == both.for_it


def test_so_many_of_several_pay_for_those_that_may_fail():
    """Benjamini and Heller (2008): the u-th least of n p values, times n - u + 1; against it n - u + 1 have to fail."""
    gaps = {"b": 4.0, "c": 1.0, "d": 0.6, "e": -3.0}
    data = cube({"a": spread(30, 5), **{label: spread(30, 5 + gap, 1.4) for label, gap in gaps.items()}})
    parts = [f"final(a) < final({label})" for label in gaps]
    alone = [verdict(claim(part), data).findings[0] for part in parts]
    assert [one.for_it < 0.05 for one in alone] == [True, True, True, False]
    for wanted in (1, 2, 3, 4):
        check = f"atleast({wanted}, {', '.join(parts)})"
        found, denied = verdict(claim(check), data), verdict(claim(f"not({check})"), data)
        assert found.for_it == pytest.approx(min(1.0, (5 - wanted) * sorted(one.for_it for one in alone)[wanted - 1]))
        assert found.against_it == pytest.approx(min(1.0, wanted * sorted(one.against_it for one in alone)[4 - wanted]))
        assert (denied.for_it, denied.against_it) == (found.against_it, found.for_it)
    assert verdict(claim(f"atleast(3, {', '.join(parts)})"), data).outcome == HOLDS
    assert verdict(claim(f"atleast(4, {', '.join(parts)})"), data).outcome == FAILS


def test_one_part_that_fails_makes_all_fail_though_another_has_too_few_seeds():
    data = cube({"a": spread(30, 5), "b": spread(30, 2), "c": spread(4, 90)})
    assert verdict(claim("all(final(a) < final(b), final(a) < final(c))"), data).outcome == FAILS
    assert verdict(claim("any(final(a) < final(b), final(a) < final(c))"), data).outcome == OPEN


def test_a_problem_without_a_cube_is_without_evidence():
    cubes = {"hills": cube({"a": spread(30, 5), "b": spread(30, 9)}), "valleys": None}
    ahead, behind = (
        f"all(final({one}) < final({other}) for problem in [hills, valleys])" for one, other in ("ab", "ba")
    )

    def judged(check):
        return verdicts([claim(check)], lambda experiment, problem: cubes[problem])[0]

    found = judged(ahead)
    assert (found.outcome, found.reason, found.seeds) == (OPEN, "no cube of valleys", 30)
    assert judged(behind).outcome == FAILS
    assert judged(f"any{ahead.removeprefix('all')}").outcome == HOLDS
    cubes["hills"] = None
    assert (judged(ahead).outcome, judged(ahead).reason) == (NOT_RUN, "there is no cube of 'hills' of e")
    cubes["hills"] = cubes["valleys"] = cube({"a": spread(0, 5), "b": spread(30, 9)})
    assert (judged(ahead).outcome, judged(ahead).reason) == (NOT_RUN, "none of its runs is finished")


@pytest.mark.parametrize(
    ("check", "value"),
    [
        ("final(a) > 0", 210.0),
        ("mean(a) > 0", 10.5),
        ("at(a, 4) > 0", 10.0),
        ("at(a, 0.5) > 0", 55.0),
        ("final(a, metric=twice) > 0", 420.0),
        ("final(a) - 0.5 * (final(a) - 10) > 0", 110.0),
        ("ratio(final(a), at(a, 4)) > 1", 21.0),
        ("growth(a) > 1", np.polyfit(np.log(LATE), np.log(LATE * (LATE + 1) / 2), 1)[0]),
        ("share(a, prior=1) > 0", 0.75),
        ("seconds(a) > 0", 0.5),
    ],
)
def test_words_stand_for_their_numbers(check, value):
    """Regret is t in round t, but 100 in the initial design, which counts nowhere; prior 1 from round 6 on."""
    rounds = np.arange(1, ROUNDS + 1)
    chosen = {"a": np.tile((rounds > 5).astype(int), (30, 1))}
    found = verdict(claim(check), cube({"a": np.tile(rounds, (30, 1))}, chosen))
    assert found.findings[0].value.value == pytest.approx(value, rel=1e-4)
    assert found.outcome == HOLDS


def test_seeds_that_stick_to_a_prior_are_counted():
    chosen = np.zeros((36, ROUNDS), dtype=int)
    chosen[:12, 12:] = 1  # a third of the seeds leaves prior 0 in the second half
    data = cube({"a": spread(36, 5)}, {"a": chosen})
    found = verdict(claim("sticks(a, prior=0) > 0"), data)
    assert found.findings[0].value.value == pytest.approx(24 / 36)
    assert found.outcome == HOLDS
    never = verdict(claim("sticks(a, prior=1) > 0"), data)
    assert (never.findings[0].value.value, never.outcome) == (0, OPEN)


def test_seeds_that_reject_a_prior_are_counted_and_so_are_those_that_reject_none():
    data = cube({"a": spread(36, 5)})
    data["rejected_prior"] = data["chosen_prior"].copy()  # -1: none
    data["rejected_prior"][0, 0, :27, 7] = 1
    data["active_priors"][0, 0, :27, 7:, 1] = 0

    def found(prior):
        return verdict(claim(f"rejected(a, prior={prior}) > 0.2"), data)

    assert found(1).findings[0].value.value == pytest.approx(27 / 36)
    assert (found(1).outcome, found(0).findings[0].value.value, found(0).seeds) == (HOLDS, 0, 36)


def test_what_is_recommended_last_counts_though_earlier_rounds_recommend_nothing():
    data = cube({"a": spread(30, 5), "b": spread(30, 9)})
    data["recommended_regret"] = data["regret"].where(data["iteration"] == ROUNDS)
    found = verdict(claim("recommended(a) < recommended(b)"), data)
    assert found.outcome == HOLDS
    assert found.findings[0].value.value == pytest.approx(-4 / ROUNDS)


def test_an_objective_is_that_of_the_metric_unless_it_is_stated():
    regret = {"a/so": spread(30, 5), "a/twice": spread(30, 9), "b/so": spread(30, 7)}
    data = cube(regret, objectives=("so", "twice"))

    def value(check, **keys):
        return verdict(claim(check, **keys), data).findings[0].value.value

    assert value("final(a) > 0") == pytest.approx(5)
    assert value("final(a) > 0", metric="twice") == pytest.approx(18)
    assert value("final(a/so) > 0", metric="twice") == pytest.approx(10)
    assert value("all(final(a) > 0 for objective in [twice])") == pytest.approx(18)
    assert value("final(b) > 0", metric="twice") == pytest.approx(14)  # pursues one


def test_labels_of_a_sweep_stand_for_those_of_a_claim():
    data = cube({"a-wide": spread(30, 5), "b": spread(30, 9)}, label="hills-3")
    found = verdict(claim("final(a) < final(b)"), data, {"a": "a-wide"})
    assert found.outcome == HOLDS
    assert found.findings[0].comparison == "final(a) < final(b)"


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("final(c) < 1", "no algorithm 'c' on 'hills'; allowed: a, b"),
        ("final(a/dro) < 1", "no objective of 'a' 'dro' on 'hills'; allowed: any"),
        ("at(a, 50) < 1", "allowed: rounds up to 20"),
        ("recommended(a) < 1", "has no 'recommended_regret'"),
    ],
)
def test_what_a_cube_does_not_have_is_named(check, told):
    data = cube({"a": spread(30, 5), "b": spread(30, 9)})
    with pytest.raises(BocuError) as caught:
        verdict(claim(check), data)
    assert told in str(caught.value)
    found = verdicts([claim(check)], lambda *_: data)[0]
    assert found.outcome == NOT_RUN
    assert told in found.reason


FILE = """
paper: ziomek2025
experiment: ziomek2025
claims:
  - id: one
    statement: MLE gets stuck.
    problem: hills
    check: final(pe-gp-ucb) < final(mle)
"""


def test_a_file_hands_paper_and_experiment_down(tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(FILE, encoding="utf-8")
    found = read_claims(path).claim("one")
    assert (found.paper, found.experiment, found.corrected_with) == ("ziomek2025",) * 3
    with pytest.raises(BocuError, match="no claim 'two'; allowed: one"):
        read_claims(path).claim("two")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("id: one", "id: One", "claims.0.id: found 'One'"),
        ("final(mle)", "fnal(mle)", "claims.0.check (one): column 20: found 'fnal'; did you mean 'final'?"),
        ("    problem: hills\n", "", "claims.0.problem (one): this key is required"),
        (
            "claims:\n",
            "claims:\n  - {id: one, statement: x, problem: p, check: final(a) < 1}\n",
            "claims.1.id: found 'one'",
        ),
    ],
)
def test_bad_input_gets_one_line_with_file_and_key(tmp_path, old, new, told):
    path = tmp_path / "claims.yaml"
    path.write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(BocuError) as caught:
        read_claims(path)
    assert str(caught.value).startswith(f"{path}: {told}"), str(caught.value)


def by_rounds(rounds, **keys):
    """A verdict on two seeds whose rounds are given, label -> regret of each."""
    numbers = cube({name: np.stack([own, own]) for name, own in rounds.items()})
    return verdict(claim(**{"check": "final(a) < final(b)", **keys}), numbers)


def test_a_claim_over_rounds_is_judged_by_their_blocks_where_seeds_are_too_few(monkeypatch):
    rounds = 600
    monkeypatch.setitem(globals(), "ROUNDS", rounds)
    wind = np.random.default_rng(0).uniform(1, 2, rounds)
    apart = {"a": wind, "b": wind + np.random.default_rng(1).uniform(0.5, 1.5, rounds)}
    assert by_rounds(apart).outcome == OPEN
    found = by_rounds(apart, blocks=[10, 3, 50])
    assert (found.outcome, found.seeds, found.rests_on) == (HOLDS, 60, 60)
    assert found.findings[0].value.value == pytest.approx((apart["a"] - apart["b"]).sum())
    assert list(found.blocks) == [10, 3, 50]
    assert max(for_it for for_it, _ in found.blocks.values()) < 0.05
    assert found.seeds_wanted is None
    few = by_rounds(apart, blocks=[50])
    assert (few.outcome, few.reason) == (LEANS_FOR, "12 blocks of rounds, a verdict takes 30")
    none = by_rounds(apart, blocks=[10, 10_000]).blocks[10_000]
    assert none == (1.0, 1.0)
    assert by_rounds(apart, blocks=[10_000]).reason == "too few blocks: 1 paired, a claim leans from 10 on"
    ratio = by_rounds(apart, check="ratio(final(a), final(b)) < 0.5", blocks=[10])
    assert ratio.outcome == FAILS
    assert ratio.findings[0].value.low < apart["a"].sum() / apart["b"].sum() < ratio.findings[0].value.high
    late = by_rounds(apart, check="final(b) - at(b, 0.75) > 0.9 * (at(b, 0.5) - at(b, 0.25))", blocks=[10])
    quarters = apart["b"].reshape(4, -1).sum(axis=1)
    assert late.findings[0].value.value == pytest.approx(quarters[3] - 0.9 * quarters[1])


@pytest.mark.parametrize(
    ("check", "found"),
    [
        ("'growth(a) > 0.9'", "found growth; allowed: one problem, final, mean, at, payoff"),
        ("'all(final(a) < final(b) for problem in [hills, wells])'", "found hills, wells; allowed: one problem"),
        ("null", "found no check; allowed: one problem"),
    ],
)
def test_blocks_are_refused_where_no_round_has_its_part(tmp_path, check, found):
    file = tmp_path / "claims.yaml"
    text = f"{{id: c, statement: s, experiment: e, problem: hills, blocks: [5], check: {check}}}"
    file.write_text(f"claims:\n  - {text}\n", encoding="utf-8")
    with pytest.raises(BocuError, match=rf"claims.0.blocks \(c\): {found}"):
        read_claims(file)
