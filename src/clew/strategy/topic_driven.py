"""`topic-driven`: a link is worth how alike its source, its words and example pages are, and importance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.learn.checkpoint import Keeps, require, within
from clew.learn.link_importance import MEASURES, OutLinks, measure
from clew.learn.rows import distinct, grown
from clew.learn.url_places import COLUMNS, LEVELS, UrlPlaces
from clew.messages import Rescore
from clew.predicate.atoms import LikeAtom, TopicAtom
from clew.predicate.formula import Formula, walk
from clew.predicate.verdict import Predicate
from clew.strategy.base import Capabilities, Expansion, Floats, Ids, Scored, Setup, Strategy
from clew.strategy.features import topic_words
from clew.strategy.options import ChoiceOption, NumberOption, Option
from clew.topic import TopicLibrary, TopicModel, TopicScorers
from clew.topic.document import FALLBACK
from clew.topic.model import LIKE
from clew.words import stem

_NAMES = ("source", "anchor", "context", "url")
#: Pages that link to a candidate and are remembered for it: the first so many.
_PARENTS = 8
#: Pages beside which what is above a place in its site counts.
_PLACE_DOUBT = 2.0
#: All candidates are scored anew when a page was fetched for each so many of them.
_SPREAD = 1000
_KEPT = ("parents", "places", "cosines", "led", "tried", "said", "open", "onward")


class TopicDriven(Strategy):
    """The topic-driven crawler of Wang and Stroulia, which ranks links before anything is fetched.

    The topic is the mean direction of the stem vectors of example pages; without examples, that of what the
    focus names: its `like:` and `topic:` terms and its words. Each criterion says something between 0 and
    1 of a link, the best that any link to the page says, and the score is their weighted sum:

    - `source`: the cosine of the topic and a page that links there (eq. 1, with its square roots). Where the
      page has led counts too: the cosines of the pages behind its links, 0 for dead ones, are averaged in;
    - `anchor`, `context`, `url`: the cosine of the topic and the anchor, the text around the link, the URL;
    - `site`: how alike pages on the same host and in the same directories were, 0 for dead ones, and by how
      much the pages that they led to were more alike than most (`clew.learn.url_places`): it tells which
      part of a site has pages of the topic, which part has pages that list them, and where links are dead;
    - `importance`: link importance over what is known of the graph, by PageRank, in-degree or HITS
      (`clew.learn.link_importance`), kept up to date while the crawl goes on.

    Parameters:
        predicate: the focus.
        like: the topic; None takes it from the focus.
        weights: of the criteria, by name; those not named have those of `WEIGHTS`, and 0 leaves one out.
        importance: `pagerank`, `indegree` or `hits`.
        damping: of PageRank.
        doubt: a page's own cosine counts as much as so many pages behind its links.
    """

    name = "topic-driven"
    parts: tuple[str, ...] = (*_NAMES, "site", "importance")
    options: ClassVar[Mapping[str, Option]] = {
        "importance": ChoiceOption(MEASURES),
        "damping": NumberOption(0.01, 0.99),
        "doubt": NumberOption(0.01, 1e9),
    }
    capabilities = Capabilities(link_columns=frozenset({"contexts"}), meets=True, relearns=True, throws=False)
    #: Chosen on WebKB; see docs/strategies.md.
    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "source": 1.0,
        "anchor": 0.3,
        "context": 0.1,
        "url": 0.1,
        "site": 0.0,
        "importance": 0.1,
    }

    def __init__(
        self,
        predicate: Predicate,
        like: TopicModel | None = None,
        weights: Mapping[str, float] | None = None,
        *,
        importance: str = "pagerank",
        damping: float = 0.85,
        doubt: float = 0.3,
    ) -> None:
        self.like = like
        self.weights = {**self.WEIGHTS, **(weights or {})}
        self.doubt = doubt
        self.seek(predicate)
        self.importance_ = measure(importance, damping)
        self.links_ = OutLinks()
        self.worths_ = UrlPlaces(_PLACE_DOUBT)
        self.parents_: NDArray[np.int32] = np.zeros((0, _PARENTS), np.int32, order="F")
        """By candidate, 1 + the numbers of the first pages that link to it."""
        self.places_: NDArray[np.int32] = np.zeros((0, LEVELS), np.int32, order="F")
        """By candidate, the place of its URL."""
        self.cosines_: Floats = np.zeros(0)
        """By fetched page, how alike it and the topic are."""
        self.led_: Floats = np.zeros(0)
        """By fetched page, the sum of the cosines of the pages behind its links."""
        self.tried_: Floats = np.zeros(0)
        """By fetched page, how many of its links were fetched."""
        self.said_: Floats = np.zeros((0, len(_NAMES) - 1), order="F")
        """By candidate, the best that anchor, surroundings and URL of any link to it said."""
        self.open_: NDArray[np.bool_] = np.zeros(0, np.bool_)
        """Candidates that a page led to and that were not fetched yet."""
        self.onward_: NDArray[np.int32] = np.zeros(0, np.int32)
        """By candidate that was redirected, 1 + where to, as far as that was new then."""
        self.met_ = 0
        self.waited_ = 0
        """Pages since all candidates were scored anew."""

    def __repr__(self) -> str:
        return f"TopicDriven({np.count_nonzero(self.open_)} candidates, {self.importance_!r})"

    @classmethod
    def weight_names(cls) -> tuple[str, ...]:
        return cls.parts

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.predicate, setup.like, setup.weights, **setup.options)

    def seek(self, focus: Predicate) -> None:
        self._topic = TopicScorers({"topic": topic_of(focus) if self.like is None else self.like})

    # scoring

    def seeds(self, keys: NDArray[np.uint64]) -> Floats:
        """The best there can be."""
        return np.tile(self._row(), (len(keys), 1))

    def score(self, expansion: Expansion) -> Floats:
        return self._worth(expansion, self._say(expansion))

    def observe(self, expansion: Expansion) -> Scored:
        source, ours = expansion.source, expansion.ids[expansion.ids >= 0]
        self._reserve(max(source, int(ours.max(initial=0))) + 1)
        self.open_[source] = False
        said = self._say(expansion)
        moved = [self._file(expansion, said)]
        cosine = self._cosine(expansion) if self.weights["source"] or self.weights["site"] else 0.0
        if self.weights["source"]:
            moved.append(self._lead(source, cosine, ours))
        if self.weights["site"]:
            moved.append(self._place(source, cosine))
        if self.weights["importance"]:
            moved.append(self.importance_.link(source, ours))
        again = distinct(np.concatenate([*moved, *self._redirected(np.concatenate(moved))]))
        new = np.isin(again, expansion.ids[expansion.fresh])
        again = again[self.open_[again] & ~new]
        told = Rescore(again, self.evaluate(again), saved=False) if len(again) else None
        return Scored(self._worth(expansion, said), told)

    def _file(self, expansion: Expansion, said: Floats) -> Ids:
        """Keep what is said of candidates; gives those that were met before."""
        fresh, ids = expansion.fresh, expansion.ids
        self.said_[ids[fresh]] = said[fresh]
        if self.weights["site"]:
            targets = [expansion.links.targets[row] for row in np.flatnonzero(fresh).tolist()]
            self.places_[ids[fresh]] = self.worths_.chains(expansion.page.url, targets)
        self.open_[ids[fresh]] = True
        self.met_ = max(self.met_, int(ids[fresh].max(initial=-1)) + 1)
        known = ~fresh & (ids >= 0)
        rows = ids[known]
        self.said_[rows] = np.maximum(self.said_[rows], said[known])
        return rows

    def _lead(self, source: int, cosine: float, targets: Ids) -> Ids:
        """Where the pages that link to a fetched one have led is known better now, and it may lead on; gives
        the links of those pages."""
        parents = self.parents_[source]
        parents = parents[parents > 0].astype(np.int64) - 1
        self.led_[parents] += cosine
        self.tried_[parents] += 1.0
        self.cosines_[source] = cosine
        targets = distinct(targets)
        if self.links_.add(source, targets):
            for column in range(_PARENTS):
                free = self.parents_[targets, column] == 0
                self.parents_[targets[free], column] = source + 1
                targets = targets[~free]
        return self.links_.of(parents)[1]

    def _place(self, source: int, cosine: float) -> Ids:
        """What is in the place of a fetched page is known better now, and where the page leads that it was
        found on; gives all candidates once there was a page for each so many of them, none before."""
        if self.places_[source, 0]:
            self.worths_.learn(self.places_[source], cosine)
            parent = int(self.parents_[source, 0]) - 1
            if parent >= 0 and cosine > self.worths_.mean:
                self.worths_.credit(self.places_[parent], cosine - self.worths_.mean)
        self.waited_ += 1
        if self.waited_ * _SPREAD < self.met_:
            return np.zeros(0, np.int64)
        self.waited_ = 0
        return self.candidates()

    def _redirected(self, ids: Ids) -> list[Ids]:
        """What candidates were redirected to, which is worth what they are, and so on from there."""
        found = []
        ids = self.onward_[distinct(ids)].astype(np.int64)
        while (ids > 0).any():
            found.append(ids[ids > 0] - 1)
            ids = self.onward_[found[-1]].astype(np.int64)
        return found

    def _cosine(self, expansion: Expansion) -> float:
        page = expansion.page
        return float(self._topic.page(page).degrees[0]) if page.text or page.title else 0.0

    def _say(self, expansion: Expansion) -> Floats:
        """What each link of a page says by its own words, one column a criterion; 0 where it is not asked."""
        links = expansion.links
        nothing = ("",) * len(links)
        said = np.zeros((len(links), len(_NAMES) - 1), order="F")
        for column, name in enumerate(_NAMES[1:]):
            if self.weights[name] and len(links):
                words = replace(
                    links,
                    anchors=links.anchors
                    if name == "anchor"
                    else tuple(links.contexts)
                    if name == "context"
                    else nothing,
                    targets=links.targets if name == "url" else nothing,
                )
                said[:, column] = self._topic.links(words, expansion.page.language)[:, 0]
        return said

    def _worth(self, expansion: Expansion, said: Floats) -> Floats:
        """Contributions of a page's links: the best of what it says and what was said of them before."""
        ids = expansion.ids
        known = (ids >= 0) & (ids < len(self.open_))
        said = said.copy()
        said[known] = np.maximum(said[known], self.said_[ids[known]])
        return self._terms(ids, said)

    def _terms(self, ids: Ids, said: Floats) -> Floats:
        terms = np.zeros((len(ids), len(self.parts)), order="F")
        known = (ids >= 0) & (ids < len(self.open_))
        terms[known, 0] = self._source(ids[known])
        terms[:, 1 : len(_NAMES)] = said
        if self.weights["site"]:
            terms[known, -2] = self.worths_.means(self.places_[ids[known]])
        terms[:, -1] = self.importance_.importance(ids)
        terms *= self._row()
        return terms

    def _source(self, ids: Ids) -> Floats:
        """The best of the pages that link to candidates: how alike each is, and where it has led."""
        best = np.zeros(len(ids))
        for column in range(_PARENTS):
            parents = self.parents_[ids, column].astype(np.int64) - 1
            there = np.flatnonzero(parents >= 0)
            if not len(there):
                break
            page = parents[there]
            worth = (self.doubt * self.cosines_[page] + self.led_[page]) / (self.doubt + self.tried_[page])
            best[there] = np.maximum(best[there], worth)
        return best

    def _row(self) -> Floats:
        return np.array([self.weights[name] for name in self.parts])

    # what the engine may ask of one that knows its candidates

    @property
    def met(self) -> int:
        return self.met_

    def meet(self, expansion: Expansion) -> Floats | None:
        """A sitemap's entries are links without a page; what a redirect leads to is what led there."""
        source, new = expansion.source, expansion.ids[expansion.fresh]
        self._reserve(max(source, int(expansion.ids.max(initial=0))) + 1)
        if source >= 0 and not self.parents_[source, 0]:
            # What a seed leads to is worth what the seed is, and stays so.
            self.met_ = max(self.met_, int(new.max(initial=-1)) + 1)
            return None
        said = self._say(expansion)
        if source >= 0:
            said = np.maximum(said, self.said_[source])
            self.parents_[new] = self.parents_[source]
            self.onward_[source] = int(new.max(initial=-1)) + 1
        self._file(expansion, said)
        return self._worth(expansion, said)

    def candidates(self) -> Ids:
        return np.flatnonzero(self.open_)

    def evaluate(self, ids: Ids) -> Floats:
        return self._terms(ids, self.said_[ids])

    def checkpoint(self) -> Keeps | None:
        return self if type(self) is TopicDriven else None

    def kept(self) -> dict[str, Any]:
        return {
            "importance": self.importance_,
            "links": self.links_,
            "worths": self.worths_,
            **{name: getattr(self, f"{name}_") for name in _KEPT},
            "met": self.met_,
            "waited": self.waited_,
        }

    def recall(self, found: Mapping[str, Any]) -> None:
        size = len(found["open"])
        require(all(len(found[name]) == size for name in _KEPT), "candidates by number")
        require(all(np.isfinite(found[name]).all() for name in _KEPT), "what was said of candidates")
        require(within(found["parents"], 0, size + 1), "pages that link to candidates")
        require(within(found["places"], 0, COLUMNS + 1) and found["waited"] >= 0, "places of candidates")
        # To what was new at that moment, and so of a higher number: nothing goes round.
        later = found["onward"] > np.arange(1, size + 1)
        require(within(found["onward"], 0, size + 1) and (later | (found["onward"] == 0)).all(), "redirects")
        require(0 <= found["met"] <= size and not found["open"][found["met"] :].any(), "candidates met")
        links = self.links_
        require(len(links) <= size and within(links.rows.items, 0, size), "links")
        require(within(links.slots, 0, links.rows.rows + 1), "pages by row")
        for name in _KEPT:
            setattr(self, f"{name}_", found[name])
        self.met_, self.waited_ = found["met"], found["waited"]

    def _reserve(self, size: int) -> None:
        for name in _KEPT:
            setattr(self, f"{name}_", grown(getattr(self, f"{name}_"), size))
        self.links_.reserve(len(self.open_))


