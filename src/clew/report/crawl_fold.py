"""`CrawlFold`: the picture of a crawl, folded from its trace line by line.

The dashboard and `report.html` draw the same curves from it. A fold is given each line once, keeps a bounded
number of points whatever the length of the crawl, and never looks back.
"""

from __future__ import annotations

import heapq
import json
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from clew.messages import Decision
from clew.policy.recall import RecallEstimate
from clew.run.exploration import PUT_FIRST, ExplorationFold
from clew.url import host as host_of

#: Results of a decision that mean a page was fetched and judged.
PAGE_RESULTS = frozenset({"match", "miss", "duplicate", "noindex"})
#: Kinds of decision that stand for a request.
_ASKED = frozenset({"page", "robots", "sitemap"})
#: Points of the curve, and stretches over which contributions are averaged, at most.
MAX_POINTS, MAX_STRETCHES = 512, 48
#: Decisions, failures and changes that are kept to be shown.
_RECENT, _FAILURES, _MARKS = 60, 40, 200
#: Strategies that choose without regard to what links are worth: there is nothing to compare with chance.
BLIND = frozenset({"breadth-first", "random"})
#: Links that a contribution moved most, kept of each, for and against.
_MOVED = 12
#: Pages over which the pace is measured.
_PACE = 60

Curve = tuple[tuple[int, int], ...]


class ThinnedCurve:
    """(pages, finds) after each page, thinned to at most `MAX_POINTS` points, the last always told; and the
    links that waited then.

    >>> curve = ThinnedCurve()
    >>> for found in (True, False, True): curve.add(found)
    >>> curve.points
    ((0, 0), (1, 1), (2, 1), (3, 2))
    """

    def __init__(self) -> None:
        self.pages = 0
        self.finds = 0
        self.waiting = 0
        self._kept: list[tuple[int, int, int]] = [(0, 0, 0)]
        self._step = 1

    def add(self, found: bool, waiting: int = 0) -> None:
        """One more page."""
        self.pages += 1
        self.finds += found
        self.waiting = waiting
        if self.pages % self._step == 0:
            self._kept.append((self.pages, self.finds, waiting))
        if len(self._kept) >= MAX_POINTS:
            # halve: every point that remains is a multiple of the new step
            self._step *= 2
            self._kept = [point for point in self._kept if point[0] % self._step == 0]

    def shift(self, page: int, finds: int) -> None:
        """There are so many finds more, or fewer, from behind a page on: pages were judged anew there."""
        self.finds += finds
        self._kept = [
            (pages, found + finds if pages > page else found, waiting) for pages, found, waiting in self._kept
        ]

    def _told(self) -> list[tuple[int, int, int]]:
        last = (self.pages, self.finds, self.waiting)
        return self._kept if self._kept[-1] == last else [*self._kept, last]

    @property
    def points(self) -> Curve:
        """The curve as it is now."""
        return tuple((pages, finds) for pages, finds, _ in self._told())

    @property
    def queue(self) -> Curve:
        """(pages, links that waited), at the same places."""
        return tuple((pages, waiting) for pages, _, waiting in self._told())


class InterestFinds:
    """The finds of several interests, by name, with the pages at which they came.

    >>> found = InterestFinds()
    >>> found.add(2, candidate=7, names=("wind", "solar"))
    >>> found.add(5, candidate=9, names=("wind",))
    >>> found.curve("wind", [0, 2, 4, 6])
    [0, 1, 1, 2]
    """

    def __init__(self) -> None:
        self._pages: dict[str, list[int]] = {}
        self._finds: dict[str, set[int]] = {}

    def add(self, page: int, candidate: int, names: Iterable[str]) -> None:
        """The page fetched as that number satisfies these."""
        for name in names:
            self._pages.setdefault(name, []).append(page)
            self._finds.setdefault(name, set()).add(candidate)

    def curve(self, name: str, pages: Iterable[int]) -> list[int]:
        """Finds of one after so many pages."""
        found = self._pages.get(name, [])
        return [bisect_right(found, page) for page in pages]

    def finds_of(self, name: str) -> Set[int]:
        """The candidates that satisfy one."""
        return self._finds.get(name, set())


