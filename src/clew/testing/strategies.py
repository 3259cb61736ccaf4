"""`StrategyContract`: what every `Strategy` must do, as tests to inherit; and a small crawl to try one with.

A strategy of one's own is checked by a subclass that says how to make one:

    class TestMine(StrategyContract):
        def make(self):
            return MyStrategy(self.predicate, seed=1)

`make` is called several times and must give a fresh, equal strategy each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.page import Link, Links, Page
from clew.predicate import compile as compile_predicate
from clew.predicate.verdict import Predicate, Verdict
from clew.strategy.base import Expansion, Scored, Strategy
from clew.url import keys

_HOSTS = ("farms.example", "news.example", "bakery.example")
_TOPIC = ("wind farm with a turbine", "league table of the season", "bread and yeast in the oven")
_PAGES = 120


def _page(number: int) -> Page:
    """One of the pages of the contract's web: its host says what it is about, mostly."""
    topic = 0 if number % 17 == 0 else number % 3
    url = f"http://{_HOSTS[number % 3]}/{('a', 'b')[number % 2]}/{number}"
    links = []
    for step in (1, 3, 7, 10, 31):
        goal = (number * step + step) % _PAGES
        anchor = _TOPIC[goal % 3] if step != 10 else ""
        target = f"http://{_HOSTS[goal % 3]}/{('a', 'b')[goal % 2]}/{goal}"
        path = f"html/body/{('div.main/p', 'ul.menu/li')[step % 2]}/a"
        links.append(Link(url, target, anchor, f"read on {anchor} today", path))
    distinct = {link.target: link for link in links if link.target != url}
    text = f"{_TOPIC[topic]} page {number} of many"
    return Page(url=url, text=text, language="en", links=Links.of(url, list(distinct.values())))


@dataclass(slots=True)
class Walk:
    """A small crawl by hand: the candidate with the best score next, one at a time.

    Every tenth page is gone. `log` has every row of contributions that the strategy gave.
    """

    strategy: Strategy
    predicate: Predicate
    urls: list[str] = field(default_factory=list)
    rows: list[NDArray[np.float64]] = field(default_factory=list)
    done: set[int] = field(default_factory=set)
    log: list[list[list[float]]] = field(default_factory=list)

    def start(self) -> Walk:
        """Take in the seeds."""
        seeds = [_page(number).url for number in (1, 2)]
        parts = self.strategy.seeds(keys(seeds))
        self.urls.extend(seeds)
        self.rows.extend(parts)
        self.log.append(parts.tolist())
        return self

    def expansions(self, steps: int) -> Iterator[tuple[Expansion, Scored]]:
        """Fetch and observe; give the expansion with what came of it, then file the links."""
        for _ in range(steps):
            queue = [i for i in range(len(self.urls)) if i not in self.done]
            if not queue:
                return
            source = max(queue, key=lambda i: (float(self.rows[i].sum()), -i))
            self.done.add(source)
            expansion = self.expand(source)
            scored = self.strategy.observe(expansion)
            yield expansion, scored
            if (moved := scored.moved) is not None:
                self.log.append([moved.ids.tolist(), *moved.terms.tolist()])
                for number, row in zip(moved.ids.tolist(), moved.terms, strict=True):
                    if number < len(self.rows):
                        self.rows[number] = row
            self._file(expansion, scored)

    def run(self, steps: int) -> Walk:
        """Fetch, learn and file for so many steps."""
        for _ in self.expansions(steps):
            pass
        return self

    def expand(self, source: int) -> Expansion:
        """What comes of fetching a candidate."""
        url = self.urls[source]
        number = int(url.rpartition("/")[2])
        if number % 10 == 9:
            return expansion_of(source, Page(url=url, status=404), Verdict(0.0, False), [], [])
        page = _page(number)
        known = {target: i for i, target in enumerate(self.urls)}
        ids, fresh = [], []
        for target in page.links.targets:
            new = target not in known
            ids.append(known.setdefault(target, len(known)))
            fresh.append(new)
        return expansion_of(source, page, self.predicate.judge(page), ids, fresh)

    def _file(self, expansion: Expansion, scored: Scored) -> None:
        parts = scored.terms
        self.log.append(parts.tolist())
        for i, number in enumerate(expansion.ids.tolist()):
            if expansion.fresh[i]:
                self.urls.append(expansion.links.targets[i])
                self.rows.append(parts[i])
            elif number not in self.done and parts[i].sum() > self.rows[number].sum():
                self.rows[number] = parts[i]


