"""A crawl with people's visits: resumed it is one session; a changed log is told; people are counted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_resume_law import CHECKPOINTS, SETTINGS, STOPS, crawled, traces_of, webs
from visit_database import SECRET, visited

from clew.errors import ConfigError
from clew.report import write_report
from clew.run import VirtualClock
from clew.run.config import CrawlConfig
from clew.run.explain import explain
from clew.store import open_reader, open_store
from clew.topic import TopicModel
from clew.training import TaxonomyFolder
from clew.training.folder import TopicSettings
from clew.visits import VisitsDatabase


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    web=webs(),
    strategy=st.sampled_from(["intelligent", "collaborative"]),
    more=SETTINGS,
    stops=STOPS,
    every=CHECKPOINTS,
)
def test_stopped_anywhere_and_resumed_is_one_session(tmp_path_factory, web, strategy, more, stops, every):
    """The law of `test_resume_law`, of the two strategies that go by visits."""
    more |= {"strategy": strategy, "visits": True, "use": False}
    one, resumed = traces_of(tmp_path_factory, None, web, more, stops, every)
    assert resumed == one


@pytest.fixture
def clew_topics(tmp_path):
    """A folder with two topics of weighted words."""
    place = tmp_path / "topics"
    folder = TaxonomyFolder.create(place)
    for name in ("turbine", "river"):
        folder = folder.add(name, TopicSettings("keyword"))
        folder.save(name, TopicModel("keyword", (name,), np.array([4.0]), -1.0))
    return place


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


def test_a_crawl_by_topics_of_people_keeps_them_and_goes_on_without_the_folder(tmp_path, clew_topics):
    """Signatures of topics; the crawl that is taken up again after the folder is gone is one session."""
    from test_resume_law import Web

    web = Web(["page", "find"] * 10, [[1, 2, 3]] * 20, [])
    more = {
        "strategy": "collaborative",
        "visits": visited(tmp_path, list(web.urls())),
        "k": 2,
        "topics": clew_topics,
        "option": ("visit_threshold=0", "signature_features=topics"),
    }
    traces = []
    for name, sessions in (("one", [14]), ("two", [6, 14])):
        clock = VirtualClock(1e9)
        for pages in sessions:
            if name == "two" and pages == 14:
                clew_topics.rename(tmp_path / "away")
            with open_store(tmp_path / name) as store:
                session = crawled(web, store, pages, more, clock)
                traces.append([decision.line() for decision in store.decisions()])
    assert traces[-1] == traces[0]
    signature = session.crawl.strategy.factors[1]
    assert signature._count.sum() > 0
    TaxonomyFolder.create(clew_topics)
    with open_store(tmp_path / "three") as store, pytest.raises(ConfigError, match="clew topic new"):
        crawled(web, store, 3, more, VirtualClock(1e9))


def test_limits_of_a_person_are_settings(tmp_path):
    from test_resume_law import Web

    web = Web(["page", "find"] * 10, [[1, 2, 3]] * 20, [])
    more = {"strategy": "collaborative", "visits": visited(tmp_path, list(web.urls())), "k": 2}
    with open_store(tmp_path / "all") as store:
        session = crawled(web, store, 3, more, VirtualClock(1e9))
        assert session.crawl.strategy.log.people == 6
    with open_store(tmp_path / "none") as store:
        session = crawled(web, store, 3, {**more, "visits_a_day": 5}, VirtualClock(1e9))
        assert session.crawl.strategy.log.people == 0


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


def shared_output(folder, strategy, lasts):
    """All that leaves of a crawl with the visits of six people, and of some more who visited the same nine
    pages each and then, at last, this one; nothing, if that is None. The victim is the first of these."""
    from test_resume_law import Web

    folder.mkdir()
    web = Web(["page", "find"] * 10, [[1, 2, 3]] * 20, [])
    line = "{}.000 1 192.0.2.{} HIT/200 1 GET {} - NONE/- text/html"
    extra = []
    for who, last in enumerate(lasts, 99):
        extra += [line.format(1_700_000_000 + 50 * i, who, web.url(i)) for i in range(9)]
        extra += [line.format(1_700_000_500, who, last)] if last else []
    visits = visited(folder, list(web.urls()), extra=extra)
    with open_store(folder / "crawl") as store:
        session = crawled(web, store, 14, {"strategy": strategy, "visits": visits}, VirtualClock(1e9))
        store.set_meta(config=json.loads(session.config.to_json()))
        trace = [decision.line() for decision in store.decisions()]
    with open_reader(folder / "crawl") as reader:
        pages = [(page.url, page.title, page.matched) for page in reader.pages()]
        explained = [explain(reader, url) for url, _, _ in pages]
        reasons = [one.lines(full=True) for one in explained]
        told = [one.as_dict() for one in explained]
        write_report(reader, folder / "report.html", command="clew crawl")
        report = (folder / "report.html").read_text("utf-8").replace(str(folder), "")
        return {
            "trace": trace, "pages": pages, "reasons": reasons, "told": told, "learned": reader.learned(),
            "report": report,
        }  # fmt: skip


@pytest.mark.parametrize("strategy", ["collaborative", "intelligent"])
def test_what_leaves_a_crawl_does_not_tell_a_victims_missing_visit(tmp_path, strategy):
    """Attack: given all that leaves, and all of a victim's visits but one, which page was it? What leaves is
    the same, to the last bit, whichever of those that fewer than k people saw it was, or none; and names none
    of them."""
    asked = ("http://secret.example/clinic", "http://secret.example/lawyer", "http://a.example/union", None)
    seen = {repr(shared_output(tmp_path / str(i), strategy, [page])) for i, page in enumerate(asked)}
    assert len(seen) == 1
    text = seen.pop()
    assert "secret.example" not in text
    assert "union" not in text
    assert "visit" in text


@pytest.mark.parametrize("strategy", ["collaborative", "intelligent"])
def test_what_leaves_a_crawl_does_not_tell_who_of_two_made_a_visit(tmp_path, strategy):
    """Attack: the missing visit is to a page that k people saw, and somebody else, whose visits are not
    known, may have made it. Swapped between the two, what leaves is the same."""
    first, second = "http://b.example/bridge/11", "http://a.example/valley/18"
    one, other, neither = (
        shared_output(tmp_path / name, strategy, lasts)
        for name, lasts in (
            ("one", (first, second)),
            ("other", (second, first)),
            ("neither", (second, second)),
        )
    )
    assert one["pages"] == other["pages"]
    assert one["reasons"] == other["reasons"]
    # Guards the test: how many made it does show.
    assert one["reasons"] != neither["reasons"]
