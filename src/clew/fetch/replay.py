"""`RecordedWeb`, a web that was written down, and `ReplayFetcher`, which answers from one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol, runtime_checkable

from clew.fetch.base import Request, Response

NOT_RECORDED = b"This page is not part of the recorded web.\n"


@runtime_checkable
class RecordedWeb(Protocol):
    """A web that was written down: a corpus, a crawl directory, a WARC, a generated web.

    `get` must give the same reply to the same URL every time it is asked.
    """

    @property
    def name(self) -> str: ...

    def get(self, url: str) -> Response | None:
        """The reply recorded for a canonical URL; None when there is none.

        Raises `FetchError` where what was recorded is a failure.
        """
        ...

    def urls(self) -> Iterator[str]:
        """Every canonical URL that has a reply, in a fixed order."""
        ...


def not_recorded(url: str) -> Response:
    """The 404 that stands for what a recorded web does not have.

    The replay fetcher and the proxy share it, so that both ways to read a recorded web agree to the byte.

    >>> not_recorded("http://a.example/robots.txt").status
    404
    """
    headers = (("Content-Type", "text/plain; charset=utf-8"),)
    return Response(url=url, status=404, headers=headers, body=NOT_RECORDED, wire=len(NOT_RECORDED))


class ReplayFetcher:
    """A `Fetcher` over a recorded web: no network, no clock, the same answer every time.

    `record` is called with every request and its reply, for a request log; it is not called for a
    recorded failure, which is raised as `FetchError`.

    >>> import asyncio
    >>> class Empty:
    ...     name = "empty"
    ...     def get(self, url): return None
    ...     def urls(self): return iter(())
    >>> asyncio.run(ReplayFetcher(Empty()).fetch(Request("http://a.example/"))).status
    404
    """

    def __init__(
        self, web: RecordedWeb, *, record: Callable[[Request, Response], None] | None = None
    ) -> None:
        self.web = web
        self.record = record

    async def fetch(self, request: Request) -> Response:
        """The recorded reply, cut to the request's limit; a 404 where nothing was recorded."""
        response = self.web.get(request.url) or not_recorded(request.url)
        if request.limit is not None and len(response.body) > request.limit:
            response = replace(response, body=response.body[: request.limit], truncated=True, raw=None)
        if self.record is not None:
            self.record(request, response)
        return response

    async def close(self) -> None:
        """Nothing to let go of: the web belongs to whoever opened it."""

    def __repr__(self) -> str:
        return f"ReplayFetcher({self.web.name!r})"
