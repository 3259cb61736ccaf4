"""`Crawl`: one engine, put together, and its doors: tasks go out, outcomes and commands come in.

What they do is done by its parts: `Leaser` (what to do next), `Settler` (what a fetch means), `Introducer`
(URLs that no judged page linked to) and `Learner` (what is sought, and what candidates are worth by that).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.engine import commands
from clew.engine.commands import (
    BanHost,
    Change,
    InForce,
    Retaught,
    SetBoost,
    SetBudget,
    SetFocus,
    SetMatch,
    SetPaused,
    SetWeights,
    Teaching,
)
from clew.engine.introducer import Introducer
from clew.engine.learner import Learner
from clew.engine.leasing import Leaser
from clew.engine.prospects import FrontierProspects
from clew.engine.reestimate import LinksOf, Reestimate
from clew.engine.refold import Refold
from clew.engine.settling import Settler
from clew.engine.tunnelling import Tunnelling, is_session
from clew.errors import UsageError
from clew.frontier.admission import Admission
from clew.frontier.boosts import Boosts
from clew.frontier.expander import Expander
from clew.frontier.hosts import Hosts, Politeness
from clew.frontier.overflow import Overflow
from clew.frontier.parked import ParkedOrigins
from clew.frontier.queue import Frontier
from clew.frontier.ready_hosts import ReadyHosts
from clew.frontier.robots_gate import RobotsGate
from clew.frontier.sitemaps import Mode, Sitemaps
from clew.frontier.target_cache import TargetCache
from clew.messages import Effect, Forward, Journal, Outcome, Record, Rejudge, State, Task
from clew.policy import Budget, Duplicates, Scope, Tally, WasteGuard
from clew.policy.community import Community
from clew.policy.confidence import SUSPENDED, Confidence
from clew.policy.tunnel import TunnelRules
from clew.predicate.verdict import Predicate
from clew.strategy.base import Strategy
from clew.trace import Tracer


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRules:
    """Everything that shapes a crawl and is not learned."""

    scope: Scope
    budget: Budget = field(default_factory=Budget)
    """To begin with; the one in force is the leaser's."""
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
    prune: bool = False
    """Follow no links of pages that do not satisfy what is sought; those of start pages are followed."""
    tunnel: TunnelRules | None = None
    """How the focus widens when finds become rare; None leaves it as it is."""
    confidence: float | None = None
    """Suspend a direction that has gone deeper without a find than so many of the finds lie; None never."""
    traps: bool = True
    """Leave traps, mirrors and error pages alone once they are recognised."""


