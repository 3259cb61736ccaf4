"""One page, one URL: `canonical` removes what does not change the page that is served.

The rules, in order: join and parse by the URL standard; http(s) with a plausible host only; no credentials,
no fragment, no trailing dot on the host; percent-escapes in capitals, unreserved characters decoded and a
stray `%` escaped; session ids out of the path; empty, tracking and session parameters out of the query, the
rest sorted by name with duplicates kept in order. `%25` is never decoded, so that a URL which was encoded
twice stays the URL it is, and the whole is idempotent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from clew.url.whatwg import resolve

_TRACKING = """
    _ga _gl _hsenc _hsmi _ke _openstat dclid epik fb_action_ids fb_action_types fb_source fbclid gbraid
    gclid gclsrc gs_l igsh igshid li_fat_id mc_cid mc_eid mkt_tok ml_subscriber ml_subscriber_hash msclkid
    oly_anon_id oly_enc_id rb_clickid s_cid srsltid ttclid twclid vero_conv vero_id wbraid wickedid wt_mc
    yclid ysclid
"""
_SESSIONS = """
    aspsessionid cfid cftoken jsessionid oscsid phpsessid phpsessionid session_id sessionid xtcsid zenid
"""

#: Parameters that only tell the server where the click came from.
TRACKING = frozenset(_TRACKING.split())
TRACKING_PREFIXES = ("utm_", "mtm_", "pk_", "hsa_", "stm_")
#: Parameters that name a visit, whatever their value.
SESSIONS = frozenset(_SESSIONS.split())
#: Parameters that name a visit when their value looks drawn by lot.
SESSIONS_IF_RANDOM = frozenset({"sid", "session", "sess", "s"})

_RANDOM = re.compile(r"(?=.*[0-9])[0-9a-f]{16,}|(?=.*[0-9])(?=.*[A-Za-z])[0-9A-Za-z]{24,}")
_ESCAPE = re.compile(r"%(?:([0-9A-Fa-f]{2})|)")
_UNRESERVED = frozenset(map(ord, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"))
_ESCAPES = {
    f"{high}{low}": chr(code) if code in _UNRESERVED else f"%{code:02X}"
    for code in range(256)
    for high in {f"{code:02x}"[0], f"{code:02X}"[0]}
    for low in {f"{code:02x}"[1], f"{code:02X}"[1]}
}
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^;/]*", re.IGNORECASE)
_ASP_SESSION = re.compile(r"/\((?:[A-Z]\([0-9A-Za-z]{24,}\))+\)(?=/)|/\([0-9a-z]{24}\)(?=/)")

#: A longer text is not even looked at.
RAW_LIMIT = 65_536


@dataclass(frozen=True, slots=True)
class Canon:
    """Which liberties canonicalisation may take with a path and a query.

    >>> canonical("http://a.example/?b=1&utm_source=x&a=2", rules=Canon(sort=False))
    'http://a.example/?b=1&a=2'
    """

    tracking: frozenset[str] = TRACKING
    """Parameter names to drop, lower case."""
    tracking_prefixes: tuple[str, ...] = TRACKING_PREFIXES
    sessions: bool = True
    """Drop session ids from path and query."""
    sort: bool = True
    """Sort parameters by name."""
    max_length: int = 4_096
    """A longer URL is no URL."""


DEFAULT = Canon()
#: The URL standard, fragment and percent-encoding alone; every parameter stays where it is.
PLAIN = Canon(tracking=frozenset(), tracking_prefixes=(), sessions=False, sort=False)


def canonical(url: str, base: str | None = None, *, rules: Canon = DEFAULT) -> str | None:
    """The one URL under which clew knows a page, or None when it is not a fetchable http(s) URL.

    Parameters: `url` as found; `base`, what it is relative to; `rules`, the liberties taken.

    >>> canonical("HTTP://Example.org:80/a/../%7euser/?utm_source=x&b=2&a=1#top")
    'http://example.org/~user/?a=1&b=2'
    >>> canonical("page;jsessionid=0A1B?x", "https://example.org./dir/")
    'https://example.org/dir/page?x'
    >>> canonical("mailto:a@example.org") is None
    True
    """
    if len(url) > RAW_LIMIT:
        return None
    href = resolve(url, base)
    return None if href is None else tidy(href, rules)


def tidy(href: str, rules: Canon) -> str | None:
    """Canonical form of a URL that the standard's serialiser wrote."""
    if not href.startswith(("http://", "https://")):
        return None
    if "#" in href:
        href = href[: href.index("#")]
    start = href.index("/") + 2
    # The authority ends at the first slash: the serialiser always writes a path for http(s).
    slash = href.index("/", start)
    authority = href[start:slash]
    if (
        "@" in authority
        or ".." in authority
        or authority[-1] == "."
        or authority[0] == "."
        or ".:" in authority
    ):
        plain = _authority(authority)
        if plain is None:
            return None
        href = href[:start] + plain + href[slash:]
        slash = start + len(plain)
    if slash - start > 260:
        return None
    # Most URLs have none of these characters and are canonical as they stand.
    if "?" in href or "%" in href or ";" in href or "(" in href:
        rest = href[slash:]
        path, mark, query = rest.partition("?")
        tidy = _path(href[:slash], path, rules)
        if mark and query:
            query = _query(query, rules)
        href = f"{tidy}?{query}" if query else tidy
    return href if len(href) <= rules.max_length else None


def _authority(authority: str) -> str | None:
    """Host and port without credentials and trailing dot; None when no name server could know it."""
    authority = authority.rpartition("@")[2]
    if authority[0] == "[":
        return authority
    host, colon, port = authority.partition(":")
    # One dot only: the standard has looked for a disguised address behind one, not behind two.
    host = host.removesuffix(".")
    if not host or host[0] == "." or host[-1] == "." or ".." in host:
        return None
    return host + colon + port


def _path(origin: str, path: str, rules: Canon) -> str:
    if "%" in path:
        path = _ESCAPE.sub(_escape, path)
    if rules.sessions and (";" in path or "(" in path):
        bare = _ASP_SESSION.sub("", _PATH_SESSION.sub("", path))
        if bare != path:
            # What is left of a segment may be `..`, which the standard would have resolved.
            joined = resolve(origin + bare)
            return joined if joined is not None else origin + path
    return origin + path


def _query(query: str, rules: Canon) -> str:
    if "%" in query:
        query = _ESCAPE.sub(_escape, query)
    if "&" not in query:
        return query if _keep(query, rules) else ""
    kept = [part for part in query.split("&") if part and _keep(part, rules)]
    if rules.sort:
        kept.sort(key=_name)
    return "&".join(kept)


def _name(part: str) -> str:
    return part.partition("=")[0]


def _keep(part: str, rules: Canon) -> bool:
    name, _, value = part.partition("=")
    name = name.lower()
    if name in rules.tracking or name.startswith(rules.tracking_prefixes):
        return False
    if not rules.sessions:
        return True
    if name in SESSIONS or name.startswith("aspsessionid"):
        return False
    return not (name in SESSIONS_IF_RANDOM and _RANDOM.fullmatch(value))


def _escape(match: re.Match[str]) -> str:
    digits = match[1]
    return "%25" if digits is None else _ESCAPES[digits]
