"""What a page tells robots about itself: `<meta name=robots>` and the `X-Robots-Tag` header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: The name under which pages may address clew alone.
AGENT = "clew"
#: Directives that carry a value after a colon, so that the colon does not end an agent's name.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_AGENT = re.compile(r"[a-z*][a-z0-9_-]*")
_MEANS = {"none": ("noindex", "nofollow")}
_HIDING = frozenset({"noindex", "none"})


def directives(metas: Iterable[tuple[str, str]], headers: Sequence[tuple[str, str]] = ()) -> frozenset[str]:
    """All directives, lower case, `none` spelled out; those for another agent with its name before them.

    Parameters: `metas`, the name and content of each meta element; `headers` of the reply.

    >>> sorted(directives([("robots", "NOINDEX, follow")], [("X-Robots-Tag", "otherbot: nofollow")]))
    ['follow', 'noindex', 'otherbot:nofollow']
    """
    found: set[str] = set()
    for name, content in metas:
        found.update(_addressed(name.lower(), content))
    for name, value in headers:
        if name.lower() == "x-robots-tag":
            found.update(_addressed("robots", value))
    return frozenset(found)


def binding(found: frozenset[str], agent: str) -> frozenset[str]:
    """Those of a page's directives that bind an agent: the ones for everyone, and the ones for it by name.

    >>> sorted(binding(frozenset({"noarchive", "mybot:noindex", "otherbot:nofollow"}), "MyBot"))
    ['noarchive', 'noindex']
    """
    if not found:
        return found
    mine = agent.lower() + ":"
    # A colon with a space after it has a value behind it, not a directive.
    return frozenset([d.removeprefix(mine) for d in found if ":" not in d or ": " in d or d.startswith(mine)])


def hidden(found: frozenset[str], agent: str) -> bool:
    """Whether a page's directives ask an agent not to show the page to anyone.

    >>> hidden(frozenset({"noindex"}), "mybot"), hidden(frozenset({"otherbot:noindex"}), "mybot")
    (True, False)
    """
    return bool(found and binding(found, agent) & _HIDING)


def _addressed(agent: str, text: str) -> Iterable[str]:
    """The directives of one header or element; a name and a colon address what follows, up to the next."""
    for part in text.lower().split(","):
        name, colon, rest = part.partition(":")
        name = name.strip()
        if colon and name not in _VALUED and _AGENT.fullmatch(name):
            agent, part = name, rest
        prefix = "" if agent in (AGENT, "*", "robots") else f"{agent}:"
        for directive in _split(part.partition(":")[0] if prefix else part):
            yield prefix + directive


def _split(text: str) -> Iterable[str]:
    for part in text.lower().split(","):
        name = " ".join(part.split())
        if name:
            yield from _MEANS.get(name, (name,))
