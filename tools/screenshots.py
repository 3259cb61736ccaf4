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
from clew.run import CrawlConfig, Session, VirtualClock
from clew.run.steering import Steer, send
from clew.store import SqliteStore
from clew.store.inbox import Inbox

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
#: Panels of a crawl's page, by what each is called there.
PANELS = {
    "curve": "h-curve", "left": "h-left", "factors": "h-factors", "decisions": "h-decisions",
    "focus": "h-focus", "hosts": "h-hosts", "graph": "h-graph", "finds": "h-finds", "problems": "h-problems",
}  # fmt: skip
WEB = DemoWeb(seed=7)


def crawl(directory: Path, pages: int, strategy: str = "intelligent") -> None:
    """Crawl the demo web, or go on with it."""
    config = CrawlConfig(
        seeds=WEB.seeds(), match=WEB.formula(), strategy=strategy, pages=pages, own=("*",), delay=1,
        proxy="http://127.0.0.1:9", ordered=True,
    )  # fmt: skip
    with contextlib.closing(SqliteStore(directory)) as store:
        store.set_meta(config=json.loads(config.to_json()))
        inbox = Inbox(directory)
        clock = VirtualClock(1_800_000_000.0 + pages)
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
        page.wait_for_timeout(300)
        what.screenshot(path=str(images / f"dashboard-{name}.png"))

    page.goto(base)
    page.wait_for_selector("[data-is=formula]:not(:empty)")
    keep("list")
    page.click("#crawls a:has-text('wind farms')")
    page.wait_for_selector("#finds .title")
    page.wait_for_selector("#graph circle")
    page.wait_for_timeout(1000)
    keep("crawl")
    page.click("#factor-keys button >> nth=0")
    page.wait_for_selector("#moved .url")
    page.evaluate("document.activeElement.blur()")
    for name, heading in PANELS.items():
        keep(name, page.locator(f"section[aria-labelledby={heading}]"))
    page.click("#steer > summary")
    page.fill("#steer-pattern", "*/articles/*")
    page.evaluate("window.scrollTo(0, 0)")
    page.click("#steer-look")
    page.wait_for_selector("#steer-moves table")
    keep("steer")
    page.click("#steer-close")
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
        crawl(folder / "breadth first", 450, "breadth-first")
        with sync_playwright() as tool, dashboard(folder) as (base, token):
            browser = tool.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
            size = {"width": 1180, "height": 860}
            page = browser.new_context(viewport=size, color_scheme="light").new_page()
            page.goto(f"{base}/?token={token}")
            pictures(page, base, images)
            dark = browser.new_context(viewport=size, color_scheme="dark").new_page()
            dark.goto(f"{base}/?token={token}")
            dark.click("#crawls a:has-text('wind farms')")
            dark.wait_for_selector("#chart-curve canvas")
            dark.wait_for_timeout(1000)
            dark.screenshot(path=str(images / "dashboard-dark.png"))
            browser.close()
    sizes = {path.name: path.stat().st_size for path in sorted(images.glob("dashboard-*.png"))}
    for name, length in sizes.items():
        print(f"{length:>9,}  {name}")
    print(f"{sum(sizes.values()):>9,}  in all")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
