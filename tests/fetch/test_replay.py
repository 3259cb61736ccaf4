"""The replay fetcher: a recorded web as a `Fetcher`."""

from __future__ import annotations

import pytest

from clew.errors import FetchError, Reason
from clew.fetch import Request, Response
from clew.fetch.replay import RecordedWeb, ReplayFetcher, not_recorded
from clew.testing import DemoWeb, StaticWeb, check_fetcher

WEB = StaticWeb(
    {
        "http://a.example/": "<title>A</title>" + "x" * 100,
        "http://a.example/away": Response(
            url="http://a.example/away", status=302, headers=(("Location", "http://b.example/"),)
        ),
        "http://dead.example/": FetchError(Reason.TIMEOUT, "no reply"),
    }
)


async def test_it_keeps_the_contract_of_every_fetcher():
    await check_fetcher(ReplayFetcher(WEB), WEB, failing=("http://dead.example/",))


async def test_redirects_are_reported_and_not_followed():
    reply = await ReplayFetcher(WEB).fetch(Request("http://a.example/away"))
    assert (reply.status, reply.header("location"), reply.body) == (302, "http://b.example/", b"")


@pytest.mark.parametrize("path", ["nothing", "robots.txt"])
async def test_what_was_not_recorded_is_a_404(path):
    url = f"http://a.example/{path}"
    assert await ReplayFetcher(WEB).fetch(Request(url)) == not_recorded(url)


async def test_a_recorded_failure_is_raised_with_its_reason():
    with pytest.raises(FetchError) as caught:
        await ReplayFetcher(WEB).fetch(Request("http://dead.example/"))
    assert caught.value.reason is Reason.TIMEOUT


async def test_a_long_body_is_cut_at_the_limit_and_marked_but_one_of_exactly_that_length_is_not():
    fetcher = ReplayFetcher(WEB)
    whole = await fetcher.fetch(Request("http://a.example/", limit=116))
    cut = await fetcher.fetch(Request("http://a.example/", limit=115))
    assert (len(whole.body), whole.truncated) == (116, False)
    assert (len(cut.body), cut.truncated) == (115, True)


async def test_every_reply_is_told_to_the_recorder_in_order_and_failures_are_not():
    told: list[tuple[str, int]] = []
    fetcher = ReplayFetcher(WEB, record=lambda request, reply: told.append((request.url, reply.status)))
    await fetcher.fetch(Request("http://a.example/"))
    await fetcher.fetch(Request("http://a.example/none"))
    with pytest.raises(FetchError):
        await fetcher.fetch(Request("http://dead.example/"))
    assert told == [("http://a.example/", 200), ("http://a.example/none", 404)]


def test_webs_are_recognised_by_their_shape():
    assert isinstance(WEB, RecordedWeb)
    assert isinstance(DemoWeb(hosts=16, pages=128), RecordedWeb)
    assert not isinstance(object(), RecordedWeb)
