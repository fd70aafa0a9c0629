"""A stand-in for the leaf-area Gaussian process: trials on a growth-response surface, then its variational optimum.

Leaf area is the product of a bell-shaped response to pH and a response to ammonia that helps in small doses and harms
in large ones, the sooner the higher the pH (unionised ammonia is what harms). Three plants are grown at each of 8 x 7
conditions. The parameters are those of a sparse variational Gaussian process whose inducing points are the trials:
for Gaussian noise its optimal whitened mean is known, q = L^-1 K (K + s^2 I)^-1 y with K = L L^T (Titsias 2009).
"""

import os

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from bocu.core.kernels import SquaredExponential, squared_distance
from bocu.problems.data.raw_files import write_npz
from bocu.robust.ambiguity.mmd.gram import JITTER

_SEED = 2022
AMMONIA = (0.0, 1000.0, 5000.0, 10000.0, 15000.0, 20000.0, 25000.0, 30000.0)  # micromolar
PH = (2.5, 3.0, 3.5, 4.0, 4.5, 5.5, 6.5)
PLANTS = 3
SPREAD = 0.25  # of one plant against another, relative
LENGTHSCALES = np.array([6000.0, 1.0])
VARIANCE = 0.7
NOISE = 0.3  # variance, standardised leaf area


def simulate(path: str | os.PathLike[str]) -> None:
    """Write `marchantia_leaf_area_svgp.npz`."""
    rng = np.random.default_rng(_SEED)
    points = np.array([(ammonia, ph) for ammonia in AMMONIA for ph in PH for _ in range(PLANTS)])
    area = leaf_area(points) * rng.lognormal(0.0, SPREAD, len(points))
    mean, deviation = area.mean(), area.std()
    scaled = points / LENGTHSCALES
    gram = VARIANCE * SquaredExponential.value(squared_distance(scaled, scaled))
    factor = cholesky(gram + JITTER * np.eye(len(points)), lower=True)
    smoothed = gram @ np.linalg.solve(gram + NOISE * np.eye(len(points)), (area - mean) / deviation)
    write_npz(
        path,
        kernel_variance=VARIANCE,
        kernel_lengthscales=LENGTHSCALES,
        inducing_points=points,
        whitened_q_mu=solve_triangular(factor, smoothed, lower=True),
        leaf_area_mean=mean,
        leaf_area_std=deviation,
    )


def leaf_area(points: np.ndarray) -> np.ndarray:
    """Mean leaf area in mm^2 (n,) at ammonia in micromolar and pH (n, 2)."""
    ammonia, ph = points[:, 0] / 1000, points[:, 1]
    acidity = np.exp(-0.5 * ((ph - 4.4) / 1.1) ** 2)
    fed = 1 + 0.6 * ammonia / (ammonia + 1.0)
    harmed = 1 / (1 + (ammonia / (14.0 - 1.8 * (ph - 2.5))) ** 3)
    return 5.0 + 130.0 * acidity * fed * harmed
