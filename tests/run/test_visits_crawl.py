"""A crawl with people's visits: resumed it is one session; a changed log is told; people are counted."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_resume_law import crawled, webs

from clew.errors import ConfigError
from clew.run import VirtualClock
from clew.run.config import CrawlConfig
from clew.run.explain import explain
from clew.store import open_reader, open_store
from clew.visits import ImportSettings, Secret, VisitsDatabase, import_log

SECRET = Secret(b"s" * 32)


def visited(folder, urls, *, people=6, extra=()):
    """A database of visits: each of a few people walks over some of the pages."""
    lines = [
        f"{1_700_000_000 + 60 * i + 7 * person}.000 1 192.0.2.{person} HIT/200 1 GET {url} - NONE/- text/html"
        for person in range(people)
        for i, url in enumerate(urls)
        if (i * 7 + person * 3) % 5 < 3
    ]
    (folder / "some.log").write_text("\n".join([*sorted(lines), *extra]) + "\n")
    place = folder / "visits.db"
    with VisitsDatabase(place, SECRET, create=True) as database:
        import_log(database, SECRET, folder / "some.log", ImportSettings())
    return place


@pytest.mark.slow
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    web=webs(),
    strategy=st.sampled_from(["intelligent", "collaborative"]),
    stops=st.lists(st.integers(1, 25), min_size=1, max_size=2),
)
def test_stopped_anywhere_and_resumed_is_one_session(tmp_path_factory, web, strategy, stops):
    folder = tmp_path_factory.mktemp("law")
    # A host that is not there is asked again after rests, and these begin anew with a session.
    web.kinds = ["dead" if kind == "gone" else kind for kind in web.kinds]
    more = {"strategy": strategy, "visits": visited(folder, list(web.urls())), "k": 2, "traps": False}
    traces = []
    for number, sessions in enumerate(([40], [*sorted(stops), 40])):
        clock = VirtualClock(1e9)
        for pages in sessions:
            with open_store(folder / f"crawl{number}") as store:
                crawled(web, store, pages, more, clock)
                traces.append([decision.line() for decision in store.decisions()])
    assert traces[-1] == traces[0]


@pytest.fixture
def crawl(tmp_path):
    """A collaborative crawl of a small web of which every other page is a find."""
    from test_resume_law import Web

    web = Web(["page", "find"] * 10, [[1, 2, 3]] * 20, [])
    place = visited(tmp_path, list(web.urls()))
    more = {"strategy": "collaborative", "visits": place, "k": 2, "option": ("visit_threshold=0",)}
    with open_store(tmp_path / "crawl") as store:
        session = crawled(web, store, 14, more, VirtualClock(1e9))
        store.set_meta(config=json.loads(session.config.to_json()))
    return tmp_path / "crawl", web, place, more


def test_a_log_that_changed_is_told_on_resume(crawl, tmp_path):
    directory, web, place, more = crawl
    with VisitsDatabase(place, SECRET) as database:
        database.forget(person=SECRET.person(b"192.0.2.1"))
    with (
        open_store(directory) as store,
        pytest.raises(ConfigError, match="has changed since this crawl began"),
    ):
        crawled(web, store, 18, more, VirtualClock(2e9))


def test_pages_come_by_visits_and_explanations_count_people_never_anyone(crawl):
    directory, _, _, _ = crawl
    with open_reader(directory) as reader:
        rows = [reader.candidate(decision.url) for decision in reader.decisions() if decision.kind == "page"]
        came = [row for row in rows if row is not None and row.via == "visits"]
        said = [line for row in came for line in explain(reader, row.url).lines(full=True)]
        plain = [line for row in came for line in explain(reader, row.url).lines()]
    text = "\n".join([*said, *plain])
    assert "by people's visits, when http://" in text
    assert "people with" in text
    assert "1 person" not in text
    for person in range(6):
        assert f"{SECRET.person(f'192.0.2.{person}'.encode()):x}" not in text
        assert str(SECRET.person(f"192.0.2.{person}".encode())) not in text


def test_collaborative_needs_a_log_and_a_log_needs_no_seeds(tmp_path):
    with pytest.raises(ValueError, match="clew visits import"):
        CrawlConfig(seeds=("http://a.example/",), match="x", strategy="collaborative")
    with pytest.raises(ValueError, match="at least one page to start from"):
        CrawlConfig(seeds=(), match="x")
    assert CrawlConfig(seeds=(), match="x", visits=tmp_path / "v.db").seeds == ()


def shared_output(folder, secret_page):
    """All that leaves of a crawl with the visits of six people and a victim's, whose last is to this page."""
    from test_resume_law import Web

    folder.mkdir()
    web = Web(["page", "find"] * 10, [[1, 2, 3]] * 20, [])
    known = [
        f"{1_700_000_000 + 50 * i}.000 1 192.0.2.99 HIT/200 1 GET {web.url(i)} - NONE/- text/html"
        for i in range(9)
    ]
    last = f"1700009999.000 1 192.0.2.99 HIT/200 1 GET {secret_page} - NONE/- text/html"
    more = {"strategy": "collaborative", "visits": visited(folder, list(web.urls()), extra=[*known, last])}
    with open_store(folder / "crawl") as store:
        session = crawled(web, store, 14, more, VirtualClock(1e9))
        store.set_meta(config=json.loads(session.config.to_json()))
        trace = [decision.line() for decision in store.decisions()]
    with open_reader(folder / "crawl") as reader:
        pages = [(page.url, page.title, page.matched) for page in reader.pages()]
        reasons = [explain(reader, url).lines(full=True) for url, _, _ in pages]
        return trace, pages, reasons, reader.learned()


def test_what_leaves_a_crawl_does_not_tell_a_victims_missing_visit(tmp_path):
    """Attack: given all that leaves, and all of a victim's visits but one, which of three pages was it? What
    leaves is the same, to the last bit, whichever it was; and names none of them."""
    asked = ("http://secret.example/clinic", "http://secret.example/lawyer", "http://a.example/union")
    seen = {repr(shared_output(tmp_path / str(i), page)) for i, page in enumerate(asked)}
    assert len(seen) == 1
    text = seen.pop()
    assert "secret.example" not in text
    assert "union" not in text
    assert "visit" in text
