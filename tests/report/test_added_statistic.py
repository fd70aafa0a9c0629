"""A statistic added as CONTRIBUTING says: one file is edited, and digest, CSV file, table and page have it."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import synthetic_cubes

from bocu.core.io.files import read_netcdf

PATCH = re.compile(r"^```diff\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
MAKE = """
import sys
from bocu.pages.report.build import Part, build_page
from bocu.sweep.evaluation.cubes import build_summary
from bocu.sweep.evaluation.digests import build_digest
build_digest("cube.nc", "digest.nc")
build_summary(["digest.nc"], "summary.nc")
build_page([Part({"name": "x"}, ["digest.nc"], "summary.nc", [])], "report/index.html")
"""


def applied(text, patch):
    old, new = ("".join(f"{line[1:]}\n" for line in patch.splitlines() if line[0] != sign) for sign in "+-")
    assert text.count(old) == 1, patch
    return text.replace(old, new)


@pytest.fixture(scope="module")
def made(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("added")
    shutil.copytree(root / "src/bocu", folder / "src/bocu", ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "src/bocu/sweep/evaluation/run_statistics.py"
    text = file.read_text()
    patches = PATCH.findall((root / "CONTRIBUTING.md").read_text())
    assert len(patches) == 2
    for patch in patches:
        text = applied(text, patch)
    file.write_text(text)
    synthetic_cubes.write(synthetic_cubes.cube(), folder / "cube.nc")
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    subprocess.run([sys.executable, "-c", MAKE], cwd=folder, env=environment, check=True)
    return folder


def last(algorithm, metric):
    of = synthetic_cubes.constant_regret
    return [of(algorithm, metric, seed, synthetic_cubes.ITERATIONS) for seed in range(synthetic_cubes.SEEDS)]


def test_the_digest_holds_it_by_seed(made):
    digest = read_netcdf(made / "digest.nc")["last_regret"]
    assert digest.dims == ("objective", "algorithm", "metric", "seed")
    assert digest.sel(objective="any", algorithm="mle", metric="ro").values == pytest.approx(last("mle", "ro"))
    assert (digest.attrs["long_name"], digest.attrs["units"]) == ("regret of the last round", "degree_Celsius")


def test_its_file_and_its_column_have_the_mean_with_its_interval(made, taken_apart):
    rows = (made / "report/tables/last-round.csv").read_text().splitlines()
    assert rows[0] == "problem,objective,metric,algorithm,seeds,regret,low,high,data"
    values = dict(zip(rows[0].split(","), next(row for row in rows if ",so,mle," in row).split(","), strict=True))
    mean = sum(last("mle", "so")) / synthetic_cubes.SEEDS
    assert float(values["regret"]) == pytest.approx(mean)
    assert float(values["low"]) < mean < float(values["high"])
    page = taken_apart(made / "report/index.html")
    heading, *shown = page.tables["problem-wells-regret-any-so"]
    assert heading[-2:] == ["Last round", "Seeds"]
    (row,) = [row for row in shown if row[0] == "MLE"]
    assert row[-2] == f"{mean:.2f} [{float(values['low']):.2f}, {float(values['high']):.2f}]"
    assert "vanishes. Last round: its regret." in page.words
