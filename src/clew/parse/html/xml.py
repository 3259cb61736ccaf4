"""XML: feeds (RSS, Atom, RDF) as entries, anything else as text.

The parser underneath expands no entity and opens nothing. Only entries directly below a feed's root or its
channel count, so that entries hidden inside entries cannot make the reading quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass

import turbohtml

from clew.errors import ParseError
from clew.parse.html.document import plain
from clew.parse.limits import DEFAULT, Limits
from clew.parse.text import clip, fold, one_line

_ROOTS = frozenset({"rss", "feed", "rdf"})
_ITEMS = frozenset({"item", "entry"})
_BODIES = ("encoded", "content", "summary", "description")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed: where it leads, its title, its text."""

    href: str
    title: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """What XML holds: a feed's entries, or for any other XML (`entries` None) its text alone."""

    title: str = ""
    description: str = ""
    link: str = ""
    text: str = ""
    entries: tuple[Entry, ...] | None = None


def read_xml(markup: str, limits: Limits = DEFAULT) -> Feed:
    """A feed or other XML; `ParseError` when it is not well-formed.

    >>> feed = read_xml("<rss><channel><item><link>http://a.example/</link></item></channel></rss>")
    >>> feed.entries
    (Entry(href='http://a.example/', title='', summary=''),)
    """
    try:
        root = turbohtml.parse_xml(markup).root
    except (turbohtml.HTMLParseError, ValueError) as error:
        raise ParseError(f"this XML is not well-formed: {error}") from error
    if root is None or _local(root) not in _ROOTS:
        return Feed(text=clip(fold(root.text), limits.text) if root is not None else "")
    channel = next((x for x in root if isinstance(x, turbohtml.Element) and _local(x) == "channel"), root)
    parts = _parts(channel)
    # RSS keeps its items in the channel, RDF beside it.
    places = (channel,) if channel is root else (channel, root)
    items = [x for place in places for x in place if isinstance(x, turbohtml.Element) and _local(x) in _ITEMS]
    return Feed(
        title=_line(parts, "title", limits.title),
        description=_line(parts, "description", limits.description)
        or _line(parts, "subtitle", limits.description),
        link=_href(parts),
        entries=tuple(_entry(item, limits) for item in items[: limits.links]),
    )


def _entry(item: turbohtml.Element, limits: Limits) -> Entry:
    parts = _parts(item)
    body = next((parts[name][0].text for name in _BODIES if name in parts), "")
    return Entry(_href(parts), _line(parts, "title", limits.title), plain(body, limits))


def _parts(element: turbohtml.Element) -> dict[str, list[turbohtml.Element]]:
    """Child elements by local name."""
    parts: dict[str, list[turbohtml.Element]] = {}
    for child in element:
        if isinstance(child, turbohtml.Element):
            parts.setdefault(_local(child), []).append(child)
    return parts


def _href(parts: dict[str, list[turbohtml.Element]]) -> str:
    """Atom's alternate link, RSS's link, or a permanent id."""
    for link in parts.get("link", []):
        href = link.attr("href")
        if href and (link.attr("rel") or "alternate") == "alternate":
            return href
        if not href and link.text.strip():
            return link.text.strip()
    guid = next(iter(parts.get("guid", [])), None)
    return guid.text.strip() if guid is not None and guid.attr("isPermaLink") != "false" else ""


def _line(parts: dict[str, list[turbohtml.Element]], name: str, limit: int) -> str:
    found = parts.get(name)
    return one_line(plain(found[0].text[: 4 * limit]), limit) if found else ""


def _local(element: turbohtml.Element) -> str:
    return element.tag.rpartition(":")[2].lower()
