"""`Network`: whether a request that failed failed because of this machine's own network.

A host is not charged with what is nobody's fault: no route to anywhere, a name server that answers nothing, a
proxy that went away. Only what worked before can have gone: a machine that was never connected, and crawls a
site of its own, is told of each host that it cannot be reached.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from clew.errors import FetchError, Reason
from clew.fetch.failure import ProxyUnreachable

#: Where Linux tells its routes. Asking a socket would connect to an address outside, if only on paper.
_ROUTES, _ROUTES_V6 = Path("/proc/net/route"), Path("/proc/net/ipv6_route")
_UP, _REJECTS = 0x1, 0x200
_UNREACHED = frozenset({Reason.DNS, Reason.CONNECT, Reason.TIMEOUT})


class Network:
    """The network of this machine, as far as its requests have shown it.

    Parameters: `proxy`, host and port of the proxy that all requests go to; `routed`, says whether there is a
    way to anywhere.
    """

    def __init__(self, proxy: str = "", routed: Callable[[], bool] | None = None) -> None:
        self.proxy = proxy
        self.found = ""
        """The name that was found last, at an address of the public web."""
        self.replied = False
        """Whether anything came through the proxy."""
        self._routed = routed or has_route

    def __repr__(self) -> str:
        return f"Network({self.found or 'nothing found yet'}, proxy={self.proxy!r})"

    def met(self, name: str, addresses: Iterable[str]) -> None:
        """A name was looked up, and this is where it leads."""
        if any(_is_public(address) for address in addresses):
            self.found = name

    async def blamed(
        self, problem: FetchError, host: str, look_up: Callable[[str], Awaitable[object]]
    ) -> FetchError:
        """The problem, or that of this machine behind it.

        Parameters: the host that was asked; `look_up`, which asks the name server.
        """
        if problem.reason not in _UNREACHED:
            return problem
        if self.proxy:
            gone = self.replied and isinstance(problem, ProxyUnreachable)
            return _local(f"the proxy {self.proxy} answers no more") if gone else problem
        if not self.found:
            return problem
        if not self._routed():
            return _local("this machine has no route to any network")
        if problem.reason is Reason.DNS and host != self.found and not await self._known(look_up):
            return _local("the name server of this machine does not answer")
        return problem

    async def _known(self, look_up: Callable[[str], Awaitable[object]]) -> bool:
        """Whether the name that was found last is found again."""
        try:
            await look_up(self.found)
        except FetchError:
            # It was reached, and says that there is no such name any more.
            return True
        except OSError:
            return False
        return True


def has_route(routes: Path = _ROUTES, routes_v6: Path = _ROUTES_V6) -> bool:
    """Whether this machine has a default route, by either kind of address; taken for granted where the system
    does not tell."""
    try:
        rows = [line.split() for line in routes.read_text("ascii").splitlines()[1:]]
        found = [int(row[3], 16) for row in rows if row[1] == row[7] == "00000000"]
        if routes_v6.exists():
            rows = [line.split() for line in routes_v6.read_text("ascii").splitlines()]
            found += [int(row[8], 16) for row in rows if row[1] == "00" and row[9] != "lo"]
    except (OSError, ValueError, IndexError):
        return True
    return any(flags & _UP and not flags & _REJECTS for flags in found)


def _is_public(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


def _local(detail: str) -> FetchError:
    return FetchError(Reason.LOCAL, detail)
