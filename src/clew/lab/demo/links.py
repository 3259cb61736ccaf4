"""Which page of the demo web links to which: hubs list, articles cite, bridges lead across."""

from __future__ import annotations

from functools import lru_cache

from clew.lab.demo.dice import Dice
from clew.lab.demo.plan import OUT_OF_REACH, DemoPlan, Node, PageKind, Role, Site, make_nodes, make_sites


@lru_cache(maxsize=8)
def make_plan(seed: int, hosts: int, pages: int, target: str) -> DemoPlan:
    """The whole plan; webs made alike share one."""
    sites = make_sites(seed, hosts, target)
    nodes = make_nodes(seed, pages, sites, target)
    linker = _Linker(seed, sites, nodes, target)
    links = tuple(tuple(linker.links(node)) for node in nodes)
    return DemoPlan(seed, target, sites, nodes, links, frozenset(linker.bridges))


class _Linker:
    """Draws the links of one node at a time."""

    def __init__(self, seed: int, sites: tuple[Site, ...], nodes: tuple[Node, ...], target: str) -> None:
        self.seed = seed
        self.sites = sites
        self.nodes = nodes
        self.target = target
        self.homes = [node for node in nodes if node.kind is PageKind.HOME]
        articles = [node for node in nodes if node.kind is PageKind.ARTICLE]
        seen = [node for node in articles if not sites[node.site].hidden]
        self.by_site: list[list[Node]] = [[] for _ in sites]
        for node in articles:
            self.by_site[node.site].append(node)
        self.private = [node for node in nodes if node.kind is PageKind.PRIVATE]
        self.by_topic: dict[str, list[Node]] = {}
        for node in seen:
            self.by_topic.setdefault(node.topic, []).append(node)
        self.other = [node for node in seen if node.topic != target]
        self.bridges = self._pick_bridges()

    def _pick_bridges(self) -> dict[int, Node]:
        """Off-topic articles that lead to hidden hosts: bridge -> the page it leads to."""
        dice = Dice(self.seed, "bridges")
        fit = [
            node.n
            for node in self.other
            if self.sites[node.site].role in (Role.TOPICAL, Role.NEWS) and node.kind is PageKind.ARTICLE
        ]
        hidden = [i for i, site in enumerate(self.sites) if site.hidden]
        places = dice.some(fit, 4 * len(hidden))
        bridges = {}
        for k, n in enumerate(places):
            about = [node for node in self.by_site[hidden[k % len(hidden)]] if node.topic == self.target]
            if about:
                bridges[n] = dice.pick(about)
        return bridges

    def links(self, node: Node) -> list[int]:
        """The targets of a page's own links, navigation aside, without repeats."""
        dice = Dice(self.seed, "links", node.n)
        if self.sites[node.site].role is Role.PORTAL:
            found = self._directory(node, dice)
        elif node.kind is PageKind.HOME:
            found = dice.some(self.by_site[node.site], 6)
        elif node.kind is PageKind.HUB:
            found = self._section(node)
        else:
            found = [self._cite(node, dice) for _ in range(dice.between(4, 9))]
            if node.n in self.bridges:
                found.insert(dice.below(len(found)), self.bridges[node.n])
        return list(dict.fromkeys(other.n for other in found if other.n != node.n))

    def _directory(self, node: Node, dice: Dice) -> list[Node]:
        """A page of a portal: some hosts, some articles. All pages together list every host not hidden."""
        homes = [home for home in self.homes if not self.sites[home.site].hidden]
        hubs = [n for n in self.nodes if n.site == node.site and n.kind is PageKind.HUB]
        if node.kind is PageKind.HOME:
            return dice.some(self.other, 4)
        k = hubs.index(node)
        listed = homes[k :: len(hubs)]
        return listed + dice.some(self.other, 8)

    def _section(self, node: Node) -> list[Node]:
        """A hub lists its share of the host's articles, the forbidden ones too."""
        hubs = [n for n in self.nodes if n.site == node.site and n.kind is PageKind.HUB]
        k = hubs.index(node)
        private = [other for other in self.private if other.site == node.site]
        return self.by_site[node.site][k :: len(hubs)] + private[k :: len(hubs)]

    def _cite(self, node: Node, dice: Dice) -> Node:
        """One article that an article links to."""
        here = self.by_site[node.site] or self.other
        roll = dice.share()
        if node.topic == self.target and self.sites[node.site].role not in OUT_OF_REACH:
            if roll < 0.40:
                own = [other for other in here if other.topic == self.target]
                return dice.pick(own if dice.chance(0.6) and len(own) > 1 else self.by_topic[self.target])
            if roll < 0.52:
                return self.nodes[dice.pick(list(self.bridges))]
            return dice.pick(here if roll < 0.82 else self.other)
        if roll < 0.62:
            return dice.pick([other for other in here if other.topic != self.target] or self.other)
        if roll < 0.85:
            return dice.pick(self.by_topic.get(node.topic) or self.other)
        return dice.pick(self.other if roll < 0.985 else self.by_topic[self.target])
