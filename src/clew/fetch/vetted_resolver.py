"""Names become vetted addresses here, and nothing but a vetted address is connected to.

A name is looked up once, *all* its addresses are judged, and exactly those are handed to the connection, so
a name server that answers differently the second time gains nothing. The last word is had at the socket
itself, which also sees what never was a name.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from clew.errors import FetchError, Reason
from clew.fetch.address import NAT64, Vetting, parse

Lookup = Callable[[str], Awaitable[list[str]]]
"""Gives all addresses of a host name; raises OSError where it has none."""

LOOKUP_THREADS = 16
CACHE_SIZE = 20_000
# The name servers were reached and know of no such name; any other trouble with them may pass.
_NO_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


class ForbiddenSocket(OSError):
    """A connection to an address that was never vetted; only a mistake in a client can raise it."""


class SystemLookup:
    """Asks the operating system, in threads of its own: slow name servers then delay nothing else."""

    def __init__(self, threads: int = LOOKUP_THREADS) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="clew-dns")

    async def __call__(self, host: str) -> list[str]:
        # As bytes, so that Python's own, older idea of international names stays out of it.
        ask = partial(socket.getaddrinfo, host.encode(), None, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class VettedResolver:
    """The resolver of all connections: addresses of a name that are all fit to connect to, or a FetchError.

    Parameters: `vetting`; `lookup`, how names are looked up; `ttl`, how long an answer stands.
    """

    def __init__(self, vetting: Vetting, lookup: Lookup, ttl: float = 60.0) -> None:
        self.vetting = vetting
        self.granted: set[str] = set()
        """Addresses opened by the name of a host."""
        self._lookup = lookup
        self._ttl = ttl
        self._cache: dict[str, tuple[float, list[str]]] = {}

    async def addresses(self, host: str, *, fresh: bool = False) -> list[str]:
        """The vetted addresses of a host, looked up unless known from a moment ago; always, if `fresh`."""
        now = time.monotonic()
        known = self._cache.get(host)
        if known is not None and now < known[0] and not fresh:
            return known[1]
        found = self.vet(host, await self._ask(host))
        if len(self._cache) >= CACHE_SIZE:
            self._cache = {name: entry for name, entry in self._cache.items() if now < entry[0]}
            if len(self._cache) >= CACHE_SIZE:
                self._cache.clear()
        self._cache[host] = (now + self._ttl, found)
        return found

    async def _ask(self, host: str) -> list[str]:
        try:
            return await self._lookup(host)
        except socket.gaierror as error:
            if error.errno not in _NO_NAME:
                raise
            detail = f"there is no host {host}: check how it is spelt"
            raise FetchError(Reason.UNKNOWN_HOST, detail) from error

    def vet(self, host: str, addresses: list[str]) -> list[str]:
        """The addresses, if every one of them is fit; one bad one condemns the name."""
        # A network with NAT64 adds such an address of its own making to every name; the site did not.
        plain = [a for a in addresses if (ip := parse(a)) is None or ip not in NAT64] or addresses
        if not plain:
            raise OSError(f"{host} has no address")
        for address in plain:
            why = self.vetting.why(host, address)
            if why is not None:
                raise forbidden(host, address, why)
        if self.vetting.allow.named(host):
            self.granted.update(plain)
        return plain

    async def close(self) -> None:
        if isinstance(self._lookup, SystemLookup):
            self._lookup.close()

    def socket(self, info: tuple[int, int, int, str, tuple[object, ...]]) -> socket.socket:
        """Open a socket for an address, after a last look at it."""
        family, kind, protocol, _, address = info
        ip = str(address[0])
        if ip not in self.granted and not self.vetting.allowed("", ip):
            raise ForbiddenSocket(f"{ip} was not vetted")
        return socket.socket(family, kind, protocol)


def forbidden(host: str, address: str, why: str) -> FetchError:
    """The refusal, in words that say how to lift it."""
    where = host if host == address else f"{host} ({address})"
    return FetchError(
        Reason.FORBIDDEN_ADDRESS,
        f"{where} is not on the public web ({why}); if it is meant, allow it with --allow-private {host}",
    )
