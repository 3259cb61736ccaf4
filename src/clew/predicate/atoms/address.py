"""Where a page is: `host:example.org`, `host:*.example.org`, `url:blog`, `url:*/blog/*`, `url:/regex/`.

These can be told of a link before its page is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from clew.predicate.atoms.base import Clue, Leaf, Maker, Matcher, Resources, Value, glob, show_value
from clew.predicate.atoms.regex import make_regex
from clew.predicate.formula import Atom
from clew.predicate.view import PageView
from clew.url import host, origin, to_ascii

_NO_HOST = re.compile(r"[\s/@\\?#%^<>|]")


@dataclass(frozen=True, slots=True)
class HostAtom(Leaf):
    """The page's host. `*.example.org` is the domain and everything below it.

    >>> str(HostAtom("*.Example.org"))
    'host:*.example.org'
    """

    pattern: str

    clue = Clue.LINK

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", _host_pattern(self.pattern))

    def __str__(self) -> str:
        return f"host:{show_value(self.pattern)}"

    def matcher(self, resources: Resources) -> Matcher:
        test = glob(self.pattern)
        if self.pattern.startswith("*."):
            apex, below = glob(self.pattern[2:]), test
            test = lambda name: below(name) or apex(name)  # noqa: E731
        read = _authority if ":" in self.pattern.rpartition("]")[2] else host
        return AddressMatcher(lambda url: "//" in url and test(read(url)))


@dataclass(frozen=True, slots=True)
class Url(Leaf):
    """The page's URL: contains the text, or, with a `*`, is covered by the pattern; case is ignored.

    >>> str(Url("*/blog/*"))
    'url:*/blog/*'
    """

    pattern: str

    clue = Clue.LINK

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", self.pattern.strip())
        if not self.pattern:
            raise ValueError("url: needs a part of a URL, for example url:*/blog/*")

    def __str__(self) -> str:
        return f"url:{show_value(self.pattern)}"

    def matcher(self, resources: Resources) -> Matcher:
        pattern = self.pattern.casefold()
        test = glob(pattern if "*" in pattern else f"*{pattern}*")

        def holds(url: str) -> bool:
            return test(url.casefold()) or ("%" in url and test(unquote(url).casefold()))

        return AddressMatcher(holds)


class AddressMatcher:
    """A test of the URL alone."""

    __slots__ = ("_holds",)

    def __init__(self, holds: Callable[[str], bool]) -> None:
        self._holds = holds

    def degree(self, view: PageView) -> float:
        return 1.0 if self._holds(view.page.url) else 0.0

    def link(self, anchor: str, url: str) -> float:
        return 1.0 if self._holds(url) else 0.0


def _authority(url: str) -> str:
    return origin(url).partition("://")[2]


def _host_pattern(text: str) -> str:
    """Lower case, and each label that is not ASCII in the form URLs have it in."""
    pattern = text.strip().lower()
    if not pattern or _NO_HOST.search(pattern):
        raise ValueError("host: needs a host name such as host:example.org or host:*.example.org")
    if pattern.isascii():
        return pattern
    labels = [part if part.isascii() or "*" in part else to_ascii(part) for part in pattern.split(".")]
    if None in labels:
        raise ValueError(f"{text} is not a host name")
    return ".".join([label for label in labels if label is not None])


def _make(kind: type[HostAtom] | type[Url]) -> Maker:
    def make(value: Value) -> Atom:
        if value.kind == "regex":
            return make_regex(value)
        try:
            return kind(value.plain("host:*.example.org" if kind is HostAtom else "url:*/blog/*"))
        except ValueError as error:
            value.fail(str(error))

    return make


def _site(value: Value) -> Atom:
    """`site:example.org`, as search engines have it: the domain and everything below."""
    name = value.plain("site:example.org").strip().lower().removeprefix("*.").rstrip("/")
    if "/" in name:
        value.fail("site: takes a domain alone; for a part of it write url:*example.org/blog/*")
    try:
        return HostAtom(f"*.{name}")
    except ValueError as error:
        value.fail(str(error).replace("host:", "site:"))


FIELDS: dict[str, Maker] = {"host": _make(HostAtom), "url": _make(Url), "site": _site}
