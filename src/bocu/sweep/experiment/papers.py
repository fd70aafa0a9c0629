"""The papers behind methods and problems, for the section on citing."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import yaml


@dataclass(frozen=True)
class Paper:
    """A paper; `known` is false where only its key is."""

    key: str
    authors: str = ""
    title: str = ""
    venue: str = ""
    year: int | None = None
    link: str = ""

    @property
    def known(self) -> bool:
        """Whether anything is known of it."""
        return bool(self.title)


@functools.cache
def known_papers() -> dict[str, Paper]:
    """Return all papers that are known, by key."""
    text = resources.files("bocu.sweep.experiment").joinpath("papers.yaml").read_text(encoding="utf-8")
    return {key: Paper(key, **entry) for key, entry in yaml.safe_load(text).items()}


def papers(keys: Sequence[str]) -> list[Paper]:
    """Look papers up; an unknown key stands for itself."""
    return [known_papers().get(key, Paper(key)) for key in keys]
