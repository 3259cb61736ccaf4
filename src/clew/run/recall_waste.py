"""What the waste guard knows, once more: a fold over the pages, error pages and redirects of a stored crawl.

Only what a host did badly, or said twice, is kept with the host. What speaks for the shape of its URLs, and
words that were said once, follow from the pages.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clew import url as urls
from clew.engine import Crawl
from clew.errors import ParseError
from clew.messages import Decision, State, TaskKind
from clew.policy.soft404 import hashed, own_words
from clew.policy.waste_guard import PageCheck
from clew.run.parsing import Reading, to_page
from clew.run.relearn import JUDGED
from clew.store.base import Reader, Replies, Snapshot


def recall_waste(crawl: Crawl, saved: Snapshot, store: Reader) -> None:
    """Tell the waste guard again of all that it was told of. Call after the engine was restored.

    For a crawl of an older format, of whose pages not enough is known, what its hosts remember stands.
    """
    guard = crawl.waste_guard
    if not guard.on or saved.said is None:
        return
    guard.forget()
    archive = store.replies()
    fold, state = _Fold(crawl, saved, store, archive), guard.state
    guard.state = fold.state
    try:
        for decision in store.decisions():
            if decision.kind == TaskKind.PAGE and 0 <= decision.candidate < crawl.frontier.count:
                fold.take(decision)
    finally:
        guard.state = state
        if archive is not None:
            archive.close()
    # All of it is with the hosts already.
    guard.mirrors.changes()


class _Fold:
    """The pages so far, as the waste guard was told of them."""

    def __init__(self, crawl: Crawl, saved: Snapshot, store: Reader, archive: Replies | None) -> None:
        self.crawl, self.saved, self.store, self.archive = crawl, saved, store, archive
        self._fetched: set[int] = set()
        sources = crawl.frontier.sources[: crawl.frontier.count]
        self._by_source = np.argsort(sources, kind="stable")
        self._sources = sources[self._by_source]

    def state(self, url: str) -> State | None:
        """Whether a URL was fetched by then; what else became of it does not matter here."""
        return State.FETCHED if int(self.crawl.frontier.find(urls.keys((url,)))[0]) in self._fetched else None

    def take(self, decision: Decision) -> None:
        """What came of one page."""
        guard, host = self.crawl.waste_guard, urls.host(decision.url)
        if decision.result == "redirect" and "bad-url" not in dict(decision.dropped):
            guard.traps.redirected(decision.url, host, decision.reasons[0])
        elif decision.result == "soft-404":
            self._judged(decision, host, self._read(decision), soft_404=True)
        elif decision.result in JUDGED:
            self._fetched.add(decision.candidate)
            self._judged(decision, host, (self.saved.said or {}).get(decision.candidate, 0), soft_404=False)

    def _judged(self, decision: Decision, host: str, said: int, *, soft_404: bool) -> None:
        guard, repeated = self.crawl.waste_guard, self.saved.copies.get(decision.candidate)
        empty = guard.empty_pages.was_said(host, said)
        guard.record_page(
            decision.url,
            host,
            PageCheck(soft_404=soft_404, empty=empty, said=said),
            # As it was judged then.
            find=decision.result == "match",
            twin=self.store.url(repeated[0]) if repeated else "",
            near=bool(repeated and repeated[1]),
            fresh=() if soft_404 else self._fresh(decision.candidate),
        )

    def _fresh(self, candidate: int) -> Iterator[str]:
        """Targets of links that were first found on a page; not what it was replaced by."""
        begin, end = np.searchsorted(self._sources, [candidate, candidate + 1]).tolist()
        depths = self.crawl.frontier.depths
        for number in self._by_source[begin:end].tolist():
            if depths[number] > depths[candidate]:
                yield self.store.url(number)

    def _read(self, decision: Decision) -> int:
        """What an error page said: it is not among the pages."""
        response = None if self.archive is None else self.archive.get(decision.url)
        try:
            reading = Reading.of(self.crawl.rules, self.crawl.strategy)
            return 0 if response is None else hashed(own_words(to_page(response, 0, reading)))
        except ParseError:
            return 0
