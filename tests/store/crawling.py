"""Run as a process of its own: fills a crawl directory batch by batch, telling what is acknowledged."""

from __future__ import annotations

import random
import resource
import sys

from clew.errors import StoreError
from clew.fetch.base import Response
from clew.store import SqliteStore
from clew.testing.stores import decided, fetched, found


def url(number: int) -> str:
    return f"http://a.example/{number}"


def text(number: int) -> str:
    return f"page {number} " * (number % 50 + 1)


def crawl(store: SqliteStore, stop: int, every: int, padding: int) -> None:
    """Fetch pages one after another; each brings the next candidate."""
    saved = store.load()
    number = 0 if saved is None else saved.pages
    if saved is None:
        store.save([found(0, [url(0)])])
    while number < stop:
        body = text(number).encode() + random.Random(number).randbytes(padding)
        blob = store.append(Response(url=url(number), status=200, body=body), 1_700_000_000.0 + number)
        effects = [
            found(number + 1, [url(number + 1)], source=number),
            *fetched(number, url(number), text=text(number), blob=blob),
            decided(number + 1, url(number)),
        ]
        store.save(effects)
        number += 1
        if number % every == 0:
            store.flush()
            print(number, flush=True)


def main() -> None:
    directory, stop, every, limit = sys.argv[1], *map(int, sys.argv[2:5])
    try:
        store = SqliteStore(directory, rotate_at=1 << 30 if limit else 20_000)
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        crawl(store, stop, every, padding=50_000 if limit else 0)
        store.close()
    except StoreError as error:
        print(type(error).__name__, error, flush=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
