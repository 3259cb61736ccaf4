"""`perform`: trials, in as many processes as there are cores, each recorded web opened once.

What is finished lies in one file, a line each, under a key made of all that shapes a trial; figures that show
the same crawl share it, and a command that was interrupted goes on. Only the parent writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clew.factor.visit_log import VisitLog
from clew.knowledge import Knowledge
from clew.lab import oracle
from clew.lab.experiment import CorpusSpec
from clew.lab.experiment_plan import ExperimentCorpus
from clew.lab.graph import Mask
from clew.lab.label_topics import web_topics
from clew.lab.made_log import made_log
from clew.lab.reproduce.carried import Carried
from clew.lab.reproduce.trial import COMPOSITE, MADE, ORACLE, STRATEGIES, Crawled, Trial
from clew.lab.results import append, read_lines
from clew.lab.runner import ExperimentProgress
from clew.lab.simulate import SimulatedCrawl, simulate
from clew.lab.visit_logs import visit_log
from clew.lab.workers import map_in_processes
from clew.policy.tunnel import TunnelRules
from clew.predicate import FormulaPredicate, parse
from clew.predicate.verdict import Predicate
from clew.strategy import Setup, make
from clew.strategy.base import Strategy
from clew.topic import TopicLibrary


def perform(
    trials: Sequence[Trial],
    file: Path,
    *,
    workers: int | None = None,
    tell: Callable[[ExperimentProgress], None] = lambda progress: None,
) -> dict[Trial, Crawled]:
    """Crawl what is not in the file yet; gives the outcome of every trial."""
    known = {row["key"]: _read(row) for row in read_lines(file)}
    wanted = list(dict.fromkeys(trials))
    left = [trial for trial in wanted if trial.key not in known]
    done = len(wanted) - len(left)
    for corpus in dict.fromkeys(trial.corpus for trial in left):
        mine = [trial for trial in left if trial.corpus == corpus]
        for trial, crawled in _crawl(corpus, mine, workers or os.cpu_count() or 1):
            append(file, asdict(crawled))
            known[crawled.key] = crawled
            done += 1
            tell(ExperimentProgress(done, len(wanted), f"{corpus}, {trial.wanted.name}: {trial.strategy}"))
    return {trial: known[trial.key] for trial in wanted}


def open_corpus(corpus: str) -> ExperimentCorpus:
    """A recorded web as the paper's harvest needs it: every request brings a page."""
    field = ExperimentCorpus(CorpusSpec(name=corpus, dead_links="drop", robots="ignore"))
    _ = field.parsed_web.graph  # reads every page, from the cache if it can
    return field


def crawl(field: ExperimentCorpus, trial: Trial) -> Crawled:
    """One trial, on its web."""
    graph, parsed_web = field.parsed_web.graph, field.parsed_web
    wanted, mask = _wanted(field, trial)
    hits, sources = mask[graph.tails], mask[graph.heads()]
    again: tuple[int, ...] = ()
    course: SimulatedCrawl | None = None
    if trial.strategy == ORACLE:
        seeds = [parsed_web.number[seed] for seed in trial.seeds]
        finds = oracle.achievable(graph, mask, seeds, trial.pages, originals=parsed_web.originals)
        pages = min(trial.pages, int(graph.reach(seeds).sum()))
    else:
        course = _simulated(field, trial, wanted, _strategy(field, trial, wanted))
        finds, pages = course.finds, course.requests
        if trial.after is not None:
            before = _learned(field, trial.after).found
            again = tuple(at for at, url in zip(finds, course.found, strict=True) if url in before)
    return Crawled(
        key=trial.key,
        finds=finds,
        pages=pages,
        targets=int(mask.sum()),
        rate=float(mask.mean()),
        locality=float(hits[sources].mean()) if sources.any() else 0.0,
        drawn=float(hits.mean()) if len(hits) else 0.0,
        again=again,
        distances=course.distances if course else (),
        behind=course.behind if course else (),
        foci=tuple([(change.pages, change.after) for change in course.changes]) if course else (),
        threshold=wanted.threshold if isinstance(wanted, FormulaPredicate) else 0.5,
    )


def _wanted(field: ExperimentCorpus, trial: Trial) -> tuple[Predicate, Mask]:
    """What is judged, and the pages that satisfy it. A formula of topics is open to a crawl, with the
    threshold of Ester, Groß and Kriegel, section 2.3: the least degree above 0 of a start page. All else is
    blind."""
    if "topic:" not in trial.wanted.formula:
        return field.predicate(trial.wanted, blind=True), field.mask(trial.wanted)
    asked = (trial.corpus, trial.wanted.formula, trial.seeds)
    if asked not in _WANTED:
        _WANTED[asked] = _topical(field, trial)
    return _WANTED[asked]


