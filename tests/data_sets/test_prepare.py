"""Raw files are looked at before anything is prepared from them."""

from pathlib import Path

import pytest

from bocu.core.errors import BrokenFileError
from bocu.core.io.hashes import digest_file
from bocu.problems.data.intel import prepare_matrices
from bocu.problems.data.prepare import prepare

SEEN = f"{__name__}:note"
seen: list[tuple[object, ...]] = []


def note(raw, output, origin, minutes=None):
    seen.append((raw, minutes))
    Path(output).write_text(origin["title"])


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1\n")
    return path


def test_the_function_that_the_catalogue_names_makes_the_file(raw, tmp_path):
    prepare(SEEN, [raw], tmp_path / "a.nc", {"title": "t"})
    assert (tmp_path / "a.nc").read_text() == "t"
    assert seen.pop() == ([raw], None)
    assert digest_file(raw).is_file()


def test_the_interval_goes_to_a_record_that_has_one(raw, tmp_path):
    prepare(SEEN, [raw], tmp_path / "a.nc", {"title": "t"}, 10)
    assert seen.pop() == ([raw], 10)


def test_a_raw_file_that_changed_since_it_came_is_prepared_by_nobody(raw, tmp_path):
    prepare(SEEN, [raw], tmp_path / "a.nc", {"title": "t"})
    seen.clear()
    raw.write_text("2\n")
    with pytest.raises(BrokenFileError, match="its contents were changed"):
        prepare(SEEN, [raw], tmp_path / "b.nc", {"title": "t"})
    assert not seen
    assert not (tmp_path / "b.nc").exists()


def test_the_matrices_have_one_interval(tmp_path, refused):
    with refused("interval 10 min; allowed: 30"):
        prepare_matrices([], tmp_path / "m.nc", {}, 10)
