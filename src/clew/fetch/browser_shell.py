"""Is a page an empty shell, to be filled by its scripts? Judged from the bytes, without parsing them."""

from __future__ import annotations

import re
from itertools import islice

FEW_CHARACTERS = 200
"""A page with less visible text than this may be a shell."""
FEW_LINKS = 3
MANY_LINKS = 30
"""So many are not all hidden in scripts and comments; most pages are done with at this."""
_LOOKED_AT = 256 * 1024
# What is between these is not text to a reader. An end that is missing is the end of the page.
_UNSEEN = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|template|noscript|svg|title)\b.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(rb"<[^>]*>?")
# Attributes up to a length, or a page of nothing but beginnings would be gone through again and again.
_SCRIPT = re.compile(rb"<script\b([^>]{0,1000})>", re.IGNORECASE)
_DATA = re.compile(
    rb"""type\s*=\s*["']?(?!text/javascript|module|application/javascript)[a-z]""", re.IGNORECASE
)
_LINK = re.compile(rb"<a\s[^>]{0,1000}href", re.IGNORECASE)
_SPACE = re.compile(rb"(?:\s|&nbsp;)+")


def looks_empty(body: bytes) -> bool:
    """Whether an HTML page has scripts and hardly anything to read or to follow.

    >>> looks_empty(b"<body><div id=app></div><script src=/app.js></script></body>")
    True
    >>> looks_empty(b"<body><p>" + b"wind farms " * 40 + b"</p><script src=/app.js></script></body>")
    False
    >>> looks_empty(b"<body><p>A short page.</p></body>")
    False
    """
    part = body[:_LOOKED_AT]
    if not any(_runs(found[1]) for found in _SCRIPT.finditer(part)):
        return False
    if sum(1 for _ in islice(_LINK.finditer(part), MANY_LINKS)) == MANY_LINKS:
        return False
    seen = _UNSEEN.sub(b" ", part)
    if len(_LINK.findall(seen)) > FEW_LINKS:
        return False
    return len(_SPACE.sub(b" ", _TAG.sub(b" ", seen)).strip()) < FEW_CHARACTERS


def _runs(attributes: bytes) -> bool:
    """A script that is run; others carry data."""
    return _DATA.search(attributes) is None
