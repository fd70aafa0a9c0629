"""What the script of the page reads: numbers of each comparison as JSON within the page, none of them only there.

Numbers of tables are in full; means and curves, which are only drawn, in single precision, as base64 of little-endian
floats. Everything comes from digests.
"""

import base64
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bocu.core import style
from bocu.core.loading import load
from bocu.pages.figures.results import DONE, CubeBranch, Digest, foremost, shown_unit
from bocu.pages.report.tables import identifier
from bocu.sweep.evaluation.curves import TRACED, TRACES, Kind, MeanCurve
from bocu.sweep.evaluation.standings import VERDICTS, Standings
from bocu.sweep.evaluation.statistics import mean_and_error, student_factor
from bocu.sweep.origin_files import OriginFiles

VERSION = 2
MOST_SEEDS_SHOWN, LEAST_SEEDS_SHOWN = 20, 3
"""Seeds of an algorithm whose curves stand in the page; the digest beside it holds all."""
BYTES_OF_SEEDS = 6_000_000  #: What curves of seeds may take in the page, before there are fewer seeds.
_REGISTRY = "bocu.sweep.experiment.registry"  # asked, not reached: a further line in it makes no page anew
_COLOURS = {value: name for name, value in style.COLOURS.items()}
"""What the page's style sheet calls the colours that pictures have."""
_KINDS: tuple[Kind, ...] = ("cumulative", "instantaneous", "simple", "recommended")


def family(name: str) -> str:
    """Return the family of an algorithm by its registered name: the module of its class, in words."""
    table = load(f"{_REGISTRY}:REGISTRY")["algorithm"]
    target = table.get(name, "")
    module = table.get(target, target).partition(":")[0] if target else ""
    return module.rpartition(".")[2].replace("_", " ") or "from outside"


def index(
    panels: Sequence[Mapping[str, Any]], experiments: Sequence[str], reference: str | None, seeds: int, page: str
) -> dict[str, Any]:
    """Return what the page knows at once: what there is to choose from.

    Args:
        panels: those of `panel`.
        experiments: names.
        reference: label of the algorithm that tables compare with, where one was named.
        seeds: that of `traces`.
        page: the page as it was named when it was made, for the command that computes its numbers again.
    """
    told = ("label", "title", "family", "colour", "dash", "yardstick")
    algorithms = {
        algorithm["label"]: {key: algorithm[key] for key in told}
        for panel in reversed(panels)
        for algorithm in panel["algorithms"]
    }
    order = dict.fromkeys(algorithm["label"] for panel in panels for algorithm in panel["algorithms"])
    ran = {algorithm["label"] for panel in panels for algorithm in panel["algorithms"] if algorithm["seeds"]}
    kinds = dict.fromkeys(kind for panel in panels for kind in panel["curves"])
    return {
        "version": VERSION,
        "experiments": list(experiments),
        "reference": reference,
        "panels": [
            {
                **{
                    key: panel[key]
                    for key in ("id", "problem", "objective", "metric", "digest", "experiment", "simulated")
                },
                "algorithms": [algorithm["label"] for algorithm in panel["algorithms"]],
                "ran": any(algorithm["seeds"] for algorithm in panel["algorithms"]),
            }
            for panel in panels
        ],
        "algorithms": [{**algorithms[label], "ran": label in ran} for label in order],
        "titles": {kind: titles(panels, kind) for kind in ("problem", "objective", "metric")},
        "kinds": [*kinds, *(["average"] if "cumulative" in kinds else [])],
        "verdicts": list(VERDICTS),
        "seeds_shown": seeds,
        "verify": f"bocu verify {page}",
    }


def titles(panels: Sequence[Mapping[str, Any]], kind: str) -> dict[str, str]:
    """Return what is written for every problem, objective or metric of the page, by label: no title stands twice.

    Where one label has several titles, as in several experiments, all are written; where labels share one, their own
    words follow.
    """
    key = "title" if kind == "problem" else f"{kind}_title"
    found: dict[str, dict[str, None]] = {}
    for panel in panels:
        found.setdefault(panel[kind], {})[panel[key]] = None
    written = {label: " or ".join(own) for label, own in found.items()}
    counts = Counter(written.values())
    return {label: title if counts[title] == 1 else f"{title} ({label})" for label, title in written.items()}


def panel(
    cube: Digest,
    shown: tuple[str, str],
    table: Standings,
    origin: OriginFiles,
    looks: Mapping[str, style.Stroke],
) -> dict[str, Any]:
    """Return what the page knows of one comparison: algorithms, totals by seed, differences of all pairs, curves.

    Args:
        cube: the problem.
        shown: the objective pursued and the label of the metric.
        table: what is told of its pairs.
        origin: where the files behind it lie.
        looks: those of `looks_of_page`.
    """
    (objective, metric), totals = shown, table.regrets
    branches, labels = cube.branches(pursuing=[objective]), list(totals)
    seeds = sorted({seed for own in totals.values() for seed in own})
    return {
        "id": identifier(cube.problem, objective, metric),
        "problem": cube.problem,
        "title": cube.title,
        "objective": objective,
        "metric": metric,
        "objective_title": cube.objective_titles[objective],
        "metric_title": cube.metric_titles[metric],
        "unit": shown_unit(cube.units),
        "experiment": origin.name,
        "digest": origin.digest(cube),
        "simulated": bool(cube.data_label),
        "algorithms": [
            _algorithm(cube, branch, totals[branch.algorithm], origin, looks[branch.algorithm]) for branch in branches
        ],
        "seeds": seeds,
        "totals": [[totals[label].get(seed) for seed in seeds] for label in labels],
        "pairs": [_pairs(table, label) for label in labels],
        "curves": _curves(cube, branches, metric),
    }


