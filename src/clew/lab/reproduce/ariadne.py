"""The figures of the paper on Ariadne (Ester, Groß and Kriegel 2001, section 5), as trials on two webs."""

from __future__ import annotations

from dataclasses import dataclass

from clew.lab.experiment import Topic
from clew.lab.reproduce.figure import Figure, Line, Panel
from clew.lab.reproduce.trial import ORACLE, SIMPLE, TUNNELLING, Trial
from clew.lab.reproduce.webs import DEMO, HARD, SITE

MADE_WEB = "regions:2"
_PAGES, _SMALL_PAGES = 1000, 300
_NAMES = ("breadth-first", SIMPLE, TUNNELLING, ORACLE)


@dataclass(frozen=True, slots=True)
class TopicCase:
    """A formula on a web. The narrow one of a web becomes the broad one when both its topics are as general
    as they get, as the paper's do."""

    name: str
    title: str
    corpus: str
    formula: str
    starts: tuple[str, ...]
    """Pages that satisfy it, the first by a hash of the address, as many as the paper had; by the rule in
    docs/ariadne.md."""
    least: float
    """The degree that they were chosen by."""


def _articles(*names: str) -> tuple[str, ...]:
    return tuple([f"{SITE}{name}.htm" for name in names])


def _club_pages(*names: str) -> tuple[str, ...]:
    return tuple([f"http://h{name.replace('/', '.example/', 1)}" for name in names])


CASES = (
    TopicCase(
        "broad",
        "Broad: people in history, Wikispeedia without index pages",
        HARD,
        "topic:people AND topic:history",
        _articles(
            "j/Joseph_Stalin", "p/Pedro_del_Valle", "m/Muhammad", "t/Trojan_War", "j/Julius_Caesar",
            "w/William_Mahone", "g/George_Thomas_Coker", "w/William_I_of_England", "a/Achilles", "s/Smallpox",
            "m/Malcolm_III_of_Scotland", "l/Louis_XIV_of_France", "c/Charles_II_of_England",
            "h/Harry_S._Truman", "p/Penda_of_Mercia", "h/Henry_I_of_England", "w/Woodrow_Wilson",
            "c/Charlemagne", "k/Khudai_Khidmatgar",
        ),
        0.2,
    ),
    TopicCase(
        "narrow",
        "Narrow: historical figures of Britain before 1500, Wikispeedia without index pages",
        HARD,
        "topic:people.historical_figures AND "
        "topic:history.british_history.british_history_1500_and_before_including_roman_britain",
        _articles(
            "w/William_I_of_England", "m/Malcolm_III_of_Scotland", "p/Penda_of_Mercia",
            "n/Norman_conquest_of_England", "h/Henry_I_of_England",
        ),
        0.2,
    ),
    TopicCase(
        "made-broad",
        "Broad: travel in a region, a made web",
        MADE_WEB,
        "topic:travel AND topic:region5",
        _club_pages(
            "756/4.html", "1175/11.html", "515/3.html", "216/2.html", "726/8.html", "967/2.html",
            "966/1.html", "365/3.html", "995/6.html", "62/2.html", "397/6.html", "1026/12.html",
            "62/30.html", "575/5.html", "757/", "785/2.html", "817/7.html", "1176/", "335/2.html",
        ),
        0.2,
    ),
    TopicCase(
        "made-narrow",
        "Narrow: sailing at Lindow, a made web",
        MADE_WEB,
        "topic:travel.sailing AND topic:region5.lindow",
        _club_pages("696/15.html", "696/1.html", "696/", "696/11.html", "697/6.html"),
        0.5,
    ),
)  # fmt: skip

_DEMO_STARTS = tuple(
    [f"http://gannet-rock-gridwatch.test/{page}" for page in ("projects/", "articles/253", "articles/262")]
)
#: For trying the command out: formulas of the demo web's topics, from pages that satisfy both.
SMALL_CASES = (
    TopicCase(
        "broad",
        "Broad: wind power by the sea, the demo web",
        DEMO,
        "topic:wind AND (topic:coast.gannet-rock OR topic:coast)",
        _DEMO_STARTS,
        0.2,
    ),
    TopicCase(
        "narrow",
        "Narrow: wind power at Gannet Rock, the demo web",
        DEMO,
        "topic:wind AND topic:coast.gannet-rock",
        _DEMO_STARTS,
        0.2,
    ),
)


def ariadne_figures(*, small: bool = False) -> dict[str, Figure]:
    """Figures 4 to 7 of the paper; `small` on the demo web, to try it out."""
    pages = _SMALL_PAGES if small else _PAGES
    panels = tuple(
        Panel(case.name, case.title, _lines(case, pages)) for case in (SMALL_CASES if small else CASES)
    )
    precision = Figure(
        "ariadne-precision",
        "Figures 4 and 5: precision over pages",
        "Cumulative precision along crawls of the live web. For the broad formula, tourism in "
        "Mecklenburg-Vorpommern, the simple focused crawler needs 2,700 pages for what breadth-first finds "
        "in 5,000, and never falls below 50 %, so that it never tunnels. For the narrow one, sailing on "
        "Rügen, breadth-first and the simple focused crawler are poor, and tunnelling along the taxonomy is "
        "significantly better in the long run.",
        "On either web a narrow formula of two topics, and a broad one of the topics above them, as the "
        "paper's two are. The threshold is the least degree of a start page (section 2.3). Tunnelling climbs "
        "the taxonomy, with the settings that a crawl has by default.",
        panels,
        "precision",
    )
    distances = Figure(
        "ariadne-distances",
        "Figures 6 and 7: where finds lie",
        "Finds by their link distance on the path that led to them. For the broad formula the simple focused "
        "crawler has most of them beyond a distance of 10, with good precision up to about 25. For the "
        "narrow one, tunnelling has gaps, with finds beyond them: paths with at least six irrelevant pages "
        "in between.",
        "The same crawls. Beside the distance from the start pages, which the paper drew, the pages that are "
        "no finds between a find and the last find before it on its path, which the paper read off the gaps.",
        panels,
        "distances",
    )
    return {figure.name: figure for figure in (precision, distances)}


def _lines(case: TopicCase, pages: int) -> tuple[Line, ...]:
    wanted = Topic(name=case.title.partition(",")[0], formula=case.formula)
    return tuple(Line(name, (Trial(case.corpus, wanted, case.starts, name, pages),)) for name in _NAMES)
