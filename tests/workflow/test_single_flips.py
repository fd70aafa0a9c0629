"""Single bits flipped in all kinds of files that an experiment leaves: `bocu verify` names each."""

import os
import random
import shutil
from pathlib import Path

import pytest
from experiments import tiny
from workflow.conftest import Pipeline

from bocu.core.io.hashes import SUFFIX, digest_file
from bocu.sweep.opening import open_plan
from bocu.sweep.verification import verify

pytestmark = [pytest.mark.ci, pytest.mark.workflow]
FLIPS = 2  # of each kind of file


@pytest.fixture(scope="module")
def finished(tmp_path_factory, root):
    pipeline = Pipeline(tmp_path_factory.mktemp("flips"))
    (pipeline.folder / "data").mkdir()
    shutil.copy(root / "data/sources.yaml", pipeline.folder / "data")
    experiment = tiny(problems=["plant", "hills"], data="simulate", algorithms=["random"], iterations=3)
    pipeline.snakemake("--configfile", pipeline.configuration(experiment))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(pipeline.folder)
        yield open_plan("experiment.yaml")


def kind(file: Path) -> str:
    """Where a file lies, and its format."""
    parts = file.parts
    stage = parts[2] if parts[0] == "results" else f"data {'raw' if 'raw' in parts else 'prepared'}"
    return stage if Path(stage).suffix else f"{stage} {file.suffix}"


def flipped(content: bytes, place: int) -> bytes:
    return content[: place // 8] + bytes([content[place // 8] ^ 1 << place % 8]) + content[place // 8 + 1 :]


def products() -> dict[str, list[Path]]:
    """Return every file that an experiment leaves, by kind, but for logs and times of jobs, which are no results."""
    found: dict[str, list[Path]] = {}
    for folder in ("results/tiny", "data/simulate"):
        for file in sorted(Path(folder).rglob("*.*")):
            aside = {"logs", "log", "benchmarks", "benchmark", "checkpoints"}.intersection(file.parts)
            if file.is_file() and not aside and file.suffix != SUFFIX and not file.name.startswith("."):
                found.setdefault(kind(file), []).append(file)
    return found


def test_every_flip_is_noticed_and_named(finished):
    assert verify(finished).faults == []
    by_kind, rng = products(), random.Random(29)
    missed = []
    for kind_of in FLIPS * sorted(by_kind):
        file = rng.choice(by_kind[kind_of])
        content, times = file.read_bytes(), file.stat()
        place = rng.randrange(8 * len(content))
        file.write_bytes(flipped(content, place))
        # The hash is compared, whatever the clock says.
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + rng.choice((-1, 1)) * 10**9))
        told = verify(finished).faults
        if not any(line.startswith(f"{file}: ") for line in told):
            missed.append((file, place))
        file.write_bytes(content)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert missed == []
    assert verify(finished).faults == []


def test_a_record_of_another_sha256_is_named(finished):
    for files in products().values():
        record = digest_file(files[0])
        written = record.read_text()
        # By anybody: it may say anything.
        record.write_text(f"{(int(written[0], 16) ^ 1):x}{written[1:]}".replace("# ", "# \x1b[2J" + 10**4 * "x"))
        (told,) = verify(finished).faults
        assert told.startswith(f"{files[0]}: ")
        assert told.isprintable()
        assert len(told) < 2000
        record.write_text(written)
