"""What Snakemake's own report says of a figure: the words that were written with it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

_MARKUP = re.compile(r"([\\*_`|])")


@dataclass(frozen=True)
class Words:
    """The words of a figure, read from its description only when they are asked for: planning opens no file.

    Attributes:
        description: the JSON file that is written with the figure.
    """

    description: str

    @property
    def title(self) -> str:
        """The heading, plain."""
        return self._read("title")

    @property
    def caption(self) -> str:
        """What is drawn, as reStructuredText that is all text."""
        return _MARKUP.sub(r"\\\1", self._read("caption"))

    def _read(self, key: str) -> str:
        return str(json.loads(Path(self.description).read_text(encoding="utf-8"))[key])
