"""`RecallEstimator`: how much of what a crawl seeks it has found, as an interval.

What is left cannot be counted, only judged by how finding goes. Three things are gone by, all of them from
the crawl's own outcomes and none of them a matter of size:

- *clusters*: finds that one page was the first to link to came by a list, and end when the list does. So
  finds are counted by lists: their effective number (Simpson's index of diversity, inverted), which is the
  number of finds where each came by a page of its own, and 1 where all came by one;
- *what waits*: candidates for each page fetched. So many clusters on so many pages foretell as many for as
  many again;
- *slowing*: the share of finds among the last fifth of the fetches, the newest weighing most, by the share
  among all.

One is added to each count: what was not met may yet be. The product, the slowing to a power, times a factor,
is the middle of what is left; how far off that is has a logistic distribution. The power, the factor and the
width are three constants (`RecallModel`), fitted over recorded webs; see docs/recall.md. A lull between
clusters and the end are alike to a rate; what tells them apart is whether finds come by lists. The interval
is the shortest that has recall with the chance that is claimed.

What is left is then split by sight: the share of the last finds that no page had linked to when the last
quarter began is the share of those to come that no page links to yet. That is Good's and Turing's estimate of
what is unseen, taken over time. (Chao's, of how many finds have one and how many have two links, misleads: on
sites with an index every page has one.)

What nothing leads to is in none of this. Recall is the share of what can be reached by links from the seeds.
"""

from __future__ import annotations

import json
import math
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.errors import StoreForeign
from clew.learn.share import LEVEL, NORMAL, wilson
from clew.messages import Decision, Journal, TaskKind

FEWEST_FINDS = 5
"""Finds there must be before anything is said."""
FEWEST_FETCHES = 20
"""Fetches there must be."""

_WINDOW, _LEAST_WINDOW = 0.2, 25
"""The share of the fetches that the present rate is taken of, and the least number of them."""
_QUARTER, _LEAST_QUARTER = 0.25, 20
"""The share that says what is in sight, and the least number."""

#: Results of a task for a page that leave its candidate open.
_OPEN = frozenset({"retry", "seed-list"})
#: Results of a page that was judged.
_JUDGED = frozenset({"match", "miss", "duplicate", "noindex"})
_PREFIX = '{"recall":'


def _logit(share: float) -> float:
    """The log odds, rounded: the last bits are a C library's. Of 0 and 1 they are far away."""
    return (
        round(native.log_of(share / (1 - share)), 6) if 0 < share < 1 else math.copysign(100.0, share - 0.5)
    )


