"""Stores by the place that is typed: a directory, `memory:`, or the scheme of a store that a package brings.

Another package brings a store by a `StoreBackend` and an entry point in its metadata; its name is the scheme:

    [project.entry-points."clew.stores"]
    postgresql = "my_package:BACKEND"
"""

from __future__ import annotations

import re
from pathlib import Path

from clew.errors import UsageError
from clew.plugins import Registry
from clew.store.base import Reader, Store, StoreBackend

OWN = {"sqlite": "clew.store.sqlite:BACKEND", "memory": "clew.store.memory:BACKEND"}
STORES: Registry[StoreBackend] = Registry(
    "clew.stores", OWN, lambda name, found: "" if isinstance(found, StoreBackend) else "it is no StoreBackend"
)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):(//)?")


def backend_of(place: Path | str) -> StoreBackend:
    """The store that keeps what is at a place; a place without a scheme is a directory.

    >>> backend_of("memory:") is STORES["memory"], backend_of("farms") is STORES["sqlite"]
    (True, True)
    """
    found = _SCHEME.match(place) if isinstance(place, str) else None
    if found is None:
        return STORES["sqlite"]
    if found[1] in STORES:
        return STORES[found[1]]
    if found[2]:
        raise UsageError(
            f"there is no store for {found[1]}: install the package that brings it, or give a directory; "
            f"installed: {', '.join(STORES)}"
        )
    return STORES["sqlite"]  # a directory with a colon in its name


def open_store(place: Path | str) -> Store:
    """Begin a crawl at a new place, or take one up again.

    >>> with open_store("memory:") as store:
    ...     store.counts().pages
    0
    """
    return backend_of(place).open(str(place))


def open_reader(place: Path | str) -> Reader:
    """Read a crawl, whether or not one is running there.

    Raises `StoreForeign` with the reason when there is none, it is damaged, or needs another clew.
    """
    return backend_of(place).read(str(place))


def is_crawl(place: Path | str) -> bool:
    """Whether there is a crawl to resume or read at a place.

    >>> is_crawl("/nonexistent"), is_crawl("memory:")
    (False, False)
    """
    return backend_of(place).exists(str(place))


def folder_of(place: Path | str) -> Path | None:
    """Where log and report of a crawl go, unless the user says where; None for nowhere."""
    return backend_of(place).folder(str(place))
