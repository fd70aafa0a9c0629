"""The documentation as a site: every method has its page with what a person wrote, every page its place."""

import re
import subprocess
import sys

import pytest

from bocu.sweep.experiment.registry import registered

SECTIONS = ("start", "guides", "results", "reference", "developers/index")


@pytest.mark.parametrize(
    ("kind", "notes"), [("algorithm", "algorithms"), ("objective", "objectives"), ("set", "sets")]
)  # fmt: skip
def test_every_method_has_its_note_and_no_note_is_left_over(root, kind, notes):
    text = (root / f"docs/site/notes/{notes}.md").read_text()
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert sorted(headings) == sorted(entry.name for entry in registered(kind))


def test_every_page_stands_in_one_section(root):
    listed = []
    for section in SECTIONS:
        (tree,) = re.findall(
            r"```\{toctree\}\n:maxdepth: 1\n\n(.*?)```", (root / f"docs/{section}.md").read_text(), re.S
        )
        folder = (root / "docs" / section).parent
        listed += [
            str((folder / page).relative_to(root / "docs")) if page[0] != "/" else page[1:] for page in tree.split()
        ]
    places = ("*.md", "*.ipynb", "developers/*.md")
    pages = {
        str(path.relative_to(root / "docs").with_suffix("")) for place in places for path in (root / "docs").glob(place)
    }
    pages -= {"index", *SECTIONS}
    assert sorted(page for page in listed if not page.startswith("generated/")) == sorted(pages)


def test_the_readme_is_short_and_opens_with_who_wins(root):
    text = (root / "README.md").read_text()
    words = re.sub(r"```.*?```", "", text, flags=re.DOTALL).split()
    assert len(words) < 600
    assert text.index("docs/published/who-wins.svg") < text.index("make report") < text.index("docs/report.png")
    assert all((root / name).is_file() for name in re.findall(r'(?:src|srcset)="([^"]+)"', text))


def test_what_irrigation_earns_is_what_its_picture_shows(root):
    told = subprocess.run(
        [sys.executable, "-c", "import make_irrigation_picture; print(make_irrigation_picture.earned().sentence)"],
        cwd=root / "docs", capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    assert told in " ".join((root / "docs/irrigation.md").read_text().split())
    readme = " ".join((root / "README.md").read_text().split())
    first, *others = re.findall(r"([−+]\d+) (\([^)]*\))", told)
    assert f"{' '.join(first)} pounds a hectare in the climate observed" in readme
    assert "{}, {} and {} in those modelled for 1995, 2040 and 2080 on".format(*map(" ".join, others)) in readme


@pytest.mark.drill
def test_the_site_is_built_without_a_warning_and_asks_no_network(root, tmp_path):
    pytest.importorskip("sphinx")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "docs", str(tmp_path)],
        cwd=root, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    for page in tmp_path.rglob("*.html"):
        for address in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"', page.read_text()):
            assert not address.startswith(("http:", "https:", "//")), (page, address)