_PARTS = 20
"""Intervals of the claimed chance that are tried: from one that leaves out nothing above to nothing below."""
_WIDE = 0.95
"""The chance that intervals are worked out for, so that they hold with `LEVEL` on a web that had no say in
the constants: of 0.9, 0.925, 0.95 and 0.97 the least with which, each web by the others' constants, they
did."""
_BELOW = np.array([_logit((1 - _WIDE) * part / _PARTS) for part in range(_PARTS + 1)])
_ABOVE = np.array([_logit(_WIDE + (1 - _WIDE) * part / _PARTS) for part in range(_PARTS + 1)])


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallEstimate:
    """How many finds are left, as it looked after so many fetches; recall follows.

    >>> look = RecallEstimate(fetched=200, pages=190, finds=80, left=(4, 10, 20), unseen=0.25)
    >>> look.low, round(look.middle, 2), round(look.high, 2)
    (0.8, 0.89, 0.95)
    """

    fetched: int
    """Requests for pages that came to an end, whichever; …"""
    pages: int
    """… and how many gave a page that was judged."""
    finds: int
    left: tuple[int, int, int]
    """The lower end, the middle and the upper end of what is left."""
    unseen: float
    """Of what is left, the share that no fetched page links to yet."""

    @property
    def low(self) -> float:
        """The lower end of the shortest interval that has recall in 9 of 10 crawls."""
        return self._share(self.left[2])

    @property
    def middle(self) -> float:
        """Recall is as often above this as below."""
        return self._share(self.left[1])

    @property
    def high(self) -> float:
        """The upper end of that interval."""
        return self._share(self.left[0])

    def _share(self, left: int) -> float:
        return self.finds / (self.finds + left)

    def as_dict(self) -> dict[str, object]:
        """The estimate as plain data."""
        return {
            "low": self.low,
            "middle": self.middle,
            "high": self.high,
            "level": LEVEL,
            "finds": self.finds,
            "pages": self.pages,
            "left": list(self.left),
            "unseen": self.unseen,
        }

    def dumps(self) -> str:
        """The estimate as an entry of the journal."""
        kept = [self.fetched, self.pages, self.finds, *self.left, round(self.unseen, 4)]
        return json.dumps({"recall": kept}, separators=(",", ":"))

    @staticmethod
    def loads(entry: str) -> RecallEstimate | None:
        """The opposite of `dumps`; None for an entry about something else."""
        if not entry.startswith(_PREFIX):
            return None
        try:
            fetched, pages, finds, least, middle, most, unseen = json.loads(entry)["recall"]
            counts = [int(value) for value in (fetched, pages, finds, least, middle, most)]
            if min(counts) < 0 or counts[2] < 1 or not 0.0 <= float(unseen) <= 1.0:
                raise ValueError("no such counts")
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise StoreForeign(
                f"an estimate of recall in the journal is damaged ({str(error)[:200]}): restore the "
                "directory from a copy"
            ) from error
        left = (counts[3], counts[4], counts[5])
        return RecallEstimate(
            fetched=counts[0], pages=counts[1], finds=counts[2], left=left, unseen=float(unseen)
        )


@dataclass(frozen=True, slots=True)
class RecallEvidence:
    """What an estimate goes by, as it was at a look."""

    finds: int
    waiting: int
    """Candidates that wait or are under way."""
    foreseen: float
    """For each find, what there would be to come if the waiting had as many clusters as the fetched, …"""
    slowing: float
    """… and the share of finds among the last fetches, by that among all."""


@dataclass(frozen=True, slots=True)
class RecallModel:
    """What is left by what was met: three constants, fitted over recorded webs (`bench/recall.py --fit`).

    >>> RecallModel().left(RecallEvidence(finds=100, waiting=1000, foreseen=0.2, slowing=0.1))
    (0, 1, 9)
    """

    slowing: float = 0.9
    """The power of the slowing."""
    shift: float = -0.75
    """How much less is left, as a logarithm, than that says in the middle, …"""
    spread: float = 0.7
    """… and the scale of its logistic distribution."""

    def left(self, evidence: RecallEvidence) -> tuple[int, int, int]:
        """How many finds are: the ends of the shortest interval of recall, and the middle between them."""
        middle = (
            native.log_of(evidence.foreseen) + self.slowing * native.log_of(evidence.slowing) + self.shift
        )
        most, least = native.exp(middle - self.spread * _BELOW), native.exp(middle - self.spread * _ABOVE)
        best = int(np.argmin(1 / (1 + least) - 1 / (1 + most)))
        ends = [float(least[best]), native.exp_of(middle), float(most[best])]
        low, half, high = [math.floor(min(end * evidence.finds, evidence.waiting) + 0.5) for end in ends]
        return low, half, high


_FITTED = RecallModel()


