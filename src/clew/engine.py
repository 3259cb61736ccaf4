"""`Crawl`, the engine: what to fetch next, and what a fetch means.

    tasks   = crawl.lease(now, n)         # pages and robots.txt files to fetch
    effects = crawl.settle(outcome, now)  # judged, learned from, links scored; save these

It never awaits, reads a clock, opens a file or rolls dice, so the same calls give the same trace in
every driver. The URLs of candidates rest with the store: `shelf` looks one up, and a driver saves
the effects of a settle before it leases again.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clew import url as urls
from clew.errors import RETRY, Reason
from clew.frontier.filing import Filing
from clew.frontier.gate import Gate
from clew.frontier.hosts import Host, Hosts, Politeness
from clew.frontier.intake import Intake
from clew.frontier.queue import Frontier
from clew.messages import (
    Close,
    Effect,
    Forward,
    Learned,
    Outcome,
    SaveCandidates,
    SaveHost,
    SavePage,
    State,
    Task,
    TaskKind,
    Via,
)
from clew.page import Page
from clew.policy import Budget, Duplicates, Scope, Tally
from clew.predicate.verdict import Predicate
from clew.strategy.base import Strategy
from clew.trace import Tracer

_REDIRECTS = 10
_REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})
_BUSY_STATUS = frozenset({429, 503})
_HIDDEN = frozenset({"noindex", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRules:
    """Everything that shapes a crawl and is not learned."""

    scope: Scope
    budget: Budget = field(default_factory=Budget)
    politeness: Politeness = field(default_factory=Politeness)
    rel_nofollow: bool = False
    """Leave out links marked rel=nofollow."""
    slots: frozenset[int] | None = None
    """The slots of hosts this engine owns; None is all of them."""


class Crawl:
    """One crawl, or one shard of one."""

    def __init__(
        self, predicate: Predicate, strategy: Strategy, rules: CrawlRules, shelf: Callable[[int], str]
    ) -> None:
        self.predicate = predicate
        self.strategy = strategy
        self.rules = rules
        self.shelf = shelf
        self.frontier = Frontier(len(strategy.parts))
        self.hosts = Hosts(self.frontier, rules.politeness)
        self.gate = Gate(self.hosts, rules.politeness)
        self.tally = Tally()
        self.duplicates = Duplicates()
        self.in_flight = 0
        self.started: float | None = None
        self.tasks = 0
        self.tracer = Tracer()
        self._intake = Intake(rules.scope, rel_nofollow=rules.rel_nofollow)
        self._filing = Filing(self.frontier, self.hosts, strategy, rules.slots)
        self._hops: dict[int, int] = {}
        self._outbox: list[Effect] = []

    def __repr__(self) -> str:
        return (
            f"Crawl({self.strategy.name}, {self.tally.pages} pages, {self.tally.matches} finds, "
            f"{self.frontier.queued} queued, {self.in_flight} under way)"
        )

    # what to do next

    def start(self, seeds: Sequence[str], now: float) -> tuple[Effect, ...]:
        """Take in the starting points (canonical URLs); those already known are passed over."""
        self.started = now
        mine = [seed for seed in dict.fromkeys(seeds) if self._filing.owns(urls.host(seed))]
        unknown = self.frontier.find(urls.keys(mine)) < 0
        fresh = tuple([seed for seed, new in zip(mine, unknown.tolist(), strict=True) if new])
        if not fresh:
            return ()
        keys = urls.keys(fresh)
        parts = self.strategy.seeds(keys)
        return (self._filing.add(fresh, keys, parts, depth=0, source=-1, via=Via.SEED),)

    def receive(self, links: Forward) -> tuple[Effect, ...]:
        """Take in links that another shard found to hosts of ours."""
        keep = [
            i
            for i, target in enumerate(links.urls)
            if self.rules.scope.check(target, links.depth) is None
            and self.frontier.find(urls.keys((target,)))[0] < 0
        ]
        if not keep:
            return ()
        targets = tuple([links.urls[i] for i in keep])
        anchors = tuple([links.anchors[i] for i in keep])
        parts = links.parts[keep]
        return (
            self._filing.add(
                targets,
                urls.keys(targets),
                parts,
                depth=links.depth,
                source=-1,
                via=Via.LINK,
                anchors=anchors,
            ),
        )

    def lease(self, now: float, n: int) -> list[Task]:
        """Up to `n` tasks that may be performed now, best first."""
        tasks: list[Task] = []
        if self.spent(now):
            return tasks
        while len(tasks) < n and self.rules.budget.room(self.tally, self.in_flight) > 0:
            candidate = self.hosts.pick(now)
            if candidate < 0:
                break
            task = self._take(candidate, now)
            if task is not None:
                tasks.append(task)
        return tasks

    def spent(self, now: float) -> str | None:
        """The budget that is used up, if one is."""
        return self.rules.budget.spent(self.tally, 0.0 if self.started is None else now - self.started)

    def stopped(self, now: float) -> str | None:
        """Why there is nothing left to do; None while there is."""
        if self.in_flight:
            return None
        return self.spent(now) or (None if self.frontier.queued else "frontier empty")

    def next_ready(self) -> float | None:
        """When `lease` may have something again, if only time is missing."""
        return self.hosts.next_ready()

    def _take(self, candidate: int, now: float) -> Task | None:
        host = self.hosts[int(self.frontier.hosts[candidate])]
        url = self.shelf(candidate)
        answer = self.gate.check(host, url, now)
        if answer == "ask":
            asked = self.gate.ask(host, url, self.tasks + 1, now)
            if asked is None:
                return None
            self.tasks += 1
            self.in_flight += 1
            return Task(self.tasks, TaskKind.ROBOTS, asked[0], urls.host(asked[0]), attempt=asked[1])
        if answer == "no":
            self.frontier.close(candidate, State.DROPPED)
            self.hosts.touch(host.number)
            self._outbox.append(Close(candidate, State.DROPPED, "robots"))
            self._outbox.append(self.tracer.left_out(url, candidate, now, self.frontier.queued, "robots"))
            return None
        self.frontier.close(candidate, State.LEASED)
        self.hosts.begin(host)
        self.tasks += 1
        self.in_flight += 1
        return Task(
            self.tasks,
            TaskKind.PAGE,
            url,
            host.name,
            candidate,
            int(self.frontier.depths[candidate]),
            int(self.frontier.attempts[candidate]),
            float(self.frontier.scores[candidate]),
            tuple(self.frontier.parts[candidate].tolist()),
        )

    # what a fetch means

    def settle(self, outcome: Outcome, now: float) -> tuple[Effect, ...]:
        """Take in what came of a task. The effects belong together: save all or none."""
        self.in_flight -= 1
        self.tally.wire += outcome.wire
        self.tally.requests += not outcome.cached
        if outcome.task.kind is TaskKind.ROBOTS:
            effects = self._robots(outcome, now)
        else:
            effects = self._page(outcome, now)
        effects = [*self._outbox, *effects]
        self._outbox.clear()
        return tuple(effects)

    def drain(self) -> tuple[Effect, ...]:
        """Effects of leasing that no settle has carried yet, and what was learned; for a checkpoint."""
        effects = [*self._outbox]
        self._outbox.clear()
        state = self.strategy.state()
        return (*effects, Learned(state)) if state else tuple(effects)

    def abandon(self, task: Task) -> None:
        """A task will not be performed (the driver is stopping): its candidate is queued again."""
        self.in_flight -= 1
        if task.kind is TaskKind.ROBOTS:
            self.gate.abandon(task.id)
            return
        host = self.hosts[int(self.frontier.hosts[task.candidate])]
        host.in_flight -= 1
        self.frontier.close(task.candidate, State.QUEUED)
        self.hosts.touch(host.number)

    def _robots(self, outcome: Outcome, now: float) -> list[Effect]:
        host, result = self.gate.settle(outcome, now)
        record = self.tracer.settled(outcome, now, self.frontier.queued, result)
        return [_host_row(host, robots=True), record]

    def _page(self, outcome: Outcome, now: float) -> list[Effect]:
        host = self.hosts[int(self.frontier.hosts[outcome.task.candidate])]
        host.requests += not outcome.cached
        reason = _failure(outcome)
        if reason is not None:
            return self._failed(outcome, host, reason, now)
        host.failures = 0
        self.hosts.end(host, now, outcome.retry_after or 0.0)
        if outcome.status in _REDIRECT_STATUS and outcome.location:
            return self._redirected(outcome, host, now)
        if not 200 <= outcome.status < 300 or outcome.page is None:
            return self._closed(outcome, host, State.FAILED, f"http-{outcome.status}", now)
        if not self.rules.scope.keeps(outcome.page.type):
            return self._closed(outcome, host, State.DROPPED, "type", now)
        return self._judged(outcome, outcome.page, host, now)

    def _failed(self, outcome: Outcome, host: Host, reason: Reason, now: float) -> list[Effect]:
        task = outcome.task
        host.failures += 1
        rule = RETRY.get(reason)
        backoff = rule.rest * 2**task.attempt if rule else 0.0
        self.hosts.end(host, now, max(outcome.retry_after or 0.0, backoff))
        if rule is None or task.attempt >= rule.times:
            name = f"http-{outcome.status}" if outcome.status else reason.value
            return self._closed(outcome, host, State.FAILED, name, now)
        self.frontier.attempts[task.candidate] = task.attempt + 1
        self.frontier.close(task.candidate, State.QUEUED)
        return [
            Close(task.candidate, State.QUEUED, reason.value, task.attempt + 1),
            _host_row(host),
            self.tracer.settled(outcome, now, self.frontier.queued, "retry", reasons=(reason.value,)),
        ]

    def _closed(self, outcome: Outcome, host: Host, state: State, reason: str, now: float) -> list[Effect]:
        task = outcome.task
        self.frontier.close(task.candidate, state)
        self.tally.failed += state is State.FAILED
        result = "failed" if state is State.FAILED else reason
        return [
            *self._filing.miss(task, outcome.status),
            Close(task.candidate, state, reason, task.attempt + 1),
            _host_row(host),
            self.tracer.settled(outcome, now, self.frontier.queued, result, reasons=(reason,)),
        ]

    def _redirected(self, outcome: Outcome, host: Host, now: float) -> list[Effect]:
        task = outcome.task
        self.frontier.close(task.candidate, State.REDIRECTED)
        hops = self._hops.pop(task.candidate, 0) + 1
        target = urls.canonical(outcome.location, task.url)
        why = "bad-url" if target is None else self.rules.scope.check(target, task.depth)
        why = "redirects" if hops > _REDIRECTS else why
        followed = [] if target is None or why else self._filing.follow(target, task, Via.REDIRECT)
        new = 0
        for effect in followed:
            if isinstance(effect, SaveCandidates):
                self._hops[effect.first] = hops
                new = 1
        goal = target or outcome.location[:200]
        return [
            *followed,
            Close(task.candidate, State.REDIRECTED, why or "redirect", task.attempt + 1),
            _host_row(host),
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
        repeated = self.duplicates.find(page.digest, page.simhash)
        if repeated is None:
            self.duplicates.add(task.candidate, page.digest, page.simhash)
        matched = verdict.satisfied and repeated is None and not page.robots & _HIDDEN
        self.frontier.close(task.candidate, State.FETCHED)
        self.tally.pages += 1
        self.tally.duplicates += repeated is not None
        self.tally.matches += matched
        host.pages += 1
        host.matches += matched
        admitted = self._intake.admit(page, task.depth + 1)
        filed = self._filing.expand(task, page, verdict, admitted)
        for target, via in ((page.refresh, Via.REFRESH), (page.canonical, Via.CANONICAL)):
            if target and target != page.url and self.rules.scope.check(target, task.depth) is None:
                filed.effects.extend(self._filing.follow(target, task, via))
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
        known = len(filed.ids) - filed.new
        record = self.tracer.settled(
            outcome,
            now,
            self.frontier.queued,
            _word(matched, verdict.satisfied, repeated is not None),
            verdict=verdict.score,
            reasons=verdict.reasons,
            new=filed.new,
            known=known,
            dropped=admitted.dropped,
        )
        close = Close(task.candidate, State.FETCHED, "", task.attempt + 1)
        return [*filed.effects, close, saved, _host_row(host), record]


def _failure(outcome: Outcome) -> Reason | None:
    """The reason a reply is no use, if it is none."""
    if outcome.error is not None:
        return outcome.error
    if outcome.status in _BUSY_STATUS:
        return Reason.BUSY
    return Reason.SERVER_ERROR if outcome.status >= 500 else None


def _word(matched: bool, satisfied: bool, repeated: bool) -> str:
    if matched:
        return "match"
    if not satisfied:
        return "miss"
    return "duplicate" if repeated else "noindex"


def _host_row(host: Host, robots: bool = False) -> SaveHost:
    known = tuple((origin, r.status, r.at, r.body) for origin, r in host.robots.items())
    return SaveHost(
        host=host.name,
        next_at=host.next_at,
        delay=host.delay,
        failures=host.failures,
        requests=host.requests,
        pages=host.pages,
        matches=host.matches,
        robots=known if robots else None,
    )
