"""Cookies, kept with care: a `CookieJar` for one crawl, and `CookieFetcher`, which asks with it.

A cookie goes back to the origin that set it (scheme, host and port alike) and to nobody else, so a redirect
to another place leaves it behind. A `Domain` attribute can make a cookie refused, never make it travel.
Nothing is written to disk, and what an archive gets to see of a cookie is its name. Cookies from a file are
the user's own word, and go where the file says.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path

from clew.errors import ConfigError
from clew.fetch.base import Fetcher, Request, Response, WrappingFetcher
from clew.url import host as host_of
from clew.url import is_ip, origin, registrable

MAX_SIZE = 4096
"""Characters of one cookie, name and value."""
MAX_HEADER = 8192
"""Characters of all cookies sent with one request."""
MAX_PER_ORIGIN = 50
MAX_COOKIES = 3000
MAX_ATTRIBUTE = 1024
HIDDEN = "<redacted>"

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_FOREVER = float("inf")
_LONGEST = 400 * 86_400.0
_FILE_FIELDS = 7


@dataclass(frozen=True, slots=True)
class Cookie:
    """One cookie. `repr` does not show its value."""

    name: str
    value: str
    path: str = "/"
    expires: float = _FOREVER
    secure: bool = False

    def __repr__(self) -> str:
        return f"Cookie({self.name!r}, path={self.path!r})"

    def covers(self, path: str) -> bool:
        """Whether it is meant for a path.

        >>> Cookie("a", "1", "/shop").covers("/shop/cart"), Cookie("a", "1", "/shop").covers("/shopping")
        (True, False)
        """
        if path == self.path:
            return True
        return path.startswith(self.path) and (self.path.endswith("/") or path[len(self.path)] == "/")


@dataclass(frozen=True, slots=True)
class Given:
    """A cookie from the user's file, for a host or for a domain with all its hosts."""

    cookie: Cookie
    domain: str
    below: bool

    def meant_for(self, host: str) -> bool:
        return host == self.domain or (self.below and host.endswith(f".{self.domain}") and not is_ip(host))


class CookieJar:
    """The cookies of one crawl, by origin.

    Parameters: cookies the user gave; whether those that servers set are kept too.

    >>> jar = CookieJar()
    >>> jar.take("http://a.example/shop/", ["id=7; Path=/shop; Domain=example", "s=1; Path=/"], now=0.0)
    >>> jar.header("http://a.example/x", now=1.0), jar.header("https://a.example/x", now=1.0)
    ('s=1', '')
    """

    def __init__(self, given: Sequence[Given] = (), *, keep: bool = True) -> None:
        self.given = tuple(given)
        self.keep = keep
        self._origins: dict[str, dict[tuple[str, str], Cookie]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._origins.values()))

    def __repr__(self) -> str:
        return f"CookieJar({len(self)} of {len(self._origins)} origins, {len(self.given)} given)"

    def header(self, url: str, now: float) -> str:
        """The value of the Cookie header for a URL; empty when there is nothing to send."""
        place = origin(url)
        path = _path(url)
        safe = place.startswith("https://")
        found = {cookie.name: cookie for cookie in self._given(host_of(url), path, safe, now)}
        own = self._origins.get(place, {})
        # Longer paths first, as servers expect; of one name and path there is one.
        fit = [cookie for cookie in own.values() if cookie.covers(path) and cookie.expires > now]
        fit.sort(key=lambda cookie: -len(cookie.path))
        sent = [*fit, *(cookie for name, cookie in found.items() if all(name != own.name for own in fit))]
        return _joined(f"{cookie.name}={cookie.value}" for cookie in sent)

    def take(self, url: str, lines: Iterable[str], now: float) -> None:
        """Take in the Set-Cookie headers of a reply; what is not right is passed over."""
        if not self.keep:
            return
        place = origin(url)
        for line in lines:
            cookie = parse(line, url, now)
            if cookie is None:
                continue
            kept = self._origins.setdefault(place, {})
            kept.pop((cookie.name, cookie.path), None)
            if cookie.expires > now:
                kept[cookie.name, cookie.path] = cookie
            self._shrink(place, now)

    def _given(self, host: str, path: str, safe: bool, now: float) -> list[Cookie]:
        return [
            one.cookie
            for one in self.given
            if one.meant_for(host) and one.cookie.covers(path) and one.cookie.expires > now
            if safe or not one.cookie.secure
        ]

    def _shrink(self, place: str, now: float) -> None:
        """Keep within the limits: what has expired goes first, then what is oldest."""
        kept = self._origins[place]
        if len(kept) > MAX_PER_ORIGIN:
            for key in [key for key, cookie in kept.items() if cookie.expires <= now]:
                del kept[key]
            while len(kept) > MAX_PER_ORIGIN:
                del kept[next(iter(kept))]
        if not kept:
            del self._origins[place]
        while len(self) > MAX_COOKIES:
            del self._origins[next(iter(self._origins))]


def parse(line: str, url: str, now: float) -> Cookie | None:
    """The cookie that a Set-Cookie header of a reply to `url` makes; None when it is refused.

    >>> parse("a=1; Max-Age=60; Path=/x", "http://a.example/", 0.0).expires
    60.0
    >>> parse("a=1; Domain=co.uk", "http://shop.co.uk/", 0.0), parse("a=1; Secure", "http://a.example/", 0.0)
    (None, None)
    """
    pair, *rest = line.split(";")
    name, equals, value = (part.strip(" \t") for part in pair.partition("="))
    if not equals or not name or len(name) + len(value) > MAX_SIZE or _CONTROL.search(line):
        return None
    given = _attributes(rest)
    safe = url.startswith("https://")
    secure = "secure" in given
    path = given.get("path", "")
    if (secure and not safe) or not _domain_allows(given.get("domain", ""), host_of(url)):
        return None
    if not _prefix_allows(name.lower(), secure, "domain" not in given and path == "/"):
        return None
    path = path if path.startswith("/") else _default_path(url)
    return Cookie(name, value, path, _expires(given, now), secure)


