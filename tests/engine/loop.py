"""A hand-driven crawl over a dict of pages, for tests that look at single decisions."""

from dataclasses import dataclass

import xxhash

from clew.engine import Crawl, CrawlRules
from clew.messages import Outcome, Record, SaveCandidates, SavePage, TaskKind
from clew.page import Link, Links, Page
from clew.policy import Scope
from clew.predicate.verdict import Verdict
from clew.strategy import BestFirst


@dataclass
class Wants:
    """A predicate: pages that contain a word; an anchor that contains it promises much."""

    word: str = "wind"

    def judge(self, page):
        hit = self.word in page.text.split()
        return Verdict(1.0 if hit else 0.0, hit, (f"{self.word} {float(hit)}",))

    def estimate_links(self, links):
        return [1.0 if self.word in anchor else 0.0 for anchor in links.anchors]

    def text(self):
        return self.word


def page(url, text="", links=(), *, depth=0, robots=(), refresh="", canonical="", kind="text/html"):
    """A parsed page; links are URLs or (URL, anchor) pairs."""
    pairs = [x if isinstance(x, tuple) else (x, "") for x in links]
    found = Links.of(url, [Link(url, target, anchor) for target, anchor in pairs])
    return Page(
        url=url,
        text=text,
        links=found,
        depth=depth,
        type=kind,
        robots=frozenset(robots),
        refresh=refresh,
        canonical=canonical,
        digest=xxhash.xxh3_64_intdigest(text.encode()) if text else 0,
    )


class Loop:
    """Leases and settles by hand. `web` maps a URL to a dict of Outcome fields, or to a Page."""

    def __init__(self, web, *, strategy=None, wants=None, scope=None, **rules):
        self.web = web
        self.urls = []
        self.effects = []
        self.now = 0.0
        wants = wants or Wants()
        self.crawl = Crawl(
            wants,
            strategy or BestFirst(wants),
            CrawlRules(scope=scope or Scope(), **rules),
            lambda i: self.urls[i],
        )

    def save(self, effects):
        for effect in effects:
            if isinstance(effect, SaveCandidates):
                assert effect.first == len(self.urls)
                self.urls.extend(effect.urls)
        self.effects.extend(effects)
        return effects

    def start(self, *seeds):
        self.save(self.crawl.start(seeds, self.now))
        return self

    def lease(self, n=1):
        return self.crawl.lease(self.now, n)

    def answer(self, task):
        found = self.web.get(task.url, {"status": 404})
        if isinstance(found, Page):
            found = {"status": 200, "page": found}
        return self.save(self.crawl.settle(Outcome(task=task, **found), self.now))

    def run(self, limit=1000):
        """One task at a time to the end; gives the URLs asked for, in order."""
        asked = []
        while len(asked) < limit and not self.crawl.stopped(self.now):
            tasks = self.lease()
            if tasks:
                asked.append(tasks[0].url)
                self.answer(tasks[0])
                continue
            ready = self.crawl.next_ready()
            if ready is None:
                break
            self.now = ready
        return asked

    @property
    def pages(self):
        return [e for e in self.effects if isinstance(e, SavePage)]

    @property
    def trace(self):
        return [e.decision for e in self.effects if isinstance(e, Record)]

    def fetched(self):
        return [d.url for d in self.trace if d.kind == TaskKind.PAGE]
