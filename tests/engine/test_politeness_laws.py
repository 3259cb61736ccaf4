"""Politeness by law, for the whole engine: over random webs, interleavings, crashes and clocks that jump.

No host and no address is asked before its delay is over, and none has two requests under way; with
redirects, retries, robots.txt on other hosts, sitemaps, look-ups that fail, and restarts in the middle.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loop import Wants, page

from clew import url as urls
from clew.engine import Crawl, CrawlRules
from clew.errors import Reason
from clew.frontier import Politeness
from clew.messages import Outcome, Sitemap, TaskKind
from clew.policy import Scope
from clew.run.resume import restore
from clew.store import MemoryStore
from clew.strategy import BreadthFirst

DELAY = 2.0
HOSTS = [f"h{i}.example" for i in range(6)]
OWN = "own.example"
ALL = [*HOSTS, OWN]
#: The others are met by links and redirects only, some first by the redirect of a robots.txt.
SEEDS = [f"http://{host}/" for host in ("h0.example", "h2.example", OWN)]
#: Two hosts an address, one host with two, one address with an own host on it.
WHERE = {
    "h0.example": ("10.0.0.1",),
    "h1.example": ("10.0.0.1",),
    "h2.example": ("10.0.0.2", "10.0.0.3"),
    "h3.example": ("10.0.0.3",),
    "h4.example": ("10.0.0.4",),
    "h5.example": ("10.0.0.4", "10.0.0.1"),
    OWN: ("10.0.0.4",),
}


@dataclass
class Server:
    """Keeps the log that the law is about, by true time."""

    ended: dict = field(default_factory=dict)
    busy: dict = field(default_factory=dict)
    requests: int = 0

    def start(self, host, at):
        self.requests += 1
        if host == OWN:
            return
        for place in (host, *WHERE[host]):
            assert place not in self.busy, f"two requests under way to {place}"
            assert at >= self.ended.get(place, -1e9) + DELAY - 1e-6, f"{place} asked too early"
            self.busy[place] = at

    def end(self, host, at):
        if host == OWN:
            return
        for place in (host, *WHERE[host]):
            del self.busy[place]
            self.ended[place] = at

    def crash(self, at):
        for place in list(self.busy):
            del self.busy[place]
            self.ended[place] = at


class Play:
    """A crawl driven by dice: what comes next, how long it takes, what the web answers."""

    def __init__(self, dice, *, resolving=True):
        self.dice = dice
        self.resolving = resolving
        self.server = Server()
        self.store = MemoryStore()
        self.true = 1000.0
        self.offset = 0.0
        self.tasks = {}
        self.begin()
        self.save(self.crawl.start(SEEDS, self.now))

    @property
    def now(self):
        return self.true + self.offset

    def begin(self):
        rules = CrawlRules(
            scope=Scope(),
            politeness=Politeness(delay=DELAY, own=lambda h: h == OWN, own_limit=4, address_age=60.0),
            sitemaps="on",
        )
        self.crawl = Crawl(Wants(), BreadthFirst(), rules, self.store.url)
        self.crawl.hosts.resolving = self.resolving

    def save(self, effects):
        self.store.save(effects)

    def crash(self):
        """Everything in memory is gone, and the wall clock may have been set meanwhile."""
        self.server.crash(self.true)
        self.tasks.clear()
        self.offset += self.dice.choice([0.0, 0.0, -5000.0, 5000.0])
        self.begin()
        restore(self.crawl, self.store.load(), self.now)
        self.save(self.crawl.start(SEEDS, self.now))

    def lease(self):
        for task in self.crawl.lease(self.now, self.dice.randint(1, 5)):
            self.tasks[task.id] = task
            if task.kind is not TaskKind.RESOLVE:
                self.server.start(task.host, self.true)

    def settle(self):
        if not self.tasks:
            return
        task = self.tasks.pop(self.dice.choice(sorted(self.tasks)))
        if task.kind is not TaskKind.RESOLVE:
            self.server.end(task.host, self.true)
        self.save(self.crawl.settle(self.answer(task), self.now))

    def answer(self, task):
        dice = self.dice
        place = WHERE[task.host] if task.kind is TaskKind.RESOLVE else (dice.choice(WHERE[task.host]),)
        if dice.random() < 0.15:
            return Outcome(task=task, error=dice.choice([Reason.DNS, Reason.TIMEOUT, Reason.RESET]))
        if task.kind is TaskKind.RESOLVE:
            return Outcome(task=task, addresses=place)
        found = {"task": task, "elapsed": dice.random(), "addresses": place if self.resolving else ()}
        roll = dice.random()
        if roll < 0.1:
            return Outcome(status=dice.choice([429, 500, 503]), retry_after=dice.choice([None, 7.0]), **found)
        if roll < 0.3:
            somewhere = f"http://{dice.choice(ALL)}/{dice.randrange(9)}"
            return Outcome(status=302, location=somewhere, **found)
        if task.kind is TaskKind.ROBOTS:
            body = dice.choice([b"", b"User-agent: *\nCrawl-delay: 3\nSitemap: /map.xml", b"Disallow: /5"])
            return Outcome(status=200, body=body, **found)
        links = [f"http://{dice.choice(ALL)}/{dice.randrange(60)}" for _ in range(4)]
        if task.kind is TaskKind.SITEMAP:
            own = tuple(dict.fromkeys(f"http://{task.host}/{urls.key(u) % 60}" for u in links))
            return Outcome(status=200, sitemap=Sitemap(task.url, own, ("",) * len(own)), **found)
        return Outcome(status=200, page=page(task.url, f"text of {task.url}", links), **found)


def play(dice, moves, *, resolving):
    game = Play(dice, resolving=resolving)
    for move, wait in moves:
        game.true += wait
        if move == "crash" and game.store.load() is not None:
            game.crash()
        elif move == "settle":
            game.settle()
        else:
            game.lease()
    return game


moves = st.lists(
    st.tuples(
        st.sampled_from(["lease"] * 5 + ["settle"] * 6 + ["crash"]),
        st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0, 1.9, 2.0, 5.0, 31.0]),
    ),
    min_size=20,
    max_size=160,
)


@settings(
    max_examples=3 * settings().max_examples // 2, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.randoms(use_true_random=False), moves)
@pytest.mark.slow
def test_no_host_and_no_address_early_or_twice_at_once(dice, moves):
    play(dice, moves, resolving=True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), moves)
def test_without_addresses_the_law_holds_for_hosts(dice, moves):
    """Behind a proxy nobody knows who lives where."""
    places = dict(WHERE)
    try:
        for host in WHERE:
            WHERE[host] = (f"of {host}",)
        play(dice, moves, resolving=False)
    finally:
        WHERE.update(places)


def test_the_play_is_worth_the_name():
    """A long game asks for much, on shared addresses too, and ends by itself."""
    import random

    dice = random.Random(5)
    game = Play(dice)
    for _ in range(6000):
        game.true += dice.choice([0.0, 0.2, 1.0, 3.0])
        dice.choice([game.lease, game.settle, game.settle])()
        if dice.random() < 0.002:
            game.crash()
    assert game.server.requests > 150
    shared = [shared for shared in game.crawl.hosts.addresses.values() if len(shared.hosts) > 1]
    assert len(shared) >= 3
