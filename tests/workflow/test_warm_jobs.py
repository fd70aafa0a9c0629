"""What a job gets from Snakemake otherwise, it gets under `--executor warm`: each beside the local executor."""

import signal
import subprocess
import sys
import threading

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from snakemake_executor_plugin_warm import _heed_sigterm_beside, _look_once_a_timespan

pytestmark = [pytest.mark.ci, pytest.mark.workflow]

RULES = """
rule all:
    input: "report.txt", "shell.txt", "lines.txt", "run.txt"

rule report:
    output: "report.txt", temp("passing.txt")
    log: "logs/report.log"
    benchmark: "benchmarks/report.tsv"
    threads: 2
    resources: mem_mb=77, tmpdir="elsewhere"
    params: number=[1, 2.5, {"a": None}]
    script: "report.py"

rule lines:
    input: "report.txt"
    output: update("lines.txt")
    benchmark: repeat("benchmarks/lines.tsv", 2)
    script: "lines.py"

rule shell:
    output: "shell.txt"
    shell: "ps -o args= $PPID > {output}; echo $OMP_NUM_THREADS >> {output}"

rule run:
    output: "run.txt"
    run:
        open(output[0], "w").write("run")
"""
REPORT = """
import os, sys, tempfile
from pathlib import Path
print("to the terminal")
Path(snakemake.log[0]).write_text("logged")
Path(snakemake.output[1]).write_text("passing")
held = bytearray(60_000_000)
Path(snakemake.output[0]).write_text(repr([
    snakemake.params.number, snakemake.threads, snakemake.resources.mem_mb, snakemake.rule, snakemake.wildcards,
    os.environ["OMP_NUM_THREADS"], tempfile.gettempdir(), __file__, Path(snakemake.scriptdir).name,
]) + "\\n" + " ".join(Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\\0")))
"""
LINES = """
from pathlib import Path
file = Path(snakemake.output[0])
file.write_text((file.read_text() if file.exists() else "") + "line\\n")
"""
PLAIN = ("--workflow-profile", "none", "--quiet", "rules", "--cores", "2")


def folder_of(pipeline, rules, **scripts):
    (pipeline.folder / "Snakefile").write_text(rules)
    (pipeline.folder / "elsewhere").mkdir(exist_ok=True)
    for name, text in scripts.items():
        (pipeline.folder / f"{name}.py").write_text(text)


def benchmark(file):
    header, *rows = file.read_text().splitlines()
    return [dict(zip(header.split("\t"), row.split("\t"), strict=True)) for row in rows]


@pytest.fixture
def pipeline(pipeline):
    pipeline.cold = True  # processes are as they are for a user
    return pipeline


@pytest.fixture(params=["local", "warm"])
def executor(request):
    return request.param


def test_a_job_gets_what_its_rule_says(pipeline, executor):
    folder_of(pipeline, RULES, report=REPORT, lines=LINES)
    (pipeline.folder / "lines.txt").write_text("old\n")
    done = pipeline.run("snakemake", *PLAIN, "--executor", executor)
    said, parent = (pipeline.folder / "report.txt").read_text().splitlines()
    folder = pipeline.folder
    given = [[1, 2.5, {"a": None}], 2, 77, "report", [], "2", *map(str, (folder / "elsewhere", folder / "report.py"))]
    assert said == repr([*given, folder.name])
    assert ("plugin_warm/zygote.py" in parent) == (executor == "warm")
    assert "to the terminal" in done.stdout
    assert (pipeline.folder / "logs/report.log").read_text() == "logged"
    assert not (pipeline.folder / "passing.txt").exists()
    # `update` leaves the file to its job.
    assert (pipeline.folder / "lines.txt").read_text() == "old\nline\nline\n"
    # What is no Python script runs as ever.
    assert (pipeline.folder / "run.txt").read_text() == "run"
    assert "zygote" not in (pipeline.folder / "shell.txt").read_text()
    (row,) = benchmark(pipeline.folder / "benchmarks/report.tsv")
    assert float(row["s"]) > 0
    assert len(benchmark(pipeline.folder / "benchmarks/lines.tsv")) == 2
    if executor == "warm":  # Snakemake's samples miss a job as short as this one
        assert float(row["max_rss"]) > 60
        assert float(row["cpu_time"]) > 0
    assert not list((pipeline.folder / ".snakemake/scripts").iterdir())
    assert "Nothing to be done" in pipeline.run("snakemake", *PLAIN, "--executor", executor).stderr


