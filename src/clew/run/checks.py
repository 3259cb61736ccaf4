"""What single values of a configuration may be, and how it is said when they are not.

Each check takes a value and gives it back, or raises a `ValueError` with one sentence.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from clew.errors import ConfigError, StopSyntaxError
from clew.policy import StopRule
from clew.policy.scope import KINDS, pattern
from clew.predicate.interests import written
from clew.spelling import closest
from clew.strategy import STRATEGIES
from clew.strategy.intelligent import WEIGHINGS

HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*)")
#: The levels of importance of the topic-driven paper's interface, as weights.
LEVELS = {"most": 1.0, "second": 0.3, "off": 0.0}
_HOST = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?", re.I)
#: Set by the client itself; a user's value would break the exchange.
_RESERVED = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the closest known word, or nothing.

    >>> nearest("concurency", ["delay", "concurrency"])
    "; did you mean 'concurrency'?"
    """
    close = closest(word, known)
    return f"; did you mean {close!r}?" if close else ""


def not_one_of(value: object, known: tuple[str, ...]) -> str:
    """The sentence for a word that is none of those there are."""
    return f"{value!r} is not one of {', '.join(known)}{nearest(str(value), known)}"


def choice(value: object, known: tuple[str, ...]) -> object:
    if not isinstance(value, str) or value not in known:
        raise ValueError(not_one_of(value, known))
    return value


def none(value: object) -> object:
    """`none` lifts a limit wherever there can be none."""
    return None if isinstance(value, str) and value.strip().lower() == "none" else value


def threshold(value: object) -> object:
    """A degree above 0, or `start`."""
    if value == "start":
        return value
    try:
        degree = float(str(value)) if not isinstance(value, bool) else math.nan
    except ValueError:
        degree = math.nan
    if not 0.0 < degree <= 1.0:
        raise ValueError(f"must be a number above 0 and at most 1, or start, not {str(value)[:80]!r}")
    return degree


def weighed(value: object) -> object:
    """`name=number,name=level`, or a table, or the name of a way to weigh."""
    if isinstance(value, Mapping):
        return {name: _level(name, weight) for name, weight in value.items()}
    if not isinstance(value, str) or value in WEIGHINGS:
        return value
    pairs = [part.partition("=") for part in value.replace(",", " ").split()]
    if any(not equals for _, equals, _ in pairs):
        raise ValueError(
            f"{value!r} is not a list of weights: write name=number,name=number, or "
            f"one of {', '.join(WEIGHINGS)}"
        )
    return {name: _level(name, weight) for name, _, weight in pairs}


def _level(name: object, weight: object) -> object:
    """The weight that a level stands for.

    >>> _level("anchor", "second"), _level("anchor", "0.2")
    (0.3, '0.2')
    """
    if weight is False:
        return LEVELS["off"]
    if not isinstance(weight, str) or weight in LEVELS:
        return LEVELS.get(weight, weight) if isinstance(weight, str) else weight
    try:
        float(weight)
    except ValueError:
        raise ValueError(
            f"the weight of {name!r} is a number, or one of {', '.join(LEVELS)}, not {weight!r}"
            f"{nearest(weight, LEVELS)}"
        ) from None
    return weight


def web_address(text: str) -> str:
    """A seed, when it is an http(s) URL with a host and no password in it."""
    try:
        parts = urlsplit(text.strip())
        host = parts.hostname
        parts.port  # noqa: B018 - raises on a port that is no number
    except ValueError as error:
        raise ValueError(f"{text!r} is not a URL: {error}") from None
    if parts.scheme not in ("http", "https"):
        bare = text.strip().lstrip("/")
        if "://" in bare or not re.match(r"[\w-]+(\.[\w-]+)*\.?(:\d+)?(/|$)", bare):
            raise ValueError(f"{text!r} is not a web address: seeds start with http:// or https://")
        raise ValueError(f"{text!r} is not a full URL; did you mean https://{bare}?")
    if not host:
        raise ValueError(f"{text!r} names no host: write https://example.org/")
    if parts.username or parts.password:
        raise ValueError(
            f"{parts.scheme}://{host}/ carries a password: give it as --header 'Authorization: …'"
        )
    return text.strip()


