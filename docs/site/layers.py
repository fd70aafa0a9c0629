"""Fenced blocks in Mermaid's language, of which the site shows the flowcharts of layers as what they are: a stack."""

import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

BOX = re.compile(r'^(\w+)\["<b>(.+?)</b><br>(.+)"\]$')


class Layers(Directive):
    """A flowchart whose boxes follow one another from top to bottom."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        stack = nodes.container(classes=["layers"])
        for line in self.content:
            if found := BOX.match(line.strip()):
                _, name, text = found.groups()
                box = nodes.paragraph("", "", nodes.strong(name, name), nodes.Text(f"  {text}"))
                stack += box
        return [stack]


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directive."""
    app.add_directive("mermaid", Layers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
