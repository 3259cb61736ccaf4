"""`compare`: two crawls side by side, and how many targets there are by what both of them found."""

from __future__ import annotations

from dataclasses import dataclass

from clew.policy.recall import RecallEstimate, TwoCrawls
from clew.run.stopping import estimates
from clew.store.base import Counts, Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSide:
    """One of the two."""

    match: str
    strategy: str
    counts: Counts
    elapsed: float
    finds: frozenset[str]
    recall: RecallEstimate | None
    """By the crawl's own estimate."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two crawls; what they say together where they look for the same."""

    first: ComparedSide
    second: ComparedSide

    @property
    def alike(self) -> bool:
        """Whether both look for the same: only then do their finds say how many there are."""
        return self.first.match == self.second.match

    @property
    def both(self) -> TwoCrawls:
        """How many each found, and how many both."""
        mine, theirs = self.first.finds, self.second.finds
        return TwoCrawls(len(mine), len(theirs), len(mine & theirs))


def compare(first: Reader, second: Reader) -> Comparison:
    """Read two stored crawls."""
    return Comparison(_side(first), _side(second))


def _side(reader: Reader) -> ComparedSide:
    meta = reader.meta()
    config, elapsed = meta.get("config"), meta.get("elapsed")
    plain = config if isinstance(config, dict) else {}
    looks = estimates(reader)
    return ComparedSide(
        match=str(plain.get("match", "")),
        strategy=str(plain.get("strategy", "")),
        counts=reader.counts(),
        elapsed=float(elapsed) if isinstance(elapsed, int | float) and 0 <= elapsed < 1e12 else 0.0,
        finds=frozenset(page.url for page in reader.pages(matched=True, text=False)),
        recall=looks[-1] if looks else None,
    )
