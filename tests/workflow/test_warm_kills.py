"""kill -9 in the midst of a warm sweep: of a job, of the process that starts them, of Snakemake.

Nothing is lost, nothing is written twice, and the numbers are those of an undisturbed sweep under the local executor.
"""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from experiments import tiny
from workflow.conftest import BIN, ROOT, Pipeline

from bocu.core.io.files import read_netcdf

pytestmark = [pytest.mark.ci, pytest.mark.workflow]

CUBE = "results/tiny/cubes/hills.nc"
CHECKPOINTS = "results/tiny/checkpoints/**/generation-*"
LONG = tiny(
    seeds={"count": 2, "per_job": 1},
    iterations=3_000,
    problems=[{"name": "hills", "parameters": {"grid": 100}}],
    algorithms=["pe-gp-ucb", "random"],
    checkpoint_seconds=0.1,
)


def numbers(path):
    return read_netcdf(path).drop_vars("seconds").drop_attrs()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The results of an undisturbed sweep under the local executor."""
    pipeline = Pipeline(tmp_path_factory.mktemp("undisturbed"))
    pipeline.snakemake("--configfile", pipeline.configuration(LONG), "--", CUBE)
    return pipeline.folder


def processes(folder):
    """Return the parents of the processes that work in a folder, by their numbers."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == folder:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                found[int(entry.name)] = int(parent) if state != "Z" else 0
        except OSError:
            continue
    return {number: parent for number, parent in found.items() if parent}


def wait_until(condition):
    end = time.monotonic() + 300
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


def held_up_at_work(folder):
    """Return the process that starts jobs, and a job that has saved a part of its block, stopped; or nothing."""
    for process, parent in processes(folder).items():
        if heeds_sigterm(process) and b"plugin_warm/zygote.py" in Path(f"/proc/{process}/cmdline").read_bytes():
            os.kill(process, signal.SIGSTOP)
            if any(not run_file(checkpoint).exists() for checkpoint in folder.glob(CHECKPOINTS)):
                return parent, process
            os.kill(process, signal.SIGCONT)
    return None


def run_file(checkpoint):
    """Return the run file of the block that a checkpoint is of."""
    block = checkpoint.parent
    return Path(str(block).replace("/checkpoints/", "/runs/") + ".nc")


def heeds_sigterm(process):
    """Whether it has a handler for it, as a run has while it holds its block."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    (caught,) = re.findall(r"^SigCgt:\s*([0-9a-f]+)", status, re.MULTILINE)
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


# What each of them leaves behind: tests/sweep/test_warm.py; Snakemake killed and called again: test_pipeline.py.
@pytest.mark.parametrize(
    "victim", ["the zygote", *(pytest.param(name, marks=pytest.mark.drill) for name in ("a job", "Snakemake"))]
)
def test_a_killed_process_loses_nothing(pipeline, undisturbed, victim):
    folder = pipeline.folder
    warm = ["--executor", "warm", "--retries", "2", "--configfile", str(pipeline.configuration(LONG)), "--", CUBE]
    command = [str(BIN / "snakemake"), "--snakefile", str(ROOT / "Snakefile"), "--cores", "1", *warm]
    main = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        wait_until(lambda: list(folder.glob("results/tiny/runs/**/seeds-*.nc")))
        zygote, child = wait_until(lambda: held_up_at_work(folder))
        stood = {file: file.stat() for file in folder.glob("results/tiny/runs/**/seeds-*.nc")}
        os.kill({"a job": child, "the zygote": zygote, "Snakemake": main.pid}[victim], signal.SIGKILL)
        text = main.communicate()[0]
        if victim == "Snakemake":
            wait_until(lambda: not processes(folder))  # its jobs end with it
            assert main.returncode == -signal.SIGKILL
            pipeline.snakemake("--unlock", *warm)
            pipeline.snakemake(*warm)
        else:
            assert main.returncode == 0, text
            assert text.count("is started again") == 1
    finally:
        main.kill()
        main.wait()
    for file, before in stood.items():
        assert file.stat().st_ino == before.st_ino  # not made again
    assert numbers(folder / CUBE).identical(numbers(undisturbed / CUBE))
    for file in undisturbed.glob("results/tiny/runs/**/seeds-*.nc"):
        assert numbers(folder / file.relative_to(undisturbed)).identical(numbers(file))
    assert not list(folder.glob(CHECKPOINTS))
    assert not [path for path in folder.glob("results/**/.*.tmp") if path.is_file()]
    logs = "".join(log.read_text() for log in folder.glob("results/tiny/logs/runs/**/*.log"))
    assert logs.count("going on from a checkpoint") == 1
    assert logs.count("attempt on") == 4 + 1  # four blocks
    assert not processes(folder)
