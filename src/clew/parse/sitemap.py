"""Sitemaps: a site's own list of its pages, as a source of candidates.

XML (`urlset`, `sitemapindex`), RSS and Atom, and plain text with an address a line; gzipped or not. The XML
is read by a scanner of a few lines that knows tags, text, CDATA and the five named entities, and nothing
else: a document type or an entity of a file's own is refused, so there is nothing to expand, to fetch or to
open. Wrong namespaces are tolerated, and a file that was cut short gives what it has. The cost is linear in
the size of the body.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from clew import url as urls
from clew.errors import ParseError
from clew.messages import Sitemap
from clew.parse.charset import decode

URL_LIMIT = 50_000
"""Pages (or further sitemaps) taken from one file, as the protocol has it."""
SIZE_LIMIT = 50 * 1024 * 1024
"""Bytes read after decompression."""
TAGS_LIMIT = 2_000_000
"""Tags looked at in one file: forty for every entry it may have."""
TITLE_LIMIT = 300
TAG_LIMIT = 4096

# Of a gzip file: how far it may unfold once past the floor, as for replies, and how many members are read.
_RATIO, _FLOOR, _MEMBERS = 50, 1 << 20, 1000

_ROOTS = {"urlset": "url", "sitemapindex": "sitemap", "rss": "item", "rdf": "item", "feed": "entry"}
_START = 4096
_SITEMAP_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*|<!--.*?-->\s*)*<(?:\w+:)?(?:urlset|sitemapindex)[\s>]", re.S
)
_CONTAINERS = frozenset(_ROOTS.values())
_DOCTYPE = re.compile(r"<!(?:doctype|entity)", re.IGNORECASE)
_TAG = re.compile(r"<([^<>]*)>([^<]*)")
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ATTRIBUTE = re.compile(r"""(?:^|\s)(href|rel)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def is_sitemap(body: bytes) -> bool:
    """Whether a body looks like a sitemap in XML, from its beginning; it may be gzipped.

    >>> is_sitemap(b"<?xml version='1.0'?><urlset><url/></urlset>"), is_sitemap(b"<html><p>urlset</p>")
    (True, False)
    """
    start = body[:_START]
    if start.startswith(b"\x1f\x8b"):
        with contextlib.suppress(zlib.error):
            start = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(start, _START)
    return _SITEMAP_ROOT.match(start) is not None


def parse_sitemap(body: bytes, *, url: str, content_type: str = "", truncated: bool = False) -> Sitemap:
    """What a sitemap lists; `ParseError` when the body is none, or is dangerous.

    Parameters: `body` as received (a gzip file is unpacked here, within limits); `url` it came from, which
    relative addresses are relative to; `truncated`, that the body was cut short already.

    >>> parse_sitemap(b"http://a.example/1\\nhttp://a.example/2\\n", url="http://a.example/map.txt").urls
    ('http://a.example/1', 'http://a.example/2')
    >>> parse_sitemap(b"<urlset><url><loc>/a&amp;b</loc></url></urlset>", url="http://a.example/map.xml").urls
    ('http://a.example/a&b',)
    """
    body, cut = _unpacked(body)
    truncated = truncated or cut or len(body) > SIZE_LIMIT
    text = decode(body[:SIZE_LIMIT], content_type, xml=True)[0].lstrip("\ufeff \t\r\n")
    if text.startswith("<"):
        root, records = _records(text)
        pages, children = (records, []) if root != "sitemapindex" else ([], records)
    else:
        pages, children = _lines(text, truncated), []
    found, titles = _canonical(pages, url)
    return Sitemap(url, found, titles, _canonical(children, url)[0], truncated)


@dataclass(slots=True)
class _Entry:
    """One `url`, `sitemap`, `item` or `entry` while it is read."""

    prefix: str
    place: str = ""
    title: str = ""
    bare: str = ""
    """Text right inside it, where some put the address."""


def _unpacked(body: bytes) -> tuple[bytes, bool]:
    """The body, freed of gzip; whether something is missing."""
    if not body.startswith(b"\x1f\x8b"):
        return body, False
    parts: list[bytes] = []
    room = min(SIZE_LIMIT, max(_FLOOR, len(body) * _RATIO)) + 1
    while body.startswith(b"\x1f\x8b") and room > 0 and len(parts) < _MEMBERS:
        unpack = zlib.decompressobj(wbits=31)
        try:
            part = unpack.decompress(body, room)
        except zlib.error as error:
            if not parts:
                raise ParseError(f"the sitemap does not unpack: {error}") from None
            return b"".join(parts), True
        parts.append(part)
        room -= len(part)
        if not unpack.eof:
            return b"".join(parts), True
        body = unpack.unused_data
    return b"".join(parts), room <= 0 or len(parts) >= _MEMBERS


