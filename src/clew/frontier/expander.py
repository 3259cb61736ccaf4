"""`Expander`: from links that were let in to candidates.

Links get candidate numbers; when the strategy has said what they are worth, new targets are filed under
their hosts, known ones are raised if they were found from a better place, and targets of slots that another
shard owns are forwarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.frontier.admission import Admitted
from clew.frontier.boosts import Boosts
from clew.frontier.queue import Frontier
from clew.frontier.ready_hosts import ReadyHosts
from clew.messages import Effect, Forward, Rescore, SaveCandidates, State, Task, Via
from clew.page import Links
from clew.policy.confidence import Confidence
from clew.strategy.base import finite, totals

Numbers = NDArray[np.int64]
Terms = NDArray[np.float64]
Keys = NDArray[np.uint64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Numbered:
    """Candidate numbers of links that were let in, row by row."""

    ids: Numbers
    """-1 for targets of another shard."""
    fresh: Mask
    """Never seen before: the number is the next in line."""
    owned: Mask
    """The target's slot is ours."""


@dataclass(slots=True)
class Expanded:
    """What filing a page's links did."""

    ids: Numbers
    """Candidate numbers of its links, in page order, forwarded ones left out."""
    fresh: tuple[str, ...] = ()
    """Targets never seen before."""
    effects: list[Effect] = field(default_factory=list)

    @property
    def new(self) -> int:
        """How many targets were never seen before."""
        return len(self.fresh)


