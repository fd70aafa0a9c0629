"""Typefaces in PDF files: the letters of the picture, without what shapes text."""

import re
import zlib
from io import BytesIO

from fontTools.subset import Options
from fontTools.ttLib import TTFont

from bocu.core import style
from bocu.pages.figures.base import Drawing, save


def test_letters_are_embedded_without_tables_that_shape_text(tmp_path):
    before = list(Options()._drop_tables_default)
    with style.applied():
        figure, axes = style.single(2.0)
        axes.set_title("Efficient offices, $10^{-3}$")
    drawing = Drawing(figure, "offices", "offices", "offices", "hills", "")
    save(drawing, tmp_path / "a.png", tmp_path / "a.svg", tmp_path / "a.json")
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", (tmp_path / "a.pdf").read_bytes(), re.DOTALL)
    opened = [inflated(stream) for stream in streams]
    fonts = [TTFont(BytesIO(stream)) for stream in opened if stream.startswith((b"\x00\x01\x00\x00", b"true"))]
    assert fonts
    for font in fonts:
        assert not {"GDEF", "GPOS", "GSUB"} & set(font.keys())
        assert "glyf" in font
    assert {"E", "f", "i"} <= set().union(*(font.getGlyphOrder() for font in fonts))
    assert Options()._drop_tables_default == before


def inflated(stream):
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return stream
