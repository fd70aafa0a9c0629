"""What pytest asks of the names of test modules, before it collects any."""

from collections import defaultdict


def test_no_two_modules_have_one_name(root):
    """Two of one name, in folders that are no packages, would be one module to Python; the collection would fail."""
    places = defaultdict(list)
    for file in (root / "tests").rglob("test_*.py"):
        inside = file.parent if (file.parent / "__init__.py").exists() else None
        places[inside, file.name].append(file.relative_to(root).as_posix())
    assert [files for files in places.values() if len(files) > 1] == []
