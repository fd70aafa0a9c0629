"""Worst cases of total variation by machine code, once there are enough of them: `bocu.ambiguity.moved_mass_code`."""

from __future__ import annotations

import numpy as np

from bocu.ambiguity.base import expectation
from bocu.ambiguity.checks import Floats
from bocu.ambiguity.moved_mass_code import DISTRIBUTION, RATE, VALUE, moved_mass
from bocu.ambiguity.object_code import Function, Linked, indices, reals
from bocu.ambiguity.rows import Rows, Wanted

#: Seconds by which a call is shorter than by numpy, and a payoff in it.
_A_CALL, _A_PAYOFF = 3e-5, 2e-8


def by_machine_code(f: Floats, p: Floats, radii: list[float], wanted: Wanted) -> Rows | None:
    """Worst cases of rows that span [0, 1], with a value `(B, R)` for each radius; the rest is of the last one.

    None where numpy is to solve them: there is no machine code, or the calls so far would not have paid for it.
    """
    function = LINKED.after(_A_CALL + _A_PAYOFF * f.size)
    return None if function is None or not f.size or not radii else solved_with(function, f, p, radii, wanted)


def solved_with(function: Function, f: Floats, p: Floats, radii: list[float], wanted: Wanted) -> Rows:
    """As `by_machine_code`, by the machine code given."""
    rows, n = f.shape
    value, slope, scratch = np.empty((rows, len(radii))), np.empty(rows), np.empty(4 * n)
    distribution = np.empty((rows, n)) if wanted.distribution or wanted.rate else None
    rate = np.empty((rows, n)) if wanted.rate else None
    nowhere, payoffs = reals(scratch), f if f.flags.carray else f.copy()
    function(
        reals(payoffs),
        indices((-payoffs).argsort(axis=1)),
        reals(p if p.flags.carray else p.copy()),
        0 if len(p) == 1 else n,
        reals(expectation(f, p)),
        reals(np.array([radius / 2.0 for radius in radii])),
        len(radii),
        rows,
        n,
        nowhere,
        reals(value),
        reals(slope),
        nowhere if distribution is None else reals(distribution),
        nowhere if rate is None else reals(rate),
        RATE if wanted.rate else DISTRIBUTION if wanted.distribution else VALUE,
    )
    return Rows(value=value, slope=slope, distribution=distribution, rate=rate)


def has_digits_of_numpy(function: Function) -> bool:
    """Whether machine code has numpy's digits here, tried on rows of 1 to 300 contexts, with ties and without."""
    from bocu.ambiguity.total_variation import TotalVariation

    generator, wanted = np.random.default_rng(0), Wanted(rate=True)
    for n in (*range(1, 18), 64, 100, 129, 300):
        payoffs, p = generator.random((7, n)), generator.dirichlet(np.ones(n))[None]
        payoffs[3:] = np.round(payoffs[3:], 1)
        for radius in (0.1, 0.9):
            around = TotalVariation(radius)
            f = around.spanning(payoffs, p, (7,)).f
            one, other = around.solve_by_numpy(f, p, wanted), solved_with(function, f, p, [radius], wanted)
            for name in ("value", "slope", "distribution", "rate"):
                if getattr(one, name).tobytes() != getattr(other, name).tobytes():
                    return False
    return True


LINKED = Linked(moved_mass, has_digits_of_numpy)
