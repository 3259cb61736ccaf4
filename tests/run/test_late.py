"""The last place of a budget is not held by a host that says nothing."""

import asyncio

import pytest

from clew.errors import FetchError, Reason
from clew.fetch import Response
from clew.messages import State
from clew.run import CrawlConfig, Session, WallClock
from clew.run.driver import Driver
from clew.store import MemoryStore

HOSTS = tuple(f"http://h{i}.example/" for i in range(4))


class Silent:
    """Answers everywhere but at one host, which says nothing until it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.speak = asyncio.Event()
        self.third = asyncio.Event()

    async def fetch(self, request):
        self.asked.append(request.url)
        if len(self.asked) == 3:
            self.third.set()
        if request.url == HOSTS[0]:
            await self.speak.wait()
            raise FetchError(Reason.TIMEOUT, "no reply")
        if request.url.endswith("/robots.txt"):
            return Response(url=request.url, status=404)
        body = f"<p>wind at {request.url}, a page of its own</p>".encode()
        return Response(url=request.url, status=200, headers=(("Content-Type", "text/html"),), body=body)

    async def close(self) -> None: ...


def session(store, pages):
    config = CrawlConfig(seeds=HOSTS, match="wind", pages=pages, strategy="breadth-first", parse_workers=0)
    made = Session(config, store, fetcher=Silent())
    return made


def run(late, pages, monkeypatch, speak_after=None):
    store = MemoryStore()
    made = session(store, pages)
    monkeypatch.setattr("clew.run.session.Driver", lambda **given: Driver(**{**given, "late": late}))
    return asyncio.run(asyncio.wait_for(made.run(), 300)), store, made


def test_another_page_takes_the_place_and_the_silent_one_stays_queued(monkeypatch):
    finished, store, _ = run(0.05, 3, monkeypatch)
    assert (finished.reason, finished.pages) == ("pages", 3)
    assert store.candidate(HOSTS[0]).state is State.QUEUED


def test_the_budget_is_not_exceeded_when_late_replies_come_after_all(monkeypatch):
    finished, store, _ = run(0.0, 2, monkeypatch)
    assert finished.pages == 2
    assert len(list(store.pages())) == 2


@pytest.mark.parametrize("late", [0.0, 0.05])
def test_requests_that_were_made_are_not_lent_again(late, monkeypatch):
    store = MemoryStore()
    fetcher = Silent()
    config = CrawlConfig(
        seeds=HOSTS, match="wind", pages=9, requests=3, strategy="breadth-first", parse_workers=0
    )
    made = Session(config, store, fetcher=fetcher, clock=WallClock())
    monkeypatch.setattr("clew.run.session.Driver", lambda **given: Driver(**{**given, "late": late}))

    async def main():
        running = asyncio.create_task(made.run())
        third = asyncio.create_task(fetcher.third.wait())
        # A crawl that ends before its third request has failed: its error is told, not waited for.
        await asyncio.wait({running, third}, return_when=asyncio.FIRST_COMPLETED)
        third.cancel()
        fetcher.speak.set()
        return await asyncio.wait_for(running, 300)

    asyncio.run(main())
    assert len(fetcher.asked) == 3
