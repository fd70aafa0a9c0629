"""What learned decisions earn in the situations that come, from the finished runs of an experiment.

    python docs/make_learning_tables.py irrigation

writes into docs/irrigation.md, of each algorithm and problem, the mean of the metric `met` over rounds 61 to 80 with
its standard error over seeds, in brackets that of `worst-tenth`: `value` in the cubes under results/EXPERIMENT, of what
was decided. Where decisions are tried on a simulator, it is of what is recommended after those rounds: best value less
`recommended_regret`.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from make_published import file_of, published_of
from published_numbers import head, line, marks

import bocu
from bocu.core.written import NOTHING
from bocu.pages.report.claims import write_section
from bocu.sweep.evaluation.statistics import mean_and_error
from bocu.sweep.experiment.branches import NO_OBJECTIVE

if TYPE_CHECKING:
    import xarray as xr

ROUNDS = slice(61, 80)
MET, WORST = "met", "worst-tenth"


def learned(cube: "xr.Dataset") -> dict[tuple[str, str], str]:
    """Return what each branch of a problem earns, by algorithm and objective."""
    earned = cube["value"]
    if "recommended_regret" in cube:
        earned = earned + cube["regret"] - cube["recommended_regret"]
    value = earned.sel(iteration=ROUNDS).mean("iteration")
    cells = {}
    for objective in value["objective"].values:
        for algorithm in value["algorithm"].values:
            own = value.sel(objective=objective, algorithm=algorithm)
            met, worst = (own.sel(metric=metric).dropna("seed").values for metric in (MET, WORST))
            if len(met):
                mean, error = mean_and_error(met[:, None])
                text = f"{mean[0]:z,.0f} ± {error[0]:,.0f} ({np.mean(worst):z,.0f})".replace("-", "−")
                cells[str(algorithm), str(objective)] = text
    return cells


def main() -> None:
    """Write the table of one experiment into its page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("experiment", help="name of an experiment whose runs are finished")
    experiment = parser.parse_args().experiment
    results = Path("results") / experiment
    if not (results / "cubes").is_dir():
        parser.error(f"{results}: no cubes; made by snakemake --cores all --configfile {file_of(experiment)}")
    published, _ = published_of(experiment)
    figure: Any = published.plan.figures["regret"].parameters
    cubes = {problem: bocu.open_cube(results, problem) for problem in published.plan.problems}
    columns = {problem: learned(cube) for problem, cube in cubes.items()}
    rows = []
    for algorithm in published.abouts:
        for objective in published.objectives:
            own = [column.get((algorithm, objective), NOTHING) for column in columns.values()]
            if set(own) != {NOTHING}:
                title = published.title(algorithm, objective, figure.titles, objective != NO_OBJECTIVE)
                rows.append(line([title, *own]))
    seeds = max(cube.sizes["seed"] for cube in cubes.values())
    made = f"Made by `python docs/make_learning_tables.py {experiment}`, of {seeds} seeds."
    table = "\n".join([made, "", *head(["", *columns]), *rows]) + "\n"
    write_section(Path(f"docs/{experiment}.md"), table, marks(f"learned in {experiment}"))


if __name__ == "__main__":
    main()