FAILING = """
rule all:
    input: "good.txt", "hills/any/random/seeds-0-1.txt"

rule good:
    output: "good.txt"
    retries: 3  # with the process that jobs are started by, it may be killed twice
    script: "good.py"

rule run:
    output: "{block}.txt"
    log: "{block}.log"
    benchmark: "{block}.tsv"
    wildcard_constraints: block=".+/.+"
    retries: 1
    script: "fail.py"
"""
GOOD = "from pathlib import Path; Path(snakemake.output[0]).touch()"
FAIL = """
from pathlib import Path
Path(snakemake.output[0]).write_text("half")
with open("attempts", "a") as file:
    file.write("x")
{how}
"""


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("raise ValueError('the reason')", "exit status 1"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
        ("import os; os.kill(os.getppid(), 9)\nimport time; time.sleep(60)", "killed, with the process"),
    ],
)
def test_a_failed_job_is_named_tried_again_and_leaves_nothing(pipeline, how, said):
    folder_of(pipeline, FAILING, good=GOOD, fail=FAIL.format(how=how))
    done = pipeline.run("snakemake", *PLAIN, "--executor", "warm", "--keep-going", check=False)
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: run ")]
    assert len(lines) == 2, done.stderr
    assert all(line.startswith(f"error: run hills/any/random/seeds-0-1: {said}") for line in lines)
    assert "RuleException" not in done.stderr
    assert "runpy" not in done.stderr
    assert (pipeline.folder / "attempts").read_text() == "xx"
    assert not (pipeline.folder / "hills/any/random/seeds-0-1.txt").exists()
    assert (pipeline.folder / "good.txt").exists()
    assert not list((pipeline.folder / ".snakemake/scripts").iterdir())


def test_a_scheduler_looks_by_the_clock_once_a_timespan():
    scheduler = JobScheduler.__new__(JobScheduler)
    scheduler._open_jobs = threading.Semaphore(0)
    _look_once_a_timespan(scheduler)
    for _ in range(2):  # after a look it may set the next
        for _ in range(50):
            scheduler._schedule_reevalutation(0.2)
        assert scheduler._open_jobs.acquire(timeout=60)
        assert not scheduler._open_jobs.acquire(blocking=False)


def test_sigterm_does_not_wait_for_what_the_main_thread_holds():
    scheduler = JobScheduler.__new__(JobScheduler)
    scheduler._lock, scheduler._open_jobs, scheduler._user_kill = threading.Lock(), threading.Semaphore(0), None
    before = signal.signal(signal.SIGTERM, scheduler.exit_gracefully)
    try:
        _heed_sigterm_beside(scheduler)
        with scheduler._lock:
            signal.raise_signal(signal.SIGTERM)  # Snakemake's own handler never returns from here
            assert scheduler._user_kill is None
        assert scheduler._open_jobs.acquire(timeout=60)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert scheduler._user_kill == "graceful"


TOUCH = "with open('order', 'a') as order: order.write(snakemake.rule + ' '); open(snakemake.output[0], 'w')"
PIPED = """
rule all:
    input: "whole.txt", "read.txt"

rule speak:
    output: pipe("spoken")
    shell: "echo heard > {output}"

rule whole:
    output: "whole.txt"
    script: "touch.py"

rule read:
    input: heard="spoken", whole="whole.txt"
    output: "read.txt"
    shell: "cat {input.heard} > {output}"
"""
ASKED = """
import sys
from snakemake.cli import main
from snakemake.jobs import Job
import snakemake_executor_plugin_warm as warm

theirs, ours, agreed = Job.is_pipe_or_service_input, warm.piped_to, []
def both(job):
    found = ours(job)
    agreed.append((job.rule.name, sorted(found), all((path in found) == theirs(job, path) for path in job.input)))
    return found
warm.piped_to = both
try:
    main(sys.argv[1:])
finally:
    print(sorted({str(asked) for asked in agreed}))
"""


def test_what_comes_through_a_pipe_is_told_from_files_as_snakemake_tells_it(tmp_path):
    for name, text in {"Snakefile": PIPED, "touch.py": TOUCH, "asked.py": ASKED}.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "asked.py", "--executor", "warm", "--cores", "2", "--workflow-profile", "none"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "read.txt").read_text() == "heard\n"
    assert done.stdout.splitlines()[-1] == str(["('all', [], True)", "('read', ['spoken'], True)"])
