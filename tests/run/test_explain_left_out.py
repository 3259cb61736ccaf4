"""`explain` says why a URL was left out: a host given up, a trap, an error page."""

import pytest

from clew.messages import Close, SaveHost, State
from clew.run import CrawlConfig
from clew.run.explain import explain
from clew.store import MemoryStore
from clew.testing.stores import decided, found, visited

CONFIG = CrawlConfig(seeds=("http://a.example/",), match="wind")


def store(memory):
    kept = MemoryStore()
    kept.save(
        [
            SaveHost(
                host="a.example",
                next_at=0.0,
                delay=1.0,
                failures=0,
                requests=1,
                pages=1,
                matches=0,
                memory=memory,
            )
        ]
    )
    return kept


@pytest.mark.parametrize(
    ("memory", "url", "why"),
    [
        ('{"excluded":true}', "http://a.example/x", "its host failed too often and was given up"),
        ('{"traps":[["/x/0",0,9.0,{"copy":9.0},"trap:copies"]]}', "http://a.example/x/7", "mostly copies"),
        ("", "http://a.example/n/n2/news/a/news/b/news", "its path repeats itself"),
    ],
)
def test_what_was_left_out_is_explained_by_what_is_remembered(memory, url, why):
    found = explain(store(memory), url, config=CONFIG)
    assert found.fate == "left out"
    assert why in found.why


def test_what_nobody_links_to_is_never_seen():
    assert explain(store(""), "http://a.example/x/7", config=CONFIG).fate == "never seen"
    off = CONFIG.model_copy(update={"traps": False})
    assert explain(store(""), "http://a.example/n/news/a/news/b/news", config=off).fate == "never seen"


def test_what_still_waits_for_a_host_that_was_given_up_is_left_out_and_the_host_is_quoted():
    kept = MemoryStore()
    url = "http://b.example/page"
    kept.save([found(0, [url]), visited("b.example", memory='{"excluded":true}')])
    kept.save(
        [decided(1, "http://b.example/robots.txt", result="failed", status=0, reasons=("timeout", "silence"))]
    )
    told = explain(kept, url, config=CONFIG)
    assert (told.fate, told.why) == ("left out", "its host failed too often and was given up")
    assert told.notes == ("its host when last asked: timeout: silence",)
    assert explain(kept, "http://b.example/new", config=CONFIG).notes == told.notes


@pytest.mark.parametrize(("status", "why"), [(0, "not be read"), (503, "not be read"), (200, "not allow")])
def test_a_robots_txt_that_could_not_be_had_is_not_one_that_forbids(status, why):
    kept = MemoryStore()
    url = "http://b.example/page"
    known = (("http://b.example", status, 0.0, b"User-agent: *\nDisallow: /"),)
    kept.save([found(0, [url]), visited("b.example", robots=known), Close(0, State.DROPPED, "robots")])
    assert why in explain(kept, url, config=CONFIG).why
