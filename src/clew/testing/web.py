"""Webs for tests: a few pages written by hand, or the demo web with its ground truth."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from clew.errors import FetchError
from clew.fetch.base import Response
from clew.lab.demo import DemoWeb
from clew.url import canonical

__all__ = ["DemoWeb", "StaticWeb", "link_page", "made_up_word"]

_SOUNDS = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "la",
    "me",
    "ni",
    "po",
    "ru",
    "sa",
    "te",
    "vi",
    "wo",
    "zu",
    "an",
    "el",
)


def made_up_word(dice: random.Random, sounds: int) -> str:
    """A word of no language, of so many sounds.

    >>> made_up_word(random.Random(1), 3)
    'dizuvi'
    """
    return "".join(dice.choices(_SOUNDS, k=sounds))


class StaticWeb:
    """A web written down by hand: URL -> HTML, a whole `Response`, or a `FetchError` to raise.

    Links are given with `link_page`, or written into the HTML.

    >>> web = StaticWeb({"http://a.example/": "<title>A</title>"})
    >>> web.get("http://a.example/").body
    b'<title>A</title>'
    >>> web.get("http://a.example/b") is None
    True
    """

    def __init__(self, pages: Mapping[str, str | Response | FetchError], name: str = "static") -> None:
        self.name = name
        self._pages = {canonical(url) or url: page for url, page in pages.items()}

    def get(self, url: str) -> Response | None:
        """What was given for that URL."""
        page = self._pages.get(url)
        if isinstance(page, FetchError):
            raise page
        if isinstance(page, str):
            body = page.encode()
            headers = (("Content-Type", "text/html; charset=utf-8"),)
            return Response(url=url, status=200, headers=headers, body=body, wire=len(body))
        return page

    def urls(self) -> Iterator[str]:
        """The URLs that have a reply, in the order given."""
        return (url for url, page in self._pages.items() if not isinstance(page, FetchError))

    def labels(self, url: str) -> tuple[str, ...]:
        """None."""
        return ()

    def seeds(self) -> tuple[str, ...]:
        """The first URL."""
        return tuple(self._pages)[:1]

    def __repr__(self) -> str:
        return f"StaticWeb({self.name!r}, {len(self._pages)} pages)"


def link_page(title: str, text: str, **links: str) -> str:
    """A small HTML page with a title, a text and links by anchor.

    >>> link_page("A", "hello", there="http://b.example/")
    '<!doctype html><html lang=en><title>A</title><p>hello</p><a href="http://b.example/">there</a></html>'
    """
    shown = "".join(f'<a href="{url}">{anchor.replace("_", " ")}</a>' for anchor, url in links.items())
    return f"<!doctype html><html lang=en><title>{title}</title><p>{text}</p>{shown}</html>"
