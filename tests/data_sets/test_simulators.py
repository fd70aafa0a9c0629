"""Tables that simulators fill: in parts, put together, and samples of what is shipped computed anew.

What asks a simulator is skipped where the extra `problems` is not installed.
"""

import numpy as np
import pytest
import xarray as xr

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.problems.data.simulators import irrigation, weather
from bocu.problems.data.simulators.farm import CARBON_DIOXIDE, MAIZE, MOST_WATER, POTATOES
from bocu.problems.data.simulators.tables import TableSimulator, gather, write_part

EXTRA = "the extra `problems` is not installed"
SAID = {"long_name": "anything", "units": "1"}


class Squares(TableSimulator):
    """Squares of the numbers of situations; its simulator is a package that is there."""

    package = "numpy"

    def situations(self):
        return 7

    def compute(self, situations):
        squares = np.square([situations, np.add(situations, 1)])
        plans = np.array([[0.0], [1.0]])
        return xr.Dataset(
            {"square": (("decision", "situation"), squares, SAID), "plan": (("decision", "dim"), plans, SAID)}
        )


def test_parts_come_to_the_table(tmp_path):
    parts = [tmp_path / f"{part}.nc" for part in range(3)]
    for number, part in enumerate(parts):
        write_part(f"{__name__}:Squares", number, 3, part)
    gather(parts, tmp_path / "all.nc")
    table = read_netcdf(tmp_path / "all.nc")
    np.testing.assert_array_equal(table["square"].values[0], np.arange(7) ** 2)
    assert table["plan"].shape == (2, 1)
    assert table.attrs["simulator"] == f"numpy {np.__version__}"


def test_parts_of_two_tables_are_refused(tmp_path):
    for number in range(2):
        write_part(f"{__name__}:Squares", number, 2, tmp_path / f"{number}.nc")
    other = read_netcdf(tmp_path / "1.nc").assign_attrs(simulator="numpy 0")
    write_netcdf(other, tmp_path / "1.nc")
    with pytest.raises(BocuError, match=r"1\.nc: made by .*numpy 0.*allowed: one table alone"):
        gather([tmp_path / "0.nc", tmp_path / "1.nc"], tmp_path / "all.nc")
    with pytest.raises(BocuError, match="part: found 2; allowed: 0 to 1"):
        write_part(f"{__name__}:Squares", 2, 2, tmp_path / "2.nc")


def test_evapotranspiration_is_that_of_the_station():
    pytest.importorskip("aquacrop", reason=EXTRA)
    import pandas as pd
    from aquacrop.utils.data import get_filepath
    from aquacrop.utils.prepare_weather import prepare_weather

    names = ["year", "day", "high", "low", "rain", "radiation"]
    generator = pd.read_csv(get_filepath("CP.dat"), sep=r"\s+", header=None, names=names)
    generator["Date"] = pd.to_datetime({"year": generator["year"], "month": 1, "day": 1})
    generator["Date"] += pd.to_timedelta(generator["day"] - 1, unit="D")
    both = generator.merge(prepare_weather(get_filepath("champion_climate.txt")), on="Date")
    found = weather.penman_monteith(*both[["day", "low", "high", "radiation"]].to_numpy().T)
    assert len(both) == 13_514
    assert np.corrcoef(found, both["ReferenceET"])[0, 1] > 0.997
    assert found.mean() == pytest.approx(both["ReferenceET"].mean(), rel=0.002)


def test_seasons_are_those_of_the_files():
    pytest.importorskip("aquacrop", reason=EXTRA)
    found = dict.fromkeys(("observed", *weather.PERIODS), 0)
    for season in weather.suffolk():
        found[season.law] += 1
    assert found == {"observed": 31, "historical": 60, "ssp585-2040-59": 30, "ssp585-2080-99": 30}
    nebraska = weather.nebraska()
    assert [season.law for season in nebraska].count("observed") == 37
    rain = {law: [s.total("Precipitation", (6, 7, 8)) for s in nebraska if s.law == law] for law in weather.SCENARIOS}
    assert all(np.mean(each) > 230.0 for each in rain.values()), "scenarios are wetter than the 190 mm observed"


