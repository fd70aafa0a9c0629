"""Hashes of files, and records of what they held when they were written."""

import json
import os
import subprocess

import pytest

from bocu.core.errors import BrokenFileError
from bocu.core.io.files import atomic_path, read_text, write_json, write_text
from bocu.core.io.hashes import checked, digest_file, edit_of, edited, hash_files, recorded, refuse_edited, sha256
from bocu.core.io.lineage import making, writing


@pytest.fixture
def product(tmp_path):
    path = tmp_path / "product.json"
    with writing([str(path)], "rule score"):
        write_json(path, {"regret": 1.5})
    return path


def test_a_product_is_recorded_with_what_wrote_it_and_the_tool_reads_the_record(product):
    assert edit_of(product) == ""
    assert recorded(product).maker.startswith("rule score, 20")
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", digest_file(product).name],
        cwd=product.parent,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "product.json: OK\n", done.stderr


def test_an_edit_of_one_digit_is_told_by_every_reader(product):
    written = checked(product)
    product.write_text(product.read_text().replace("1.5", "1.6"))
    told = edit_of(product)
    assert told.startswith("its contents were changed: SHA-256 ")
    assert told.endswith(f", with {written}")
    assert "; written by rule score, 20" in told
    for read in (refuse_edited, checked, read_text):
        with pytest.raises(BrokenFileError, match="its contents were changed"):
            read(product)
    with pytest.raises(BrokenFileError, match="its contents were changed"), making([], {}, [str(product)]):
        pytest.fail("a job was begun with it")


def test_a_record_that_was_edited_is_told_too(product):
    for text in ("", "0" * 64 + "  product.json\n", "\xff"):
        digest_file(product).write_text(text)
        assert edit_of(product).startswith("its contents were changed")


def test_only_what_was_touched_is_read_where_time_counts(product):
    known = product.stat()
    product.write_text(product.read_text().replace("1.5", "1.6"))
    assert edited(product) == edit_of(product) != ""
    os.utime(product, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert edited(product) == ""
    assert edit_of(product) != ""


def test_files_of_a_folder_that_a_job_makes_are_recorded_and_others_are_not(tmp_path):
    with writing([str(tmp_path / "tables")], "rule report"):
        write_text(tmp_path / "tables/a.csv", "1\n")
        write_text(tmp_path / "b.csv", "1\n")
    assert recorded(tmp_path / "tables/a.csv").maker.startswith("rule report, ")
    assert recorded(tmp_path / "b.csv") is None


def test_what_is_written_anew_outside_of_jobs_is_recorded_anew(product):
    write_json(product, {"regret": 2.0})
    assert edit_of(product) == ""
    assert not recorded(product).maker.startswith("rule score")


def test_whoever_is_killed_leaves_no_record_that_accuses(product, monkeypatch):
    def killed(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("bocu.core.io.files.record_digest", killed)
    with pytest.raises(KeyboardInterrupt):
        write_json(product, {"regret": 2.0})
    assert json.loads(product.read_text()) == {"regret": 2.0}
    assert recorded(product) is None
    assert edit_of(product) == ""
    with writing([str(product)], "rule run"):
        pass  # the job that is done again finds it whole
    assert recorded(product).maker.startswith("rule run, ")


def test_a_write_that_fails_leaves_file_and_record(product):
    with pytest.raises(ZeroDivisionError), atomic_path(product):
        raise ZeroDivisionError
    assert recorded(product).maker.startswith("rule score")
    assert edit_of(product) == ""


def test_the_hash_is_that_of_the_standard_by_path_alone_or_in_lists(tmp_path):
    paths = [tmp_path / name for name in ("abc", "empty")]
    for path, content in zip(paths, (b"abc", b""), strict=True):
        path.write_bytes(content)
    abc, empty = map(str, paths)
    found = hash_files({"one": abc, "two": [empty]})
    assert found == {abc: sha256(paths[0]), empty: sha256(empty)}
    # FIPS 180-2, appendix B.1
    assert found[abc] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert found[empty].startswith("e3b0c44298fc1c14")
