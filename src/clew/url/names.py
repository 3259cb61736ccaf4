"""What can be read off a canonical URL: host, origin, registrable domain, tokens, and 64-bit keys.

Everything here takes canonical URLs and slices text; nothing is parsed twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

import numpy as np
import xxhash

if TYPE_CHECKING:
    from numpy.typing import NDArray

_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9ß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
_DIGIT_EDGE = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
_PAPER = re.compile(r"[./]+")


def host(url: str) -> str:
    """The host name of a canonical URL, without port; IPv6 addresses keep their brackets.

    >>> host("http://a.example:8080/x"), host("http://[::1]:80/")
    ('a.example', '[::1]')
    """
    authority = _authority(url)
    if authority[:1] == "[":
        return authority[: authority.index("]") + 1]
    return authority.partition(":")[0]


def origin(url: str) -> str:
    """Scheme, host and port of a canonical URL: what a robots.txt speaks for.

    >>> origin("http://a.example:8080/x")
    'http://a.example:8080'
    """
    return url[: url.index("//") + 2] + _authority(url)


def is_ip(host: str) -> bool:
    """Whether a canonical host is an address, not a name.

    >>> is_ip("127.0.0.1"), is_ip("[::1]"), is_ip("a.example")
    (True, True, False)
    """
    return host[:1] == "[" or _IPV4.fullmatch(host) is not None


@lru_cache(maxsize=65_536)
def registrable(host: str) -> str | None:
    """The domain someone registered; None for a public suffix or a bare name; an address is its own.

    >>> registrable("news.bbc.co.uk"), registrable("co.uk"), registrable("10.0.0.1")
    ('bbc.co.uk', None, '10.0.0.1')
    """
    if is_ip(host):
        return host
    found: str | None = _suffixes().privatesuffix(host.lower())
    return found


def site(host: str) -> str:
    """The registrable domain, or the host itself where there is none: what `--scope domain` compares.

    >>> site("www.example.org"), site("localhost")
    ('example.org', 'localhost')
    """
    return registrable(host) or host


def tokens(url: str, style: Literal["words", "paper"] = "words", *, digits: bool = False) -> list[str]:
    """The words of a URL, lower case, in order, without the scheme.

    `words` decodes percent-escapes and splits at everything that is no letter or digit and at camelCase humps
    (with `digits`, also between letters and digits); `paper` splits at `.` and `/` alone.

    >>> tokens("http://www.a.example/windFarm_list%C3%A9/p2.html")
    ['www', 'a', 'example', 'wind', 'farm', 'listé', 'p2', 'html']
    >>> tokens("http://www.a.example/wind-farm.html", "paper")
    ['www', 'a', 'example', 'wind-farm', 'html']
    """
    text = url.partition("://")[2] or url
    if style == "paper":
        return [part for part in _PAPER.split(text.lower()) if part]
    if "%" in text:
        text = unquote(text, errors="replace")
    text = _HUMP.sub(" ", text)
    if digits:
        text = _DIGIT_EDGE.sub(" ", text)
    return _WORD.findall(text.lower())


def key(url: str) -> int:
    """The URL's 64-bit key, the same on every machine and in every run.

    >>> key("http://a.example/")
    15685384335643010201
    """
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def keys(urls: Iterable[str]) -> NDArray[np.uint64]:
    """`key` of many URLs, as an array.

    >>> int(keys(["http://a.example/"])[0]) == key("http://a.example/")
    True
    """
    digest = xxhash.xxh3_64_intdigest
    return np.array([digest(url.encode("utf-8", "surrogatepass")) for url in urls], dtype=np.uint64)


def slot(host: str) -> int:
    """The share of the crawl, 0 to 255, in which everything about a host lives.

    >>> 0 <= slot("a.example") < 256
    True
    """
    return xxhash.xxh3_64_intdigest(host.encode("utf-8", "surrogatepass")) & 0xFF


def _authority(url: str) -> str:
    start = url.index("//") + 2
    end = url.find("/", start)
    return url[start:] if end < 0 else url[start:end]


@cache
def _suffixes() -> Any:
    # Loading the list takes longer than all the rest of clew.url.
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
