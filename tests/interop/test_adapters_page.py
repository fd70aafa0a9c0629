"""The loops in Optuna, Ax and Xopt of docs/botorch.md, where the packages that they are for are installed."""

import random
import re
import subprocess
import sys

import numpy as np
import printed
import pytest

from bocu.robust.ambiguity import TotalVariation

PAGE = "docs/botorch.md"


@pytest.fixture(scope="module")
def exact() -> tuple[dict[int, float], dict[int, float]]:
    """Exact expectations and worst expectations of all orders over the rains that each loop meets."""
    weather = random.Random(0)
    rains = np.array([10.0 * weather.random() for _ in range(15)])
    orders = np.arange(20, 91)
    profits = 3.0 * np.minimum(orders[:, None], 90.0 - 6.0 * rains) - 1.5 * orders[:, None]
    worst = TotalVariation(0.4).values(profits, np.full(15, 1 / 15))[0]
    return dict(zip(orders.tolist(), profits.mean(axis=1), strict=True)), dict(zip(orders.tolist(), worst, strict=True))


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(0, id="optuna"),
        pytest.param(1, id="ax", marks=pytest.mark.drill),
        pytest.param(2, id="xopt", marks=pytest.mark.ci),
    ],
)
def test_the_loop_of_the_page_guarantees_nearly_what_can_be(root, tmp_path, exact, number):
    block = [block for block in printed.blocks(root, "python") if block.page == PAGE][-3:][number]
    if printed.lacking(block):
        pytest.skip(f"not installed: {', '.join(printed.lacking(block))}")
    done = subprocess.run([sys.executable, "-c", block.text], cwd=tmp_path, capture_output=True, text=True, check=True)
    order, expected, guaranteed = map(int, re.search(r"order (\d+): (\d+) expected, (\d+)", done.stdout).groups())
    expectation, worst = exact
    steady = max(expectation, key=expectation.__getitem__)
    assert max(worst.values()) - worst[order] < 0.5 * (max(worst.values()) - worst[steady])
    assert guaranteed < expected
