"""Why a learning strategy liked a link: the strategy is taught again up to that decision, and asked.

Nothing is kept for this during the crawl. What a strategy knew at any moment is a fold over the outcomes
up to it, and these are in the trace and the archive.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.factor import Term
from clew.run.assemble import crawl_of
from clew.run.config import CrawlConfig
from clew.run.relearn import relearn
from clew.run.resume import restore
from clew.store.read import CrawlReader
from clew.store.recorded import CrawlWeb
from clew.strategy import Intelligent
from clew.strategy.base import totals

_TERMS = 6


@dataclass(frozen=True, slots=True)
class Ground:
    """One factor's part in a link's score."""

    factor: str
    log_ratio: float
    support: float
    part: float
    rank_without: int
    """Its place among all candidates had this factor said nothing of any of them."""
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The grounds on which a link was worth what it was, among all candidates of the moment."""

    after: int
    """The last decision the strategy had learned from."""
    rank: int
    candidates: int
    runner_up: str
    grounds: tuple[Ground, ...]

    def lines(self) -> list[str]:
        """For people."""
        out = [
            f"  rank     {self.rank} of {self.candidates} candidates, as known after decision {self.after}"
        ]
        if self.runner_up:
            out.append(f"  next     {self.runner_up}")
        for g in self.grounds:
            out.append(
                f"  {g.factor:8} ratio {np.exp(min(g.log_ratio, 700)):.3g} from {g.support:g} observations "
                f"gives {g.part:+.4g}; without it, rank {g.rank_without}"
            )
            out.extend(
                f"    {t.text}: ratio {np.exp(min(t.log_ratio, 700)):.3g}"
                + (f", {t.hits:g} of {t.seen:g}" if t.seen else "")
                + (f", {t.significance:.1f} deviations" if t.significance else "")
                for t in g.terms[:_TERMS]
            )
        return out

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "after": self.after,
            "rank": self.rank,
            "candidates": self.candidates,
            "runner_up": self.runner_up,
            "factors": {
                g.factor: {
                    "log_ratio": g.log_ratio,
                    "support": g.support,
                    "part": g.part,
                    "rank_without": g.rank_without,
                    "terms": [
                        {"term": t.text, "log_ratio": t.log_ratio, "seen": t.seen, "hits": t.hits,
                         "significance": t.significance}
                        for t in g.terms
                    ],
                }
                for g in self.grounds
            },
        }  # fmt: skip


def inquire(reader: CrawlReader, config: CrawlConfig, candidate: int, before: int | None) -> Inquiry | None:
    """Ask the strategy about a candidate as it stood before a decision (None: at the end).

    None when the strategy does not learn, or did not know the candidate at that time.
    """
    saved = reader.snapshot()
    if saved is None:
        return None
    crawl = crawl_of(config, reader)
    strategy = crawl.strategy
    if not isinstance(strategy, Intelligent):
        return None
    restore(crawl, saved, 0.0)
    with contextlib.closing(CrawlWeb(reader.path)) as web:
        relearn(crawl, reader, web.get, before=before)
    if candidate >= strategy.memory.size or not strategy.memory.open[candidate]:
        return None
    ids = np.flatnonzero(strategy.memory.open[: strategy.memory.size])
    # The strategy is not told of redirects and of what robots.txt forbids; the trace knows them.
    gone = {
        d.candidate for d in reader.decisions() if (before is None or d.seq < before) and d.result != "retry"
    }
    ids = ids[[i == candidate or i not in gone for i in ids.tolist()]]
    parts = strategy.evaluate(ids)
    scores = totals(parts)
    at = int(np.searchsorted(ids, candidate))
    others = np.delete(np.arange(len(ids)), at)
    best = ids[others[int(np.argmax(scores[others]))]] if len(others) else -1
    mine = np.array([candidate])
    evidence = strategy.evidence(mine)[0]
    grounds = [
        Ground(
            name,
            float(evidence[i]),
            float(factor.support(mine)[0]),
            float(parts[at, i]),
            1 + int((scores - parts[:, i] > scores[at] - parts[at, i]).sum()),
            tuple(factor.terms(candidate)),
        )
        for i, (name, factor) in enumerate(zip(strategy.factors, strategy.heard, strict=True))
    ]
    grounds.sort(key=lambda g: -abs(g.part))
    rank = 1 + int((scores > scores[at]).sum())
    runner_up = f"{reader.url(int(best))} ({scores[ids == best][0]:.4g})" if best >= 0 else ""
    after = before - 1 if before is not None else saved.decisions
    return Inquiry(after, rank, len(ids), runner_up, tuple(grounds))
