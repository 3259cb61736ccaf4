"""How far a stored crawl is from stopping: the clauses of its rule, read off its store."""

from __future__ import annotations

from clew.engine.prospects import FrontierProspects
from clew.frontier.queue import Frontier
from clew.policy import Budget, Tally
from clew.policy.community import Community
from clew.policy.recall import RecallEstimate
from clew.policy.stop_rule import Standing
from clew.run.known import kept_known
from clew.store.base import Reader, Snapshot


def recall_links(prospects: FrontierProspects, saved: Snapshot, store: Reader) -> None:
    """Put the links of the pages fetched so far into the graph that communities are looked for in, if any."""
    if prospects.graph is not None:
        for candidate in saved.scores:
            prospects.graph.add(candidate, store.outlinks(candidate), find=candidate in saved.matched)


def resume_recall(prospects: FrontierProspects, store: Reader) -> None:
    """Let the estimate of recall go on where it stood: the trace is taken in once more."""
    for decision in store.decisions():
        prospects.record(decision)
    prospects.estimator.resume(store.journal())


def estimates(reader: Reader) -> list[RecallEstimate]:
    """Every look a stored crawl took at its recall, in order."""
    found = [RecallEstimate.loads(entry.entry) for entry in reader.journal()]
    return [estimate for estimate in found if estimate is not None]


def standings(reader: Reader, rule: str, elapsed: float) -> list[Standing]:
    """How far each clause of a rule is, for a crawl that may be running elsewhere."""
    if not rule or (saved := reader.snapshot()) is None:
        return []
    budget = Budget(stop=rule)
    tally = Tally(requests=saved.requests, wire=saved.wire, elapsed=elapsed)
    tally.recall(candidate in saved.matched for candidate in saved.scores)
    width = saved.terms.shape[1] if saved.terms.ndim == 2 else 1
    frontier = Frontier(width)
    frontier.add(
        saved.keys, saved.hosts.astype("int64"), saved.depths.astype("int64"), saved.sources,
        saved.terms.reshape(len(saved.keys), width), saved.states, saved.attempts,
    )  # fmt: skip
    prospects = FrontierProspects(frontier, lambda: 0)
    if budget.rule.needs("community"):
        prospects.graph = Community()
        recall_links(prospects, saved, reader)
    if budget.rule.needs("recall") or budget.rule.needs("known"):
        prospects.known_targets = kept_known(reader.meta())
        resume_recall(prospects, reader)
    return budget.standings(tally, 0.0, prospects)