class Crawl:
    """One crawl, or one shard of one.

    Parameters: what is judged; the strategy; the rules; the URL of a candidate, by number, and, where that is
    quicker, those of many; their URLs and link texts, without which no formula can be changed at once.
    """

    def __init__(
        self,
        predicate: Predicate,
        strategy: Strategy,
        rules: CrawlRules,
        url_of: Callable[[int], str],
        urls_of: Callable[[NDArray[np.int64]], Sequence[str]] | None = None,
        links_of: LinksOf | None = None,
    ) -> None:
        self.rules = rules
        self.urls_of = urls_of or (lambda numbers: list(map(url_of, numbers.tolist())))
        self.url_of = url_of
        self.tally, self.tracer = Tally(), Tracer()
        frontier = self.frontier = Frontier(len(strategy.parts))
        hosts = self.hosts = Hosts(rules.politeness)
        ready = ReadyHosts(frontier, hosts)
        self.boosts = Boosts()
        self.confidence: Confidence | None = None
        if rules.confidence is not None:
            # (The frontier makes a new array of sources when it grows.)
            self.confidence = Confidence(rules.confidence, lambda number: int(frontier.sources[number]))
            frontier.suspended = np.zeros(len(frontier.keys), np.bool_)
        self.expander = Expander(frontier, ready, rules.slots, self.boosts, self.confidence)
        tunnelling = None if rules.tunnel is None else Tunnelling(predicate, rules.tunnel)
        self.learner = Learner(predicate, strategy, frontier, self.expander, tunnelling, links_of)
        self.overflow = Overflow(frontier, hosts, self.learner, rules.max_size)
        follows = strategy.capabilities.follows
        self.sitemaps = Sitemaps(hosts, rules.sitemaps if follows else "off", self.expander.owns)
        parked = ParkedOrigins(frontier, hosts)
        self.robots_gate = RobotsGate(hosts, rules.politeness, parked, self.sitemaps.offer)
        self.waste_guard = WasteGuard(on=rules.traps, state=frontier.state_of)
        self.admission = Admission(
            rules.scope,
            rel_nofollow=rules.rel_nofollow,
            follow=follows,
            agent=rules.politeness.agent,
            # (The frontier makes a new array of keys when it grows.)
            lookup=TargetCache(frontier.find, lambda numbers: frontier.keys[numbers]).lookup,
            objection=self._objection,
        )
        self.duplicates = Duplicates()
        self._remade_by: Journal | None = None
        self.prospects = FrontierProspects(frontier, lambda: self.leaser.in_flight)
        if rules.budget.stop and rules.budget.rule.needs("community"):
            self.prospects.graph = Community()
        self.introducer = Introducer(frontier, self.admission, self.expander, self.learner)
        self.leaser = Leaser(
            budget=rules.budget,
            frontier=frontier,
            hosts=hosts,
            ready=ready,
            parked=parked,
            robots_gate=self.robots_gate,
            sitemaps=self.sitemaps,
            overflow=self.overflow,
            waste_guard=self.waste_guard,
            learner=self.learner,
            prospects=self.prospects,
            tally=self.tally,
            tracer=self.tracer,
            url_of=url_of,
        )
        self.settler = Settler(
            scope=rules.scope,
            prune=rules.prune,
            frontier=frontier,
            hosts=hosts,
            robots_gate=self.robots_gate,
            sitemaps=self.sitemaps,
            waste_guard=self.waste_guard,
            duplicates=self.duplicates,
            admission=self.admission,
            expander=self.expander,
            introducer=self.introducer,
            learner=self.learner,
            leaser=self.leaser,
            prospects=self.prospects,
            confidence=self.confidence,
            tally=self.tally,
            tracer=self.tracer,
            url_of=url_of,
        )

    def __repr__(self) -> str:
        return (
            f"Crawl({self.strategy.base.name}, {self.tally.pages} pages, {self.tally.matches} finds, "
            f"{self.frontier.queued} queued, {self.leaser.in_flight} under way)"
        )

    @property
    def strategy(self) -> Strategy:
        """What candidates are worth, and why."""
        return self.learner.strategy

    @property
    def predicate(self) -> Predicate:
        """What is judged."""
        return self.learner.predicate

    @property
    def columns(self) -> tuple[str, ...]:
        """What the contributions to a score are called."""
        suspended = () if self.confidence is None else (SUSPENDED,)
        return (*self.strategy.parts, *suspended, *(("boost",) if self.boosts else ()))

    @property
    def focus(self) -> Predicate:
        """What is sought; what is judged is `predicate`."""
        return self.learner.focus

    @property
    def tunnelling(self) -> Tunnelling | None:
        """What may want another focus."""
        return self.learner.tunnelling

    def start(self, seeds: Sequence[str], now: float) -> tuple[Effect, ...]:
        """Take in the starting points (canonical URLs); those already known are passed over."""
        self.leaser.started = now
        return self.introducer.add_seeds(seeds)

    def receive(self, links: Forward) -> tuple[Effect, ...]:
        """Take in links that another shard found to hosts of ours."""
        return self.introducer.receive(links)

    # tasks out

    def lease(self, now: float, n: int) -> list[Task]:
        """Up to `n` tasks that may be performed now, best first."""
        return self.leaser.lease(now, n)

    def abandon(self, task: Task) -> None:
        """A task will not be performed (the driver is stopping): its candidate is queued again."""
        self.leaser.abandon(task)

    def spent(self, now: float) -> str | None:
        """The budget that is used up, if one is."""
        return self.leaser.spent(now)

    def stopped(self, now: float) -> str | None:
        """Why there is nothing left to do; None while there is."""
        return self.leaser.stopped(now)

    def next_ready(self) -> float | None:
        """When `lease` may have something again, if only time is missing."""
        return self.leaser.next_ready()

    # outcomes in

    def settle(self, outcome: Outcome, now: float) -> tuple[Effect, ...]:
        """Take in what came of a task. The effects belong together: save all or none."""
        return self.settle_many((outcome,), now)

    def settle_many(self, outcomes: Sequence[Outcome], now: float) -> tuple[Effect, ...]:
        """Take in what came of several tasks: their pages are judged, then learned from together, then their
        links are filed, then the rest. The effects belong together: save all or none."""
        settled = (*self.leaser.drain(), *self.settler.settle(outcomes, now))
        return (*settled, *self._look(settled))

    def _look(self, effects: Sequence[Effect]) -> list[Effect]:
        """Estimate recall, now and then; what it was is kept, so that a crawl that is taken up again stops
        by the same estimate."""
        for effect in effects:
            if isinstance(effect, Record):
                self.prospects.record(effect.decision)
        if not self.prospects.estimator.due:
            return []
        closed = np.array([host.number for host in self.hosts.list if host.excluded], np.int64)
        estimate = self.prospects.look(closed)
        return [] if estimate is None else [Journal(self.tracer.count, estimate.dumps())]

    def drain(self) -> tuple[Effect, ...]:
        """Effects of leasing that no settle has carried yet, and what was learned; for a checkpoint."""
        return (*self.leaser.drain(), *self.learner.learned())

    # commands

    def prepare(self, *changes: Change) -> Refold | None:
        """What must be taught all that happened before some changes can be commanded together; None where
        nothing must. Changes nothing; a change that cannot be made is an error that says why."""
        return self.learner.prepare([change for change in changes if isinstance(change, Teaching)])

    def reestimate(self, *changes: Change) -> Reestimate | None:
        """What must be worked out of candidates' links before some changes can be made at once, together, for
        which all would have to be taught again otherwise; None where they cannot be made so. Changes
        nothing."""
        return self.learner.reestimate([change for change in changes if isinstance(change, Teaching)])

    def command(
        self,
        changes: Change | Sequence[Change],
        now: float,
        refold: Refold | None = None,
        *,
        anew: Reestimate | None = None,
        request: str = "",
    ) -> tuple[Effect, ...]:
        """Change a crawl under way. The effects belong together; once they are saved, the changes are in
        force after a crash too. `refold` is what `prepare` gave, taught; `request` who asks for it.

        Or, with what `reestimate` gave as `anew`, the changes are made at once, by what can be told from
        memory: `Learner.behind` is set, and all is to be taught again when there is time, for `Retaught`.
        """
        listed = changes if isinstance(changes, Sequence) else (changes,)
        if refold is None and anew is None and self.prepare(*listed) is not None:
            names = ", ".join(map(commands.name_of, listed))
            raise UsageError(f"{names}: all that happened is to be learned from again for it")
        effects: list[Effect] = self.leaser.drain()
        in_force, columns = self.in_force, self.columns
        taught = [] if refold is None else [change for change in listed if isinstance(change, Teaching)]
        if refold is not None:
            other = any(isinstance(change, SetMatch) for change in taught)
            effects += self.learner.replace(refold, self.tracer.count if other else None)
            effects += self._rejudge(refold)
        for place, change in enumerate(listed, 1):
            changed = [] if change in taught else self._change(change, anew)
            if change in taught:
                self.learner.remade = self.tracer.count
            renamed = place == len(listed) and self.columns != columns
            entry = commands.dumps(
                change,
                in_force,
                refold=change in taught,
                at_once=anew is not None and isinstance(change, SetMatch),
                request=request,
                columns=self.columns if renamed else None,
            )
            effects.append(Journal(self.tracer.count, entry))
            effects += changed
            url = f"http://{change.host}/" if isinstance(change, BanHost) else getattr(change, "url", "")
            name = commands.name_of(change)
            effects.append(self.tracer.commanded(url, now, self.frontier.queued, name, reasons=(entry,)))
            in_force = in_force.after(change)
        if self.columns != columns:
            self.tracer.renamed = self.leaser.tasks
        return tuple(effects)

    @property
    def in_force(self) -> InForce:
        """What commands may change, as it is now."""
        setup = self.strategy.setup
        return InForce(
            budget=self.leaser.budget,
            weights={} if setup is None else setup.weights,
            focus=self.focus.text(),
            match=self.predicate.text(),
            strategy=self.strategy.base.name,
            boosts=dict(self.boosts.factors),
            paused=self.leaser.paused,
        )

    def foresee(self, entries: Sequence[Journal]) -> list[Journal]:
        """On resume, before anything is restored or learned again: what the strategy was remade for last is
        in force from the beginning, since it was taught from there. Gives what is to be repeated, each at its
        place."""
        last = max([at for at, entry in enumerate(entries) if commands.refolds(entry.entry)], default=-1)
        rest: list[Journal] = []
        for entry in entries[: last + 1]:
            change = commands.loads(entry.entry, self.in_force)
            if isinstance(change, Teaching):
                self.learner.remake(change, entry.after)
                if isinstance(change, SetMatch):
                    # What tunnelling counted was about something else.
                    rest = [one for one in rest if not is_session(one)]
            else:
                rest.append(entry)
        self._remade_by = entries[last] if last >= 0 else None
        return [*rest, *entries[max(0, last) :]]

    def repeat(self, entry: Journal, *, taught: bool = True) -> None:
        """Take in again, on resume, what was commanded before, how sessions ended, or what happened to the
        list at hand; `taught` is whether the strategy is to be told of the latter."""
        if entry is self._remade_by:
            # What was not at hand at the time is all that a strategy that was taught anew heard of it.
            self._remade_by = None
            if taught:
                self.overflow.tell_aside()
            return
        if self.overflow.repeat(entry.entry, taught=taught and self._remade_by is None):
            return
        if self.tunnelling is not None and self.tunnelling.recall(entry, self.tally):
            return
        change = commands.loads(entry.entry, self.in_force)
        if change is not None:
            self._change(change, after=entry.after)

    def _change(
        self, change: Change, anew: Reestimate | None = None, after: int | None = None
    ) -> list[Effect]:
        """Make a change; one that was made `after` a decision, before the crawl was taken up again, is made
        again."""
        match change:
            case SetBudget(budget):
                self.leaser.budget = budget
            case SetPaused(paused):
                self.leaser.paused = paused
            case SetBoost():
                self._boost(self.in_force.after(change))
            case BanHost(name):
                host = self.hosts[self.hosts.number(name)]
                host.ban()
                self.hosts.touch(host.number)
                self.leaser.give_up(host)
                return [host.row(self.rules.politeness)]
            case SetFocus() | SetWeights() | SetMatch():
                again, made = after is not None, self.tracer.count if after is None else after
                return self.learner.change(change, made, anew, again=again)
            case Retaught():
                # Made again where what it followed does not apply any more.
                pass
            case _:
                raise UsageError(f"{commands.name_of(change)} was not prepared")
        return []

    def _boost(self, wanted: InForce) -> None:
        """Score what waits, or is under way, by other boosts."""
        self.boosts.set(wanted.boosts)
        states = self.frontier.states[: self.frontier.count]
        waiting = np.flatnonzero((states == State.QUEUED) | (states == State.LEASED))
        self.expander.boost(waiting, self.urls_of(waiting) if self.boosts else ())

    def suspend_anew(self) -> None:
        """Have wait behind others what is to by all that is counted; for when that was counted anew."""
        if self.confidence is not None:
            self.expander.suspend(np.arange(self.frontier.count))

    def _rejudge(self, refold: Refold) -> list[Effect]:
        """Pages are finds, or no longer are, by what was judged anew."""
        finds = {*self.tally.finds}
        effects: list[Effect] = []
        hosts: dict[int, None] = {}
        for candidate, (verdict, shown) in refold.judged.items():
            page = refold.numbers[candidate]
            matched = verdict.satisfied and shown and candidate not in self.duplicates.copies
            if matched != (page in finds):
                number = int(self.frontier.hosts[candidate])
                hosts[number] = None
                self.hosts[number].matches += 1 if matched else -1
                (finds.add if matched else finds.discard)(page)
            self.tally.name_find(page, verdict.interests if matched else ())
            said = refold.learning.feedback.get(self.url_of(candidate)) if refold.learning.feedback else None
            effects.append(Rejudge(candidate, verdict, matched, said))
        self.tally.finds = array("L", sorted(finds))
        self.tally.matches = len(finds)
        return [*effects, *[self.hosts[number].row(self.rules.politeness) for number in hosts]]

    def _objection(self, url: str, host: str, source: str) -> str | None:
        known = self.hosts.get(host)
        if known is not None and known.excluded:
            return known.refusal
        return self.waste_guard.check_link(url, host, source)
