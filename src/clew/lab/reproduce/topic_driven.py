"""The evaluation of Wang and Stroulia (topic-driven): course pages of one department lead to another's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from clew import url as urls
from clew.lab import oracle
from clew.lab.corpora import open_web
from clew.lab.experiment import CorpusSpec, Topic
from clew.lab.experiment_plan import ExperimentCorpus
from clew.lab.reproduce.figure import Sheet
from clew.lab.reproduce.study import Plot, Study, Tell
from clew.lab.simulate import simulate
from clew.lab.statistics import ratio_interval
from clew.page import Page
from clew.strategy import make
from clew.strategy.topic_driven import TopicDriven
from clew.topic import Example, TopicModel
from clew.training.train import like

_DEPARTMENTS = ("cornell", "texas", "washington")
_COURSES = Topic(name="course", label="course")
_REQUESTS, _DRAWN, _EACH, _STEP = 300, 5, 3, 10
_BASE, _BOTH, _SITE, _ORACLE = "breadth-first", "combined", "with site", "oracle"
_OFF = dict.fromkeys(TopicDriven.WEIGHTS, 0.0)
#: Who crawls: weights of the criteria of `topic-driven`; the last but one has its defaults.
_WAYS: dict[str, Mapping[str, float]] = {
    "similarity": _OFF | {"source": 1.0},
    "words of links": _OFF | {"anchor": 1.0, "context": 1.0, "url": 1.0},
    "link importance": _OFF | {"importance": 1.0},
    _BOTH: {},
    _SITE: {"site": 0.5},
}


@dataclass(frozen=True, slots=True)
class _Crawl:
    examples: str
    web: str
    start: str
    way: str
    finds: tuple[int, ...]


class _Department:
    """One department: its pages, its courses, and where crawls of it start."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.field = ExperimentCorpus(CorpusSpec(name=f"webkb:{name}", dead_links="keep", robots="ignore"))
        self.parsed = self.field.parsed_web
        self.courses = self.field.targets(_COURSES)

    def like(self) -> TopicModel:
        """Its courses, as one direction."""
        pages = [self.parsed.page(url) for url in sorted(self.courses)]
        return like([Example(page.url, page) for page in pages if isinstance(page, Page)])

    def starts(self, drawn: int) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The department's own page; then sets of other pages of it that are no courses, by a hash."""
        yield "its front page", tuple(open_web(f"webkb:{self.name}").seeds())
        others = [url for url in self.parsed.urls if url not in self.courses]
        pages = sorted((url for url in others if self.parsed.page(url) is not None), key=urls.key)
        for number in range(drawn):
            yield f"three pages, {number + 1}", tuple(pages[_EACH * number : _EACH * (number + 1)])

    def crawl(self, examples: str, model: TopicModel, start: str, seeds: tuple[str, ...]) -> Iterator[_Crawl]:
        """One start, every way."""
        wanted = self.field.predicate(_COURSES, blind=True)
        plans = {_BASE: make(_BASE, wanted)}
        plans |= {
            way: make("topic-driven", wanted, like=model, weights=given) for way, given in _WAYS.items()
        }
        for way, strategy in plans.items():
            course = simulate(self.parsed, wanted, strategy, seeds, _REQUESTS)
            yield _Crawl(examples, self.name, start, way, course.finds)
        numbers = [self.parsed.number[seed] for seed in seeds]
        mask = self.field.mask(_COURSES)
        best = oracle.achievable(self.parsed.graph, mask, numbers, _REQUESTS, originals=self.parsed.originals)
        yield _Crawl(examples, self.name, start, _ORACLE, tuple(best))


def topic_driven_study(*, small: bool = False, tell: Tell = lambda said: None) -> Study:
    """Section 4.2 of the paper; `small`: two departments, from their front pages."""
    names = _DEPARTMENTS[:2] if small else _DEPARTMENTS
    known = {name: _Department(name) for name in names}
    crawls: list[_Crawl] = []
    for examples, web in permutations(names, 2):
        model = known[examples].like()
        for start, seeds in known[web].starts(0 if small else _DRAWN):
            crawls += known[web].crawl(examples, model, start, seeds)
            tell(f"courses like {examples}'s at {web}, from {start}")
    pairs = list(permutations(names, 2))
    return Study(
        "topic-driven",
        "Course pages like those of another department",
        "Examples are course notes of one university, the start is the department's page of another. "
        "Similarity alone goes into details soonest, links alone through the pages that list courses, "
        "and both together “average things out”. The paper counts nothing.",
        f"WebKB. Examples are all course pages of one department; crawls of {_REQUESTS} requests, dead "
        f"links counted, start at the front page of another, or at one of {_DRAWN} sets of {_EACH} of its"
        " pages that are no courses, drawn by a hash of the address. Found are its course pages. "
        "*similarity* is the source page's cosine alone, *words of links* anchor, surroundings and URL "
        "(the paper's link-based approach), *link importance* PageRank alone, *combined* the defaults of"
        " `--strategy topic-driven`, *with site* these and `--weights site=0.5`.",
        tuple(_plot(crawls, names)),
        (_table(crawls, pairs), _ratios(crawls, pairs)),
    )


_EVERY = (_BASE, *_WAYS, _ORACLE)


def _mean(crawls: list[_Crawl], way: str, at: int = _REQUESTS) -> float:
    mine = [sum(find <= at for find in crawl.finds) for crawl in crawls if crawl.way == way]
    return sum(mine) / len(mine)


def _plot(crawls: list[_Crawl], names: tuple[str, ...]) -> Iterator[Plot]:
    for web in names:
        here = [crawl for crawl in crawls if crawl.web == web]
        lines = tuple(
            (way, [(float(at), _mean(here, way, at)) for at in range(0, _REQUESTS + 1, _STEP)])
            for way in (_BASE, *_WAYS)
        )
        yield Plot(web, f"Course pages of {web}, mean over starts and examples", lines, "requests", "found")


def _table(crawls: list[_Crawl], pairs: list[tuple[str, str]]) -> Sheet:
    rows = []
    for examples, web in pairs:
        here = [crawl for crawl in crawls if (crawl.examples, crawl.web) == (examples, web)]
        for start in dict.fromkeys(crawl.start for crawl in here):
            some = [crawl for crawl in here if crawl.start == start]
            rows.append((f"{examples} → {web}, {start}", *(f"{_mean(some, way):.0f}" for way in _EVERY)))
    return Sheet(
        f"Course pages found with {_REQUESTS} requests", ("examples → crawl, start", *_EVERY), tuple(rows)
    )


def _ratios(crawls: list[_Crawl], pairs: list[tuple[str, str]]) -> Sheet:
    rows = []
    for chosen, name in (*(([pair], f"{pair[0]} → {pair[1]}") for pair in pairs), (pairs, "all")):
        here = [crawl for crawl in crawls if (crawl.examples, crawl.web) in chosen]
        base = [float(len(crawl.finds)) for crawl in here if crawl.way == _BASE]
        cells = [name, f"{np.mean(base):.1f}"]
        for way in _EVERY[1:]:
            mine = [float(len(crawl.finds)) for crawl in here if crawl.way == way]
            low, high = ratio_interval(mine, base)
            cells.append(f"{sum(mine) / sum(base):.2f} [{low:.2f}, {high:.2f}]" if sum(base) else "–")
        rows.append(tuple(cells))
    return Sheet(
        "Times as many as breadth-first, with intervals over starts",
        ("examples → crawl", f"{_BASE}, pages", *_EVERY[1:]),
        tuple(rows),
    )
