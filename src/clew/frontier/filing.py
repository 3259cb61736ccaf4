"""`Filing`: from a judged page to candidates.

The links that were let in are looked up; the strategy learns from the page and scores the links;
new targets are filed under their hosts, known ones are raised if they were found from a better
place, and targets of slots that another shard owns are forwarded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.frontier.hosts import Hosts
from clew.frontier.intake import Admitted
from clew.frontier.queue import Frontier
from clew.messages import Effect, Forward, Rescore, SaveCandidates, State, Task, TaskKind, Via
from clew.page import Links, Page
from clew.predicate.verdict import Verdict
from clew.strategy.base import Expansion, Meets, Strategy, totals

Numbers = NDArray[np.int64]
Parts = NDArray[np.float64]
Keys = NDArray[np.uint64]


@dataclass(slots=True)
class Filed:
    """What filing a page's links did."""

    ids: Numbers
    """Candidate numbers of its links, in page order, forwarded ones left out."""
    new: int
    fresh: tuple[str, ...] = ()
    """Targets never seen before."""
    effects: list[Effect] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Filing:
    """Files candidates in the frontier and says what to save."""

    frontier: Frontier
    hosts: Hosts
    strategy: Strategy
    slots: frozenset[int] | None

    def owns(self, host: str) -> bool:
        """Whether this host's slot is ours."""
        return self.slots is None or urls.slot(host) in self.slots

    def expand(self, task: Task, page: Page, verdict: Verdict, admitted: Admitted) -> Filed:
        """Learn from a judged page, score its links, file the new ones."""
        ids, fresh, owned = self._numbered(admitted)
        expansion = Expansion(
            task.candidate, page, verdict, task.depth, admitted.links, admitted.keys, ids, fresh
        )
        new = _targets(admitted.links, fresh)
        filed = Filed(ids[owned], len(new), new)
        moved = self.strategy.learn(expansion)
        if moved is not None:
            filed.effects.extend(self.rescore(moved))
        if len(ids):
            parts = self.strategy.score(expansion)
            filed.effects.extend(self._new(admitted, fresh, parts, task))
            filed.effects.extend(self._improve(ids, parts, ~fresh & owned))
            if self.slots is not None:
                filed.effects.extend(self._forward(admitted, ~owned, parts, task))
        return filed

    def listed(self, url: str, admitted: Admitted, *, depth: int) -> Filed:
        """File what a sitemap lists: links of a page that says nothing and was not judged."""
        ids, fresh, owned = self._numbered(admitted)
        new = _targets(admitted.links, fresh)
        filed = Filed(ids[owned], len(new), new)
        if not len(ids):
            return filed
        nothing = Page(url=url, depth=depth - 1)
        verdict = Verdict(0.0, False)
        expansion = Expansion(-1, nothing, verdict, depth - 1, admitted.links, admitted.keys, ids, fresh)
        parts = self._met(expansion)
        if parts is None:
            parts = self.strategy.score(expansion)
        place = Task(0, TaskKind.SITEMAP, url, "", depth=depth - 1)
        filed.effects.extend(self._new(admitted, fresh, parts, place, Via.SITEMAP))
        filed.effects.extend(self._forward(admitted, ~owned, parts, place))
        return filed

    def _numbered(self, admitted: Admitted) -> tuple[Numbers, NDArray[np.bool_], NDArray[np.bool_]]:
        """Numbers for all targets of ours, which of them are new, and which targets are ours."""
        ids = admitted.ids.copy()
        owned = np.ones(len(ids), np.bool_)
        if self.slots is not None:
            # A known target is ours, or it would not be known.
            owned = np.array([not host or self.owns(host) for host in admitted.hosts], np.bool_)
        fresh = (ids < 0) & owned
        if new := np.count_nonzero(fresh):
            ids[fresh] = self.frontier.count + np.arange(new)
        return ids, fresh, owned

    def miss(self, task: Task, status: int) -> list[Effect]:
        """Learn from a fetch that gave nothing: a dead link says something about links like it."""
        nothing = Page(url=task.url, status=status, depth=task.depth)
        none = np.zeros(0, np.int64)
        expansion = Expansion(
            task.candidate,
            nothing,
            Verdict(0.0, False),
            task.depth,
            Links(task.url),
            none.astype(np.uint64),
            none,
            none.astype(np.bool_),
        )
        moved = self.strategy.learn(expansion)
        return [] if moved is None else self.rescore(moved)

    def add(
        self,
        targets: tuple[str, ...],
        keys: Keys,
        parts: Parts,
        *,
        depth: int,
        source: int,
        via: Via,
        hosts: tuple[str, ...] = (),
        anchors: tuple[str, ...] = (),
    ) -> SaveCandidates:
        """File URLs that are not known yet."""
        hosts = hosts or tuple([urls.host(t) for t in targets])
        numbers = self.hosts.receiving(hosts)
        first = self.frontier.count
        ids = self.frontier.add(keys, numbers, np.full(len(keys), depth), source, parts)
        self.hosts.consider(ids)
        depths = (depth,) * len(keys)
        anchors = anchors or ("",) * len(keys)
        return SaveCandidates(first, keys, targets, hosts, depths, source, anchors, via, parts)

    def follow(self, target: str, task: Task, via: Via) -> list[Effect]:
        """File one URL that a page points to other than by a link; it is worth what that page was."""
        parts = np.array([task.parts])
        host = urls.host(target)
        if not self.owns(host):
            return [Forward(urls.slot(host), (target,), ("",), task.depth, task.url, parts)]
        keys = urls.keys((target,))
        ids = self.frontier.find(keys)
        if ids[0] >= 0:
            # A strategy that knows its candidates has said what this one is worth.
            told = _meeting(type(self.strategy))
            return [] if told else self._improve(ids, parts, np.ones(1, np.bool_))
        links = Links(task.url, (target,), *[("",)] * 4)
        new = np.array([self.frontier.count])
        met = self._met(
            Expansion(
                task.candidate,
                Page(url=task.url, depth=task.depth),
                Verdict(0.0, False),
                task.depth,
                links,
                keys,
                new,
                np.ones(1, np.bool_),
            )
        )
        parts = parts if met is None else met
        return [self.add((target,), keys, parts, depth=task.depth, source=task.candidate, via=via)]

    def _met(self, expansion: Expansion) -> Parts | None:
        """Tell a strategy that wants to know of candidates that no judged page led to."""
        if not _meeting(type(self.strategy)):
            return None
        assert isinstance(self.strategy, Meets)
        return self.strategy.meet(expansion)

    def rescore(self, moved: Rescore) -> list[Effect]:
        """Give queued candidates their new worth; what is not filed yet gets its own with `add`."""
        ids, parts = moved.ids, moved.parts
        if len(ids) and ids.max() >= self.frontier.count:
            filed = ids < self.frontier.count
            ids, parts = ids[filed], parts[filed]
        self.frontier.rescore(ids, parts)
        if self.frontier.sorted:
            self.hosts.reoffer()
        else:
            self.hosts.consider(ids)
        return [Rescore(ids, parts)] if moved.saved else []

    def _new(
        self,
        admitted: Admitted,
        fresh: NDArray[np.bool_],
        parts: Parts,
        task: Task,
        via: Via = Via.LINK,
    ) -> list[Effect]:
        rows = fresh.nonzero()[0].tolist()
        if not rows:
            return []
        saved = self.add(
            tuple([admitted.links.targets[i] for i in rows]),
            admitted.keys[fresh],
            parts[fresh],
            depth=task.depth + 1,
            source=task.candidate,
            via=via,
            hosts=tuple([admitted.hosts[i] for i in rows]),
            anchors=tuple([admitted.links.anchors[i] for i in rows]),
        )
        return [saved]

    def _improve(self, ids: Numbers, parts: Parts, among: NDArray[np.bool_]) -> list[Effect]:
        """A known candidate found again from a better place is worth the better of the two."""
        # What is not among them may have no number of ours (-1): whatever is found there is left out.
        better = totals(parts) > self.frontier.scores[ids]
        better &= self.frontier.states[ids] == State.QUEUED
        better &= among
        return self.rescore(Rescore(ids[better], parts[better])) if np.count_nonzero(better) else []

    def _forward(
        self, admitted: Admitted, foreign: NDArray[np.bool_], parts: Parts, task: Task
    ) -> list[Effect]:
        by_slot: dict[int, list[int]] = {}
        for i in np.flatnonzero(foreign).tolist():
            by_slot.setdefault(urls.slot(admitted.hosts[i]), []).append(i)
        links = admitted.links
        return [
            Forward(
                slot,
                tuple([links.targets[i] for i in rows]),
                tuple([links.anchors[i] for i in rows]),
                task.depth + 1,
                task.url,
                parts[rows],
            )
            for slot, rows in sorted(by_slot.items())
        ]


@cache
def _meeting(strategy: type) -> bool:
    """Whether strategies of a kind want to know; asked for every page, and a protocol is slow to answer."""
    return hasattr(strategy, "meet")


def _targets(links: Links, fresh: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple([links.targets[i] for i in fresh.nonzero()[0].tolist()])
