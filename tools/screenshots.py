"""Pictures of the dashboard's panels for README and docs, from crawls of the demo web: docs/images/*.png.

    python tools/screenshots.py [FOLDER]

Needs Chromium (apt-get install chromium) and playwright. The crawls are replayed and so always the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clew.fetch.chromium import find_chromium
from clew.fetch.replay import ReplayFetcher
from clew.lab.demo import DemoWeb
from clew.report import write_report
from clew.run import CrawlConfig, Session, VirtualClock
from clew.run.steering import Steer, send
from clew.store import SqliteStore, open_reader
from clew.store.inbox import Inbox

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
#: Panels of a crawl's page, by what each is called there.
PANELS = {
    "curve": "h-curve", "left": "h-left", "factors": "h-factors", "decisions": "h-decisions",
    "focus": "h-focus", "hosts": "h-hosts", "graph": "h-graph", "finds": "h-finds", "problems": "h-problems",
}  # fmt: skip
#: The bar that stays at the top would lie across what is taller than the window; and a folder for the time
#: being is nobody's.
TIDY = """document.querySelector('.top').style.position = 'static';
for (const place of document.querySelectorAll('h1 + p bdi')) place.textContent = '~/crawls';"""
WEB = DemoWeb(seed=7)
SEVERAL = {"wind": WEB.formula(), "stars": "telescope OR nebula", "football": "goalkeeper OR striker"}


def crawl(directory: Path, pages: int, **settings: Any) -> None:
    """Crawl the demo web, or go on with it."""
    wanted: dict[str, Any] = {"match": WEB.formula(), **settings}
    config = CrawlConfig(
        seeds=WEB.seeds(), **wanted, pages=pages, own=("*",), delay=1,
        proxy="http://127.0.0.1:9", ordered=True,
    )  # fmt: skip
    with contextlib.closing(SqliteStore(directory)) as store:
        store.set_meta(config=json.loads(config.to_json()))
        inbox = Inbox(directory)
        clock = VirtualClock(1_700_000_000.0 + pages)
        asyncio.run(Session(config, store, fetcher=ReplayFetcher(WEB), clock=clock, inbox=inbox).run())
        store.set_meta(stopped="interrupted")


@contextlib.contextmanager
def dashboard(folder: Path) -> Iterator[tuple[str, str]]:
    """`clew dash` of a folder; gives its address and the token."""
    process = subprocess.Popen(
        [sys.executable, "-m", "clew.cli", "dash", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        base, _, token = process.stdout.readline().strip().partition("/?token=")
        yield base, token
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def pictures(page: Any, base: str, images: Path) -> None:
    """Every panel, one after another."""

    def keep(name: str, what: Any = page) -> None:
        page.mouse.move(0, 0)
        page.evaluate(TIDY)
        page.wait_for_timeout(300)
        what.screenshot(path=str(images / f"dashboard-{name}.png"))

    page.goto(base)
    page.wait_for_selector("[data-is=formula]:not(:empty)")
    keep("list")
    page.click("#crawls a:has-text('wind farms')")
    there(page)
    keep("crawl")
    page.click("#factor-keys button >> nth=0")
    page.wait_for_selector("#moved .url")
    page.evaluate("document.activeElement.blur()")
    for name, heading in PANELS.items():
        keep(name, page.locator(f"section[aria-labelledby={heading}]"))
    page.click("#finds .title >> nth=0")
    page.wait_for_selector("#detail[open] .text")
    keep("find")
    page.keyboard.press("Escape")
    page.click("#steer > summary")
    page.fill("#steer-pattern", "*/articles/*")
    page.evaluate("window.scrollTo(0, 0)")
    page.click("#steer-look")
    page.wait_for_selector("#steer-moves table")
    keep("steer")
    page.click("#steer-close")
    page.goto(f"{base}/")
    page.click("#crawls a:has-text('three things')")
    there(page)
    keep("interests", page.locator("#panel-interests"))
    page.goto(f"{base}/compare")
    for box in page.query_selector_all("#choose input"):
        box.check()
    page.wait_for_selector("#compared tbody tr >> nth=1")
    keep("compare")
    page.goto(f"{base}/new")
    page.fill("#name", "wind farms in English")
    page.fill("#s-seeds", "\n".join(WEB.seeds()))
    page.fill("#s-match", '("wind farm" OR turbine) AND lang:en')
    page.wait_for_selector("#readback code")
    page.wait_for_timeout(600)
    page.evaluate("document.activeElement.blur()")
    keep("new")
    page.fill("#name", "wind and stars")
    page.click("#add-interest")
    for number, (name, formula) in enumerate(list(SEVERAL.items())[:2], start=1):
        page.fill(f".interest:nth-child({number}) input", name)
        page.fill(f".interest:nth-child({number}) textarea", formula)
    page.wait_for_selector("#readback b >> nth=1")
    page.evaluate("document.activeElement.blur()")
    keep("several", page.locator("#new section >> nth=0"))


def there(page: Any) -> None:
    """Wait until a crawl's page has all its parts."""
    page.wait_for_selector("#finds .title")
    page.wait_for_selector("#graph circle")
    page.wait_for_timeout(1000)


def main(images: Path = IMAGES) -> None:
    """Make the pictures, and say how large they are."""
    from playwright.sync_api import sync_playwright

    images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "crawls"
        crawl(folder / "wind farms", 150)
        host = "blog.istermouth-lnk.example"
        send(folder / "wind farms", Steer.of(boost={"*/articles/*": 1.5}, ban_host=host, pages=450))
        crawl(folder / "wind farms", 450)
        crawl(folder / "breadth first", 450, strategy="breadth-first")
        crawl(folder / "three things", 450, match=SEVERAL)
        with sync_playwright() as tool, dashboard(folder) as (base, token):
            browser = tool.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
            size = {"width": 1180, "height": 860}
            page = browser.new_context(viewport=size, color_scheme="light").new_page()
            page.goto(f"{base}/?token={token}")
            pictures(page, base, images)
            for name, shown in (("dark", size), ("phone", {"width": 390, "height": 860})):
                page = browser.new_context(viewport=shown, color_scheme="dark").new_page()
                page.goto(f"{base}/?token={token}")
                page.click("#crawls a:has-text('three things')")
                there(page)
                page.screenshot(path=str(images / f"dashboard-{name}.png"))
            page = browser.new_context(viewport=size, color_scheme="light").new_page()
            with open_reader(str(folder / "three things")) as reader:
                write_report(reader, Path(place) / "report.html", command="clew crawl -d 'three things'")
            page.goto((Path(place) / "report.html").as_uri())
            page.screenshot(path=str(images / "dashboard-report.png"), full_page=False)
            browser.close()
    sizes = {path.name: path.stat().st_size for path in sorted(images.glob("dashboard-*.png"))}
    for name, length in sizes.items():
        print(f"{length:>9,}  {name}")
    print(f"{sum(sizes.values()):>9,}  in all")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
