"""`Crawl`: what a fetch means.

A reply is judged, learned from, and its links are scored and filed; a failure is tried again or closed; and
whatever came is taken into the health of its host.
"""

from __future__ import annotations

from array import array

import numpy as np

from clew import url as urls
from clew.engine.leasing import Leasing
from clew.errors import RETRY, Reason, Retry
from clew.frontier.gate import REDIRECT_STATUS, failure, health
from clew.frontier.hosts import Host
from clew.messages import (
    Close,
    Effect,
    Learned,
    Outcome,
    SaveCandidates,
    SavePage,
    State,
    Task,
    TaskKind,
    Via,
)
from clew.page import Links, Page
from clew.parse.directives import binding
from clew.policy.watch import Look
from clew.strategy.base import Lasting

_REDIRECTS = 10
_ORIGINS = 4
_LOOKED_AT = 64
_HIDDEN = frozenset({"noindex", "none"})


class Crawl(Leasing):
    """One crawl, or one shard of one."""

    def settle(self, outcome: Outcome, now: float) -> tuple[Effect, ...]:
        """Take in what came of a task. The effects belong together: save all or none."""
        self.in_flight -= 1
        kind = outcome.task.kind
        if kind is not TaskKind.RESOLVE:
            self.tally.wire += outcome.wire
            self.tally.requests += (not outcome.cached) + outcome.parts
        settle = {
            TaskKind.ROBOTS: self._robots,
            TaskKind.SITEMAP: self._sitemap,
            TaskKind.RESOLVE: self._resolved,
            TaskKind.PAGE: self._page,
        }[kind]
        host, effects = settle(outcome, now)
        if host.excluded:
            self.give_up(host)
        effects = [*self._outbox, *effects]
        self._outbox.clear()
        return tuple(effects)

    def drain(self) -> tuple[Effect, ...]:
        """Effects of leasing that no settle has carried yet, and what was learned; for a checkpoint."""
        effects = [*self._outbox]
        self._outbox.clear()
        state = self.strategy.snapshot() if isinstance(self.strategy, Lasting) else self.strategy.state()
        return (*effects, Learned(state)) if state else tuple(effects)

    def abandon(self, task: Task) -> None:
        """A task will not be performed (the driver is stopping): its candidate is queued again."""
        self.in_flight -= 1
        if task.kind is TaskKind.ROBOTS:
            self.gate.abandon(task.id)
        elif task.kind is TaskKind.RESOLVE:
            host = self.hosts[self.hosts.number(task.host)]
            host.resolving = False
            self.hosts.touch(host.number)
        elif task.kind is TaskKind.SITEMAP:
            self.hosts.undo(self.sitemaps.abandon(task.id))
        else:
            self.hosts.undo(self.hosts[int(self.frontier.hosts[task.candidate])])
            self.frontier.close(task.candidate, State.QUEUED)

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
        self.hosts.rest(host, now + rule.rest * 2 ** min(host.failures - 1, 6))
        word = "failed" if host.excluded else "retry"
        reasons = (outcome.error.value, outcome.detail)
        return host, [
            host.row(self.rules.politeness),
            self.tracer.settled(outcome, now, self.frontier.queued, word, reasons=reasons),
        ]

    def _robots(self, outcome: Outcome, now: float) -> tuple[Host, list[Effect]]:
        asked = self.hosts[self.hosts.number(outcome.task.host)]
        self._met(asked, outcome)
        host, result = self.gate.settle(outcome, now)
        if host.excluded and self._elsewhere(host):
            # Nobody answers there; at another port, by https instead of http say, somebody may.
            host.excluded, host.failures = False, 0
        reasons = (outcome.error.value, outcome.detail) if outcome.error else ()
        record = self.tracer.settled(outcome, now, self.frontier.queued, result, reasons=reasons)
        effects: list[Effect] = [host.row(self.rules.politeness, robots=True), record]
        if asked is not host:
            effects.insert(0, asked.row(self.rules.politeness))
        while self.gate.forgotten:
            effects.insert(0, self.gate.forgotten.pop().row(self.rules.politeness, robots=True))
        return host, effects

    def _elsewhere(self, host: Host) -> bool:
        """Whether something is queued for an origin of a host that was not tried yet; of the first few."""
        if len(host.robots) >= _ORIGINS:
            return False
        frontier, count = self.frontier, self.frontier.count
        queued = (frontier.hosts[:count] == host.number) & (frontier.states[:count] == State.QUEUED)
        some = np.flatnonzero(queued)[:_LOOKED_AT].tolist()
        return any(urls.origin(self.shelf(number)) not in host.robots for number in some)

    def _sitemap(self, outcome: Outcome, now: float) -> tuple[Host, list[Effect]]:
        """A sitemap's entries are candidates like links of a page that says nothing, one step from a seed."""
        host, word, found = self.sitemaps.settle(outcome)
        self._met(host, outcome)
        host.requests += not outcome.cached
        self.hosts.end(host, now, health(self.hosts, host, outcome))
        if found is None:
            record = self.tracer.settled(outcome, now, self.frontier.queued, word)
            return host, [host.row(self.rules.politeness), record]
        listed = Links(found.url, found.urls, found.titles, *[("",) * len(found.urls)] * 3)
        admitted = self.intake.first(listed, self.sitemaps.room(host), depth=1)
        filed = self.filing.listed(found.url, admitted, depth=1)
        self.sitemaps.took(host, filed.new)
        known = len(found.urls) - filed.new - sum(admitted.dropped.values())
        record = self.tracer.settled(
            outcome, now, self.frontier.queued, word, new=filed.new, known=known, dropped=admitted.dropped
        )
        return host, [*filed.effects, host.row(self.rules.politeness), record]

    def _met(self, host: Host, outcome: Outcome) -> None:
        host.wire += outcome.wire
        for address in outcome.addresses:
            self.hosts.meet(host, address)

    def _page(self, outcome: Outcome, now: float) -> tuple[Host, list[Effect]]:
        host = self.hosts[int(self.frontier.hosts[outcome.task.candidate])]
        self._met(host, outcome)
        host.requests += (not outcome.cached) + outcome.parts
        reason = failure(outcome)
        rest = health(self.hosts, host, outcome)
        if reason is not None:
            return host, self._failed(outcome, host, reason, rest, now)
        self.hosts.end(host, now, rest)
        return host, self._came(outcome, host, now)

    def _came(self, outcome: Outcome, host: Host, now: float) -> list[Effect]:
        if outcome.status in REDIRECT_STATUS and outcome.location:
            return self._redirected(outcome, host, now)
        page = outcome.page
        if not 200 <= outcome.status < 300 or page is None:
            return self._closed(outcome, host, State.FAILED, f"http-{outcome.status}", now)
        if not self.rules.scope.keeps(page.type):
            return self._closed(outcome, host, State.DROPPED, "type", now)
        return self._judged(outcome, page, host, now)

    def _failed(self, outcome: Outcome, host: Host, reason: Reason, rest: float, now: float) -> list[Effect]:
        task = outcome.task
        rule = RETRY.get(reason)
        backoff = rule.rest * 2**task.attempt if rule else 0.0
        self.hosts.end(host, now, max(rest, backoff))
        if reason in (Reason.DNS, Reason.CONNECT):
            # It may have moved.
            host.resolved_at = None
        if rule is None or (task.attempt >= rule.times and not self.hosts.outage):
            name = f"http-{outcome.status}" if outcome.status else reason.value
            return self._closed(outcome, host, State.FAILED, name, now)
        # What fails while nobody answers is not held against the page.
        attempt = task.attempt + (not self.hosts.outage)
        self.frontier.attempts[task.candidate] = attempt
        self.frontier.close(task.candidate, State.QUEUED)
        return [
            Close(task.candidate, State.QUEUED, reason.value, attempt),
            host.row(self.rules.politeness),
            self.tracer.settled(outcome, now, self.frontier.queued, "retry", reasons=(reason.value,)),
        ]

    def _closed(self, outcome: Outcome, host: Host, state: State, reason: str, now: float) -> list[Effect]:
        task = outcome.task
        self.frontier.close(task.candidate, state)
        self.tally.failed += state is State.FAILED
        result = "failed" if state is State.FAILED else reason
        reasons = (reason, outcome.detail) if outcome.detail else (reason,)
        return [
            *self.filing.miss(task, outcome.status),
            Close(task.candidate, state, reason, task.attempt + 1),
            host.row(self.rules.politeness),
            self.tracer.settled(outcome, now, self.frontier.queued, result, reasons=reasons),
        ]

    def _redirected(self, outcome: Outcome, host: Host, now: float) -> list[Effect]:
        task = outcome.task
        self.frontier.close(task.candidate, State.REDIRECTED)
        hops = self._hops.pop(task.candidate, 0) + 1
        target = urls.canonical(outcome.location, task.url)
        why = "bad-url" if target is None else self.objection(target, task.depth, task.url)
        why = "redirects" if hops > _REDIRECTS else why
        if target is not None and self.watch.traps.redirected(task.url, host.name, target):
            host.note("traps", self.watch.traps.state(host.name))
        followed = [] if target is None or why else self.filing.follow(target, task, Via.REDIRECT)
        new = 0
        for effect in followed:
            if isinstance(effect, SaveCandidates):
                self._hops[effect.first] = hops
                new = 1
        goal = target or outcome.location[:200]
        return [
            *followed,
            Close(task.candidate, State.REDIRECTED, why or "redirect", task.attempt + 1),
            host.row(self.rules.politeness),
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

    def _judged(self, outcome: Outcome, page: Page, host: Host, now: float) -> list[Effect]:
        task = outcome.task
        verdict = self.predicate.judge(page)
        look = self.watch.look(page, host.name, satisfied=verdict.satisfied)
        if look.error:
            met = self._watched(task, host, look)
            return [*met, *self._closed(outcome, host, State.DROPPED, "soft-404", now)]
        repeated = self.duplicates.find(page.digest, page.simhash)
        if repeated is None:
            self.duplicates.add(task.candidate, page.digest, page.simhash)
        matched = verdict.satisfied and repeated is None and not self._hidden(page)
        self.frontier.close(task.candidate, State.FETCHED)
        self._count(host, matched, repeated is not None)
        admitted = self.intake.admit(page, task.depth + 1)
        filed = self.filing.expand(task, page, verdict, admitted)
        filed.effects.extend(self._watched(task, host, look, matched, repeated, filed.fresh))
        for target, via in ((page.refresh, Via.REFRESH), (page.canonical, Via.CANONICAL)):
            if target and target != page.url and self.objection(target, task.depth, task.url) is None:
                filed.effects.extend(self.filing.follow(target, task, via))
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
        return [*filed.effects, close, saved, host.row(self.rules.politeness), record]

    def _hidden(self, page: Page) -> bool:
        """Whether a page asks not to be shown to anyone."""
        return bool(page.robots and binding(page.robots, self.rules.politeness.agent) & _HIDDEN)

    def _count(self, host: Host, matched: bool, repeated: bool) -> None:
        self.tally.pages += 1
        self.tally.duplicates += repeated
        self.tally.matches += matched
        if matched:
            self.tally.dull = 0
        host.pages += 1
        host.matches += matched

    def _watched(
        self,
        task: Task,
        host: Host,
        look: Look,
        matched: bool = False,
        repeated: tuple[int, bool] | None = None,
        fresh: tuple[str, ...] = (),
    ) -> list[Effect]:
        """Let the watch know of a page; what it holds against its kind is remembered with the host.

        Gives what is to be saved of other hosts: those that share pages with this one.
        """
        if not self.watch.on:
            return []
        twin, near = (self.shelf(repeated[0]), repeated[1]) if repeated else ("", False)
        if self.watch.page(task.url, host.name, look, find=matched, twin=twin, near=near, fresh=fresh):
            host.note("traps", self.watch.traps.state(host.name))
        if look.empty and (said := self.watch.blanks.state(host.name)) != host.notes.get("blanks"):
            host.note("blanks", said)
        others: dict[str, Host] = {}
        for origin, known in self.watch.mirrors.changes().items():
            one = self.hosts[self.hosts.number(urls.host(origin))]
            noted = one.notes.get("mirrors")
            one.note("mirrors", {**(noted if isinstance(noted, dict) else {}), origin: known})
            if one is not host:
                others[one.name] = one
        return [one.row(self.rules.politeness) for one in others.values()]


def _word(matched: bool, satisfied: bool, repeated: bool) -> str:
    if matched:
        return "match"
    if not satisfied:
        return "miss"
    return "duplicate" if repeated else "noindex"
