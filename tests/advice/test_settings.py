"""The settings file: what it states is asked, what is wrong in it is one line, and units are told."""

import inspect
import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
import typer
import yaml
from typer.testing import CliRunner

import bocu
from bocu.advice.asked import Settings, read_settings
from bocu.advice.choices import OneOfNames, Range
from bocu.commands.main import app
from bocu.commands.schema import settings_schema, settings_tables
from bocu.core.parameters import validate

SHOP = """
decisions:
  order: {low: 10, high: 90, whole: true, unit: papers}
  shelf: {levels: [low, high]}
contexts:
  rain: {unit: mm}
outcome:
  profit: {unit: €}
forecast: tomorrow.csv
set: {name: tv, radius: 0.2}
constraints: [order + 20*shelf:high <= 80]
names: hamming
"""


@pytest.fixture
def shop(elsewhere):
    world = np.random.default_rng(3)
    order, rain = world.integers(10, 91, 30), world.uniform(0.0, 10.0, 30)
    shelf = world.choice(["low", "high"], 30)
    profit = 3.0 * np.minimum(order, 70.0 - 4.0 * rain) - order + 5.0 * (shelf == "high")
    log = pd.DataFrame({"order": order, "shelf": shelf, "rain": rain, "profit": profit})
    log.to_csv(elsewhere / "log.csv", index=False)
    (elsewhere / "settings").mkdir()
    (elsewhere / "settings/tomorrow.csv").write_text("rain\n0\n2\n9\n")
    (elsewhere / "settings/shop.yaml").write_text(SHOP, encoding="utf-8")
    return elsewhere


def asked(*words: str):
    return CliRunner().invoke(app, ["suggest", "log.csv", *words])


def test_a_settings_file_asks_what_options_do_and_tells_units(shop):
    done = asked("--settings", "settings/shop.yaml")
    assert done.exit_code == 0, done.exception
    options = asked(
        "--decisions", "order:int:10..90,shelf:{low,high}", "--contexts", "rain", "--outcome", "profit", "--radius",
        "0.2", "--forecast", "settings/tomorrow.csv", "--constraint", "order + 20*shelf:high <= 80", "--names",
        "hamming", "--json",
    )  # fmt: skip
    plain = json.loads(asked("--settings", "settings/shop.yaml", "--json").stdout)
    assert plain["units"] == {"order": "papers", "rain": "mm", "profit": "€"}
    assert {**plain, "units": {}} == json.loads(options.stdout)
    decision = plain["best"]["decision"]
    assert f"Decision: order = {decision['order']} papers, shelf = {decision['shelf']}\n" in done.stdout
    assert " €, which the log places" in done.stdout
    assert " mm on average" in done.stdout


def test_what_the_command_line_states_takes_the_place_of_the_file(shop):
    plain = json.loads(asked("--settings", "settings/shop.yaml", "--radius", "0.4", "--json").stdout)
    assert plain["size"] == pytest.approx(0.4)
    tighter = json.loads(asked("--settings", "settings/shop.yaml", "--constraint", "order <= 30", "--json").stdout)
    assert tighter["best"]["decision"]["order"] <= 30
    assert len(tighter["constraints"]) == 2
    paid = json.loads(asked("--settings", "settings/shop.yaml", "--minimise", "--json").stdout)
    assert paid["minimise"]
    (shop / "settings/two.yaml").write_text(
        SHOP.replace("profit: {unit: €}", "profit: {unit: €, weight: 1}\n  rain2: {goal: min, weight: 2, unit: mm}")
    )
    one = asked("--settings", "settings/two.yaml", "--outcome", "profit", "--json")
    assert json.loads(one.stdout)["units"] == {"order": "papers", "rain": "mm", "profit": "€"}
    (shop / "settings/free.yaml").write_text(SHOP.replace("constraints:", "# constraints:"), encoding="utf-8")
    fewer = asked("--settings", "settings/free.yaml", "--decisions", "shelf:{low,high}", "--json")
    assert json.loads(fewer.stdout)["units"] == {"rain": "mm", "profit": "€"}
    other = json.loads(asked("--settings", "settings/shop.yaml", "--objective", "so", "--json").stdout)
    assert other["objective"] == "so"


