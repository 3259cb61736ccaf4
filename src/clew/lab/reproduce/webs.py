"""The recorded webs of the reproduction: where crawls start, and what they look for.

Chosen by what the paper says of its own, not by what came of it; see docs/reproduction.md.
"""

from __future__ import annotations

import xxhash

from clew.lab.experiment import Topic
from clew.lab.reproduce.trial import Trial

SITE = "http://schools-wikipedia.org/wp/"
WIKI, HARD, WEBKB, DOCS = "wikispeedia:images", "wikispeedia:hard", "webkb", "miniweb"
#: Pages a crawl may fetch, by web. WebKB's two departments have 1,674.
PAGES = {WIKI: 500, HARD: 500, WEBKB: 300, DOCS: 500}


def _articles(*names: str) -> dict[str, str]:
    return {name: f"{SITE}{name[0].lower()}/{name}.htm" for name in names}


#: Five places to start, none of them near what is looked for: an arts section, a shop, a university, a paper.
STARTS: dict[str, dict[str, str]] = {
    WIKI: {
        "Art (index)": f"{SITE}index/subject.Art.htm",
        **_articles("Market", "University", "Newspaper", "Internet"),
    },
    HARD: _articles("Art", "Market", "University", "Newspaper", "Internet"),
    WEBKB: {"Cornell": "http://www.cs.cornell.edu/", "Texas": "http://www.cs.utexas.edu/"},
    DOCS: {
        "PostgreSQL": "https://www.postgresql.org/docs/15/index.html",
        "Python": "https://docs.python.org/3/index.html",
    },
}
#: The front page of a directory, where there is one; a general article, where there is none.
FRONT = {WIKI: f"{SITE}index/subject.htm", HARD: f"{SITE}u/United_Kingdom.htm"}


def topic(label: str = "", formula: str = "") -> Topic:
    """Pages with a label, that satisfy a formula, or both."""
    short = label.rpartition(".")[2].replace("_", " ")
    return Topic(name=" ∧ ".join(filter(None, (short, formula))), label=label, formula=formula)


EVERYDAY = topic("subject.Everyday_life")
PARIS = topic("subject.Geography", "Paris")
ENGINES = topic("subject.Design_and_Technology", "engine")
THREADS = topic("", "thread")
STUDENTS = topic("student")
COURSES = topic("course")

#: A small web that needs no data, for trying the commands out.
DEMO = "demo"
_DEMO_PAGES = 80
_DEMO_SEEDS = (
    "http://www.cinderford-directory.example/",
    "http://blog.lindow-herald.test/",
    "http://blog.lindow-herald.test/articles/145",
)


def quick(trial: Trial) -> Trial:
    """A small version of a trial: on the demo web, from one of its pages, for a few pages."""
    wanted = {
        (True, False): topic("wind"),
        (True, True): topic("wind", "turbine"),
        (False, True): topic("", '"wind farm" OR turbine'),
    }[bool(trial.wanted.label), bool(trial.wanted.formula)]
    number = xxhash.xxh3_64_intdigest(repr(trial.seeds).encode()) % len(_DEMO_SEEDS)
    after = quick(trial.after) if trial.after else None
    return Trial(DEMO, wanted, (_DEMO_SEEDS[number],), trial.strategy, _DEMO_PAGES, after)
