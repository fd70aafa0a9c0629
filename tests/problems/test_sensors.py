"""`bocu.problems.sensors`: which data and priors are asked for, what a seed meets, and the real temperatures."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from experiments import tiny

from bocu.core.errors import BocuError
from bocu.core.io.files import canonical_json, read_netcdf, write_netcdf
from bocu.core.parameters import validate
from bocu.core.randomness import Streams
from bocu.learners.algorithms.time_varying import PEGPUCB, MaximumLikelihood, Oracle
from bocu.problems.base import Realisation
from bocu.problems.data.catalogue import Catalogue
from bocu.problems.data.intel import intel_dataset, prepare_matrices
from bocu.problems.priors.fit import fit_prior
from bocu.problems.sensors import Sensors, SensorsParameters
from bocu.sweep.experiment.branches import ProblemPaths
from bocu.sweep.experiment.planning import make_plan

MATRICES = ("intelTemperatureTrain.csv", "intelTemperatureTest.csv")


@pytest.fixture
def carried(tmp_path: Path) -> str:
    """A mirror that has the matrices and not the log; planning looks at names only."""
    (tmp_path / "mirror" / "intel").mkdir(parents=True)
    for name in MATRICES:
        (tmp_path / "mirror" / "intel" / name).touch()
    return str(tmp_path / "mirror")


def fit_all(parameters: SensorsParameters, catalogue: Catalogue, data: Path, folder: Path) -> dict[str, Any]:
    """Fit the priors that the parameters ask for, as the pipeline would; give the problem's inputs."""
    paths = ProblemPaths(str(folder), catalogue)
    for label, specification in parameters.priors().items():
        fit_prior(specification["statement"], {"data": str(data)}, paths.prior(label))
    return {**parameters.inputs(paths), "data": str(data)}


@pytest.fixture
def stand_in(catalogue: Catalogue, tmp_path: Path) -> tuple[SensorsParameters, dict[str, Any]]:
    """Five days of eight sensors every half-hour, of which number 3 is silent on day 2."""
    generator = np.random.default_rng(0)
    walk = 20.0 + 0.4 * np.cumsum(generator.standard_normal((8, 240)), axis=1)
    walk[2, 60:80] = np.nan
    positions = pd.DataFrame({"x": np.zeros(8), "y": np.zeros(8)}, index=np.arange(1, 9))
    attrs = {"source": "mirror", "title": "drawn for a test", "licence": "none", "citation": "nobody"}
    data = tmp_path / "drawn.nc"
    write_netcdf(intel_dataset(walk, np.isnan(walk), positions, list("12345"), 30, "min", attrs), data)
    parameters = SensorsParameters(record="matrices", source="mirror", log=None, matrices={"sensors_per_seed": None})
    return parameters, fit_all(parameters, catalogue, data, tmp_path / "priors")


def test_the_log_asks_for_thirteen_days_of_march_and_the_oracles(catalogue: Catalogue) -> None:
    parameters = SensorsParameters().resolve(catalogue, "simulate", None)
    paths = ProblemPaths("results/x/priors/intel", catalogue)
    inputs = parameters.inputs(paths)
    assert parameters.horizon() == 144
    assert len(parameters.settings.prior_days) == 13
    assert parameters.settings.prior_days[::12] == ("2004-03-01", "2004-03-13")
    assert inputs["data"] == "data/simulate/intel/log-10min.nc"
    assert inputs["priors"][0] == "results/x/priors/intel/2004-03-01.nc"
    assert inputs["oracle"] == "results/x/priors/intel/oracle-2004-03-14.nc"
    assert parameters.prior_inputs(paths) == {"data": inputs["data"]}
    assert [Path(path).stem for path in (*inputs["priors"], inputs["oracle"])] == list(parameters.priors())


def test_priors_are_plain_data_and_one_job_each(catalogue: Catalogue) -> None:
    priors = SensorsParameters().resolve(catalogue, "simulate", None).priors()
    assert priors["2004-03-07"]["statement"]["day"] == "2004-03-07"
    assert priors["oracle-2004-03-14"]["statement"]["day"] == "2004-03-14"
    assert len({canonical_json(specification) for specification in priors.values()}) == 14
    assert all("2004-03-14" not in specification["statement"]["prior_days"] for specification in priors.values())


def test_auto_takes_the_log_where_there_is_one_and_else_the_matrices(catalogue: Catalogue, carried: str) -> None:
    matrices = SensorsParameters().resolve(catalogue, "mirror", carried)
    assert (matrices.record, matrices.log, matrices.horizon()) == ("matrices", None, 48)
    assert matrices.settings.prior_days == ("1", "2", "3", "4")
    for name in ("data.txt.gz", "mote_locs.txt"):
        (Path(carried) / "intel" / name).touch()
    log = SensorsParameters().resolve(catalogue, "mirror", carried)
    assert (log.record, log.matrices, log.horizon()) == ("log", None, 144)
    assert SensorsParameters(record="matrices").resolve(catalogue, "mirror", carried) == matrices