def looks_of_page(cubes: Iterable[Digest]) -> dict[str, style.Stroke]:
    """Return the look of every algorithm by its label, all over a page: no two of one colour, if there are enough."""
    looks: dict[str, style.Stroke] = {}
    for cube in cubes:
        looks |= {label: look for label, look in cube.looks.items() if label not in looks}
    return style.apart(looks)


def _algorithm(
    cube: Digest, branch: CubeBranch, totals: Mapping[int, float], origin: OriginFiles, look: style.Stroke
) -> dict[str, Any]:
    label, (mean, error) = branch.algorithm, mean_and_error(np.array(list(totals.values())))
    done = [seed for seed, status in zip(cube.seeds, cube.status(branch), strict=True) if status == DONE]
    problem = str(cube.data.attrs["problem_label"])
    return {
        "label": label,
        "title": cube.titles[label],
        "family": family(cube.names[label]),
        "yardstick": label in cube.yardsticks,
        "colour": _COLOURS[look.colour],
        "dash": _dash(look.dash),
        "mean": finite(float(mean)),
        "error": finite(float(error)),
        "seeds": len(totals),
        "folder": origin.run_folder(problem, branch),
        "files": origin.run_files(problem, branch, done),
        "command": origin.run_command(problem, branch, done),
    }


def _dash(dash: style.Dash) -> str:
    return "" if isinstance(dash, str) else " ".join(f"{length:g}" for length in dash[1])


def _pairs(table: Standings, reference: str) -> list[list[Any] | None]:
    """Compare all with one: difference, ends, p, seeds; seeds with less regret, those that differ; both verdicts."""
    found = table.against(reference)
    rows: list[list[Any] | None] = []
    for label in table.regrets:
        gap = found.get(label)
        if gap is None or not gap.difference.count:
            rows.append(None)
            continue
        numbers = (gap.difference.value, gap.difference.low, gap.difference.high, gap.p_value)
        less = round(gap.less.value * gap.less.count) if gap.less.count else 0
        verdicts = (VERDICTS.index(gap.on_average), VERDICTS.index(gap.usually))
        rows.append([*map(finite, numbers), gap.difference.count, less, gap.less.count, *verdicts])
    return rows


def _curves(cube: Digest, branches: Sequence[CubeBranch], metric: str) -> dict[str, Any]:
    """Return mean curves by kind, with their standard errors and what those are multiplied by for 95 % intervals."""
    found: dict[str, Any] = {}
    for kind in _KINDS:
        curves = [cube.curve(branch, metric, kind) for branch in branches]
        known = [curve for curve in curves if curve is not None]
        if not known:
            continue
        kept = _thinned(len(known[0].rounds))
        found[kind] = {
            "rounds": known[0].rounds[kept].tolist(),
            "of": [None if curve is None else _drawn(curve, kept) for curve in curves],
        }
    return found


def _drawn(curve: MeanCurve, kept: np.ndarray) -> dict[str, Any]:
    return {
        "mean": packed(curve.mean[kept]),
        "error": packed(curve.error[kept]),
        "seeds": curve.seeds,
        "factor": finite(student_factor(curve.seeds)),
    }


def _thinned(count: int) -> np.ndarray:
    """Return the places of the points that are kept of a curve: those of a digest lie closer at its beginning."""
    return np.unique(np.linspace(0, count - 1, min(count, TRACED)).round().astype(int))


def seeds_shown(cubes: Sequence[Digest]) -> int:
    """Return how many seeds of each algorithm a page shows: the fewer, the more comparisons there are."""
    compared = sum(len(cube.branches(pursuing=[objective])) for cube in cubes for objective, _ in foremost(cube))
    bytes_of_one = len(TRACES) * TRACED * 4 * 4 / 3
    most = int(BYTES_OF_SEEDS / (bytes_of_one * max(compared, 1)))
    return min(max(most, LEAST_SEEDS_SHOWN), MOST_SEEDS_SHOWN)


def traces(cube: Digest, objective: str, metric: str, seeds: int) -> dict[str, Any]:
    """Return the curves of so many seeds of a comparison, by kind, in the order of the algorithms of `panel`."""
    branches = cube.branches(pursuing=[objective])
    found: dict[str, Any] = {}
    for kind in TRACES:
        drawn = [cube.traces(branch, metric, kind) for branch in branches]
        known = [one for one in drawn if one is not None]
        if known:
            found[kind] = {
                "rounds": known[0].rounds.tolist(),
                "of": [
                    None if one is None else {"seeds": one.seeds[:seeds].tolist(), "values": packed(one.values[:seeds])}
                    for one in drawn
                ],
            }
    return found


def finite(value: float) -> float | None:
    """Return a number as JSON has it: none where it is not one."""
    return float(value) if math.isfinite(value) else None


def packed(values: np.ndarray) -> str:
    """Return numbers in single precision as base64 text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def unpacked(text: str) -> np.ndarray:
    """Return the numbers of `packed`, in one row."""
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def script_json(data: Any) -> str:
    """Write data for a script element: no text in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
