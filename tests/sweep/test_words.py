"""The words of a figure for Snakemake's report: read late, and no markup in them."""

import json

from docutils.core import publish_parts

from bocu.sweep.jobs import Words


def test_words_are_read_when_they_are_asked_for_and_stay_text(tmp_path):
    file = tmp_path / "regret.json"
    words = Words(str(file))
    caption = "Where `final(a) < final(b)` holds: |x| of *two* seeds_ and a\\b."
    file.write_text(json.dumps({"title": "Regret", "caption": caption}))
    assert words.title == "Regret"
    page = publish_parts(words.caption, writer="html")["body"]
    assert page.strip() == f"<p>{caption.replace('<', '&lt;')}</p>"
