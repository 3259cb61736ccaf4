"""Who is a person: groups behind one address, robots, and the sessions of everyone else.

The limits are those of the 2002 paper (section 2): an address with more accesses a day, or a minute, than one
person makes stands for many.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]
People = NDArray[np.int64]
Mask = NDArray[np.bool_]

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
#: Visits from which on a rhythm can be told; hours of one day that nobody fills.
_RHYTHM, _SLEEPLESS = 20, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLimits:
    """What one person does at most.

    >>> PersonLimits().day, PersonLimits().minute
    (2000, 100)
    """

    day: int = 2000
    """Visits a day."""
    minute: int = 100
    """Visits a minute."""
    gap: float = 1800.0
    """Seconds without a visit that end a session."""
    evenness: float = 0.1
    """The least that gaps within sessions vary, as a share of their mean: a clock's vary less."""


@dataclass(frozen=True, slots=True)
class PeopleCounts:
    """How many are people, and how many are not, by the first reason that holds."""

    people: int
    groups_by_day: int
    groups_by_minute: int
    robots_by_request: int
    """Asked for robots.txt."""
    robots_by_rhythm: int
    """Kept time like a clock, or never slept."""
    sessions: int
    """Of the people."""

    def as_dict(self) -> dict[str, int]:
        """For programs."""
        return asdict(self)


def persons(times: Times, people: People, robots: People, limits: PersonLimits) -> tuple[Mask, PeopleCounts]:
    """Which visits are a person's, and the counts.

    Parameters: times (ms) and people (numbers from 0) of visits, ordered by person and time; who asked for
    robots.txt.
    """
    count = int(people[-1]) + 1 if len(people) else 0
    reason = np.zeros(count, np.int8)
    same = people[1:] == people[:-1]
    gaps = np.where(same, times[1:] - times[:-1], -1)
    within = same & (gaps <= limits.gap * 1000)

    def mark(who: People, number: int) -> None:
        who = who[reason[who] == 0]
        reason[who] = number

    mark(_busier(times, people, _DAY, limits.day), 1)
    mark(_busier(times, people, _MINUTE, limits.minute), 2)
    mark(robots, 3)
    mark(_regular(gaps[within], people[1:][within], count, limits.evenness), 4)
    mark(_sleepless(times, people), 4)
    kept = reason[people] == 0 if count else np.zeros(0, np.bool_)
    begins = np.ones(len(people), np.bool_)
    begins[1:] = ~within
    people_left, by_day, by_minute, by_request, by_rhythm = np.bincount(reason, minlength=5).tolist()
    found = int((begins & kept).sum())
    return kept, PeopleCounts(people_left, by_day, by_minute, by_request, by_rhythm, found)


def sessions(times: Times, people: People, gap: float) -> NDArray[np.int64]:
    """The session of each visit, numbered from 0; visits ordered by person and time.

    >>> sessions(np.array([0, 1000, 9000, 0]), np.array([0, 0, 0, 1]), 5.0).tolist()
    [0, 0, 1, 2]
    """
    ends = (people[1:] != people[:-1]) | (times[1:] - times[:-1] > gap * 1000)
    return np.concatenate([np.zeros(min(1, len(times)), np.int64), np.cumsum(ends)])


def _busier(times: Times, people: People, span: int, limit: int) -> People:
    """Who has more visits than the limit in one such span."""
    found = np.unique(np.stack([people, times // span]), axis=1, return_counts=True)
    return np.asarray(np.unique(found[0][0][found[1] > limit]), np.int64)


def _regular(gaps: Times, people: People, count: int, evenness: float) -> People:
    """Whose gaps are all but equal."""
    number = np.bincount(people, minlength=count)
    total = np.bincount(people, gaps, count)
    mean = total / np.maximum(1, number)
    spread = np.bincount(people, (gaps - mean[people]) ** 2, count) / np.maximum(1, number)
    even = (number >= _RHYTHM) & (np.sqrt(spread) < evenness * mean)
    return np.flatnonzero(even)


def _sleepless(times: Times, people: People) -> People:
    """Who was there in almost every hour of a day."""
    hours = np.unique(np.stack([people, times // _HOUR]), axis=1)
    days, filled = np.unique(np.stack([hours[0], hours[1] // 24]), axis=1, return_counts=True)
    return np.asarray(np.unique(days[0][filled >= _SLEEPLESS]), np.int64)
