"""How far kernel density estimates are from the distribution they are of: the table in docs/developers/performance.md.

python tests/benchmarks/density_estimates.py
"""

import argparse
import math

import numpy as np

from bocu.robust.contexts.estimates import OBSERVATIONS, distances_of_estimates
from bocu.robust.contexts.laws import clipped_normal, complicated


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for name, law, runs in (("normal", clipped_normal(), 400), ("complicated", complicated(), 600)):
        found = distances_of_estimates(law, OBSERVATIONS, runs, np.random.default_rng(0))
        for count, row in zip(OBSERVATIONS, found, strict=True):
            error = row.std(ddof=1) / math.sqrt(runs)
            print(f"{name:12}{count:4} samples: {row.mean():.3f} ± {error:.3f}, median {np.median(row):.2f}")


if __name__ == "__main__":
    main()
