"""A real browser, one for all pages that are looked at."""

import chromium
import pytest


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    found = chromium.start(tmp_path_factory.mktemp("profile"))
    if found is None:
        pytest.skip("no browser: chromium and chromedriver are not installed")
    yield found
    found.quit()
