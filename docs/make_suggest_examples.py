"""Three logs, what `bocu suggest` decides from them, and what that earns in seasons, years and days that came later.

    python docs/make_suggest_examples.py kiosk
    python docs/make_suggest_examples.py irrigation
    python docs/make_suggest_examples.py wind --mirror FOLDER

writes the log of an example into the folder at hand and prints its tables in Markdown, for the page that quotes them.
A decision knows nothing that came after it. Without a mirror the wind is simulated.
"""

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import make_newsvendor_log as newsvendor
import numpy as np
import pandas as pd

import bocu
from bocu.core.errors import BocuError
from bocu.core.io.files import open_netcdf, read_netcdf
from bocu.problems.data.catalogue import load_catalogue, sources_file
from bocu.problems.data.payoff_tables import POTATOES
from bocu.problems.data.prepare import prepare
from bocu.problems.data.simulated.wind import simulate
from bocu.problems.wind_commitment import GOLDEN, revenue
from bocu.sweep.evaluation.statistics import student_mean

ROBUST, EXPECTED, LAST_YEAR = "suggested, robust", "suggested, expectation", "as last year"
MEAN, BEST = "the mean", "best, known afterwards"

Decision = tuple[float, ...]
Outcomes = dict[str, list[tuple[Decision, float]]]
"""Of each way to decide the decisions and what each earned, in the order of the repetitions."""


def table(title: str, outcomes: Outcomes, digits: int) -> str:
    """Return what each way to decide earned, and by how much the robust suggestion earned more."""
    robust = np.array([earned for _, earned in outcomes[ROBUST]])
    lines = [
        f"**{title}** (n = {len(robust)})\n",
        "| | decision (median) | mean | worst | robust earns more by (95 %) |",
        "|---|---|---|---|---|",
    ]
    for way, found in outcomes.items():
        decided = " / ".join(f"{number:.3g}" for number in np.median([decision for decision, _ in found], axis=0))
        earned = np.array([earned for _, earned in found])
        gap = student_mean(robust - earned)
        more = "" if way == ROBUST else f"{gap.value:.{digits}f} ({gap.low:.{digits}f} to {gap.high:.{digits}f})"
        lines.append(f"| {way} | {decided} | {earned.mean():.{digits}f} | {earned.min():.{digits}f} | {more} |")
    return "\n".join(lines)


def best_logged(log: pd.DataFrame, decisions: Sequence[str], outcome: str) -> Decision:
    """Return the logged decision of the largest mean outcome, the first of equal ones."""
    means = log.groupby(list(decisions))[outcome].mean()
    return tuple(float(number) for number in np.atleast_1d(means.idxmax()))


KIOSKS = range(7, 27)
"""Seeds; that of the first is the page's."""
WETTER = 0.3
TENS = 10


