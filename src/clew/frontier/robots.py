"""robots.txt as RFC 9309 has it: what one crawler may fetch from one origin.

`Rules.parse` takes a reply (status and body) and the crawler's user agent, and keeps only the rules that
bind this crawler: the groups that name it, or else the groups for `*`. Reading goes by bytes, line by
line, so a wrong encoding, a torn BOM or a binary file can spoil a line but never the file. A decision is
the longest pattern that matches, an `Allow` winning a tie, and costs a few dictionary look-ups however
long the file is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from clew.frontier.robots_patterns import Patterns, escape, fold

SIZE_LIMIT = 500 * 1024
"""Bytes of a robots.txt that are read, as RFC 9309 section 2.5 asks; a line cut in two is left out."""

LINE_LIMIT = 16 * 1024
"""Bytes of one line that are read; no URL longer than that is worth a rule."""

DELAY_LIMIT = 60.0
"""The longest Crawl-delay that is honoured, in seconds: beyond it a host could park the crawler for days."""

SITEMAP_LIMIT = 1000

_TOO_MANY = 429

_TOKEN = re.compile(rb"[A-Za-z_-]*")
_COMPATIBLE = re.compile(r"\bcompatible;\s*([A-Za-z_-]+)", re.IGNORECASE)
_NEWLINE = re.compile(rb"\r\n|\n|\r")

# Spellings seen often enough in the wild that reading past them would ignore what the site plainly means.
# Keys are compared by prefix, so `Disallow-All: /` forbids.
_USER_AGENT = (b"user-agent", b"useragent", b"user agent")
_DISALLOW = (b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw")
_ALLOW = (b"allow",)
_SITEMAP = (b"sitemap", b"site-map")
_DELAY = (b"crawl-delay", b"crawldelay", b"crawl delay")


def unavailable(status: int) -> bool:
    """Whether a server says by this status that it cannot give its robots.txt now.

    >>> unavailable(503), unavailable(429), unavailable(404)
    (True, True, False)
    """
    return status >= 500 or status == _TOO_MANY


def product_token(user_agent: str) -> str:
    """The name that robots.txt files would call a crawler by.

    >>> product_token("clew/0.1.0 (+https://example.org/bot)")
    'clew'
    >>> product_token("Mozilla/5.0 (compatible; clew/0.1.0)")
    'clew'
    """
    inner = _COMPATIBLE.search(user_agent)
    if inner:
        return inner[1]
    token = _TOKEN.match(user_agent.strip().encode("ascii", "replace"))
    return token[0].decode() if token else ""


@dataclass(slots=True)
class _Group:
    """What one audience (this crawler by name, or everyone) is told, over all groups of the file."""

    seen: bool = False
    allow: list[str] = field(default_factory=list)
    disallow: list[str] = field(default_factory=list)
    delay: float | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What one crawler may fetch from one origin.

    >>> rules = Rules.parse(200, b"User-agent: *\\nDisallow: /private/\\nCrawl-delay: 2", "clew/0.1.0")
    >>> rules.allowed("https://a.example/private/x"), rules.allowed("https://a.example/"), rules.delay
    (False, True, 2.0)
    >>> Rules.parse(503, b"", "clew").allowed("https://a.example/")
    False
    """

    allow: Patterns = field(default_factory=Patterns)
    disallow: Patterns = field(default_factory=Patterns)
    delay: float | None = None
    """Seconds between requests that the site asks for, at most `DELAY_LIMIT`."""
    sitemaps: tuple[str, ...] = ()
    """Sitemap addresses as written: untrusted, perhaps relative, perhaps on another host."""

    @classmethod
    def parse(cls, status: int, body: bytes, agent: str) -> Rules:
        """The rules in a reply to GET /robots.txt, redirects already followed.

        Parameters: `status`, 0 when the host could not be reached; `body`, decompressed; `agent`, the whole
        User-Agent or just its product token. A 2xx is read; a server in trouble (5xx, 429, unreachable)
        forbids everything; any other answer means that there is no robots.txt, and allows everything.
        """
        if 200 <= status < 300:
            return cls.read(body, product_token(agent))
        if status <= 0 or unavailable(status):
            return NOTHING
        return EVERYTHING

    @classmethod
    def read(cls, body: bytes, token: str) -> Rules:
        """The rules of a file for a crawler whose product token is exactly `token`, whatever its case."""
        named, everyone = _Group(), _Group()
        current: list[_Group] = []
        sitemaps: dict[str, None] = {}
        me = token.lower().encode("utf-8", "replace")
        heading = True
        for key, value in _directives(body):
            if key.startswith(_USER_AGENT):
                if not heading:
                    current, heading = [], True
                group = _audience(value, me, named, everyone)
                if group is not None:
                    group.seen = True
                    current.append(group)
            elif key.startswith(_SITEMAP):
                if len(sitemaps) < SITEMAP_LIMIT and value:
                    sitemaps[value.decode("utf-8", "replace")] = None
            else:
                # Only a rule ends the run of user-agent lines: a sitemap or an unknown key between them does
                # not. A delay does, since files give `*` a delay and then forbid all to the next crawler.
                heading = _apply(key, value, current) and heading
        mine = named if named.seen else everyone
        return cls(
            Patterns.of(mine.allow),
            Patterns.of(map(fold, mine.disallow), map(len, mine.disallow)),
            mine.delay,
            tuple(sitemaps),
        )

    def allowed(self, url: str) -> bool:
        """Whether this crawler may fetch a canonical absolute URL of the origin."""
        if not self.disallow:
            return True
        path = _path(url)
        # Spelling: a rule that forbids binds every way to write a path (`%7E` and `~`), as the RFC has it;
        # one that allows binds the path as written. In doubt, a page is left alone.
        forbidden = self.disallow.longest(fold(escape(path)))
        return forbidden <= 0 or self.allow.longest(path) >= forbidden

    def __repr__(self) -> str:
        return (
            f"Rules({len(self.disallow)} disallow, {len(self.allow)} allow, delay={self.delay}, "
            f"{len(self.sitemaps)} sitemaps)"
        )


