"""A page cache that crawls share, so that a page is downloaded once.

One SQLite file, safe for several processes at once. It is an aid, never a need: an entry that is
damaged counts as absent, and when the cache cannot be read or written the crawl goes on without it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import xxhash
import zstandard

from clew.errors import StoreError, StoreForeign
from clew.fetch.base import Fetcher, Locator, Request, Response
from clew.store.faults import mapped

_APPLICATION_ID = 0x636C6579
_VERSION = 1
_ROBOTS_AGE = 86_400.0
_BODY_LIMIT = 1 << 30

KEPT = frozenset({200, 203, 301, 308, 404, 410})
"""Replies that may be used again without asking: content, permanent moves, permanent absence."""


@dataclass(frozen=True, slots=True)
class Cached:
    """A reply with the time it was fetched."""

    response: Response
    fetched_at: float


class PageCache:
    """Replies by URL. Parameters: a directory, made when it does not exist.

    >>> import tempfile
    >>> cache = PageCache(tempfile.mkdtemp())
    >>> cache.put(Response(url="http://a.example/", status=200, body=b"wind"), 100.0)
    True
    >>> cache.get("http://a.example/").response.body
    b'wind'
    >>> cache.close()
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path) / "cache.db"
        with mapped(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = _open(self.path)
        self._pack = zstandard.ZstdCompressor(level=1)
        self._unpack = zstandard.ZstdDecompressor()

    def get(self, url: str, variant: str = "") -> Cached | None:
        """The reply kept for a URL; None when there is none, or none that is whole.

        Parameters: a canonical URL; what else the reply depended on, e.g. a digest of request headers.
        """
        with mapped(self.path):
            row = self._db.execute(
                "SELECT status, headers, body, size, hash, fetched_at, wire, address FROM replies "
                "WHERE url = ? AND variant = ?",
                (url, variant),
            ).fetchone()
        try:
            return None if row is None else self._reply(url, row)
        except (ValueError, TypeError, zstandard.ZstdError):
            return None

    def put(self, response: Response, fetched_at: float, variant: str = "") -> bool:
        """Keep a reply, in place of an older one; False when it is not one to keep.

        Incomplete replies, passing ones (errors of the server, temporary redirects) and those whose
        server forbids it (`Cache-Control: no-store`, `Vary: *`) are not kept.
        """
        with mapped(self.path):
            if not keepable(response):
                self._db.execute("DELETE FROM replies WHERE url = ? AND variant = ?", (response.url, variant))
                return False
            body = self._pack.compress(response.body)
            headers = json.dumps(response.headers)
            digest = _hash(response.status, headers, body)
            row = (response.status, headers, body, len(response.body), digest, fetched_at)
            self._db.execute(
                f"REPLACE INTO replies VALUES ({', '.join('?' * 10)})",
                (response.url, variant, *row, response.wire, response.address),
            )
        return True

    def prune(self, before: float) -> int:
        """Forget what was fetched before a time; gives how many replies that were."""
        with mapped(self.path):
            return self._db.execute("DELETE FROM replies WHERE fetched_at < ?", (before,)).rowcount

    def close(self) -> None:
        self._db.close()

    def __len__(self) -> int:
        with mapped(self.path):
            return int(self._db.execute("SELECT count(*) FROM replies").fetchone()[0])

    def __repr__(self) -> str:
        return f"PageCache({str(self.path.parent)!r})"

    def _reply(self, url: str, row: tuple[int, str, bytes, int, bytes, float, int, str]) -> Cached | None:
        status, headers, packed, size, digest, fetched_at, wire, address = row
        if digest != _hash(status, headers, packed) or size > _BODY_LIMIT:
            return None
        body = self._unpack.decompress(packed, max_output_size=size) if size else b""
        response = Response(
            url=url,
            status=status,
            headers=tuple((name, value) for name, value in json.loads(headers)),
            body=body,
            wire=wire,
            address=address,
            cached=True,
        )
        return Cached(response, fetched_at)


class CachingFetcher:
    """A `Fetcher` that looks into the cache first and puts what it fetched there.

    Parameters: the fetcher behind it; the cache; the greatest age in seconds of a reply used again
    (a day at most for robots.txt); the clock; `variant`, what else replies depend on. Both the
    fetcher and the cache are closed with it.
    """

    def __init__(
        self,
        inner: Fetcher,
        cache: PageCache,
        max_age: float,
        clock: Callable[[], float],
        *,
        variant: str = "",
    ) -> None:
        self.inner = inner
        self.cache = cache
        self.max_age = max_age
        self.clock = clock
        self.variant = variant
        self.hits = self.misses = self.errors = 0
        # Another process may hold the file for a moment: the event loop must not wait for it.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="clew-cache")

    async def fetch(self, request: Request) -> Response:
        """A fresh reply from the cache, marked `cached`, or one from the fetcher."""
        loop = asyncio.get_running_loop()
        # What is shown to one who is known is not what is shown to all.
        variant = f"{self.variant}:anonymous" if request.anonymous else self.variant
        found = await loop.run_in_executor(self._thread, self._look, request.url, variant)
        if found is not None and self._fresh(found, request.url):
            self.hits += 1
            return _cut(found.response, request.limit)
        self.misses += 1
        response = await self.inner.fetch(request)
        if not response.cached:
            await loop.run_in_executor(self._thread, self._keep, response, self.clock(), variant)
        return response

    @property
    def locates(self) -> bool:
        """Whether the fetcher behind the cache knows where hosts live."""
        return isinstance(self.inner, Locator) and self.inner.locates

    async def locate(self, host: str) -> tuple[str, ...]:
        """All addresses of a host."""
        return await self.inner.locate(host) if isinstance(self.inner, Locator) else ()

    async def close(self) -> None:
        """Close the fetcher and the cache."""
        self._thread.shutdown(wait=True)
        self.cache.close()
        await self.inner.close()

    def __repr__(self) -> str:
        return f"CachingFetcher({self.inner!r}, {self.hits} hits, {self.misses} misses, {self.errors} errors)"

    def _fresh(self, found: Cached, url: str) -> bool:
        robots = urlsplit(url).path == "/robots.txt"
        limit = min(self.max_age, _ROBOTS_AGE) if robots else self.max_age
        # A reply from the future tells of a clock that was wrong then or is wrong now.
        return 0.0 <= self.clock() - found.fetched_at <= limit

    def _look(self, url: str, variant: str) -> Cached | None:
        try:
            return self.cache.get(url, variant)
        except StoreError:
            self.errors += 1
            return None

    def _keep(self, response: Response, now: float, variant: str) -> None:
        try:
            self.cache.put(response, now, variant)
        except StoreError:
            self.errors += 1


def keepable(response: Response) -> bool:
    """Whether a reply may be used again later.

    >>> keepable(Response(url="http://a.example/", status=200, headers=(("Cache-Control", "No-Store"),)))
    False
    """
    if response.status not in KEPT or response.truncated:
        return False
    controls = {name.lower(): value.lower() for name, value in response.headers}
    every = [value for name, value in response.headers if name.lower() == "cache-control"]
    directives = {part.strip() for part in ",".join(every).lower().split(",")}
    return "no-store" not in directives and controls.get("vary", "").strip() != "*"


def _cut(response: Response, limit: int | None) -> Response:
    if limit is None or len(response.body) <= limit:
        return response
    return replace(response, body=response.body[:limit], truncated=True)


def _hash(status: int, headers: str, body: bytes) -> bytes:
    """Guards against a damaged disk, not against an enemy who can write to it."""
    return xxhash.xxh3_128_digest(b"%d\n%s\n%s" % (status, headers.encode(), body))


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=30.0, check_same_thread=False)
    try:
        # Read at one moment: another process may be making the cache just now.
        connection.execute("BEGIN")
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("COMMIT")
        if tables and owner != _APPLICATION_ID:
            raise StoreForeign(f"{path} is not a page cache of clew's: choose another directory")
        if version > _VERSION:
            raise StoreForeign(
                f"{path} was written by a newer clew: upgrade clew, or choose another directory"
            )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS replies (url TEXT NOT NULL, variant TEXT NOT NULL, "
            "status INTEGER NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL, size INTEGER NOT NULL, "
            "hash BLOB NOT NULL, fetched_at REAL NOT NULL, wire INTEGER NOT NULL, address TEXT NOT NULL, "
            "PRIMARY KEY (url, variant))"
        )
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection
