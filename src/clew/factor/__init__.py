"""Factors: reasons to like a link, each learned from what became of other links.

The outcome of every fetch goes into `Knowledge` (counts) and `LinkGraph` (who links to whom); every factor
reads a log interest ratio for any number of candidates out of them. Invariants: `evidence` changes
nothing; a positive log ratio means "likelier than chance", 0 means the factor is silent; between two
estimates the evidence for a candidate changes only when something about that candidate does.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.errors import ConfigError
from clew.factor.anchor import Anchor
from clew.factor.base import (
    Default,
    Discovery,
    EvidenceTerm,
    Factor,
    FactorSpec,
    FetchOutcome,
    LearningState,
    is_kept,
)
from clew.factor.content import Content
from clew.factor.context import Context, Liveness
from clew.factor.hub_potential import HubPotential
from clew.factor.interest import Estimation, log_ratio, significance, significant
from clew.factor.link import LinkLocality
from clew.factor.link_graph import LinkGraph
from clew.factor.link_text import LinkText
from clew.factor.parent_relevance import ParentRelevance
from clew.factor.prior_crawl import PriorCrawl
from clew.factor.sibling import Hub, Neighbour, Sibling
from clew.factor.url_depth import UrlDepth
from clew.factor.url_tokens import UrlTokens
from clew.factor.visit_frequency import VisitFrequency
from clew.factor.visit_log import VisitLog
from clew.factor.visit_signature import VisitSignature
from clew.factor.visit_temporal import VisitTemporal
from clew.plugins import Registry

__all__ = [
    "FACTORS",
    "Anchor",
    "Content",
    "Context",
    "Default",
    "Discovery",
    "Estimation",
    "EvidenceTerm",
    "Factor",
    "FactorSpec",
    "FetchOutcome",
    "Hub",
    "HubPotential",
    "LearningState",
    "LinkGraph",
    "LinkLocality",
    "LinkText",
    "Liveness",
    "Neighbour",
    "ParentRelevance",
    "PriorCrawl",
    "Sibling",
    "UrlDepth",
    "UrlTokens",
    "VisitFrequency",
    "VisitLog",
    "VisitSignature",
    "VisitTemporal",
    "canonical",
    "heard_by_default",
    "is_kept",
    "log_ratio",
    "needed",
    "significance",
    "significant",
]

#: Where clew's own factors are, in the order in which they learn and stand in a score.
OWN = {
    "content": "clew.factor.content:Content",
    "url": "clew.factor.url_tokens:UrlTokens",
    "link": "clew.factor.link:LinkLocality",
    "sibling": "clew.factor.sibling:Sibling",
    "anchor": "clew.factor.anchor:Anchor",
    "hub": "clew.factor.sibling:Hub",
    "parent_relevance": "clew.factor.parent_relevance:ParentRelevance",
    "neighbour": "clew.factor.sibling:Neighbour",
    "context": "clew.factor.context:Context",
    "liveness": "clew.factor.context:Liveness",
    "hub_potential": "clew.factor.hub_potential:HubPotential",
    "url_depth": "clew.factor.url_depth:UrlDepth",
    "link_text": "clew.factor.link_text:LinkText",
    "prior_crawl": "clew.factor.prior_crawl:PriorCrawl",
    "visit_frequency": "clew.factor.visit_frequency:VisitFrequency",
    "visit_signature": "clew.factor.visit_signature:VisitSignature",
    "visit_temporal": "clew.factor.visit_temporal:VisitTemporal",
    "opic": "clew.factor.opic:Opic",
    "crawl_depth": "clew.factor.crawl_depth:CrawlDepth",
}


def _problem(name: str, found: object) -> str:
    if not isinstance(found, type) or not issubclass(found, Factor) or not hasattr(found, "spec"):
        return "it is no subclass of clew.factor.Factor with a spec"
    return "" if found.spec.name == name else f"its spec calls it {found.spec.name!r}"


#: Every factor by name.
FACTORS: Registry[type[Factor]] = Registry("clew.factors", OWN, _problem)


def canonical(name: str) -> str:
    """The name of the factor that has this name, or had it once; any other name as it is.

    >>> canonical("content"), canonical("unheard")
    ('content', 'unheard')
    """
    if name in FACTORS:
        return name
    return next((known for known, factor in FACTORS.items() if name in factor.spec.aliases), name)


def heard_by_default(*where: Default) -> tuple[str, ...]:
    """Names of the factors that are heard there without being named.

    >>> heard_by_default("paper")
    ('content', 'url', 'link', 'sibling')
    """
    return tuple([name for name, factor in FACTORS.items() if factor.spec.defaults & set(where)])


def needed(heard: Sequence[str]) -> tuple[str, ...]:
    """Those heard, those that teach, and those that any of them comes after; each after those it needs.

    >>> "context" in needed(("hub_potential",)), "hub" in needed(("hub_potential",))
    (True, False)
    """
    wanted = [name for name, factor in FACTORS.items() if name in heard or factor.spec.teaches]
    found: dict[str, None] = {}

    def add(name: str, below: tuple[str, ...]) -> None:
        if name in below:
            raise ConfigError(f"the factors {', '.join(below)} come after each other in a circle")
        if name not in FACTORS:
            raise ConfigError(f"the factor {below[-1]!r} comes after {name!r}, which there is not")
        for before in FACTORS[name].spec.after:
            add(before, (*below, name))
        found[name] = None

    for name in wanted:
        add(name, ())
    return tuple(found)
