"""A real Chromium, driven by selenium."""

import shutil


def start(profile, log=("browser", "performance")):
    """Start a browser, or return None where none is installed.

    Args:
        profile: an empty folder of its own.
        log: what is kept of it.
    """
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        return None
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        f"user-data-dir={profile}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", dict.fromkeys(log, "ALL"))
    return webdriver.Chrome(options=options, service=Service(driver))
