"""`ChaosWeb`: a web of healthy pages with every kind of trouble strewn over it, and the truth about both.

Healthy pages form a tree with some cross-links, spread over many hosts, so that each can be reached by way
of healthy pages alone. A share of them is in trouble that heals or does no harm; beside them lie addresses
without a page, hosts without hope, and traps. Everything is a function of the seed.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from clew.errors import UsageError
from clew.testing import chaos_failing, chaos_wire  # noqa: F401 - they fill the registry
from clew.testing.chaos_faults import KINDS, Cure, Fault, FaultPlace
from clew.testing.chaos_traps import TRAPS
from clew.testing.web import made_up_word

DOMAIN = "chaos.example"
LIAR = "liar.example"
_FANOUT = 4
_HOPS = 3


@dataclass(frozen=True, slots=True)
class PlannedReply:
    """What is to be answered: a page (or, for a redirect, where to), and the trouble with it, if any."""

    page: bytes
    kind: Fault | None = None
    status: str = "200 OK"
    type: str = "text/html; charset=utf-8"


class ChaosWeb:
    """A seeded web in trouble.

    Parameters: `seed`; `pages`, how many healthy ones; `hosts` they are spread over; `share` of the requests
    for them that is answered faultily; `kinds`, the names of those wanted (all, unless given).

    >>> web = ChaosWeb(seed=1, pages=50)
    >>> len(web.healthy()), web.seeds()
    (50, ('http://h0.chaos.example/p/0',))
    >>> web.text(7) == ChaosWeb(seed=1, pages=50).text(7)
    True
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        pages: int = 300,
        hosts: int = 12,
        share: float = 0.3,
        kinds: Collection[str] | None = None,
    ) -> None:
        unknown = sorted(set(kinds or ()) - set(KINDS))
        if unknown:
            raise UsageError(f"{unknown[0]!r} is no kind of trouble: see clew.testing.chaos.KINDS")
        if pages < 1 or hosts < 1 or not 0 <= share < 1:
            raise UsageError("a chaos web needs a page, a host and a share from 0 up to 1")
        self.seed, self.pages, self.share = seed, pages, share
        self.kinds = tuple(k for k in KINDS.values() if kinds is None or k.name in kinds)
        self.hosts = tuple(f"h{i}.{DOMAIN}" for i in range(hosts))
        dice = random.Random(f"{seed} plan")
        self._troubles = self._strew(dice)
        self._robots = self._rules(dice)
        self._sick = self._hopeless(dice)
        self._extra = self._entries(dice)

    # the truth

    def healthy(self, port: int | None = None) -> frozenset[str]:
        """The addresses of all pages that can be had, where the web is served on that port."""
        return frozenset(self.url(i, port) for i in range(self.pages))

    def seeds(self, port: int | None = None) -> tuple[str, ...]:
        """Where to start: a page in no trouble, from which every healthy page can be reached."""
        return (self.url(0, port),)

    def url(self, number: int, port: int | None = None) -> str:
        """The address of a healthy page."""
        return f"{self._base(self._host(number), port)}/p/{number}"

    def text(self, number: int) -> str:
        """What a healthy page says: a word of its own, which nothing else says, and some more."""
        dice = random.Random(f"{self.seed} text {number}")
        words = (made_up_word(dice, dice.randint(2, 4)) for _ in range(80))
        return f"chaos{number:06d}page {' '.join(words)}"

    def token(self, number: int) -> str:
        """The word that only this page says."""
        return f"chaos{number:06d}page"

    def trouble(self, number: int) -> Fault | None:
        """What a healthy page suffers from."""
        return self._troubles.get(number)

    # the answers

    def answer(self, host: str, target: str, port: int | None = None) -> PlannedReply:
        """What to say to a request for a path and query of a host."""
        path, _, _ = target.partition("?")
        first, *rest = path.strip("/").split("/")
        if path == "/robots.txt":
            return self._robots_txt(host, port)
        if first in self._names(FaultPlace.SITEMAP, ".xml"):
            return PlannedReply(b"", KINDS[first.removesuffix(".xml")])
        if first == "p" and rest and rest[0].isdigit() and int(rest[0]) < self.pages:
            return self._page(host, int(rest[0]), port)
        if first == "go" and len(rest) == 3:
            return self._hop(host, rest, port)
        if first == "sick" and rest and rest[0] in self._names(FaultPlace.SICK):
            return PlannedReply(b"", KINDS[rest[0]])
        if first in TRAPS and first in self._names(FaultPlace.TRAP):
            dice = random.Random(f"{self.seed} {target}")
            text, hrefs = TRAPS[first](target.removeprefix(f"/{first}"), dice)
            return PlannedReply(_html(text[:40], text, hrefs), KINDS[first])
        return PlannedReply(b"<p>not here", status="404 Not Found")

    def robots_kind(self, host: str) -> Fault | None:
        """The trouble with a host's robots.txt."""
        return self._robots.get(host)

    def _page(self, host: str, number: int, port: int | None) -> PlannedReply:
        base = self._base(self._host(number), port)
        hrefs = [href.removeprefix(base) for href in self._links(number, port)]
        page = _html(f"Page {number}", self.text(number), hrefs)
        if host == f"mirror.{DOMAIN}":
            return PlannedReply(page, KINDS["mirror"])
        if host != self._host(number):
            return PlannedReply(b"<p>not on this host", status="404 Not Found")
        kind = self._troubles.get(number)
        return PlannedReply(page, kind if kind is not None and kind.place is FaultPlace.PAGE else None)

    def _hop(self, host: str, rest: Sequence[str], port: int | None) -> PlannedReply:
        name, left, number = rest
        if name not in self._names(FaultPlace.WAY) or not (left.isdigit() and number.isdigit()):
            return PlannedReply(b"<p>not here", status="404 Not Found")
        further = f"/go/{name}/{int(left) - 1}/{number}" if int(left) > 1 else f"/p/{number}"
        return PlannedReply(f"{self._base(host, port)}{further}".encode(), KINDS[name])

    def _robots_txt(self, host: str, port: int | None) -> PlannedReply:
        sitemaps = [
            f"Sitemap: {self._base(host, port)}/{name}" for name in self._names(FaultPlace.SITEMAP, ".xml")
        ]
        rules = ["User-agent: *", "Disallow: /off-limits/", *(sitemaps if host == self.hosts[0] else ())]
        return PlannedReply("\n".join(rules).encode(), self._robots.get(host), type="text/plain")

    def _links(self, number: int, port: int | None) -> list[str]:
        """Children, two pages somewhere else, and what trouble was strewn here."""
        dice = random.Random(f"{self.seed} links {number}")
        first = number * _FANOUT + 1
        near = [*range(first, min(first + _FANOUT, self.pages)), *(dice.randrange(self.pages) for _ in "ab")]
        found = [self._entrance(i, port) for i in near]
        found += [self._base(host, port) + path for host, path in self._sick.get(number, ())]
        found += [self._base(host, port) + path for host, path in self._extra.get(number, ())]
        return found

    def _entrance(self, number: int, port: int | None) -> str:
        """A page's address, or the first redirect that leads there."""
        kind = self._troubles.get(number)
        if kind is None or kind.place is not FaultPlace.WAY:
            return self.url(number, port)
        return f"{self._base(self._host(number), port)}/go/{kind.name}/{_HOPS}/{number}"

    # where the trouble is

    def _strew(self, dice: random.Random) -> dict[int, Fault]:
        """Trouble for so many pages that the wanted share of the requests is faulty."""
        usable = [k for k in self.kinds if k.place in (FaultPlace.PAGE, FaultPlace.WAY)]
        if not usable:
            return {}
        # A page whose trouble heals is asked for twice, and only the first reply is faulty.
        healing = sum(k.cure is Cure.HEALS for k in usable) / len(usable)
        count = min(self.pages - 1, round(self.pages * self.share / (1 - self.share * healing)))
        dice.shuffle(usable)
        chosen = dice.sample(range(1, self.pages), count)
        return dict(zip(chosen, islice(cycle(usable), count), strict=True))

    def _rules(self, dice: random.Random) -> dict[str, Fault]:
        """A kind of robots.txt for every other host, and a host that is shut by its own."""
        kinds = [k for k in self.kinds if k.place is FaultPlace.ROBOTS and k.cure is not Cure.HOPELESS]
        found = dict(zip(self.hosts[1::2], cycle(kinds), strict=False)) if kinds else {}
        if self._names(FaultPlace.ROBOTS) and "robots-5xx" in self._names(FaultPlace.ROBOTS):
            found[f"shut.{DOMAIN}"] = KINDS["robots-5xx"]
        return found

    def _hopeless(self, dice: random.Random) -> dict[int, list[tuple[str, str]]]:
        """By page: (host, path) of addresses without a page that it links to."""
        names = self._names(FaultPlace.SICK)
        found: dict[int, list[tuple[str, str]]] = {}
        for n, name in enumerate(islice(cycle(names), max(len(names), self.pages // 15) if names else 0)):
            place = (dice.choice(self.hosts), f"/sick/{name}/{n}")
            found.setdefault(dice.randrange(self.pages), []).append(place)
        return found

    def _entries(self, dice: random.Random) -> dict[int, list[tuple[str, str]]]:
        """By page: ways into traps, to the shut host and to hosts whose names are in trouble."""
        places = [
            (dice.choice(self.hosts), f"/{name}") for name in self._names(FaultPlace.TRAP) if name in TRAPS
        ]
        if "mirror" in self._names(FaultPlace.TRAP):
            places += [(f"mirror.{DOMAIN}", f"/p/{i}") for i in range(0, self.pages, len(self.hosts))][:3]
        if f"shut.{DOMAIN}" in self._robots:
            places.append((f"shut.{DOMAIN}", "/p/0"))
        places += [
            (f"{k.name}.{LIAR}", "/")
            for k in self.kinds
            if k.place is FaultPlace.NAME and k.cure is Cure.HOPELESS
        ]
        found: dict[int, list[tuple[str, str]]] = {}
        for place in places:
            for number in {dice.randrange(self.pages) for _ in range(3)}:
                found.setdefault(number, []).append(place)
        return found

    def flaps(self, host: str) -> bool:
        """Whether the first look-up of a host's name fails."""
        return "name-flap" in self._names(FaultPlace.NAME) and len(self.hosts) > 2 and host == self.hosts[2]

    def _names(self, place: FaultPlace, suffix: str = "") -> tuple[str, ...]:
        return tuple(k.name + suffix for k in self.kinds if k.place is place)

    def _host(self, number: int) -> str:
        return self.hosts[number % len(self.hosts)]

    @staticmethod
    def _base(host: str, port: int | None) -> str:
        return f"http://{host}" if port is None else f"http://{host}:{port}"

    def __repr__(self) -> str:
        size = f"{self.pages} pages, {len(self.hosts)} hosts, {len(self.kinds)} kinds"
        return f"ChaosWeb(seed={self.seed}, {size})"


def _html(title: str, text: str, hrefs: Sequence[str]) -> bytes:
    links = "".join(f'<a href="{href.replace("&", "&amp;")}">{href[-24:]}</a> ' for href in hrefs)
    start = f"<!doctype html><html lang=en><head><title>{title}</title></head>"
    return f"{start}<body><p>{text}</p>{links}</body></html>".encode()