def seeds(value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(web_address(seed) for seed in value)


def absolute(value: Path | None) -> Path | None:
    """A place that stays the same wherever the crawl is resumed from."""
    return None if value is None else value.absolute()


def formula(value: object) -> str:
    """The text of a formula, or of several by name."""
    try:
        text = written(value) if value else ""
    except ConfigError as error:
        raise ValueError(str(error)) from None
    if not text.strip():
        raise ValueError("say which pages to find, such as --match '\"wind farm\" AND lang:en'")
    return text


def stop_rule(value: str) -> str:
    """A rule that parses, in its canonical form."""
    if not value.strip():
        return ""
    try:
        return str(StopRule.parse(value))
    except StopSyntaxError as error:
        raise ValueError(str(error)) from None


def strategy_name(value: object) -> object:
    return choice(value, tuple(STRATEGIES))


def off(value: object) -> object:
    """`off`, for which TOML has a word of its own."""
    return "off" if value is False else value


#: The cosine that makes a page a find by examples: two pages on one subject seldom come near 0.5.
LIKE_THRESHOLD = 0.3


def likened(values: dict[str, Any]) -> dict[str, Any]:
    """Settings in which examples (`like`) have become the formula that they are short for.

    >>> likened({"like": ["good pages", "a.html"]})["match"]
    'like:"good pages" OR like:"a.html"'
    """
    given = values.get("like")
    places = [given] if isinstance(given, str) else list(given or ())
    if not places:
        return values
    if any('"' in str(place) or not str(place).strip() for place in places):
        raise ValueError("like: give a folder, a file or a URL of examples, without quotation marks")
    formula = " OR ".join(f'like:"{place}"' for place in places)
    if (values.get("match") or formula) not in (formula, (formula,), [formula]):
        raise ValueError(
            "like is short for a formula of its own: give one of the two, or both as one formula, "
            f"such as --match 'FORMULA AND {formula}'"
        )
    return {"threshold": LIKE_THRESHOLD, **values, "match": formula}


def unless_off(value: object) -> object:
    """A level between 0 and 1, or `off`, which is none."""
    if value is None or value is False or str(value).strip().lower() in ("off", "none"):
        return None
    try:
        level = float(str(value)) if not isinstance(value, bool) else math.nan
    except ValueError:
        level = math.nan
    if not 0.0 < level < 1.0:
        raise ValueError(f"a level between 0 and 1, such as 0.9, or off, not {str(value)[:40]!r}")
    return level


def on_or_off(value: object) -> object:
    return "on" if value is True else off(value)


def url_pattern(text: str) -> str:
    if not text:
        raise ValueError("an empty pattern matches nothing: leave it out")
    try:
        pattern(text)
    except ConfigError as error:
        raise ValueError(str(error)) from None
    return text


def page_type(name: str) -> object:
    return choice(name, tuple(KINDS))


def proxy(value: str | None) -> str | None:
    parts = urlsplit(value or "http://none")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"{value!r} is not a proxy address: write http://host:port")
    return value


def strategy_option(text: str) -> str:
    name, equals, _ = text.partition("=")
    if not name or not equals:
        raise ValueError(f"{text!r} is not an option of a strategy: write name=value")
    return text


def header(text: str) -> str:
    found = HEADER.fullmatch(text)
    if not found:
        raise ValueError(f"{text.partition(':')[0]!r}: a header is written 'Name: value', on one line")
    if found[1].lower() in _RESERVED:
        raise ValueError(f"the header {found[1]!r} is set by the client itself")
    return text


def agent(value: str) -> str:
    if not value.strip() or not value.isprintable() or not value.isascii():
        raise ValueError("a user agent is one line of ASCII text, such as 'mybot/1.0 (me@example.org)'")
    return value


def private_host(text: str) -> str:
    if not is_network(text) and not _HOST.fullmatch(text):
        raise ValueError(f"{text!r} is neither a host, nor an address, nor a network such as 10.0.0.0/8")
    return text


def host(text: str) -> str:
    if text != "*" and not _HOST.fullmatch(text) and not is_network(text):
        hint = f"; did you mean {urlsplit(text).hostname!r}?" if "://" in text else ""
        raise ValueError(f"{text!r} is not a host name such as example.org or *.example.org{hint}")
    return text


def own_host(text: str) -> str:
    """Refuse a claim to hosts that cannot be one person's: a network, or all below a public suffix."""
    if "/" in host(text):
        raise ValueError(f"{text!r} is a network: name your own hosts or addresses one by one")
    if text.startswith("*."):
        from publicsuffixlist import PublicSuffixList

        if PublicSuffixList(accept_unknown=False).is_public(text[2:].lower()):
            raise ValueError(f"{text!r} claims what many people registered: name your own hosts")
    return text


def is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return False
    return True


def host_matches(host: str, pattern: str) -> bool:
    """Whether a pattern for hosts (`a.example`, `*.a.example`, an address, `*`) fits one.

    >>> host_matches("www.a.example", "*.a.example"), host_matches("[::1]", "::1")
    (True, True)
    """
    if pattern == "*":
        return True
    host, pattern = host.lower(), pattern.lower()
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host.strip("[]") == pattern.strip("[]")
