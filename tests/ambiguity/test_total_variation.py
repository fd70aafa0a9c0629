"""Total variation at several radii at once."""

import numpy as np
import pytest

from bocu.robust.ambiguity import TotalVariation


@pytest.mark.parametrize("own", [False, True])
def test_total_variation_at_many_radii_is_that_at_each_to_the_last_digit(own: bool) -> None:
    generator = np.random.default_rng(0)
    payoffs = np.round(generator.standard_normal((20, 9)), 1)  # with ties
    reference = generator.dirichlet(np.ones(9), size=20 if own else None)
    radii = [0.0, 0.3, 0.301, 2.0, np.inf]
    each = [TotalVariation(radius).values(payoffs, reference)[0] for radius in radii]
    assert (TotalVariation(0.1).values_at(payoffs, reference, radii) == np.stack(each, axis=-1)).all()
