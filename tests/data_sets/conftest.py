"""Shared by the tests of the data sets."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from bocu.core.errors import BocuError
from bocu.problems.data.catalogue import Catalogue

Refused = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def refused() -> Refused:
    """Expect a `BocuError` of one line that has all the parts given."""

    @contextlib.contextmanager
    def expect(*parts: str) -> Iterator[None]:
        with pytest.raises(BocuError) as caught:
            yield
        message = str(caught.value)
        assert "\n" not in message
        for part in parts:
            assert part in message, message

    return expect


@pytest.fixture
def real_files(mirror: Path, catalogue: Catalogue) -> Callable[[str, str], list[Path]]:
    """The files of a record in the mirror."""

    def files(dataset: str, record: str) -> list[Path]:
        return [mirror / dataset / file.name for file in catalogue.record(dataset, record).files_of("mirror")]

    return files
