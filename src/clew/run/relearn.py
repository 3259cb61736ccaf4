"""Learning again, on resume: the stored pages of a crawl go through the strategy once more, in order.

What a strategy learned is a fold over the outcomes it saw, so folding them again gives it back to the
last count, together with all it remembers of candidates. Pages are parsed anew from the archive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from clew import url as urls
from clew.engine import Crawl
from clew.errors import ParseError
from clew.fetch.base import Response
from clew.messages import Decision, Rescore, State, TaskKind
from clew.page import Links, Page
from clew.parse import parse_page
from clew.predicate.verdict import Verdict
from clew.run.parsing import to_sitemap
from clew.store.base import Reader
from clew.strategy.base import Expansion, Meets, Resumable

#: Results of a decision about a page after which the strategy was taught.
_JUDGED = frozenset({"match", "miss", "duplicate", "noindex"})


def relearn(
    crawl: Crawl, store: Reader, body: Callable[[str], Response | None], *, before: int | None = None
) -> int:
    """Teach the strategy what the crawl saw before; gives how many outcomes there were.

    `body` finds the archived reply of a URL; `before` is a decision to stop short of. Call after the
    engine was restored.
    """
    count = 0
    for count in relearning(crawl, store, body, before=before):  # noqa: B007 - the last one is the answer
        pass
    return count


def relearning(
    crawl: Crawl, store: Reader, body: Callable[[str], Response | None], *, before: int | None = None
) -> Iterator[int]:
    """The same step by step: gives after each outcome how many there were so far."""
    if isinstance(crawl.strategy, Resumable):
        return
    count = 0
    for decision in store.decisions():
        if before is not None and decision.seq >= before:
            break
        if decision.kind == TaskKind.SITEMAP and decision.new:
            _meet(crawl, -1, decision.url, _listed(decision, body))
        if decision.kind != TaskKind.PAGE or decision.candidate < 0:
            continue
        if decision.result == "redirect" and decision.new:
            _meet(crawl, decision.candidate, decision.url, decision.reasons[:1])
        expansion = _expansion(crawl, decision, body)
        if expansion is None:
            continue
        moved = crawl.strategy.learn(expansion)
        count += 1
        if moved is not None:
            crawl.filing.rescore(moved)
        page = expansion.page
        for target in (page.refresh, page.canonical):
            _meet(crawl, decision.candidate, decision.url, (target,) if target else ())
        yield count


def _meet(crawl: Crawl, source: int, url: str, targets: Sequence[str]) -> None:
    """Tell of candidates that no judged page led to, as when they were filed."""
    if not targets or not isinstance(crawl.strategy, Meets):
        return
    frontier, keys = crawl.frontier, urls.keys(targets)
    ids = frontier.find(keys)
    mine = (ids >= 0) & (frontier.sources[ids] == source)
    # A seed has no source either; but it lies at the beginning, and what a sitemap lists one step from it.
    mine &= (frontier.depths[ids] == 1) if source < 0 else np.ones(len(ids), np.bool_)
    mine &= ids >= crawl.strategy.met
    rows = [i for i in np.argsort(ids, kind="stable").tolist() if mine[i]]
    if not rows:
        return
    links = Links(url, tuple([targets[i] for i in rows]), *[("",) * len(rows)] * 4)
    fresh = np.ones(len(rows), np.bool_)
    nothing = Page(url=url)
    parts = crawl.strategy.meet(
        Expansion(source, nothing, Verdict(0.0, False), 0, links, keys[rows], ids[rows], fresh)
    )
    if parts is not None:
        crawl.filing.rescore(Rescore(ids[rows], parts, saved=False))


def _listed(decision: Decision, body: Callable[[str], Response | None]) -> tuple[str, ...]:
    """What a stored sitemap lists."""
    response = body(decision.url)
    try:
        return () if response is None else to_sitemap(response).urls
    except ParseError:
        return ()


def _expansion(crawl: Crawl, decision: Decision, body: Callable[[str], Response | None]) -> Expansion | None:
    if decision.result in _JUDGED:
        page = _page(decision, body)
        satisfied = decision.result != "miss"
        admitted = crawl.intake.admit(page, page.depth + 1)
        ids = crawl.frontier.find(admitted.keys)
        known = ids >= 0
        # A link was new on the page that is recorded as the one it was found on.
        fresh = np.zeros(len(ids), np.bool_)
        fresh[known] = crawl.frontier.sources[ids[known]] == decision.candidate
        return Expansion(
            decision.candidate,
            page,
            Verdict(decision.verdict, satisfied),
            page.depth,
            admitted.links,
            admitted.keys,
            ids,
            fresh,
        )
    closed = State(int(crawl.frontier.states[decision.candidate])) in (State.FAILED, State.DROPPED)
    if decision.result == "retry" or decision.result == "redirect" or not closed:
        return None
    none = np.zeros(0, np.int64)
    nothing = Page(url=decision.url, status=decision.status)
    empty = (none.astype(np.uint64), none, none.astype(np.bool_))
    return Expansion(decision.candidate, nothing, Verdict(0.0, False), 0, Links(decision.url), *empty)


def _page(decision: Decision, body: Callable[[str], Response | None]) -> Page:
    response = body(decision.url)
    if response is None:
        return Page(url=decision.url, status=decision.status)
    try:
        return parse_page(
            response.body,
            url=decision.url,
            status=response.status,
            content_type=response.header("content-type"),
            headers=response.headers,
        )
    except ParseError:
        return Page(url=decision.url, status=decision.status)
