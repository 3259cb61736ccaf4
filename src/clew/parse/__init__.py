"""Bytes to pages: a reply's body goes in, a frozen `Page` with its links comes out.

`media` says what kind of thing a body is, `charset` makes text of it, `html` (the one module that knows the
parser library) takes markup apart, `body` puts the page together. Everything is pure and at module level,
with plain data in and out, so that a driver may run it in worker processes. The invariant: whatever the
bytes, `parse_page` returns a `Page` or raises `ParseError`, in time linear in the size of the body.
"""

from clew.parse.body import parse_page
from clew.parse.charset import decode
from clew.parse.language import language
from clew.parse.limits import Limits
from clew.parse.similar import alike, digest, sketch

__all__ = ["Limits", "alike", "decode", "digest", "language", "parse_page", "sketch"]
