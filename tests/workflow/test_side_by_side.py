"""Two Snakemakes in one folder that need the same data set, which is not prepared yet. Real processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from experiments import tiny

pytestmark = [pytest.mark.ci, pytest.mark.workflow]


def plants(name):
    plant = {"name": "plant", "parameters": {"decision_points": [9], "context_points": [5]}}
    return tiny(name=name, data="simulate", problems=[plant], algorithms=["random"], iterations=5, seeds=1)


def start(pipeline, *command):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=pipeline.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_the_second_is_told_what_to_do_and_resume_waits_for_the_first(pipeline, root):
    (pipeline.folder / "data").mkdir()
    (pipeline.folder / "data/sources.yaml").symlink_to(root / "data/sources.yaml")
    first_file = pipeline.configuration(plants("first"), "first.yaml")
    second_file = pipeline.configuration(plants("second"), "second.yaml")
    target = [f"results/{name}/scores/plant/any/random.nc" for name in ("first", "second")]
    snakemake = ["snakemake", "--snakefile", root / "Snakefile", "--cores", "1", "--executor", "warm"]
    first = start(pipeline, *snakemake, "--configfile", first_file, "--", target[0])
    try:
        while first.poll() is None and not list(pipeline.folder.glob("results/.calls/*.json")):
            time.sleep(0.01)
        os.killpg(first.pid, signal.SIGSTOP)  # as long as it takes
        assert first.poll() is None
        refused = pipeline.run(*snakemake, "--configfile", second_file, "--", target[1], check=False)
        assert refused.returncode != 0
        (note,) = [line for line in refused.stderr.splitlines() if line.startswith("note: ")]
        assert note.startswith("note: data/simulate/plant/")
        assert f"process {first.pid} on " in note
        assert "for 'first'" in note
        assert "`bocu resume FILE` waits for it" in note
        _, _, after = refused.stderr.partition("Directory cannot be locked")
        assert "\n`bocu resume FILE` waits for what still runs" in after
        again = [*snakemake[1:], "--configfile", second_file, "--", target[1]]
        second = start(pipeline, "bocu", "resume", second_file, "--every", "0.2", "--", *again)
        assert "waiting for Snakemake of " in (line := second.stdout.readline()), line
        os.killpg(first.pid, signal.SIGCONT)
        text = second.communicate()[0]
        assert second.returncode == 0, text
        assert first.wait() == 0
        assert all((pipeline.folder / file).exists() for file in target)
    finally:
        if first.poll() is None:
            os.killpg(first.pid, signal.SIGKILL)
