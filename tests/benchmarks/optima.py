"""Search for the optima of all expected payoffs, and write the module that stores them: some minutes.

    python tests/benchmarks/optima.py data/mirror/portfolio/samples.nc
    ruff format src/bocu/problems/stored_optima.py

The portfolio's payoff is the published surrogate, loaded from its prepared data, real.
"""

import argparse
from pathlib import Path

import numpy as np

from bocu.problems import stored_optima
from bocu.problems.optima import EXPECTATIONS, search
from bocu.problems.portfolio import PortfolioPayoff

HEADER = '''"""Optima of expected payoffs: value and decision, by name and rule. By `tests/benchmarks/optima.py`."""

STORED: dict[tuple[str, str], tuple[float, list[float]]] = {'''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("portfolio", type=Path, help="the prepared portfolio data, real")
    parser.add_argument(
        "--output", type=Path, default=Path(stored_optima.__file__), help="the module (default: the package's own)"
    )
    options = parser.parse_args()
    surrogate = PortfolioPayoff.load(options.portfolio, "published")
    lines = []
    for name, setting in EXPECTATIONS.items():
        payoff = surrogate if setting.function is None else None
        for rule in setting.rules:
            found = search(name, rule, payoff)
            lines.append(f'    ("{name}", "{rule}"): ({found.value!r}, {found.decision.tolist()!r}),')
            print(f"{name:32} {rule:10} {found.value:.10f} at {np.round(found.decision, 6).tolist()}", flush=True)
    options.output.write_text("\n".join([HEADER, *lines, "}", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
