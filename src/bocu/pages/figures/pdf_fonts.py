"""Typefaces as PDF files embed them: the letters that a picture has, without the tables that shape text.

Matplotlib has placed every letter already. Cutting tables of ligatures, kerning and marks down to these letters would
take half of the time that a figure takes.
"""

import contextlib
from collections.abc import Iterator

SHAPING = ("GDEF", "GPOS", "GSUB")


@contextlib.contextmanager
def without_shaping() -> Iterator[None]:
    """Embed typefaces without what shapes text; matplotlib leaves the choice to the defaults of fontTools."""
    from fontTools.subset import Options

    dropped = Options._drop_tables_default
    Options._drop_tables_default = [*dropped, *SHAPING]
    try:
        yield
    finally:
        Options._drop_tables_default = dropped