def chance_curve(queue: Curve, looks: Sequence[RecallEstimate]) -> list[float]:
    """The finds that a choice at random, among all links that were known at the time, would have brought:
    one number for each point of a curve. Empty where how much is left was never estimated.

    A link that waits has not been judged. So the share of finds among the known ones, fetched and waiting, is
    taken from the looks at recall: what was found, and what was thought to be left and in sight. These links
    were found by a crawl that knew where to look: one that did not would know worse ones.

    >>> look = RecallEstimate(fetched=20, pages=20, finds=8, left=(0, 4, 8), unseen=0.5)
    >>> chance_curve(((0, 0), (20, 30), (40, 30)), [look])
    [0.0, 4.0, 8.0]
    """
    if not looks:
        return []
    rates = [_share(look, queue) for look in looks]
    found, total, at = [0.0], 0.0, 0
    for (before, _), (pages, _) in pairwise(queue):
        while at + 1 < len(looks) and looks[at + 1].pages <= pages:
            at += 1
        total += (pages - before) * rates[at]
        found.append(total)
    return found


def _share(look: RecallEstimate, queue: Curve) -> float:
    """Of the links that were known at a look, the share that are finds."""
    place = max(0, bisect_right(queue, look.pages, key=lambda point: point[0]) - 1)
    known = look.fetched + queue[place][1]
    return min(1.0, (look.finds + look.left[1] * (1.0 - look.unseen)) / max(1, known))


class Stretches:
    """Mean contributions along a crawl, over equal stretches of pages, of which there are never many.

    Parameters: how many contributions a score has.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.step = 1
        self._sums: list[list[float]] = []
        self._counts: list[int] = []
        self._taken = 0

    def add(self, terms: Sequence[float]) -> None:
        """The contributions to the score of the next page."""
        at = self._taken // self.step
        self._taken += 1
        if at == len(self._sums):
            self._sums.append([0.0] * self.width)
            self._counts.append(0)
        row = self._sums[at]
        for column, value in enumerate(terms):
            row[column] += value
        self._counts[at] += 1
        if len(self._sums) > MAX_STRETCHES:
            self._halve()

    def widen(self, width: int) -> None:
        """Scores have more contributions from now on, behind those they had."""
        for row in self._sums:
            row += [0.0] * (width - self.width)
        self.width = width

    def _halve(self) -> None:
        self.step *= 2
        pairs = range(0, len(self._sums), 2)
        self._counts = [sum(self._counts[at : at + 2]) for at in pairs]
        self._sums = [[sum(c) for c in zip(*self._sums[at : at + 2], strict=True)] for at in pairs]

    @property
    def rows(self) -> list[tuple[int, tuple[float, ...]]]:
        """(pages at the end of a stretch, mean contributions over it). The last one is that of the pages
        before it too until it is half as long as the others: the mean of one or two pages says little."""
        sums, counts = self._sums, self._counts
        if len(sums) > 1 and 2 * counts[-1] < self.step:
            sums = [*sums[:-2], [a + b for a, b in zip(sums[-2], sums[-1], strict=True)]]
            counts = [*counts[:-2], counts[-2] + counts[-1]]
        ends = [(at + 1) * self.step for at in range(len(sums) - 1)] + [self._taken] * bool(sums)
        return [
            (end, tuple(value / count for value in row))
            for end, row, count in zip(ends, sums, counts, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A change of the crawl, at its place on the curve."""

    page: int
    seq: int
    at: float
    name: str
    text: str
    """In words."""
    entry: Mapping[str, Any]
    """As the journal has it."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A find as the trace tells it: its candidate's number, its degree, its address."""

    candidate: int
    degree: float
    url: str


@dataclass(slots=True)
class HostTally:
    """What came of asking one host."""

    requests: int = 0
    pages: int = 0
    finds: int = 0
    failures: int = 0
    tried: int = 0
    """Candidates of it that were leased and are closed."""


@dataclass(slots=True)
class SessionSpan:
    """The first and the last decision of one session, by the clock."""

    first: float
    last: float


@dataclass(slots=True)
class Moved:
    """The links that one contribution moved most, for and against."""

    up: list[tuple[float, int, str, str]] = field(default_factory=list)
    down: list[tuple[float, int, str, str]] = field(default_factory=list)

    def add(self, value: float, decision: Decision) -> None:
        """Take a chosen link in, if it was moved far enough."""
        heap = self.up if value > 0 else self.down
        entry = (abs(value), decision.seq, decision.url, decision.result)
        if len(heap) < _MOVED:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)