def topic_of(focus: Predicate) -> TopicModel:
    """The topic that a focus names: the sum of its examples, its topics' stems and its words.

    >>> from clew.predicate import compile
    >>> found = topic_of(compile("turbines OR wind -noise"))
    >>> found.stems, found.weights.round(2).tolist()
    (('turbin', 'wind'), [0.71, 0.71])
    """
    total: dict[str, float] = {}
    formula = getattr(focus, "formula", None)
    library = getattr(focus, "topics", None)
    if isinstance(formula, Formula) and isinstance(library, TopicLibrary):
        for atom, negated, _ in walk(formula):
            model = _model(atom, library) if not negated else None
            for stem_, weight in () if model is None else model.telling(len(model.stems)):
                total[stem_] = total.get(stem_, 0.0) + weight
    for word in topic_words(focus):
        total[stem(word, FALLBACK)] = total.get(stem(word, FALLBACK), 0.0) + 1.0
    stems = sorted(total)
    length = math.sqrt(native.left_sum([total[one] * total[one] for one in stems])) or 1.0
    return TopicModel(LIKE, tuple(stems), np.array([total[one] / length for one in stems]), 0.0)


def _model(atom: object, library: TopicLibrary) -> TopicModel | None:
    if isinstance(atom, LikeAtom):
        return library.likes.get(atom.name)
    return library.models.get(atom.name) if isinstance(atom, TopicAtom) else None