BAD = {
    "misspelt": ("low: 10", "lo: 10", "decisions.order.lo: unknown key; did you mean 'low'?"),
    "broken-whole": ("low: 10", "low: 10.5", "bounds of whole numbers are whole"),
    "text": ("high: 90", "high: many", "decisions.order.high: found 'many'"),
    "unknown": ("names: hamming", "nams: hamming", "nams: unknown key; did you mean 'names'?"),
    "choice": ("names: hamming", "names: haming", "did you mean 'hamming'?"),
    "radius": ("radius: 0.2", "radius: -1", "set.radius: "),
    "goal": ("profit: {unit: €}", "profit: {goal: most}", "outcome.profit.goal: found 'most'"),
    "set": ("name: tv", "name: tvv", "--set: "),
    "constraint": ("order + 20", "ordr + 20", "not understood at 'ordr"),
    "no-outcome": ("outcome:\n  profit: {unit: €}", "explore: false", "--outcome: found none, and "),
    "no-mapping": (SHOP, "- order\n", "a mapping of keys to values is wanted; allowed: decisions"),
    "forecast": ("tomorrow.csv", "yesterday.csv", "yesterday.csv: No such file"),
}


@pytest.mark.parametrize(("old", "new", "line"), BAD.values(), ids=BAD)
def test_a_bad_settings_file_is_one_line(shop, old, new, line):
    (shop / "settings/shop.yaml").write_text(SHOP.replace(old, new), encoding="utf-8")
    done = asked("--settings", "settings/shop.yaml")
    assert isinstance(done.exception, bocu.BocuError), done.exception
    assert line in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_settings_file_states_what_python_takes(shop):
    found = read_settings(shop / "settings/shop.yaml")
    assert found["decisions"].parts == (Range("order", 10.0, 90.0, True), OneOfNames("shelf", ("low", "high")))
    assert found["forecast"] == shop / "settings/tomorrow.csv"
    assert bocu.suggest("log.csv", **found).units["order"] == "papers"


def test_short_forms_state_what_full_ones_do():
    full = Settings(contexts={"rain": {}}, outcome={"profit": {}}, set={"name": "kl"})
    assert Settings(contexts=["rain"], outcome="profit", set="kl") == full
    assert Settings(contexts="rain", outcome="profit", set="kl") == full
    for contexts in (["rain", 1], [{"rain": {}}], 1):
        with pytest.raises(bocu.BocuError, match="contexts"):
            validate(Settings, {"contexts": contexts}, "shop.yaml")


def test_python_the_command_line_and_a_file_mean_the_same_where_nothing_is_stated():
    suggest = typer.main.get_command(app).get_command(None, "suggest")
    options = {option.name: option.default for option in suggest.params}
    python = {name: given.default for name, given in inspect.signature(bocu.suggest).parameters.items()}
    python = {name: default for name, default in python.items() if isinstance(default, (bool, float, str))}
    assert python.keys() == {"alpha", "explore", "minimise", "missing", "names", "set"}
    assert {name: options[name] for name in python} == python
    stated = Settings().model_dump() | {"set": Settings().set.name, "minimise": False}
    assert {name: stated[name] for name in python} == python


def test_several_outcomes_have_goals_and_weights():
    data = {"outcome": {"profit": {"weight": 1}, "waste": {"goal": "min", "weight": 20}}, "contexts": ["rain"]}
    found = Settings.model_validate(data).arguments(None)
    assert found["outcome"] == ["profit", "waste:min"]
    assert found["weights"] == {"profit": 1.0, "waste": 20.0}
    assert found["contexts"] == ["rain"]


def test_the_schema_takes_what_the_model_takes(root):
    schema = settings_schema()
    jsonschema.validate(yaml.safe_load(SHOP), schema)
    for old, new, _ in (BAD["misspelt"], BAD["text"], BAD["unknown"], BAD["choice"], BAD["goal"], BAD["radius"]):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(SHOP.replace(old, new)), schema)
    committed = json.loads((root / "workflow/schemas/suggest.schema.json").read_text(encoding="utf-8"))
    assert committed == schema, "make schema"
    assert (root / "docs/suggest-settings.md").read_text(encoding="utf-8") == settings_tables(), "make schema"


def test_units_of_what_was_not_asked_for_are_one_line(shop):
    found = read_settings(shop / "settings/shop.yaml")
    with pytest.raises(bocu.BocuError, match="units: found 'oder', which is no column asked for; did you mean 'order'"):
        bocu.suggest("log.csv", **{**found, "units": {"oder": "papers"}})