@pytest.mark.parametrize(
    ("given", "source", "message"),
    [
        ({"record": "matrices"}, "simulate", "'simulate' does not offer data set 'intel', record 'matrices'"),
        ({"record": "log"}, "mirror", r"data\.txt\.gz: no such file|mote_locs\.txt: no such file"),
        ({"log": {"interval": 7}}, "simulate", "record 'log': interval 7 min; allowed: 10, 5"),
        ({"source": "download"}, "simulate", "source: found 'download'; data.source is 'simulate'"),
        ({"record": "log", "log": None}, "simulate", "record: found 'log' without settings"),
    ],
)
def test_what_the_source_does_not_bring_is_refused_while_planning(
    catalogue: Catalogue, carried: str, given: dict[str, Any], source: str, message: str
) -> None:
    with pytest.raises(BocuError, match=message):
        SensorsParameters(**given).resolve(catalogue, source, carried)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"record": "logs"}, r"record: found 'logs'; .*'log'"),
        ({"log": {"priors_from": "2004-03-14"}}, "log: found .*not before the target 2004-03-14"),
        ({"log": {"target": "14 March"}}, r"log\.target: found '14 March'"),
        ({"log": {"intervall": 10}}, r"log\.intervall: unknown key; did you mean 'interval'"),
        ({"matrices": {"priors": ["1", "5"]}}, "days repeat: priors 1, 5, target 5"),
        ({"matrices": {"priors": []}}, r"matrices\.priors: found"),
        ({"log": {"sensors_per_seed": 0}}, "log.sensors_per_seed: found 0"),
        ({"noise": -0.1}, "noise: found -0.1"),
    ],
)
def test_wrong_parameters_get_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BocuError, match=message) as caught:
        validate(SensorsParameters, given, "")
    assert "\n" not in str(caught.value)


def test_payoffs_are_the_target_days_temperatures_in_degrees(stand_in: tuple[SensorsParameters, dict]) -> None:
    problem = Sensors(*stand_in)
    realisation = problem.realise(Streams(0))
    raw = read_netcdf(stand_in[1]["data"])["temperature"].values[[0, 1, 3, 4, 5, 6, 7], 192:]
    assert realisation.description.decisions.points[:, 0].tolist() == [1, 2, 4, 5, 6, 7, 8]
    for t in (1, 20, 48):
        np.testing.assert_array_equal(realisation.payoffs(t)[:, 0], raw[:, t - 1])
        assert realisation.payoff(3, t) == raw[3, t - 1]
        assert realisation.round(t).available is None
    assert (problem.units, problem.simulated, problem.prior_labels) == ("degree_Celsius", False, ("1", "2", "3", "4"))
    assert problem.provenance["title"] == "drawn for a test"


def drawing(parameters: SensorsParameters, sensors: int | None) -> SensorsParameters:
    settings = parameters.settings.model_copy(update={"sensors_per_seed": sensors})
    return parameters.model_copy(update={parameters.record: settings})


def test_each_seed_draws_its_sensors_and_the_priors_follow(stand_in: tuple[SensorsParameters, dict]) -> None:
    parameters, inputs = stand_in
    problem = Sensors(drawing(parameters, 4), inputs)

    def drawn(realisation: Realisation) -> list[int]:
        return [int(point[0]) for point in realisation.description.decisions.points]

    draws = [drawn(problem.realise(Streams(seed))) for seed in range(30)]
    assert draws[3] == drawn(problem.realise(Streams(3)))
    assert all(len(set(draw)) == 4 and draw == sorted(draw) for draw in draws)
    assert {sensor for draw in draws for sensor in draw} == {1, 2, 4, 5, 6, 7, 8}
    realisation = problem.realise(Streams(3))
    rows = np.searchsorted(problem.sensors, draws[3])
    for part, whole in zip(realisation.description.priors, problem.priors, strict=True):
        np.testing.assert_array_equal(part.covariance, whole.covariance[np.ix_(rows, rows)])
        assert (part.label, part.forgetting) == (whole.label, whole.forgetting)
    assert realisation.description.best_prior is not None
    assert realisation.description.best_prior.label == "oracle-5"
    np.testing.assert_array_equal(realisation.payoffs(7)[:, 0], problem.temperatures[rows, 6])


def test_more_sensors_than_there_are_is_refused(stand_in: tuple[SensorsParameters, dict]) -> None:
    parameters, inputs = stand_in
    with pytest.raises(BocuError, match=r"drawn\.nc: 7 sensors are complete on all days, sensors_per_seed asks for 8"):
        Sensors(drawing(parameters, 8), inputs)


def test_candidates_that_differ_in_scale_only_are_warned_of(stand_in: tuple[SensorsParameters, dict]) -> None:
    parameters, inputs = stand_in
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Sensors(parameters, inputs).indistinguishable == []
    scaled = read_netcdf(inputs["priors"][0])
    scaled["covariance"] *= 4.0
    scaled.attrs["prior"] = "3"
    write_netcdf(scaled, inputs["priors"][2])
    with pytest.warns(UserWarning, match="output scale only cannot be told apart: 1 and 3"):
        problem = Sensors(parameters, inputs)
    assert problem.indistinguishable == [("1", "3")]


