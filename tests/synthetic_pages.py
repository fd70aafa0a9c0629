"""Pages over made-up digests of any size, built in a moment: no run behind them."""

from pathlib import Path

import numpy as np
import synthetic_cubes

from bocu.pages.report.build import Part, build_page
from bocu.sweep.evaluation.cubes import build_summary
from bocu.sweep.evaluation.digests import build_digest

ALGORITHMS = {
    "random": "random",
    "ucb-so": "ucb-so",
    "ucb-bocu-2": "ucb-bocu-2",
    "ts-bocu": "ts-bocu",
    "mle": "mle",
    "oracle": "oracle",
}
SLOPES = (1.0, 0.6, 0.59, 0.4, 0.3, 0.2)
"""Mean regret of a round, by algorithm: the second and third are hardly told apart."""
TITLES = {"so": "Expected payoff", "ro": "Worst case"}
"""What is written for metrics, by label."""


def cube(label, metrics, seeds, rounds, title="Wells", missing=(), data_label="", seed=0):
    """A cube of independent regrets with means `SLOPES`; `missing` holds (algorithm, seed)."""
    names = list(ALGORITHMS)
    noise = np.random.default_rng([seed, *label.encode()])
    slopes = np.array(SLOPES)[: len(names), None, None, None]
    scale = np.linspace(1, 2, len(metrics))[:, None, None]
    decay = np.linspace(1, 0.6, rounds)
    worlds = noise.gamma(8, 1 / 8, (seeds, 1))
    regret = slopes * scale * decay * worlds * noise.gamma(2, 0.5, (len(names), len(metrics), seeds, rounds))
    status = np.ones((len(names), seeds), dtype=np.int8)
    for algorithm, missed in missing:
        status[names.index(algorithm), missed] = 0
        regret[names.index(algorithm), :, missed] = np.nan
    times = np.broadcast_to(np.where(status[..., None] == 1, 0.002, np.nan), (len(names), seeds, rounds))

    known = synthetic_cubes.cube(label, data_label, title=title).attrs
    attrs = {**known, "payoff_units": "m", "best_prior": ""}
    variables = {"regret": regret[None], "status": status[None], "seconds": times[None]}
    titles = ("metric", [TITLES.get(metric, metric) for metric in metrics])
    return synthetic_cubes.dataset(variables, ALGORITHMS, metrics, attrs, units="m", metric_title=titles)


def part(folder, problems, metrics=("so", "ro"), seeds=12, rounds=40, name="made-up", title="Made up", **told):
    """Write the digests and the summary of an experiment under `results/NAME` of a folder, and describe it.

    Args:
        folder: where.
        problems: label -> keyword arguments of `cube`.
        metrics: labels, of the experiment as all that follows.
        seeds: their number.
        rounds: their number.
        name: its name.
        title: its title.
        **told: further keys of its description.
    """
    results = Path(folder) / "results" / name
    digests = []
    for label, options in problems.items():
        path = synthetic_cubes.write(cube(label, metrics, seeds, rounds, **options), results / f"cubes/{label}.nc")
        digests.append(results / f"digests/{label}.nc")
        build_digest(path, digests[-1])
        path.unlink()
    build_summary(digests, results / "cubes/summary.nc")
    described = {
        "name": name,
        "title": title,
        "seeds": {"first": 0, "count": seeds, "per_job": 5},
        "problems": [{"label": label} for label in problems],
        "algorithms": [{"label": label} for label in ALGORITHMS],
        **told,
    }
    return Part(described, digests, results / "cubes/summary.nc", [])


def page(folder, problems, **told):
    """Build the page of an experiment of `part`, and return it."""
    made = part(folder, problems, **told)
    output = Path(folder) / "results" / made.experiment["name"] / "report/index.html"
    build_page([made], output)
    return output
