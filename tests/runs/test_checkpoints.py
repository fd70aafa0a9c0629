import logging
import logging.handlers
import math
import queue
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bocu.core.errors import BocuError
from bocu.sweep.runs.checkpoints import CheckpointStore, hold

leaves = st.one_of(
    st.integers(-(2**130), 2**130),
    st.floats(),
    st.text(max_size=5),
    st.booleans(),
    st.none(),
    hnp.arrays(st.sampled_from([np.float64, np.int16, np.int8, np.bool_]), hnp.array_shapes(min_dims=0, max_side=4)),
)
contents = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_size=4,
)


def same(a, b):
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    return type(a) is type(b) and a == b and (not isinstance(a, float) or math.copysign(1, a) == math.copysign(1, b))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=contents)
def test_whatever_is_saved_comes_back_bit_for_bit(tmp_path, content):
    CheckpointStore(tmp_path, "id").save(content)
    assert same(content, CheckpointStore(tmp_path, "id").load())


def test_the_newest_of_two_generations_is_loaded(tmp_path):
    store = CheckpointStore(tmp_path, "id")
    for number in range(5):
        store.save({"number": number})
    assert CheckpointStore(tmp_path, "id").load() == {"number": 4}
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty"])
def test_a_damaged_checkpoint_falls_back_and_says_so(tmp_path, caplog, damage):
    store = CheckpointStore(tmp_path, "id")
    store.save({"number": 1})
    store.save({"number": 2})
    newest = tmp_path / "generation-0"
    raw = bytearray(newest.read_bytes())
    if damage == "truncate":
        raw = raw[:-7]
    elif damage == "flip":
        raw[len(raw) // 2] ^= 1
    else:
        raw = bytearray()
    newest.write_bytes(bytes(raw))
    with caplog.at_level(logging.WARNING):
        assert CheckpointStore(tmp_path, "id").load() == {"number": 1}
    assert f"{newest}: damaged checkpoint" in caplog.text


def test_saving_goes_on_after_loading_without_losing_the_newest(tmp_path):
    CheckpointStore(tmp_path, "id").save({"number": 1})
    again = CheckpointStore(tmp_path, "id")
    again.load()
    again.save({"number": 2})
    assert CheckpointStore(tmp_path, "id").load() == {"number": 2}
    (tmp_path / "generation-0").unlink()
    assert CheckpointStore(tmp_path, "id").load() == {"number": 1}


def test_a_checkpoint_of_another_identity_is_ignored(tmp_path):
    CheckpointStore(tmp_path, "one").save({"number": 1})
    assert CheckpointStore(tmp_path, "another").load() is None


HOLDER = """
import sys, time
from pathlib import Path
from bocu.sweep.runs.checkpoints import CheckpointStore, hold
with hold(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
    if "clear" in sys.argv:
        CheckpointStore(sys.argv[1], "id").clear()
"""


def holder(folder, *arguments):
    """A process that holds a block until it reads a line or is killed."""
    command = [sys.executable, "-c", HOLDER, str(folder), *arguments]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "held\n"
    return child


@pytest.fixture
def waiter(tmp_path):
    """Start a thread that waits for the block; give it, what it has logged, and when it got the block."""
    said, held = queue.Queue(), queue.Queue()
    handler = logging.handlers.QueueHandler(said)
    logging.getLogger("bocu.sweep.runs.checkpoints").addHandler(handler)

    def wait():
        with hold(tmp_path) as waited:
            held.put(waited)

    yield threading.Thread(target=wait, daemon=True), said, held
    logging.getLogger("bocu.sweep.runs.checkpoints").removeHandler(handler)


@pytest.mark.parametrize("end", ["release", "clear", "kill"])
def test_a_block_that_another_process_holds_is_waited_for_however_that_ends(tmp_path, waiter, end):
    child = holder(tmp_path, end)
    thread, said, held = waiter
    thread.start()
    assert "another process runs this block; waiting for it" in said.get(timeout=60).getMessage()
    assert held.empty()
    if end == "kill":
        child.kill()
    else:
        child.communicate("now\n")
    assert held.get(timeout=60) > 0.0
    thread.join(60)
    child.wait(60)
    assert (tmp_path / "lock").exists()


def test_a_process_may_hold_its_block_twice_and_nobody_else_meanwhile(tmp_path, waiter):
    thread, said, held = waiter
    with hold(tmp_path) as waited:
        with hold(tmp_path) as again:
            assert waited == again == 0.0
        thread.start()
        said.get(timeout=60)
        assert held.empty()
    held.get(timeout=60)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    block = tmp_path / "file/block"
    with pytest.raises(BocuError, match=r"file/block: could not be locked: Not a directory"), hold(block):
        pass
