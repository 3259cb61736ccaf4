"""Why a learning strategy liked a link: the strategy is taught again up to that decision, and asked.

Nothing is kept for this during the crawl. What a strategy knew at any moment is a fold over the outcomes
up to it, and these are in the trace and the archive.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.factor import EvidenceTerm
from clew.run.build import crawl_of
from clew.run.config import CrawlConfig
from clew.run.relearn import foresee, relearn
from clew.run.resume import restore
from clew.store.base import Reader
from clew.strategy.base import totals

_TERMS = 6
#: Reasons told when not all are asked for, and terms told of each.
_REASONS, _FEW = 3, 3
#: What each factor goes by, in words.
FACTOR_WORDS = {
    "content": "the words of the pages that link to it",
    "url": "the words of its URL",
    "link": "how many finds link to it",
    "sibling": "what became of the other links of the pages that link to it",
    "anchor": "the words it is linked with",
    "hub": "what became of the other links of one page that links to it",
    "parent_relevance": "whether the pages that link to it are finds",
    "neighbour": "what became of the links beside it",
    "context": "what the link looks like",
    "liveness": "whether there is likely a page at all",
    "hub_potential": "where it may lead",
    "url_depth": "how deep in its site it lies",
    "link_text": "the formula on its anchor and URL",
    "prior_crawl": "what earlier crawls knew of it",
    "visit_frequency": "who visited it",
    "visit_signature": "what the finds of those who visited it have in common",
    "visit_temporal": "what was visited before and after it",
    "opic": "how much it counts by the links to it",
    "crawl_depth": "how far it is from where the crawl began",
}


@dataclass(frozen=True, slots=True)
class Ground:
    """One factor's part in a link's score."""

    factor: str
    log_ratio: float
    support: float
    part: float
    rank_without: int
    """Its place among all candidates had this factor said nothing of any of them."""
    terms: tuple[EvidenceTerm, ...]


@dataclass(frozen=True, slots=True)
class FactorReport:
    """The grounds on which a link was worth what it was, among all candidates of the moment."""

    after: int
    """The last decision the strategy had learned from."""
    rank: int
    candidates: int
    runner_up: str
    grounds: tuple[Ground, ...]

    def lines(self, *, full: bool = False) -> list[str]:
        """For people: the reasons that weighed most, in words; all of them, in figures, when `full`."""
        out = [
            f"  rank     {self.rank} of {self.candidates} candidates, as known after decision {self.after}"
        ]
        if self.runner_up:
            out.append(f"  next     {self.runner_up}")
        if not full:
            return out + [_in_words(g) for g in self.grounds[:_REASONS] if g.part]
        for g in self.grounds:
            out.append(
                f"  {g.factor:16} ratio {_ratio(g.log_ratio)} from {g.support:g} observations "
                f"gives {g.part:+.4g}; without it, rank {g.rank_without}"
            )
            out.extend(
                f"    {t.text}: ratio {_ratio(t.log_ratio)}"
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


def _in_words(ground: Ground) -> str:
    """A reason as a line: for or against, what was gone by, and the terms that say the same."""
    interest, _, factor = ground.factor.rpartition(".")
    what = FACTOR_WORDS.get(factor, f"the factor {factor}") + (f", for {interest}" if interest else "")
    alike = [t for t in ground.terms if (t.log_ratio > 0) == (ground.part > 0) and t.text != what]
    terms = ", ".join(t.text + (f" {t.hits:.4g} of {t.seen:.4g}" if t.seen else "") for t in alike[:_FEW])
    return f"  {'for' if ground.part > 0 else 'against'} it: {what}" + (f" ({terms})" if terms else "")


def _ratio(log_ratio: float) -> str:
    """An interest ratio; beyond a million, where it is a product of many words, no more than that.

    >>> _ratio(0.0), _ratio(11.8), _ratio(700.0), _ratio(-700.0)
    ('1', '133,252', 'over a million', 'under a millionth')
    """
    if abs(log_ratio) > np.log(1e6):
        return "over a million" if log_ratio > 0 else "under a millionth"
    ratio = np.exp(log_ratio)
    return f"{ratio:,.0f}" if ratio >= 1000.0 else f"{ratio:.3g}"


def factor_report(
    reader: Reader, config: CrawlConfig, candidate: int, before: int | None
) -> FactorReport | None:
    """Ask the strategy about a candidate as it stood before a decision (None: at the end).

    None when the strategy does not learn, or did not know the candidate at that time.
    """
    saved, archive = reader.snapshot(), reader.replies()
    if saved is None or archive is None:
        return None
    crawl = crawl_of(config, reader)
    commanded = foresee(crawl, reader, before=before)
    strategy = crawl.strategy
    if not strategy.capabilities.explains:
        return None
    restore(crawl, saved, 0.0)
    with contextlib.closing(archive):
        relearn(crawl, reader, archive.get, before=before, commanded=commanded)
    ids = strategy.candidates()
    if candidate not in ids:
        return None
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
    grounds = [
        Ground(
            said.factor,
            said.log_ratio,
            said.support,
            float(parts[at, i]),
            1 + int((scores - parts[:, i] > scores[at] - parts[at, i]).sum()),
            said.terms,
        )
        for i, said in enumerate(strategy.evidence_for(candidate))
    ]
    grounds.sort(key=lambda g: -abs(g.part))
    rank = 1 + int((scores > scores[at]).sum())
    runner_up = f"{reader.url(int(best))} ({scores[ids == best][0]:.4g})" if best >= 0 else ""
    after = before - 1 if before is not None else saved.decisions
    return FactorReport(after, rank, len(ids), runner_up, tuple(grounds))
