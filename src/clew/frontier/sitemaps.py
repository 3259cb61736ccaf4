"""`Sitemaps`: which sitemaps to read, and when.

robots.txt files name them, and sitemaps name further ones. Reading one costs a request that could have been
a page, so a host must have earned it: by a find, or by a number of pages; and there is at most one for every
twenty pages of the host, unless nothing else is left to do. Only sitemaps of the domain that names them are
read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from clew import url as urls
from clew.errors import RETRY
from clew.frontier.host import Host
from clew.frontier.hosts import Hosts
from clew.frontier.robots_gate import REDIRECT_STATUS, failure
from clew.messages import Outcome, Sitemap

Mode = Literal["off", "robots", "on"]

PAGES_EACH = 20
"""Pages of a host for each of its sitemaps that is read."""
PAGES_FIRST = 10
"""Pages of a host without a find before its first sitemap is read."""
PER_HOST = 50
"""Sitemaps read from one host, at most."""
LEVELS = 3
"""Sitemaps that name sitemaps that name sitemaps."""
TAKEN_EACH = 1000
TAKEN_PER_HOST = 5000
"""Candidates taken from the sitemaps of one host, at most; and from one of them."""
_HOPS = 5
_TRIES = 2


@dataclass(slots=True)
class _Item:
    url: str
    level: int = 1
    hops: int = 0
    tries: int = 0


@dataclass(slots=True)
class _HostSitemaps:
    """The sitemaps of one host."""

    todo: list[_Item] = field(default_factory=list)
    known: dict[str, None] = field(default_factory=dict)
    asked: int = 0
    taken: int = 0


class Sitemaps:
    """Keeps the sitemaps of all hosts."""

    def __init__(
        self, hosts: Hosts, mode: Mode = "robots", owns: Callable[[str], bool] = lambda host: True
    ) -> None:
        self.hosts = hosts
        self.mode = mode
        self.owns = owns
        self._by_host: dict[int, _HostSitemaps] = {}
        self._under_way: dict[int, tuple[Host, _Item]] = {}

    def __repr__(self) -> str:
        return f"Sitemaps({self.mode!r}, {sum(len(s.todo) for s in self._by_host.values())} to read)"

    def offer(self, origin: str, listed: Iterable[str]) -> None:
        """An origin's robots.txt is known; it names these sitemaps."""
        if self.mode == "off":
            return
        base = f"{origin}/robots.txt"
        found = [target for name in listed if (target := urls.canonical(name, base)) is not None]
        if not found and self.mode == "on":
            found = [f"{origin}/sitemap.xml"]
        self._put(urls.host(base), [_Item(target) for target in found])

    def due(self, host: Host, *, idle: bool = False) -> str | None:
        """The sitemap to read next on this host, if its turn has come; `idle`: nothing else is left to do."""
        mine = self._by_host.get(host.number)
        if mine is None or not mine.todo or mine.asked >= PER_HOST or mine.taken >= TAKEN_PER_HOST:
            return None
        if not idle:
            earned = host.matches > 0 or host.pages >= PAGES_FIRST
            if not earned or mine.asked * PAGES_EACH >= host.pages:
                return None
        return mine.todo[0].url

    def waiting(self) -> Iterator[Host]:
        """Hosts with a sitemap that could be read if nothing else is left, those that gave a page only."""
        for number in self._by_host:
            host = self.hosts[number]
            if (
                host.pages
                and not host.excluded
                and not host.full(self.hosts.politeness)
                and self.due(host, idle=True) is not None
            ):
                yield host

    def begin(self, host: Host, task: int) -> None:
        """The sitemap that was due goes out as a task."""
        mine = self._by_host[host.number]
        self._under_way[task] = (host, mine.todo.pop(0))
        mine.asked += 1

    def skip(self, host: Host) -> None:
        """The sitemap that was due may not be fetched."""
        self._by_host[host.number].todo.pop(0)
        self._note(host)

    def abandon(self, task: int) -> Host:
        """The task will not be performed after all."""
        host, item = self._under_way.pop(task)
        mine = self._by_host[host.number]
        mine.todo.insert(0, item)
        mine.asked -= 1
        return host

    def settle(self, outcome: Outcome) -> tuple[Host, str, Sitemap | None]:
        """Take in a reply; gives the host, what came of it in a word, and the sitemap, if it is one."""
        host, item = self._under_way.pop(outcome.task.id)
        mine = self._by_host[host.number]
        reason = failure(outcome)
        word, found = "failed", None
        if reason is not None:
            item.tries += 1
            if reason in RETRY and item.tries < _TRIES:
                mine.todo.append(item)
                word = "retry"
        elif outcome.status in REDIRECT_STATUS and outcome.location and item.hops < _HOPS:
            target = urls.canonical(outcome.location, item.url)
            if target is not None:
                self._put(host.name, [_Item(target, item.level, item.hops + 1)])
                word = "redirect"
        elif 200 <= outcome.status < 300 and outcome.sitemap is not None:
            word, found = "ok", outcome.sitemap
            if item.level < LEVELS:
                self._put(host.name, [_Item(target, item.level + 1) for target in found.children])
        self._note(host)
        return host, word, found

    def allowance(self, host: Host) -> int:
        """How many candidates may be taken from a sitemap of this host."""
        return max(0, min(TAKEN_EACH, TAKEN_PER_HOST - self._by_host[host.number].taken))

    def record_taken(self, host: Host, count: int) -> None:
        """So many candidates were taken."""
        self._by_host[host.number].taken += count
        self._note(host)

    def restore(self, host: Host, state: object) -> None:
        """Take in what was noted on a host; what is not understood is passed over."""
        match state:
            case {"asked": int(asked), "taken": int(taken), "known": list(known), "todo": list(todo)}:
                mine = self._by_host.setdefault(host.number, _HostSitemaps())
                mine.asked, mine.taken = asked, taken
                mine.known = dict.fromkeys(map(str, known))
                mine.todo = []
                for one in todo:
                    match one:
                        case [str(url), int(level)]:
                            mine.todo.append(_Item(url, level))
            case _:
                return

    def _put(self, names: str, items: list[_Item]) -> None:
        """Shelve sitemaps, each with the host that serves it; `names` is the host that names them."""
        domain = urls.site(names)
        for item in items:
            name = urls.host(item.url)
            if urls.site(name) != domain or not self.owns(name):
                continue
            host = self.hosts[self.hosts.number(name)]
            mine = self._by_host.setdefault(host.number, _HostSitemaps())
            if item.url in mine.known or len(mine.known) >= PER_HOST:
                continue
            mine.known[item.url] = None
            mine.todo.append(item)
            self._note(host)

    def _note(self, host: Host) -> None:
        mine = self._by_host[host.number]
        todo = [[item.url, item.level] for item in mine.todo]
        noted = {"asked": mine.asked, "taken": mine.taken, "known": list(mine.known), "todo": todo}
        host.note("sitemaps", noted)