def _records(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The name of the root, and (address, title) of each entry."""
    root = ""
    found: list[tuple[str, str]] = []
    entry: _Entry | None = None
    for tag, content in islice(_tags(text), TAGS_LIMIT):
        if tag[:1] in "?!":
            continue
        name, prefix, closing = _name(tag)
        if not root:
            if name not in _ROOTS:
                raise ParseError(f"<{name[:40]}> is not a sitemap: expected one of {', '.join(_ROOTS)}")
            root = name
        elif name in _CONTAINERS and (closing or name == _ROOTS[root]):
            _close(entry, found)
            if len(found) >= URL_LIMIT:
                break
            entry = None if closing or tag.endswith("/") else _Entry(prefix, bare=content)
        elif entry is not None and not closing:
            _take(entry, name, prefix, tag, content)
    _close(entry, found)
    return root, found


def _tags(text: str) -> Iterator[tuple[str, str]]:
    """Each tag with the text up to the next one; comments left out, CDATA taken as text."""
    if "<!--" in text:
        text = "".join(_without(text, "<!--", "-->"))
    if "<![CDATA[" in text:
        text = "".join(_quoted(text))
    if _DOCTYPE.search(text):
        # It can define entities and name files to read; no sitemap needs one.
        raise ParseError("the sitemap has a document type, which could hide anything: it is not read")
    for match in _TAG.finditer(text):
        yield match[1], match[2]


def _without(text: str, start: str, end: str) -> Iterator[str]:
    at = 0
    while (found := text.find(start, at)) >= 0:
        yield text[at:found]
        after = text.find(end, found + len(start))
        if after < 0:
            return
        at = after + len(end)
    yield text[at:]


def _quoted(text: str) -> Iterator[str]:
    at = 0
    while (found := text.find("<![CDATA[", at)) >= 0:
        yield text[at:found]
        end = text.find("]]>", found)
        end = len(text) if end < 0 else end
        inside = text[found + 9 : end]
        yield inside.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        at = end + 3
    yield text[at:]


def _name(tag: str) -> tuple[str, str, bool]:
    """Local name in lower case, prefix, and whether it closes."""
    closing = tag.startswith("/")
    word = tag.lstrip("/").split(None, 1)
    prefix, _, name = (word[0].rstrip("/") if word else "").lower().rpartition(":")
    return name, prefix, closing


def _take(entry: _Entry, name: str, prefix: str, tag: str, content: str) -> None:
    """One element inside an entry. `image:loc` is not the page's: its prefix is not the entry's."""
    if name == "loc" and prefix == entry.prefix:
        entry.place = entry.place or content
    elif name == "link" and prefix in ("", "atom") and not entry.place:
        given = {m[1]: m[2] or m[3] or "" for m in _ATTRIBUTE.finditer(tag[:TAG_LIMIT])}
        if given.get("rel", "alternate") == "alternate":
            entry.place = given.get("href", "") or content
    elif name == "title" and not entry.title and prefix in ("", entry.prefix, "news"):
        entry.title = content


def _close(entry: _Entry | None, found: list[tuple[str, str]]) -> None:
    if entry is not None:
        place = entry.place.strip() or entry.bare.strip()
        if place:
            found.append((_plain(place), " ".join(_plain(entry.title).split())[:TITLE_LIMIT]))


def _lines(text: str, truncated: bool) -> list[tuple[str, str]]:
    """The addresses of a text file; any line that is none spoils nothing, but one at least must be."""
    lines = text.split("\n")
    if truncated:
        lines.pop()
    found = [line.strip() for line in lines[: 2 * URL_LIMIT]]
    found = [line for line in found if line[:8].lower().startswith(("http://", "https://"))]
    if not found:
        raise ParseError("the body is neither XML nor a list of addresses: it is no sitemap")
    return [(line, "") for line in found[:URL_LIMIT]]


def _plain(text: str) -> str:
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    if match[3]:
        return _NAMED[match[3]]
    code = int(match[1]) if match[1] else int(match[2], 16)
    return chr(code) if 32 <= code < 0x11_0000 and not 0xD800 <= code < 0xE000 else ""


def _canonical(records: list[tuple[str, str]], base: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Distinct canonical addresses in order, and their titles."""
    found: dict[str, str] = {}
    targets = urls.canonical_many([place for place, _ in records], base)
    for target, (_, title) in zip(targets, records, strict=True):
        if target is not None and target != base:
            found.setdefault(target, title)
    return tuple(found), tuple(found.values())
