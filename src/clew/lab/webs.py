"""Recorded webs with labels and starting points: over corpus files, and over a crawl of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Protocol, runtime_checkable

from clew.fetch.base import Response
from clew.fetch.replay import RecordedWeb
from clew.lab.corpus_index import CorpusIndex
from clew.url import canonical

Change = Callable[[bytes], bytes]


@runtime_checkable
class LabelledWeb(RecordedWeb, Protocol):
    """A recorded web that knows what its pages are about and where to start."""

    def labels(self, url: str) -> tuple[str, ...]:
        """The labels of a page; none when it is unknown."""
        ...

    def seeds(self) -> tuple[str, ...]:
        """Sensible starting points."""
        ...


class CorpusWeb:
    """A recorded web over one or more indexed corpus files.

    `keep` says which kinds of page are in, `change` is applied to every body on its way out, `scheme`
    (if any) replaces the scheme of every URL. Of recorded pages left out, `collapsed` counts those whose
    canonical URL another one had first, `not_http` those that came by another protocol.
    """

    def __init__(
        self,
        name: str,
        indexes: tuple[CorpusIndex, ...],
        *,
        seeds: tuple[str, ...] = (),
        keep: Callable[[str], bool] = lambda kind: True,
        change: Change | None = None,
        scheme: str = "",
    ) -> None:
        self.name = name
        self.indexes = indexes
        self.change = change
        self.collapsed = 0
        self.not_http = 0
        self._seeds = seeds
        self._places: dict[str, tuple[int, int]] = {}
        for i, index in enumerate(indexes):
            for n, recorded, kind in index.listing():
                if keep(kind):
                    self._place(recorded, (i, n), scheme)

    def _place(self, recorded: str, place: tuple[int, int], scheme: str) -> None:
        url = canonical(scheme + recorded[recorded.index(":") :] if scheme else recorded)
        if url is None:
            self.not_http += 1
        elif url in self._places:
            self.collapsed += 1
        else:
            self._places[url] = place

    def get(self, url: str) -> Response | None:
        """The page recorded for a canonical URL."""
        place = self._places.get(url)
        if place is None:
            return None
        headers, body = self.indexes[place[0]].read(place[1])
        if self.change is not None:
            body = self.change(body)
        return Response(url=url, status=200, headers=headers, body=body, wire=len(body))

    def urls(self) -> Iterator[str]:
        """Every URL, in the order of the corpus."""
        return iter(self._places)

    def labels(self, url: str) -> tuple[str, ...]:
        """Subjects, class or package of a page."""
        place = self._places.get(url)
        return () if place is None else self.indexes[place[0]].labels(place[1])

    def seeds(self) -> tuple[str, ...]:
        """Starting points from which most of the web can be reached."""
        return self._seeds

    def close(self) -> None:
        """Let go of the index files."""
        for index in self.indexes:
            index.close()

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"CorpusWeb({self.name!r}, {len(self)} pages)"


class HttpOnlyWeb:
    """A recorded web with every https made http, in addresses and in pages: for crawlers behind a proxy that
    cannot look into a secure connection."""

    def __init__(self, web: LabelledWeb) -> None:
        self.web = web

    @property
    def name(self) -> str:
        return self.web.name

    def get(self, url: str) -> Response | None:
        """The reply recorded for a canonical URL, by whichever of the two it was asked for then."""
        found = self.web.get(url) or self.web.get(url.replace("http://", "https://", 1))
        if found is None:
            return None
        headers = tuple([(name, _without_tls(value)) for name, value in found.headers])
        body = found.body.replace(b"https://", b"http://")
        return replace(found, url=url, headers=headers, body=body, wire=len(body))

    def urls(self) -> Iterator[str]:
        """Every URL, in the order of the web."""
        return iter(dict.fromkeys(map(_without_tls, self.web.urls())))

    def labels(self, url: str) -> tuple[str, ...]:
        """The labels of a page."""
        return self.web.labels(url) or self.web.labels(url.replace("http://", "https://", 1))

    def seeds(self) -> tuple[str, ...]:
        """The starting points of the web."""
        return tuple(map(_without_tls, self.web.seeds()))

    def __repr__(self) -> str:
        return f"HttpOnlyWeb({self.web!r})"


def _without_tls(text: str) -> str:
    return text.replace("https://", "http://")


class PlainWeb:
    """A crawl directory or a WARC to be crawled again: no labels; it starts at its first page."""

    def __init__(self, web: RecordedWeb) -> None:
        self.web = web

    @property
    def name(self) -> str:
        return self.web.name

    def get(self, url: str) -> Response | None:
        """The reply recorded for a canonical URL."""
        return self.web.get(url)

    def urls(self) -> Iterator[str]:
        """Every recorded URL, in the order recorded."""
        return self.web.urls()

    def labels(self, url: str) -> tuple[str, ...]:
        """None: nobody labelled these pages."""
        return ()

    def seeds(self) -> tuple[str, ...]:
        """The first page recorded: a crawl begins at its seeds."""
        return tuple(islice(self.web.urls(), 1))

    def __repr__(self) -> str:
        return f"PlainWeb({self.web!r})"
