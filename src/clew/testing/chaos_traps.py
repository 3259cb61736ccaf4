"""Traps: spaces of pages without end, each page well-formed, new and worthless.

A trap is a function from the rest of the address to the links on its page and some text; the same address
gives the same page.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from clew.testing.chaos_faults import Cure, FaultPlace, declare

Trap = Callable[[str, random.Random], tuple[str, list[str]]]
TRAPS: dict[str, Trap] = {}
"""By name: (path and query below the trap's own, dice) -> (text, hrefs)."""


def trap(name: str) -> Callable[[Trap], Trap]:
    """Declare the trap below; its docstring is what it says of itself."""

    def take(make: Trap) -> Trap:
        TRAPS[name] = make
        declare(name, FaultPlace.TRAP, Cure.HOPELESS, " ".join((make.__doc__ or "").split()))
        return make

    return take


@trap("calendar")
def _(rest: str, dice: random.Random) -> tuple[str, list[str]]:
    """a calendar with a page for every month and day, past and future"""
    numbers = [int(part) for part in rest.split("/") if part.isdigit()] or [2024]
    year, month = max(numbers[0], 1900), min(max([*numbers, 1][1], 1), 12)
    later = (year, month + 1) if month < 12 else (year + 1, 1)
    earlier = (year, month - 1) if month > 1 else (year - 1, 12)
    days = [f"/calendar/{year}/{month:02}/{day:02}" for day in range(1, 29)]
    steps = [f"/calendar/{y}/{m:02}" for y, m in (later, earlier)]
    return f"Events of {year}-{month:02}: none.", steps + days


@trap("session-ids")
def _(rest: str, dice: random.Random) -> tuple[str, list[str]]:
    """the same three pages under a new session id with every visit"""
    ids = [f"{dice.getrandbits(128):032x}" for _ in range(6)]
    hrefs = [f"/session-ids/page{i % 3};jsessionid={name}" for i, name in enumerate(ids[:3])]
    return "Your basket is empty.", hrefs + [f"/session-ids/page{i}?visit={n}" for i, n in enumerate(ids[3:])]


@trap("repeating-path")
def _(rest: str, dice: random.Random) -> tuple[str, list[str]]:
    """relative links that make the path repeat itself"""
    here = "/repeating-path/" + rest.strip("/")
    return "Products and news.", [f"{here}/{word}/" for word in ("products", "news", "products/news")]


@trap("growing-query")
def _(rest: str, dice: random.Random) -> tuple[str, list[str]]:
    """filters that add one more parameter with every step"""
    query = rest.partition("?")[2]
    more = [f"{dice.choice(('color', 'size', 'sort', 'page'))}{dice.randrange(999)}=1" for _ in range(6)]
    return "Filter the results.", [f"/growing-query?{query}&{item}" if query else f"?{item}" for item in more]


@trap("soft-404")
def _(rest: str, dice: random.Random) -> tuple[str, list[str]]:
    """a friendly 'not found' with status 200 and links to more that is not there"""
    return "Sorry, this page could not be found.", [f"/soft-404/{dice.getrandbits(40):x}" for _ in range(8)]


@trap("link-farm")
def _(rest: str, dice: random.Random) -> tuple[str, list[str]]:
    """pages of nothing but links to more pages of nothing but links"""
    return "Best links!", [f"/link-farm/{dice.getrandbits(48):x}.html" for _ in range(100)]


declare(
    "mirror", FaultPlace.TRAP, Cure.HOPELESS, "a host that serves the pages of another under its own name"
)
