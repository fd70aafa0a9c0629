"""The one numerical kernel: where it is set, what is left to the user, and that a process by another one is refused."""

import json
import os
import subprocess
import sys

import pytest
from experiments import tiny

from bocu.core.numerics import KERNEL, kernel, kernel_in_use, refuse_other_kernel, variables
from bocu.sweep.experiment.planning import make_plan

HASWELL = ["fpu", "sse4_2", "avx", "avx2", "fma", "bmi1", "bmi2", "f16c", "movbe", "abm"]
NAMES = tuple(variables("linux", "x86_64", HASWELL, "2.4.6"))
pinned_here = pytest.mark.skipif(not kernel().startswith(KERNEL), reason="no x86-64 with AVX2 under Linux")


def python(code, **changed):
    """Run code in a process with none of the variables but those given, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name not in NAMES} | changed
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("system", "machine", "flags"),
    [
        ("linux", "aarch64", HASWELL),
        ("darwin", "arm64", []),
        ("darwin", "x86_64", HASWELL),
        ("linux", "x86_64", ["fpu", "sse4_2", "avx"]),
    ],
)
def test_nothing_is_set_elsewhere(system, machine, flags):
    assert variables(system, machine, flags, "2.4.6") == {}


def test_numpy_is_told_by_the_names_that_its_version_knows():
    told = [variables("linux", "x86_64", HASWELL, numpy)["NPY_DISABLE_CPU_FEATURES"] for numpy in ("2.3.5", "2.10.0")]
    assert "AVX512_SKX" in told[0]
    assert "X86_V4" in told[1]
    assert "X86_V4" not in told[0]


@pinned_here
def test_tests_and_commands_run_under_it():
    assert kernel_in_use() == KERNEL
    code = "import bocu.commands.main as m, sys; assert 'numpy' not in sys.modules; m.pin_kernel()"
    in_use = "from bocu.core.numerics import kernel_in_use; print(kernel_in_use())"
    assert python(f"{code}\n{in_use}") == KERNEL


def test_importing_sets_nothing():
    code = "import os; before = dict(os.environ); import bocu, bocu.core.numerics, bocu.robust.ambiguity; "
    assert python(code + "print(dict(os.environ) == before)") == "True"


@pinned_here
def test_what_the_user_has_set_stays_and_is_part_of_the_specification():
    code = (
        "from bocu.core.numerics import *; import json, os; pin_kernel(); "
        "print(json.dumps([kernel(), kernel_in_use(), told_of_own_settings(), sorted(os.environ)]))"
    )
    said, used, told, _ = json.loads(python(code, OPENBLAS_CORETYPE="Nehalem"))
    assert (said, used) == ("Haswell, AVX2; OPENBLAS_CORETYPE=Nehalem", "Nehalem, AVX2")
    assert told.startswith("OPENBLAS_CORETYPE=Nehalem: set by you")
    said, used, _, names = json.loads(python(code, NPY_ENABLE_CPU_FEATURES="X86_V3"))
    assert said == "Haswell, AVX2; NPY_ENABLE_CPU_FEATURES=X86_V3"
    assert "NPY_DISABLE_CPU_FEATURES" not in names  # NumPy refuses both
    assert json.loads(python(code))[0:3] == [KERNEL, KERNEL, None]


@pinned_here
def test_a_process_that_computes_by_another_kernel_is_refused():
    code = (
        "import numpy\nfrom bocu.core.errors import BocuError\nfrom bocu.core.numerics import *\n"
        "try:\n    refuse_other_kernel(KERNEL)\nexcept BocuError as error:\n    print(error)"
    )
    said = python(code, OPENBLAS_CORETYPE="Nehalem")
    assert said.startswith(f"kernel: wanted '{KERNEL}', found 'Nehalem, ")
    assert "set OPENBLAS_CORETYPE='Haswell' NPY_DISABLE_CPU_FEATURES=" in said
    refuse_other_kernel(KERNEL)
    refuse_other_kernel("not pinned, x86_64")


def test_it_is_part_of_every_branchs_specification():
    plan = make_plan(tiny())
    assert {branch.specification["kernel"] for branch in plan.branches.values()} == {kernel()}
