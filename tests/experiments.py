"""Small experiments that tests share."""

from typing import Any

ALGORITHMS = ["random", "regret-balancing", "fully-bayesian", "mle", "pe-gp-ucb", "oracle"]


def tiny(**changes: Any) -> dict[str, Any]:
    """Hills on a coarse grid: seconds for the whole pipeline."""
    experiment: dict[str, Any] = {
        "name": "tiny",
        "seeds": {"first": 0, "count": 4, "per_job": 2},
        "iterations": 12,
        "problems": [{"name": "hills", "parameters": {"grid": 60}}],
        "algorithms": ["random", "pe-gp-ucb"],
        "figures": ["regret"],
    }
    return {**experiment, **changes}
