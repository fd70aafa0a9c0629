"""A real Chromium, driven by selenium."""

import re
import shutil
from pathlib import Path

AXE = Path(__file__).parent / "browser/axe-core/axe.min.js"


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


class Opened:
    """The page as it stands in the browser."""

    def __init__(self, browser, page):
        self.browser, self.page = browser, page

    def look(self, width=1280, scheme="light", motion="no-preference", state="", script=True):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in features.items()]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})
        self.browser.get("about:blank")
        self.browser.get(self.page.as_uri() + state)
        return self

    def __call__(self, script, *arguments):
        return self.browser.execute_script(f"return {script}", *arguments)

    def choose(self, name, value):
        self.browser.execute_script(
            """const control = document.getElementById(`choose-${arguments[0]}`);
            if (control.type === "checkbox") control.click();
            else { control.value = arguments[1]; control.dispatchEvent(new Event("change")); }""",
            name,
            value,
        )

    def until(self, script, *arguments):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, 10).until(lambda _: self(script, *arguments))

    def drawn(self):
        """Bring the panels into view, and return how many are drawn."""
        self.browser.execute_script("document.querySelector('.panels').scrollIntoView({behavior: 'instant'})")
        self.until("document.querySelectorAll('.panel path.curve').length > 0")
        return self

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        chain = ActionChains(self.browser, duration=0)
        for key in keys:
            chain.send_keys(getattr(Keys, key, key))
        chain.perform()

    def state(self):
        return dict(re.findall(r"([a-z]+)=([^&]*)", self("location.hash.slice(2)")))

    def rows(self, problem="wells", metric="so"):
        """Texts of the rows that are shown of a comparison's table, by the algorithm's label."""
        found = self(
            """[...document.getElementById(arguments[0]).tBodies[0].rows].filter((row) => !row.hidden)
            .map((row) => [row.dataset.algorithm, [...row.cells].map((cell) => cell.textContent.trim())])""",
            f"problem-{problem}-regret-any-{metric}",
        )
        return dict(found)

    def axe(self):
        """Return what axe-core finds wrong."""
        if not self("Boolean(window.axe)"):
            self.browser.execute_script(AXE.read_text(encoding="utf-8"))
        return self.browser.execute_async_script(
            """const done = arguments[0];
            axe.run().then(({violations}) =>
                done(violations.map((found) => [found.id, found.nodes.slice(0, 3).map((node) => node.html)])));"""
        )
