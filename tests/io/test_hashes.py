"""`bocu.core.io.hashes`: the one hash of a file."""

import pytest

from bocu.core.io.hashes import hash_files, sha256

OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, appendix B.1


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    return path


def test_the_hash_is_that_of_the_standard(file):
    assert sha256(file) == sha256(str(file)) == OF_ABC


def test_files_are_hashed_by_path_alone_or_in_lists(file):
    other = file.with_name("empty")
    other.write_bytes(b"")
    found = hash_files({"one": str(file), "two": [str(other)]})
    assert found == {str(file): OF_ABC, str(other): sha256(other)}
    assert found[str(other)].startswith("e3b0c44298fc1c14")
