"""Small runs of every shipped experiment give the numbers that they gave when `digests.json` was made.

On whatever x86-64 with AVX2 that was, and here with AVX-512 or without: those of torch on the same processor alone.
"""

import json
from pathlib import Path

import pytest
from golden.make import DIGESTS, ROOT, branches, by_torch, digests, experiment_file, machine, scored

STORED = json.loads(DIGESTS.read_text())
QUICK = ("config", "grand-tour", "kirschner2020-wind")  # one of each protocol; the others are drills, for their time
# What does not heed the kernel that is set for all: torch, and the C library.
WITHOUT_AVX512 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-AVX512{group}" for group in ("F", "CD", "BW", "DQ", "VL")),
}


def test_every_shipped_experiment_has_digests_that_name_their_cause():
    shipped = {path.stem for path in (ROOT / "config/experiments").glob("*.yaml")} | {"config"}
    assert set(branches()) == set(STORED["experiments"]) == shipped
    for name, chosen in branches().items():
        assert experiment_file(ROOT, name).is_file()
        assert set(STORED["experiments"][name]) == set(chosen) >= by_torch(name)
        for branch, entry in STORED["experiments"][name].items():
            assert entry["cause"], f"{name}: {branch}: no cause"
            assert {"payoff", "observation"} < entry["runs"].keys()
        assert all("regret" in STORED["experiments"][name][branch]["scores"] for branch in scored(chosen))


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        pytest.param(name, hidden, marks=pytest.mark.ci if name in QUICK and not hidden else pytest.mark.drill)
        for name in branches()
        for hidden in (False, True)
    ],
)
def test_numbers_stay_as_they_were(name, hidden, tmp_path):
    here = machine()
    there = {key: (value, here.get(key)) for key, value in STORED["machine"].items() if key != "cpu"}
    if others := {key: pair for key, pair in there.items() if pair[0] != pair[1]}:
        told = "; ".join(f"{key}: made with {made}, here {here}" for key, (made, here) in others.items())
        pytest.skip(f"digests hold for one kernel and set of packages only: {told}")
    if hidden and "avx512f" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX-512 to hide")
    left_out = by_torch(name) if hidden or here["cpu"] != STORED["machine"]["cpu"] else set()
    found = digests(ROOT, name, branches()[name], tmp_path, **(WITHOUT_AVX512 if hidden else {}))
    changed = [
        f"{branch}: {kind}: {variable}: was {before}, is {found[branch][kind].get(variable, 'gone')}"
        for branch, entry in STORED["experiments"][name].items()
        if branch not in left_out
        for kind in found[branch]
        for variable, before in entry[kind].items()
        if found[branch][kind].get(variable) != before
    ]
    assert not changed, "\n".join(["where a change is meant: python tests/golden/make.py --cause WHY", *changed])