def expansion_of(
    source: int, page: Page, verdict: Verdict, ids: list[int], fresh: list[bool], depth: int = 1
) -> Expansion:
    """An expansion of all links of a page; `ids` has one number a link."""
    found = keys(page.links.targets)
    numbers = np.array(ids, np.int64)
    return Expansion(source, page, verdict, depth, page.links, found, numbers, np.array(fresh, np.bool_))


class StrategyContract:
    """What any strategy must do. Subclasses give `make`; `predicate` is what the crawl looks for."""

    predicate: Predicate = compile_predicate('"wind farm" OR turbine')
    steps = 60

    def make(self) -> Strategy:
        """A fresh strategy."""
        raise NotImplementedError("a subclass says how to make the strategy")

    def walk(self) -> Walk:
        """A crawl that has just begun."""
        return Walk(self.make(), self.predicate).start()

    def test_it_says_what_its_parts_are(self) -> None:
        """A name, and one distinct name a contribution."""
        strategy = self.make()
        assert strategy.name
        assert strategy.parts
        assert len(set(strategy.parts)) == len(strategy.parts)

    def test_rows_are_finite_and_as_wide_as_the_parts(self) -> None:
        """Seeds, links and re-scores: one finite number a part, one row a candidate."""
        walk = self.walk()
        width = len(walk.strategy.parts)
        assert np.array(walk.log[0]).shape == (2, width)
        for expansion, scored in walk.expansions(self.steps):
            parts, moved = scored.terms, scored.moved
            assert walk.strategy.score(expansion).shape == parts.shape
            assert parts.shape == (len(expansion.ids), width)
            assert parts.dtype == np.float64
            assert np.isfinite(parts).all()
            if moved is not None:
                assert moved.terms.shape == (len(moved.ids), width)
                assert np.isfinite(moved.terms).all()

    def test_no_seeds_and_no_links_give_no_rows(self) -> None:
        """An empty list in, an empty table of the right width out."""
        strategy = self.make()
        width = len(strategy.parts)
        assert strategy.seeds(keys([])).shape == (0, width)
        nothing = expansion_of(0, Page(url="http://a.example/"), Verdict(0.0, False), [], [])
        assert strategy.observe(nothing).terms.shape == (0, width)
        assert strategy.score(nothing).shape == (0, width)

    def test_scoring_never_changes_anything(self) -> None:
        """An expansion scored again gives the same rows and leaves the learned state as it was."""
        walk = self.walk()
        for expansion, _ in walk.expansions(self.steps):
            before = walk.strategy.state()
            first = walk.strategy.score(expansion)
            assert np.array_equal(first, walk.strategy.score(expansion))
            assert walk.strategy.state() == before

    def test_scoring_more_often_changes_no_decision(self) -> None:
        """A crawl whose links are scored three times goes the same way as one that scores them once."""
        looked_at, plain = self.walk(), self.walk()
        for expansion, _ in looked_at.expansions(self.steps):
            looked_at.strategy.score(expansion)
            looked_at.strategy.score(expansion)
        assert looked_at.log == plain.run(self.steps).log

    def test_one_seed_gives_one_crawl(self) -> None:
        """Two fresh strategies give the same numbers, to the last bit."""
        assert self.walk().run(self.steps).log == self.walk().run(self.steps).log

    def test_what_is_restored_goes_on_as_if_never_stopped(self) -> None:
        """State is JSON text; unless it learns again, a fresh strategy with it gives the same numbers."""
        walk = self.walk().run(self.steps // 2)
        state = walk.strategy.state()
        if state:
            json.loads(state)
        restored = self.make()
        restored.restore(state)
        if restored.capabilities.relearns:
            return
        assert restored.state() == state
        twin = Walk(restored, self.predicate, walk.urls[:], walk.rows[:], set(walk.done), walk.log[:])
        assert twin.run(self.steps // 2).log == walk.run(self.steps // 2).log

    def test_a_state_of_nothing_learned_restores(self) -> None:
        """What a strategy says before its first page, a fresh one takes."""
        restored = self.make()
        restored.restore(self.make().state())
        twin = Walk(restored, self.predicate).start()
        assert twin.run(10).log == self.walk().run(10).log

    def test_re_scores_are_of_candidates_it_was_told_of(self) -> None:
        """`observe` re-scores queued candidates, at most also this page's fresh; none twice, none unknown."""
        walk = self.walk()
        for expansion, scored in walk.expansions(self.steps):
            ids = [] if scored.moved is None else scored.moved.ids.tolist()
            assert len(set(ids)) == len(ids)
            told = len(walk.urls) + int(expansion.fresh.sum())
            assert all(0 <= number < told for number in ids)

    def test_unknown_candidates_are_taken_as_they_come(self) -> None:
        """Pages and links it was never told of (a redirect's, another shard's) break nothing."""
        walk = self.walk().run(self.steps // 3)
        strategy = walk.strategy
        page = _page(51)
        odd = [-1, 10**6, 10**6 + 1, -1, 10**6 + 2][: len(page.links)]
        stranger = expansion_of(10**6 + 7, page, self.predicate.judge(page), odd, [False] * len(page.links))
        scored = strategy.observe(stranger)
        assert np.isfinite(scored.terms).all()
        assert np.isfinite(strategy.score(stranger)).all()
        if scored.moved is not None:
            assert not set(scored.moved.ids.tolist()) & set(odd)
        strategy.observe(expansion_of(10**6 + 8, Page(url=page.url, status=500), Verdict(0.0, False), [], []))
        walk.run(self.steps // 3)

    def test_a_broken_page_is_no_surprise(self) -> None:
        """No text, no anchors, no contexts, no paths, one link: all may be empty."""
        url = "http://a.example/"
        links = Links(url, ("http://b.example/",), ("",), ("",), ("",), ("",))
        bare = expansion_of(0, Page(url=url, links=links), Verdict(1.0, True), [1], [True])
        strategy = self.make()
        assert np.isfinite(strategy.observe(bare).terms).all()
        assert np.isfinite(strategy.score(bare)).all()

    def test_a_focus_it_is_told_is_as_good_as_one_it_was_built_with(self) -> None:
        """`seek` before anything is learned gives the strategy that `make` gives for that predicate."""
        told = self.make()
        self.predicate = compile_predicate("bread OR oven")
        told.seek(self.predicate)
        assert Walk(told, self.predicate).start().run(self.steps).log == self.walk().run(self.steps).log

    def test_what_it_declares_it_has(self) -> None:
        """Every capability comes with its hooks: none of them is the default that only says it is missing."""
        strategy = self.make()
        hooks = {
            "meets": ("met", "meet"),
            "sheds": ("set_aside", "take_back"),
            "audits": ("audits", "review"),
            "interest": ("interest",),
            "explains": ("candidates", "evaluate", "evidence_for"),
            "reweighs": ("reweigh",),
            "reestimates": ("reestimate",),
            "refocuses": ("refocus",),
            "offers": ("offers", "samples"),
        }
        for capability, names in hooks.items():
            if getattr(strategy.capabilities, capability):
                missing = [n for n in names if getattr(type(strategy), n) is getattr(Strategy, n)]
                assert not missing, f"{strategy.name} declares {capability} without {', '.join(missing)}"