EVERYTHING = Rules()
"""No robots.txt: all is allowed."""

NOTHING = Rules(disallow=Patterns.of(["/"]))
"""The server is in trouble: nothing is allowed until it answers."""


def _directives(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Key (lower case) and value of each line that has both parts, comments and white space removed."""
    for line in _lines(body):
        text = line.partition(b"#")[0].strip()
        key, colon, value = text.partition(b":")
        if not colon:
            # "Disallow /x": the colon forgotten, and nothing else it could mean.
            words = text.split()
            if len(words) != 2:
                continue
            key, value = words
        if key:
            yield key.rstrip().lower(), value.strip()


def _lines(body: bytes) -> Iterable[bytes]:
    """The lines within the size limits, without a byte order mark (or what is left of one)."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        body = body[: SIZE_LIMIT * 2].decode("utf-16", "replace").encode()
    for length in (3, 2, 1):
        if body.startswith(b"\xef\xbb\xbf"[:length]):
            body = body[length:]
            break
    if len(body) > SIZE_LIMIT:
        end = max(body.rfind(b"\n", 0, SIZE_LIMIT), body.rfind(b"\r", 0, SIZE_LIMIT))
        body = body[: max(end, 0)]
    lines = _NEWLINE.split(body) if b"\r" in body else body.split(b"\n")
    return (line if len(line) <= LINE_LIMIT else line[:LINE_LIMIT] for line in lines)


def _audience(value: bytes, me: bytes, named: _Group, everyone: _Group) -> _Group | None:
    """Whom a user-agent line addresses: this crawler, everyone, or someone else (None)."""
    if value[:1] == b"*" and (len(value) == 1 or value[1:2].isspace()):
        return everyone
    token = _TOKEN.match(value)
    return named if token and token[0] and token[0].lower() == me else None


def _apply(key: bytes, value: bytes, current: list[_Group]) -> bool:
    """Take one line into the groups it stands under; False when it was a rule, which ends the heading."""
    if key.startswith(_DISALLOW):
        for group in current:
            group.disallow.append(escape(value))
        return False
    if key.startswith(_ALLOW):
        for group in current:
            group.allow.append(escape(value))
        return False
    if key.startswith(_DELAY):
        seconds = _seconds(value)
        for group in current:
            if seconds is not None:
                group.delay = max(seconds, group.delay or 0.0)
        return False
    return True


def _seconds(value: bytes) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return min(seconds, DELAY_LIMIT) if math.isfinite(seconds) and seconds >= 0 else None


def _path(url: str) -> str:
    """Path and query of an absolute URL, from its first slash on, without the fragment."""
    url = url.partition("#")[0]
    start = url.find("//")
    rest = url[start + 2 :] if start >= 0 else url
    for i, letter in enumerate(rest):
        if letter == "/":
            return rest[i:]
        if letter == "?":
            return "/" + rest[i:]
    return "/"
