"""Logs of visits to recorded webs, by name: `open_visits`."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from clew import url as urls
from clew.errors import UsageError
from clew.factor.visit_log import VisitLog
from clew.lab.corpora import SCHOOLS, corpora_home
from clew.visits import read_visits
from clew.visits.people import PersonLimits, sessions

_SESSIONS = "sessions_unfinished.jsonl.zst"
WIKISPEEDIA = "wikispeedia"
"""The name of the sessions of those who played Wikispeedia."""


@lru_cache(maxsize=4)
def open_visits(spec: str) -> VisitLog:
    """`wikispeedia`, the sessions of its players, or a database of visits."""
    if spec == WIKISPEEDIA:
        return _wikispeedia(corpora_home() / _SESSIONS)
    return read_visits(Path(spec)).log


def visit_log(visits: Sequence[tuple[str, int, str]], digest: str = "") -> VisitLog:
    """A log of (person, time in ms, canonical URL).

    >>> log = visit_log([("b", 5000, "http://a.example/"), ("a", 0, "http://a.example/")])
    >>> log.people, len(log.urls)
    (2, 1)
    """
    people = {person: number for number, person in enumerate(sorted({person for person, _, _ in visits}))}
    pages = {url: number for number, url in enumerate(sorted({url for _, _, url in visits}))}
    numbered = [(people[who], at, place, pages[url]) for place, (who, at, url) in enumerate(visits)]
    who, times, _, what = (np.array(column, np.int64) for column in zip(*sorted(numbered), strict=True))
    return VisitLog(
        urls=tuple(pages),
        keys=urls.keys(tuple(pages)),
        people=len(people),
        person=who,
        page=what,
        session=sessions(times, who, PersonLimits().gap),
        digest=digest,
    )


def _wikispeedia(path: Path) -> VisitLog:
    if not path.is_file():
        raise UsageError(f"{path} is missing: set CLEW_CORPORA to the folder that has {path.name}.")
    found: list[tuple[str, int, str]] = []
    for session in _records(path):
        shown = _shown(session["path"])
        step = 1000 * session["dur"] // max(1, len(shown))
        # Only the beginning and the duration are recorded: clicks are spread evenly over it.
        times = [1000 * session["ts"] + step * i for i in range(len(shown))]
        found += [(session["user"], at, _address(name)) for at, name in zip(times, shown, strict=True)]
    return visit_log(found, WIKISPEEDIA)


def _shown(path: Sequence[str]) -> list[str]:
    """The articles that were seen, one after the other; `<` goes back to the one before.

    >>> _shown(["A", "B", "<", "C"])
    ['A', 'B', 'A', 'C']
    """
    back: list[str] = []
    seen: list[str] = []
    for name in path:
        if name != "<":
            back.append(name)
        elif len(back) > 1:
            back.pop()
        if back:
            seen.append(back[-1])
    return seen


def _address(article: str) -> str:
    """Where an article is in the recorded web.

    >>> _address("Wind")
    'http://schools-wikipedia.org/wp/w/Wind.htm'
    """
    name = article.replace("%", "%25")
    first = "%25" if name.startswith("%") else name[0].lower()
    return urls.canonical(f"{SCHOOLS}{first}/{name}.htm") or ""


def _records(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        for line in io.TextIOWrapper(reader, "utf-8"):
            yield json.loads(line)
