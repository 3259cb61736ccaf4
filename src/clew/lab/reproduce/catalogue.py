"""The figures, tables and sections of the paper's section 5, each as trials on the recorded webs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from clew.lab.experiment import Topic
from clew.lab.reproduce.figure import Figure, Line, Panel
from clew.lab.reproduce.trial import FACTORS, ORACLE, Trial
from clew.lab.reproduce.webs import (
    COURSES,
    DOCS,
    ENGINES,
    EVERYDAY,
    FRONT,
    HARD,
    PAGES,
    PARIS,
    STARTS,
    STUDENTS,
    THREADS,
    WEBKB,
    WIKI,
    quick,
    topic,
)

#: Everybody who crawls for figures 4 to 8, in the order of the legend.
EVERYBODY = ("composite", *FACTORS, "random", "breadth-first", "learned", ORACLE)
_FORMS = ("every page", "word tokens", "tempered", "in-link words", "deviation over N", "no smoothing")
_TITLES = {
    WIKI: "Wikispeedia with image pages",
    HARD: "Wikispeedia without index pages",
    WEBKB: "WebKB",
    DOCS: "documentation",
}
_FILES = {WIKI: "wikispeedia", HARD: "hard", WEBKB: "webkb", DOCS: "docs"}


def figures(*, small: bool = False) -> dict[str, Figure]:
    """Everything that can be reproduced, by name; `small` on the demo web, to try it out."""
    made = {figure.name: figure for figure in _all()}
    return {name: _smaller(figure) for name, figure in made.items()} if small else made


def _smaller(figure: Figure) -> Figure:
    panels = (
        replace(
            panel,
            title=f"the demo web, not {panel.title}",
            lines=tuple(
                Line(line.name, tuple(dict.fromkeys(map(quick, line.trials)))) for line in panel.lines
            ),
        )
        for panel in figure.panels
    )
    return replace(figure, panels=tuple(panels))


def _trial(corpus: str, wanted: Topic, seed: str, strategy: str, after: Trial | None = None) -> Trial:
    return Trial(corpus, wanted, (seed,), strategy, PAGES[corpus], after)


def _single(corpus: str, wanted: Topic, start: str, seed: str) -> Panel:
    """Everybody, from one page."""
    lines = (Line(name, (_trial(corpus, wanted, seed, name),)) for name in EVERYBODY)
    return Panel(_FILES[corpus], f"{wanted.name} from {start}, {_TITLES[corpus]}", tuple(lines))


def _from(corpus: str, wanted: Topic, start: str) -> Panel:
    return _single(corpus, wanted, start, STARTS[corpus][start])


def _average(corpus: str, wanted: Topic, names: Iterable[str], starts: int = 5) -> Panel:
    """Means over places to start."""
    seeds = list(STARTS[corpus].values())[:starts]
    lines = (Line(name, tuple(_trial(corpus, wanted, seed, name) for seed in seeds)) for name in names)
    return Panel(_FILES[corpus], f"{wanted.name}, mean of {starts} starts, {_TITLES[corpus]}", tuple(lines))


def _seeds(corpus: str, wanted: Topic) -> Panel:
    """The composite, a line for each place to start."""
    lines = [
        Line(start, (_trial(corpus, wanted, seed, "composite"),)) for start, seed in STARTS[corpus].items()
    ]
    return Panel(_FILES[corpus], f"{wanted.name}, composite, {_TITLES[corpus]}", tuple(lines))


def _all() -> Iterator[Figure]:
    yield from _averaged_and_single()
    yield from _other_predicates()
    yield from _other_seeds()
    yield _kinds()
    yield from _reuse()
    yield _forms()


def _averaged_and_single() -> Iterator[Figure]:
    yield Figure(
        "figure-3",
        "Figure 3: an averaged lift curve",
        "The composite and a random crawler on the live web of 2001, category SPORTS by a classifier and a "
        "threshold, mean of five starting points. The composite climbs to a majority of relevant pages; "
        "random stays near 1 %.",
        "Category Everyday life of Wikispeedia (sports, games, films, food), blind, from five pages that are "
        "about something else. With its 24,487 image pages the category is 1.2 % of the web, as rare as the "
        "paper's. The category has 369 pages, so that no crawl can keep its harvest for ever: the oracle "
        "shows what is possible.",
        tuple(
            _average(corpus, EVERYDAY, ("composite", "random", "breadth-first", "learned", ORACLE))
            for corpus in (WIKI, HARD)
        ),
    )
    yield Figure(
        "figure-4",
        "Figure 4: each factor alone, from the arts section",
        "SPORTS from the arts section of a directory. The composite beats every factor alone; link learns "
        "more slowly than content and tokens; sibling is low until it meets a hub, but above random.",
        "The same category from the index page of Art, a section of a directory too; on the variant without "
        "index pages, from the article Art.",
        (_from(WIKI, EVERYDAY, "Art (index)"), _from(HARD, EVERYDAY, "Art")),
    )


def _other_predicates() -> Iterator[Figure]:
    yield Figure(
        "figure-5",
        "Figure 5: a category and a keyword",
        "TRAVEL pages with the keyword Paris, from the front page of a directory. Tokens do poorly, link "
        "slightly better, the composite best for most of the crawl.",
        "Geography pages that name Paris, from the front page of the subject index; on the variant without "
        "it, from United Kingdom. And a keyword alone, in technical documentation on 68 hosts, from "
        "PostgreSQL's.",
        (
            _single(WIKI, PARIS, "the subject index", FRONT[WIKI]),
            _single(HARD, PARIS, "United Kingdom", FRONT[HARD]),
            _from(DOCS, THREADS, "PostgreSQL"),
        ),
    )
    yield Figure(
        "figure-6",
        "Figure 6: a predicate without locality",
        "AUTOMOTIVE pages with Toyota and SUV, from an auction site. Link has a very low harvest, since such "
        "pages do not link to each other; the other factors and the composite do well.",
        "Design and technology pages that name engines, from Market: of the links of such pages one in "
        "thirteen leads to another. And courses of two computer science departments, 1996, whose pages "
        "hardly ever link to each other, from Cornell's front page.",
        (
            _from(WIKI, ENGINES, "Market"),
            _from(HARD, ENGINES, "Market"),
            _from(WEBKB, COURSES, "Cornell"),
        ),
    )


def _other_seeds() -> Iterator[Figure]:
    yield Figure(
        "figure-7",
        "Figure 7: one seed",
        "SPORTS from a shop. Compare with figure 8: content and link change places.",
        "Everyday life from Market. And students of the two departments, from Cornell's front page.",
        (_from(WIKI, EVERYDAY, "Market"), _from(HARD, EVERYDAY, "Market"), _from(WEBKB, STUDENTS, "Cornell")),
    )
    yield Figure(
        "figure-8",
        "Figure 8: another seed",
        "SPORTS from a university. Compare with figure 7.",
        "Everyday life from University. And the same students from the front page of Texas.",
        (
            _from(WIKI, EVERYDAY, "University"),
            _from(HARD, EVERYDAY, "University"),
            _from(WEBKB, STUDENTS, "Texas"),
        ),
    )
    yield Figure(
        "figure-9",
        "Figure 9: the composite from five seeds",
        "SPORTS: four of the five crawls behave alike; the fifth, from a shop, still has about 40 %.",
        "Everyday life from the five pages of figure 3. Spread is the coefficient of variation of the "
        "harvest over the seeds, after as many pages.",
        (_seeds(WIKI, EVERYDAY), _seeds(HARD, EVERYDAY)),
        kind="spread",
    )
    yield Figure(
        "seeds",
        "Section 5.2: every factor from every seed",
        "Which factor is good depends even on the seed; the composite hardly does.",
        "Harvest at the end of each crawl of figure 3 and of each factor alone from the same pages, and the "
        "spread over the seeds.",
        tuple(_average(corpus, EVERYDAY, EVERYBODY) for corpus in (WIKI, HARD)),
        kind="matrix",
    )


def _kinds() -> Figure:
    s = 'url:"/wp/s/"'
    rows = (
        (WIKI, topic("", f"king {s}"), FRONT[WIKI]),
        (DOCS, topic("", "thread url:python"), STARTS[DOCS]["Python"]),
        (WIKI, topic("subject.Geography", s), FRONT[WIKI]),
        (WEBKB, topic("student", "url:utexas"), STARTS[WEBKB]["Texas"]),
        (WIKI, topic("subject.People", 'university url:"/wp/j/"'), FRONT[WIKI]),
        (WEBKB, topic("student", "research url:utexas"), STARTS[WEBKB]["Texas"]),
        (WIKI, ENGINES, FRONT[WIKI]),
        (HARD, ENGINES, FRONT[HARD]),
        (WEBKB, topic("course", "homework"), STARTS[WEBKB]["Cornell"]),
    )
    panels = (
        Panel(
            f"{number}-{_FILES[corpus]}",
            f"{wanted.name}, {_TITLES[corpus]}",
            tuple(
                Line(name, (replace(_trial(corpus, wanted, seed, name), pages=PAGES[corpus] // 2),))
                for name in EVERYBODY
            ),
        )
        for number, (corpus, wanted, seed) in enumerate(rows, start=1)
    )
    return Figure(
        "table-2",
        "Table 2: kinds of predicates",
        "Keyword ∧ URL keyword 36 % (random 0.4 %); category ∧ URL keyword 41 % (0.2 %); category ∧ keyword "
        "∧ URL keyword 33 % (0.07 %); category ∧ keyword 39 % (0.09 %), after about 10,000 pages each.",
        "The same four kinds. The paper's .uk cuts the web by place, not by meaning; so do the folders of "
        "Wikispeedia (the first letter of the title), a university's and a project's hosts. Some of these "
        "predicates hold for a few dozen pages only; so the crawls are half as long as the others.",
        tuple(panels),
        kind="kinds",
    )


def _reuse() -> Iterator[Figure]:
    panels = []
    for corpus in (WIKI, HARD):
        (_, first), *others = STARTS[corpus].items()
        lines = []
        for name in ("composite", "learned"):
            earlier = _trial(corpus, EVERYDAY, first, name)
            for what, after in (("", None), (", with knowledge", earlier)):
                trials = tuple(_trial(corpus, EVERYDAY, seed, name, after) for _, seed in others)
                lines.append(Line(name + what, trials))
        panels.append(Panel(_FILES[corpus], f"{EVERYDAY.name}, {_TITLES[corpus]}", tuple(lines)))
    yield Figure(
        "figure-10",
        "Figure 10: knowledge used again",
        "SPORTS from a newspaper, with and without what an earlier crawl for SPORTS learned: with it, the "
        "crawl begins high.",
        "Everyday life from four pages (mean), with what the crawl from the fifth, Art, had learned. The "
        "composite goes on counting where that crawl stopped, as in the paper; `learned` uses knowledge as "
        "`clew crawl --use` does.",
        tuple(panels),
        kind="reuse",
    )
    yield Figure(
        "related",
        "Section 5.4: knowledge for a related predicate",
        "Shopping pages about books from the front page of a directory; then only those of .uk, from its "
        "British front page: 42 % with the knowledge of the first crawl, 28 % without, after 5,000 pages.",
        "A category on one part of a web, then the same category on another part, started there: students "
        "from Cornell, then those of Texas; Geography, then Geography under one letter; threads in any "
        "documentation, then in Python's.",
        tuple(_related()),
        kind="reuse",
    )


def _related() -> Iterator[Panel]:
    cases = (
        (WEBKB, STUDENTS, "Cornell", topic("student", "url:utexas"), STARTS[WEBKB]["Texas"]),
        (WEBKB, COURSES, "Texas", topic("course", "url:cornell"), STARTS[WEBKB]["Cornell"]),
        (WIKI, topic("subject.Geography"), "Market", topic("subject.Geography", 'url:"/wp/s/"'), FRONT[WIKI]),
        (DOCS, THREADS, "PostgreSQL", topic("", "thread url:python"), STARTS[DOCS]["Python"]),
    )
    for number, (corpus, before, start, wanted, seed) in enumerate(cases, start=1):
        lines = []
        for name in ("composite", "learned"):
            earlier = _trial(corpus, before, STARTS[corpus][start], name)
            for what, after in (("", None), (", with knowledge", earlier)):
                lines.append(Line(name + what, (_trial(corpus, wanted, seed, name, after),)))
        title = f"{before.name}, then {wanted.name}, {_TITLES[corpus]}"
        yield Panel(f"{number}-{_FILES[corpus]}", title, tuple(lines))


def _forms() -> Figure:
    names = ("composite", *_FORMS, "product", "learned")
    return Figure(
        "forms",
        "The paper's forms and others",
        "URLs cut at . and /; each in-link counts in full; words of pages themselves stand for those of "
        "linking pages (eq. 11); the deviation over the satisfying pages (eq. 6); priorities anew each page.",
        "The composite of figure 3 with one of these changed at a time, from three of its starts. "
        "`composite` reads its counts anew whenever the crawl grew by 2 %, `every page` after each one.",
        (_average(WIKI, EVERYDAY, names, starts=3),),
        kind="forms",
    )
