"""What a stored crawl says of hosts that wait."""

import pytest
from loop import page
from test_resume_hosts import A, Sessions

from clew.frontier import Politeness
from clew.run.waits import waits

OWN = Politeness(own=lambda host: True)


@pytest.mark.parametrize(
    ("web", "limit", "place", "why"),
    [
        ({f"{A}robots.txt": {"status": 503}}, 3, "http://a.example", "robots.txt could not be had"),
        ({A: {"status": 503, "retry_after": 90.0}}, 2, "a.example", "asked for that (Retry-After)"),
        ({A: {"status": 500}}, 2, "a.example", "failed 1 time in a row"),
    ],
)
def test_what_waits_says_until_when_and_why(web, limit, place, why):
    crawl = Sessions(web, politeness=OWN)
    crawl.session(A, limit=limit)
    (wait, *_) = waits(crawl.store.hosts(), crawl.now - 5.0)
    assert wait.place == place
    assert why in wait.why
    assert wait.until > crawl.now


def test_a_host_at_its_usual_pace_is_not_worth_a_word():
    crawl = Sessions({A: {"status": 200, "page": page(A, "wind")}})
    crawl.session(A, limit=2)
    assert waits(crawl.store.hosts(), crawl.now) == []
