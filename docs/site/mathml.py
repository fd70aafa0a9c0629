"""Formulas as MathML: browsers show it by themselves, with no script and no network."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

NAMES = {r"\arg\max": r"\text{arg max}", r"\arg\min": r"\text{arg min}"}
"""What the converter would print letter by letter."""


def converted(formula: str, **options: str) -> str:
    """Return MathML for a formula in LaTeX."""
    for latex, words in NAMES.items():
        formula = formula.replace(latex, words)
    return convert(formula, **options)


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    translator.body.append(converted(node.astext()))
    raise nodes.SkipNode


def visit_display(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    translator.body.append(f'<div class="math">{converted(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
