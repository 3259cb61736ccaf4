"""A crawl as somebody sees it who looks again and again: each look reads what came since the last, by number.

Nothing here reads a whole table, and each question is a short transaction of its own, so that a crawl under
way neither waits nor keeps its write-ahead log for a reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clew.messages import Decision, Journal, SaveHost
from clew.store import directory as layout
from clew.store import schema, snapshot
from clew.store.base import PageRow
from clew.store.faults import decoding
from clew.store.read import TRACE, WITH_TEXT, WITHOUT_TEXT, CrawlReader, decision_of, journal_entry
from clew.store.rows import address, in_parts, typed


class FollowedCrawl(CrawlReader):
    """The reading side of a crawl directory, asked for what is new."""

    def last_decision(self) -> int:
        """The number of the newest line of the trace; 0 when there is none."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM trace")[0])

    def traced(self, after: int, limit: int) -> tuple[list[tuple[int, Decision]], int]:
        """At most `limit` lines of the trace behind `after`, each with its session; and where to read on."""
        query = f"{TRACE.replace('joined FROM', 'joined, session FROM')} WHERE seq > ? ORDER BY seq LIMIT ?"
        found = []
        for *row, session in self._all(query, (after, limit)):
            after = max(after, int(row[0]))
            decision = self._guard.read(f"trace {row[0]}", decision_of, tuple(row))
            if decision is not None and isinstance(session, int):
                found.append((session, decision))
        return found, after

    def last_journal(self, limit: int) -> list[Journal]:
        """The newest entries of the journal, in order."""
        rows = self._all("SELECT id, after, entry FROM journal ORDER BY id DESC LIMIT ?", (limit,))
        found = [self._guard.read(f"journal {row[0]}", journal_entry, row) for row in reversed(rows)]
        return [entry for entry in found if entry is not None]

    def journalled(self, after: int, limit: int) -> tuple[list[Journal], int]:
        """At most `limit` entries of the journal behind `after`, and where to read on."""
        rows = self._all(
            "SELECT id, after, entry FROM journal WHERE id > ? ORDER BY id LIMIT ?", (after, limit)
        )
        found = [self._guard.read(f"journal {row[0]}", journal_entry, row) for row in rows]
        return [entry for entry in found if entry is not None], max([after, *[int(row[0]) for row in rows]])

    def copies(self, after: int, upto: int) -> int:
        """How many of the pages behind the one fetched as number `after`, up to `upto`, repeat another."""
        query = "SELECT count(*) FROM pages WHERE seq > ? AND seq <= ? AND duplicate_of >= 0"
        return int(self._all(query, (after, upto))[0][0])

    def matched(self, pages: int) -> list[tuple[int, float, str]]:
        """The finds among the first so many pages, as they are judged now: number, degree and address of
        each, in the order fetched."""
        query = (
            "SELECT p.candidate, p.score, c.url FROM pages p JOIN candidates c ON c.id = p.candidate "
            "WHERE p.seq <= ? AND p.matched = 1 ORDER BY p.seq"
        )
        found = [self._guard.read(f"pages {row[0]}", _matched, row) for row in self._all(query, (pages,))]
        return [row for row in found if row is not None]

    def interests(self, after: int, upto: int) -> list[tuple[int, int, tuple[str, ...]]]:
        """The finds among the pages behind the one fetched as number `after`, up to `upto`: number of the
        page, of the candidate, and the names of the interests it satisfies."""
        query = "SELECT seq, candidate, interests FROM pages WHERE seq > ? AND seq <= ? AND matched = 1"
        rows = self._all(query, (after, upto))
        read = [self._guard.read(f"pages {row[0]}", typed, row, (int, int, str)) for row in rows]
        return [(page, candidate, tuple(names.split())) for page, candidate, names in filter(None, read)]

    def last_candidate(self) -> int:
        """The highest number of a candidate; -1 when there is none."""
        return int(self._one("SELECT coalesce(max(id), -1) FROM candidates")[0])

    def known_by_host(self, after: int, upto: int) -> dict[int, int]:
        """How many candidates with numbers above `after`, up to `upto`, each host has, by the host's
        number."""
        query = "SELECT host, count(*) FROM candidates WHERE id > ? AND id <= ? GROUP BY host"
        return {host: count for host, count in self._all(query, (after, upto)) if isinstance(host, int)}

    def host_names(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Numbers and names of the hosts behind `after`, in order."""
        rows = self._all("SELECT id, name FROM hosts WHERE id > ? ORDER BY id LIMIT ?", (after, limit))
        return [(number, name) for number, name in rows if isinstance(name, str)]

    def hosts_named(self, names: Sequence[str]) -> dict[str, SaveHost]:
        """What is remembered of some hosts, by name, but for their robots.txt; those never asked are left
        out."""
        head, _, order = snapshot.HOSTS.partition(" ORDER BY ")
        found: dict[str, SaveHost] = {}
        for part, marks in in_parts(names):
            for row in self._all(f"{head} AND name IN ({marks}) ORDER BY {order}", part):
                host = self._guard.read(f"hosts {row[0]}", snapshot.host_row, row, {})
                if host is not None:
                    found[host.host] = host
        return found

    def robots_named(self, names: Sequence[str]) -> dict[str, int]:
        """How some hosts answered when they were asked for robots.txt, by name: the status, 0 for not at
        all."""
        found: dict[str, int] = {}
        for part, marks in in_parts(names):
            query = "SELECT h.name, r.status FROM robots r JOIN hosts h ON h.id = r.host"
            where = f"WHERE h.name IN ({marks}) ORDER BY h.id, r.position"
            for name, status in self._all(f"{query} {where}", part):
                if isinstance(name, str) and isinstance(status, int):
                    found.setdefault(name, status)
        return found

    def pages_numbered(self, candidates: Sequence[int], *, text: bool = True) -> list[PageRow]:
        """The stored pages of some candidates, in the order given."""
        found: dict[int, PageRow] = {}
        for part, marks in in_parts(candidates):
            query = f"{WITH_TEXT if text else WITHOUT_TEXT} WHERE p.candidate IN ({marks})"
            for row in self._all(query, part):
                if (page := self._page(row)) is not None:
                    found[page.id] = page
        return [found[number] for number in candidates if number in found]


def _matched(row: tuple[object, ...]) -> tuple[int, float, str]:
    number, degree, url = typed(row, (int, float, str))
    return number, degree, address(url)


def follow_directory(path: Path | str) -> FollowedCrawl:
    """Read a crawl directory as `read_directory` does, for somebody who looks again and again."""
    directory = Path(path)
    layout.inspect(directory)
    with decoding(layout.database(directory)):
        return FollowedCrawl(directory, schema.connect_reader(layout.database(directory)))
