"""Calls of Snakemake: locks that killed ones left, by notes that real processes wrote, and their command lines."""

import json
import os
import subprocess
import sys

import pytest
from experiments import tiny

from bocu.core.errors import BocuError
from bocu.core.io.files import write_json
from bocu.sweep.calls import CALLS, LOCKS, calls, forget, read_recorded, refuse_edited_notes, unlock_after_kills
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.verification import verify

BEGIN = """
import os, signal, sys
from bocu.sweep.calls import begin
begin("trial", [], sys.argv[1:])
if os.environ.get("LIVES"):
    print("begun", flush=True)
    sys.stdin.read()
os.kill(os.getpid(), signal.SIGKILL)
"""
NAMES = ("0.input.lock", "0.output.lock")


@pytest.fixture
def locks(elsewhere):
    LOCKS.mkdir(parents=True)
    for name in NAMES:
        (LOCKS / name).write_text("results/trial/a.nc\n")
    return [str(LOCKS / name) for name in NAMES]


def killed(locks):
    assert subprocess.run([sys.executable, "-c", BEGIN, *locks]).returncode == -9


def standing():
    return sorted(file.name for file in LOCKS.iterdir())


def test_locks_of_a_killed_call_go_and_its_note_stays_for_resume(locks):
    killed(locks)
    assert [call.experiment for call in unlock_after_kills()] == ["trial"]
    assert standing() == []
    assert len(calls()) == 1
    assert list(unlock_after_kills()) == []


def test_a_later_lock_of_the_same_name_stays(locks):
    killed(locks)
    os.utime(locks[1], ns=(1, 1))
    list(unlock_after_kills())
    assert standing() == ["0.output.lock"]


def test_locks_of_a_living_call_and_of_no_known_call_stay(locks):
    command = [sys.executable, "-c", BEGIN, *locks[:1]]
    living = subprocess.Popen(command, env={**os.environ, "LIVES": "1"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    living.stdout.readline()
    assert list(unlock_after_kills()) == []
    assert standing() == sorted(NAMES)
    living.communicate()
    list(unlock_after_kills())
    assert standing() == ["0.output.lock"]


@pytest.mark.parametrize(
    "change", [{"host": "elsewhere"}, {"locks": {"../../precious": 1, "../locks/0.input.lock": 1}}]
)
def test_locks_of_another_machine_stay_and_nothing_but_locks_is_removed(locks, tmp_path, change):
    killed(locks)
    for file in (tmp_path / "precious", *map(tmp_path.joinpath, locks)):
        file.write_text("")
        os.utime(file, ns=(1, 1))
    (note,) = CALLS.glob("*.json")
    found = {**json.loads(note.read_text()), "locks": dict.fromkeys(NAMES, 1), **change}
    write_json(note, found)  # recorded again: it is the content that is refused
    assert list(unlock_after_kills()) == []
    assert standing() == sorted(NAMES)
    assert (tmp_path / "precious").exists()


def test_an_edited_note_is_left_aside_and_told(locks):
    killed(locks)
    (note,) = CALLS.glob("*.json")
    refuse_edited_notes()
    plan = make_plan(tiny())
    assert verify(plan).faults == []
    note.write_text(note.read_text().replace('"trial"', '"other"'))
    assert calls() == []
    assert list(unlock_after_kills()) == []
    (fault,) = verify(plan).faults
    assert fault.startswith(f"{note}: its contents were changed: SHA-256 ")
    with pytest.raises(BocuError, match=rf"{note}: its contents were changed: .*; look for jobs of its call"):
        refuse_edited_notes()
    forget(note)
    assert not list(CALLS.iterdir())


def test_a_recorded_command_line_is_taken_apart_and_put_together_again():
    options = ["--cores", "2", "--keep-going", "--set-threads", "run=2", "score=1", "--rerun-triggers", "mtime"]
    words = [*options, "--configfile", "a.yaml", "--config", "seeds=3", "--", "cube"]
    found = read_recorded(words)
    assert (found.options, found.files, found.settings, found.targets) == (options, ["a.yaml"], ["seeds=3"], ["cube"])
    assert found.command() == words
    for refused in (["--set-threads", "run=many"], ["--rerun-triggers", "never"], ["--shadow-prefix", "x"]):
        with pytest.raises(BocuError, match=refused[0]):
            read_recorded(refused)
