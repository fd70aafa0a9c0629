"""Payoff files and the `worst-case` command."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ambiguity.cases import KINDS, make_set, random_instance
from bocu.commands.main import app
from bocu.core.errors import BocuError
from bocu.robust.ambiguity import worst_case
from bocu.robust.ambiguity.tables import read_table

OPTIONS = {
    "mmd": ["--lengthscale", "0.3"],
    "cr": ["--k", "1.7"],
    "cvar": ["--alpha", str(1 / 1.2)],
}


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["worst-case", *arguments])
    if result.exception is not None:
        raise result.exception
    return result.output


def write_csv(path: Path, contexts: np.ndarray, payoffs: np.ndarray, reference: np.ndarray) -> None:
    lines = ["context_x,calm,reference,bold,context_y"]
    for i in range(len(reference)):
        cells = (contexts[i, 0], payoffs[0, i], reference[i], payoffs[1, i], contexts[i, 1])
        lines.append(",".join(repr(float(cell)) for cell in cells))
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("kind", KINDS)
def test_command_prints_value_slope_and_distribution(kind: str, tmp_path: Path) -> None:
    contexts, payoffs, reference = random_instance(5, 6, 2)
    file = tmp_path / "payoffs.csv"
    write_csv(file, contexts, payoffs, reference)
    output = run(str(file), "--set", kind, "--epsilon", "0.2", *OPTIONS.get(kind, []))
    rows = list(csv.DictReader(io.StringIO(output)))
    expected = worst_case(payoffs, reference, make_set(kind, 0.2, contexts))
    assert [row["decision"] for row in rows] == ["calm", "bold"]
    for i, row in enumerate(rows):
        assert float(row["value"]) == pytest.approx(expected.value[i], abs=1e-12)
        assert float(row["slope"]) == pytest.approx(expected.slope[i], abs=1e-9)
        q = [float(row[f"q{j + 1}"]) for j in range(6)]
        np.testing.assert_allclose(q, expected.distribution[i], atol=1e-12)


def test_netcdf_and_csv_say_the_same(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    contexts, payoffs, reference = random_instance(6, 5, 2)
    write_csv(tmp_path / "a.csv", contexts, payoffs, reference)
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        for name, size in (("decision", 2), ("context", 5), ("context_dim", 2)):
            file.createDimension(name, size)
        file.createVariable("payoffs", "f8", ("decision", "context"))[:] = payoffs
        file.createVariable("reference", "f8", ("context",))[:] = reference
        file.createVariable("contexts", "f8", ("context", "context_dim"))[:] = contexts
    first, second = read_table(tmp_path / "a.csv"), read_table(tmp_path / "a.nc")
    for name in ("payoffs", "reference", "contexts"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    text = run(str(tmp_path / "a.nc"), "--set", "wass", "--epsilon", "0.1")
    assert text.splitlines()[1].startswith("0,")
    for name, dimensions, expected in (("along", ("context",), contexts[:, :1]), ("other", (), None)):
        with netcdf.Dataset(tmp_path / f"{name}.nc", "w") as file:
            file.createDimension("context", 5)
            file.createVariable("payoffs", "f8", ("context",))[:] = payoffs[0]
            file.createVariable("reference", "f8", ("context",))[:] = reference
            if dimensions:
                file.createVariable("contexts", "f8", dimensions)[:] = contexts[:, 0]
        third = read_table(tmp_path / f"{name}.nc")
        np.testing.assert_array_equal(third.payoffs, payoffs[:1])
        assert np.array_equal(third.contexts, expected) if dimensions else third.contexts is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "there is no column 'reference' among a, b"),
        ("reference\n1\n", "there is no column of payoffs"),
        ("reference,a\n", "a header and one row a context"),
        ("reference,a\n0.5,1\n0.5,high\n", "line 3, column a: 'high' is not a number"),
        ("reference,a\n0.5,1\n0.5\n", "line 3: 1 cells where the header has 2"),
        ("reference,a\n0.5,1\n0.4,2\n", "reference sums to 0.9"),
    ],
)
def test_faults_of_files(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "payoffs.csv"
    file.write_text(text)
    with pytest.raises(BocuError, match=message):
        run(str(file), "--epsilon", "0.3")


def test_faults_of_names_and_options(tmp_path: Path) -> None:
    with pytest.raises(BocuError, match="no such file"):
        run(str(tmp_path / "missing.csv"), "--epsilon", "0.3")
    (tmp_path / "payoffs.txt").write_text("reference,a\n1,1\n")
    with pytest.raises(BocuError, match=r"must end in \.csv or \.nc"):
        run(str(tmp_path / "payoffs.txt"), "--epsilon", "0.3")
    (tmp_path / "payoffs.csv").write_text("reference,a\n1,1\n")
    for arguments, message in (
        (["--set", "l2"], "--set: unknown set 'l2'"),
        ([], "--epsilon: the set 'tv' needs a radius"),
        (["--set", "cvar"], "--alpha: this key is required"),
        (["--epsilon", "1", "--lengthscale", "1"], "--lengthscale: found '1'; the set 'tv' has no such key"),
        (["--set", "mmd", "--epsilon", "1", "--lengthscale=-1"], "--lengthscale: found '-1'"),
        (["--epsilon", "1", "--lengthscale"], "found '--lengthscale'; allowed: --key value"),
        (["--epsilon", "-1"], "--epsilon is -1.0"),
        (["--set", "wass", "--epsilon", "1"], "needs the coordinates of the contexts"),
    ):
        with pytest.raises(BocuError, match=message):
            run(str(tmp_path / "payoffs.csv"), *arguments)
