"""The dashboard in a real browser: hostile text; what axe-core finds."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served import WAIT, Served, key_of, serving

from clew.fetch.chromium import find_chromium
from clew.messages import (
    Close,
    Decision,
    Journal,
    Record,
    SaveCandidates,
    SaveHost,
    SavePage,
    State,
    Via,
)
from clew.page import Page
from clew.predicate.verdict import Verdict
from clew.store import SqliteStore

pytestmark = [pytest.mark.browser, pytest.mark.slow]
AXE = Path(__file__).parents[1] / "data" / "axe" / "axe.min.js"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        found = tool.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        yield found
        found.close()


def opened(browser: Any, served: Served, path: str = "/", **options: Any) -> Any:
    """A page with the token; what its console says against it is kept in `page.complaints`."""
    page = browser.new_context(**{"accept_downloads": True, "bypass_csp": False} | options).new_page()
    page.set_default_timeout(WAIT)
    page.complaints = []
    page.on("console", lambda said: page.complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(f"{served.base}{path}?token={served.admitted.token}")
    return page


#: What is there once a page has drawn all it has: of a crawl's, the last section and what it asks for.
DRAWN = {
    "/": ("[data-is=formula]:not(:empty)",),
    "/new": ("[aria-invalid]",),
    "/compare": (".uplot",),
    "/crawl": ("#steer-strategy option", "#finds .title", "#graph circle"),
}


def drawn(page: Any, path: str) -> None:
    """Wait until a page shows all it will."""
    for selector in DRAWN[path]:
        page.wait_for_selector(selector, state="attached")


def unfold(page: Any) -> None:
    """Open all that is folded, and wait for the tables that are made when they are seen."""
    for details in page.query_selector_all("details"):
        details.evaluate("node => { node.open = true; }")
    page.wait_for_function(
        "[...document.querySelectorAll('details[data-for]')].every((one) => one.querySelector('tr'))"
    )


SHAPE = """() => { const seen = {}; for (const node of document.querySelectorAll('*')) {
  const names = [node.tagName, ...[...node.attributes].map((a) => a.name).sort()].join(' ');
  seen[names] = (seen[names] ?? 0) + 1; } return seen; }"""


def decided(seq: int, kind: str, result: str, **more: Any) -> Record:
    told: dict[str, Any] = {
        "seq": seq, "at": 0.0, "kind": kind, "url": "", "candidate": -1, "attempt": 0, "score": 0.5,
        "terms": (), "queue": 0, "status": 200, "result": result, "verdict": 0.9, "reasons": (), "new": 0,
        "known": 0, "dropped": (),
    }  # fmt: skip
    return Record(Decision(**(told | more)))


def made(place: Path, texts: list[str], urls: list[str], phrase: str) -> None:
    """A crawl of two interests in which every page is a find for one of them and for one more that nobody
    named, with these titles, anchors, reasons and addresses; with these names of contributions and commands,
    failures, and as many links that wait."""
    count = len(texts)
    formula = f'wind="{phrase} wind"\nsun="{phrase} sun"'
    with SqliteStore(place) as store:
        store.set_meta(
            config={"seeds": ["http://a.example/"], "match": formula, "strategy": "best-first"},
            stopped="interrupted",
        )
        for first, source, via in ((0, -1, Via.SEED), (count, 0, Via.LINK)):
            there = [url if first == 0 else url.replace("a.example/", "a.example/w") for url in urls]
            store.save(
                [
                    SaveCandidates(
                        first, np.arange(first, first + count, dtype=np.uint64), tuple(there),
                        ("a.example",) * count, (0,) * count, source, tuple(texts), via, np.zeros((count, 2)),
                    )
                ]
            )  # fmt: skip
        commands = [
            {
                "command": "set-boost",
                "pattern": texts[1],
                "factor": 2.0,
                "columns": ["wind.estimate", texts[0]],
            },
            {"command": "set-focus", "formula": formula, "rescore": False, "instead_of": formula},
            {"command": "ban-host", "host": texts[2]},
            {"command": "feedback", "url": texts[3], "satisfied": False},
        ]
        for number, entry in enumerate(commands):
            text = json.dumps(entry)
            store.save([decided(number + 1, "command", entry["command"], reasons=(text,))])
            if entry["command"] == "set-boost":  # what the journal has, a preview repeats
                store.save([Journal(0, text)])
        for number, title in enumerate(texts):
            text = f"wind {title}"
            named = {"wind": Verdict(0.9, True), "".join(title.split()) or "x": Verdict(0.9, True)}
            left_out = ((f"{number} {title[:30]}", 1),)
            store.save(
                [
                    Close(number, State.FETCHED, "", 1),
                    SavePage(
                        candidate=number, page=Page(url=urls[number], title=title, text=text),
                        verdict=Verdict(0.9, True, (title[:50],), tuple(named.items())), matched=True,
                        duplicate_of=-1, near=False, source=-1, depth=0, fetched_at=0.0, wire=10, blob=None,
                        links=array("I"),
                    ),
                    SaveHost(
                        host="a.example", next_at=0.0, delay=1.0, failures=0, requests=number + 1,
                        pages=number + 1, matches=number + 1, robots=(),
                    ),
                    decided(
                        10 + 2 * number, "page", "match", url=urls[number], candidate=number,
                        terms=(0.2, 0.3), reasons=(title[:50],), dropped=left_out if number < 5 else (),
                    ),
                    decided(
                        11 + 2 * number, "robots", "failed", url=urls[number], status=500, reasons=(title,)
                    ),
                ]
            )  # fmt: skip


def walk(page: Any, served: Served, name: str) -> Iterator[str]:
    """Through every panel; gives the name of each when it is there."""
    drawn(page, "/crawl")
    page.wait_for_selector("#marks li >> nth=3")
    page.wait_for_selector("#interests tbody tr >> nth=1")
    unfold(page)
    page.click("#factor-keys button >> nth=1")
    page.wait_for_selector("#moved .url")
    yield "the crawl"
    page.click("#interests button >> nth=0")
    page.wait_for_function("document.querySelector('#finds-interest').value === 'wind'")
    page.wait_for_function(
        "document.querySelector('#finds-count').textContent"
        " === `${document.querySelector('#interests td.n').textContent} finds`"
    )
    yield "the finds of one interest"
    for first in (11, 21, 31):
        page.click("#finds-on")
        page.wait_for_selector(f"#finds-page:text-matches('^{first} to ')")
    page.click("#finds .title >> nth=1")
    page.wait_for_selector("#detail[open] .text")
    yield "a find"
    page.keyboard.press("Escape")
    page.click("#decisions button:has-text('Why') >> nth=0")
    page.wait_for_selector("#detail[open] pre")
    yield "why"
    page.keyboard.press("Escape")
    page.click("#finds .do button >> nth=0")
    yield "feedback"
    page.click("#steer-close")
    page.fill("#steer-pattern", "*/w1*")
    page.click("#steer-look")
    page.wait_for_selector("#steer-moves table")
    yield "steering"
    page.click("#steer-close")
    page.goto(f"{served.base}/")
    drawn(page, "/")
    yield "the list"
    page.goto(f"{served.base}/compare?c={key_of(name)}")
    page.wait_for_selector("#compared tbody tr")
    unfold(page)
    yield "the comparison"


@pytest.mark.data
def test_hostile_text_gains_no_element_and_no_attribute_in_any_panel(
    browser: Any, tmp_path: Path, suite: Any
):
    naughty = [text.replace("\0", " ") for text in json.loads(suite("html/blns.json").read_text("utf-8"))]
    naughty += [
        "<script>window.hacked=1</script>",
        "<img src=x onerror='window.hacked=1'>",
        "{{7*7}}",
        "</title><b>",
    ]
    naughty = [text.encode("utf-8", "replace").decode() or "x" for text in naughty][-200:][::-1]
    seen: dict[str, dict[str, dict[str, int]]] = {}
    for name, texts in (("plain", [f"wind {n}" for n in range(len(naughty))]), ("<b>naughty", naughty)):
        hostile = name != "plain"
        extra = "<script>window.hacked=1</script>" if hostile else "x"
        urls = [f"http://a.example/{n}?{extra}" for n in range(len(texts))]
        folder = tmp_path / ("hostile" if hostile else "calm")
        made(folder / name, texts, urls, extra)
        with serving(folder) as served:
            page = opened(browser, served, served.read(key_of(name)))
            seen[name] = {}
            for panel in walk(page, served, name):
                # What lies under the pointer has a tooltip, and what lies there differs with the texts.
                page.mouse.move(0, 0)
                shape = page.evaluate(SHAPE)
                seen[name][panel] = {is_: n for is_, n in shape.items() if not is_.startswith("MARK")}
                assert page.evaluate("window.hacked") is None, panel
                assert page.complaints == [], panel
            page.context.close()
    for panel, shape in seen["plain"].items():
        assert seen["<b>naughty"][panel] == shape, panel


def test_hostile_formulas_and_names_in_the_form_stay_text(browser: Any, crawls: Path):
    shapes = []
    with serving(crawls) as served:
        for formula in (
            '"calm x"',
            '"<img src=x onerror=alert(1)> </textarea><script>window.hacked=1</script>"',
        ):
            page = opened(browser, served, "/new")
            page.fill("#name", "x")
            page.fill("#s-seeds", "http://a.example/")
            page.fill("#s-match", formula)
            page.wait_for_selector("#readback code")
            page.click("details.try summary")
            page.fill("#try-text", "<p>wind</p>")
            page.click("#try")
            page.wait_for_selector("#tried table")
            page.wait_for_selector("#start:not([disabled])")
            shapes.append(page.evaluate(SHAPE))
            page.fill("#s-match", formula)
            page.click("#add-interest")
            for number, name in enumerate(("wind", "sun"), start=1):
                page.fill(f".interest:nth-child({number}) input", name)
            page.fill(".interest:nth-child(2) textarea", formula)
            page.wait_for_selector("#readback b >> nth=1")
            page.click("#try")
            page.wait_for_selector("#tried table >> nth=1")
            page.wait_for_selector("#start:not([disabled])")
            shapes.append(page.evaluate(SHAPE))
            page.fill(".interest:nth-child(2) input", formula)
            page.wait_for_selector("#e-match:visible")
            assert "cannot name an interest" in page.text_content("#e-match")
            shapes.append(page.evaluate(SHAPE))
            assert page.evaluate("window.hacked") is None
            assert page.complaints == []
            page.context.close()
    assert shapes[:3] == shapes[3:]


def examined(browser: Any, served: Served, path: str, scheme: str, crawl: str = "") -> Any:
    """A page with axe-core in it. The policy forbids the tool itself: it is put in from outside, the page
    stays as it is."""
    where = served.read(key_of(crawl)) if path == "/crawl" else path
    page = opened(browser, served, where, color_scheme=scheme, bypass_csp=True)
    drawn(page, path)
    page.add_script_tag(path=str(AXE))
    return page


def violations(page: Any) -> list[Any]:
    found = page.evaluate("axe.run()")["violations"]
    return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]


@pytest.mark.parametrize("path", ["/", "/new", "/compare", "/crawl"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, crawls: Path, path: str, scheme: str):
    with serving(crawls) as served:
        page = examined(browser, served, path, scheme, "wind")
        assert violations(page) == []
        page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_what_is_opened(browser: Any, crawls: Path, scheme: str):
    with serving(crawls) as served:
        page = examined(browser, served, "/crawl", scheme, "several")
        page.wait_for_selector("#interests tbody tr")
        unfold(page)
        page.click("#factor-keys button >> nth=0")
        page.wait_for_selector("#moved .url")
        assert violations(page) == [], "every panel, and the table behind every chart"
        page.click("#finds .title >> nth=0")
        page.wait_for_selector("#detail[open] .text")
        assert violations(page) == [], "a find"
        page.keyboard.press("Escape")
        page.click("#decisions button:has-text('Why') >> nth=0")
        page.wait_for_selector("#detail[open] pre")
        assert violations(page) == [], "why"
        page.keyboard.press("Escape")
        page.fill("#steer-pattern", "*/articles/*")
        page.fill("#steer-match", "wind=turbine\nsea=offshore")
        page.fill("#steer-pages", "150")
        page.click("#steer-do")
        assert violations(page) == [], "what is to be steered"
        page.click("#steer-preview")
        page.wait_for_selector("#steer-moves table")
        assert violations(page) == [], "what would move"
        page.click("#steer-close")
        page.fill("#steer-pages", "none at all")
        page.click("#steer-look")
        page.wait_for_selector("#steer-said.error")
        assert violations(page) == [], "what cannot be"
        page.context.close()
        page = examined(browser, served, "/new", scheme)
        for details in page.query_selector_all("details"):
            details.evaluate("node => { node.open = true; }")
        page.fill("#s-match", "turbine")
        page.click("#add-interest")
        page.fill(".interest:nth-child(1) input", "wind")
        page.fill(".interest:nth-child(2) input", "sun")
        page.fill(".interest:nth-child(2) textarea", "panel")
        page.wait_for_selector("#readback b >> nth=1")
        assert violations(page) == [], "two formulas"
        page.fill(".interest:nth-child(2) textarea", "panel AND")
        page.wait_for_selector("#e-match:visible")
        bad = page.query_selector_all("[aria-invalid=true]")
        assert [field.get_attribute("aria-label") for field in bad] == ["Formula of interest 2"]
        assert violations(page) == [], "a formula that is none"
        page.context.close()


def test_a_phone_shows_no_page_wider_than_itself(browser: Any, crawls: Path):
    with serving(crawls) as served:
        for path, crawl in [*[(path, "wind") for path in DRAWN], ("/crawl", "several")]:
            where = served.read(key_of(crawl)) if path == "/crawl" else path
            page = opened(browser, served, where, viewport={"width": 390, "height": 800})
            drawn(page, path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
            for snippet in page.query_selector_all("#finds .snippet"):
                assert snippet.bounding_box()["width"] > 240, "a text wide enough to be read"
            page.context.close()


def test_every_number_says_what_it_is_by_keyboard(browser: Any, crawls: Path):
    with serving(crawls) as served:
        page = opened(browser, served, served.read(key_of("wind")))
        drawn(page, "/crawl")
        for label in page.query_selector_all(".figures dt"):
            label.focus()
            assert len(page.text_content("#tooltip")) > 15
            assert page.is_visible("#tooltip")
        assert page.complaints == []


def test_a_page_without_the_token_shows_and_offers_no_change(browser: Any, crawls: Path):
    with serving(crawls) as served:
        page = browser.new_context().new_page()
        page.set_default_timeout(WAIT)
        page.goto(f"{served.base}/crawl/{key_of('wind')}")
        page.wait_for_selector("#finds .title")
        assert page.is_visible(".readonly")
        assert page.is_disabled("#goon")


def test_an_answer_that_comes_late_does_not_replace_the_one_asked_for_after_it(browser: Any, crawls: Path):
    with serving(crawls) as served:
        page = opened(browser, served, "/compare")
        boxes = page.query_selector_all("#choose input")[:2]
        late: list[Any] = []
        page.route("**/api/compare?*", lambda route: route.continue_() if late else late.append(route))
        for box in boxes:
            box.check()
        page.wait_for_selector("#compared tbody tr >> nth=1")
        with page.expect_response("**/api/compare?*"):
            late[0].continue_()
        # What is asked for after it is answered after it.
        page.evaluate("() => fetch('/api/overview').then((reply) => reply.json())")
        assert len(page.query_selector_all("#compared tbody tr")) == len(boxes) == 2
        assert page.complaints == []
