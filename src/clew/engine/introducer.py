"""`Introducer`: brings in URLs as candidates that no judged page linked to.

They come as starting points, from sitemaps, by redirects and the canonical links of pages, from another
shard, and from what the strategy knows of itself. Each is checked like a link, and the strategy is
told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from clew import url as urls
from clew.engine.learner import Learner
from clew.engine.learning import Lesson
from clew.frontier.admission import Admission, Admitted
from clew.frontier.expander import Expanded, Expander
from clew.frontier.queue import Frontier
from clew.messages import Effect, Forward, SaveCandidates, Task, Via
from clew.page import Links

#: Pages of no link that are taken in after one page, pages that are tried when nothing is left, and pages
#: that are looked through for either.
_OFFERED, _SAMPLED, _LOOKED_THROUGH = 500, 16, 10_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Introducer:
    """Files URLs that no judged page linked to."""

    frontier: Frontier
    admission: Admission
    expander: Expander
    learner: Learner

    def add_seeds(self, seeds: Sequence[str], source: int = -1) -> tuple[SaveCandidates, ...]:
        """File starting points that are not known yet; `source` is the seed that lists them, if one does."""
        mine = [seed for seed in dict.fromkeys(seeds) if self.expander.owns(urls.host(seed))]
        unknown = self.frontier.find(urls.keys(mine)) < 0
        fresh = tuple([seed for seed, new in zip(mine, unknown.tolist(), strict=True) if new])
        via = Via.SEED
        if not seeds and not self.frontier.count and self.learner.strategy.capabilities.offers:
            fresh, via = tuple(self._offerable(self.learner.strategy.samples(), _SAMPLED)), Via.VISITS
        if not fresh:
            return ()
        keys = urls.keys(fresh)
        terms = self.learner.strategy.seeds(keys)
        return (self.expander.add(fresh, keys, terms, depth=0, source=source, via=via),)

    def take_offers(self, candidate: int, *, idle: bool) -> list[Effect]:
        """File what the strategy offers after it has learned from a candidate; what it would try, where the
        crawl is `idle` and would end otherwise."""
        targets = self._offerable(self.learner.strategy.offers(), _OFFERED)
        if not targets and idle:
            targets = self._offerable(self.learner.strategy.samples(), _SAMPLED)
        if not targets:
            return []
        lesson = Lesson.offered(targets, self.frontier.count + np.arange(len(targets)))
        terms = self.learner.meet(lesson)
        keys = lesson.expansion.keys
        terms = self.learner.strategy.seeds(keys) if terms is None else terms
        return [self.expander.add(tuple(targets), keys, terms, depth=0, source=candidate, via=Via.VISITS)]

    def receive(self, links: Forward) -> tuple[Effect, ...]:
        """Take in links that another shard found to hosts of ours."""
        unknown = (self.frontier.find(urls.keys(links.urls)) < 0).tolist()
        keep = [
            i
            for i, target in enumerate(links.urls)
            if unknown[i] and self.admission.check(target, links.depth, links.source) is None
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

    def follow(self, target: str, task: Task, via: Via) -> list[Effect]:
        """File one URL that a page points to other than by a link; it is worth what that page was."""
        terms, host = self.frontier.terms[task.candidate][None].copy(), urls.host(target)
        if not self.expander.owns(host):
            return [Forward(urls.slot(host), (target,), ("",), task.depth, task.url, terms)]
        keys = urls.keys((target,))
        known = int(self.frontier.find(keys)[0])
        if known >= 0:
            # A strategy that knows its candidates has said what this one is worth.
            return [] if self.learner.strategy.capabilities.meets else self.expander.raise_to(known, terms)
        links = Links(task.url, (target,), *[("",)] * 4)
        number = np.array([self.frontier.count])
        met = self.learner.meet(Lesson.introduced(task.candidate, task.depth, links, keys, number))
        terms = terms if met is None else met
        return [self.expander.add((target,), keys, terms, depth=task.depth, source=task.candidate, via=via)]

    def take_listed(self, links: Links, place: Task, limit: int) -> tuple[Admitted, Expanded]:
        """File the entries of a sitemap, so many at most: they are like links of a page that says nothing,
        one step from a seed."""
        admitted = self.admission.first(links, limit, depth=1)
        numbered = self.expander.number(admitted)
        terms = None
        if len(numbered.ids):
            lesson = Lesson.introduced(-1, 0, admitted.links, admitted.keys, numbered.ids, numbered.fresh)
            terms = self.learner.meet(lesson)
            terms = self.learner.strategy.score(lesson.expansion) if terms is None else terms
        return admitted, self.expander.file(place, admitted, numbered, terms, Via.SITEMAP)

    def _offerable(self, offered: Iterable[str], most: int) -> list[str]:
        """Those of some URLs that may become candidates and are none yet, the first so many."""
        found: dict[str, None] = {}
        left = islice(offered, _LOOKED_THROUGH)
        while len(found) < most and (some := tuple(islice(left, most))):
            unknown = self.frontier.find(urls.keys(some)) < 0
            for target, new in zip(some, unknown.tolist(), strict=True):
                if new and self.expander.owns(urls.host(target)) and self.admission.check(target, 0) is None:
                    found[target] = None
        return list(found)[:most]
