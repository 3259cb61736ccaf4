"""`Network`: whether a request that failed failed because of this machine's own network.

A host is not charged with what is nobody's fault: no route to anywhere, a name server that answers nothing, a
proxy that went away. Only what worked before can have gone: a machine that was never connected, and crawls a
site of its own, is told of each host that it cannot be reached.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable

from clew.errors import FetchError, Reason
from clew.fetch.failure import ProxyUnreachable

#: Addresses of documentation, RFC 5737 and 3849. A datagram's socket is connected to them and nothing is
#: sent.
_ANYWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL})
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


def has_route() -> bool:
    """Whether there is a way from this machine to anywhere, by either kind of address."""
    for family, address in _ANYWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((address, 9))
            return True
        except OSError as error:
            if error.errno not in _NO_ROUTE and error.errno != errno.EAFNOSUPPORT:
                # Whatever else it is, it is not that.
                return True
    return False


def _is_public(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


def _local(detail: str) -> FetchError:
    return FetchError(Reason.LOCAL, detail)