def kiosk(only_log: bool, mirror: Path | None) -> list[str]:
    """Twenty kiosks, each with a season's log, settle one order for every day of the next."""
    newsvendor.main()
    if only_log:
        return []
    years: dict[str, Outcomes] = {"A season like the last": {}, "A wetter season": {}}
    for seed in KIOSKS:
        log = pd.DataFrame(newsvendor.season(np.random.default_rng(seed)))
        log["profit"] = newsvendor.profits(log["order"], log.pop("demand")).round(2)
        found = bocu.suggest(
            log, decisions="order:int:20..90", contexts=["temperature", "rain"], outcome="profit", radius=0.2
        )
        tens = log.assign(ten=log["order"] // TENS * TENS + TENS // 2)
        orders = {
            ROBUST: found.decision["order"],
            EXPECTED: found.steady.decision["order"],
            LAST_YEAR: log["order"].to_numpy(),
            MEAN: best_logged(tens, ["ten"], "profit")[0],
        }
        for outcomes, dry in zip(years.values(), (newsvendor.DRY, WETTER), strict=True):
            demand = newsvendor.season(np.random.default_rng([seed, 1]), dry)["demand"]
            every = np.arange(20, 91)
            orders[BEST] = int(every[newsvendor.profits(every[:, None], demand).mean(axis=1).argmax()])
            for way, order in orders.items():
                told = ((float(np.mean(order)),), float(newsvendor.profits(order, demand).mean()))
                outcomes.setdefault(way, []).append(told)
    return [table(f"{title}: profit a day, kiosk by kiosk", found, 1) for title, found in years.items()]


TRIED = ((6.0, 12.0, 18.0, 24.0), (8.0, 16.0, 24.0, 32.0))
"""mm of water a week, early and late, that the four fields of a farm try."""
FIRST_HELD_OUT = 2011


def irrigation(only_log: bool, mirror: Path | None) -> list[str]:
    """A farm with four fields settles the water of a season from all seasons before it."""
    shipped = sources_file().parent / "shipped/irrigation/raw/suffolk_potatoes.nc"
    with open_netcdf(shipped) as data:
        seasons = data.load()
    profit = POTATOES.yields * seasons["dry_yield"].values.astype(float) - POTATOES.water * seasons["water"].values
    profit -= POTATOES.fixed
    plans = [tuple(plan) for plan in seasons["plan"].values.tolist()]
    law, year = seasons["law"].values, seasons["year"].values
    observed = np.flatnonzero(law == "observed")
    # Over four seasons each field tries each late plan once, so that all sixteen plans are tried equally often.
    rows = [
        {
            "year": int(year[season]),
            **(tried := {"early": TRIED[0][field], "late": TRIED[1][(field + turn) % 4]}),
            "rain": round(float(seasons["rain"].values[season]), 1),
            "evapotranspiration": round(float(seasons["evapotranspiration"].values[season]), 1),
            "profit": round(float(profit[plans.index(tuple(tried.values())), season]), 1),
        }
        for turn, season in enumerate(observed)
        for field in range(4)
    ]
    log, offered = pd.DataFrame(rows), pd.DataFrame(plans, columns=["early", "late"])
    log[log["year"] < FIRST_HELD_OUT].to_csv("potatoes.csv", index=False)
    offered.to_csv("plans.csv", index=False)
    if only_log:
        return []

    def decided(before: int) -> dict[str, Decision]:
        past = log[log["year"] < before]
        found = bocu.suggest(
            past,
            alternatives=offered,
            contexts=["rain", "evapotranspiration"],
            outcome="profit",
            time="year",
            radius=0.3,
        )
        return {
            ROBUST: tuple(float(found.decision[name]) for name in offered),
            EXPECTED: tuple(float(found.steady.decision[name]) for name in offered),
            LAST_YEAR: best_logged(past[past["year"] == before - 1], ["early", "late"], "profit"),
            MEAN: best_logged(past, ["early", "late"], "profit"),
        }

    def tell(outcomes: Outcomes, ways: Mapping[str, Decision], season: int) -> None:
        for way, plan in {**ways, BEST: plans[int(profit[:, season].argmax())]}.items():
            outcomes.setdefault(way, []).append((plan, float(profit[plans.index(plan), season])))

    later: Outcomes = {}
    for season in observed[year[observed] >= FIRST_HELD_OUT]:
        tell(later, decided(int(year[season])), season)
    found = [table("2011 to 2021 as observed, decided anew each year: GBP a hectare, season by season", later, 0)]
    for years, among in (("1991 to 2010", year < FIRST_HELD_OUT), ("2011 to 2021", year >= FIRST_HELD_OUT)):
        best = plans[int(profit[:, (law == "observed") & among].mean(axis=1).argmax())]
        found.append(f"- of all {len(plans)} plans the best for {years} on average: {best[0]:g} / {best[1]:g}")
    last = decided(int(year[observed].max()) + 1)
    for years in ("2040-59", "2080-99"):
        outcomes: Outcomes = {}
        for season in np.flatnonzero(law == f"ssp585-{years}"):
            tell(outcomes, last, season)
        found.append(table(f"{years} by three climate models, decided after 2021: the same", outcomes, 0))
    return found


LOGGED = 120
LEVELS = 20
DAY, WINDOW = 24, 48
DAYS_APART = 12
YEAR = 364 * DAY
"""Hours back to the same day of the week of the year before."""


def wind(only_log: bool, mirror: Path | None) -> list[str]:
    """A wind farm of Germany's size settles at midnight what it commits to every hour of the day."""
    begins, generated = _hours(mirror)
    first, held_out = (int(np.searchsorted(begins, np.datetime64(day))) for day in ("2018-01-01", "2019-01-01"))
    past = first + np.flatnonzero(np.isfinite(generated[first:held_out]))
    logged = past[:: len(past) // LOGGED][:LOGGED]
    committed = np.rint(10 * ((0.5 + GOLDEN * np.arange(LOGGED)) % 1.0)) / 10
    log = pd.DataFrame({"hour": begins[logged], "committed": committed, "generated": generated[logged].round(4)})
    log["revenue"] = revenue(committed, generated[logged]).round(4)
    log.to_csv("wind.csv", index=False)
    _forecast(generated, held_out).to_csv("last-48-hours.csv", index=False)
    last_year = np.arange(first + WINDOW, held_out - DAY, DAY)
    radius = round(float(np.median([_moved(generated, midnight) for midnight in last_year])), 2)
    if only_log:
        return []

    def asked(rows: pd.DataFrame, midnight: int, **more: Any) -> bocu.Suggestion:
        return bocu.suggest(
            rows,
            contexts=["generated"],
            outcome="revenue",
            forecast=_forecast(generated, midnight),
            set="wass",
            radius=radius,
            **more,
        )

    powers = np.arange(101) / 100

    def best(midnight: int) -> Decision:
        hours = _known(generated, midnight, midnight + DAY)
        return (float(powers[revenue(powers[:, None], hours).mean(axis=1).argmax()]),)

    outcomes: Outcomes = {}
    for midnight in range(held_out, len(generated) - DAY + 1, DAYS_APART * DAY):
        found = asked(log, midnight, decisions="committed:0..1")
        ways: dict[str, Decision] = {
            ROBUST: (float(found.decision["committed"]),),
            EXPECTED: (float(found.steady.decision["committed"]),),
            LAST_YEAR: best(midnight - YEAR),
            MEAN: best_logged(log, ["committed"], "revenue"),
            BEST: best(midnight),
        }
        for way, power in ways.items():
            earned = revenue(np.array(power), _known(generated, midnight, midnight + DAY)).mean()
            outcomes.setdefault(way, []).append((power, float(earned)))
    tenths = np.arange(11) / 10
    calm = pd.DataFrame({"committed": tenths, "generated": 0.0, "revenue": revenue(tenths, np.zeros(11))})
    told = []
    for rows in (log, pd.concat([log, calm])):
        of_nothing = asked(rows, held_out, alternatives={"committed": [0.0, 1.0]}).best.guaranteed
        best_found = asked(rows, held_out, decisions="committed:0..1").best
        told.append(
            f"- {len(rows)} rows: committing nothing guarantees {of_nothing:.2f} by the model, "
            f"{best_found.decision['committed']:.2f} guarantees {best_found.guaranteed:.2f}"
        )
    data = "Simulated stand-in: " if mirror is None else ""
    return [
        table(f"{data}every {DAYS_APART}th day of 2019: revenue an hour, day by day", outcomes, 3),
        f"- radius {radius}: the median distance in 2018 between {WINDOW} hours and the day that followed",
        *told,
    ]


def _hours(mirror: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the begin of each hour and the power generated as a fraction of capacity, shapes (hours,)."""
    catalogue = load_catalogue(sources_file())
    record, source = ("opsd", "simulate") if mirror is None else ("opsd-2017-2019", "mirror")
    catalogue.check("wind", record, source, mirror)
    (name,) = (file.name for file in catalogue.record("wind", record).files_of(source))
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / name if mirror is None else mirror / "wind" / name
        if mirror is None:
            simulate(raw)
        prepared = Path(folder) / "prepared.nc"
        prepare(catalogue.record("wind", record).prepare, [raw], prepared, catalogue.origin("wind", record, source))
        data = read_netcdf(prepared)
        return data["time"].values.astype("datetime64[h]"), data["capacity_factor"].values


def _known(generated: np.ndarray, begin: int, end: int) -> np.ndarray:
    hours = generated[begin:end]
    return hours[np.isfinite(hours)]


def _forecast(generated: np.ndarray, midnight: int) -> pd.DataFrame:
    """Return how often each level was generated in the hours before midnight; others may come as well, at weight 0."""
    nearest = np.rint(LEVELS * _known(generated, midnight - WINDOW, midnight)).astype(int)
    return pd.DataFrame(
        {"generated": np.arange(LEVELS + 1) / LEVELS, "weight": np.bincount(nearest, minlength=LEVELS + 1)}
    )


def _moved(generated: np.ndarray, midnight: int) -> float:
    """Return the Wasserstein distance between the hours before midnight and the day after it."""
    from scipy.stats import wasserstein_distance

    before, after = _known(generated, midnight - WINDOW, midnight), _known(generated, midnight, midnight + DAY)
    return float(wasserstein_distance(before, after))


EXAMPLES: dict[str, Callable[[bool, Path | None], list[str]]] = {"kiosk": kiosk, "irrigation": irrigation, "wind": wind}


def main() -> None:
    """Write the logs of examples and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("example", nargs="+", choices=EXAMPLES)
    parser.add_argument("--mirror", type=Path, help="folder with the real wind power, in its folder `wind`")
    parser.add_argument("--only-log", action="store_true", help="write the logs and stop")
    asked = parser.parse_args()
    for example in asked.example:
        try:
            parts = EXAMPLES[example](asked.only_log, asked.mirror)
        except BocuError as error:
            parser.error(str(error))
        print("\n\n".join(parts))


if __name__ == "__main__":
    main()
