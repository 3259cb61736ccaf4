"""`ExperimentPlan`: an experiment spelled out into cases, the same ones in every process.

A case is one topic on one corpus from one seed set. Which topics and which seeds is decided by the
experiment's seed alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from clew import url as urls
from clew.errors import ConfigError
from clew.lab.corpora import open_web, topics_of
from clew.lab.experiment import CorpusSpec, Experiment, SeedRule, StrategySpec, Topic, TopicRule
from clew.lab.own_corpus import PYTHON, RelabelledWeb, fingerprint, holds_pages, open_pages, with_labels
from clew.lab.parsed_web import AGENT, ParsedWeb
from clew.lab.predicates import Blind, Hinted
from clew.lab.visit_logs import open_visits
from clew.lab.webs import LabelledWeb
from clew.parse.directives import hidden
from clew.predicate import compile as compile_predicate
from clew.predicate.verdict import Predicate
from clew.strategy import make
from clew.strategy.base import Strategy

_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Case:
    """One topic, one corpus, one seed set."""

    corpus: CorpusSpec
    topic: Topic
    start: str
    """The kind of its seeds."""
    number: int
    """The number of its seed set, from 1."""
    seeds: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called in files and tables."""
        return f"{self.corpus.name}/{self.start}/{self.topic.name}/{self.number}"


class ExperimentCorpus:
    """A corpus in an experiment: its parsed_web and its topics' targets."""

    def __init__(self, corpus: CorpusSpec) -> None:
        self.corpus = corpus
        self.mark = _mark(corpus)
        """What changes when the files of a corpus of one's own do."""
        self.parsed_web = ParsedWeb(
            _opened(corpus), dead_links=corpus.dead_links == "keep", robots=corpus.robots == "obey"
        )
        self._targets: dict[tuple[str, str], frozenset[str]] = {}

    @cached_property
    def labelled(self) -> dict[str, list[str]]:
        """The pages of each label, in the order of the corpus."""
        found: dict[str, list[str]] = {}
        for url in self.parsed_web.urls:
            for topic in topics_of(self.parsed_web.web, url):
                found.setdefault(topic, []).append(url)
        return found

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of all URLs that are pages."""
        return [number for number, _ in self.parsed_web.pages()]

    def targets(self, topic: Topic) -> frozenset[str]:
        """The URLs that a topic is about."""
        key = (topic.label, topic.formula)
        if key not in self._targets:
            self._targets[key] = frozenset(self._find(topic))
        return self._targets[key]

    def _find(self, topic: Topic) -> Iterator[str]:
        among = self.labelled.get(topic.label) if topic.label else list(self.parsed_web.urls)
        if among is None:
            raise ConfigError(f"no page of {self.corpus.name} has the label {topic.label!r}")
        formula = _formula(topic) if topic.formula else None
        for url in among:
            page = self.parsed_web.page(url)
            if page is not None and (formula is None or formula.judge(page).satisfied):
                yield url

    def mask(self, topic: Topic) -> NDArray[np.bool_]:
        """Which pages, by number, a crawl may count as finds: the targets that do not ask to be hidden.

        Copies are among them; which of several is the find is up to the crawl.
        """
        flags = np.zeros(len(self.parsed_web), np.bool_)
        for url in self.targets(topic):
            page = self.parsed_web.page(url)
            flags[self.parsed_web.number[url]] = page is not None and not hidden(page.robots, AGENT)
        return flags

    def predicate(self, topic: Topic, *, blind: bool) -> Predicate:
        """What a crawler is given to judge with."""
        targets = self.targets(topic)
        if blind or not topic.formula:
            return Blind(topic.name, targets)
        formula = _formula(topic)
        return Hinted(topic.name, targets, formula) if topic.label else formula


def _formula(topic: Topic) -> Predicate:
    # An experiment is a file of the user's own: it may name code of theirs.
    return compile_predicate(topic.formula, allow_python=True)


class ExperimentPlan:
    """All cases of an experiment, and what it takes to run one."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.fields = {corpus.name: ExperimentCorpus(corpus) for corpus in experiment.corpora}
        self.cases = tuple(case for field in self.fields.values() for case in self._cases(field))

    def field(self, case: Case) -> ExperimentCorpus:
        """The corpus a case is on."""
        return self.fields[case.corpus.name]

    def predicate(self, case: Case) -> Predicate:
        """The predicate of a case."""
        return self.field(case).predicate(case.topic, blind=self.experiment.predicate == "blind")

    def strategy(self, case: Case, spec: StrategySpec, predicate: Predicate, throw: int = 0) -> Strategy:
        """A strategy for a case, fresh, with dice of its own, others for each `throw` beyond 1."""
        name = case.name if throw <= 1 else f"{case.name}/throw {throw}"
        return make_strategy(spec, predicate, _seed(self.experiment.seed, name))

    def _cases(self, field: ExperimentCorpus) -> Iterator[Case]:
        for topic in self._topics(field):
            for rule in self.experiment.seeds:
                for number, seeds in enumerate(self._seed_sets(field, topic, rule), start=1):
                    yield Case(field.corpus, topic, rule.kind, number, seeds)

    def _topics(self, field: ExperimentCorpus) -> tuple[Topic, ...]:
        rule = self.experiment.topics
        if not isinstance(rule, TopicRule):
            return rule
        names = sorted(
            name
            for name, pages in field.labelled.items()
            if name.startswith(rule.within) and rule.min <= len(pages) <= rule.max
        )
        if len(names) < rule.count:
            raise ConfigError(
                f"{field.corpus.name} has {len(names)} topics of {rule.min} to {rule.max} pages, "
                f"not {rule.count}: widen min and max, or lower count"
            )
        rng = np.random.default_rng(_seed(self.experiment.seed, "topics"))
        chosen = sorted(rng.permutation(len(names))[: rule.count].tolist())
        return tuple(Topic(name=names[i], label=names[i]) for i in chosen)

    def _seed_sets(self, field: ExperimentCorpus, topic: Topic, rule: SeedRule) -> Iterator[tuple[str, ...]]:
        if rule.drawn:
            for number in range(rule.sets):
                yield self._draw(field, topic, rule, number)
            return
        for given in rule.urls or (field.parsed_web.web.seeds(),):
            seeds = tuple(urls.canonical(seed) or seed for seed in given)
            unknown = [seed for seed in seeds if seed not in field.parsed_web.number]
            if unknown or not seeds:
                raise ConfigError(
                    f"{field.corpus.name} has no page {unknown[0] if unknown else 'to start at'}"
                )
            yield seeds

    def _draw(self, field: ExperimentCorpus, topic: Topic, rule: SeedRule, number: int) -> tuple[str, ...]:
        """Random pages of all, or of the topic's own, drawn until enough of the topic can be reached from
        them."""
        parsed_web, targets = field.parsed_web, field.mask(topic)
        name = f"{field.corpus.name}/{topic.name}/{number}"
        if rule.kind == "warm":
            # Of copies one: a second is no further example, and a crawl counts it as none.
            pages = [n for n in np.flatnonzero(targets).tolist() if parsed_web.originals[n] == n]
            name = f"warm/{name}"
            if len(pages) <= rule.pages:
                raise ConfigError(
                    f"{field.corpus.name} has {len(pages)} pages of {topic.name!r}: to start from "
                    f"{rule.pages} of them leaves none to be found"
                )
        else:
            pages = field.numbers
        rng = np.random.default_rng(_seed(self.experiment.seed, name))
        for _ in range(_DRAWS):
            seeds = rng.choice(len(pages), size=min(rule.pages, len(pages)), replace=False)
            nodes = [pages[i] for i in seeds.tolist()]
            if (parsed_web.graph.reach(nodes) & targets).sum() >= max(1.0, rule.reach * targets.sum()):
                return tuple(parsed_web.urls[node] for node in nodes)
        raise ConfigError(
            f"from no {rule.pages} pages of {field.corpus.name} can {rule.reach:.0%} of {topic.name!r} be "
            "reached: lower reach, or start from more pages"
        )


