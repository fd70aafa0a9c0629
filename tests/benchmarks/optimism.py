"""What optimism does to worst-case sensitivity under the MMD: UCB-BOCU-2 on Hartmann, by its multiplier and its slope.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/optimism.py [--rounds 500] [--seeds 3]``. A line: cumulative regret of
the worst-case sensitivity (mean and standard error), decisions that were taken at least once, and, after the last
round, the correlation over all decisions between the true sensitivity and that of the posterior mean, and of the upper
bound at a multiplier of 1.414; the median sensitivities of mean and standard deviation.
"""

import argparse

import numpy as np

from bocu.learners.algorithms.finite_base import FiniteAlgorithm
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.runs.seed_run import SeedRun, build_problem
from bocu.testing.games import run_specification, stated

SET = {"name": "mmd", "radius": 0, "lengthscale": 0.1, "jitter": 1e-6}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    problem = stated("problem", "hartmann-3", {})
    objective = stated("objective", "wcs", {"set": SET, "slope": {"difference": 1e-3}})
    slopes, multipliers = ("exact", "as-pursued"), (2.0**0.5, 0.5, 0.1, 0.0)
    cases = [("random", {}), *(("ucb-bocu-2", {"slope": s, "sqrt_beta": b}) for s in slopes for b in multipliers)]
    for name, given in cases:
        algorithm = stated("algorithm", name, given)
        specification = run_specification(problem, algorithm, objective if given else None, arguments.rounds)
        regrets, distinct, shown = [], [], []
        for seed in range(arguments.seeds):
            run = SeedRun(specification, build_problem(problem, {}), seed)
            while not run.finished:
                run.play()
            reference = run.realisation.reference(1)
            ambiguity_set = SetParameters.model_validate(SET).over(run.realisation.description.contexts.points)
            metric = UncertaintyObjective.wcs(ambiguity_set, difference=1e-5)
            truth = metric(run.realisation.payoffs(1), reference)
            taken = run.record.arrays["decision_index"][run.initial :]
            regrets.append((truth.max() - truth[taken]).sum())
            distinct.append(len(np.unique(taken)))
            if isinstance(run.algorithm, FiniteAlgorithm):
                mean, deviation = run.algorithm.posterior.mean(), run.algorithm.posterior.deviation()
                of_mean, of_bound, of_deviation = (
                    metric(table, reference) for table in (mean, mean + 2.0**0.5 * deviation, deviation)
                )
                fits = [np.corrcoef(each, truth)[0, 1] for each in (of_mean, of_bound)]
                shown.append([*fits, np.median(of_mean), np.median(of_deviation)])
        error = np.std(regrets, ddof=1) / len(regrets) ** 0.5
        print(name, given, f"regret {np.mean(regrets):.0f} +- {error:.0f}, decisions {np.mean(distinct):.0f}", end=" ")
        print(np.round(np.mean(shown, axis=0), 2) if shown else "", flush=True)


if __name__ == "__main__":
    main()
