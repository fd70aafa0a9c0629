import logging
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bocu.checkpoints import CheckpointStore
from bocu.errors import BocuError

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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_one_process_at_a_time(tmp_path):
    with (
        CheckpointStore(tmp_path, "id").lock(),
        pytest.raises(BocuError, match="another process is running this block"),
        CheckpointStore(tmp_path, "id").lock(),
    ):
        pass
