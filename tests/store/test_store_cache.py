"""The page cache: a page is downloaded once, never wrongly, and a broken cache stops nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from clew.errors import FetchError, Reason, StoreForeign
from clew.fetch.base import Request, Response
from clew.store.cache import CachingFetcher, PageCache

A = "http://a.example/"


class Web:
    """Answers every request, and counts."""

    def __init__(self, **reply) -> None:
        self.reply = {"status": 200, "headers": (("Content-Type", "text/html"),), "body": b"wind"} | reply
        self.asked: list[str] = []
        self.closed = False

    async def fetch(self, request: Request) -> Response:
        self.asked.append(request.url)
        if "error" in self.reply:
            raise FetchError(Reason.TIMEOUT, "no reply")
        return Response(url=request.url, wire=4, address="192.0.2.1", **self.reply)

    async def close(self) -> None:
        self.closed = True


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def caching(web: Web, path: Path, clock: Clock, max_age: float = 60.0, **options) -> CachingFetcher:
    return CachingFetcher(web, PageCache(path), max_age, clock, **options)


async def test_a_page_is_fetched_once(tmp_path: Path, clock: Clock) -> None:
    web = Web()
    fetcher = caching(web, tmp_path, clock)
    first, second = await fetcher.fetch(Request(A)), await fetcher.fetch(Request(A))
    assert web.asked == [A]
    assert (first.cached, second.cached) == (False, True)
    assert (second.status, second.headers, second.body) == (first.status, first.headers, first.body)
    assert (fetcher.hits, fetcher.misses) == (1, 1)
    await fetcher.close()
    assert web.closed


async def test_crawls_share_it(tmp_path: Path, clock: Clock) -> None:
    for _ in range(2):
        fetcher = caching(web := Web(), tmp_path / "cache", clock)
        reply = await fetcher.fetch(Request(A))
        await fetcher.close()
    assert reply.cached
    assert web.asked == []


@pytest.mark.parametrize(("age", "cached"), [(59.0, True), (60.0, True), (61.0, False), (-1.0, False)])
async def test_a_reply_is_used_until_it_is_old(
    tmp_path: Path, clock: Clock, age: float, cached: bool
) -> None:
    fetcher = caching(Web(), tmp_path, clock)
    await fetcher.fetch(Request(A))
    clock.now += age
    assert (await fetcher.fetch(Request(A))).cached is cached
    await fetcher.close()


async def test_robots_txt_is_asked_for_every_day_whatever_the_age(tmp_path: Path, clock: Clock) -> None:
    fetcher = caching(Web(), tmp_path, clock, max_age=1e9)
    await fetcher.fetch(Request(f"{A}robots.txt"))
    clock.now += 86_399
    assert (await fetcher.fetch(Request(f"{A}robots.txt"))).cached
    clock.now += 2
    assert not (await fetcher.fetch(Request(f"{A}robots.txt"))).cached
    await fetcher.close()


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ({"status": 301}, True),
        ({"status": 404}, True),
        ({"status": 302}, False),
        ({"status": 503}, False),
        ({"status": 429}, False),
        ({"truncated": True}, False),
        ({"headers": (("cache-control", "max-age=60, NO-STORE"),)}, False),
        ({"headers": (("Vary", "*"),)}, False),
        ({"headers": (("Vary", "Accept-Encoding"),)}, True),
    ],
)
async def test_only_what_lasts_is_kept(tmp_path: Path, clock: Clock, reply: dict, kept: bool) -> None:
    web = Web(**reply)
    fetcher = caching(web, tmp_path, clock)
    await fetcher.fetch(Request(A))
    assert (await fetcher.fetch(Request(A))).cached is kept
    await fetcher.close()


async def test_a_page_that_must_no_longer_be_stored_is_forgotten(tmp_path: Path, clock: Clock) -> None:
    cache = PageCache(tmp_path)
    assert cache.put(Response(url=A, status=200), 0.0)
    assert not cache.put(Response(url=A, status=200, headers=(("Cache-Control", "no-store"),)), 1.0)
    assert cache.get(A) is None
    cache.close()


async def test_an_error_is_passed_on_and_not_kept(tmp_path: Path, clock: Clock) -> None:
    fetcher = caching(Web(error=True), tmp_path, clock)
    for _ in range(2):
        with pytest.raises(FetchError, match="no reply"):
            await fetcher.fetch(Request(A))
    assert fetcher.hits == 0
    await fetcher.close()


async def test_a_limit_holds_for_cached_replies_too(tmp_path: Path, clock: Clock) -> None:
    fetcher = caching(Web(), tmp_path, clock)
    await fetcher.fetch(Request(A))
    reply = await fetcher.fetch(Request(A, limit=2))
    assert (reply.body, reply.truncated, reply.cached) == (b"wi", True, True)
    await fetcher.close()


async def test_replies_to_different_headers_are_kept_apart(tmp_path: Path, clock: Clock) -> None:
    one, two = (caching(Web(), tmp_path, clock, variant=variant) for variant in ("en", "de"))
    await one.fetch(Request(A))
    assert not (await two.fetch(Request(A))).cached
    assert (await one.fetch(Request(A))).cached
    await one.close()
    await two.close()


@pytest.mark.parametrize("column", ["body = x'00'", "headers = '[1'", "status = 404", "hash = x''"])
def test_a_damaged_entry_counts_as_absent(tmp_path: Path, column: str) -> None:
    cache = PageCache(tmp_path)
    cache.put(Response(url=A, status=200, body=b"wind" * 100), 0.0)
    with closing(sqlite3.connect(tmp_path / "cache.db")) as connection, connection:
        connection.execute(f"UPDATE replies SET {column}")
    assert cache.get(A) is None
    cache.close()


async def test_a_cache_that_breaks_under_way_stops_nothing(tmp_path: Path, clock: Clock) -> None:
    fetcher = caching(web := Web(), tmp_path, clock)
    await fetcher.fetch(Request(A))
    with closing(sqlite3.connect(tmp_path / "cache.db")) as connection, connection:
        connection.execute("DROP TABLE replies")
    assert (await fetcher.fetch(Request(A))).body == b"wind"
    assert web.asked == [A, A]
    assert fetcher.errors == 2
    await fetcher.close()


@pytest.mark.parametrize("content", [b"my notes" * 200, None])
def test_something_else_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "cache.db"
    if content is None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE notes (text)")
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(StoreForeign):
        PageCache(tmp_path)
    assert path.read_bytes() == before


def test_several_processes_fill_it_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from clew.store.cache import PageCache; from clew.fetch.base import Response\n"
        f"cache = PageCache({str(tmp_path)!r})\n"
        "for i in range(100):\n"
        "    url = f'http://{sys.argv[1]}.example/{i}'\n"
        "    cache.put(Response(url=url, status=200, body=b'x' * 1000), 0.0)\n"
        "cache.close()\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", program, name]) for name in ("a", "b")]
    assert [worker.wait() for worker in workers] == [0, 0]
    cache = PageCache(tmp_path)
    assert len(cache) == 200
    assert cache.prune(1.0) == 200
    cache.close()


async def test_what_was_shown_to_one_who_is_known_is_not_used_for_an_anonymous_request(
    tmp_path, clock
) -> None:
    web = Web()
    fetcher = caching(web, tmp_path, clock)
    for _ in range(2):
        await fetcher.fetch(Request(A))
        await fetcher.fetch(Request(A, anonymous=True))
    assert web.asked == [A, A]
    await fetcher.close()
