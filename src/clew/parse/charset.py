"""From bytes to text: byte-order mark, then the HTTP header, then the document's own word, then detection."""

from __future__ import annotations

import re

from clew.parse import html

_PARAMETER = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_XML_DECLARATION = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))


def decode(body: bytes, content_type: str = "", *, xml: bool = False) -> tuple[str, str]:
    """The text and the charset it was read with; never fails, undecodable bytes become U+FFFD.

    Parameters: `content_type`, the header with its parameters; `xml`, whether an XML declaration counts and
    UTF-8 is the default.

    >>> decode(b"caf\\xe9", "text/html; charset=latin1")
    ('café', 'windows-1252')
    """
    for mark, label in _BOMS:
        if body.startswith(mark):
            return _read(body[len(mark) :], label), label
    declared = _PARAMETER.search(content_type)
    if declared and (name := html.charset_name(declared[1])):
        return _read(body, name), name
    if xml:
        stated = _XML_DECLARATION.match(body[:256])
        name = html.charset_name(stated[1].decode("ascii")) if stated else "utf-8"
        # A declaration that could be read as ASCII is not in UTF-16, whatever it says.
        if name and not name.startswith("utf-16") and (stated or _valid(body)):
            return _read(body, name), name
    name = html.detect_charset(body)
    return _read(body, name), name


def _read(body: bytes, name: str) -> str:
    return body.decode("utf-8", "replace") if name == "utf-8" else html.decode(body, name)


def _valid(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
