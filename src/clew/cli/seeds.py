"""Seeds as a user gives them: addresses, files of addresses, the standard input."""

from __future__ import annotations

import ipaddress
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from clew.cli.console import clean, say
from clew.errors import ParseError, UsageError
from clew.parse.sitemap import parse_sitemap

_STDIN = "-"
#: What relative addresses in a file are relative to; they are left out, for they lead nowhere.
_NOWHERE = "http://file.invalid/"
#: Addresses without a scheme that are told one by one.
_TOLD = 3
#: A host with a dot in its name, or this machine, with or without a port and what follows.
_BARE = re.compile(r"([\w-]+(?:\.[\w-]+)+\.?|localhost|\[[0-9a-f:.]+\])(:\d+)?([/?#].*)?", re.I)


def read_seeds(words: Sequence[str], files: Sequence[str] = ()) -> tuple[str, ...]:
    """The seeds that arguments and `--seeds-file` name, each once, in order; nothing when none was given.

    An argument is an address or `@FILE`; `@-` is the standard input. A file has an address a line (empty
    lines and those that begin with # are skipped), or is a sitemap or a feed. Where a scheme is missing and
    obvious it is added, and that is said.
    """
    given: list[str] = []
    for word in words:
        if word.startswith("@"):
            given += _listed(word.removeprefix("@"))
        elif "://" not in word and Path(word).is_file():
            raise UsageError(f"{word!r} is a file, not an address: to take seeds from it, write @{word}")
        else:
            given.append(word)
    for file in files:
        given += _listed(file.removeprefix("@"))
    found = [with_scheme(word) for word in given]
    _say_taken([(word, address) for word, address in zip(given, found, strict=True) if word != address])
    return tuple(dict.fromkeys(found))


def _say_taken(pairs: list[tuple[str, str]]) -> None:
    for word, address in pairs[:_TOLD]:
        say(f"note: {clean(word)} is taken as {clean(address)}")
    if len(pairs) > _TOLD:
        say(f"note: {len(pairs) - _TOLD} more without a scheme are taken in this way")


def with_scheme(word: str) -> str:
    """An address with its scheme; what is no host name stays as it is, for the settings to refuse.

    >>> with_scheme("example.org"), with_scheme("localhost:8000/a"), with_scheme("wind")
    ('https://example.org/', 'http://localhost:8000/a', 'wind')
    """
    match = _BARE.fullmatch(word)
    if match is None:
        return word
    host, port, rest = match[1], match[2] or "", match[3] or ""
    scheme = "http" if port == ":80" or _is_local(host) else "https"
    return f"{scheme}://{host}{port}{rest or '/'}"


def _is_local(host: str) -> bool:
    """Whether a host is this machine or named by its address alone, where few have a certificate."""
    if host.lower() == "localhost":
        return True
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _listed(name: str) -> list[str]:
    """The addresses in a file; `-` is the standard input."""
    shown = "the standard input" if name == _STDIN else name
    try:
        body = sys.stdin.buffer.read() if name == _STDIN else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(
            f"the seeds in {shown} cannot be read: {error.strerror}; give a file that has one a line"
        ) from None
    if body.startswith(b"\x1f\x8b") or body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        found = _of_sitemap(body, shown)
    else:
        found = _of_lines(body, shown)
    if not found:
        raise UsageError(f"there is no address in {shown}: write one a line, or give a sitemap or a feed")
    return found


def _of_sitemap(body: bytes, shown: str) -> list[str]:
    try:
        sitemap = parse_sitemap(body, url=_NOWHERE)
    except ParseError as error:
        raise UsageError(f"the seeds in {shown} cannot be read: {error}") from None
    if sitemap.children and not sitemap.urls:
        raise UsageError(f"{shown} is a list of sitemaps, not of pages: give the sitemaps that it names")
    return [address for address in sitemap.urls if not address.startswith(_NOWHERE)]


def _of_lines(body: bytes, shown: str) -> list[str]:
    try:
        lines = [line.strip() for line in body.decode("utf-8-sig").splitlines()]
    except UnicodeDecodeError:
        raise UsageError(f"the seeds in {shown} cannot be read: it is no text in UTF-8") from None
    found = []
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            if urlsplit(with_scheme(line)).scheme not in ("http", "https"):
                raise UsageError(f"{line[:80]!r} is not a web address (line {number} of {shown})")
            found.append(line)
    return found
