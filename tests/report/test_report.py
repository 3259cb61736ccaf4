"""report.html: whole, self-contained, and safe whatever a page calls itself."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from array import array
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.messages import Close, Decision, Journal, Record, SaveCandidates, SaveHost, SavePage, State, Via
from clew.page import Page
from clew.policy.recall import RecallEstimate
from clew.predicate.verdict import Verdict
from clew.report import ComparedCrawl, gather, write_comparison, write_report
from clew.report.crawl_fold import MAX_POINTS
from clew.report.crawl_summary import MAX_FINDS, harvest_curve
from clew.report.find_graph import graph_of
from clew.report.harvest_chart import curves
from clew.store import MemoryStore


class Reader(HTMLParser):
    """What a browser would make of a report: tags with attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def decision(
    seq: int, result: str, url: str = "http://a.example/", dropped=(), kind: str = "page"
) -> Decision:
    return Decision(
        seq=seq, at=0.0, kind=kind, url=url, candidate=seq - 1, attempt=0, score=0.0, terms=(), queue=0,
        status=200, result=result, verdict=0.0, reasons=(), new=0, known=0, dropped=tuple(dropped),
    )  # fmt: skip


def stored(titles: list[str], urls: list[str] | None = None) -> MemoryStore:
    """A crawl in which every page is a find."""
    store = MemoryStore()
    urls = urls or [f"http://a.example/{number}" for number in range(len(titles))]
    count = len(titles)
    store.set_meta(
        config={"match": '"wind farm" <b>', "pages": None, "own": ["*"], "weights": {}, "ordered": True},
        elapsed=61.0,
    )
    store.save(
        [
            SaveCandidates(
                0, np.arange(count, dtype=np.uint64), tuple(urls), ("a.example",) * count, (0,) * count, -1,
                ("",) * count, Via.SEED, np.zeros((count, 1)),
            )
        ]
    )  # fmt: skip
    for number, title in enumerate(titles):
        store.save(
            [
                Close(number, State.FETCHED, "", 1),
                SavePage(
                    candidate=number, page=Page(url=urls[number], title=title, text="x"),
                    verdict=Verdict(0.5 + number / count / 2, True), matched=True, duplicate_of=-1,
                    near=False, source=-1, depth=0, fetched_at=0.0, wire=10, blob=None, links=array("I"),
                ),
                SaveHost(
                    host="a.example", next_at=0.0, delay=1.0, failures=0, requests=number + 1,
                    pages=number + 1, matches=number + 1, robots=(),
                ),
                Record(decision(number + 1, "match", urls[number], [("scope", 2)])),
            ]
        )  # fmt: skip
    return store


def report(store: MemoryStore, tmp_path: Path) -> tuple[str, Reader]:
    path = tmp_path / "report.html"
    write_report(store, path, command="clew crawl 'x' & <y>")
    html = path.read_text("utf-8")
    return html, Reader(html)


def test_a_report_names_the_hosts_that_were_given_up(tmp_path: Path):
    store = stored(["One"])
    store.save(
        [
            SaveHost(
                host="dead.example", next_at=0.0, delay=1.0, failures=7, requests=7, pages=0, matches=0,
                robots=(), memory='{"excluded":true}',
            )
        ]
    )  # fmt: skip
    assert "Given up after failing too often: dead.example (7 failures" in " ".join(
        " ".join(report(store, tmp_path)[1].text).split()
    )
    assert "Given up" not in report(stored(["One"]), tmp_path)[0]


def test_a_report_shows_curve_finds_hosts_reasons_settings_command_and_versions(tmp_path: Path):
    html, reader = report(stored(["One", "Two", "Three"]), tmp_path)
    text = " ".join(reader.text)
    for expected in (
        "One",
        "http://a.example/2",
        "a.example",
        "scope",
        '"wind farm" <b>',
        "clew crawl 'x' & <y>",
        "1m1s",
    ):
        assert expected in text
    assert re.search(r"clew \d+\.\d+", text)
    assert "<polyline" in html
    assert text.index("Three") < text.index("One"), "best first"


def test_a_report_asks_nothing_of_the_network(tmp_path: Path):
    html, reader = report(stored(["One"]), tmp_path)
    fetching = {"src", "srcset", "data", "poster", "background", "action", "formaction", "ping", "xlink:href"}
    assert not [name for _, attributes in reader.tags for name in attributes if name in fetching]
    assert not reader.all("link")
    assert "url(" not in html
    assert "@import" not in html


def test_the_policy_allows_the_reports_own_style_and_script_and_nothing_else(tmp_path: Path):
    html, reader = report(stored(["One"]), tmp_path)
    policy = next(
        m["content"] for m in reader.all("meta") if m.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.S)
        pin = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{pin}'" in policy
    assert not [
        name
        for _, attributes in reader.tags
        for name in attributes
        if name.startswith("on") or name == "style"
    ]


