"""When to stop: budgets of pages, finds, time, bytes and requests, a rule, and nothing of interest left."""

from __future__ import annotations

from dataclasses import dataclass

from clew.policy.stop_rule import Prospects, Standing, StopRule
from clew.policy.tally import Tally

UNPROMISING_LIMIT = 50
"""The unpromising streak at which a crawl has seen what is of interest."""
UNINTERESTING = "nothing interesting"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a crawl; None is no limit.

    >>> Budget(pages=10).spent(Tally(pages=10), 0.0)
    'pages'
    >>> Budget(pages=10).remaining(Tally(pages=7), 2)
    1
    """

    pages: int | None = None
    matches: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    requests: int | None = None
    interest: float | None = None
    """The least interest ratio that is worth a request."""
    stop: str = ""
    """A rule beside the limits, see `StopRule`; none if empty."""

    def spent(self, tally: Tally, elapsed: float, prospects: Prospects | None = None) -> str | None:
        """The first budget that is used up or clause that holds, if any; `elapsed` is this session's time."""
        limits = (
            ("pages", self.pages, tally.pages),
            ("matches", self.matches, tally.matches),
            ("time", self.seconds, tally.elapsed + elapsed),
            ("bytes", self.bytes, tally.wire),
            ("requests", self.requests, tally.requests),
        )
        for name, limit, used in limits:
            if limit is not None and used >= limit:
                return name
        if tally.unpromising_streak >= UNPROMISING_LIMIT:
            return UNINTERESTING
        return self.rule.met(tally, elapsed, prospects) if self.stop and prospects is not None else None

    @property
    def rule(self) -> StopRule:
        """`stop`, read."""
        return StopRule.parse(self.stop)

    def standings(self, tally: Tally, elapsed: float, prospects: Prospects) -> list[Standing]:
        """How far each clause of the rule is."""
        clauses = self.rule.clauses() if self.stop else []
        return [clause.standing(tally, elapsed, prospects) for clause in clauses]

    def record_promise(self, tally: Tally, interest: float) -> None:
        """A page is asked for that promises so much."""
        if self.interest is not None:
            tally.unpromising_streak = tally.unpromising_streak + 1 if interest < self.interest else 0

    def remaining(self, tally: Tally, in_flight: int, late: int = 0) -> int:
        """How many more pages may be asked for now, given those under way.

        Those that are `late` may never come; they were asked for, but are not counted upon as pages.

        >>> ten = Budget(pages=10)
        >>> ten.remaining(Tally(pages=9), 1), ten.remaining(Tally(pages=9), 1, late=1)
        (0, 1)
        """
        rooms = [1 << 30]
        if self.pages is not None:
            rooms.append(self.pages - tally.pages - (in_flight - late))
        if self.requests is not None:
            rooms.append(self.requests - tally.requests - in_flight)
        return max(0, min(rooms))
