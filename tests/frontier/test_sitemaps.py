"""Sitemaps are read when a host has earned it, a few at a time, and only those of its own domain."""

import pytest

from clew.errors import Reason
from clew.frontier import Hosts, Politeness
from clew.frontier.sitemaps import PAGES_FIRST, PER_HOST, TAKEN_EACH, TAKEN_PER_HOST, Sitemaps
from clew.messages import Outcome, Sitemap, Task, TaskKind

A = "http://a.example"


@pytest.fixture
def hosts():
    return Hosts(Politeness())


def desk(hosts, *listed, mode="robots"):
    made = Sitemaps(hosts, mode)
    made.offer(A, listed)
    host = hosts[hosts.number("a.example")]
    return made, host


def reply(number, url, **more):
    return Outcome(task=Task(number, TaskKind.SITEMAP, url, "a.example"), **more)


def test_a_host_must_earn_it(hosts):
    made, host = desk(hosts, "/map.xml")
    host.pages = PAGES_FIRST - 1
    assert made.due(host) is None
    host.matches = 1
    assert made.due(host) == f"{A}/map.xml"
    host.matches, host.pages = 0, PAGES_FIRST
    assert made.due(host) == f"{A}/map.xml"
    host.pages = 0
    assert made.due(host, idle=True) == f"{A}/map.xml"


def test_at_most_one_for_every_twenty_pages(hosts):
    made, host = desk(hosts, *(f"/{i}.xml" for i in range(60)))
    host.matches = 1
    read = 0
    for pages in range(1, 400):
        host.pages = pages
        while (url := made.due(host)) is not None:
            made.begin(host, read)
            made.settle(reply(read, url, status=404))
            read += 1
        assert (read - 1) * 20 < pages
    assert read == 20


def test_other_domains_are_not_read_and_sister_hosts_are(hosts):
    made, host = desk(
        hosts, "http://evil.example/map.xml", "http://www.a.example/map.xml", "https://a.example/m.xml"
    )
    assert made.due(host, idle=True) == "https://a.example/m.xml"
    sister = hosts.get("www.a.example")
    assert made.due(sister, idle=True) == "http://www.a.example/map.xml"
    assert hosts.get("evil.example") is None


@pytest.mark.parametrize(("mode", "found"), [("off", None), ("robots", None), ("on", f"{A}/sitemap.xml")])
def test_where_none_is_named_only_on_guesses(hosts, mode, found):
    made, host = desk(hosts, mode=mode)
    assert made.due(host, idle=True) == found


def test_off_reads_none(hosts):
    made, host = desk(hosts, "/map.xml", mode="off")
    assert made.due(host, idle=True) is None


def test_indexes_are_followed_so_far_and_no_further(hosts):
    made, host = desk(hosts, "/0.xml")
    for level in range(6):
        url = made.due(host, idle=True)
        if url is None:
            break
        made.begin(host, level)
        child = Sitemap(url, children=(f"{A}/{level + 1}.xml", "http://evil.example/x.xml", url))
        made.settle(reply(level, url, status=200, sitemap=child))
    assert level == 3


def test_redirects_are_followed_and_failures_tried_once_more(hosts):
    made, host = desk(hosts, "/a.xml")
    made.begin(host, 1)
    assert made.settle(reply(1, f"{A}/a.xml", status=301, location="/b.xml"))[1] == "redirect"
    words = []
    for number in (2, 3):
        assert made.due(host, idle=True) == f"{A}/b.xml"
        made.begin(host, number)
        words.append(made.settle(reply(number, f"{A}/b.xml", error=Reason.TIMEOUT))[1])
    assert words == ["retry", "failed"]
    assert made.due(host, idle=True) is None


def test_there_is_a_limit_to_everything(hosts):
    made, host = desk(hosts, *(f"/{i}.xml" for i in range(500)))
    assert len(host.notes["sitemaps"]["todo"]) == PER_HOST
    assert made.allowance(host) == TAKEN_EACH
    made.record_taken(host, TAKEN_PER_HOST - 10)
    assert made.allowance(host) == 10
    made.record_taken(host, 10)
    assert made.due(host, idle=True) is None


def test_what_was_read_is_not_read_again_after_a_restart(hosts):
    made, host = desk(hosts, "/a.xml", "/b.xml")
    made.begin(host, 1)
    made.settle(reply(1, f"{A}/a.xml", status=404))
    again = Sitemaps(hosts, "robots")
    again.restore(host, host.notes["sitemaps"])
    again.offer(A, ["/a.xml", "/b.xml"])
    assert again.due(host, idle=True) == f"{A}/b.xml"
    again.begin(host, 2)
    again.settle(reply(2, f"{A}/b.xml", status=404))
    assert again.due(host, idle=True) is None


@pytest.mark.parametrize(
    "state",
    [None, [], {"asked": 1}, {"asked": 1, "taken": 0, "known": [1], "todo": [3, ["x"], ["x", "y"]]}],
)
def test_a_damaged_memory_is_passed_over(hosts, state):
    made, host = desk(hosts)
    made.restore(host, state)
    assert made.due(host, idle=True) is None
