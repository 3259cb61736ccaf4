"""The plan of the demo web: which hosts there are, which pages they have, and what links to what.

Everything here is decided before a word is written, from the seed alone, so that a page can be written
when somebody asks for it and is still the same page.

The topic asked for lives in three ways, as topics do. Some of its articles stand on hosts of its own that
the portals list; some on *hidden* hosts that only a few off-topic pages (bridges) link to; the rest are
scattered, one or two a host, over sites about other things.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from clew import native
from clew.lab.demo.dice import Dice
from clew.lab.demo.prose import TopicWords, slug, title, vocabulary


class Role(StrEnum):
    """What kind of host it is."""

    PORTAL = "portal"
    NEWS = "news"
    TARGET = "target"
    TOPICAL = "topical"
    GERMAN = "german"
    SLOW = "slow"
    CALENDAR = "calendar"
    """Has a calendar that goes on for decades."""
    MIRROR = "mirror"
    """Has a copy of every page of another host."""
    SHORTENER = "shortener"
    """Answers with redirects alone."""
    FORBIDDEN = "forbidden"
    """Its robots.txt forbids everything."""
    CLOSED = "closed"
    """Its robots.txt cannot be had: 503."""
    BUSY = "busy"
    """503 with Retry-After, always."""
    SILENT = "silent"
    """Never answers."""
    BREAKING = "breaking"
    """Breaks the connection."""


class PageKind(StrEnum):
    """What kind of page it is."""

    HOME = "home"
    HUB = "hub"
    ARTICLE = "article"
    PRIVATE = "private"
    """An article that robots.txt forbids."""


#: Hosts whose pages nobody who keeps to the rules can read.
OUT_OF_REACH = (Role.FORBIDDEN, Role.CLOSED, Role.BUSY, Role.SILENT, Role.BREAKING)
#: Hosts that have no robots.txt at all.
NO_ROBOTS = {Role.GERMAN, Role.NEWS, Role.SHORTENER}
#: One host each.
SINGLE = (Role.SLOW, Role.CALENDAR, Role.MIRROR, Role.SHORTENER, *OUT_OF_REACH)
#: Share of the pages, relative to a topical host's.
WEIGHT = {
    Role.PORTAL: 0.5,
    Role.NEWS: 1.5,
    Role.TARGET: 1.3,
    Role.GERMAN: 0.7,
    Role.SLOW: 0.6,
    Role.CALENDAR: 0.3,
    Role.MIRROR: 0.0,
    Role.SHORTENER: 0.0,
    **dict.fromkeys(OUT_OF_REACH, 0.2),
}


@dataclass(frozen=True, slots=True)
class Site:
    """One host."""

    name: str
    role: Role
    topic: str
    hidden: bool
    """Only bridges lead there."""
    style: int
    """How its URLs and its pages are laid out, 0 to 3."""
    relative: bool
    """Links within the host are written without the host."""


@dataclass(frozen=True, slots=True)
class Node:
    """One page that has text."""

    n: int
    site: int
    kind: PageKind
    topic: str
    url: str
    title: str
    shy: str
    """What pages about other things call it."""


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """Hosts, pages and links."""

    seed: int
    target: str
    sites: tuple[Site, ...]
    nodes: tuple[Node, ...]
    links: tuple[tuple[int, ...], ...]
    """For each node, the nodes it links to in its text, in order."""
    bridges: frozenset[int]

    def relevant(self, node: Node) -> bool:
        """It is about the target and can be read."""
        reach = self.sites[node.site].role not in OUT_OF_REACH
        return node.kind is PageKind.ARTICLE and node.topic == self.target and reach

    def of(self, site: int, kind: PageKind) -> list[Node]:
        """The pages of a host, of one kind."""
        return [node for node in self.nodes if node.site == site and node.kind is kind]


def make_sites(seed: int, hosts: int, target: str) -> tuple[Site, ...]:
    """All hosts; the first is a portal, and so is every twentieth."""
    dice = Dice(seed, "sites")
    few = max(1, hosts // 20)
    roles = [Role.PORTAL] * few + [Role.NEWS] * few + [Role.TARGET] * max(2, hosts // 10)
    roles += [Role.GERMAN] * few + list(SINGLE)
    roles += [Role.TOPICAL] * (hosts - len(roles))
    names, topics = vocabulary()
    english = [t for t in topics.values() if t.lang == "en" and t.name != target]
    german = [t for t in topics.values() if t.lang == "de"]
    places = dice.some(names.places, len(names.places))
    sites: list[Site] = []
    for i, role in enumerate(roles):
        pool = german if role is Role.GERMAN else english
        topic = topics[target] if role is Role.TARGET else pool[i % len(pool)]
        name = _host(role, topic, places[i % len(places)], i, dice)
        hidden = role is Role.TARGET and sum(site.role is role for site in sites) % 2 == 1
        sites.append(Site(name, role, topic.name, hidden, dice.below(4), dice.chance(0.6)))
    return tuple(sites)


def _host(role: Role, topic: TopicWords, place: str, i: int, dice: Dice) -> str:
    word = {Role.PORTAL: "directory", Role.NEWS: "herald", Role.SHORTENER: "lnk"}.get(role)
    word = word or dice.pick(topic.sites)
    start = dice.pick(("", "", "www.", "blog."))
    number = "" if i < 40 else str(i)  # places begin to repeat
    return f"{start}{slug(place)}-{word}{number}.{dice.pick(('example', 'test'))}"


def make_nodes(seed: int, pages: int, sites: tuple[Site, ...], target: str) -> tuple[Node, ...]:
    """The pages of every host: its home page, its hubs, its articles."""
    dice = Dice(seed, "nodes")
    weights = [WEIGHT.get(site.role, 1.0) * (0.6 + 0.8 * dice.share()) for site in sites]
    nodes: list[Node] = []
    for i, site in enumerate(sites):
        room = round(pages * weights[i] / native.left_sum(weights))
        if room == 0:
            continue
        home = f"http://{site.name}/"
        name = site.name.split(".")[-2].replace("-", " ").title()
        nodes.append(Node(len(nodes), i, PageKind.HOME, site.topic, home, name, name))
        hubs = room - 1 if site.role is Role.PORTAL else max(1, room // 22)
        for k in range(hubs):
            nodes.append(_hub(len(nodes), i, site, k))
        for _ in range(room - 1 - hubs):
            nodes.append(_article(len(nodes), i, site, target, dice))
    return tuple(nodes)


def _hub(n: int, i: int, site: Site, k: int) -> Node:
    topic = vocabulary()[1][site.topic]
    section = topic.sections[k % len(topic.sections)]
    if site.role in (Role.PORTAL, Role.NEWS):
        section = f"section-{k + 1}"
    elif k >= len(topic.sections):
        section = f"{section}-{k // len(topic.sections) + 1}"
    heading = section.replace("-", " ").capitalize()
    return Node(n, i, PageKind.HUB, site.topic, f"http://{site.name}/{section}/", heading, heading)


def _article(n: int, i: int, site: Site, target: str, dice: Dice) -> Node:
    topic = vocabulary()[1][_topic_of(site, target, dice)]
    full, shy = title(topic, dice)
    private = dice.chance(0.03) and site.role not in NO_ROBOTS
    words = slug(full if dice.chance(0.5) else shy)
    if topic.name != target and dice.chance(0.01):  # a false promise
        words = slug(f"{dice.pick(vocabulary()[1][target].core)} street")
    path = (
        f"{topic.sections[n % len(topic.sections)]}/{words}-{n}.html",
        f"articles/{n}",
        f"{dice.between(2005, 2024)}/{dice.between(1, 12):02}/{words}-{n}",
        f"index.php?id={n}",
    )[site.style]
    if private:
        path = f"private/{path}"
    kind = PageKind.PRIVATE if private else PageKind.ARTICLE
    return Node(n, i, kind, topic.name, f"http://{site.name}/{path}", full, shy)


def _topic_of(site: Site, target: str, dice: Dice) -> str:
    """What an article on that host is about."""
    topics = vocabulary()[1]
    others = [
        name for name, topic in topics.items() if topic.lang == "en" and name not in (target, site.topic)
    ]
    roll = dice.share()
    if site.role is Role.GERMAN:
        return site.topic
    if site.role is Role.TARGET:
        return target if roll < 0.55 else dice.pick(others)
    if site.role is Role.NEWS:
        return target if roll < 0.04 else dice.pick([*others, site.topic])
    if roll < 0.015:
        return target
    return site.topic if roll < 0.85 else dice.pick(others)
