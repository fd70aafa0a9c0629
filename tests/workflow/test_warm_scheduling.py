"""What the warm executor spares Snakemake: each part of it that is not public, counted where it is really run."""

import os
import pstats
import signal
import subprocess
import sys
import threading
from collections import Counter

import pytest
from snakemake import script as scripts
from snakemake.benchmark import BenchmarkRecord
from snakemake.iocontainers import Params, Wildcards
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.sourcecache import LocalSourceFile, SourceCache

from snakemake_executor_plugin_warm import _heed_sigterm_beside, _Later, _look_at_few, _samples
from snakemake_executor_plugin_warm.spared import read_once

JOBS = 40
RULES = """
rule all:
    input: expand("{number}.txt", number=range(40)), "first.txt", "large.txt"

rule small:
    output: "{number}.txt"
    wildcard_constraints: number="[0-9]+"
    resources: mem_mb=lambda wildcards: 2
    script: "touch.py"

rule large:
    output: "large.txt"
    resources: mem_mb=3
    script: "touch.py"

rule first:
    output: "first.txt"
    priority: 5
    script: "touch.py"
"""
TOUCH = "with open('order', 'a') as order: order.write(snakemake.rule + ' '); open(snakemake.output[0], 'w')"
COUNTED = """
import cProfile, signal, sys, threading
from snakemake.cli import main
from snakemake.scheduling.job_scheduler import JobScheduler

schedule, profile, handler = JobScheduler.schedule, cProfile.Profile(), signal.getsignal(signal.SIGINT)
JobScheduler.schedule = lambda scheduler: profile.runcall(schedule, scheduler)
try:
    main(sys.argv[1:])
except SystemExit as leaving:
    profile.dump_stats("profile")
    assert signal.getsignal(signal.SIGINT) is handler  # ignored, where this runs in the background
    raise
"""


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A folder in which a sweep of trivial jobs was run, and how often its scheduler called each function."""
    folder = tmp_path_factory.mktemp("counted")
    for name, text in {"Snakefile": RULES, "touch.py": TOUCH, "counted.py": COUNTED}.items():
        (folder / name).write_text(text)
    options = ["--executor", "warm", "--scheduler", "greedy", "--scheduler-subsample", "50", "--quiet", "rules"]
    limits = ["--cores", "1", "--resources", "mem_mb=3", "--max-jobs-per-timespan", "1000/1s", "--workflow-profile"]
    command = [sys.executable, "counted.py", *options, *limits, "none"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    calls = Counter()
    for (_, _, name), (_, count, *_) in pstats.Stats(str(folder / "profile")).stats.items():
        calls[name] += count
    return folder, calls


@pytest.mark.ci
@pytest.mark.workflow
def test_a_job_is_chosen_among_few_and_not_among_all(counted):
    folder, calls = counted
    order = (folder / "order").read_text().split()
    assert Counter(order) == {"small": JOBS, "large": 1, "first": 1}
    assert order[0] == "first"  # the job of highest priority of all that are ready, not of those that were drawn
    assert calls["select_jobs"] >= len(order)
    assert calls["job_reward"] < 10 * calls["select_jobs"]  # 50
    assert calls["reset_params_and_resources"] < len(order) + 10 * calls["job_selector"]
    assert calls["needrun_jobs"] < 5  # to list what remains; once for each choice
    assert calls["_signature_from_callable"] < 3 * len(order)  # 6 a job
    assert calls["_schedule_reevalutation"] >= len(order)  # as it is called in this Snakemake
    assert calls["_on_sigint"] == 0
    assert calls["signal"] < 10  # 8 a job
    assert calls["is_pipe_or_service_input"] == 0  # for each input of a job a walk through all that it comes from
    assert calls["piped_to"] <= len(order) + 1


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
from snakemake_executor_plugin_warm import spared

theirs, ours, agreed = Job.is_pipe_or_service_input, spared.piped_to, []
def both(job):
    found = ours(job)
    agreed.append((job.rule.name, sorted(found), all((path in found) == theirs(job, path) for path in job.input)))
    return found
spared.piped_to = both
try:
    main(sys.argv[1:])
finally:
    print(sorted({str(asked) for asked in agreed}))
"""


@pytest.mark.ci
@pytest.mark.workflow
def test_what_comes_through_a_pipe_is_told_from_files_as_snakemake_tells_it(tmp_path):
    for name, text in {"Snakefile": PIPED, "touch.py": TOUCH, "asked.py": ASKED}.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "asked.py", "--executor", "warm", "--cores", "2", "--workflow-profile", "none"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "read.txt").read_text() == "heard\n"
    assert done.stdout.splitlines()[-1] == str(["('all', [], True)", "('read', ['spoken'], True)"])


def test_what_remains_is_listed_when_somebody_looks():
    made = []
    later = _Later(lambda: made.append(1) or [3, 4])
    assert not made
    assert list(later) == [3, 4]
    assert bool(later)
    assert len(made) == 1


def test_a_script_is_read_once_unless_each_job_has_its_own(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.py").write_text(name)
    asked = []

    def get_source(path, sources, *more):
        asked.append(path)
        return scripts.get_source(path, sources, *more)

    read, basedir = read_once(get_source), LocalSourceFile(str(tmp_path))

    def found(path, **wildcards):  # Snakemake makes a cache a job
        given = Wildcards(fromdict=wildcards)
        return read(path, SourceCache(tmp_path / "cache", tmp_path / "runtime"), basedir, given, Params())

    assert [found("a.py")[1], found("b.py")[1], found("a.py")[1]] == ["a", "b", "a"]
    assert asked == ["a.py", "b.py"]
    assert [found("{wildcards.name}.py", name=name)[1] for name in "ab"] == ["a", "b"]
    assert found("a.py") == scripts.get_source(
        "a.py", SourceCache(tmp_path / "cache", tmp_path / "runtime"), basedir, Wildcards(), Params()
    )


def test_a_job_is_sampled_for_its_benchmark_when_it_has_lasted_a_while():
    record = BenchmarkRecord()
    samples = _samples(record, os.getpid())
    pauses = [next(samples)]
    assert not record.data_collected
    for _ in range(6):
        pauses.append(next(samples))
        assert record.max_uss > 0
    assert pauses == [5, 5, 10, 20, 30, 30, 30]
    samples.close()
    assert record.running_time > 0


def test_a_process_that_has_ended_is_not_sampled():
    child = subprocess.Popen(["true"])
    child.wait()
    record = BenchmarkRecord()
    assert list(_samples(record, child.pid)) == [5]
    assert record.running_time > 0
    assert not record.data_collected


class Scheduler:
    """What the clock of the executor touches of Snakemake's scheduler."""

    def __init__(self):
        self._open_jobs = threading.Semaphore(0)


def test_a_scheduler_looks_by_the_clock_once_a_timespan():
    scheduler = Scheduler()
    _look_at_few(scheduler)
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