def test_an_unsettled_record_is_no_plan() -> None:
    with pytest.raises(BocuError, match="record: found 'auto' without settings"):
        SensorsParameters().horizon()


@pytest.fixture(scope="module")
def real(mirror: Path, catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> tuple[Sensors, Path]:
    """The carried matrices, prepared and fitted; 40 of 50 sensors a seed."""
    folder = tmp_path_factory.mktemp("intel")
    data = folder / "matrices-30min.nc"
    origin = catalogue.origin("intel", "matrices", "mirror")
    prepare_matrices([mirror / "intel" / name for name in MATRICES], data, origin)
    parameters = SensorsParameters(record="matrices").resolve(catalogue, "mirror", str(mirror))
    return Sensors(parameters, fit_all(parameters, catalogue, data, folder)), folder


def played(problem: Sensors, kind: type, seed: int) -> tuple[float, list[dict[str, Any]]]:
    """Average regret in degrees Celsius, and the reports."""
    streams = Streams(seed)
    realisation = problem.realise(streams)
    algorithm = kind(realisation.description, None, kind.Parameters(), streams["algorithm"])
    regret, reports = 0.0, []
    for t in range(1, 49):
        arm = algorithm.ask(realisation.round(t))
        payoff = realisation.payoff(arm, t)
        algorithm.tell(arm, t, payoff + realisation.description.noise * streams["noise"].standard_normal())
        regret += realisation.payoffs(t).max() - payoff
        reports.append(algorithm.report())
    return regret / 48, reports


@pytest.mark.real_data
def test_real_days_forget_at_a_tenth_a_step_and_at_two_thirds_around_sensor_means(
    real: tuple[Sensors, Path], tmp_path: Path
) -> None:
    problem, folder = real
    rates = [prior.forgetting for prior in problem.priors]
    np.testing.assert_allclose(rates, [0.131, 0.079, 0.146, 0.103], atol=0.002)
    assert problem.best_prior.forgetting == pytest.approx(0.151, abs=0.002)
    for label in ("1", "oracle-5"):
        stored = read_netcdf(folder / f"{label}.nc")
        # 48 steps around their mean leave rank 47 among 50 sensors: singular, and handled as it is.
        assert (int(stored["rank"]), stored.sizes["sensor"], int(stored["at_bound"])) == (47, 50, 0)
    specification = {**problem.parameters.priors()["1"]["statement"], "centre": "own-day-sensors"}
    fit_prior(specification, {"data": problem.inputs["data"]}, tmp_path / "1.nc")
    assert float(read_netcdf(tmp_path / "1.nc")["forgetting"]) == pytest.approx(0.71, abs=0.03)


@pytest.mark.real_data
def test_on_real_days_no_prior_is_rejected_and_pe_gp_ucb_is_as_good_as_the_oracle(real: tuple[Sensors, Path]) -> None:
    problem, _ = real
    assert not problem.simulated
    assert problem.indistinguishable == []
    regret = {kind: np.mean([played(problem, kind, seed)[0] for seed in range(6)]) for kind in (PEGPUCB, Oracle)}
    assert regret[PEGPUCB] < np.mean([played(problem, MaximumLikelihood, seed)[0] for seed in range(6)])
    assert regret[PEGPUCB] == pytest.approx(regret[Oracle], abs=0.1)
    _, reports = played(problem, PEGPUCB, 0)
    assert all(report["active_priors"].all() for report in reports)


def test_stated_candidates_take_the_place_of_those_of_the_prior_days(elsewhere: Path) -> None:
    days = ["2004-03-05", "2004-03-12"]
    kernels = ["squared-exponential", "matern-5/2"]
    fits = {"name": "fitted", "label": "lab", "parameters": {"days": days, "kernel": kernels, "noise": "known"}}
    experiment = tiny(data="simulate", seeds=1, iterations=2, problems=["sensors"], priors=[fits], algorithms=["mle"])
    plan = make_plan(experiment)
    labels = [f"lab-{kernel}-{day}" for kernel in ("squared-exponential", "matern-52") for day in days]
    assert list(plan.priors("sensors")) == [*labels, "oracle-2004-03-14"]
    assert [Path(file).stem for file in plan.inputs.problem("sensors")["priors"]] == labels
    told = plan.priors("sensors")[labels[-1]]
    assert (told["statement"]["day"], told["statement"]["noise"]) == ("2004-03-12", 0.1)
    assert plan.problems["sensors"].kind.outline(plan.problem_parameters("sensors")).priors == tuple(labels)
    for wrong, message in (
        ({"days": ["2004-03-14"]}, "days: 2004-03-14 is no prior day; allowed: 2004-03-01 to 2004-03-13"),
        ({"months": ["2004-03"]}, "days: 2004-03 is no prior day"),
        ({}, "its priors are fitted to days"),
    ):
        with pytest.raises(BocuError, match=f"'lab' can be no prior of 'sensors': {message}"):
            make_plan({**experiment, "priors": [{**fits, "parameters": wrong}]})
