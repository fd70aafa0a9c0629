"""A file that passes 400 lines wants to be two."""

MOST = 400

#: Files that may be longer, each with the reason that keeps it in one piece.
LONGER: dict[str, str] = {}


def test_no_file_of_the_package_passes_the_most(root):
    lengths = {
        file.relative_to(root / "src").as_posix(): len(file.read_text(encoding="utf-8").splitlines())
        for file in (root / "src").rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST and name not in LONGER} == {}
    assert {name for name in LONGER if lengths.get(name, 0) <= MOST} == set(), "these need no leave any more"
