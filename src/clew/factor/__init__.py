"""Factors: reasons to like a link, each learned from what became of other links.

The outcome of every fetch goes into `Knowledge` (counts) and `Memory` (who links to whom); every factor
reads a log interest ratio for any number of candidates out of them. Invariants: `evidence` changes
nothing; a positive log ratio means "likelier than chance", 0 means the factor is silent; between two
estimates the evidence for a candidate changes only when something about that candidate does.
"""

from __future__ import annotations

from collections.abc import Callable

from clew.factor.anchor import Anchor
from clew.factor.base import Factor, Seen, Sources, Term
from clew.factor.content import Content
from clew.factor.context import Alive, Context
from clew.factor.earlier import Earlier
from clew.factor.hint import Hint
from clew.factor.interest import Estimation, log_ratio, significance, significant
from clew.factor.kin import Kin
from clew.factor.link import LinkLocality
from clew.factor.memory import Memory
from clew.factor.shallow import Shallow
from clew.factor.sibling import Hub, Near, Sibling
from clew.factor.url_tokens import UrlTokens
from clew.factor.ways import Ways

__all__ = [
    "FACTORS",
    "PAPER",
    "Alive",
    "Anchor",
    "Content",
    "Context",
    "Earlier",
    "Estimation",
    "Factor",
    "Hint",
    "Hub",
    "Kin",
    "LinkLocality",
    "Memory",
    "Near",
    "Seen",
    "Shallow",
    "Sibling",
    "Sources",
    "Term",
    "UrlTokens",
    "Ways",
    "log_ratio",
    "significance",
    "significant",
]

#: Every factor by name.
FACTORS: dict[str, Callable[[Sources], Factor]] = {
    "content": Content,
    "url": UrlTokens,
    "link": LinkLocality,
    "sibling": Sibling,
    "anchor": Anchor,
    "hub": Hub,
    "kin": Kin,
    "near": Near,
    "context": Context,
    "alive": Alive,
    "ways": Ways,
    "shallow": Shallow,
    "hint": Hint,
    "earlier": Earlier,
}
#: Those of the paper.
PAPER = ("content", "url", "link", "sibling")