def check_harmless(html: str, reader: Reader, clean: Reader) -> None:
    assert [tag for tag, _ in reader.tags] == [tag for tag, _ in clean.tags], "no tag came from a title"
    for attributes in reader.all("a"):
        assert (attributes["href"] or "").startswith(("http://", "https://"))


@pytest.mark.data
def test_naughty_titles_stay_text(tmp_path: Path, suite):
    naughty = json.loads(suite("html/blns.json").read_text("utf-8"))
    html, reader = report(stored(naughty), tmp_path)
    clean = report(stored(["x"] * len(naughty)), tmp_path)[1]
    check_harmless(html, reader, clean)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(), min_size=1, max_size=3))
def test_any_titles_stay_text(tmp_path_factory: pytest.TempPathFactory, titles):
    tmp_path = tmp_path_factory.mktemp("report")
    html, reader = report(stored(titles), tmp_path)
    clean = report(stored(["x"] * len(titles)), tmp_path)[1]
    check_harmless(html, reader, clean)


def test_an_address_that_is_not_http_never_becomes_a_link(tmp_path: Path):
    bad = [
        "javascript:alert(1)",
        "data:text/html,<script>1</script>",
        'http://a.example/"><script>1</script>',
    ]
    _, reader = report(stored(["x"] * 3, bad), tmp_path)
    assert [a["href"] for a in reader.all("a")] == [bad[2]]
    assert len(reader.all("script")) == 1


def test_a_long_list_of_finds_is_cut_with_a_note(tmp_path: Path):
    _, reader = report(stored([f"t{n}" for n in range(MAX_FINDS + 7)]), tmp_path)
    assert len(reader.all("a")) == MAX_FINDS
    assert "7 more" in " ".join(reader.text)


def test_an_empty_crawl_has_a_report(tmp_path: Path):
    _, reader = report(MemoryStore(), tmp_path)
    assert "None." in " ".join(reader.text)


def test_a_report_is_replaced_whole_and_leaves_nothing_beside_it(tmp_path: Path):
    report(stored(["One"]), tmp_path)
    report(stored(["Two"]), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["match", "miss", "duplicate", "noindex", "failed", "retry"]), max_size=3000))
def test_the_curve_is_short_rises_and_ends_at_the_totals(results):
    curve = harvest_curve(decision(number, result) for number, result in enumerate(results, 1))
    pages = sum(result not in ("failed", "retry") for result in results)
    assert len(curve) <= MAX_POINTS + 1
    assert curve[-1] == (pages, results.count("match"))
    assert list(curve) == sorted(set(curve))


def test_robots_files_are_not_pages_of_the_curve():
    assert harvest_curve([decision(1, "match", kind="robots")]) == ((0, 0),)


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 10**6)), max_size=5))
def test_a_chart_stays_within_its_frame(ends):
    svg = str(
        curves([(f"run {n}", ((0, 0), (pages, min(pages, finds)))) for n, (pages, finds) in enumerate(ends)])
    )
    for points in re.findall(r'points="([^"]*)"', svg):
        for point in points.split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= 720
            assert 0 <= y <= 300


def test_a_comparison_has_a_line_and_a_row_for_each_run(tmp_path: Path):
    runs = [
        ComparedCrawl("breadth-first", ((0, 0), (10, 1)), 10, 12, 1),
        ComparedCrawl("<best>", ((0, 0), (10, 0)), 10, 12, 0),
    ]
    write_comparison(runs, tmp_path / "r.html", title="Two ways", note="of one web", command="clew demo")
    reader = Reader((tmp_path / "r.html").read_text("utf-8"))
    assert len(reader.all("polyline")) == 2
    text = " ".join(reader.text)
    assert "12.0" in text
    assert "<best>" in text


def test_facts_are_gathered_with_the_figures_of_the_store():
    facts = gather(stored(["One", "Two"]))
    assert facts.run("x") == ComparedCrawl("x", ((0, 0), (1, 1), (2, 2)), 2, facts.counts.requests, 2)


def test_changes_of_focus_are_marks_on_the_curve_and_rows_of_a_table(tmp_path):
    store = stored(["A", "B", "C"])
    told = {"command": "set-focus", "formula": "wind", "instead_of": "wind AND <i>sea</i>"}
    change = replace(
        decision(4, "set-focus", url="", kind="command"), candidate=-1, reasons=(json.dumps(told),)
    )
    store.save([Journal(3, json.dumps(told, separators=(",", ":"))), Record(change)])
    write_report(store, tmp_path / "report.html", command="clew")
    page = Reader((tmp_path / "report.html").read_text("utf-8"))
    assert [mark["class"] for mark in page.all("line") if "mark" in (mark["class"] or "")] == ["mark c0"]
    assert "page 3: wind AND <i>sea</i> became wind" in page.text
    assert "Changes of focus" in page.text
    keys = [swatch["class"] for swatch in page.all("i")]
    assert keys == ["c0", "dot c2", "dot c0", "dot pale"], "the keys of the charts, and nothing of a formula"


