"""The shape of a URL: what is left when its particulars are folded away.

Pages that a program makes without end differ in particulars (numbers, dates, random words) and agree in
shape. `shapes` gives the narrow one, a folder and the kind of name in it, and a wide one, everything below a
host's first folder; a calendar has one shape for all its dates.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d+")
_RANDOM = re.compile(r"[0-9a-f]{16,}|(?=[0-9A-Za-z_-]*\d)(?=[0-9A-Za-z_-]*[A-Za-z])[0-9A-Za-z_-]{20,}")
#: Shorter words are never taken for random ones.
_LONG = 16
_DATE = re.compile(r"\d{4}-(?:0?[1-9]|1[0-2])(?:-[0-3]?\d)?|[12]\d{3}(?:0[1-9]|1[0-2])[0-3]\d")
_DATE_VALUE = re.compile(r"\d{1,4}(?:[-./]\d{1,4}){0,2}|\d{6,14}")
_NAMES = """
    cal_date caldate calendar date day event-date event_date eventdate from_date mon month start_date
    tribe-bar-date view_date week year yr
"""
_WORDS = "agenda archive archives cal calendar diary events kalender schedule"
#: Parameters that hold a date.
_DATE_NAMES = frozenset(_NAMES.split())
#: Folders below which a number of four digits is a year.
_CALENDAR_WORDS = frozenset(_WORDS.split())
_SCRIPT_END = (".php", ".asp", ".aspx", ".cgi", ".pl", ".jsp", ".do", ".cfm")


def shapes(url: str) -> tuple[str, ...]:
    """The shapes of a canonical URL, the narrow one first, without its host.

    >>> shapes("http://a.example/shop/item-12.html?color=red")
    ('/shop/name.html?', '/shop/**')
    >>> shapes("http://a.example/calendar/2031/05") == shapes("http://a.example/calendar/1999/12/24?view=day")
    True
    """
    slash = url.find("/", url.find("//") + 2)
    path, mark, query = url[slash:].partition("?")
    parts = path.split("/")[1:]
    start = _dated(parts)
    if start < 0 and mark and _dated_query(query):
        return (f"date:{_fold(path)}?",)
    if start >= 0:
        return (f"date:/{_fold('/'.join(parts[:start]))}",)
    folder, name = "/".join(parts[:-1]), parts[-1]
    narrow = f"/{_fold(folder)}/" if folder else "/"
    narrow += _kind(name) + _asked(name, mark, query)
    return (narrow, f"/{parts[0]}/**") if folder and parts[0] else (narrow,)


def dated(shape: str) -> bool:
    """Whether a shape is a calendar's."""
    return shape.startswith("date:")


def folder(url: str) -> str:
    """The first folder of a URL's path; empty for a page right below the host.

    >>> folder("http://a.example/shop/item?x=/"), folder("http://a.example/item")
    ('shop', '')
    """
    start = url.find("/", url.find("//") + 2) + 1
    end = url.find("/", start)
    mark = url.find("?", start)
    return url[start:end] if end > 0 and (mark < 0 or end < mark) else ""


def folder_of(shape: str) -> str | None:
    """The first folder of all URLs of a shape; None where they can differ in it.

    >>> folder_of("/shop/name.html?"), folder_of("/name"), folder_of("date:/calendar"), folder_of("/u0/name")
    ('shop', '', 'calendar', None)
    """
    parts = shape.removeprefix("date:").split("/")
    calendar = dated(shape) and not shape.endswith("?")
    first = parts[1] if calendar or len(parts) > 2 else ""
    if (calendar and not first) or "0" in first or "*" in first:
        return None
    return first


def _kind(name: str) -> str:
    if not name:
        return ""
    stem, dot, end = name.rpartition(".")
    if not dot or len(end) > 5:
        stem, end = name, ""
    kind = "0" if stem.isdigit() else "*" if len(stem) >= _LONG and _RANDOM.fullmatch(stem) else "name"
    return kind + dot + end if end else kind


def _asked(name: str, mark: str, query: str) -> str:
    """A page that has its name in the path is one page whatever it is asked; a script is many."""
    if not mark:
        return ""
    script = not name or name.endswith(_SCRIPT_END)
    return f"?{name}:{_fold(query.partition('=')[0])}" if script else "?"


def _fold(text: str) -> str:
    if _NUMBER.search(text) is None:
        return text
    return _NUMBER.sub("0", _RANDOM.sub("*", text) if len(text) >= _LONG else text)


def _dated(parts: list[str]) -> int:
    """Where in a path the date begins that it ends with; -1 when it ends otherwise."""
    last = len(parts) - (1 if parts[-1] else 2)
    if last < 0:
        return -1
    word = parts[last]
    if not word[:1].isdigit():
        return -1
    if _DATE.fullmatch(word):
        return last
    if not word.isdigit():
        return -1
    if len(word) == 4:
        # A number of four digits is a year only where a calendar is announced; else it is just a number.
        return last if last and parts[last - 1].lower() in _CALENDAR_WORDS else -1
    for back, top in ((1, 12), (2, 31)):
        year = last - back
        if year >= 0 and len(parts[year]) == 4 and parts[year].isdigit():
            return year if len(word) <= 2 and int(word) <= top and _month(parts[year + 1]) else -1
    return -1


def _month(word: str) -> bool:
    return word.isdigit() and len(word) <= 2 and 1 <= int(word) <= 12


def _dated_query(query: str) -> bool:
    if len(query) > 1000:
        return False
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name.lower() in _DATE_NAMES and _DATE_VALUE.fullmatch(value):
            return True
    return False