class RecallEstimator:
    """A fold over the trace, and a look at the frontier now and then.

    Parameters: what is left by what was met.

    >>> estimator = RecallEstimator()
    >>> estimator.estimate(0, np.zeros(0, np.int32)) is None  # nothing happened yet
    True
    """

    def __init__(self, model: RecallModel = _FITTED) -> None:
        self.model = model
        self.last: RecallEstimate | None = None
        """The last look; None while there is too little to say."""
        self.pages = 0
        self._candidates = array("l")
        self._finds = array("l")
        """Of each find, which fetch it was: 1 for the first."""
        self._due = FEWEST_FETCHES

    def __repr__(self) -> str:
        return f"RecallEstimator({self.last!r})"

    @property
    def fetched(self) -> int:
        """Requests for pages that came to an end."""
        return len(self._candidates)

    def record(self, decision: Decision) -> None:
        """Take in a line of the trace."""
        if decision.kind != TaskKind.PAGE or decision.candidate < 0 or decision.result in _OPEN:
            return
        self._candidates.append(decision.candidate)
        self.pages += decision.result in _JUDGED
        if decision.result == "match":
            self._finds.append(len(self._candidates))

    @property
    def due(self) -> bool:
        """Whether it is time for a look: after every twenty-fifth part more of the fetches. When that is
        depends on their number alone, so that a crawl that was stopped looks when it would have."""
        return self.fetched >= self._due

    def look(self, waiting: int, sources: NDArray[np.int32]) -> RecallEstimate | None:
        """Estimate, and keep it as the last look.

        Parameters: how many candidates wait or are under way; of every candidate, the number of the page it
        was found on.
        """
        self._pass(self.fetched)
        self.last = self.estimate(waiting, sources) or self.last
        return self.last

    def resume(self, entries: Iterable[Journal]) -> None:
        """Go on after a stop: `entries` are those of the journal; the trace was taken in."""
        found = [look for entry in entries if (look := RecallEstimate.loads(entry.entry)) is not None]
        self.last = found[-1] if found else None
        self._pass(self.fetched)

    def _pass(self, fetched: int) -> None:
        while self._due <= fetched:
            self._due += max(5, self._due // 25)

    # one look

    def evidence(self, waiting: int, sources: NDArray[np.int32]) -> RecallEvidence | None:
        """What there is to go by; None while it is too little."""
        finds, fetched = len(self._finds), self.fetched
        if finds < FEWEST_FINDS or fetched < FEWEST_FETCHES:
            return None
        foreseen = (self._clusters(sources) + 1) / finds * (waiting + 1) / fetched
        return RecallEvidence(finds, waiting, foreseen, self._slowing())

    def estimate(self, waiting: int, sources: NDArray[np.int32]) -> RecallEstimate | None:
        """What is left; None while there is too little to say."""
        evidence = self.evidence(waiting, sources)
        if evidence is None:
            return None
        return RecallEstimate(
            fetched=self.fetched,
            pages=self.pages,
            finds=evidence.finds,
            left=self.model.left(evidence),
            unseen=self._unseen(sources),
        )

    def _clusters(self, sources: NDArray[np.int32]) -> float:
        """The effective number of clusters of finds, by the pages that first linked to them (Simpson's index,
        inverted). One that no page linked to, such as a seed, is a cluster by itself."""
        pages = sources[[self._candidates[at - 1] for at in self._finds]]
        linked = pages[pages >= 0]
        sizes = np.unique(linked, return_counts=True)[1]
        return len(pages) ** 2 / (int((sizes * sizes).sum()) + len(pages) - len(linked))

    def _slowing(self) -> float:
        """The share of finds among the last fetches, the newest weighing most, by that among all."""
        fetched = self.fetched
        window = max(_LEAST_WINDOW, int(_WINDOW * fetched))
        ages = [fetched - at for at in self._finds[bisect_right(self._finds, fetched - window) :]]
        counted = len(ages) - sum(ages) / window
        exposure = window / 2 if window <= fetched else fetched - fetched**2 / (2 * window)
        return (counted + 1) / exposure * fetched / len(self._finds)

    def _quarter(self) -> int:
        """How many fetches the last quarter has."""
        return min(self.fetched, max(_LEAST_QUARTER, int(_QUARTER * self.fetched)))

    def _unseen(self, sources: NDArray[np.int32]) -> float:
        """Of the finds of the last quarter, the share that was first linked to within it."""
        first = self.fetched - self._quarter()
        window = np.array(self._candidates[first:], np.int64)
        finds = [self._candidates[at - 1] for at in self._finds[bisect_right(self._finds, first) :]]
        new = int(np.isin(sources[np.array(finds, np.int64)], window).sum()) if finds else 0
        return (new + 0.5) / (len(finds) + 1)


class KnownTargets:
    """Targets that somebody knew before a crawl, which comes upon them by itself or does not.

    They teach nothing and are not started from: with them and without them a crawl is the same. So the share
    of them that it finds says how much it finds of what there is, as far as they are like the rest of it.
    A redirect from one of them leads to it as well. One that was fetched and does not satisfy the formula is
    no target, and is left out of the count.

    >>> known = KnownTargets(["http://a.example/1", "http://a.example/2"])
    >>> known.found, known.counted, round(known.interval[1], 3)
    (0, 2, 0.575)
    """

    def __init__(self, urls: Iterable[str]) -> None:
        self.urls = tuple(dict.fromkeys(urls))
        self._numbers = {url: number for number, url in enumerate(self.urls)}
        self._judged: dict[str, bool] = {}
        """Of pages that others may turn out to lead to: whether each satisfied."""
        self._found: dict[int, bool] = {}

    def __repr__(self) -> str:
        return f"KnownTargets({self.found} of {self.counted} found)"

    def record(self, decision: Decision) -> None:
        """Take in a line of the trace."""
        if decision.kind != TaskKind.PAGE:
            return
        number = self._numbers.get(decision.url)
        if decision.result in _JUDGED:
            satisfied = decision.result != "miss"
            self._judged[decision.url] = satisfied
            if number is not None:
                self._found[number] = satisfied or self._found.get(number, False)
        elif decision.result == "redirect" and number is not None:
            goal = decision.reasons[0]
            self._numbers.setdefault(goal, number)
            if goal in self._judged:
                self._found[number] = self._judged[goal] or self._found.get(number, False)

    @property
    def found(self) -> int:
        """How many the crawl found."""
        return sum(self._found.values())

    @property
    def counted(self) -> int:
        """How many there are, those left out that were fetched and are no targets."""
        return len(self.urls) - len(self._found) + self.found

    @property
    def interval(self) -> tuple[float, float]:
        """Recall by them, at the level of all intervals here."""
        return wilson(self.found, self.counted)


@dataclass(frozen=True, slots=True)
class TwoCrawls:
    """How many targets there are, by what two crawls found and how much of it is the same (Chapman 1951).

    It takes the crawls to be independent of each other. Two that begin at the same pages and follow the same
    links are not: what both find is then more than chance gives, and there are more targets than it says.

    >>> both = TwoCrawls(first=80, second=60, common=48)
    >>> round(both.total, 1), [round(end, 1) for end in both.interval]
    (99.8, [95.4, 109.4])
    """

    first: int
    second: int
    common: int

    @property
    def together(self) -> int:
        """Different finds of both."""
        return self.first + self.second - self.common

    @property
    def total(self) -> float:
        """Chapman's estimate of how many there are."""
        return (self.first + 1) * (self.second + 1) / (self.common + 1) - 1

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of its interval, never below what was found: what neither found is taken to be log-normal
        (Burnham et al. 1987), with Chapman's variance, half a find added where one found all of the other's.
        """
        first, second = self.first - self.common + 0.5, self.second - self.common + 0.5
        variance = (self.first + 1) * (self.second + 1) * first * second
        variance /= (self.common + 1) ** 2 * (self.common + 2)
        hidden = self.total - self.together + 0.5
        factor = native.exp_of(NORMAL * math.sqrt(native.log1p_of(variance / hidden**2)))
        low, high = self.together + hidden / factor - 0.5, self.together + hidden * factor - 0.5
        return max(low, float(self.together)), max(high, float(self.together))

    def recall(self, found: int) -> tuple[float, float, float]:
        """The share that so many are: lower end, middle, upper end."""
        low, high = self.interval
        total = max(self.total, float(self.together))
        return tuple(found / of if of else 0.0 for of in (high, total, low))  # type: ignore[return-value]
