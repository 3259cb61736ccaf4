"""The user's own code as an atom: `py:module:function`, a callable that takes a Page and gives a degree.

A formula with this atom runs code of the user's choice, so it parses only where the caller says the text
is the user's own (`allow_python=True`): the command line and local configuration, never a network.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clew.errors import ClewError, Interruption, UsageError
from clew.page import Page
from clew.predicate.atoms.base import Leaf, Maker, Matcher, Resources, Value
from clew.predicate.formula import Atom
from clew.predicate.view import PageView

_NAME = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)")
#: How far a degree may miss [0, 1] and still be taken for a rounding error.
_SLACK = 1e-6
#: Letters of a value that are shown.
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Python(Leaf):
    """A function of the user's, by module and name.

    >>> str(Python("mypackage.rules", "is_recipe"))
    'py:mypackage.rules:is_recipe'
    """

    module: str
    function: str

    cost = 1000

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(f"{self.module}:{self.function}"):
            raise ValueError("py: needs a module and a function in it, as in py:mypackage.rules:is_recipe")

    def __str__(self) -> str:
        return f"py:{self.module}:{self.function}"

    def matcher(self, resources: Resources) -> Matcher:
        return PythonMatcher(resources.resolve(self.module, self.function), str(self))


class PythonMatcher:
    """Calls the function and holds it to its word."""

    __slots__ = ("_function", "_name")

    def __init__(self, function: Callable[[Page], Any], name: str) -> None:
        self._function = function
        self._name = name

    def degree(self, view: PageView) -> float:
        return ask(self._function, self._name, view.page)

    def link(self, anchor: str, url: str) -> float:
        return 0.0


def ask(function: Callable[[Page], Any], name: str, page: Page) -> float:
    """What a user's function says of a page, as a degree; its errors become clear ones.

    >>> ask(lambda page: "wind" in page.text, "mine", Page(url="http://a.example/", text="wind"))
    1.0
    """
    try:
        answer = function(page)
    except (ClewError, Interruption, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ClewError(f"{name} failed on {page.url}: {_shown(error)}") from error
    try:
        degree = math.nan if isinstance(answer, str) else float(answer)
    except Exception:  # whatever the user's own class raises when it is asked for a number
        degree = math.nan
    if not -_SLACK <= degree <= 1 + _SLACK:
        raise ClewError(
            f"{name} gave {_shown(answer)} for {page.url}: it must return True, False or a number from 0 to 1"
        )
    return min(1.0, max(0.0, degree))


def _shown(value: object) -> str:
    """A value of the user's on one short line, whatever it does when it is shown."""
    kind = type(value).__name__
    try:
        text = f"{kind}: {value}" if isinstance(value, BaseException) else repr(value)
    except Exception:  # its own class may raise, and a number of 5,000 digits does
        text = f"something ({kind})"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def find(module: str, function: str) -> Callable[[Page], Any]:
    """Import a function by module and name."""
    name = f"py:{module}:{function}"
    try:
        found: Any = importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UsageError(
            f"{name}: cannot import {module} ({_shown(error)}); install it, or put its folder on PYTHONPATH"
        ) from error
    for part in function.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{name}: {module} has no {function}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{name}: {function} is not a function but {type(found).__name__}")
    return found  # type: ignore[no-any-return]  # its signature shows when it is called


def make(value: Value) -> Atom:
    """Understand `py:`, where it is allowed."""
    text = value.plain("py:mypackage.rules:is_recipe")
    if not value.allow_python:
        value.fail("py: runs code, so it is permitted only on the command line and in local configuration")
    module, _, function = text.partition(":")
    try:
        return Python(module, function)
    except ValueError as error:
        value.fail(str(error))


FIELDS: dict[str, Maker] = {"py": make}
