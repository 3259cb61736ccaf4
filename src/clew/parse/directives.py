"""What a page tells robots about itself: `<meta name=robots>` and the `X-Robots-Tag` header."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

#: The name under which pages may address clew alone.
AGENT = "clew"
#: Directives that carry a value after a colon, so that the colon does not end an agent's name.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_MEANS = {"none": ("noindex", "nofollow")}


def directives(metas: Iterable[tuple[str, str]], headers: Sequence[tuple[str, str]] = ()) -> frozenset[str]:
    """All directives that concern clew, lower case, `none` spelled out.

    Parameters: `metas`, the name and content of each meta element; `headers` of the reply.

    >>> sorted(directives([("robots", "NOINDEX, follow")], [("X-Robots-Tag", "otherbot: none")]))
    ['follow', 'noindex']
    """
    found: set[str] = set()
    for _, content in metas:
        found.update(_split(content))
    for name, value in headers:
        if name.lower() == "x-robots-tag":
            found.update(_split(_for_us(value)))
    return frozenset(found)


def _for_us(value: str) -> str:
    """A header's directives, or nothing when it addresses another agent."""
    agent, colon, rest = value.partition(":")
    agent = agent.strip().lower()
    if not colon or agent in _VALUED or "," in agent:
        return value
    return rest if agent in (AGENT, "*", "robots") else ""


def _split(text: str) -> Iterable[str]:
    for part in text.lower().split(","):
        name = " ".join(part.split())
        if name:
            yield from _MEANS.get(name, (name,))
