"""What kind of thing a body is: the declared media type, unless the bytes say it is wrong.

Servers mislabel: feeds go out as `text/html`, HTML as `text/plain`, images as pages. The first bytes are
trusted over the label where they are unmistakable.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Kind(StrEnum):
    """How a body is read."""

    HTML = "html"
    XHTML = "xhtml"
    XML = "xml"
    """Feeds, and any other XML."""
    TEXT = "text"
    PDF = "pdf"
    OTHER = "other"
    """Kept as a page with its type, no text and no links."""


_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\x7fELF", "application/x-executable"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_PROLOGUE = re.compile(rb"(?:\s+|<\?[^>]*>|<!--.*?-->|<!DOCTYPE\s[^>\[]*(?:\[[^\]]*\]\s*)?>)", re.I | re.S)
_ROOT = re.compile(rb"<([A-Za-z][\w.:-]*)")
_FEED_TYPES = {
    b"rss": "application/rss+xml",
    b"feed": "application/atom+xml",
    b"rdf:rdf": "application/rdf+xml",
}
_HTML_TAGS = frozenset(
    b"html head body title script div p table h1 a meta link style br font iframe b".split()
)
_XML_TYPES = frozenset({"text/xml", "application/xml"})
_SCRIPTS = frozenset({"text/css", "text/javascript", "text/ecmascript", "text/x-component"})
#: Labels that say nothing about the content.
_VAGUE = frozenset({"", "text/plain", "application/octet-stream", "application/x-unknown", "unknown/unknown"})


def classify(body: bytes, content_type: str) -> tuple[str, Kind]:
    """The media type (lower case, no parameters) and how to read the body.

    >>> classify(b"<!doctype html><p>x", "")
    ('text/html', <Kind.HTML: 'html'>)
    >>> classify(b"\\x89PNG\\r\\n\\x1a", "text/html")
    ('image/png', <Kind.OTHER: 'other'>)
    """
    declared = content_type.partition(";")[0].strip().lower()
    if "/" not in declared:
        declared = ""
    for magic, name in _MAGIC:
        if body.startswith(magic):
            return name, Kind.PDF if name == "application/pdf" else Kind.OTHER
    if declared and declared not in _VAGUE and not _readable(declared):
        return declared, Kind.OTHER
    root = _root(body)
    if root in _FEED_TYPES:
        return (declared if "xml" in declared else _FEED_TYPES[root]), Kind.XML
    if declared == "application/xhtml+xml" or (declared in _XML_TYPES and root == b"html"):
        return "application/xhtml+xml", Kind.XHTML
    if "xml" in declared:
        return declared, Kind.XML
    if declared in _VAGUE:
        return _sniff(body, declared, root)
    return declared, Kind.HTML if declared == "text/html" else Kind.TEXT


def _readable(declared: str) -> bool:
    if declared.startswith("text/"):
        return declared not in _SCRIPTS
    # SVG is a picture that happens to be XML.
    return declared.endswith(("+xml", "/xml", "/pdf")) and declared != "image/svg+xml"


def _sniff(body: bytes, declared: str, root: bytes) -> tuple[str, Kind]:
    """For a label that says nothing: markup if it starts like markup, text if it has no control bytes."""
    if root in _HTML_TAGS or body[:1024].lstrip()[:14].lower() == b"<!doctype html":
        return "text/html", Kind.HTML
    head = body[:1024]
    if not head.startswith(_BOMS) and any(byte < 9 or 13 < byte < 27 for byte in head):
        return declared if declared not in ("", "text/plain") else "application/octet-stream", Kind.OTHER
    if root and body.lstrip()[:5].lower() == b"<?xml":
        return "application/xml", Kind.XML
    return "text/plain", Kind.TEXT


def _root(body: bytes) -> bytes:
    """Name of the element a body starts with, lower case; empty when it starts otherwise."""
    head = body[:4096].removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in head[:64]:
        head = head.replace(b"\x00", b"").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    at = 0
    while match := _PROLOGUE.match(head, at):
        at = match.end()
    found = _ROOT.match(head, at)
    return found[1].lower() if found else b""
