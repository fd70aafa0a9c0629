"""Small runs of every shipped experiment give the numbers that they gave when `digests.json` was made."""

import json

import pytest
from golden.make import DIGESTS, ROOT, branches, digests, experiment_file, machine, scored

STORED = json.loads(DIGESTS.read_text())
QUICK = ("config", "grand-tour", "kirschner2020-wind")  # one of each protocol; the others are drills, for their time


def test_every_shipped_experiment_has_digests_that_name_their_cause():
    shipped = {path.stem for path in (ROOT / "config/experiments").glob("*.yaml")} | {"config"}
    assert set(branches()) == set(STORED["experiments"]) == shipped
    for name, chosen in branches().items():
        assert experiment_file(ROOT, name).is_file()
        assert set(STORED["experiments"][name]) == set(chosen)
        for branch, entry in STORED["experiments"][name].items():
            assert entry["cause"], f"{name}: {branch}: no cause"
            assert {"payoff", "observation"} < entry["runs"].keys()
        assert all("regret" in STORED["experiments"][name][branch]["scores"] for branch in scored(chosen))


@pytest.mark.workflow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.ci if name in QUICK else pytest.mark.drill) for name in branches()],
)
def test_numbers_stay_as_they_were(name, tmp_path):
    there = {key: (value, machine().get(key)) for key, value in STORED["machine"].items()}
    if others := {key: pair for key, pair in there.items() if pair[0] != pair[1]}:
        told = "; ".join(f"{key}: made with {made}, here {here}" for key, (made, here) in others.items())
        pytest.skip(f"digests hold for one processor and set of packages only: {told}")
    found = digests(ROOT, name, branches()[name], tmp_path)
    changed = [
        f"{branch}: {kind}: {variable}: was {before}, is {found[branch][kind].get(variable, 'gone')}"
        for branch, entry in STORED["experiments"][name].items()
        for kind in found[branch]
        for variable, before in entry[kind].items()
        if found[branch][kind].get(variable) != before
    ]
    assert not changed, "\n".join(["where a change is meant: python tests/golden/make.py --cause WHY", *changed])
