"""Path patterns of robots.txt, many at once: which is the longest that matches a path?

A pattern is a prefix in which `*` stands for any run of characters and a final `$` for the end. Plain
prefixes, nearly all there are, sit in a dictionary and are found by cutting the path at each length that
occurs; the rest are tried longest first, each in one pass without backtracking.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, repeat

_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def escape(text: str | bytes) -> str:
    """ASCII only: other bytes as `%XX`, and escapes that are there already in upper case.

    >>> escape("/caf\\u00e9/%c3%a9")
    '/caf%C3%A9/%C3%A9'
    """
    if not text.isascii():
        raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        text = "".join(chr(b) if b < 0x80 else f"%{b:02X}" for b in raw)
    elif isinstance(text, bytes):
        text = text.decode("ascii")
    return _ESCAPE.sub(lambda m: m[0].upper(), text) if "%" in text else text


def fold(text: str) -> str:
    """Undo escapes that were not needed, so that two spellings of one path compare equal.

    >>> fold("/%7Eanna/%62%2F")
    '/~anna/b%2F'
    """
    return _ESCAPE.sub(_unescape, text) if "%" in text else text


def _unescape(match: re.Match[str]) -> str:
    letter = chr(int(match[1], 16))
    return letter if letter in _UNRESERVED else match[0]


@dataclass(frozen=True, slots=True)
class _Wild:
    """A pattern with `*` or a final `$`: literal pieces that must occur in this order."""

    weight: int
    head: str
    pieces: tuple[str, ...]
    tail: str | None
    """What the path must end with, when the pattern ends with `$`."""

    @classmethod
    def of(cls, pattern: str, weight: int) -> _Wild:
        anchored = pattern.endswith("$")
        head, *rest = pattern.removesuffix("$").split("*") if anchored else pattern.split("*")
        tail = (rest.pop() if rest else "") if anchored else None
        return cls(weight, head, tuple(filter(None, rest)), tail)

    def matches(self, path: str) -> bool:
        if not path.startswith(self.head):
            return False
        at = len(self.head)
        for piece in self.pieces:
            at = path.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        return self.tail is None or (len(path) - len(self.tail) >= at and path.endswith(self.tail))


@dataclass(frozen=True, slots=True)
class _Exact(_Wild):
    """`/path$`: no star at all."""

    def matches(self, path: str) -> bool:
        return path == self.head


@dataclass(frozen=True, slots=True)
class Patterns:
    """A set of patterns.

    >>> patterns = Patterns.of(["/a", "/a/*.pdf$"])
    >>> patterns.longest("/a/x.pdf"), patterns.longest("/a/x.pdf?y"), patterns.longest("/b")
    (9, 2, -1)
    """

    prefixes: dict[str, int] = field(default_factory=dict)
    """Plain prefix -> weight."""
    lengths: tuple[int, ...] = ()
    """Lengths of the plain prefixes, longest first."""
    wild: tuple[_Wild, ...] = ()
    """The others, heaviest first."""

    @classmethod
    def of(cls, patterns: Iterable[str], weights: Iterable[int] = ()) -> Patterns:
        """A set. A pattern weighs its length unless `weights` says otherwise; empty ones are left out."""
        prefixes: dict[str, int] = {}
        wild: dict[str, int] = {}
        for pattern, weight in zip(patterns, chain(weights, repeat(0)), strict=False):
            if pattern:
                bare = pattern.rstrip("*")
                # A trailing star changes nothing but the weight; what is left may be a plain prefix.
                into, key = (wild, pattern) if "*" in bare or bare.endswith("$") else (prefixes, bare)
                into[key] = max(into.get(key, 0), weight or len(pattern))
        return cls(
            prefixes,
            tuple(sorted({len(prefix) for prefix in prefixes}, reverse=True)),
            tuple(sorted((_compile(p, w) for p, w in wild.items()), key=lambda x: -x.weight)),
        )

    def longest(self, path: str) -> int:
        """The weight of the heaviest pattern that matches, or -1."""
        best = -1
        prefixes = self.prefixes
        for length in self.lengths:
            weight = prefixes.get(path[:length], -1)
            best = max(best, weight)
        for pattern in self.wild:
            if pattern.weight <= best:
                break
            if pattern.matches(path):
                return pattern.weight
        return best

    def __len__(self) -> int:
        return len(self.prefixes) + len(self.wild)


def _compile(pattern: str, weight: int) -> _Wild:
    if pattern.endswith("$") and "*" not in pattern:
        return _Exact(weight, pattern[:-1], (), None)
    return _Wild.of(pattern, weight)
