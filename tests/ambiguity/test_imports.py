"""Importing one set imports neither the others nor numba, torch, cvxpy or scipy."""

import subprocess
import sys

SETS = ("bocu.robust.ambiguity.wasserstein", "bocu.robust.ambiguity.divergences")
HEAVY = ("torch", "numba", "cvxpy", "scipy", *SETS)


def run(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)


def test_total_variation_needs_nothing_heavy() -> None:
    run(
        "import sys, bocu.robust.ambiguity as a, bocu.robust.objectives.functions as o\n"
        "import bocu.robust.contexts.estimates\n"
        "b = a.TotalVariation(0.3)\n"
        "assert abs(float(a.worst_case([0., 1.], [.5, .5], b).value) - .35) < 1e-12\n"
        "o.UncertaintyObjective.gen(b, 1., 1.)([[0., 1.]], [.5, .5])\n"
        f"assert not set({HEAVY}) & set(sys.modules), set({HEAVY}) & set(sys.modules)\n"
    )


def test_mmd_in_closed_form_needs_no_compiler() -> None:
    run(
        "import sys, numpy as np, bocu.robust.ambiguity as a\n"
        "b = a.MaximumMeanDiscrepancy(1e-6, np.eye(3))\n"
        "a.worst_case([0., 1., 3.], [.3, .3, .4], b)\n"
        "assert 'numba' not in sys.modules\n"
        "a.worst_case([0., 1., 3.], [.3, .3, .4], b.with_epsilon(.7))\n"
        "assert 'numba' in sys.modules\n"
    )


def test_unknown_name_is_an_attribute_error() -> None:
    run(
        "import bocu.robust.ambiguity as a\n"
        "assert 'TotalVariation' in dir(a)\n"
        "try:\n    a.NoSuchSet\nexcept AttributeError:\n    pass\nelse:\n    raise SystemExit(1)\n"
    )