def _topical(field: ExperimentCorpus, trial: Trial) -> tuple[FormulaPredicate, Mask]:
    if trial.corpus not in _TOPICS:
        _TOPICS[trial.corpus] = web_topics(field.parsed_web)
    open_ended = FormulaPredicate(parse(trial.wanted.formula), topics=_TOPICS[trial.corpus])
    starts = [page for seed in trial.seeds if (page := field.parsed_web.page(seed)) is not None]
    degrees = [open_ended.judge(page).score for page in starts]
    wanted = open_ended.with_threshold(min([degree for degree in degrees if degree > 0]))
    mask = np.zeros(len(field.parsed_web), np.bool_)
    for number, page in field.parsed_web.pages():
        mask[number] = wanted.judge(page).satisfied
    return wanted, mask


#: Topics of the labels of a web, by its name; and formulas of them with what satisfies them.
_TOPICS: dict[str, TopicLibrary] = {}
_WANTED: dict[tuple[str, str, tuple[str, ...]], tuple[Predicate, Mask]] = {}


def _simulated(
    field: ExperimentCorpus, trial: Trial, wanted: Predicate, strategy: Strategy
) -> SimulatedCrawl:
    spec = STRATEGIES[trial.strategy]
    tunnel = TunnelRules(way=spec.tunnel) if spec is not None and spec.tunnel != "off" else None
    return simulate(field.parsed_web, wanted, strategy, trial.seeds, trial.pages, tunnel=tunnel)


def _read(row: dict[str, Any]) -> Crawled:
    lists = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    return Crawled(**(row | lists | {"foci": tuple([(pages, text) for pages, text in row.get("foci", ())])}))


def _strategy(field: ExperimentCorpus, trial: Trial, predicate: Predicate) -> Strategy:
    spec = STRATEGIES[trial.strategy]
    assert spec is not None
    options = dict(spec.options) | ({"weights": spec.weights} if spec.weights else {})
    known = _learned(field, trial.after).knowledge if trial.after else None
    if known is not None and trial.strategy == COMPOSITE:
        strategy = Carried.build(Setup(predicate=predicate, seed=trial.dice, options=options))
        strategy.take(known)
        return strategy
    visits = _made_visits(field) if spec.visits == MADE else None
    return make(spec.name, predicate, seed=trial.dice, options=options, known=known, visits=visits)


#: Logs of made-up people, by web.
_MADE: dict[str, VisitLog] = {}


def _made_visits(field: ExperimentCorpus) -> VisitLog:
    """Half of some hundreds of people have an interest each: one of the categories of the web."""
    name = field.corpus.name
    if name not in _MADE:
        # Top categories only, in a taxonomy: someone is interested in sports, not in one sport alone.
        labels = {label: pages for label, pages in field.labelled.items() if label.count(".") < 2}
        lines = made_log(field.parsed_web.web, labels, people=40 * len(labels), sessions=3)
        rows = [line.split(" ", 7) for line in lines if "Bot" not in line]
        _MADE[name] = visit_log([(row[2], int(float(row[0]) * 1000), row[6]) for row in rows], name)
    return _MADE[name]


@dataclass(frozen=True, slots=True)
class _Lesson:
    """What a crawl had learned and found by its end."""

    knowledge: Knowledge
    found: frozenset[str]


#: Lessons by key: a few trials begin with the same knowledge.
_LESSONS: dict[str, _Lesson] = {}


def _learned(field: ExperimentCorpus, trial: Trial) -> _Lesson:
    """What `clew crawl --use` would find in the directory of a crawl."""
    if trial.key not in _LESSONS:
        wanted, _ = _wanted(field, trial)
        strategy = _strategy(field, trial, wanted)
        course = _simulated(field, trial, wanted, strategy)
        assert strategy.knowledge is not None, "only a strategy with knowledge is reused"
        _LESSONS[trial.key] = _Lesson(strategy.knowledge, frozenset(course.found))
    return _LESSONS[trial.key]


# processes

_field: ExperimentCorpus | None = None


def _work(trial: Trial) -> tuple[Trial, Crawled]:
    assert _field is not None
    return trial, crawl(_field, trial)


def _crawl(corpus: str, trials: Sequence[Trial], workers: int) -> Iterator[tuple[Trial, Crawled]]:
    global _field
    _field = open_corpus(corpus)
    for trial in trials:
        _wanted(_field, trial)  # what takes long is kept: once here, not once in every process
    try:
        if workers <= 1 or len(trials) == 1:
            yield from map(_work, trials)
        else:
            yield from _in_processes(corpus, trials, min(workers, len(trials)))
    finally:
        _field = None
        _LESSONS.clear()
        _TOPICS.clear()
        _WANTED.clear()


def _in_processes(corpus: str, trials: Sequence[Trial], workers: int) -> Iterator[tuple[Trial, Crawled]]:
    return map_in_processes(_work, [(trial,) for trial in trials], workers, _prepare, corpus)


def _prepare(corpus: str) -> None:
    """A worker that was not forked opens the web itself."""
    global _field
    _field = open_corpus(corpus)