def plainly(field, season, early, late):
    """A season by AquaCrop as anybody would call it: no copies of a model."""
    import pandas as pd
    from aquacrop.core import AquaCropModel
    from aquacrop.entities.co2 import CO2
    from aquacrop.entities.crop import Crop
    from aquacrop.entities.inititalWaterContent import InitialWaterContent
    from aquacrop.entities.irrigationManagement import IrrigationManagement
    from aquacrop.entities.soil import Soil

    month, day = field.planting
    planted = pd.Timestamp(season.label, month, day)
    amounts = {planted + pd.Timedelta(days=after): early for after in field.early}
    amounts |= {planted + pd.Timedelta(days=after): late for after in field.late}
    schedule = pd.DataFrame({"Date": list(amounts), "Depth": list(amounts.values())})
    model = AquaCropModel(
        planted.strftime("%Y/%m/%d"),
        f"{season.label}/12/30",
        season.weather,
        Soil("SandyLoam"),
        Crop(field.crop, planting_date=f"{month:02}/{day:02}", **field.options),
        InitialWaterContent(value=["FC"]),
        irrigation_management=IrrigationManagement(irrigation_method=3, Schedule=schedule, MaxIrr=MOST_WATER),
        co2_concentration=CO2(constant_conc=True, current_concentration=CARBON_DIOXIDE),
    )
    model.run_model(till_termination=True)
    end = model.get_simulation_results().iloc[0]
    return end["Dry yield (tonne/ha)"], end["Seasonal irrigation (mm)"]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("file", "table", "field"),
    [
        ("suffolk_potatoes.nc", irrigation.SuffolkPotatoes, POTATOES),
        ("nebraska_maize.nc", irrigation.NebraskaMaize, MAIZE),
    ],
)
def test_a_sample_of_shipped_yields_is_what_aquacrop_says(root, file, table, field):
    pytest.importorskip("aquacrop", reason=EXTRA)
    shipped = read_netcdf(root / "data/shipped/irrigation/raw" / file)
    computed = table()
    generator = np.random.default_rng(1)
    situations = generator.choice(computed.situations(), 6, replace=False)
    for situation in situations:
        season, decision = computed.seasons[situation], int(generator.integers(shipped.sizes["decision"]))
        told = shipped.isel(situation=situation, decision=decision)
        assert (str(told["law"].values), str(told["origin"].values)) == (season.law, season.origin)
        assert int(told["year"]) == season.year
        assert float(told["rain"]) == pytest.approx(season.total("Precipitation", field.months))
        dry_yield, water = plainly(field, season, *told["plan"].values.tolist())
        assert float(told["dry_yield"]) == pytest.approx(dry_yield, rel=1e-5)
        assert float(told["water"]) == pytest.approx(water, rel=1e-5)


@pytest.mark.ci
def test_a_sample_of_shipped_thresholds_is_what_aquacrop_says(root):
    pytest.importorskip("aquacrop", reason=EXTRA)
    shipped = read_netcdf(root / "data/shipped/irrigation/raw/suffolk_thresholds.nc")
    table = irrigation.SuffolkThresholds()
    for situation, place in ((5, (1, 2)), (80, (2, 0))):
        plans = [[table.early[place[0]]], [table.late[place[1]]]]
        ((harvest,),) = table.harvests(table.seasons[situation], *plans)
        told = shipped.isel(situation=situation, decision=place[0] * len(table.late) + place[1])
        assert told["plan"].values.tolist() == [*plans[0], *plans[1]]
        assert float(told["dry_yield"]) == pytest.approx(harvest.dry_yield, rel=1e-5)
        assert float(told["water"]) == pytest.approx(harvest.water, rel=1e-5)


@pytest.mark.ci
def test_a_sample_of_shipped_gains_is_what_floris_says(root):
    pytest.importorskip("floris", reason=EXTRA)
    from bocu.problems.data.simulators.wakes import WakeSimulator, gains_of

    shipped = read_netcdf(root / "data/shipped/wake-steering/raw/row_of_three.nc")
    assert WakeSimulator().situations() == shipped.sizes["situation"]
    yaws, winds = shipped["yaw"].values, shipped["wind"].values
    for situation in (0, 34, 63):
        found = gains_of(yaws[::60], *winds[situation])
        np.testing.assert_allclose(shipped["gain"].values[::60, situation], found, rtol=1e-5, atol=1e-2)
    assert np.abs(shipped["gain"].values[(yaws == 0.0).all(axis=1)]).max() == 0.0