def test_a_report_of_ten_thousand_finds_is_no_larger_than_two_megabytes(tmp_path: Path):
    titles = [
        f"{number} " + "A title that goes on and on, as some do & then <more> " * 20
        for number in range(10_000)
    ]
    # The last ones, whose ways are drawn, have the longest addresses there are.
    urls = [
        f"http://a.example/{number}/" + "a-long-path/" * (20 if number < 9900 else 150)
        for number in range(10_000)
    ]
    write_report(stored(titles, urls), tmp_path / "report.html", command="clew crawl")
    assert (tmp_path / "report.html").stat().st_size <= 2_000_000
    shown = Reader((tmp_path / "report.html").read_text("utf-8"))
    assert 100 < len(shown.all("a")) < MAX_FINDS
    assert "more are in" in "".join(shown.text)


def test_a_report_has_the_charts_of_the_dashboard_and_a_table_behind_each(tmp_path: Path):
    store = stored([f"page {number}" for number in range(60)])
    store.set_meta(config={"seeds": ["http://a.example/"], "match": "page", "strategy": "best-first"})
    entry = '{"command":"set-boost","pattern":"*/<b>/*","factor":2.0,"columns":["estimate","boost"]}'
    told = decision(1000, "set-boost", kind="command")
    store.save([Record(replace(told, reasons=(entry,)))])
    for number in range(40):
        line = replace(decision(1001 + number, "miss"), terms=(0.5, -0.25), queue=50)
        store.save([Record(line)])
    look = RecallEstimate(fetched=100, pages=100, finds=60, left=(5, 10, 30), unseen=0.5)
    store.save([Journal(1040, look.dumps())])
    write_report(store, tmp_path / "report.html", command="clew crawl")
    html = (tmp_path / "report.html").read_text("utf-8")
    shown = Reader(html)
    tables = {table.get("id") for table in shown.all("table")}
    assert {"curve", "looks", "factors", "graph"} <= tables
    names = [line.get("class") for line in shown.all("polyline")]
    assert names.count("line c1 far") == 1, "what chance would have brought"
    assert len([line for line in shown.all("line") if line.get("class") == "across"]) == 1
    assert "*/&lt;b&gt;/* is worth 2 times as much" in html
    assert len(shown.all("svg")) == 4
    assert sum(dot["class"] == "find" for dot in shown.all("circle")) == 60, "the ways to the finds"
    assert "boost" in "".join(shown.text)


def led_to_finds() -> MemoryStore:
    """A seed, a page it links to, which is none, and a find behind that; with a way back."""
    store = MemoryStore()
    store.set_meta(config={"seeds": ["http://a.example/"], "match": "wind"})
    links = {0: array("I", [1]), 1: array("I", [2]), 2: array("I", [0, 2])}
    for number, links_of in links.items():
        url = f"http://a.example/{number}?<b>"
        store.save(
            [
                SaveCandidates(
                    number, np.array([number], np.uint64), (url,), ("a.example",), (number,), number - 1,
                    ("",), Via.LINK if number else Via.SEED, np.zeros((1, 1)),
                ),
                Close(number, State.FETCHED, "", 1),
                SavePage(
                    candidate=number, page=Page(url=url, title="x", text="x"),
                    verdict=Verdict(0.9, number == 2), matched=number == 2, duplicate_of=-1, near=False,
                    source=number - 1, depth=number, fetched_at=0.0, wire=10, blob=None, links=links_of,
                ),
                Record(decision(number + 1, "match" if number == 2 else "miss", url)),
            ]
        )  # fmt: skip
    return store


def test_the_ways_to_the_finds_are_drawn_from_their_seeds(tmp_path: Path):
    _, page = report(led_to_finds(), tmp_path)
    assert [dot["class"] for dot in page.all("circle")] == ["seed", "page", "find"]
    across = [float(dot["cx"] or "") for dot in page.all("circle")]
    assert across == sorted(set(across)), "a column for each distance from a seed"
    lines = [line["class"] for line in page.all("line") if line["class"] in ("way", "other")]
    assert lines == ["way", "way", "other"], "two that were followed, and the way back; none to itself"
    assert "http://a.example/2?<b>" in page.text
    assert not page.all("b")


def test_a_way_whose_beginning_is_lost_is_drawn_as_far_as_it_is_known():
    class Torn(MemoryStore):
        def links_numbered(self, candidates):
            return {number: link for number, link in super().links_numbered(candidates).items() if number}

    torn = led_to_finds()
    torn.__class__ = Torn
    graph = graph_of(torn, gather(torn).fold.finds)
    assert [node.id for node in graph.nodes] == [1, 2]
    assert graph.edges == [(0, 1, True)]
