"""A crawl of pages that a browser rendered goes by what they became, and is taken up again by it."""

import asyncio

from warcio.archiveiterator import ArchiveIterator

from clew.fetch import Response
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import SqliteStore, open_reader
from clew.store.recorded import CrawlWeb

SITE = "http://app.example"
COUNT = 12


def rendering(number: int) -> str:
    links = "".join(
        f"<a href='/{i}'>turbine {i}</a> " for i in range(2 * number + 1, 2 * number + 3) if i < COUNT
    )
    return f"<html><body><p>wind and page {number} of its own, {'x' * number}</p>{links}</body></html>"


class Rendering:
    """Serves the same empty shell for every page, with what a browser would make of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, request):
        self.asked.append(request.url)
        if request.url.endswith("/robots.txt"):
            return Response(url=request.url, status=404)
        number = int(request.url.removeprefix(f"{SITE}/") or 0)
        return Response(
            url=request.url,
            status=200,
            headers=(("Content-Type", "text/html; charset=utf-16"),),
            body=b"<div id=app></div><script src=/app.js></script>",
            wire=50,
            rendered=rendering(number).encode(),
            subrequests=2,
        )

    async def close(self) -> None: ...


def session(store, pages, fetcher, **more):
    config = CrawlConfig(seeds=(f"{SITE}/",), match="wind", pages=pages, delay=0.25, **more)
    return Session(config, store, fetcher=fetcher, clock=VirtualClock(1e9))


def run(directory, pages):
    fetcher = Rendering()
    with SqliteStore(directory) as store:
        return asyncio.run(session(store, pages, fetcher).run()), fetcher.asked, store.counts()


def test_what_the_browser_made_of_a_page_is_what_is_learned_again(tmp_path):
    known = []
    for pages in (6, 6):
        with SqliteStore(tmp_path / "crawl") as store:
            ran = session(store, pages, Rendering(), strategy="intelligent")
            asyncio.run(ran.run())
            known.append((ran.crawl.strategy.knowledge, store.load().learned))
    (first, saved), (second, saved_again) = known
    assert (first.pages, first.satisfied) == (6, 6)
    assert first == second
    assert saved == saved_again


def test_what_the_browser_made_of_a_page_is_what_counts_also_after_a_stop(tmp_path):
    finished, asked, _ = run(tmp_path / "crawl", 5)
    assert (finished.pages, finished.matches) == (5, 5)
    assert finished.requests == 1 + 5 * 3
    finished, again, counts = run(tmp_path / "crawl", 100)
    assert (finished.pages, finished.matches, finished.reason) == (COUNT, COUNT, "frontier empty")
    assert not {url for url in asked if "robots" not in url} & set(again)
    assert (counts.rendered, counts.wire, counts.requests) == (COUNT, COUNT * 50, finished.requests)
    with open_reader(tmp_path / "crawl") as reader:
        assert all(row.rendered and row.text.startswith("wind and page") for row in reader.pages())


def test_the_archive_has_both_and_a_replay_gives_both(tmp_path):
    run(tmp_path / "crawl", 100)
    web = CrawlWeb(tmp_path / "crawl")
    reply = web.get(f"{SITE}/3")
    assert reply.body.startswith(b"<div id=app>")
    assert reply.rendered == rendering(3).encode()
    web.close()
    kinds: dict[str, int] = {}
    for file in (tmp_path / "crawl" / "pages").iterdir():
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                kinds[record.rec_type] = kinds.get(record.rec_type, 0) + 1
                record.content_stream().read()
    assert kinds == {"warcinfo": 1, "response": COUNT + 1, "conversion": COUNT}
