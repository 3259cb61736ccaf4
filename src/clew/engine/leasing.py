"""`Leaser`: what to do next.

The best candidate that may be fetched now is taken, unless something must come before it: its host's name
looked up, robots.txt asked for, a sitemap whose turn it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from clew import url as urls
from clew.engine.learner import Learner
from clew.engine.prospects import FrontierProspects
from clew.frontier.audit import audited, is_best
from clew.frontier.hosts import Host, Hosts
from clew.frontier.overflow import Overflow
from clew.frontier.parked import ParkedOrigins
from clew.frontier.queue import Frontier
from clew.frontier.ready_hosts import ReadyHosts
from clew.frontier.robots_gate import RobotsGate
from clew.frontier.sitemaps import Sitemaps
from clew.messages import Close, Effect, Journal, State, Task, TaskKind
from clew.policy import Budget, Tally, WasteGuard
from clew.policy.confidence import DEMOTION
from clew.trace import Tracer

#: Candidates left out in one call of `lease`, at most: a host or a trap may have a million.
_SWEEP = 500
#: Seconds between two looks whether this machine has recovered, at most.
_LONGEST_PAUSE = 60.0


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Leaser:
    """Gives tasks out, within a budget, and knows how many are under way."""

    budget: Budget
    """The one in force: a command may put another in its place."""
    frontier: Frontier
    hosts: Hosts
    ready: ReadyHosts
    parked: ParkedOrigins
    robots_gate: RobotsGate
    sitemaps: Sitemaps
    overflow: Overflow
    waste_guard: WasteGuard
    learner: Learner
    prospects: FrontierProspects
    tally: Tally
    tracer: Tracer
    url_of: Callable[[int], str]

    started: float | None = None
    tasks: int = 0
    """Given out so far: the number of the last one."""
    in_flight: int = 0
    late: int = 0
    """Of those under way, how many are not waited for any more; the driver has a clock and says so."""
    lent: bool = False
    """A page was asked for in the stead of a late one, so more may come than the budget has room for."""
    paused: bool = False
    """Nothing is leased until somebody says so; what is under way is settled."""
    _outbox: list[Effect] = field(default_factory=list)
    """What leasing closed, to be saved with the next effects."""
    _given_up: list[int] = field(default_factory=list)
    _swept: int = 0
    _pause_until: float | None = None
    """Nothing is leased before this time, because this machine is in trouble; None when it is not."""
    _pause_why: str = ""
    _troubles: int = 0
    """Pauses of that kind in a row."""

    def __repr__(self) -> str:
        return f"Leaser({self.tasks} tasks, {self.in_flight} under way)"

    def lease(self, now: float, n: int) -> list[Task]:
        """Up to `n` tasks that may be performed now, best first."""
        tasks: list[Task] = []
        if self.paused or self.spent(now) or (self._pause_until is not None and now < self._pause_until):
            return tasks
        self._pause_until = None
        self._swept = 0
        self._sweep()
        self.parked.wake(now)
        returned = self.overflow.balance()
        self._tell_overflow()
        for number in returned:
            if self.hosts[number].excluded:
                self.give_up(self.hosts[number])
        while len(tasks) < n and self._swept < _SWEEP and self._room() > 0:
            candidate = self.ready.pick(now)
            task = self._take(candidate, now) if candidate >= 0 else self._left_over(now)
            if task is not None:
                tasks.append(task)
                self.lent = self.lent or self.late > 0
            elif candidate < 0:
                break
        return tasks

    @property
    def pause(self) -> tuple[float, str] | None:
        """Until when nothing is leased because this machine is in trouble, and in which; None when it is
        not."""
        return None if self._pause_until is None else (self._pause_until, self._pause_why)

    def spent(self, now: float) -> str | None:
        """The budget that is used up, if one is."""
        elapsed = 0.0 if self.started is None else now - self.started
        return self.budget.spent(self.tally, elapsed, self.prospects)

    def stopped(self, now: float) -> str | None:
        """Why there is nothing left to do; None while there is."""
        why = self.spent(now)
        if self.in_flight and not (why is not None and self.lent):
            return None
        if why is not None or self.paused or self._given_up or self.ready.pick(now) >= 0:
            return why
        if self.ready.next_ready() is not None or any(True for _ in self.sitemaps.waiting()):
            return None
        if self.overflow.release():
            self._tell_overflow()
            return None
        if self.parked.waiting:
            return "robots.txt unavailable" if self.parked.hopeless else None
        if not self.frontier.queued:
            return "frontier empty"
        return "per-host" if self.hosts.politeness.per_host is not None else "nothing can be leased"

    def next_ready(self) -> float | None:
        """When `lease` may have something again, if only time is missing."""
        if self.paused:
            return None
        if self._pause_until is not None:
            return self._pause_until
        if self._given_up or self._swept >= _SWEEP:
            return 0.0
        ready = min(
            (at for at in (self.ready.next_ready(), self.parked.next_ready()) if at is not None), default=None
        )
        if ready is None and not self.in_flight:
            return min((self.hosts.ready_at(host) for host in self.sitemaps.waiting()), default=None)
        return ready

    def returned(self, task: Task) -> None:
        """A task was performed, whatever came of it."""
        self._troubles = 0
        self.in_flight -= 1

    def abandon(self, task: Task) -> None:
        """A task will not be performed (the driver is stopping): its candidate is queued again."""
        self.in_flight -= 1
        if task.kind is TaskKind.ROBOTS:
            self.robots_gate.abandon(task.id)
        elif task.kind is TaskKind.RESOLVE:
            host = self.hosts[self.hosts.number(task.host)]
            host.resolving = False
            self.hosts.touch(host.number)
        elif task.kind is TaskKind.SITEMAP:
            self.hosts.undo(self.sitemaps.abandon(task.id))
        else:
            self.hosts.undo(self.hosts[int(self.frontier.hosts[task.candidate])])
            self.frontier.close(task.candidate, State.QUEUED)

    def pause_after(self, task: Task, why: str, now: float) -> None:
        """This machine could not perform a task: nobody is charged with it, and the whole crawl rests."""
        self.abandon(task)
        if self._pause_until is None or now >= self._pause_until:
            self._pause_until = now + min(2.0**self._troubles, _LONGEST_PAUSE)
            self._pause_why = why
            self._troubles += 1

    def give_up(self, host: Host) -> None:
        """Close all that is queued for a host that was excluded, soon."""
        self.parked.release_host(host)
        self._given_up.append(host.number)

    def drain(self) -> list[Effect]:
        """What leasing closed; it goes with the next effects that are saved."""
        effects = [*self._outbox]
        self._outbox.clear()
        return effects

    def _tell_overflow(self) -> None:
        """Note in the journal what fell off the list at hand, or came back to it."""
        self._outbox += [Journal(self.tracer.count, entry) for entry in self.overflow.told]
        self.overflow.told.clear()

    def _room(self) -> int:
        return self.budget.remaining(self.tally, self.in_flight, self.late)

    def _take(self, candidate: int, now: float) -> Task | None:
        """The task that this candidate calls for: itself, or what must come before it."""
        host = self.hosts[int(self.frontier.hosts[candidate])]
        if self.hosts.unresolved(host, now):
            return self._resolve(host)
        url = self.url_of(candidate)
        why = self.waste_guard.check_candidate(url, host.name)
        if why is not None:
            self._leave_out(candidate, url, why, now)
            return None
        answer = self.robots_gate.check(host, url, now)
        if answer == "ask":
            return self._ask(host, url, now)
        if answer == "no":
            self._leave_out(candidate, url, "robots", now)
            return None
        if answer == "wait":
            self._swept += 1
            self.parked.add(urls.origin(url), candidate)
            return None
        if (listed := self.sitemaps.due(host)) is not None:
            return self._read(host, listed, now)
        terms = tuple(self.frontier.terms[candidate].tolist())
        self._look_at(candidate, terms)
        if self.frontier.suspended is not None:
            terms = (*terms, -DEMOTION if self.frontier.suspended[candidate] else 0.0)
        if self.frontier.boosts is not None:
            terms = (*terms, float(self.frontier.boosts[candidate]))
        self.frontier.close(candidate, State.LEASED)
        self.hosts.begin(host)
        return self._task(
            TaskKind.PAGE,
            url,
            candidate,
            int(self.frontier.depths[candidate]),
            int(self.frontier.attempts[candidate]),
            float(self.frontier.scores[candidate]),
            terms,
        )

    def _look_at(self, candidate: int, terms: tuple[float, ...]) -> None:
        """Note what the chosen page promises, and check now and then that it is the best there is."""
        strategy = self.learner.strategy
        if self.budget.interest is not None and strategy.capabilities.interest:
            self.budget.record_promise(self.tally, strategy.interest(terms))
        if strategy.capabilities.audits and strategy.audits(candidate):
            best = is_best(candidate, self.frontier, self.ready, strategy)
            self.tally.audits += 1
            self.tally.best += best
            # Kept with the host, whose row is saved with the page: a crash loses no check of a page it keeps.
            host = self.hosts[int(self.frontier.hosts[candidate])]
            checked, good = audited(host)
            host.note("audits", [checked + 1, good + best])

    def _left_over(self, now: float) -> Task | None:
        """A sitemap, when there is nothing else to do."""
        if self.in_flight or self.ready.next_ready() is not None:
            return None
        for host in self.sitemaps.waiting():
            url = self.sitemaps.due(host, idle=True)
            if url is not None and self.hosts.free(host, now):
                return self._resolve(host) if self.hosts.unresolved(host, now) else self._read(host, url, now)
        return None

    def _read(self, host: Host, url: str, now: float) -> Task | None:
        """A sitemap, if robots.txt allows it."""
        answer = self.robots_gate.check(host, url, now)
        if answer == "ask":
            return self._ask(host, url, now)
        if answer != "yes":
            self.sitemaps.skip(host)
            return None
        self.hosts.begin(host)
        self.sitemaps.begin(host, self.tasks + 1)
        return self._task(TaskKind.SITEMAP, url)

    def _ask(self, host: Host, url: str, now: float) -> Task | None:
        asked = self.robots_gate.asked_host(host, urls.origin(url))
        if self.hosts.unresolved(asked, now) and not asked.resolving:
            return self._resolve(asked)
        found = self.robots_gate.ask(host, url, self.tasks + 1, now)
        return None if found is None else self._task(TaskKind.ROBOTS, found[0], attempt=found[1])

    def _resolve(self, host: Host) -> Task:
        host.resolving = True
        self.hosts.touch(host.number)
        return self._task(TaskKind.RESOLVE, f"http://{host.name}/")

    def _task(
        self,
        kind: TaskKind,
        url: str,
        candidate: int = -1,
        depth: int = 0,
        attempt: int = 0,
        score: float = 0.0,
        terms: tuple[float, ...] = (),
    ) -> Task:
        self.tasks += 1
        self.in_flight += 1
        return Task(self.tasks, kind, url, urls.host(url), candidate, depth, attempt, score, terms)

    def _leave_out(self, candidate: int, url: str, reason: str, now: float) -> None:
        self._swept += 1
        self.frontier.close(candidate, State.DROPPED)
        self.hosts.touch(int(self.frontier.hosts[candidate]))
        self._outbox.append(Close(candidate, State.DROPPED, reason))
        self._outbox.append(self.tracer.left_out(url, candidate, now, self.frontier.queued, reason))

    def _sweep(self) -> None:
        """Close candidates of hosts that were given up, a few hundred at a time."""
        while self._given_up and self._swept < _SWEEP:
            host = self.hosts[self._given_up[-1]]
            candidate = self.frontier.head(host.number)
            if candidate < 0:
                self._given_up.pop()
                continue
            self._swept += 1
            self.frontier.close(candidate, State.DROPPED)
            self._outbox.append(Close(candidate, State.DROPPED, host.refusal or "host-excluded"))
