"""The page on contexts that shift: every experiment that it prints can be planned, and names all there is."""

import re
from pathlib import Path

import pytest
import yaml

from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import registered

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/shifts.md").read_text()
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_example_can_be_planned(block, elsewhere):
    rows = "\n".join(f"{day},{20 * day},{10 + day}" for day in range(20))
    (elsewhere / "weather.csv").write_text(f"day,rain,heat\n{rows}\n")
    config = {**yaml.safe_load(block), "name": "page", "seeds": 1, "iterations": 40, "algorithms": ["random"]}
    config |= {"metrics": ["so"], "figures": []}
    (elsewhere / "page.yaml").write_text(yaml.safe_dump(config))
    plan = make_plan(config, [elsewhere / "page.yaml"])
    assert len(plan.branches) == len(config["problems"])


@pytest.mark.parametrize("kind", ["law", "shift"])
def test_everything_registered_stands_in_a_table(kind):
    assert [entry.name for entry in registered(kind) if f"\n| `{entry.name}` |" not in PAGE] == []
