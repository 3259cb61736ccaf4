"""Taking a crawl up again: a store's `Snapshot` put back into a fresh engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.engine import Crawl
from clew.errors import StoreForeign
from clew.frontier.audit import audited
from clew.frontier.robots import unavailable
from clew.messages import State
from clew.store.base import Snapshot
from clew.store.faults import UNDECODABLE
from clew.strategy.base import finite


def restore(crawl: Crawl, saved: Snapshot, now: float) -> None:
    """Put a snapshot into an engine that has done nothing yet.

    Hosts rest for their delay before the first request, whatever was under way when the crawl stopped, and
    so do the addresses they live at and the hosts never heard of; a rest that was asked for (Retry-After) is
    kept, and no clock that ran ahead can make it longer than what was asked for. A crawl that ended without
    a single page has nothing to go on with but what could not be reached: that is tried again.
    """
    try:
        _restore(crawl, saved, now)
    except UNDECODABLE as error:
        raise StoreForeign(
            f"what was stored of the crawl is damaged ({str(error)[:200]}): restore the directory from a copy"
        ) from error


def _restore(crawl: Crawl, saved: Snapshot, now: float) -> None:
    fruitless = not saved.pages and _only_parked(saved)
    states = _reopened(saved.states) if fruitless else saved.states
    # A request may have been under way to a host or an address of which nothing was saved yet.
    crawl.hosts.not_before = now + crawl.rules.politeness.delay
    numbers = crawl.hosts.numbers(saved.host_names)
    crawl.frontier.add(
        saved.keys,
        numbers[saved.hosts] if len(saved.hosts) else np.zeros(0, np.int64),
        saved.depths.astype(np.int64),
        saved.sources,
        _terms(crawl, saved),
        states,
        np.zeros_like(saved.attempts) if fruitless else saved.attempts,
    )
    _restore_hosts(crawl, saved, now, forgive=fruitless)
    for number, sketch in saved.sketches.items():
        crawl.duplicates.add(number, 0, sketch)
    for digest, number in saved.digests.items():
        crawl.duplicates.add(number, digest, b"")
    crawl.duplicates.copies.update(saved.copies)
    tally = crawl.tally
    tally.recall(
        [candidate in saved.matched for candidate in saved.scores],
        [saved.interests.get(candidate, ()) for candidate in saved.scores],
    )
    tally.requests, tally.wire, tally.elapsed = saved.requests, saved.wire, saved.elapsed
    tally.failed = int((states == State.FAILED).sum())
    crawl.leaser.tasks, crawl.tracer.count = saved.tasks, saved.decisions
    if saved.learned:
        crawl.strategy.restore(saved.learned)
    crawl.hosts.touch_all(np.unique(crawl.frontier.hosts[: crawl.frontier.count]))


def _only_parked(saved: Snapshot) -> bool:
    """Whether all that is queued, if anything, waits for a robots.txt that could not be had."""
    queued = np.unique(saved.hosts[saved.states == State.QUEUED]).tolist()
    shut = {row.host for row in saved.host_states if any(unavailable(known[1]) for known in row.robots or ())}
    return all(saved.host_names[number] in shut for number in queued)


def _terms(crawl: Crawl, saved: Snapshot) -> NDArray[np.float64]:
    """The contributions to the candidates' scores, as stored.

    A strategy that learns again works them out anew, but for the seeds'. So it takes up a crawl of other
    columns too: one of an older clew, which had fewer factors.
    """
    count, width = len(saved.keys), len(crawl.strategy.parts)
    if saved.terms.size == count * width:
        return finite(saved.terms.reshape(count, width))
    # None are kept just after a steered crawl began to learn by another strategy.
    if saved.terms.size and not crawl.strategy.capabilities.relearns:
        raise StoreForeign(
            f"the crawl was made with a strategy of {saved.terms.shape[1]} contributions, "
            f"{crawl.strategy.name!r} has {width}: resume with the strategy it began with"
        )
    terms = np.zeros((count, width))
    seeds = (saved.sources < 0) & (saved.depths == 0)
    terms[seeds] = crawl.strategy.seeds(saved.keys[seeds])
    return terms


def _reopened(states: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What failed or was left out, queued again."""
    closed = (states == State.FAILED) | (states == State.DROPPED)
    return np.where(closed, State.QUEUED, states).astype(np.uint8)


def _restore_hosts(crawl: Crawl, saved: Snapshot, now: float, *, forgive: bool) -> None:
    """Hosts as they were; to `forgive` is to ask for robots.txt anew, and also where a host was given up."""
    politeness = crawl.rules.politeness
    for row in saved.host_states:
        host = crawl.hosts[crawl.hosts.number(row.host)]
        addresses = host.recall(row)
        crawl.sitemaps.restore(host, host.notes.get("sitemaps"))
        crawl.waste_guard.traps.restore(host.name, host.notes.get("traps"))
        crawl.waste_guard.empty_pages.restore(host.name, host.notes.get("blanks"))
        mirrored = host.notes.get("mirrors")
        for origin, known in mirrored.items() if isinstance(mirrored, dict) else ():
            crawl.waste_guard.mirrors.restore(str(origin), known)
        checked, best = audited(host)
        crawl.tally.audits += checked
        crawl.tally.best += best
        host.excluded = host.excluded and not forgive
        for origin, status, at, body in () if forgive else row.robots or ():
            crawl.robots_gate.learn(host, origin, status, min(at, now), body)
        asked = min(row.next_at, now + host.longest_rest(politeness))
        rest = now + host.pause(politeness) if row.requests or not host.own else asked
        host.next_at = max(asked, rest)
        for address in addresses:
            crawl.hosts.meet(host, address)
        for shared in host.addresses:
            shared.next_at = max(shared.next_at, now + host.pause(politeness))
        host.unsaved = False
        crawl.hosts.answers += host.answered
        if host.excluded:
            crawl.leaser.give_up(host)
