"""The URL standard: parsing and joining as browsers do it.

Two libraries implement it. `ada_url` is exact but crosses cffi for every call; `can_ada` takes a third of
the time but follows an older edition of the standard. For http(s) the editions differ in two places only,
a circumflex in the path and internationalised host names, so `Joiner` uses the fast one where neither can
occur and the exact one otherwise.
"""

from __future__ import annotations

import re
from typing import Any

import ada_url
import can_ada

_SURROGATE = re.compile("[\ud800-\udfff]")


def resolve(url: str, base: str | None = None) -> str | None:
    """The absolute URL as the standard serialises it; None where the standard says failure.

    >>> resolve("../b?q#f", "HTTP://A.example:80/x/y/z")
    'http://a.example/x/b?q#f'
    >>> resolve("//") is None
    True
    """
    try:
        return str(ada_url.URL(url, base).href)
    except UnicodeEncodeError:
        # Half a surrogate pair cannot be sent; the standard reads it as U+FFFD.
        return resolve(_mend(url), None if base is None else _mend(base))
    except ValueError:
        return None


def to_ascii(domain: str) -> str | None:
    """A domain as it goes on the wire (lower case, Punycode), or None when it is not one.

    >>> to_ascii("Bücher.example")
    'xn--bcher-kva.example'
    """
    try:
        return str(ada_url.URL(f"https://{domain}/").hostname)
    except ValueError:
        return None


class Joiner:
    """Resolves many hrefs against one base; equal to `resolve(href, base)` for every http(s) result.

    For an href of another scheme the result may differ in percent-encoding from `resolve`'s, but it keeps its
    scheme, so it is still recognised as not fetchable.

    >>> join = Joiner("http://a.example/x/")
    >>> join("y"), join("http://["), join("http://xn--bcher-kva.example")
    ('http://a.example/x/y', None, 'http://xn--bcher-kva.example/')
    """

    __slots__ = ("_fast", "base")

    def __init__(self, base: str) -> None:
        self._fast = _plain(base)
        self.base: str | None = resolve(base) if self._fast is None else self._fast.href
        if self._fast is None and self.base is not None:
            self._fast = _plain(self.base)

    def __call__(self, href: str) -> str | None:
        # Text that could reach IDNA or the circumflex rule goes to the exact parser; a percent-encoded host
        # decodes to such text too, but then its result has `xn--` in it or is a failure.
        if self._fast is not None and href.isascii() and "^" not in href:
            try:
                joined: str = (self._fast + href).href
            except ValueError:
                return resolve(href, self.base)
            if "xn--" not in joined:
                return joined
        return None if self.base is None else resolve(href, self.base)

    def __repr__(self) -> str:
        return f"Joiner({self.base!r}, {'exact' if self._fast is None else 'fast'})"


def _plain(url: str) -> Any:
    """A URL parsed by the fast library, if it is one on which the editions of the standard agree."""
    if not url.isascii() or "xn--" in url or "^" in url:
        return None
    try:
        parsed = can_ada.parse(url)
    except ValueError:
        return None
    # A percent-encoded host may have been decoded to an internationalised one.
    return None if "xn--" in parsed.href else parsed


def _mend(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)
