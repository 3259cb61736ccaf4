"""The vocabulary of chaos: a `Fault` of trouble, where it sits, what can be had in spite of it.

Each kind is a short coroutine that writes to the connection, with its name and one sentence saying what it
does. The modules `chaos_wire`, `chaos_failing` and `chaos_traps` fill the registry; `KINDS` is all of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum


class FaultPlace(StrEnum):
    """Where a kind of trouble sits."""

    PAGE = "page"
    """On a page that has a healthy reply as well."""
    WAY = "way"
    """On the redirects that lead to a page."""
    SICK = "sick"
    """On an address that never gives a page."""
    ROBOTS = "robots"
    """On a host's robots.txt."""
    SITEMAP = "sitemap"
    """On a sitemap that a robots.txt names."""
    NAME = "name"
    """On the look-up of a host's name."""
    TRAP = "trap"
    """In a space of pages without end."""


class Cure(StrEnum):
    """What a crawler can get in spite of the trouble."""

    HEALS = "heals"
    """The next request for the same address is answered properly."""
    HARMLESS = "harmless"
    """The page is there all the same, for who can read it."""
    HOPELESS = "hopeless"
    """There is nothing to be had; the art is to come away unharmed."""


@dataclass(slots=True)
class Talk:
    """One request and the connection it came in on, as a kind sees it."""

    url: str
    page: bytes
    """The HTML that belongs there; empty where nothing does."""
    base: str
    """Scheme, host and port as they were asked for, for links and redirects."""
    patience: float
    """Seconds that a silence or an endless reply lasts, at most."""
    forbidden: str
    """An address on this machine that no crawler was allowed to visit."""
    dice: random.Random
    writer: asyncio.StreamWriter
    keep: bool = False
    """Whether the connection goes on after the reply."""

    async def send(self, data: bytes | str) -> None:
        """Write, and wait until the other side has taken most of it."""
        self.writer.write(data.encode() if isinstance(data, str) else data)
        await self.writer.drain()

    async def reply(self, *headers: str, body: bytes | None = None, status: str = "200 OK") -> None:
        """A proper reply, with `headers` in addition to (or, for the type, in place of) the usual ones."""
        body = self.page if body is None else body
        await self.send(head(status, *headers, f"Content-Length: {len(body)}") + body)

    async def forever(self, piece: Callable[[int], bytes], pause: float = 0.0) -> None:
        """Write pieces until the other side goes away or patience ends."""
        end = asyncio.get_running_loop().time() + self.patience
        number = 0
        while asyncio.get_running_loop().time() < end:
            await self.send(piece(number))
            number += 1
            await asyncio.sleep(pause)

    async def silence(self) -> None:
        """Say nothing, for as long as patience lasts."""
        await asyncio.sleep(self.patience)

    def reset(self) -> None:
        """Break the connection off with a TCP reset."""
        raw = self.writer.get_extra_info("socket")
        if raw is not None:
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Act = Callable[[Talk], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of trouble.

    >>> from clew.testing import chaos
    >>> print(KINDS["reset-mid-body"])
    reset-mid-body (page, heals): half the body, then a TCP reset
    """

    name: str
    place: FaultPlace
    cure: Cure
    says: str
    act: Act | None = None
    """What it writes; None where the trouble is not in a reply (names, traps)."""

    def __str__(self) -> str:
        return f"{self.name} ({self.place}, {self.cure}): {self.says}"


KINDS: dict[str, Fault] = {}
"""Every kind by name, in the order declared."""


def declare(name: str, place: FaultPlace, cure: Cure, says: str, act: Act | None = None) -> Fault:
    """Add a kind to the registry."""
    if name in KINDS:
        raise ValueError(f"the kind {name!r} is declared already")
    KINDS[name] = Fault(name, place, cure, says, act)
    return KINDS[name]


def kind(name: str, place: FaultPlace, cure: Cure) -> Callable[[Act], Act]:
    """Declare the coroutine below; its docstring is what the kind says of itself."""

    def take(act: Act) -> Act:
        says = " ".join((act.__doc__ or "").split()).rstrip(".")
        declare(name, place, cure, says, act)
        return act

    return take


def kinds(place: FaultPlace, cure: Cure | None = None) -> tuple[Fault, ...]:
    """The kinds of a place, in the order declared."""
    return tuple(k for k in KINDS.values() if k.place is place and cure in (None, k.cure))


def head(status: str, *headers: str) -> bytes:
    """A status line and headers; the type is HTML in UTF-8 unless a header says otherwise."""
    given = [header for header in headers if header]
    if not any(header.lower().startswith("content-type:") for header in given):
        given.insert(0, "Content-Type: text/html; charset=utf-8")
    return "\r\n".join([f"HTTP/1.1 {status}", *given, "", ""]).encode("utf-8", "surrogateescape")
