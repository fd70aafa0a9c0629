"""What learned decisions earn in the situations that come, from the finished runs of an experiment.

    python docs/make_learning_tables.py irrigation

prints, in Markdown, of each algorithm and problem the mean of the metric `met` over rounds 61 to 80 with its standard
error over seeds, in brackets that of `worst-tenth`: `value` in the cubes under results/EXPERIMENT, of what was decided.
Where decisions are tried on a simulator, it is of what is recommended after those rounds: best value less
`recommended_regret`.
"""

import argparse
from pathlib import Path

import numpy as np

import bocu
from bocu.sweep.evaluation.statistics import mean_and_error

ROUNDS = slice(61, 80)
MET, WORST = "met", "worst-tenth"


def learned(results: Path, problem: str) -> dict[str, str]:
    """Return what each branch of a problem earns, by the title of its row; none without a finished run."""
    cube = bocu.open_cube(results, problem)
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
                pursued = "" if objective == "any" else f", {objective}"
                cells[f"{algorithm}{pursued}"] = f"{mean[0]:,.0f} ± {error[0]:,.0f} ({np.mean(worst):,.0f})"
    return cells


def main() -> None:
    """Print the table of one experiment."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("experiment", help="name of an experiment whose runs are finished")
    results = Path("results") / parser.parse_args().experiment
    problems = [path.stem for path in sorted((results / "cubes").glob("*.nc")) if path.stem != "summary"]
    columns = {problem: learned(results, problem) for problem in problems}
    print(f"| | {' | '.join(problems)} |\n|{'---|' * (len(problems) + 1)}")
    for row in dict.fromkeys(row for column in columns.values() for row in column):
        print(f"| {row} | {' | '.join(column.get(row, '') for column in columns.values())} |")


if __name__ == "__main__":
    main()