def _attributes(parts: Iterable[str]) -> dict[str, str]:
    """By name in lower case, the last of each."""
    pairs = [part.partition("=") for part in parts if len(part) <= MAX_ATTRIBUTE]
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _prefix_allows(name: str, secure: bool, whole_host: bool) -> bool:
    if name.startswith("__host-"):
        return secure and whole_host
    return secure or not name.startswith("__secure-")


def _domain_allows(domain: str, host: str) -> bool:
    """Whether a Domain attribute is one the host may speak for."""
    domain = domain.removeprefix(".").lower()
    if not domain or domain == host:
        return True
    return host.endswith(f".{domain}") and not is_ip(host) and registrable(domain) is not None


def _expires(given: dict[str, str], now: float) -> float:
    age = given.get("max-age", "")
    if re.fullmatch(r"-?[0-9]{1,12}", age):
        seconds = int(age)
        return now + min(seconds, _LONGEST) if seconds > 0 else -_FOREVER
    if "expires" not in given:
        return _FOREVER
    try:
        when = parsedate_to_datetime(given["expires"].replace("-", " "))
        moment = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return _FOREVER
    return min(moment, now + _LONGEST)


def _path(url: str) -> str:
    return url[len(origin(url)) :].partition("?")[0].partition("#")[0] or "/"


def _default_path(url: str) -> str:
    path = _path(url)
    return path[: path.rindex("/")] or "/" if "/" in path else "/"


def _joined(pairs: Iterable[str]) -> str:
    """As many as fit."""
    sent = ""
    for pair in pairs:
        longer = f"{sent}; {pair}" if sent else pair
        if len(longer) <= MAX_HEADER:
            sent = longer
    return sent


def read_file(path: Path, now: float) -> tuple[Given, ...]:
    """Cookies from a file in the Netscape format, as browsers' extensions and curl write it."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ConfigError(f"the cookie file {path} cannot be read: {why}; check --cookie-file") from None
    found = [_given(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]
    return tuple([one for one in found if one is not None and one.cookie.expires > now])


def _given(line: str, place: str) -> Given | None:
    line = line.removeprefix("#HttpOnly_")
    if not line.strip() or line.startswith("#"):
        return None
    fields = line.split("\t")
    if len(fields) != _FILE_FIELDS or not fields[5] or _CONTROL.search(fields[5] + fields[6]):
        # Not repeated here: it may be a secret.
        raise ConfigError(
            f"{place} is no cookie: seven fields with tabs between, domain, TRUE or FALSE for its hosts too, "
            "path, TRUE or FALSE for https only, when it expires, name, value"
        )
    domain, below, where, secure, expires, name, value = fields
    domain = domain.strip().removeprefix(".").lower()
    wide = below.strip().upper() == "TRUE"
    if wide and not is_ip(domain) and registrable(domain) is None:
        raise ConfigError(f"{place}: {domain} is a public suffix: no cookie is for all hosts below it")
    ends = float(expires) if re.fullmatch(r"[0-9]{1,12}", expires.strip()) and int(expires) else _FOREVER
    where = where if where.startswith("/") else "/"
    return Given(Cookie(name, value, where, ends, secure.strip().upper() == "TRUE"), domain, wide)


class CookieFetcher(WrappingFetcher):
    """A `Fetcher` that asks with the cookies of a jar and gives it what servers set.

    Replies leave it with the values of their cookies hidden: what is archived must not let anyone in.
    robots.txt is asked for as anybody would.

    Parameters: the fetcher behind it, closed with it; the jar; the clock.
    """

    def __init__(self, inner: Fetcher, jar: CookieJar, clock: Callable[[], float] = time.time) -> None:
        self.inner = inner
        self.jar = jar
        self.clock = clock

    async def fetch(self, request: Request) -> Response:
        """A reply to a request that carried the origin's cookies."""
        if request.anonymous or _path(request.url) == "/robots.txt":
            return _hidden(await self.inner.fetch(request))
        cookies = self.jar.header(request.url, self.clock())
        if cookies:
            request = replace(request, headers=(*request.headers, ("Cookie", cookies)))
        reply = await self.inner.fetch(request)
        self.jar.take(request.url, _set(reply), self.clock())
        return _hidden(reply)

    async def close(self) -> None:
        """Close the fetcher behind it; the jar is forgotten with the process."""
        await self.inner.close()

    def __repr__(self) -> str:
        return f"CookieFetcher({self.inner!r}, {self.jar!r})"


def _set(reply: Response) -> list[str]:
    return [value for name, value in reply.headers if name.lower() == "set-cookie"]


def _hidden(reply: Response) -> Response:
    """The reply with its cookies' names, but not their values."""
    if not _set(reply):
        return reply
    return replace(reply, headers=tuple([_shown(name, value) for name, value in reply.headers]))


def _shown(name: str, value: str) -> tuple[str, str]:
    return (name, _blank(value)) if name.lower() == "set-cookie" else (name, value)


def _blank(line: str) -> str:
    pair, semicolon, rest = line.partition(";")
    return f"{pair.partition('=')[0]}={HIDDEN}{semicolon}{rest}"
