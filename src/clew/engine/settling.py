"""`Settler`: what a fetch means.

A reply is judged, learned from, and its links are scored and filed; a failure is tried again or closed; and
whatever came is taken into the health of its host.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from clew import url as urls
from clew.engine.introducer import Introducer
from clew.engine.learner import Learner
from clew.engine.learning import Lesson
from clew.engine.leasing import Leaser
from clew.engine.prospects import FrontierProspects
from clew.errors import RETRY, Reason, Retry
from clew.frontier.admission import Admission, Admitted
from clew.frontier.expander import Expanded, Expander, Numbered
from clew.frontier.host import waits_of
from clew.frontier.hosts import Host, Hosts
from clew.frontier.queue import Frontier
from clew.frontier.robots_gate import REDIRECT_STATUS, RobotsGate, failure, health
from clew.frontier.sitemaps import LEVELS, TAKEN_EACH, Sitemaps
from clew.messages import (
    Close,
    Effect,
    Journal,
    Outcome,
    SaveCandidates,
    SavePage,
    Sitemap,
    State,
    Task,
    TaskKind,
    Via,
)
from clew.page import Links, Page
from clew.parse.directives import hidden
from clew.policy import Duplicates, Scope, Tally, WasteGuard
from clew.policy.confidence import Confidence
from clew.policy.waste_guard import PageCheck
from clew.trace import Tracer

_REDIRECTS = 10
_ORIGINS = 4
_LOOKED_AT = 64


@dataclass(slots=True)
class Taken:
    """A page that came, as far as it is settled before it is learned from."""

    task: Task
    lesson: Lesson
    links: tuple[Admitted, Numbered] | None = None
    filed: Expanded | None = None
    """Its links, once the batch was learned from."""


Settling = Generator[Taken | None, None, tuple[Host | None, list[Effect]]]
"""Settling one outcome: gives what it teaches, if anything; then its host and what else is to be saved."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Settler:
    """Takes in what came of tasks."""

    scope: Scope
    prune: bool
    """Links of pages that do not satisfy what is sought are left out."""
    frontier: Frontier
    hosts: Hosts
    robots_gate: RobotsGate
    sitemaps: Sitemaps
    waste_guard: WasteGuard
    duplicates: Duplicates
    admission: Admission
    expander: Expander
    introducer: Introducer
    learner: Learner
    leaser: Leaser
    prospects: FrontierProspects
    confidence: Confidence | None
    tally: Tally
    tracer: Tracer
    url_of: Callable[[int], str]

    def settle(self, outcomes: Sequence[Outcome], now: float) -> list[Effect]:
        """Take in what came of several tasks: their pages are judged, then learned from together, then their
        links are filed, then the rest. The effects belong together: save all or none."""
        self.tracer.begin_batch()
        unfiled: dict[int, int] | None = {} if len(outcomes) > 1 else None
        settling = [self._settling(outcome, now, unfiled) for outcome in outcomes]
        found = list(map(next, settling))
        effects = self._learn_together([one for one in found if one is not None])
        for one in settling:
            host, more = _rest_of(one)
            effects += more
            if host is not None and host.excluded:
                self.leaser.give_up(host)
        pages = [outcome.task.candidate for outcome in outcomes if outcome.task.kind is TaskKind.PAGE]
        if pages and self.learner.strategy.capabilities.offers:
            idle = not self.frontier.queued and not self.leaser.in_flight
            effects += self.introducer.take_offers(pages[-1], idle=idle)
        if self.confidence is not None:
            self.expander.suspend(self.confidence.moved(self.frontier.count))
        return effects

    def _settling(self, outcome: Outcome, now: float, unfiled: dict[int, int] | None) -> Settling:
        """Settle one outcome, in two steps: up to what it teaches, and, when that is learned, the rest."""
        if outcome.error is Reason.LOCAL:
            yield None
            self.leaser.pause_after(outcome.task, outcome.detail, now)
            reasons = (Reason.LOCAL.value, outcome.detail)
            return None, [self.tracer.settled(outcome, now, self.frontier.queued, "retry", reasons=reasons)]
        self.leaser.returned(outcome.task)
        kind = outcome.task.kind
        if kind is not TaskKind.RESOLVE:
            self.tally.wire += outcome.wire
            self.tally.requests += (not outcome.cached) + outcome.subrequests
        if kind is TaskKind.PAGE:
            return (yield from self._page(outcome, now, unfiled))
        yield None
        if kind is TaskKind.RESOLVE:
            return self._resolved(outcome, now)
        return self._robots(outcome, now) if kind is TaskKind.ROBOTS else self._sitemap(outcome, now)

    def _learn_together(self, pages: Sequence[Taken]) -> list[Effect]:
        """Teach the strategy the pages of a batch, and file their links."""
        if not pages:
            return []
        first = self.frontier.count
        taught, effects = self.learner.teach([page.lesson for page in pages])
        for page, learned in zip(pages, taught, strict=True):
            if page.links is not None:
                page.filed = self.expander.file(page.task, *page.links, learned.terms)
                effects += page.filed.effects
        return effects + self.learner.catch_up(taught, first)

    def _resolved(self, outcome: Outcome, now: float) -> tuple[Host, list[Effect]]:
        """A name was looked up. One that has no address now may have one later."""
        host = self.hosts[self.hosts.number(outcome.task.host)]
        host.resolving = False
        self.hosts.touch(host.number)
        if outcome.error is None:
            self.hosts.settle_at(host, outcome.addresses, now)
            return host, []
        # A name that leads inwards is a lasting refusal, unless the host was fine before.
        rule = RETRY.get(outcome.error, Retry(0, RETRY[Reason.DNS].rest))
        self.hosts.unwell(host)
        if host.mute and host.failures > rule.times and not self.hosts.outage:
            host.excluded = host.unsaved = True
        backoff = self.hosts.backoff(
            outcome.error if outcome.error in RETRY else Reason.DNS, min(host.failures - 1, 6)
        )
        self.hosts.rest(host, now + backoff)
        word = "failed" if host.excluded else "retry"
        reasons = (outcome.error.value, outcome.detail)
        return host, [
            host.row(self.hosts.politeness),
            self.tracer.settled(outcome, now, self.frontier.queued, word, reasons=reasons),
        ]

    def _robots(self, outcome: Outcome, now: float) -> tuple[Host, list[Effect]]:
        asked = self.hosts[self.hosts.number(outcome.task.host)]
        self._met(asked, outcome)
        host, result = self.robots_gate.settle(outcome, now)
        if host.refusal == "host-excluded" and self._elsewhere(host):
            # Nobody answers there; at another port, by https instead of http say, somebody may.
            host.excluded, host.failures = False, 0
        reasons = (outcome.error.value, outcome.detail) if outcome.error else ()
        if result == "parked":
            rest = max(waits_of(host.notes).values()) - now
            why = outcome.error.value if outcome.error else f"http-{outcome.status}"
            reasons = (
                why,
                f"robots.txt cannot be had now: its pages wait, and it is asked again in {rest:.0f} s",
            )
        record = self.tracer.settled(outcome, now, self.frontier.queued, result, reasons=reasons)
        effects: list[Effect] = [host.row(self.hosts.politeness, robots=True), record]
        if asked is not host:
            effects.insert(0, asked.row(self.hosts.politeness))
        while self.robots_gate.evicted:
            effects.insert(0, self.robots_gate.evicted.pop().row(self.hosts.politeness, robots=True))
        return host, effects

    def _elsewhere(self, host: Host) -> bool:
        """Whether something is queued for an origin of a host that was not tried yet; of the first few."""
        if len(host.robots) >= _ORIGINS:
            return False
        frontier, count = self.frontier, self.frontier.count
        queued = (frontier.hosts[:count] == host.number) & (frontier.states[:count] == State.QUEUED)
        some = np.flatnonzero(queued)[:_LOOKED_AT].tolist()
        return any(urls.origin(self.url_of(number)) not in host.robots for number in some)

    def _sitemap(self, outcome: Outcome, now: float) -> tuple[Host, list[Effect]]:
        """A sitemap was read: some of its entries become candidates."""
        host, word, found = self.sitemaps.settle(outcome)
        self._met(host, outcome)
        host.requests += not outcome.cached
        self.hosts.end(host, now, health(self.hosts, host, outcome))
        if found is None:
            record = self.tracer.settled(outcome, now, self.frontier.queued, word)
            return host, [host.row(self.hosts.politeness), record]
        listed = Links(found.url, found.urls, found.titles, *[("",) * len(found.urls)] * 3)
        admitted, filed = self.introducer.take_listed(listed, outcome.task, self.sitemaps.allowance(host))
        self.sitemaps.record_taken(host, filed.new)
        known = len(found.urls) - filed.new - sum(admitted.dropped.values())
        record = self.tracer.settled(
            outcome, now, self.frontier.queued, word, new=filed.new, known=known, dropped=admitted.dropped
        )
        return host, [*filed.effects, host.row(self.hosts.politeness), record]

    def _met(self, host: Host, outcome: Outcome) -> None:
        host.wire += outcome.wire
        for address in outcome.addresses:
            self.hosts.meet(host, address)

    def _page(self, outcome: Outcome, now: float, unfiled: dict[int, int] | None) -> Settling:
        host = self.hosts[int(self.frontier.hosts[outcome.task.candidate])]
        self._met(host, outcome)
        host.requests += (not outcome.cached) + outcome.subrequests
        reason = failure(outcome)
        rest = health(self.hosts, host, outcome)
        if reason is not None:
            return (yield from self._failed(outcome, host, reason, rest, now))
        self.hosts.end(host, now, rest)
        if outcome.status in REDIRECT_STATUS and outcome.location:
            if self.confidence is not None:
                self.confidence.close(outcome.task.candidate)
            yield None
            return host, self._redirected(outcome, host, now)
        if outcome.sitemap is not None:
            yield None
            return host, self._listed(outcome, outcome.sitemap, host, now)
        page = outcome.page
        if not 200 <= outcome.status < 300 or page is None:
            return (yield from self._closed(outcome, host, State.FAILED, f"http-{outcome.status}", now))
        if not self.scope.keeps(page.type):
            return (yield from self._closed(outcome, host, State.DROPPED, "type", now))
        return (yield from self._judged(outcome, page, host, now, unfiled))

    def _listed(self, outcome: Outcome, found: Sitemap, host: Host, now: float) -> list[Effect]:
        """A seed turned out to be a sitemap: its entries are seeds in its stead, and so are the sitemaps it
        names, to a few levels."""
        task = outcome.task
        level, source = 1, int(self.frontier.sources[task.candidate])
        while source >= 0:
            level, source = level + 1, int(self.frontier.sources[source])
        entries = (*found.urls, *(found.children if level < LEVELS else ()))
        dropped: Counter[str] = Counter()
        seeds: list[str] = []
        for url in entries:
            why = self.admission.check(url, 0, task.url)
            dropped.update([why] if why else [])
            if why is None and len(seeds) < TAKEN_EACH:
                seeds.append(url)
        added = self.introducer.add_seeds(seeds, source=task.candidate)
        self.frontier.close(task.candidate, State.DROPPED)
        new = sum(len(effect.urls) for effect in added)
        return [
            *added,
            Close(task.candidate, State.DROPPED, "seed-list", task.attempt + 1),
            host.row(self.hosts.politeness),
            self.tracer.settled(
                outcome,
                now,
                self.frontier.queued,
                "seed-list",
                reasons=("seed-list",),
                new=new,
                known=len(seeds) - new,
                dropped=dict(dropped),
            ),
        ]

    def _failed(self, outcome: Outcome, host: Host, reason: Reason, rest: float, now: float) -> Settling:
        task = outcome.task
        rule = RETRY.get(reason)
        # A server that says when to come back knows better than a table.
        backoff = self.hosts.backoff(reason, task.attempt) if rule and not outcome.retry_after else 0.0
        self.hosts.end(host, now, max(rest, backoff))
        if reason in (Reason.DNS, Reason.CONNECT):
            # It may have moved.
            host.resolved_at = None
        if rule is None or (task.attempt >= rule.times and not self.hosts.outage):
            name = f"http-{outcome.status}" if outcome.status else reason.value
            return (yield from self._closed(outcome, host, State.FAILED, name, now))
        # What fails while nobody answers is not held against the page.
        attempt = task.attempt + (not self.hosts.outage)
        self.frontier.attempts[task.candidate] = attempt
        self.frontier.close(task.candidate, State.QUEUED)
        yield None
        return host, [
            Close(task.candidate, State.QUEUED, reason.value, attempt),
            host.row(self.hosts.politeness),
            self.tracer.settled(outcome, now, self.frontier.queued, "retry", reasons=(reason.value,)),
        ]

    def _closed(self, outcome: Outcome, host: Host, state: State, reason: str, now: float) -> Settling:
        task = outcome.task
        self.frontier.close(task.candidate, state)
        self.tally.failed += state is State.FAILED
        result = "failed" if state is State.FAILED else reason
        reasons = (reason, outcome.detail) if outcome.detail else (reason,)
        yield Taken(task, Lesson.missed(task.candidate, task.url, outcome.status, task.depth))
        return host, [
            Close(task.candidate, state, reason, task.attempt + 1),
            host.row(self.hosts.politeness),
            self.tracer.settled(outcome, now, self.frontier.queued, result, reasons=reasons),
        ]

    def _redirected(self, outcome: Outcome, host: Host, now: float) -> list[Effect]:
        task = outcome.task
        self.frontier.close(task.candidate, State.REDIRECTED)
        target = urls.canonical(outcome.location, task.url)
        why = "bad-url" if target is None else self.admission.check(target, task.depth, task.url)
        why = "redirects" if self._hops(task.candidate) > _REDIRECTS else why
        if target is not None and self.waste_guard.traps.redirected(task.url, host.name, target):
            host.note("traps", self.waste_guard.traps.state(host.name))
        followed = [] if target is None or why else self.introducer.follow(target, task, Via.REDIRECT)
        new = sum(isinstance(effect, SaveCandidates) for effect in followed)
        goal = target or outcome.location[:200]
        return [
            *followed,
            Close(task.candidate, State.REDIRECTED, why or "redirect", task.attempt + 1),
            host.row(self.hosts.politeness),
            self.tracer.settled(
                outcome,
                now,
                self.frontier.queued,
                "redirect",
                reasons=(goal,),
                new=new,
                dropped={why: 1} if why else {},
            ),
        ]

    def _hops(self, candidate: int) -> int:
        """Redirects in a row, up to and with the one just met."""
        hops, source = 1, int(self.frontier.sources[candidate])
        while source >= 0 and self.frontier.states[source] == State.REDIRECTED:
            hops, source = hops + 1, int(self.frontier.sources[source])
        return hops

    def _judged(
        self, outcome: Outcome, page: Page, host: Host, now: float, unfiled: dict[int, int] | None
    ) -> Settling:
        task = outcome.task
        verdict = self.learner.predicate.judge(page)
        check = self.waste_guard.check_page(page, host.name, satisfied=verdict.satisfied)
        if check.soft_404:
            met = self._record_waste(task, host, check)
            _, closed = yield from self._closed(outcome, host, State.DROPPED, "soft-404", now)
            return host, [*met, *closed]
        repeated = self.duplicates.find(page.digest, page.sketch)
        if repeated is None:
            self.duplicates.add(task.candidate, page.digest, page.sketch)
        else:
            self.duplicates.copies.add(task.candidate)
        shown = not hidden(page.robots, self.hosts.politeness.agent)
        matched = verdict.satisfied and repeated is None and shown
        self.frontier.close(task.candidate, State.FETCHED)
        self.tally.record_page(matched, repeated=repeated is not None, interests=verdict.interests)
        host.pages += 1
        host.matches += matched
        tunnelling = self.learner.tunnelling
        session = tunnelling.record_page(page, self.tally) if tunnelling is not None else ""
        sought = self.learner.learning.sought(page, verdict)
        if self.prune and task.depth and not sought.satisfied:
            admitted = self.admission.admit_none(page.links, "pruned")
        else:
            admitted = self.admission.admit(page, task.depth + 1)
        numbered = self.expander.number(admitted, unfiled)
        if self.confidence is not None:
            owned = numbered.owned
            self.confidence.record(
                task.candidate, find=matched, targets=numbered.ids[owned], fresh=numbered.fresh[owned]
            )
        lesson = Lesson.judged(task.candidate, page, sought, task.depth, admitted, numbered)
        taken = Taken(task, lesson, (admitted, numbered))
        yield taken
        filed = taken.filed
        assert filed is not None  # whoever goes on has filed the links
        if self.prospects.graph is not None:
            self.prospects.graph.add(task.candidate, filed.ids, find=matched)
        effects = self._record_waste(task, host, check, matched, repeated, filed.fresh)
        for target, via in ((page.refresh, Via.REFRESH), (page.canonical, Via.CANONICAL)):
            if target and target != page.url and self.admission.check(target, task.depth, task.url) is None:
                effects += self.introducer.follow(target, task, via)
        saved = SavePage(
            candidate=task.candidate,
            page=page,
            verdict=verdict,
            matched=matched,
            duplicate_of=repeated[0] if repeated else -1,
            near=bool(repeated and repeated[1]),
            source=int(self.frontier.sources[task.candidate]),
            depth=task.depth,
            fetched_at=now,
            wire=outcome.wire,
            blob=outcome.blob,
            links=array("I", filed.ids.tolist()),
            said=check.said,
        )
        record = self.tracer.settled(
            outcome,
            now,
            self.frontier.queued,
            _word(matched, verdict.satisfied, repeated is not None),
            verdict=verdict.score,
            reasons=verdict.reasons,
            new=filed.new,
            known=len(filed.ids) - filed.new,
            dropped=admitted.dropped,
        )
        close = Close(task.candidate, State.FETCHED, "", task.attempt + 1)
        kept = [Journal(self.tracer.count, session)] if session else []
        return host, [*effects, close, saved, host.row(self.hosts.politeness), record, *kept]

    def _record_waste(
        self,
        task: Task,
        host: Host,
        check: PageCheck,
        matched: bool = False,
        repeated: tuple[int, bool] | None = None,
        fresh: tuple[str, ...] = (),
    ) -> list[Effect]:
        """Tell the waste guard of a page; what it holds against its kind is remembered with the host.

        Gives what is to be saved of other hosts: those that share pages with this one.
        """
        if not self.waste_guard.on:
            return []
        twin, near = (self.url_of(repeated[0]), repeated[1]) if repeated else ("", False)
        guard = self.waste_guard
        if guard.record_page(task.url, host.name, check, find=matched, twin=twin, near=near, fresh=fresh):
            host.note("traps", guard.traps.state(host.name))
        if check.empty and (said := guard.empty_pages.state(host.name)) != host.notes.get("blanks"):
            host.note("blanks", said)
        others: dict[str, Host] = {}
        for origin, known in self.waste_guard.mirrors.changes().items():
            one = self.hosts[self.hosts.number(urls.host(origin))]
            noted = one.notes.get("mirrors")
            one.note("mirrors", {**(noted if isinstance(noted, dict) else {}), origin: known})
            if one is not host:
                others[one.name] = one
        return [one.row(self.hosts.politeness) for one in others.values()]


def _rest_of(settling: Settling) -> tuple[Host | None, list[Effect]]:
    """Settle the rest of an outcome."""
    try:
        next(settling)
    except StopIteration as end:
        found: tuple[Host | None, list[Effect]] = end.value
        return found
    raise AssertionError("an outcome is settled in two steps")


def _word(matched: bool, satisfied: bool, repeated: bool) -> str:
    if matched:
        return "match"
    if not satisfied:
        return "miss"
    return "duplicate" if repeated else "noindex"
