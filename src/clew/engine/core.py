"""`Core`: the state of a crawl, and how it is begun."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.engine.learner import Learner
from clew.engine.learning import Lesson
from clew.engine.prospects import FrontierProspects
from clew.engine.tunnelling import Tunnelling
from clew.frontier.admission import Admission
from clew.frontier.expander import Expander
from clew.frontier.hosts import Host, Hosts, Politeness
from clew.frontier.overflow import Overflow
from clew.frontier.parked import ParkedOrigins
from clew.frontier.queue import Frontier
from clew.frontier.ready_hosts import ReadyHosts
from clew.frontier.robots_gate import RobotsGate
from clew.frontier.sitemaps import Mode, Sitemaps
from clew.frontier.target_cache import TargetCache
from clew.messages import Effect, Forward, SaveCandidates, State, Via
from clew.page import Links
from clew.policy import Budget, Duplicates, Scope, Tally, WasteGuard
from clew.policy.community import Community
from clew.policy.tunnel import TunnelRules
from clew.predicate.verdict import Predicate
from clew.strategy.base import Strategy
from clew.trace import Tracer

#: Pages of no link that are taken in after one page, pages that are tried when nothing is left, and pages
#: that are looked through for either.
_OFFERED, _SAMPLED, _LOOKED_THROUGH = 500, 16, 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRules:
    """Everything that shapes a crawl and is not learned."""

    scope: Scope
    budget: Budget = field(default_factory=Budget)
    politeness: Politeness = field(default_factory=Politeness)
    rel_nofollow: bool = False
    """Leave out links marked rel=nofollow."""
    more_links: bool = False
    """Pages are read for what only names other pages, too (`clew.parse.link_kinds`)."""
    slots: frozenset[int] | None = None
    """The slots of hosts this engine owns; None is all of them."""
    sitemaps: Mode = "robots"
    """Read sitemaps: those robots.txt names (`robots`), or /sitemap.xml where it names none too (`on`)."""
    max_size: int | None = None
    """Candidates kept at hand; what is worth less waits until there is room."""
    tunnel: TunnelRules | None = None
    """How the focus widens when finds become rare; None leaves it as it is."""
    traps: bool = True
    """Leave traps, mirrors and error pages alone once they are recognised."""


class Core:
    """What is known in one crawl, or one shard of one."""

    def __init__(
        self, predicate: Predicate, strategy: Strategy, rules: CrawlRules, url_of: Callable[[int], str]
    ) -> None:
        self.predicate = predicate
        self.rules = rules
        self.tunnelling = None if rules.tunnel is None else Tunnelling(predicate, rules.tunnel)
        self.url_of = url_of
        self.frontier = Frontier(len(strategy.parts))
        self.hosts = Hosts(rules.politeness)
        self.ready = ReadyHosts(self.frontier, self.hosts)
        self.expander = Expander(self.frontier, self.ready, rules.slots)
        self.learner = Learner(predicate, strategy, self.frontier, self.expander, self.tunnelling)
        self.overflow = Overflow(self.frontier, self.hosts, self.learner, rules.max_size)
        mode: Mode = rules.sitemaps if strategy.capabilities.follows else "off"
        self.sitemaps = Sitemaps(self.hosts, mode, self.expander.owns)
        self.parked = ParkedOrigins(self.frontier, self.hosts)
        self.robots_gate = RobotsGate(self.hosts, rules.politeness, self.parked, self.sitemaps.offer)
        self.waste_guard = WasteGuard(on=rules.traps, state=self._state)
        self.admission = Admission(
            rules.scope,
            rel_nofollow=rules.rel_nofollow,
            follow=strategy.capabilities.follows,
            agent=rules.politeness.agent,
            lookup=TargetCache(self.frontier.find, self._keys).lookup,
            objection=self._objection,
        )
        self.tally = Tally()
        self.prospects = FrontierProspects(self.frontier, lambda: self.in_flight)
        if rules.budget.stop and rules.budget.rule.needs("community"):
            self.prospects.graph = Community()
        self.duplicates = Duplicates()
        self.tracer = Tracer()
        self.in_flight = 0
        self.late = 0
        """Of those under way, how many are not waited for any more; the driver has a clock and says so."""
        self.lent = False
        """A page was asked for in the stead of a late one, so more may come than the budget has room for."""
        self.started: float | None = None
        self.tasks = 0
        self._outbox: list[Effect] = []
        self._given_up: list[int] = []

    def __repr__(self) -> str:
        return (
            f"Crawl({self.strategy.name}, {self.tally.pages} pages, {self.tally.matches} finds, "
            f"{self.frontier.queued} queued, {self.in_flight} under way)"
        )

    @property
    def strategy(self) -> Strategy:
        """What candidates are worth, and why."""
        return self.learner.strategy

    @property
    def focus(self) -> Predicate:
        """What is sought; what is judged is `predicate`."""
        return self.learner.focus

    def start(self, seeds: Sequence[str], now: float) -> tuple[Effect, ...]:
        """Take in the starting points (canonical URLs); those already known are passed over."""
        self.started = now
        return self.add_seeds(seeds)

    def add_seeds(self, seeds: Sequence[str], source: int = -1) -> tuple[SaveCandidates, ...]:
        """File starting points that are not known yet; `source` is the seed that lists them, if one does."""
        mine = [seed for seed in dict.fromkeys(seeds) if self.expander.owns(urls.host(seed))]
        unknown = self.frontier.find(urls.keys(mine)) < 0
        fresh = tuple([seed for seed, new in zip(mine, unknown.tolist(), strict=True) if new])
        via = Via.SEED
        if not seeds and not self.frontier.count and self.strategy.capabilities.offers:
            fresh, via = tuple(self._offerable(self.strategy.samples(), _SAMPLED)), Via.VISITS
        if not fresh:
            return ()
        keys = urls.keys(fresh)
        terms = self.strategy.seeds(keys)
        return (self.expander.add(fresh, keys, terms, depth=0, source=source, via=via),)

    def take_offers(self, candidate: int) -> list[Effect]:
        """File what the strategy offers after it has learned from a candidate; where nothing is left to
        fetch, what it would try."""
        targets = self._offerable(self.strategy.offers(), _OFFERED)
        if not targets and not self.frontier.queued and not self.in_flight:
            targets = self._offerable(self.strategy.samples(), _SAMPLED)
        if not targets:
            return []
        lesson = Lesson.offered(targets, self.frontier.count + np.arange(len(targets)))
        terms = self.learner.meet(lesson)
        keys = lesson.expansion.keys
        terms = self.strategy.seeds(keys) if terms is None else terms
        return [self.expander.add(tuple(targets), keys, terms, depth=0, source=candidate, via=Via.VISITS)]

    def _offerable(self, offered: Iterable[str], most: int) -> list[str]:
        """Those of some URLs that may become candidates and are none yet, the first so many."""
        found: dict[str, None] = {}
        left = islice(offered, _LOOKED_THROUGH)
        while len(found) < most and (some := tuple(islice(left, most))):
            unknown = self.frontier.find(urls.keys(some)) < 0
            for target, new in zip(some, unknown.tolist(), strict=True):
                if new and self.expander.owns(urls.host(target)) and self.objection(target, 0) is None:
                    found[target] = None
        return list(found)[:most]

    def receive(self, links: Forward) -> tuple[Effect, ...]:
        """Take in links that another shard found to hosts of ours."""
        unknown = (self.frontier.find(urls.keys(links.urls)) < 0).tolist()
        keep = [
            i
            for i, target in enumerate(links.urls)
            if unknown[i] and self.objection(target, links.depth, links.source) is None
        ]
        if not keep:
            return ()
        targets = tuple([links.urls[i] for i in keep])
        anchors = tuple([links.anchors[i] for i in keep])
        keys, blank = urls.keys(targets), ("",) * len(keep)
        found = Links(links.source, targets, anchors, blank, blank, blank)
        ids = self.frontier.count + np.arange(len(keep))
        terms = self.learner.meet(Lesson.introduced(-1, links.depth - 1, found, keys, ids))
        added = self.expander.add(
            targets,
            keys,
            links.terms[keep] if terms is None else terms,
            depth=links.depth,
            source=-1,
            via=Via.LINK,
            anchors=anchors,
        )
        return (added,)

    def objection(self, url: str, depth: int, source: str = "") -> str | None:
        """Why a URL should not become a candidate; None when it may."""
        return self.rules.scope.check(url, depth) or self._objection(url, urls.host(url), source)

    def give_up(self, host: Host) -> None:
        """Close all that is queued for a host that was excluded, soon."""
        self.parked.release_host(host)
        self._given_up.append(host.number)

    def _objection(self, url: str, host: str, source: str) -> str | None:
        known = self.hosts.get(host)
        if known is not None and known.excluded:
            return known.refusal
        return self.waste_guard.check_link(url, host, source)

    def _keys(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The keys of candidates. (The frontier makes a new array when it grows.)"""
        return self.frontier.keys[numbers]

    def _state(self, url: str) -> State | None:
        """What has become of a URL; None for one that is no candidate."""
        known = int(self.frontier.find(urls.keys((url,)))[0])
        return State(int(self.frontier.states[known])) if known >= 0 else None
