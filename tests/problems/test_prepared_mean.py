"""Plant and infection: what planning asks, the payoff table, and what is left out of it."""

from pathlib import Path

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.problems.data.catalogue import Catalogue
from bocu.problems.data.infection import prepare_infection
from bocu.problems.data.means import load_mean
from bocu.problems.data.plant import prepare_plant
from bocu.problems.prepared_mean import (
    Infection,
    InfectionParameters,
    Plant,
    PlantParameters,
    PreparedMeanParameters,
)
from bocu.robust.ambiguity import TotalVariation
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.experiment.branches import ProblemPaths


@pytest.fixture(scope="module")
def few_runs(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Infection data of 50 runs, labelled as simulated."""
    folder = tmp_path_factory.mktemp("infection")
    rng = np.random.default_rng(0)
    np.savez(folder / "infection_X_y.npz", X=rng.random((50, 5)), y=rng.standard_normal(50))
    prepare_infection(
        [folder / "infection_X_y.npz"], folder / "i.nc", catalogue.origin("infection", "runs", "simulate")
    )
    return str(folder / "i.nc")


@pytest.mark.parametrize(
    ("kind", "path"), [(PlantParameters, "plant/svgp.nc"), (InfectionParameters, "infection/runs.nc")]
)
def test_planning_names_the_prepared_file_of_the_source(
    catalogue: Catalogue, kind: type[PreparedMeanParameters], path: str
) -> None:
    resolved = kind().resolve(catalogue, "simulate", None)
    assert resolved.inputs(ProblemPaths("results/x/priors/p", catalogue)) == {"data": f"data/simulate/{path}"}
    assert kind.model_validate(resolved.model_dump(mode="json")) == resolved
    assert resolved.resolve(catalogue, "simulate", None) == resolved
    assert (resolved.initial_points(), resolved.horizon(), resolved.priors()) == (5, None, {})


def test_entries_are_the_mean_at_decision_and_context(few_runs: str) -> None:
    parameters = InfectionParameters(source="simulate", decision_points=[4, 3], context_points=[2, 3, 2])
    problem = Infection(parameters, {"data": few_runs})
    table = problem.realise(Streams(0)).payoffs(1)
    mean = load_mean(few_runs)
    for decision in (0, 5, 11):
        for context in (0, 7, 11):
            point = np.concatenate([problem.decisions[decision], problem.contexts[context]])
            assert table[decision, context] == pytest.approx(float(mean(point)), abs=1e-12)
    assert problem.simulated
    assert problem.provenance["dataset"] == "infection"


def test_a_feasible_infection_has_no_shares_beyond_1(few_runs: str) -> None:
    cube = Infection(InfectionParameters(source="simulate"), {"data": few_runs})
    some = Infection(InfectionParameters(source="simulate", feasible=True), {"data": few_runs})
    assert cube.realise(Streams(0)).payoffs(1).shape == (1024, 64)
    possible = [
        np.array([sum(point[:2]) < 1.0 + 1e-6 for point in points]) for points in (cube.decisions, cube.contexts)
    ]
    assert [round(1 - kept.mean(), 3) for kept in possible] == [0.484, 0.375]
    np.testing.assert_array_equal(some.decisions, cube.decisions[possible[0]])
    np.testing.assert_allclose(
        some.realise(Streams(0)).payoffs(1), cube.realise(Streams(0)).payoffs(1)[np.ix_(*possible)], atol=1e-12
    )
    assert some.references[0].sum() == pytest.approx(1.0)
    assert len(some.references[0]) == 40


def test_data_without_the_inputs_are_named(catalogue: Catalogue, few_runs: str) -> None:
    with pytest.raises(BocuError, match="no input 'ph'; found test_share_1"):
        Plant(PlantParameters(source="simulate"), {"data": few_runs})


@pytest.mark.real_data
def test_real_plants_grow_as_the_check_values_say(mirror: Path, catalogue: Catalogue, tmp_path: Path) -> None:
    raw = [mirror / "plant" / name for name in ("marchantia_leaf_area_svgp.npz", "check_values.csv")]
    prepare_plant(raw, tmp_path / "p.nc", catalogue.origin("plant", "svgp", "mirror"))
    problem = Plant(PlantParameters(source="mirror"), {"data": str(tmp_path / "p.nc")})
    table = problem.realise(Streams(0)).payoffs(1)
    assert table.shape == (1024, 64)
    assert not problem.simulated
    checks = np.genfromtxt(raw[1], delimiter=",", names=True)
    # The corners of the domain are on the grid: pH decides, NH3 is the context.
    compared = 0
    for row, ph in ((0, 2.5), (1023, 6.5)):
        for column, nh3 in ((0, 0.0), (63, 30000.0)):
            for check in checks[(checks["ph"] == ph) & (checks["nh3_micromolar"] == nh3)]:
                assert table[row, column] == pytest.approx(check["standardised_leaf_area"], abs=1e-6)
                compared += 1
    assert compared


@pytest.fixture(scope="module")
def real_infection(mirror: Path, catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("real") / "i.nc"
    prepare_infection([mirror / "infection/infection_X_y.npz"], path, catalogue.origin("infection", "runs", "mirror"))
    return str(path)


@pytest.mark.real_data
def test_on_the_full_cube_the_robust_optima_are_impossible_decisions(real_infection: str) -> None:
    problem = Infection(InfectionParameters(source="mirror"), {"data": real_infection})
    payoffs, reference = problem.realise(Streams(0)).payoffs(1), problem.references[0]
    ambiguity_set = TotalVariation(float(TotalVariation(0.0).distance(problem.truths[0], reference)))
    possible = problem.decisions.sum(axis=1) <= 1.0 + 1e-9
    for objective, best_possible in (
        (UncertaintyObjective.dro(ambiguity_set), -0.208),
        (UncertaintyObjective.wcs(ambiguity_set), -0.727),
        (UncertaintyObjective.gen(ambiguity_set, 1.0, 1.0), -0.767),
    ):
        values = objective(payoffs, reference)
        assert problem.decisions[values.argmax()].tolist() == [1.0, 1.0]
        assert values.max() == pytest.approx(0.0, abs=1e-6)
        assert values[possible].max() == pytest.approx(best_possible, abs=5e-4)


@pytest.mark.real_data
def test_where_only_the_possible_is_played_cases_decide(real_infection: str) -> None:
    problem = Infection(InfectionParameters(source="mirror", feasible=True), {"data": real_infection})
    payoffs, reference = problem.realise(Streams(0)).payoffs(1), problem.references[0]
    ambiguity_set = TotalVariation(float(TotalVariation(0.0).distance(problem.truths[0], reference)))
    values = UncertaintyObjective.dro(ambiguity_set)(payoffs, reference)
    assert problem.decisions[values.argmax()].sum() <= 1.0 + 1e-9
    assert values.max() < -0.1
