"""Does a regular expression occur in a text? Answered in time proportional to the text.

Python's `re` tries one way after another and can take exponential time. A pattern that can only try a few
ways is given to it, for speed. Any other becomes a graph of positions (an NFA) that is followed at all
positions at once; each set of positions met is remembered (a DFA, built as it is needed), so most characters
cost one look-up. What this cannot do is refused: look-around, back-references, atomic groups.

Should the sets not repeat (there are patterns and texts made for that), a search gives up after a fixed
amount of work and says no; the amount does not depend on the machine, so neither does the answer.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

# The standard library's own parser of patterns, so that the syntax is Python's to the letter.
_parser = import_module("re._parser")
_compiler = import_module("re._compiler")

Search = Callable[[str], bool]

#: Positions a pattern may have, counted repeats unrolled.
MAX_POSITIONS = 2000
#: Positions looked at while building one search's sets, before it gives up.
WORK = 200_000
#: Sets of positions remembered.
_STATES = 2000
#: How many steps at each character are left to `re`.
_FEW = 128
_ENDLESS = 10**9

# What stands before and after a place in the text: all that `^`, `$` and `\b` can see.
_EDGE, _NEWLINE, _WORD, _OTHER, _LAST_NEWLINE = range(5)

_REFUSED = re.compile(
    r"(?P<skip>\\[^1-9]|\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<back>\\[1-9]|\(\?P=|\(\?\()"
    r"|(?P<look>\(\?<?[=!])"
    r"|(?P<atomic>\(\?>|[*+?}]\+)"
    r"|(?P<ascii>\(\?[iLmsux]*a)",
    re.DOTALL,
)
_WHY = {
    "back": "back-references are not supported: they cannot be matched in reasonable time",
    "look": "look-ahead and look-behind are not supported: they cannot be matched in reasonable time",
    "atomic": "atomic groups and possessive repeats are not supported",
    "ascii": "the flag a is not supported: letters are always those of all languages",
}


class Unsupported(ValueError):
    """A pattern that is wrong or cannot be matched in linear time; knows the place in the pattern."""

    def __init__(self, problem: str, position: int) -> None:
        self.position = position
        super().__init__(problem)


@lru_cache(maxsize=256)
def search(pattern: str, flags: int = 0) -> Search:
    """A function that tells whether the pattern occurs in a text.

    >>> search(r"(a+)+$")("a" * 5000 + "b"), search(r"w.*d")("a wind")
    (False, True)
    """
    for found in _REFUSED.finditer(pattern):
        if found.lastgroup != "skip":
            raise Unsupported(_WHY[str(found.lastgroup)], found.start())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of syntax that may mean something else one day
            tree = _parser.parse(pattern, flags)
            compiled = re.compile(pattern, flags)
    except re.error as error:
        raise Unsupported(f"the regular expression is wrong: {error.msg}", error.pos or 0) from None
    except (RecursionError, OverflowError):
        raise Unsupported("the regular expression is nested too deeply or counts too far", 0) from None
    try:
        if _ways(tree) * min(tree.getwidth()[1], _ENDLESS) <= _FEW:
            return lambda text: compiled.search(text) is not None
        return _Machine(tree).search
    except RecursionError:
        raise Unsupported("the regular expression is nested too deeply", 0) from None


def _ways(tree: Any) -> int:
    """How many ways `re` may have to try from one place, at most; `_ENDLESS` for very many."""
    ways = 1
    for op, arg in tree:
        name = str(op)
        if name == "BRANCH":
            ways *= sum(_ways(branch) for branch in arg[1])
        elif name == "SUBPATTERN":
            ways *= _ways(arg[3])
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            low, high, body = int(arg[0]), int(arg[1]), arg[2]
            each = _ways(body)
            ways *= _ENDLESS if high > 64 or each > 8 else (high - low + 1) * each ** min(high, 10)
        ways = min(ways, _ENDLESS)
    return ways


class _State(dict[str, "_State"]):
    """A set of positions and what stands before; as a mapping, where each character leads."""

    __slots__ = ("before", "kernel")

    def __init__(self, kernel: frozenset[int], before: int) -> None:
        super().__init__()
        self.kernel = kernel
        self.before = before


_FOUND = _State(frozenset(), _OTHER)


class _Machine:
    """The graph of a pattern's positions, and the sets of them met so far.

    A position is (test of a character, next), (None, nexts) for a fork, or (name, next) for `^`, `$`, `\\b`.
    Position 0 is the end: reaching it is a find.
    """

    def __init__(self, tree: Any) -> None:
        self._flags = int(tree.state.flags)
        self._nodes: list[tuple[Any, tuple[int, ...]]] = [(None, ())]
        self._tests: dict[tuple[str, str, int], Callable[[str], Any]] = {}
        self._looks_around = False
        self._start = self._sequence(tree, 0, self._flags)
        self._states: dict[tuple[frozenset[int], int], _State] = {}

    # -- building ---------------------------------------------------------------------------------------

    def _add(self, test: Any, *after: int) -> int:
        if len(self._nodes) >= MAX_POSITIONS:
            raise Unsupported("the regular expression is too large: its counted repeats multiply", 0)
        self._nodes.append((test, after))
        return len(self._nodes) - 1

    def _sequence(self, tree: Any, after: int, flags: int) -> int:
        """Add a sequence that leads to `after`; gives its first position."""
        for op, arg in reversed(list(tree)):
            after = self._item(str(op), op, arg, after, flags)
        return after

    def _item(self, name: str, op: Any, arg: Any, after: int, flags: int) -> int:
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            key = (name, repr(arg), flags)
            if key not in self._tests:
                self._tests[key] = _character(op, arg, flags)
            return self._add(self._tests[key], after)
        if name == "BRANCH":
            return self._add(None, *[self._sequence(branch, after, flags) for branch in arg[1]])
        if name == "SUBPATTERN":
            _, more, fewer, body = arg
            return self._sequence(body, after, (flags | int(more)) & ~int(fewer))
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(int(arg[0]), arg[1], arg[2], after, flags)
        if name == "AT":
            self._looks_around = True
            line = "_LINE" if flags & re.MULTILINE and str(arg) in ("AT_BEGINNING", "AT_END") else ""
            return self._add(str(arg) + line, after)
        raise Unsupported(f"{name.lower().replace('_', ' ')} is not supported in regular expressions here", 0)

    def _repeat(self, low: int, high: Any, body: Any, after: int, flags: int) -> int:
        if high is _parser.MAXREPEAT:
            loop = self._add(None)
            first = self._sequence(body, loop, flags)
            self._nodes[loop] = (None, (first, after))
            after = loop
        else:
            exit_ = after
            for _ in range(int(high) - low):
                after = self._add(None, self._sequence(body, after, flags), exit_)
        for _ in range(low):
            first = self._sequence(body, after, flags)
            if first == after:
                break  # an empty body: more of nothing is nothing
            after = first
        return after

    # -- searching --------------------------------------------------------------------------------------

    def search(self, text: str) -> bool:
        """Whether the pattern occurs in the text."""
        left = [WORK]
        state = self._state(frozenset((self._start,)), _EDGE)
        last = text.endswith("\n") and self._looks_around
        for char in text[:-1] if last else text:
            after = state.get(char)
            if after is None:
                after = self._step(state, char, left)
                if left[0] < 0:
                    return False
            if after is _FOUND:
                return True
            state = after
        if last:
            found, places = self._closure(state, _LAST_NEWLINE, left)
            if found:
                return True
            state = self._state(self._over(places, "\n"), _NEWLINE)
        return self._closure(state, _EDGE, left)[0]

    def _state(self, kernel: frozenset[int], before: int) -> _State:
        key = (kernel, before if self._looks_around else _OTHER)
        found = self._states.get(key)
        if found is None:
            if len(self._states) >= _STATES:
                self._states.clear()
            found = self._states[key] = _State(*key)
        return found

    def _step(self, state: _State, char: str, left: list[int]) -> _State:
        """Where a character leads from a state; remembered in the state."""
        kind = _kind(char)
        found, places = self._closure(state, kind, left)
        after = _FOUND if found else self._state(self._over(places, char), kind)
        if len(state) < 5000:
            state[char] = after
        return after

    def _over(self, places: list[int], char: str) -> frozenset[int]:
        """The positions behind a character; a new search may start there too."""
        nodes = self._nodes
        reached = [nodes[at][1][0] for at in places if nodes[at][0](char)]
        return frozenset((self._start, *reached))

    def _closure(self, state: _State, after: int, left: list[int]) -> tuple[bool, list[int]]:
        """Follow forks and edges: (is the end among them, the positions that wait for a character)."""
        seen = set(state.kernel)
        stack = list(seen)
        places: list[int] = []
        while stack:
            at = stack.pop()
            test, nexts = self._nodes[at]
            if at == 0:
                return True, []
            if test is None or (isinstance(test, str) and _holds(test, state.before, after)):
                fresh = [node for node in nexts if node not in seen]
                seen.update(fresh)
                stack += fresh
            elif not isinstance(test, str):
                places.append(at)
        left[0] -= len(seen)
        return False, places


def _kind(char: str) -> int:
    if char == "\n":
        return _NEWLINE
    return _WORD if char.isalnum() or char == "_" else _OTHER


def _holds(name: str, before: int, after: int) -> bool:
    """Whether `^`, `$`, `\\b` and their like hold between two neighbours."""
    match name:
        case "AT_BEGINNING" | "AT_BEGINNING_STRING":
            return before == _EDGE
        case "AT_BEGINNING_LINE":
            return before in (_EDGE, _NEWLINE)
        case "AT_END":
            return after in (_EDGE, _LAST_NEWLINE)
        case "AT_END_LINE":
            return after in (_EDGE, _NEWLINE, _LAST_NEWLINE)
        case "AT_END_STRING":
            return after == _EDGE
        case "AT_BOUNDARY":
            return (before == _WORD) != (after == _WORD)
        case _:
            return (before == _WORD) == (after == _WORD)


def _character(op: Any, arg: Any, flags: int) -> Callable[[str], Any]:
    """A test of one character, compiled by `re` itself so that case and categories are its own."""
    state = _parser.State()
    state.flags = flags & (re.IGNORECASE | re.DOTALL | re.UNICODE | re.ASCII)
    test: Callable[[str], Any] = _compiler.compile(_parser.SubPattern(state, [(op, arg)])).match
    return test
