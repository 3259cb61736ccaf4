"""A person's way through the dashboard, in a real browser: a crawl of the demo web, from form to file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import PATIENCE, WAIT, WEB, Served, crawl_demo, key_of, serving

from clew.fetch.chromium import find_chromium
from clew.lab.serve import serving as served_web
from clew.store import open_reader

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def page() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        shown = browser.new_context(accept_downloads=True, viewport={"width": 1280, "height": 900}).new_page()
        shown.set_default_timeout(WAIT)
        yield shown
        browser.close()


def number(page: Any, selector: str) -> int:
    return int(re.sub(r"\D", "", page.text_content(selector).split(" of ")[0]) or 0)


def wait_until(page: Any, selector: str, more_than: int) -> int:
    """Until the number at a place has grown beyond one."""
    told = "Number(document.querySelector(at).firstChild?.textContent.replace(/[^0-9]/g, ''))"
    page.wait_for_function(f"([at, least]) => {told} > least", arg=[selector, more_than])
    return number(page, selector)


def apply(page: Any) -> None:
    page.click("#steer-apply")
    page.wait_for_selector("#steer-dialog", state="hidden")


def start(page: Any, served: Served, proxy: str, name: str) -> None:
    page.goto(f"{served.base}/?token={served.admitted.token}")
    page.click("nav >> text=New crawl")
    page.fill("#name", name)
    page.fill("#s-seeds", "\n".join(WEB.seeds()))
    page.fill("#s-match", WEB.formula())
    page.wait_for_selector("#readback code")
    assert "turbine" in page.text_content("#readback")
    page.fill("#s-pages", "100000")
    page.click("summary:has-text('How to ask')")
    page.fill("#s-proxy", proxy)
    page.fill("#s-own", "*")
    page.fill("#s-delay", "1")
    page.wait_for_selector("#toml:has-text('delay = 1')")
    page.wait_for_selector("#start:not([disabled])")
    page.click("#start")
    page.wait_for_url("**/crawl/**")


def test_from_the_form_to_the_comparison(page: Any, tmp_path: Path):
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    crawl_demo(tmp_path / "wide", 60, strategy="breadth-first")
    with served_web(WEB, stall=1.0) as proxy, serving(tmp_path) as served:
        try:
            start(page, served, proxy, "wind farms")
            place = tmp_path / "wind farms"
            # it grows while it is looked at
            wait_until(page, "#f-finds", wait_until(page, "#f-finds", 3))
            # paused: nothing more comes
            page.click("#pause")
            page.wait_for_selector("#unpause:visible")
            assert page.text_content("#status") == "paused"
            # steered, seen first what that would move
            page.click("#steer > summary")
            page.fill("#steer-pattern", "*/articles/*")
            page.fill("#steer-pages", "90000")
            page.click("#steer-look")
            page.wait_for_selector("#steer-moves table")
            assert "Nothing was changed" in page.text_content("#steer-moves")
            assert "set-boost" not in str(journal(place))
            apply(page)
            page.wait_for_selector("#steer-boosts code")
            assert page.text_content("#steer-boosts code") == "*/articles/*"
            assert "90,000" in page.text_content("#f-pages")
            pages = number(page, "#f-pages")
            page.click("#unpause")
            page.wait_for_selector("#pause:visible")
            wait_until(page, "#f-pages", pages)
            # a host is banned
            host = page.text_content("#hosts tbody tr td bdi")
            page.click("#hosts tbody tr:first-child button:has-text('Ban')")
            assert host in page.text_content("#steer-wanted")
            apply(page)
            page.wait_for_selector(f"#hosts tr:has-text('{host}') .pill")
            # somebody says that a find is none
            page.click("#finds .do button >> nth=0")
            unwanted = page.text_content("#steer-wanted bdi")
            apply(page)
            # and the changes are marked on the curve
            page.wait_for_selector("#marks li:has-text('no find, as somebody says')")
            told = [entry["command"] for entry in journal(place)]
            assert told == ["set-paused", "set-budget", "set-boost", "set-paused", "ban-host", "feedback"]
            # a factor, and the links it moved; a decision, and why
            page.click("#factor-keys button >> nth=0")
            page.wait_for_selector("#moved .url")
            page.click("#decisions button:has-text('Why') >> nth=0")
            page.wait_for_selector("#detail[open] pre")
            page.keyboard.press("Escape")
            # stopped at a checkpoint
            page.click("#stop")
            page.wait_for_selector("#goon:visible")
            with open_reader(str(place)) as reader:
                finds = {found.url: found.title for found in reader.pages(matched=True, text=False)}
            assert unwanted not in finds
            page.wait_for_function(
                "n => Number(document.querySelector('#f-finds').textContent.replace(/[^0-9]/g, '')) === n",
                arg=len(finds),
            )
            # one find, whole
            page.click("#finds .title >> nth=0")
            page.wait_for_selector("#detail[open] .text mark")
            assert page.text_content("#detail-title") in finds.values()
            page.keyboard.press("Escape")
            # searched for, and kept as a file
            page.fill("#finds-q", "turbine")
            page.click("#finds-form button")
            page.wait_for_function("document.querySelector('#finds-count').textContent !== ''")
            with page.expect_download() as download:
                page.click("#export")
            lines = Path(download.value.path()).read_text("utf-8").splitlines()
            assert {json.loads(line)["url"] for line in lines} == set(finds)
            # compared with another
            page.click("nav >> text=Compare")
            for box in page.query_selector_all("#choose input"):
                box.check()
            page.wait_for_selector("#compared tbody tr >> nth=1")
            assert {row.text_content() for row in page.query_selector_all("#compared td.url bdi")} == {
                "wind farms",
                "wide",
            }
            assert complaints == []
        finally:
            stop(served, "wind farms")


def journal(place: Path) -> list[dict[str, Any]]:
    """The commands that the crawl was given."""
    with open_reader(str(place)) as reader:
        found = [json.loads(entry.entry) for entry in reader.journal()]
    return [entry for entry in found if "command" in entry]


def stop(served: Served, name: str) -> None:
    """End the crawl, whatever became of the test."""
    served.change(f"/crawl/{key_of(name)}/stop")
    for process in served.dashboard.launcher._started.values():
        process.wait(PATIENCE)
