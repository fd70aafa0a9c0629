"""What OptunaHub loads: the sampler of the package `bocu`."""

from bocu.interop.optuna import RobustSampler

__all__ = ["RobustSampler"]
