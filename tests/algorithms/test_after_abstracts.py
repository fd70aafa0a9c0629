"""Methods of which only an abstract was read say so wherever they are shown, and no claim is made of them."""

import re

import pytest
import yaml

from bocu.sweep.evaluation.claims import read_claims
from bocu.sweep.experiment.branches import Component
from bocu.sweep.experiment.looks import abouts
from bocu.sweep.experiment.registry import registered

UNVERIFIED = {"dro-bo-phi"}
SAID = re.compile(r"\(after its abstracts?\)$")


@pytest.fixture(scope="module")
def kinds():
    """Name of every algorithm -> what it says of itself, as it is written into cubes and read by reports."""
    every = {entry.name: Component(entry.name, entry, None) for entry in registered("algorithm")}
    return abouts(every)


def entries(root):
    """The algorithms of all shipped experiments: file, registered name, label, the entry, all titles of figures."""
    for file in sorted((root / "config/experiments").glob("*.yaml")):
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
        figures = [one for one in config.get("figures", ()) if isinstance(one, dict)]
        titles = [(one.get("parameters") or {}).get("titles") or {} for one in figures]
        for entry in config["algorithms"]:
            stated = entry if isinstance(entry, dict) else {"name": entry}
            yield file.stem, stated["name"], stated.get("label", stated["name"]), stated, titles


def test_the_list_is_that_of_the_methods_that_say_so(kinds):
    assert {name for name, about in kinds.items() if SAID.search(about["title"])} == UNVERIFIED
    assert {entry.name for entry in registered("algorithm") if "after the abstract" in entry.load().about.line} == (
        UNVERIFIED
    )


def test_no_claim_is_made_of_them(root):
    labels = {}
    for file, name, label, *_ in entries(root):
        if name in UNVERIFIED:
            labels.setdefault(file, set()).add(label)
    for file in sorted((root / "config/claims").glob("*.yaml")):
        for claim in read_claims(file).claims:
            words = set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", str(claim.check)))
            assert not words & (UNVERIFIED | labels.get(claim.experiment, set())), (file.name, claim.id)
