"""Raw files, from a real HTTP server on this machine or a folder; they are looked at before anything is prepared."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bocu.core.errors import BrokenFileError
from bocu.core.io.hashes import digest_file
from bocu.problems.data.fetch import BASE_URL_VARIABLE, copy_from_mirror, download
from bocu.problems.data.intel import prepare_matrices
from bocu.problems.data.prepare import check, prepare

BODY = b"date time epoch\n" * 5000
SHA256 = hashlib.sha256(BODY).hexdigest()
UNKNOWN = {"url": None, "sha256": None, "bytes": None}


class Server(ThreadingHTTPServer):
    """Answers with `answers` in turn, the last one for ever; an answer is (status, body, announced length)."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = [(200, BODY, len(BODY))]
        self.asked = []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.asked.append(self.path)
        status, body, length = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setenv(BASE_URL_VARIABLE, f"http://127.0.0.1:{running.server_port}/")
        yield running
        running.shutdown()
        thread.join()


def get(path, **known):
    download("intel", path.name, UNKNOWN | known, path, wait=0.01)


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_download_lands_and_its_hash_is_recorded(server, tmp_path):
    get(tmp_path / "data.txt.gz")
    assert (tmp_path / "data.txt.gz").read_bytes() == BODY
    assert left(tmp_path) == ["data.txt.gz", "data.txt.gz.sha256"]
    assert (tmp_path / "data.txt.gz.sha256").read_text().startswith(SHA256)
    assert server.asked == ["/intel/data.txt.gz"]


def test_a_known_hash_outweighs_what_was_recorded(server, tmp_path):
    (tmp_path / "data.txt.gz.sha256").write_text(f"{'0' * 64}  data.txt.gz\n")
    get(tmp_path / "data.txt.gz", sha256=SHA256, bytes=len(BODY))
    assert left(tmp_path) == ["data.txt.gz", "data.txt.gz.sha256"]
    check([tmp_path / "data.txt.gz"])


def test_published_address_is_used_unless_another_is_set(server, tmp_path, monkeypatch):
    monkeypatch.delenv(BASE_URL_VARIABLE)
    get(tmp_path / "a", url=f"http://127.0.0.1:{server.server_port}/else%3Dwhere")
    assert server.asked == ["/else%3Dwhere"]


def test_wrong_hash_keeps_nothing_but_an_older_file_and_says_both(server, tmp_path, refused):
    for content in (None, b"older"):
        if content is not None:
            (tmp_path / "data.txt.gz").write_bytes(content)
        with refused("data.txt.gz", SHA256, "0" * 64, "nothing kept"):
            get(tmp_path / "data.txt.gz", sha256="0" * 64)
        assert [path.read_bytes() for path in tmp_path.iterdir()] == ([] if content is None else [content])


def test_truncated_body_keeps_nothing_and_is_fetched_again(server, tmp_path, refused):
    server.answers = [(200, BODY[:1000], len(BODY))]
    with refused("data.txt.gz", "could not be downloaded", "nothing kept"):
        get(tmp_path / "data.txt.gz")
    assert left(tmp_path) == []
    assert len(server.asked) == 3
    server.answers = [(200, BODY[:1000], len(BODY)), (200, BODY, len(BODY))]
    get(tmp_path / "data.txt.gz", sha256=SHA256)
    assert (tmp_path / "data.txt.gz").read_bytes() == BODY


def test_server_error_is_tried_again_and_then_told(server, tmp_path, refused):
    server.answers = [(503, b"", 0), (503, b"", 0), (200, BODY, len(BODY))]
    get(tmp_path / "data.txt.gz")
    assert len(server.asked) == 3
    server.answers, server.asked = [(503, b"", 0)], []
    with refused("503", "nothing kept"):
        get(tmp_path / "other")
    assert len(server.asked) == 3


def test_changed_content_is_refused_where_the_first_hash_was_recorded(server, tmp_path, refused):
    path = tmp_path / "data.txt.gz"
    get(path)
    path.unlink()
    changed = BODY + b"more"
    server.answers = [(200, changed, len(changed))]
    with refused(SHA256, hashlib.sha256(changed).hexdigest(), f"{path}.sha256", "nothing kept"):
        get(path)
    assert left(tmp_path) == ["data.txt.gz.sha256"]
    (tmp_path / "data.txt.gz.sha256").unlink()
    get(path)
    assert path.read_bytes() == changed


def test_no_address_is_told(tmp_path, monkeypatch, refused):
    monkeypatch.delenv(BASE_URL_VARIABLE, raising=False)
    with refused("no published address", "another source"):
        get(tmp_path / "data.txt.gz")


def test_mirror_copies_and_checks(tmp_path, refused):
    (tmp_path / "m" / "intel").mkdir(parents=True)
    (tmp_path / "m" / "intel" / "a").write_bytes(BODY)
    target = tmp_path / "raw" / "a"
    copy_from_mirror(tmp_path / "m", "intel", "a", UNKNOWN | {"sha256": SHA256}, target)
    assert target.read_bytes() == BODY
    target.unlink()
    with refused(str(tmp_path / "m" / "intel" / "a"), SHA256, "0" * 64, "nothing kept"):
        copy_from_mirror(tmp_path / "m", "intel", "a", UNKNOWN | {"sha256": "0" * 64}, target)
    with refused("data.mirror", str(tmp_path / "m" / "intel" / "b"), "no such file"):
        copy_from_mirror(tmp_path / "m", "intel", "b", UNKNOWN, target)
    assert left(tmp_path / "raw") == ["a.sha256"]


def test_a_mirrored_file_without_a_known_hash_is_compared_with_the_first_copy(tmp_path, refused):
    own, target = tmp_path / "m" / "intel" / "a", tmp_path / "raw" / "a"
    own.parent.mkdir(parents=True)
    own.write_bytes(BODY)
    copy_from_mirror(tmp_path / "m", "intel", "a", UNKNOWN, target)
    copy_from_mirror(tmp_path / "m", "intel", "a", UNKNOWN, target)
    own.write_bytes(BODY + b"more")
    with refused(str(own), SHA256, f"{target}.sha256", "nothing kept"):
        copy_from_mirror(tmp_path / "m", "intel", "a", UNKNOWN, target)
    assert target.read_bytes() == BODY


def test_a_raw_file_is_recorded_when_first_used_and_compared_from_then_on(tmp_path, refused):
    raw = tmp_path / "a"
    raw.write_bytes(BODY)
    check([raw])
    check([raw])
    raw.write_bytes(BODY[:-1])
    with refused(f"{raw}: its contents were changed: SHA-256", SHA256):
        check([raw])
    (tmp_path / "a.sha256").write_text("")
    with refused(f"{raw}: its contents were changed: SHA-256"):
        check([raw])


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


def test_the_function_that_the_catalogue_names_makes_the_file_at_the_interval_of_a_record(raw, tmp_path):
    for given, minutes in (((), None), ((10,), 10)):
        prepare(SEEN, [raw], tmp_path / "a.nc", {"title": "t"}, *given)
        assert (tmp_path / "a.nc").read_text() == "t"
        assert seen.pop() == ([raw], minutes)
    assert digest_file(raw).is_file()


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