class CrawlFold:
    """Everything about a crawl that its trace tells.

    Parameters: the names of the contributions to a score, in the order of its terms; the strategy that they
    are of.
    """

    def __init__(self, names: Sequence[str] = (), strategy: str = "") -> None:
        self.names = tuple(names)
        """Of all contributions there ever were."""
        self._called = self.names
        self._columns = list(range(len(self.names)))
        """Which of these the terms of a score are now."""
        self.after = 0
        """The last decision taken in."""
        self.turns: Counter[str] = Counter()
        """Requests for pages by the interest whose turn it was to choose, where there are several; start
        pages are nobody's choice."""
        self.curve = ThinnedCurve()
        self.stretches = Stretches(len(self.names))
        self.exploration = ExplorationFold(strategy, names)
        self.moved = [Moved() for _ in self.names]
        self.marks: deque[Mark] = deque(maxlen=_MARKS)
        self.recent: deque[tuple[Decision, tuple[str, ...]]] = deque(maxlen=_RECENT)
        """Decisions about pages, and what the contributions to their scores are called."""
        self.failures: deque[Decision] = deque(maxlen=_FAILURES)
        self.hosts: dict[str, HostTally] = {}
        self.finds: list[FoundPage] = []
        """In the order found."""
        self.results: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        """Links and candidates left out, by reason."""
        self.rejudged_at: int | None = None
        """The page at which finds were last judged anew, until `rejudge` is told what came of it."""
        self.commands: list[str] = []
        """As the journal has them."""
        self.requests = 0
        self.queue = 0
        self.stopped = ""
        self.sessions: dict[int, SessionSpan] = {}
        self._times: deque[float] = deque(maxlen=_PACE)

    def take(self, session: int, decision: Decision) -> None:
        """The next line of the trace."""
        self.after = decision.seq
        self.queue = decision.queue
        self._clock(session, decision.at)
        self.exploration.take(decision)
        for reason, count in decision.dropped:
            self.reasons[reason] += count
        if decision.kind == "command":
            self._mark(decision)
        elif decision.kind == "stop":
            self.stopped = decision.result
        elif decision.kind == "drop":
            self.reasons[decision.result] += 1
            self._host(decision.url).tried += 1
        elif decision.kind in _ASKED:
            self._asked(decision)

    def _clock(self, session: int, at: float) -> None:
        span = self.sessions.get(session)
        if span is None:
            self.sessions[session] = SessionSpan(at, at)
            self._times.clear()
        else:
            span.last = max(span.last, at)

    def _mark(self, decision: Decision) -> None:
        entry = _entry(decision)
        if entry:
            self.commands.append(decision.reasons[0])
        if isinstance(columns := entry.get("columns"), list):
            self._rename([str(name) for name in columns])
        if entry.get("command") in ("set-match", "feedback", "retaught"):
            self.rejudged_at = self.curve.pages
        text = in_words(entry) if entry else "; ".join(decision.reasons) or decision.url
        self.marks.append(
            Mark(
                page=self.curve.pages,
                seq=decision.seq,
                at=decision.at,
                name=decision.result,
                text=text[:500],
                entry=entry,
            )
        )

    def _rename(self, columns: Sequence[str]) -> None:
        """Scores are made of other contributions from now on."""
        new = [name for name in dict.fromkeys(columns) if name not in self.names]
        self.names += tuple(new)
        self.stretches.widen(len(self.names))
        self.moved += [Moved() for _ in new]
        self._called = tuple(columns)
        self._columns = [self.names.index(name) for name in columns]

    def rejudge(self, finds: Iterable[FoundPage]) -> None:
        """What the finds are, after pages were judged anew."""
        self.finds = list(finds)
        self.curve.shift(self.rejudged_at or 0, len(self.finds) - self.curve.finds)
        self.rejudged_at = None

    def _asked(self, decision: Decision) -> None:
        self.requests += 1
        host = self._host(decision.url)
        host.requests += 1
        if decision.result in ("failed", "parked", "retry"):
            host.failures += 1
            self.failures.append(decision)
        if decision.kind != "page":
            return
        self.results[decision.result] += 1
        self.recent.append((decision, self._called))
        if chooser := self._chooser(decision):
            self.turns[chooser] += 1
        if decision.result != "retry":
            host.tried += 1
        if decision.result in PAGE_RESULTS:
            self._page(decision, host)

    def _chooser(self, decision: Decision) -> str:
        """The interest that a link was chosen for: its contributions are called after it."""
        if (
            len(decision.terms) != len(self._called)
            or max(map(abs, decision.terms), default=0.0) >= PUT_FIRST
        ):
            return ""
        told = zip(self._called, decision.terms, strict=True)
        return next((name.partition(".")[0] for name, value in told if value and "." in name), "")

    def _page(self, decision: Decision, host: HostTally) -> None:
        found = decision.result == "match"
        self.curve.add(found, decision.queue)
        host.pages += 1
        host.finds += found
        self._times.append(decision.at)
        if found:
            self.finds.append(FoundPage(decision.candidate, decision.verdict, decision.url))
        told = len(decision.terms) == len(self._columns)
        if told and self.names and max(map(abs, decision.terms), default=0.0) < PUT_FIRST:
            row = [0.0] * len(self.names)
            for at, value in zip(self._columns, decision.terms, strict=True):
                row[at] = value
                if value:
                    self.moved[at].add(value, decision)
            self.stretches.add(row)

    def _host(self, url: str) -> HostTally:
        try:
            name = host_of(url)
        except ValueError:  # no address, in the trace of a stranger
            name = ""
        known = self.hosts.get(name)
        if known is None:
            known = self.hosts[name] = HostTally()
        return known

    def shares(self, names: Iterable[str]) -> dict[str, float]:
        """The part of each of some interests in the requests for pages; empty where nobody chose any."""
        turns = {name: self.turns[name] for name in names}
        total = sum(turns.values())
        return {name: count / total for name, count in turns.items()} if total else {}

    @property
    def elapsed(self) -> float:
        """Seconds of crawling, over all sessions."""
        return sum(span.last - span.first for span in self.sessions.values())

    def pace(self, now: float | None = None) -> float:
        """Pages a second, over the last `_PACE` of them; `now` ends the stretch, for a crawl under way."""
        if len(self._times) < 2:
            return 0.0
        end = self._times[-1] if now is None else max(now, self._times[-1])
        span = end - self._times[0]
        return (len(self._times) - 1) / span if span > 0 else 0.0

    def busiest(self, count: int) -> list[tuple[str, HostTally]]:
        """The hosts that were asked most."""
        return heapq.nsmallest(count, self.hosts.items(), key=lambda item: (-item[1].requests, item[0]))