@dataclass(frozen=True, slots=True)
class Expander:
    """Files candidates in the frontier and says what to save."""

    frontier: Frontier
    ready: ReadyHosts
    slots: frozenset[int] | None
    boosts: Boosts = field(default_factory=Boosts)
    confidence: Confidence | None = None

    def owns(self, host: str) -> bool:
        """Whether this host's slot is ours."""
        return self.slots is None or urls.slot(host) in self.slots

    def number(self, admitted: Admitted, unfiled: dict[int, int] | None = None) -> Numbered:
        """Numbers for all targets of ours, which of them are new, and which targets are ours.

        `unfiled` has the numbers, by key, of links that were numbered before and are not filed yet, those of
        other pages of the batch; the new ones are put in too.
        """
        ids = admitted.ids.copy()
        owned = np.ones(len(ids), np.bool_)
        if self.slots is not None:
            # A known target is ours, or it would not be known.
            owned = np.array([not host or self.owns(host) for host in admitted.hosts], np.bool_)
        fresh = (ids < 0) & owned
        if unfiled is not None:
            self._join(admitted, ids, fresh, unfiled)
        elif new := np.count_nonzero(fresh):
            ids[fresh] = self.frontier.count + np.arange(new)
        return Numbered(ids, fresh, owned)

    def _join(self, admitted: Admitted, ids: Numbers, fresh: Mask, unfiled: dict[int, int]) -> None:
        """Number what is new in a batch: what another page of it brought is not new any more."""
        for row in fresh.nonzero()[0].tolist():
            key = int(admitted.keys[row])
            known = unfiled.get(key)
            if known is None:
                known = unfiled[key] = self.frontier.count + len(unfiled)
            else:
                fresh[row] = False
            ids[row] = known

    def file(
        self, place: Task, admitted: Admitted, numbered: Numbered, terms: Terms | None, via: Via = Via.LINK
    ) -> Expanded:
        """File the new links of what `place` was to fetch, a page or a sitemap; raise known ones worth more
        from here; send on what is another shard's."""
        ids, fresh, owned = numbered.ids, numbered.fresh, numbered.owned
        filed = Expanded(ids[owned], _targets(admitted.links, fresh))
        if len(ids):
            assert terms is not None  # no links, no terms
            filed.effects.extend(self._new(admitted, fresh, terms, place, via))
            filed.effects.extend(self._improve(ids, terms, ~fresh & owned))
            if self.slots is not None:
                filed.effects.extend(self._forward(admitted, ~owned, terms, place))
        return filed

    def file_again(self, ids: Numbers, fresh: Mask, terms: Terms | None) -> None:
        """Give candidates that are filed already the worth they were filed with, or were raised to."""
        if terms is None or not len(ids):
            return
        if np.count_nonzero(fresh):
            self.rescore(Rescore(ids[fresh], terms[fresh], saved=False))
        self._improve(ids, terms, ~fresh & (ids >= 0))

    def add(
        self,
        targets: tuple[str, ...],
        keys: Keys,
        terms: Terms,
        *,
        depth: int,
        source: int,
        via: Via,
        hosts: tuple[str, ...] = (),
        anchors: tuple[str, ...] = (),
    ) -> SaveCandidates:
        """File URLs that are not known yet."""
        terms = finite(terms)
        hosts = hosts or tuple([urls.host(t) for t in targets])
        numbers = self.ready.receiving(hosts)
        first = self.frontier.count
        boosts = self.boosts.of(targets) if self.boosts else None
        suspended = None
        if self.confidence is not None:
            coming = np.arange(first, first + len(keys))
            self.confidence.meet(coming, source)
            suspended = self.confidence.suspends(coming)
        ids = self.frontier.add(
            keys, numbers, np.full(len(keys), depth), source, terms, boosts=boosts, suspended=suspended
        )
        self.ready.consider(ids)
        return SaveCandidates(
            first=first,
            keys=keys,
            urls=targets,
            hosts=hosts,
            depths=(depth,) * len(keys),
            source=source,
            anchors=anchors or ("",) * len(keys),
            via=via,
            terms=terms,
        )

    def raise_to(self, candidate: int, terms: Terms) -> list[Effect]:
        """A known candidate was found again, from a place that gives it these terms."""
        return self._improve(np.array([candidate]), terms, np.ones(1, np.bool_))

    def boost(self, ids: Numbers, urls: Sequence[str]) -> None:
        """Score candidates that wait, or are under way, by the boosts there are now; `urls` are theirs."""
        self.frontier.boost(ids, self.boosts.of(urls) if self.boosts else None)
        self.ready.reoffer()

    def suspend(self, ids: Numbers) -> None:
        """Have candidates wait behind all others, or not, as they are to; those that may still be fetched."""
        assert self.confidence is not None  # nobody else suspends
        states = self.frontier.states[ids]
        ids = ids[(states == State.QUEUED) | (states == State.LEASED)]
        self._offer(self.frontier.suspend(ids, self.confidence.suspends(ids)))

    def _offer(self, ids: Numbers) -> None:
        if self.frontier.sorted:
            self.ready.reoffer()
        else:
            self.ready.consider(ids)

    def rescore(self, moved: Rescore) -> list[Effect]:
        """Give queued candidates their new worth; what is not filed yet gets its own with `add`."""
        ids, terms = moved.ids, finite(moved.terms)
        if len(ids) and ids.max() >= self.frontier.count:
            filed = ids < self.frontier.count
            ids, terms = ids[filed], terms[filed]
        self.frontier.rescore(ids, terms)
        self._offer(ids)
        return [Rescore(ids, terms)] if moved.saved else []

    def _new(self, admitted: Admitted, fresh: Mask, terms: Terms, place: Task, via: Via) -> list[Effect]:
        rows = fresh.nonzero()[0].tolist()
        if not rows:
            return []
        saved = self.add(
            tuple([admitted.links.targets[i] for i in rows]),
            admitted.keys[fresh],
            terms[fresh],
            depth=place.depth + 1,
            source=place.candidate,
            via=via,
            hosts=tuple([admitted.hosts[i] for i in rows]),
            anchors=tuple([admitted.links.anchors[i] for i in rows]),
        )
        return [saved]

    def _improve(self, ids: Numbers, terms: Terms, among: Mask) -> list[Effect]:
        """A known candidate found again from a better place is worth the better of the two."""
        terms = finite(terms)
        # What is not among them may have no number of ours (-1): whatever is found there is left out.
        better = totals(terms) > self.frontier.worth(ids)
        better &= self.frontier.states[ids] == State.QUEUED
        better &= among
        return self.rescore(Rescore(ids[better], terms[better])) if np.count_nonzero(better) else []

    def _forward(self, admitted: Admitted, foreign: Mask, terms: Terms, place: Task) -> list[Effect]:
        by_slot: dict[int, list[int]] = {}
        for i in np.flatnonzero(foreign).tolist():
            by_slot.setdefault(urls.slot(admitted.hosts[i]), []).append(i)
        links = admitted.links
        return [
            Forward(
                slot=slot,
                urls=tuple([links.targets[i] for i in rows]),
                anchors=tuple([links.anchors[i] for i in rows]),
                depth=place.depth + 1,
                source=place.url,
                terms=terms[rows],
            )
            for slot, rows in sorted(by_slot.items())
        ]


def _targets(links: Links, fresh: Mask) -> tuple[str, ...]:
    return tuple([links.targets[i] for i in fresh.nonzero()[0].tolist()])
