"""Learning again, on resume: stored decisions become the lessons they were, and are taught once more.

What a strategy learned is a fold over lessons (`clew.engine.learning`), so folding them again gives it back
to the last count, together with all it remembers of candidates and what these are worth. Pages are made anew
from the archive, by the function that made them at first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from clew import url as urls
from clew.engine import Crawl
from clew.engine.learner import Learner
from clew.engine.learning import Lesson
from clew.engine.refold import Refold
from clew.errors import ParseError, StoreForeign
from clew.fetch.base import Response
from clew.frontier.admission import Admitted
from clew.frontier.expander import Numbered
from clew.messages import Decision, Journal, State, TaskKind
from clew.page import Links, Page
from clew.parse.directives import hidden
from clew.predicate.verdict import Verdict
from clew.run import checkpoint
from clew.run.parsing import Reading, to_page, to_sitemap
from clew.store.base import Reader
from clew.strategy.base import Strategy

#: Results of a decision about a page that was judged.
JUDGED = frozenset({"match", "miss", "duplicate", "noindex"})

#: What a candidate is whose fetch gave nothing. One that was reopened since will teach when it is settled.
_GIVEN_UP = frozenset({int(State.FAILED), int(State.DROPPED)})

Archive = Callable[[str], Response | None]
"""Finds the archived reply of a URL."""


def foresee(crawl: Crawl, store: Reader, *, before: int | None = None) -> list[Journal]:
    """Let an engine that has done nothing yet begin with what it was remade for last; gives what is to be
    repeated, each at its place. `before` is a decision to stop short of. Call before it is restored."""
    return crawl.foresee([entry for entry in store.journal() if before is None or entry.after < before])


def relearn(
    crawl: Crawl,
    store: Reader,
    archive: Archive,
    *,
    before: int | None = None,
    commanded: Iterable[Journal] = (),
) -> int:
    """Teach the strategy what the crawl saw before; gives how many outcomes there were.

    `before` is a decision to stop short of; `commanded` is what `foresee` gave. Call after the engine was
    restored.
    """
    count = 0
    steps = relearning(crawl, store, archive, before=before, commanded=commanded)
    for count, _ in steps:  # noqa: B007 - the last is the answer
        pass
    return count


def relearning(
    crawl: Crawl,
    store: Reader,
    archive: Archive,
    *,
    before: int | None = None,
    go_on: bool = False,
    commanded: Iterable[Journal] = (),
) -> Iterator[tuple[int, int]]:
    """`relearn` step by step: gives after each batch how many outcomes there were so far, and its decision.

    What was commanded is repeated at its place; for a strategy that need not learn again, that is all. To
    `go_on` is to begin with the last checkpoint, if there is one (`clew.run.checkpoint.take_up`).
    """
    relearns = crawl.strategy.capabilities.relearns
    commanded = deque(commanded)
    after = checkpoint.take_up(crawl, store) if relearns and go_on else -1
    known = crawl.strategy.knowledge
    count = int(known.pages) if after >= 0 and known is not None else 0
    for batch in batches(store.decisions(after) if relearns else ()):
        if before is not None and batch[0].seq >= before:
            crawl.learner.end_again()
            return
        while commanded and commanded[0].after < batch[0].seq:
            entry = commanded.popleft()
            crawl.repeat(entry, taught=entry.after >= after)
        kept = [decision for decision in batch if before is None or decision.seq < before]
        pages = 0
        for taught in lessons(crawl, store, archive, kept, crawl.learner):
            crawl.learner.teach_again(taught)
            pages += sum(not lesson.met for lesson in taught)
        if pages:
            count += pages
            yield count, kept[-1].seq
    for entry in commanded:
        crawl.repeat(entry, taught=entry.after >= after)
    crawl.learner.end_again()


def resume_tunnelling(crawl: Crawl, store: Reader, archive: Archive | None) -> None:
    """Let tunnelling count on where it stood: the pages of the session under way are made once more."""
    if crawl.tunnelling is None:
        return
    open_session = crawl.tally.pages % crawl.tunnelling.rules.session
    judged: deque[Decision] = deque(maxlen=open_session)
    if open_session and archive is not None:
        since = crawl.learner.learning.since
        judged.extend(d for d in store.decisions() if d.result in JUDGED and d.seq > since)
    crawl.tunnelling.resume(
        store.journal(),
        (
            _page(crawl, crawl.strategy, decision, archive, int(crawl.frontier.depths[decision.candidate]))
            for decision in judged
            if archive is not None
        ),
    )


def refolding(
    crawl: Crawl, store: Reader, archive: Archive, refold: Refold, after: int = -1
) -> Iterator[int]:
    """Teach another strategy all that the crawl has seen by now, or since a decision; gives, after each batch
    of decisions, the number of its last. What is decided while it goes on is left out: the archive, as it was
    opened, may not have the replies."""
    return _refolding(crawl, store, archive, refold, after, crawl.tracer.count)


def _refolding(
    crawl: Crawl, store: Reader, archive: Archive, refold: Refold, after: int, last: int
) -> Iterator[int]:
    for batch in batches(store.decisions(after)):
        if batch[0].seq > last:
            return
        for taught in lessons(crawl, store, archive, batch, refold):
            refold.teach(taught)
        yield batch[-1].seq


def batches(decisions: Iterable[Decision]) -> Iterator[list[Decision]]:
    """Decisions, those together that were settled in one batch."""
    batch: list[Decision] = []
    for decision in decisions:
        if batch and not decision.joined:
            yield batch
            batch = []
        batch.append(decision)
    if batch:
        yield batch


def lessons(
    crawl: Crawl,
    store: Reader,
    archive: Archive,
    batch: Sequence[Decision],
    learner: Learner | Refold,
) -> Iterator[list[Lesson]]:
    """What a batch teaches a strategy that has this focus; it has been taught what came before. First come
    its pages, which were learned from together, then what was introduced by each."""
    each = [_lessons(crawl, store, archive, decision, learner) for decision in batch]
    if pages := [lesson for lesson in map(next, each) if lesson is not None]:
        yield pages
    for rest in each:
        for lesson in rest:
            assert lesson is not None  # only the first may be missing
            yield [lesson]
    last = [d.candidate for d in batch if d.kind == TaskKind.PAGE and d.candidate >= 0][-1:]
    if last and learner.strategy.capabilities.offers:
        yield from _offered(crawl, learner.strategy, last[0])


def _lessons(
    crawl: Crawl, store: Reader, archive: Archive, decision: Decision, learner: Learner | Refold
) -> Iterator[Lesson | None]:
    """The outcome of a decision, if it was one that teaches; then what it introduced."""
    learning = learner.learning
    if decision.kind != TaskKind.PAGE or decision.candidate < 0:
        yield None
        if decision.kind == TaskKind.SITEMAP and decision.new:
            yield from _listed(crawl, learner.met, decision, archive)
        return
    if decision.candidate >= crawl.frontier.count:
        raise StoreForeign(f"decision {decision.seq} is about a candidate that there is not: it is damaged")
    depth = int(crawl.frontier.depths[decision.candidate])
    if decision.result in JUDGED:
        page = _page(crawl, learning.strategy, decision, archive, depth)
        admitted, numbered = _let_in(crawl, store, decision.candidate, page, depth)
        learner.note_page(
            decision.candidate, page, shown=not hidden(page.robots, crawl.rules.politeness.agent)
        )
        known = Verdict(decision.verdict, decision.result != "miss")
        # A refold may judge by something else than the crawl does.
        judged = learning.predicate is crawl.predicate and decision.seq > crawl.learner.learning.since
        verdict = learning.sought(page, known if judged else None)
        yield Lesson.judged(decision.candidate, page, verdict, depth, admitted, numbered)
        for target in (page.refresh, page.canonical):
            yield from _followed(crawl, learner, decision, target, depth)
    elif decision.result == "redirect":
        yield None
        target = "" if decision.dropped else decision.reasons[0]
        yield from _followed(crawl, learner, decision, target, depth)
    elif (
        decision.result not in ("retry", "seed-list")
        and crawl.frontier.states[decision.candidate] in _GIVEN_UP
    ):
        yield Lesson.missed(decision.candidate, decision.url, decision.status, depth)
    else:
        yield None


def _let_in(crawl: Crawl, store: Reader, candidate: int, page: Page, depth: int) -> tuple[Admitted, Numbered]:
    """The links of a page that were let in at the time. Others may have become candidates since, by other
    pages' links; they are not this page's."""
    admitted = crawl.admission.admit(page, depth + 1)
    frontier, ids = crawl.frontier, admitted.ids
    foreign = np.array([bool(host) and not crawl.expander.owns(host) for host in admitted.hosts], np.bool_)
    kept = np.isin(ids, store.outlinks(candidate)) | foreign
    if not kept.all():
        rows = kept.nonzero()[0].tolist()
        admitted = Admitted(
            links=admitted.links.pick(rows),
            keys=admitted.keys[kept],
            ids=ids[kept],
            hosts=tuple([admitted.hosts[i] for i in rows]),
            dropped=admitted.dropped,
        )
        ids = admitted.ids
    # A link was new on the page that is recorded as the one it was found on.
    fresh = (ids >= 0) & (frontier.sources[ids] == candidate)
    return admitted, Numbered(ids=ids, fresh=fresh, owned=ids >= 0)


def _followed(
    crawl: Crawl, learner: Learner | Refold, decision: Decision, target: str, depth: int
) -> Iterator[Lesson]:
    """What a redirect, a refresh or a canonical link led to, if it was new there. A strategy that does not
    know its candidates has those raised that were known."""
    if not target or target == decision.url:
        return
    keys = urls.keys((target,))
    ids = crawl.frontier.find(keys)
    if ids[0] >= learner.met and crawl.frontier.sources[ids[0]] == decision.candidate:
        links = Links(decision.url, (target,), *[("",)] * 4)
        yield Lesson.introduced(decision.candidate, depth, links, keys, ids)
    elif (
        ids[0] >= 0
        and not learner.strategy.capabilities.meets
        and crawl.admission.check(target, depth, decision.url) is None
    ):
        links = Links(decision.url, (target,), *[("",)] * 4)
        yield Lesson.introduced(decision.candidate, depth, links, keys, ids, np.zeros(1, np.bool_))


def _offered(crawl: Crawl, strategy: Strategy, candidate: int) -> Iterator[list[Lesson]]:
    """What was taken in at the end of a batch without a link to it: whatever else came with the batch is
    known by now, and numbers follow each other."""
    strategy.offers()
    frontier, first = crawl.frontier, strategy.met
    while first < frontier.count and frontier.sources[first] < 0:
        first += 1
    last = first
    while last < frontier.count and frontier.sources[last] == candidate:
        last += 1
    if first < last:
        targets = [crawl.url_of(number) for number in range(first, last)]
        yield [Lesson.offered(targets, np.arange(first, last))]


def _listed(crawl: Crawl, met: int, decision: Decision, archive: Archive) -> Iterator[Lesson]:
    """What was taken of a sitemap. It may list more, which was passed over, and came by another one later."""
    response = archive(decision.url)
    if response is None:
        return
    try:
        found = to_sitemap(response)
    except ParseError:
        return
    frontier, keys = crawl.frontier, urls.keys(found.urls)
    ids = frontier.find(keys)
    # A seed has no source either; but it lies at the beginning, and what a sitemap lists one step from it.
    taken = (ids >= met) & (frontier.sources[ids] == -1) & (frontier.depths[ids] == 1)
    rows = [i for i in np.argsort(ids, kind="stable").tolist() if taken[i]][: decision.new]
    if rows:
        blank = ("",) * len(found.urls)
        links = Links(found.url, found.urls, found.titles, blank, blank, blank).pick(rows)
        yield Lesson.introduced(-1, 0, links, keys[rows], ids[rows])


def _page(crawl: Crawl, strategy: Strategy, decision: Decision, archive: Archive, depth: int) -> Page:
    """The page as it was judged: made of the archived reply by the function that made it then."""
    response = archive(decision.url)
    try:
        if response is not None:
            return to_page(response, depth, Reading.of(crawl.rules, strategy))
    except ParseError:
        pass
    return Page(url=decision.url, status=decision.status, depth=depth)
