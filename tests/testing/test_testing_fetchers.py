"""The contract of fetchers catches those that break it, and the public names are what they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

import clew.testing
from clew.errors import FetchError, Reason
from clew.fetch import Request, Response
from clew.testing import FetcherContract, ReplayFetcher, StaticWeb, check_fetcher, link_page

WEB = StaticWeb(
    {
        "http://a.example/": link_page("A", "a text of some length", b="http://b.example/"),
        "http://a.example/r": Response(
            url="http://a.example/r", status=301, headers=(("Location", "http://a.example/"),)
        ),
    }
)


class Wrong(ReplayFetcher):
    """A fetcher with one fault."""

    def __init__(self, fault: str) -> None:
        super().__init__(WEB)
        self.fault = fault
        self.count = 0

    async def fetch(self, request: Request) -> Response:
        self.count += 1
        if self.fault == "no limit":
            request = Request(request.url)
        reply = await super().fetch(request)
        if self.fault == "follows" and reply.status == 301:
            return await super().fetch(Request(reply.header("location")))
        if self.fault == "raises 404" and reply.status == 404:
            raise FetchError(Reason.BAD_REPLY, "404")
        if self.fault == "changes" and self.count > 4:
            return replace(reply, body=reply.body + b"%d" % self.count)
        if self.fault == "unmarked":
            return replace(reply, truncated=False)
        return reply


async def test_a_sound_fetcher_passes():
    await check_fetcher(ReplayFetcher(WEB), WEB)


@pytest.mark.parametrize("fault", ["no limit", "follows", "raises 404", "changes", "unmarked"])
async def test_each_fault_is_caught(fault):
    with pytest.raises((AssertionError, FetchError)):
        await check_fetcher(Wrong(fault), WEB)


async def test_a_failure_that_does_not_happen_is_caught():
    with pytest.raises(AssertionError, match="should have failed"):
        await FetcherContract(ReplayFetcher(WEB), WEB).check_failures(("http://a.example/",))


def test_public_names():
    assert sorted(clew.testing.__all__) == [
        "BackendContract",
        "ChaosServer",
        "ChaosWeb",
        "DemoWeb",
        "FetcherContract",
        "HurriedClock",
        "LoggedRequest",
        "MadeWeb",
        "RecordedServer",
        "RecordedWeb",
        "ReplayFetcher",
        "StaticWeb",
        "StoreContract",
        "StrategyContract",
        "VirtualClock",
        "chaos_serving",
        "check_fetcher",
        "link_page",
        "made_log",
        "serving",
    ]
    assert all(hasattr(clew.testing, name) for name in clew.testing.__all__)
