"""Wrong experiment files, two for each place that refuses one: one readable line each, and a non-zero exit."""

import re
import sys

import pydantic
import pytest
from bad_configurations import all_bad

from bocu.commands import main as cli
from bocu.sweep.experiment.registry import registered

BAD = all_bad()
UNREADABLE = re.compile(
    r"functools|pydantic|<class|object at 0x|Traceback|function-(?:after|before|wrap)|\[type=|Literal\[|constrained"
)
LONGEST = 1200


def called(monkeypatch, capsys, *words):
    """Call the command line in this process; return its exit status and what it wrote."""
    monkeypatch.setattr(sys, "argv", ["bocu", *map(str, words)])
    status = 0
    try:
        cli.main()
    except SystemExit as error:
        status = error.code
    return status, *capsys.readouterr()


def assert_one_readable_line(status, error, path, says):
    assert status not in (0, None)
    assert error.startswith(f"error: {path}"), error[:500]
    assert error.count("\n") == 1, error[:500]
    assert error[:-1].isprintable(), error[:500]
    assert len(error) < LONGEST + len(str(path)), error[:500]
    assert not UNREADABLE.search(error.removeprefix(f"error: {path}")), error
    for part in says:
        assert part in error, error


def test_names_are_unique():
    assert len({bad.name for bad in BAD}) == len(BAD) >= 120


@pytest.mark.parametrize("kind", ["problem", "prior", "objective", "algorithm", "metric", "figure"])
def test_every_parameter_refuses_what_none_takes_and_unknown_keys(kind):
    for entry in registered(kind):
        model = entry.load().Parameters
        fields = [*model.model_fields]
        for key in ("no-such", *(fields[:2] if len(fields) > 3 else fields)):
            with pytest.raises(pydantic.ValidationError) as caught:
                model.model_validate({key: {"no-such": 1}})
            assert key in {error["loc"][0] for error in caught.value.errors() if error["loc"]}, (entry.name, key)


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name[:80])
def test_a_wrong_file_gets_one_line(bad, tmp_path, monkeypatch, capsys):
    path = tmp_path / "bad.yaml"
    path.write_bytes(bad.content)
    status, _, error = called(monkeypatch, capsys, "check", path)
    assert_one_readable_line(status, error, path, bad.says)
