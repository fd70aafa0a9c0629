"""Experiment files that are wrong, by kinds: for each the text, and what the one line about it must name."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from experiments import tiny

from bocu.sweep.experiment.configuration import Experiment
from bocu.sweep.experiment.registry import registered

HUGE = 10**30
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # hundreds of files, in each worker


@dataclass(frozen=True)
class Bad:
    """A wrong experiment file.

    Attributes:
        name: kind and what is wrong.
        content: of the file.
        says: what the line must hold.
    """

    name: str
    content: bytes
    says: tuple[str, ...]


def grid(**changes: Any) -> dict[str, Any]:
    """A grid of decisions and contexts, one objective."""
    experiment = tiny(
        iterations=2,
        problems=[{"name": "kirschner", "parameters": {"decision_points": [8], "context_points": [6]}}],
        objectives=[{"name": "dro", "parameters": {"set": {"name": "tv", "radius": 0.1}}}],
        algorithms=["random", "ucb-bocu-2"],
    )
    return {**experiment, **changes}


def box(**changes: Any) -> dict[str, Any]:
    """Continuous decisions and contexts."""
    return {**tiny(iterations=2, problems=["ackley"], algorithms=["random"]), **changes}


def scalarised(**changes: Any) -> dict[str, Any]:
    """Continuous decisions, a grid of contexts."""
    return {**tiny(iterations=2, problems=["ackley-grid"], algorithms=["random"]), **changes}


def wind(**changes: Any) -> dict[str, Any]:
    """Hourly rounds on simulated data."""
    return {**tiny(iterations=2, data="simulate", problems=["wind-commitment"], algorithms=["random"]), **changes}


def sensors(**changes: Any) -> dict[str, Any]:
    """Sensors on simulated data."""
    return {**tiny(iterations=2, data="simulate", problems=["sensors"], algorithms=["random"]), **changes}


# What is required beside the parameter that is wrong.
NEEDED: dict[tuple[str, str], dict[str, Any]] = {
    ("metric", "lenient"): {"tau": 0.1},
    ("metric", "satisficing"): {"tau": 0.1},
    ("figure", "region"): {"check": "final(random) < final(pe-gp-ucb)"},
}
FOR_PROTOCOL = {
    "time-varying": tiny,
    "general": grid,
    "simulator": grid,
    "continuous": box,
    "scalarised": scalarised,
    "rolling-simulator": wind,
}


def bad(name: str, experiment: Any, *says: str) -> Bad:
    return Bad(name, yaml.dump(experiment, Dumper=DUMPER, allow_unicode=True).encode(), says)


def raw(name: str, text: str | bytes, *says: str) -> Bad:
    return Bad(name, text.encode() if isinstance(text, str) else text, says)


def all_bad() -> list[Bad]:
    """Return all of them; names are unique."""
    kinds = (
        _top_level,
        _parameters,
        _names,
        _filters,
        _unions,
        _ignored,
        _figures,
        _labels,
        _sizes,
        _refused_by_jobs,
        _encodings,
        _structure,
        _yaml_1_1,
        _duplicate_keys,
    )
    return [entry for kind in kinds for entry in kind()]


def _top_level() -> Iterator[Bad]:
    wrong: dict[str, list[Any]] = {
        "name": [None, 3, True, ["x"], {"a": 1}, "", "Über", "a b", "../up", ".hidden", "-", "two--hyphens", "a\nb"],
        "title": [3, ["x"], {"a": 1}],
        "description": [3, ["x"]],
        "papers": ["ziomek2025", 3, {"a": 1}, [3], ["ziomek2052"], ["no-such-paper"], ["a\nb"], ["tay2022", "tay2022"]],
        "data": [3, ["download"], {"source": "web"}, {"sorce": "download"}, "downlaod", {"source": "mirror"}],
        "mirror": [3, ["x"], {"a": 1}, "", "no-such-folder", "x" * 300],
        "seeds": [-1, 0, "many", [1, 2], {}, {"count": "x"}, {"count": 2.5}, {"first": -1, "count": 1}, None, True],
        "iterations": [0, -1, 1.5, "many", [1], {"a": 1}, None, True, ".inf"],
        "threads": [0, -1, "x", 1.5, None, [1], True],
        "problems": [
            [],
            None,
            3,
            "hills",
            {"hills": {}},
            [3],
            [None],
            [["hills"]],
            [{}],
            [{"label": "x"}],
        ],
        "priors": [3, "stated", [3], [None], [{"label": "x"}]],
        "objectives": [3, "dro", [3], [None], [{"label": "x"}]],
        "algorithms": [[], None, 3, "random", [3], [None]],
        "metrics": [[], 3, "so", [3]],
        "sweep": [3, "hills", {"noise": [1]}, {"problems.hills": [1]}, {"problems.hills.noise": []}, [3], [{}]],
        "figures": [3, "regret", [3], [{"label": "x"}], {"name": "regret"}],
        "reference": [3, ["random"], "randon", "Random", "hills", ""],
        "leads_within": [3, "x", [0.1], {"least": -1}, {"least": "x"}, {"most": 0.1}, {"random": float("inf")}, None],
        "claims": [3, "claims.yaml", [3], [None], {"a": 1}, ["nowhere.yaml"], ["."], [""], ["a\nb"]],
        "overwrite": [3, "perhaps", [True], None],
        "checkpoint_seconds": [-1, "x", float("inf"), float("nan"), [1], True],
    }
    assert wrong.keys() == Experiment.model_fields.keys()
    for key, values in wrong.items():
        for value in values:
            yield bad(f"top level: {key}: {value!r}", tiny(**{key: value}), key)
    without = {key: value for key, value in tiny().items() if key not in ("seeds", "iterations")}
    yield bad("top level: two keys are missing", without, "seeds: this key is required (and 1 more: iterations)")
    yield bad("top level: a mirror beside data that is none", tiny(mirror="x", data=3), "data")
    for key in ("name", "seeds", "iterations", "problems", "algorithms"):
        experiment = tiny()
        del experiment[key]
        yield bad(f"top level: no {key}", experiment, key, "required")
    for key in ("iteration", "algorithm", "seed", "mode", "", "a\nb", "ü"):
        yield bad(f"top level: unknown key {key!r}", tiny(**{key: 3}), "unknown key")
    yield bad("top level: a number as key", {**tiny(), 3: 4}, "3")
    yield bad("top level: null as key", {**tiny(), None: 4}, "None")


def _parameters() -> Iterator[Bad]:
    """A mapping with an unknown key is wrong for every parameter of everything registered."""
    for kind, section in (
        ("problem", "problems"),
        ("prior", "priors"),
        ("objective", "objectives"),
        ("algorithm", "algorithms"),
        ("metric", "metrics"),
        ("figure", "figures"),
    ):
        for entry in registered(kind):
            base = FOR_PROTOCOL[(getattr(entry.load(), "protocols", ()) or ("general",))[0]]()
            fields = entry.load().Parameters.model_fields
            for key in [*fields][:2] if len(fields) > 3 else fields:
                experiment = copy.deepcopy(base)
                given = {**NEEDED.get((kind, entry.name), {}), key: {"no-such": 1}}
                experiment[section] = [{"name": entry.name, "parameters": given}]
                yield bad(f"parameters: {kind} {entry.name}, {key}", experiment, f"{section}.0.parameters.{key}")
            experiment = copy.deepcopy(base)
            experiment[section] = [{"name": entry.name, "parameters": {"no-such": 1}}]
            yield bad(f"parameters: {kind} {entry.name}, unknown", experiment, "no-such: unknown key")


def _names() -> Iterator[Bad]:
    for section, near, meant in (
        ("problems", "hils", "hills"),
        ("priors", "fited", "fitted"),
        ("objectives", "dor", "dro"),
        ("algorithms", "pe-gp-ubc", "pe-gp-ucb"),
        ("metrics", "best-fixed-decisio", "best-fixed-decision"),
        ("figures", "regrets", "regret"),
    ):
        yield bad(f"names: {section}, near", tiny(**{section: [near]}), f"{section}.0.name", f"did you mean '{meant}'")
        yield bad(f"names: {section}, far", tiny(**{section: ["zzz"]}), f"{section}.0.name", "'zzz'", "allowed: ")
        for name in (3, [meant], {"a": 1}, None, "Regret over time"):
            found = f"{section}.0.name: found {name!r}"
            yield bad(f"names: {section}, {name!r}", tiny(**{section: [{"name": name}]}), found)
        yield bad(f"names: {section}, none", tiny(**{section: [{}]}), f"{section}.0.name: this key is required")
        yield bad(f"names: {section}, lines", tiny(**{section: [{"name": "a\nb", "label": "x"}]}), f"{section}.0.name")
        yield bad(
            f"names: {section}, unknown key", tiny(**{section: [{"name": near, "lable": "x"}]}), f"{section}.0.lable"
        )
        found = {"name": meant, "parameters": [1]}
        yield bad(f"names: {section}, parameters a list", tiny(**{section: [found]}), f"{section}.0.parameters")
    yield bad("names: Python's own", tiny(problems=[{"name": "os:system", "label": "x"}]), "'os' is Python's own")


def _filters() -> Iterator[Bad]:
    for section, name, key in (
        ("algorithms", "ucb-bocu-2", "problems"),
        ("algorithms", "ucb-bocu-2", "objectives"),
        ("objectives", "dro", "problems"),
        ("metrics", "so", "problems"),
        ("figures", "regret", "problems"),
    ):
        for wrong in (["kirschner", "kirschner"], ["kirschnr"], ["zzz"], "kirschner", [3], {"kirschner": 1}, ["A"]):
            entry = {"name": name, key: wrong}
            yield bad(f"filters: {section}.{key}: {wrong}", grid(**{section: [entry]}), f"{section}.0.{key}")
    yield bad(
        "filters: algorithm on nothing", grid(algorithms=["random", {"name": "ucb-so", "problems": []}]), "ucb-so"
    )
    yield bad("filters: an algorithm for other protocols", grid(algorithms=["random", "mle"]), "algorithms.1", "mle")
    yield bad("filters: a metric for other protocols", grid(metrics=["best-fixed-decision"]), "metrics.0")
    yield bad("filters: a figure for other protocols", grid(figures=["chosen-priors"]), "figures.0")
    yield bad("filters: nobody metrics", grid(metrics=[{"name": "so", "problems": []}]), "metrics")
    yield bad(
        "filters: same branch twice", grid(algorithms=["random", {"name": "random", "label": "r"}]), "algorithms.1"
    )
    yield bad(
        "filters: a label twice", grid(algorithms=["random", "random"]), ": algorithms: the label 'random' stands twice"
    )
    two = [{"name": "so"}, {"name": "ro", "label": "so"}]
    yield bad("filters: a metric's label twice", grid(metrics=two), "metrics", "'so' stands twice")
    yield bad("filters: same objective twice", grid(objectives=["so", {"name": "so", "label": "t"}]), "objectives.1")


def _set(**ambiguity_set: Any) -> dict[str, Any]:
    return grid(objectives=[{"name": "dro", "parameters": {"set": ambiguity_set}}])


def _unions() -> Iterator[Bad]:
    where = "objectives.0.parameters.set.radius"
    for radius, says in (
        ("margins", "did you mean 'margin'"),
        ("anounced", "did you mean 'announced'"),
        ("zzz", "'margin'"),
        (-1, "-1"),
        (True, "True"),
        (None, "None"),
        ([], "[]"),
        ([0.1, "x"], "'x'"),
        ([0.1, -2], "-2"),
        ([[0.1]], "[0.1]"),
        ({"delta": 2}, "delta"),
        ({"detla": 0.1}, "did you mean 'delta'"),
        ({"delta": 0.1, "more": 1}, "more"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (1e300, "up to 1e+12"),
        ([0.1, 1e300], "found 1e+300"),
    ):
        yield bad(f"unions: radius {radius!r}", _set(name="mmd", radius=radius), where if radius != [] else "set", says)
    yield bad("unions: set, a near miss", grid(objectives=[{"name": "dro", "parameters": {"set": "tvv"}}]), "set")
    yield bad("unions: set, an unknown name", _set(name="zzz", lengthscale=0.1), "set.name", "'zzz'", "allowed: chi2, ")
    yield bad("unions: set, a name that is none", _set(name=3), "set.name", "found 3")
    yield bad("unions: set, a key misspelt", _set(name="mmd", lengthscal=0.1), "set.lengthscal", "'lengthscale'")
    yield bad("unions: set, a number", grid(objectives=[{"name": "dro", "parameters": {"set": 3}}]), "set")
    yield bad("unions: set, a list", grid(objectives=[{"name": "dro", "parameters": {"set": ["tv"]}}]), "set")
    yield bad("unions: distance", _set(distance="tvd"), "distance", "'tv'")
    for slope in ("exat", 3, {"difference": 0}, {"diference": 1}, []):
        changed = [{"name": "wcs", "parameters": {"set": "tv", "slope": slope}}]
        yield bad(f"unions: slope {slope!r}", grid(objectives=changed), "objectives.0.parameters.slope")
    for key in ("reference", "truth"):
        for value in (
            "unifrom",
            3,
            {"norml": {}},
            {"normal": {"mean": "x", "sd": 1}},
            {"normal": {"mean": 0.5}},
            {"weights": [1, -1]},
            {"weights": 3},
            ["uniform", "unifrom"],
            [],
            {"normal": {"sd": 1}, "weights": [1]},
        ):
            problem = {"name": "kirschner", "parameters": {"decision_points": [8], "context_points": [2], key: value}}
            yield bad(f"unions: {key} {value!r}", grid(problems=[problem]), f"problems.0.parameters.{key}")
    for decision in ("first", -1, [], [0.5, "x"], {"index": 1}, 1.5):
        constant = {"name": "constant", "parameters": {"decision": decision}}
        yield bad(f"unions: decision {decision!r}", grid(algorithms=[constant]), "algorithms.0.parameters.decision")
    for radius in ("shrinkin", -1, [1]):
        entry = {"name": "drbo-kde", "parameters": {"radius": radius}}
        yield bad(f"unions: drbo-kde's radius {radius!r}", box(algorithms=[entry]), "algorithms.0.parameters.radius")
    rows = [{"metric": "so", "problems": [{"kirschner": 1}]}]
    figure = {"name": "panels", "parameters": {"rows": rows}}
    yield bad("unions: problems of a row", grid(figures=[figure]), "figures.0.parameters.rows.0.problems.0")


def _ignored() -> Iterator[Bad]:
    for distance, key, value in (
        ("tv", "lengthscale", 0.2),
        ("tv", "jitter", 1e-3),
        ("tv", "lengthscale", 0.1),
        ("kl", "lengthscale", 0.2),
        ("chi2", "jitter", 1e-3),
        ("wass", "lengthscale", 0.2),
        ("tv", "k", 3),
        ("mmd", "alpha", 0.5),
        ("tv", "phi", "math:sin"),
        ("cr", "alpha", 0.5),
    ):
        yield bad(
            f"ignored: {key} {value} with {distance}",
            _set(**{"name": distance, "k": 2} if distance == "cr" else {"name": distance}, **{key: value}),
            key,
            distance,
        )
    for name, base, key in (("stableopt-finite", grid, "jitter"), ("drbo-mmd", box, "alpha")):
        ambiguity_set = {"name": "tv" if name != "drbo-mmd" else "mmd", key: 0.5}
        yield bad(
            f"ignored: {key} of {name}'s set",
            base(algorithms=[{"name": name, "parameters": {"set": ambiguity_set}}]),
            key,
        )
    metric = {"name": "dro", "parameters": {"set": {"name": "tv", "lengthscale": 0.3}}}
    yield bad("ignored: lengthscale of a metric's set", grid(metrics=[metric]), "metrics.0.parameters.set.lengthscale")
    figure = {"name": "contour", "parameters": {"set": {"name": "tv", "lengthscale": 0.3}}}
    yield bad("ignored: lengthscale of a figure's set", grid(figures=[figure]), "figures.0.parameters.set.lengthscale")
    model = {"model": {"kernel": "joint", "context_kernel": "matern-5/2"}}
    yield bad(
        "ignored: context kernel of a joint kernel",
        box(algorithms=[{"name": "sbo-kde", "parameters": model}]),
        "context_kernel",
    )


def _figures() -> Iterator[Bad]:
    for name, parameters, says in (
        ("regret", {"metrics": ["os"]}, "metrics.0"),
        ("regret", {"metrics": ["zzz"]}, "metrics.0"),
        ("regret", {"algorithms": ["randm"]}, "did you mean 'random'"),
        ("regret", {"algorithms": ["zzz"]}, "algorithms.0"),
        ("cost", {"algorithms": ["zzz"]}, "algorithms.0"),
        ("summary", {"metric": "zzz"}, "metric"),
        ("summary", {"reference": "randm"}, "did you mean 'random'"),
        ("scoreboard", {"reference": "zzz"}, "reference"),
        ("scoreboard", {"columns": {"kirschnr": "K"}}, "did you mean 'kirschner'"),
        ("scoreboard", {"titles": {"zzz": "Z"}}, "titles.zzz"),
        ("scoreboard", {"titles": {"ucb-bocu-2/zzz": "Z"}}, "zzz"),
        ("scoreboard", {"blocks": [{"metric": "zzz"}]}, "blocks.0.metric"),
        ("scoreboard", {"blocks": [{"metric": "so", "problems": ["zzz"]}]}, "blocks.0.problems.0"),
        ("scoreboard", {"blocks": [{"metric": "so", "pursued": ["zzz"]}]}, "blocks.0.pursued.0"),
        ("panels", {"algorithms": ["zzz"]}, "algorithms.0"),
        ("panels", {"titles": {"randm": "R"}}, "did you mean 'random'"),
        ("panels", {"rows": [{"metric": "zzz"}]}, "rows.0.metric"),
        ("panels", {"rows": [{"metric": "so", "problems": ["zzz"]}]}, "rows.0.problems.0"),
        ("panels", {"rows": [{"metric": "so", "problems": [["kirschner", "zzz"]]}]}, "rows.0.problems.0.1"),
        ("panels", {"rows": [{"metric": "so", "pursued": ["zzz"]}]}, "rows.0.pursued.0"),
        ("panels", {"rows": [{"metric": "so", "algorithms": ["zzz"]}]}, "rows.0.algorithms.0"),
        ("function-and-distributions", {"seed": HUGE}, "seed"),
        ("contour", {"set": {"radius": "announced"}}, "announced"),
    ):
        figure = {"name": name, "parameters": parameters}
        yield bad(f"figures: {name} {parameters}", grid(figures=[figure]), "figures.0", says)
    for name, parameters, says in (
        ("chosen-priors", {"algorithms": ["zzz"]}, "algorithms.0"),
        ("rejection-times", {"algorithms": ["pe-gp-ubc"]}, "did you mean 'pe-gp-ucb'"),
        ("rejection", {"algorithm": "pe-gp-ubc"}, "did you mean 'pe-gp-ucb'"),
        ("rejection", {"algorithm": "random"}, "no rejecting algorithm"),
        ("rejection", {"prior": "12"}, "prior"),
        ("rejection", {"seed": 77}, "seed"),
        ("landscape", {"seed": HUGE}, "seed"),
        ("prior-means", {"seed": HUGE}, "seed"),
    ):
        figure = {"name": name, "parameters": parameters}
        yield bad(f"figures: {name} {parameters}", tiny(figures=[figure]), "figures.0", says)
    for parameters, says in (({"algorithms": ["mobbo"]}, "'mobbo'"), ({"seed": 77}, "seed")):
        figure = {"name": "robust-front", "parameters": parameters}
        yield bad(f"figures: robust-front {parameters}", scalarised(figures=[figure]), "figures.0", says)
    for key, says in (
        ("objective", "objective"),
        ("metric", "metric"),
        ("algorithms", "algorithms.0"),
        ("titles", "titles.zzz"),
    ):
        value = {"algorithms": ["zzz"], "titles": {"zzz": "Z"}}.get(key, "zzz")
        figure = {"name": "wind-commitment", "parameters": {key: value}}
        yield bad(f"figures: wind-commitment {key}", wind(figures=[figure]), "figures.0", says)
    problems = [*grid()["problems"], "ackley"]
    figure = {"name": "regret", "parameters": {"algorithms": ["ucb-bocu-2"]}}
    yield bad(
        "figures: an algorithm that does not run there",
        grid(problems=problems, figures=[figure]),
        "figures.0",
        "ackley",
    )
    metrics = [{"name": "so"}, {"name": "ro", "problems": ["kirschner"]}]
    figure = {"name": "regret", "parameters": {"metrics": ["ro"]}}
    yield bad(
        "figures: a metric elsewhere", grid(problems=problems, metrics=metrics, figures=[figure]), "figures.0", "ackley"
    )


def _labels() -> Iterator[Bad]:
    hills = tiny()["problems"][0]
    for label, says in (
        ("summary", "summary"),
        ("all", "all"),
        ("a" * 250, "label"),
        ("a" * 65, "label"),
        ("A", "label"),
        ("a/b", "label"),
        ("..", "label"),
        ("a.nc", "label"),
        ("", "label"),
        ("-a", "label"),
        ("a--b", "label"),
        ("é", "label"),
        ("a\n", "label"),
        (3, "label"),
    ):
        yield bad(
            f"labels: problem {str(label)[:70]!r}", tiny(problems=[{**hills, "label": label}]), "problems.0.label", says
        )
    for section, name in (("algorithms", "random"), ("metrics", "so"), ("figures", "regret")):
        yield bad(
            f"labels: {section}, long", tiny(**{section: [{"name": name, "label": "b" * 250}]}), f"{section}.0.label"
        )
    yield bad(
        "labels: an objective called any", grid(objectives=[{"name": "dro", "label": "any"}]), "objectives.0.label"
    )
    yield bad("labels: a long name", tiny(name="n" * 250), "name")


def _sizes() -> Iterator[Bad]:
    for seeds, says in (
        ({"count": 1_000_000_000}, "count"),
        ({"count": 1e9}, "count"),
        (1_000_000_000, "count"),
        ({"count": HUGE}, "count"),
        ({"first": HUGE, "count": 1}, "first"),
        ({"first": 2**63, "count": 1}, "first"),
        ({"first": 2**63 - 2, "count": 3}, "first"),
        ({"count": 1, "per_job": 0}, "per_job"),
        ({"count": 1, "per_job": "automatic"}, "per_job"),
        ({"count": 1, "per_job": None}, "per_job"),
        ({"count": 1, "per_job": HUGE}, "per_job"),
        ("9" * 5000, "seeds"),
    ):
        yield bad(f"sizes: seeds {str(seeds)[:60]}", tiny(seeds=seeds), "seeds", says)
    for key in ("iterations", "threads", "checkpoint_seconds"):
        yield bad(f"sizes: {key}", tiny(**{key: HUGE}), key)
        yield bad(f"sizes: {key}, large", tiny(**{key: 10**10}), key)
    for key in ("grid", "true_prior"):
        yield bad(
            f"sizes: hills, {key}", tiny(problems=[{"name": "hills", "parameters": {key: HUGE}}]), f"parameters.{key}"
        )
        yield bad(
            f"sizes: hills, {key}, large",
            tiny(problems=[{"name": "hills", "parameters": {key: 10**8}}]),
            f"parameters.{key}",
        )
    for points in ([10**9], [HUGE], [10**5]):
        for key in ("decision_points", "context_points"):
            changed = {"decision_points": [8], "context_points": [6], key: points}
            yield bad(f"sizes: {key} {points}", grid(problems=[{"name": "kirschner", "parameters": changed}]), key)
    contexts = [{"name": "ackley-grid", "parameters": {"contexts": 10**9}}]
    yield bad("sizes: contexts", scalarised(problems=contexts), "contexts")
    for name, key in (("ackley", "initial"), ("newsvendor", "initial")):
        yield bad(f"sizes: {name}'s {key}", box(problems=[{"name": name, "parameters": {key: 10**10}}]), key)
    search = {"search": {"raw": 10**10}}
    yield bad("sizes: raw samples", box(algorithms=[{"name": "gp-ucb", "parameters": search}]), "search.raw")
    yield bad("sizes: KDE samples", box(algorithms=[{"name": "sbo-kde", "parameters": {"samples": 10**10}}]), "samples")
    yield bad("sizes: features", grid(algorithms=[{"name": "ts-bocu", "parameters": {"features": 10**10}}]), "features")
    many = [{"name": "random", "label": f"r-{i}"} for i in range(40)]
    yield bad("sizes: the same forty times", tiny(algorithms=many), "algorithms.1")
    yield bad("sizes: a value of 100,000 letters", tiny(threads="x" * 100_000), "threads")
    yield bad("sizes: a key of 100,000 letters", tiny(**{"x" * 100_000: 1}), "unknown key")
    yield bad("sizes: 10,000 unknown keys", {**tiny(), **{f"k{i}": i for i in range(10_000)}}, "unknown key")
    yield bad(
        "sizes: a list of 100,000 radii, one wrong", _set(name="tv", radius=[0.1] * 20_000 + ["x"]), "radius.20000"
    )


def _refused_by_jobs() -> Iterator[Bad]:
    """What would be found by the first job, an hour later."""
    points = {"decision_points": [8], "context_points": [6]}
    for change, says in (
        ({"context_points": [6, 6]}, "context_points"),
        ({"decision_points": []}, "decision_points"),
        ({"decision_points": [8, 8]}, "decision_points"),
        ({"reference": {"weights": [1, 2]}}, "weights"),
        ({"truth": {"weights": [0] * 6}}, "weights"),
        ({"truth": ["uniform", {"weights": [1]}]}, "weights"),
        ({"noise": 1e-12}, "noise"),
        ({"ridge": 1e-300}, "noise"),
    ):
        problem = {"name": "kirschner", "parameters": {**points, **change}}
        yield bad(f"jobs: kirschner {change}", grid(problems=[problem]), "problems.0", says)
    for name in ("gp-sample", "hartmann-3"):
        yield bad(
            f"jobs: one number for {name}",
            grid(problems=[{"name": name, "parameters": {"decision_points": [8]}}]),
            "decision_points",
        )
    yield bad(
        "jobs: rule", box(problems=[{"name": "ackley-2-4", "parameters": {"rule": "quadrature"}}]), "problems.0", "rule"
    )
    closed = {"name": "hills", "parameters": {"grid": 60, "closed": 2}}
    yield bad("jobs: no arm is open", tiny(problems=[closed]), "problems.0", "closed")
    for decision in (8, 10**6, [0.5, 0.5]):
        constant = {"name": "constant", "parameters": {"decision": decision}}
        yield bad(f"jobs: constant {decision}", grid(algorithms=[constant]), "algorithms.0", "decision")
    yield bad(
        "jobs: constant on hills",
        tiny(algorithms=[{"name": "constant", "parameters": {"decision": 60}}]),
        "algorithms.0",
        "decision",
    )
    yield bad(
        "jobs: constant, closed",
        tiny(algorithms=[{"name": "constant", "parameters": {"decision": 7}}]),
        "algorithms.0",
        "decision",
    )
    for weights in ([1, 2], [1] * 12):
        entry = {"name": "fully-bayesian", "parameters": {"hyperprior": weights}}
        yield bad(f"jobs: hyperprior of {len(weights)}", tiny(algorithms=[entry]), "algorithms.0", "hyperprior")
    search = {"search": {"raw": 4, "restarts": 5}}
    yield bad("jobs: more restarts than raw", box(algorithms=[{"name": "gp-ucb", "parameters": search}]), "restarts")
    yield bad(
        "jobs: odd pairs",
        grid(algorithms=[{"name": "ts-bocu", "parameters": {"posterior": "fourier", "features": 3, "pairs": True}}]),
        "features",
    )
    announced = {"set": {"name": "tv", "radius": "announced"}}
    share = {"set": {"name": "tv", "radius": {"announced": 0.5}}}
    yield bad("jobs: no share is announced", grid(objectives=[{"name": "dro", "parameters": share}]), "announced")
    yield bad("jobs: no radius is announced", grid(objectives=[{"name": "dro", "parameters": announced}]), "announced")
    yield bad(
        "jobs: no radius is announced to a metric",
        grid(metrics=[{"name": "dro", "parameters": announced}]),
        "metrics.0",
        "announced",
    )
    for phi, says in (
        ("no_such_module:pair", "no_such_module"),
        ("math:nothing", "math:nothing"),
        ("math:pi", "math:pi"),
        ("math", "phi"),
        ("math:sin:cos", "phi"),
        ("os.path:sep", "os.path:sep"),
    ):
        yield bad(f"jobs: phi {phi}", _set(name="phi", phi=phi), "phi", says)
    yield bad("jobs: cr without k", _set(name="cr"), "set.k: this key is required")
    yield bad("jobs: cvar without alpha", _set(name="cvar"), "set.alpha: this key is required")
    yield bad(
        "jobs: infinite slope", grid(objectives=[{"name": "wcs", "parameters": {"set": "kl"}}]), "objectives.0", "-inf"
    )
    yield bad(
        "jobs: bocu-1 without a difference",
        grid(objectives=[{"name": "wcs", "parameters": {"set": "tv"}}], algorithms=["random", "ucb-bocu-1"]),
        "algorithms.1",
    )
    matrices = [{"name": "sensors", "parameters": {"record": "matrices"}}]
    yield bad("jobs: data not offered", sensors(problems=matrices, data="download"), "matrices")
    yield bad(
        "jobs: interval", sensors(problems=[{"name": "sensors", "parameters": {"log": {"interval": 7}}}]), "interval"
    )
    for day, says in (("2004-02-30", "target"), (20040305, "a day such as 2004-03-05 is wanted"), (0, "a day such as")):
        log = {"name": "sensors", "parameters": {"log": {"target": day}}}
        yield bad(f"jobs: the day {day}", sensors(problems=[log]), "parameters.log.target: found ", says)
    yield bad(
        "jobs: no settings",
        sensors(problems=[{"name": "sensors", "parameters": {"record": "log", "log": None}}]),
        "problems.0",
        "log",
    )
    yield bad(
        "jobs: more sensors than there are",
        sensors(problems=[{"name": "sensors", "parameters": {"log": {"sensors_per_seed": 400}}}]),
        "sensors_per_seed",
    )
    yield bad(
        "jobs: windows", wind(problems=[{"name": "wind-commitment", "parameters": {"window": 800}}]), "margin.days"
    )
    yield bad(
        "jobs: a first day long ago",
        wind(problems=[{"name": "wind-commitment", "parameters": {"start": "1900-01-01"}}]),
        "start",
    )
    yield bad(
        "jobs: more hours than there are",
        wind(problems=[{"name": "wind-commitment", "parameters": {"hours": 10**9}}]),
        "hours",
    )


def _encodings() -> Iterator[Bad]:
    text = yaml.safe_dump(tiny(title="Übung"), allow_unicode=True)
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1", "cp037"):
        yield raw(f"encodings: {encoding}", text.encode(encoding), "UTF-8")
    yield raw("encodings: a BOM and a fault", "﻿".encode() + yaml.safe_dump(tiny(iterations=0)).encode(), "iterations")
    yield raw("encodings: NUL", b"name: a\x00b\n", "")
    yield raw("encodings: control characters", b"name: a\x07b\n", "")
    yield raw("encodings: binary", bytes(range(256)) * 40, "")
    yield raw("encodings: a picture", b"\x89PNG\r\n\x1a\n" + bytes(100), "")
    yield raw("encodings: gzip", b"\x1f\x8b\x08\x00" + bytes(100), "")
    yield raw("encodings: a lone surrogate", yaml.safe_dump(tiny()) + 'title: "\\ud800"\niterationz: 3\n', "Unicode")


def _structure() -> Iterator[Bad]:
    good = yaml.safe_dump(tiny())
    for name, text in (
        ("empty", ""),
        ("blank", "\n\n"),
        ("a comment alone", "# nothing\n"),
        ("text", "just text"),
        ("a number", "3"),
        ("a list", "- 1\n- 2"),
        ("open bracket", "a: [1"),
        ("open quote", 'a: "x'),
        ("tabs", "seeds:\n\tcount: 3\n"),
        ("bad indent", "seeds:\n  count: 3\n first: 2\n"),
        ("two documents", f"{good}---\n{good}"),
        ("unknown alias", "name: *nothing\n"),
        ("a Python object", "name: !!python/object/apply:os.system [ls]\n"),
        ("unknown tag", "name: !mine x\n"),
        ("a list as key", "? [1, 2]\n: 3\n"),
        ("a mapping as key", "? {a: 1}\n: 3\n"),
        ("itself", f"{good}papers: &p [*p]\n"),
        ("itself in a mapping", f"{good}papers: &p {{a: *p}}\n"),
        ("deep lists", f"papers: {'[' * 3000}{']' * 3000}\n"),
        ("deep mappings", "papers: " + "{a: " * 3000 + "1" + "}" * 3000),
        ("very deep", "[" * 100_000),
        ("very deep, in a line", "- " * 100_000 + "a"),
        ("a number of 5,000 digits", f"{good}x: {'9' * 5000}\n"),
        ("a day that is none", "x: 2004-02-30\n"),
        ("merge of a number", "<<: 3\nname: a\n"),
        ("JSON, broken", '{"name": "a",'),
        ("INI", "[section]\nname = a\n"),
        ("Python", "def main():\n    return {'a': 1}\n"),
        ("a table", "a,b,c\n1,2,3\n"),
        ("a page", "<html><body>404 not found</body></html>"),
    ):
        yield raw(f"structure: {name}", text)
    laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    laughs += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    yield raw("structure: a billion laughs", "\n".join(laughs), "values")
    problems = f"{yaml.safe_dump({k: v for k, v in tiny().items() if k != 'problems'})}" + "\n".join(
        line.replace("a0: ", "papers: ", 1) for line in laughs
    )
    yield raw("structure: laughs in an experiment", problems, "values")


def _yaml_1_1() -> Iterator[Bad]:
    """What YAML 1.1, by which Snakemake reads, takes for another thing than YAML 1.2 does."""
    good = yaml.safe_dump({key: value for key, value in tiny().items() if key not in ("iterations", "name")})
    for line, says in (
        ("iterations: 1:30", "iterations: found '1:30' in line "),
        (
            "iterations: 010",
            "YAML 1.1 takes it for 8, and YAML 1.2 does not; write 8 if that is meant, '010' in quotes",
        ),
        ("iterations: 1_0", "takes it for 10"),
        ("iterations: 0b11", "takes it for 3"),
        ("checkpoint_seconds: 1:30.5", "takes it for 90.5"),
        ("name: no", "name: found 'no' in line "),
        ("overwrite: yes", "write true"),
        ("papers: [ziomek2025, off]", "papers.1: found 'off'"),
        ("on: 3", "found 'on' in line "),
    ):
        yield raw(f"YAML 1.1: {line}", f"{good}\n{line}\n", says)
    yield raw("YAML 1.1: a zero byte", f'{good}name: "a\\0b"\n', "name: found 'a\\x00b' in line ", "no zero byte")


def _duplicate_keys() -> Iterator[Bad]:
    good = yaml.safe_dump(tiny())
    for name, text, key in (
        ("top level", f"{good}iterations: 3\n", "iterations"),
        ("same value", f"{good}iterations: 12\n", "iterations"),
        ("nested", f"{good.replace('count: 4', 'count: 4' + chr(10) + '  count: 5')}", "count"),
        ("in an entry", "problems:\n- {name: hills, name: sensors}\n", "name"),
        ("in parameters", "problems:\n- {name: hills, parameters: {grid: 60, grid: 70}}\n", "grid"),
        ("quoted", f"{good}'iterations': 3\n", "iterations"),
        ("thrice", f"{good}name: a\nname: b\n", "name"),
        ("numbers", f"{good}1: a\n1: b\n", "1"),
        ("in a merged mapping", f"{good}x: &x {{a: 1, a: 2}}\n", "a"),
        ("two merges", f"{good}x: {{<<: {{a: 1}}, <<: {{b: 1}}}}\n", "<<"),
    ):
        yield raw(f"duplicate keys: {name}", text, "twice", key)
