"""What single values of a configuration may be, and how it is said when they are not."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from clew.strategy.intelligent import WEIGHINGS


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the closest known word, or nothing.

    >>> nearest("concurency", ["delay", "concurrency"])
    "; did you mean 'concurrency'?"
    """
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def choice(value: object, known: tuple[str, ...]) -> object:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{value!r} is not one of {', '.join(known)}{nearest(str(value), known)}")
    return value


def none(value: object) -> object:
    """`none` lifts a limit wherever there can be none."""
    return None if isinstance(value, str) and value.strip().lower() == "none" else value


def weighed(value: object) -> object:
    """`name=number,name=number`, or a table, or the name of a way to weigh."""
    if not isinstance(value, str) or value in WEIGHINGS:
        return value
    pairs = [part.partition("=") for part in value.replace(",", " ").split()]
    if any(not equals for _, equals, _ in pairs):
        raise ValueError(
            f"{value!r} is not a list of weights: write name=number,name=number, or "
            f"one of {', '.join(WEIGHINGS)}"
        )
    return {name: number for name, _, number in pairs}


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


def claimable(pattern: str) -> None:
    """Refuse a claim to hosts that cannot be one person's: a network, or all below a public suffix."""
    if "/" in pattern:
        raise ValueError(f"{pattern!r} is a network: name your own hosts or addresses one by one")
    if pattern.startswith("*."):
        from publicsuffixlist import PublicSuffixList

        if PublicSuffixList(accept_unknown=False).is_public(pattern[2:].lower()):
            raise ValueError(f"{pattern!r} claims what many people registered: name your own hosts")
