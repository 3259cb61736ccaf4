"""`ariadne`: eight criteria of a link, combined by a weighted geometric mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew import url as urls
from clew.page import Links
from clew.predicate.verdict import Predicate
from clew.strategy.base import Capabilities, Expansion, Floats, Scored, Setup, Strategy
from clew.strategy.options import NumberOption, Option

_DIGITS = re.compile(r"\d+")
#: How many pages a place must have shown before what it showed outweighs the place it lies in.
_DOUBT = 3.0
#: Out-links at which a source page counts half as a hub.
_HUB = 30.0


class Ariadne(Strategy):
    """Ariadne's ranking of links (Ester, Groß and Kriegel 2001, sections 3.1 and 3.2).

    Each criterion says something between 0 and 1 of a link, and the score is their weighted geometric mean,
    as a sum of logarithms:

    - `source`: (a) the degree of the source page, by the focus;
    - `url`: (b) what the focus makes of the destination's URL;
    - `anchor`: (c) what it makes of the anchor and the text around it, whichever says more;
    - `host`: (d) the mean degree of the pages seen on the destination's host, in its folder, and there under
      names that differ in digits alone; the narrower place counts more the more it has shown;
    - `distance`: (e) 1 / (1 + links from the start pages). Alone, it is breadth-first;
    - `level`: (f) 1 / (1 + folders of the URL);
    - `transversal`: (g) 1 for a link to another host, a half for one to the same;
    - `outlinks`: (h) how many links the source page has, as n / (n + 30).

    During a session of so many pages the scoring stays as it is: what hosts showed counts from the next
    session on.

    Parameters:
        predicate: the focus.
        weights: of the criteria, by name; 0 leaves one out.
        session: pages in a session (the paper's N).
        floor: the least a criterion says; a logarithm cannot take 0.
    """

    name = "ariadne"
    parts: tuple[str, ...] = (
        "source", "url", "anchor", "host", "distance", "level", "transversal", "outlinks",
    )  # fmt: skip
    options: ClassVar[Mapping[str, Option]] = {
        "session": NumberOption(1, 1e6, whole=True),
        "floor": NumberOption(1e-6, 0.5),
    }
    capabilities = Capabilities(link_columns=frozenset({"contexts"}), relearns=True, tunnels=True)
    #: Set by hand, as the paper's were: "the influence of the relevance of the source page is dominant".
    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "source": 4.0,
        "url": 2.0,
        "anchor": 3.0,
        "host": 2.0,
        "distance": 0.5,
        "level": 0.25,
        "transversal": 0.25,
        "outlinks": 0.25,
    }

    def __init__(
        self,
        predicate: Predicate,
        weights: Mapping[str, float] | None = None,
        *,
        session: int = 100,
        floor: float = 0.01,
    ) -> None:
        self.focus = predicate
        self.weights = dict(weights or self.WEIGHTS)
        self.session = session
        self.floor = floor
        self.seen_: dict[str, tuple[float, int]] = {}
        """Degrees of pages, and how many there were, by place; as of the last session's end."""
        self.session_: list[tuple[str, float]] = []
        """Pages of this session, with their degrees."""

    def __repr__(self) -> str:
        return f"Ariadne({len(self.seen_)} places, {len(self.session_)} pages into a session)"

    @classmethod
    def weight_names(cls) -> tuple[str, ...]:
        return cls.parts

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.predicate, setup.weights, **setup.options)

    def seek(self, focus: Predicate) -> None:
        self.focus = focus

    def seeds(self, keys: NDArray[np.uint64]) -> Floats:
        """The best there can be, at distance 0."""
        return np.zeros((len(keys), len(self.parts)))

    def score(self, expansion: Expansion) -> Floats:
        links = expansion.links
        said = np.ones((len(links), len(self.parts)))
        said[:, 0] = expansion.verdict.score
        if self._weight("url"):
            blank = ("",) * len(links)
            said[:, 1] = self.focus.estimate_links(replace(links, anchors=blank))
        if self._weight("anchor"):
            said[:, 2] = self._anchors(links)
        if self._weight("host"):
            said[:, 3] = [self._shown(target) for target in links.targets]
        said[:, 4] = 1.0 / (2.0 + expansion.depth)
        said[:, 5] = [1.0 / (1.0 + _folders(target)) for target in links.targets]
        here = urls.host(expansion.page.url) if expansion.page.url else ""
        said[:, 6] = [0.5 if urls.host(target) == here else 1.0 for target in links.targets]
        said[:, 7] = len(links) / (len(links) + _HUB)
        total = sum(map(abs, self.weights.values())) or 1.0
        shares = np.array([self._weight(name) / total for name in self.parts])
        found: Floats = native.log(np.clip(said, self.floor, 1.0)) * shares
        return found

    def observe(self, expansion: Expansion) -> Scored:
        if expansion.page.url:
            self.session_.append((expansion.page.url, expansion.verdict.score))
        if len(self.session_) >= self.session:
            self._end_session()
        return Scored(self.score(expansion))

    def _end_session(self) -> None:
        for url, degree in self.session_:
            for place in _places(url):
                before, pages = self.seen_.get(place, (0.0, 0))
                self.seen_[place] = before + degree, pages + 1
        self.session_ = []

    def _shown(self, url: str) -> float:
        """What pages at a URL's place have shown, from the whole crawl down to names like its own."""
        degrees, pages = self.seen_.get("", (0.0, 0))
        expected = (degrees + 0.5) / (pages + 1)
        for place in _places(url)[1:]:
            degrees, pages = self.seen_.get(place, (0.0, 0))
            if not pages:
                break
            expected = (degrees + _DOUBT * expected) / (pages + _DOUBT)
        return expected

    def _anchors(self, links: Links) -> Floats:
        # Of the URL only the host is left, for parts of the focus that ask for one.
        hosts = tuple([f"{urls.origin(target)}/" for target in links.targets])
        alone = self.focus.estimate_links(replace(links, targets=hosts))
        around = self.focus.estimate_links(replace(links, targets=hosts, anchors=tuple(links.contexts)))
        return np.maximum(np.asarray(alone, np.float64), np.asarray(around, np.float64))

    def _weight(self, name: str) -> float:
        return self.weights.get(name, 0.0)


def _places(url: str) -> tuple[str, str, str, str]:
    """Where a page lies, from wide to narrow: anywhere, its host, its folder, names like its own there.

    >>> _places("http://a.example/shop/item12.html?x=1")
    ('', 'http://a.example', 'http://a.example/shop/', 'http://a.example/shop/item#.html')
    """
    plain = url.partition("?")[0]
    folder, _, name = plain.rpartition("/")
    return "", urls.origin(url), f"{folder}/", f"{folder}/{_DIGITS.sub('#', name)}"


def _folders(url: str) -> int:
    """Folders between the host and the page.

    >>> _folders("http://a.example/"), _folders("http://a.example/a/b/c.html")
    (0, 2)
    """
    return max(0, url.partition("?")[0].count("/") - 3)