def _opened(corpus: CorpusSpec) -> LabelledWeb:
    if not corpus.path:
        return open_web(corpus.name)
    path = Path(corpus.path)
    if path.is_file() and holds_pages(path) and not corpus.labels:
        return open_pages(path, corpus.name, corpus.entry)
    if not path.exists():
        raise ConfigError(f"there is no corpus {path}: give a file of pages, a WARC or a crawl directory")
    web = open_web(str(path))
    if corpus.labels:
        return with_labels(web, corpus.name, corpus.labels, corpus.entry)
    return RelabelledWeb(web, corpus.name, corpus.entry or web.seeds(), {})


def _mark(corpus: CorpusSpec) -> str:
    given = [part for part in (corpus.path, corpus.labels) if part]
    return "/".join(part if part.startswith(PYTHON) else fingerprint(Path(part)) for part in given)


def make_strategy(spec: StrategySpec, predicate: Predicate, seed: int) -> Strategy:
    """The strategy that an experiment's table describes."""
    weights = spec.weights if isinstance(spec.weights, dict) else None
    options = dict(spec.options)
    if isinstance(spec.weights, str):
        options["weights"] = spec.weights
    visits = open_visits(spec.visits) if spec.visits else None
    return make(spec.name, predicate, seed=seed, weights=weights, options=options, visits=visits)


def _seed(seed: int, name: str) -> int:
    """A number of its own for each purpose, the same in every process."""
    return xxhash.xxh3_64_intdigest(f"{seed}/{name}".encode()) >> 33
