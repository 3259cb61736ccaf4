"""What every `Fetcher` must do, as checks that any test runner can call.

The checks fetch pages of a web whose content is known, through the fetcher under test, and raise
`AssertionError` with a sentence when it breaks the contract. They make no difference between a fetcher that
reads the web in memory and one that reaches it over HTTP.
"""

from __future__ import annotations

import asyncio

from clew.errors import FetchError
from clew.fetch.base import Fetcher, Request, Response
from clew.fetch.replay import RecordedWeb, not_recorded

MISSING = "clew-contract-no-such-page"


class FetcherContract:
    """The checks one by one. `web` is what the fetcher is expected to answer from.

    `sample` is how many of the web's URLs are looked at.
    """

    def __init__(self, fetcher: Fetcher, web: RecordedWeb, sample: int = 40) -> None:
        self.fetcher = fetcher
        self.web = web
        urls = list(web.urls())
        assert urls, "the contract needs a web with at least one page"
        self.urls = urls[:: max(1, len(urls) // sample)]

    async def check_replies(self) -> None:
        """Status, type, location and body are the web's, whatever the status; nothing is followed."""
        for url in self.urls:
            expected = self.web.get(url)
            assert expected is not None, f"{url} is listed by the web but has no reply"
            got = await self.fetcher.fetch(Request(url))
            _same(expected, got)

    async def check_missing(self) -> None:
        """What the web does not have is a reply with status 404, not an error."""
        origin = "/".join(self.urls[0].split("/")[:3])
        url = f"{origin}/{MISSING}"
        assert self.web.get(url) is None, f"{url} should not exist"
        _same(not_recorded(url), await self.fetcher.fetch(Request(url)))

    async def check_limit(self) -> None:
        """A body longer than the request's limit is cut there and marked."""
        for url in self.urls:
            expected = self.web.get(url)
            if expected is not None and len(expected.body) > 10:
                got = await self.fetcher.fetch(Request(url, limit=10))
                assert got.body == expected.body[:10], f"{url}: limit 10 gave {len(got.body)} bytes"
                assert got.truncated, f"{url} was cut but is not marked as truncated"
                return

    async def check_repeatable(self) -> None:
        """A request gives the same reply again, also when several are under way at once."""
        batch = self.urls[:8]
        first = await asyncio.gather(*(self.fetcher.fetch(Request(url)) for url in batch))
        for url, one in zip(batch, first, strict=True):
            _same(one, await self.fetcher.fetch(Request(url)))

    async def check_failures(self, failing: tuple[str, ...]) -> None:
        """A URL that gives no reply raises `FetchError`, and nothing else."""
        for url in failing:
            try:
                reply = await self.fetcher.fetch(Request(url))
            except FetchError:
                continue
            raise AssertionError(f"{url} should have failed, but gave {reply.status}")

    async def check_all(self) -> None:
        """Every check that needs nothing but the web."""
        await self.check_replies()
        await self.check_missing()
        await self.check_limit()
        await self.check_repeatable()


async def check_fetcher(fetcher: Fetcher, web: RecordedWeb, *, failing: tuple[str, ...] = ()) -> None:
    """Run the whole contract; `failing` are URLs that must raise `FetchError`.

    >>> from clew.fetch.replay import ReplayFetcher
    >>> from clew.lab.demo import DemoWeb
    >>> asyncio.run(check_fetcher(ReplayFetcher(DemoWeb()), DemoWeb()))
    """
    contract = FetcherContract(fetcher, web)
    await contract.check_all()
    await contract.check_failures(failing)


def _same(expected: Response, got: Response) -> None:
    url = expected.url
    assert got.url == url, f"asked for {url}, the reply says {got.url}"
    assert got.status == expected.status, f"{url}: status {got.status}, expected {expected.status}"
    for name in ("content-type", "location", "retry-after"):
        assert got.header(name) == expected.header(name), f"{url}: header {name} is {got.header(name)!r}"
    assert got.body == expected.body, f"{url}: the body differs ({len(got.body)} bytes)"
    assert not got.truncated, f"{url}: marked as truncated, but it is whole"
