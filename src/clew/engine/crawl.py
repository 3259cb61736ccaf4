"""`Crawl`: one engine, put together, and its doors: tasks go out, outcomes and commands come in.

What they do is done by its parts: `Leaser` (what to do next), `Settler` (what a fetch means), `Introducer`
(URLs that no judged page linked to) and `Learner` (what is sought, and what candidates are worth by that).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clew.engine import commands
from clew.engine.commands import BanHost, Change, InForce, SetBudget, SetFocus, SetWeights
from clew.engine.introducer import Introducer
from clew.engine.learner import Learner
from clew.engine.leasing import Leaser
from clew.engine.prospects import FrontierProspects
from clew.engine.refold import Refold
from clew.engine.settling import Settler
from clew.engine.tunnelling import Tunnelling
from clew.errors import UsageError
from clew.frontier.admission import Admission
from clew.frontier.expander import Expander
from clew.frontier.hosts import Hosts, Politeness
from clew.frontier.overflow import Overflow
from clew.frontier.parked import ParkedOrigins
from clew.frontier.queue import Frontier
from clew.frontier.ready_hosts import ReadyHosts
from clew.frontier.robots_gate import RobotsGate
from clew.frontier.sitemaps import Mode, Sitemaps
from clew.frontier.target_cache import TargetCache
from clew.messages import Effect, Forward, Journal, Outcome, Task
from clew.policy import Budget, Duplicates, Scope, Tally, WasteGuard
from clew.policy.community import Community
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
    tunnel: TunnelRules | None = None
    """How the focus widens when finds become rare; None leaves it as it is."""
    traps: bool = True
    """Leave traps, mirrors and error pages alone once they are recognised."""


class Crawl:
    """One crawl, or one shard of one.

    Parameters: what is judged; the strategy; the rules; the URL of a candidate, by number.
    """

    def __init__(
        self, predicate: Predicate, strategy: Strategy, rules: CrawlRules, url_of: Callable[[int], str]
    ) -> None:
        self.predicate = predicate
        self.rules = rules
        self.url_of = url_of
        self.tally, self.tracer = Tally(), Tracer()
        frontier = self.frontier = Frontier(len(strategy.parts))
        hosts = self.hosts = Hosts(rules.politeness)
        ready = ReadyHosts(frontier, hosts)
        self.expander = Expander(frontier, ready, rules.slots)
        tunnelling = None if rules.tunnel is None else Tunnelling(predicate, rules.tunnel)
        self.learner = Learner(predicate, strategy, frontier, self.expander, tunnelling)
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
            predicate=predicate,
            scope=rules.scope,
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
            tally=self.tally,
            tracer=self.tracer,
            url_of=url_of,
        )

    def __repr__(self) -> str:
        return (
            f"Crawl({self.strategy.name}, {self.tally.pages} pages, {self.tally.matches} finds, "
            f"{self.frontier.queued} queued, {self.leaser.in_flight} under way)"
        )

    @property
    def strategy(self) -> Strategy:
        """What candidates are worth, and why."""
        return self.learner.strategy

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
        settled = self.settler.settle(outcomes, now)
        return (*self.leaser.drain(), *settled)

    def drain(self) -> tuple[Effect, ...]:
        """Effects of leasing that no settle has carried yet, and what was learned; for a checkpoint."""
        return (*self.leaser.drain(), *self.learner.learned())

    # commands

    def prepare(self, change: Change) -> Refold | None:
        """What must be taught all that happened before a change can be commanded; None where nothing must.
        Changes nothing; a change that cannot be made is an error that says why."""
        return self.learner.prepare(change) if isinstance(change, SetFocus | SetWeights) else None

    def command(self, change: Change, now: float, refold: Refold | None = None) -> tuple[Effect, ...]:
        """Change a crawl under way. The effects belong together; once they are saved, the change is in force
        after a crash too. `refold` is what `prepare` gave, taught."""
        if refold is None and self.prepare(change) is not None:
            raise UsageError(f"{commands.name_of(change)} needs all that happened to be learned from again")
        entry = Journal(self.tracer.count, commands.dumps(change, self.in_force, refold=refold is not None))
        changed = self._change(change) if refold is None else self.learner.replace(refold)
        url = f"http://{change.host}/" if isinstance(change, BanHost) else ""
        name = commands.name_of(change)
        record = self.tracer.commanded(url, now, self.frontier.queued, name, reasons=(entry.entry,))
        return (*self.leaser.drain(), entry, *changed, record)

    @property
    def in_force(self) -> InForce:
        """What commands may change, as it is now."""
        setup = self.strategy.setup
        return InForce(self.leaser.budget, {} if setup is None else setup.weights, self.focus.text())

    def foresee(self, entries: Sequence[Journal]) -> list[Journal]:
        """On resume, before learning again: what the strategy was remade for last is in force from the
        beginning, since it was taught from there. Gives what is to be repeated, each at its place."""
        last = max([at for at, entry in enumerate(entries) if commands.refolds(entry.entry)], default=-1)
        rest: list[Journal] = []
        for entry in entries[: last + 1]:
            change = commands.loads(entry.entry, self.in_force)
            if isinstance(change, SetFocus | SetWeights):
                self.learner.remake(change)
            else:
                rest.append(entry)
        return [*rest, *entries[last + 1 :]]

    def repeat(self, entry: Journal, *, taught: bool = True) -> None:
        """Take in again, on resume, what was commanded before, how sessions ended, or what happened to the
        list at hand; `taught` is whether the strategy is to be told of the latter."""
        if self.overflow.repeat(entry.entry, taught=taught):
            return
        if self.tunnelling is not None and self.tunnelling.recall(entry, self.tally):
            return
        change = commands.loads(entry.entry, self.in_force)
        if isinstance(change, SetFocus | SetWeights) and commands.refolds(entry.entry):
            state = self.strategy.state()
            self.learner.remake(change)
            self.strategy.restore(state)
        elif change is not None:
            self._change(change)

    def _change(self, change: Change) -> list[Effect]:
        if isinstance(change, SetBudget):
            self.leaser.budget = change.budget
            return []
        if isinstance(change, SetFocus | SetWeights):
            return self.learner.change(change)
        host = self.hosts[self.hosts.number(change.host)]
        host.ban()
        self.hosts.touch(host.number)
        self.leaser.give_up(host)
        return [host.row(self.rules.politeness)]

    def _objection(self, url: str, host: str, source: str) -> str | None:
        known = self.hosts.get(host)
        if known is not None and known.excluded:
            return known.refusal
        return self.waste_guard.check_link(url, host, source)
