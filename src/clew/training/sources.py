"""Where examples come from: files, folders, URLs, the finds of a crawl.

A folder with `positive/` or `negative/` in it is examples of both kinds. URLs go through the one door, by
the fetcher that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clew import url as urls
from clew.errors import UsageError
from clew.fetch.base import Fetcher, Request
from clew.page import Page
from clew.parse import parse_page
from clew.topic import Example
from clew.training.documents import checked, read_file, read_folder

CRAWL = "crawl:"
_REDIRECTS = 10

#: Fetches one page.
Ask = Callable[[str], Page]


def is_url(source: str) -> bool:
    """Whether a source is a web page."""
    return source.startswith(("http://", "https://"))


def read_source(source: str, ask: Ask) -> dict[str, list[Example]]:
    """Examples from one place, by side: `positive`, `negative`."""
    if is_url(source):
        return {"positive": [checked(source, ask(source))]}
    if source.startswith(CRAWL):
        return {"positive": finds_of(source.removeprefix(CRAWL))}
    path = Path(source)
    if path.is_dir():
        sides = {
            side: read_folder(path / side) for side in ("positive", "negative") if (path / side).is_dir()
        }
        return sides or {"positive": read_folder(path)}
    if not path.exists():
        raise UsageError(
            f"there is no file or folder {source!r}: examples are files, folders, http(s) URLs, crawl:DIR or "
            "corpus:NAME/LABEL"
        )
    return {"positive": [read_file(path)]}


def finds_of(place: str) -> list[Example]:
    """The pages that a crawl found."""
    from clew.store import is_crawl, open_reader

    if not is_crawl(place):
        raise UsageError(f"there is no crawl in {place}: write crawl:DIR with the directory of one")
    with open_reader(place) as reader:
        found = [
            checked(row.url, Page(url=row.url, title=row.title, text=row.text, language=row.lang))
            for row in reader.pages(matched=True)
            if row.text.strip()
        ]
    if not found:
        raise UsageError(f"the crawl in {place} has found nothing yet: there are no examples to take")
    return found


async def fetch_page(fetcher: Fetcher, url: str) -> Page:
    """One page of the user's choosing, asked for by hand: like a browser, without asking robots.txt."""
    target = urls.canonical(url) or url
    for _ in range(_REDIRECTS):
        reply = await fetcher.fetch(Request(target))
        onward = reply.header("location")
        if reply.status not in (301, 302, 303, 307, 308) or not onward:
            break
        target = urls.canonical(onward, target) or target
    if reply.status >= 300:
        raise UsageError(f"{target} gave status {reply.status}: there is no page to read")
    return parse_page(
        reply.body,
        url=target,
        status=reply.status,
        content_type=reply.header("content-type"),
        headers=reply.headers,
        depth=0,
    )
