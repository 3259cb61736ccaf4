"""`read_visits`: a database of visits becomes the arrays of a `VisitLog`: of people, and of pages k saw."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from clew.errors import StoreForeign
from clew.factor.visit_log import VisitLog
from clew.store.faults import UNDECODABLE
from clew.visits.database import VisitsDatabase
from clew.visits.people import PeopleCounts, PersonLimits, persons, sessions

#: Formats of one's own browser: who has nothing else in a database is at home.
_OWN = frozenset({"har", "chrome", "firefox"})
#: How many people must have seen a page for it to be spoken of: what may be shared, what stays at home.
SHARED_K, HOME_K = 3, 1


@dataclass(frozen=True, slots=True)
class VisitsRead:
    """A log, and what was left out of it."""

    log: VisitLog
    people: PeopleCounts
    pages: int
    """Pages that people visited, those of fewer than k people too."""


def default_k(database: VisitsDatabase) -> int:
    """1 where there is nothing but one's own browser's history, else 3."""
    formats = {name for (name,) in database.rows("SELECT DISTINCT format FROM logs")}
    return HOME_K if formats and formats <= _OWN else SHARED_K


def read_visits(place: Path, k: int | None = None, limits: PersonLimits | None = None) -> VisitsRead:
    """The visits of people, with the pages that at least `k` of them saw; groups and robots left out."""
    limits = limits or PersonLimits()
    with VisitsDatabase(place) as database:
        try:
            return _read(database, default_k(database) if k is None else k, limits)
        except UNDECODABLE as error:
            raise StoreForeign(f"{place} is damaged ({str(error)[:200]}): import the logs again") from error


def _read(database: VisitsDatabase, k: int, limits: PersonLimits) -> VisitsRead:
    total = int(database.one("SELECT count(*) FROM visits"))
    rows = np.fromiter(
        database.rows("SELECT person, time, page FROM visits"),
        np.dtype([("p", "i8"), ("t", "i8"), ("g", "i8")]),
        total,
    )
    names, who = np.unique(rows["p"], return_inverse=True)
    order = np.lexsort((rows["g"], rows["t"], who))
    who, times, pages = who[order].astype(np.int64), rows["t"][order], rows["g"][order]
    del rows
    asked = np.array([person for (person,) in database.rows("SELECT person FROM robots")], np.int64)
    robots = np.flatnonzero(np.isin(names, asked))
    kept, counts = persons(times, who, robots, limits)
    who, times, pages = who[kept], times[kept], pages[kept]
    seen, pages = np.unique(pages, return_inverse=True)
    # One person counts once for a page, however often they came.
    pairs = np.unique(np.stack([pages, who]), axis=1)
    known = np.bincount(pairs[0], minlength=len(seen)) >= k
    inside = known[pages]
    who, times, pages = who[inside], times[inside], pages[inside]
    session = sessions(times, who, limits.gap)
    place = np.cumsum(known) - 1
    keys = seen[known]
    urls = [database.one("SELECT url FROM pages WHERE page = ?", (int(key),)) or "" for key in keys.tolist()]
    number = {int(key): at for at, key in enumerate(keys.tolist())}
    led_on = _redirects(database, frozenset(names[np.unique(who)].tolist()), k)
    aliases = {
        page: number[target] for page, target in led_on.items() if target in number and page not in number
    }
    people, who = np.unique(who, return_inverse=True)
    digest = blake2b(digest_size=16)
    for array in (names[people] if len(people) else people, who, times, place[pages], keys):
        digest.update(np.ascontiguousarray(array, "<i8").tobytes())
    digest.update(repr((k, limits, sorted(aliases.items()))).encode())
    log = VisitLog(
        urls=tuple(map(str, urls)),
        keys=keys.view(np.uint64),
        aliases=aliases,
        people=len(people),
        person=who.astype(np.int64),
        page=place[pages].astype(np.int64),
        session=session,
        k=k,
        digest=digest.hexdigest(),
    )
    return VisitsRead(log, counts, len(seen))


def _redirects(database: VisitsDatabase, people: Collection[int], k: int) -> dict[int, int]:
    """Where pages led on to, of those that led at least `k` of these people on: a page that fewer asked for
    is as unknown as one that fewer saw. Of several targets, that of most people."""
    asked = "SELECT DISTINCT page, target, person FROM redirects ORDER BY page, target"
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for page, target, person in database.rows(asked):
        if person in people:
            found[page][target] += 1
    most = {page: targets.most_common(1)[0] for page, targets in found.items()}
    return {page: target for page, (target, count) in most.items() if count >= k}
