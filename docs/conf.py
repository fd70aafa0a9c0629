"""Sphinx builds the site from the pages of this folder: `make docs`."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "site"))

project = "bocu"
author = "The bocu authors"
release = version = installed_version("bocu")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "generated_pages",
    "layers",
    "mathml",
]
exclude_patterns = ["_build", "site", "paper", "plug-in", "optunahub"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_numpy_docstring = False
autosummary_generate = False

html_theme = "pydata_sphinx_theme"
html_title = "bocu"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "site/scorer.js")
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_math_renderer = "mathml"
