"""What the report's page weighs and how soon it answers, in a real Chromium.

    python tests/benchmarks/page.py [--metrics 6] [--seeds 100] [--rounds 1000] [--keep FOLDER] [--beside SCRIPT]
    python tests/benchmarks/page.py --page results/NAME/report/index.html

A made-up experiment of four problems under some metrics (24 comparisons), six algorithms, or a page that stands. Times
are medians of five: first paint, all of the script's work at the start, and, of each change, from the change to the
next frame, and the work of the page's thread, which nothing else on the machine prolongs. `--beside` loads an empty
page with another script in it, such as a library for plots, for comparison.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import chromium
import synthetic_pages

SETTLED = """
const [changes, done] = arguments;
const start = performance.now();
bocu.set(changes);
const changed = performance.now() - start;
requestAnimationFrame(() => setTimeout(() => done([changed, performance.now() - start])));
"""
INDEX = """
const { panels, algorithms } = bocu.index;
const [first, last] = [panels[0], panels.at(-1)];
return { id: first.id, problem: last.problem, metric: last.metric, family: algorithms.at(-1).family,
         algorithm: algorithms[0].label, other: algorithms.at(-1).label, comparisons: panels.length };
"""
LOADED = """
const done = arguments[0];
const entry = (name) => performance.getEntriesByName(name)[0];
const told = () => entry("first-contentful-paint")
  ? done([entry("first-contentful-paint").startTime, performance.getEntriesByType("navigation")[0].domComplete])
  : setTimeout(told, 20);
told();
"""


def changes_of(known):
    """Return the changes that are timed, given what the page has."""
    return {
        "filter by problem": {"problem": known["problem"]},
        "filter by metric": {"metric": known["metric"]},
        "all again": {"problem": "", "metric": ""},
        "hide an algorithm": {"off": known["algorithm"]},
        "one family": {"off": "", "family": known["family"]},
        "all families": {"family": ""},
        "log axes": {"logx": "1", "logy": "1"},
        "95 % intervals": {"logx": "", "logy": "", "band": "interval"},
        "average regret": {"kind": "average"},
        "enlarge": {"kind": "cumulative", "panel": known["id"]},
        "single seeds": {"seeds": "1"},
        "compare with another": {"against": known["other"]},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metrics", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--beside", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        page = options.page.resolve() if options.page else made_up(options.keep or Path(temporary), options)
        print(f"page: {page.stat().st_size / 1e6:.2f} MB")
        browser = chromium.start(Path(temporary) / "profile", ())
        if browser is None:
            sys.exit("no browser: chromium and chromedriver are not installed")
        try:
            measure(browser, page)
            if options.beside:
                script = options.beside.read_text(encoding="utf-8")
                empty = Path(temporary) / "empty.html"
                empty.write_text(f"<!DOCTYPE html><meta charset=utf-8><p>empty</p><script>{script}</script>")
                size = empty.stat().st_size / 1e6
                print(f"empty page with {options.beside.name}: {size:.2f} MB; {loading(browser, empty)}")
        finally:
            browser.quit()


def made_up(folder, options):
    start = time.process_time()
    metrics = ["so", "ro", *(f"dro-{i}" for i in range(options.metrics - 2))]
    made = synthetic_pages.part(
        folder,
        {label: {} for label in ("one", "two", "three", "four")},
        metrics=metrics,
        seeds=options.seeds,
        rounds=options.rounds,
    )
    print(f"digests: {sum(Path(path).stat().st_size for path in made.cubes) / 1e6:.1f} MB in all, ", end="")
    print(f"{time.process_time() - start:.1f} s of processor time with the cubes they are made from")
    start = time.process_time()
    page = folder / "results/made-up/report/index.html"
    synthetic_pages.build_page([made], page)
    print(f"made in {time.process_time() - start:.1f} s of processor time")
    return page


def loading(browser, page):
    loads = []
    for _ in range(5):
        browser.get("about:blank")
        browser.get(page.as_uri())
        loads.append(browser.execute_async_script(LOADED))
    paint, complete = (statistics.median(column) for column in zip(*loads, strict=True))
    return f"first contentful paint: {paint:.0f} ms; complete, script and all: {complete:.0f} ms"


def worked(browser):
    """Return the seconds that the page's thread has worked, whatever else the machine did."""
    metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def measure(browser, page):
    browser.set_window_size(1280, 900)
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    print(loading(browser, page))
    known = browser.execute_script(INDEX)
    changes = changes_of(known)
    print(f"{known['comparisons']} comparisons")
    found = {name: [] for name in changes}
    for _ in range(5):
        browser.get("about:blank")
        browser.get(page.as_uri())
        browser.execute_script("document.querySelector('.panels').scrollIntoView({behavior: 'instant'})")
        time.sleep(0.3)
        for name, change in changes.items():
            before = worked(browser)
            wall = browser.execute_async_script(SETTLED, change)
            found[name].append([*wall, 1e3 * (worked(browser) - before)])
    for name, times in found.items():
        script, frame, work = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"{name}: {frame:.0f} ms to the next frame, {script:.0f} of script, {work:.0f} of work on its thread")


if __name__ == "__main__":
    main()