def fold_trace(decisions: Iterable[Decision], names: Sequence[str] = (), strategy: str = "") -> CrawlFold:
    """A fold of a whole trace, for a reader that does not tell sessions."""
    fold = CrawlFold(names, strategy)
    for decision in decisions:
        fold.take(0, decision)
    return fold


def _entry(decision: Decision) -> dict[str, Any]:
    """The command that a line of the trace tells of, as the journal has it; empty where that cannot be
    read."""
    try:
        found = json.loads(decision.reasons[0]) if decision.reasons else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


#: What stands in an entry of the journal beside what was commanded.
_ASIDE = ("command", "instead_of", "refold", "columns", "request")


def in_words(entry: Mapping[str, Any]) -> str:
    """A command for people.

    >>> in_words({"command": "ban-host", "host": "a.example"})
    'host a.example banned'
    """
    match entry:
        case {"command": "ban-host", "host": host}:
            return f"host {host} banned"
        case {"command": "set-focus", "formula": formula}:
            return f"sought from here on: {formula}"
        case {"command": "set-match", "formula": formula}:
            return f"looks for: {formula}"
        case {"command": "set-strategy", "strategy": strategy}:
            return f"strategy: {strategy}"
        case {"command": "set-boost", "pattern": pattern, "factor": int() | float() as factor}:
            return f"{pattern} is worth {factor:g} times as much"
        case {"command": "set-paused", "paused": paused}:
            return "paused" if paused else "resumed"
        case {"command": "feedback", "url": url, "satisfied": satisfied}:
            return f"{'a find' if satisfied else 'no find'}, as somebody says: {url}"
        case {"command": "retaught"}:
            return "all pages are judged and learned from by that"
        case {"command": "set-weights", "weights": dict(weights)}:
            return "weights: " + (", ".join(f"{name}={value:g}" for name, value in weights.items()) or "none")
        case {"command": "set-budget", "budget": dict(budget)}:
            limits = [f"{name} {value}" for name, value in budget.items() if value not in (None, "", False)]
            return "budget: " + (", ".join(limits) or "no limit")
    rest = [f"{name} {value}" for name, value in entry.items() if name not in _ASIDE]
    return ": ".join(filter(None, (str(entry.get("command", "")), ", ".join(rest))))
