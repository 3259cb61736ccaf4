"""`Gate`: who may ask the dashboard for what. It stands before every route.

A page anywhere on the web can make a browser send requests to this machine, and by a name of its own that
resolves to 127.0.0.1 read the replies. So the Host must be one the user listens on, the Origin, where there
is one, must be the page's own, and a token that only the user was told stands behind every change; where
others can reach the port at all, behind every request.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clew.errors import UsageError

HEADER = "x-clew-token"
QUERY = "token"
_SAFE = frozenset({"GET", "HEAD"})
#: Bytes of a request's body at most: a form is small.
LONGEST = 1 << 20
_ELSEWHERE = (
    "asked for by a page from elsewhere, and so refused: if it was you who followed a link, copy the address "
    "into the browser\n"
)
_STALE = (
    "this token is not that of the dashboard that runs now: open the address that it printed when it was "
    "started\n"
)
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
#: What every reply says.
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Where the dashboard listens, by which names it may be asked, and the token.

    Parameters: the address and port that are listened on; further names a browser may use for them.
    """

    address: str
    port: int
    names: tuple[str, ...] = ()
    token: str = ""

    @classmethod
    def make(cls, address: str, port: int, names: Sequence[str] = ()) -> AccessRules:
        """With a token of its own, which ends with the process.

        Raises `UsageError` where nobody could say by which name it will be asked.
        """
        if is_any(address) and not names:
            raise UsageError(
                f"{address or 'no address'} is every address of this machine: say by which name or address "
                "the page will be asked for, with --name NAME"
            )
        return cls(address, port, tuple(names), secrets.token_urlsafe(24))

    @property
    def loopback(self) -> bool:
        """Whether nobody but this machine can ask."""
        return is_loopback(self.address)

    @property
    def hosts(self) -> frozenset[str]:
        """What the header `Host` may say."""
        names = {*self.names} if is_any(self.address) else {self.address, *self.names}
        if self.loopback:
            names |= {"127.0.0.1", "localhost", "::1"}
        plain = {f"[{name}]" if ":" in name else name.lower() for name in names}
        return frozenset({f"{name}:{self.port}" for name in plain} | (plain if self.port == 80 else set()))

    @property
    def origins(self) -> frozenset[str]:
        """What the header `Origin` may say."""
        return frozenset(f"http://{host}" for host in self.hosts)

    @property
    def url(self) -> str:
        """What to open, with the token."""
        name = self.names[0] if is_any(self.address) else self.address
        shown = f"[{name}]" if ":" in name else name
        return f"http://{shown}:{self.port}/?{QUERY}={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie that keeps the token: one for each port, as cookies know no ports."""
        return f"clew-{self.port}"


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own, which no other can reach.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("localhost")
    (True, False, True)
    """
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def is_any(address: str) -> bool:
    """Whether an address stands for all of a machine's.

    >>> [is_any(address) for address in ("0.0.0.0", "::", "", "0", "127.0.0.1", "localhost")]
    [True, True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:
        pass
    try:
        return not any(socket.inet_aton(address)) if address else True
    except OSError:
        return False


class Gate:
    """The middleware that refuses what `AccessRules` does not admit, and adds `HEADERS` to every reply.

    Parameters: the application behind it; who is admitted.
    """

    def __init__(self, app: ASGIApp, admitted: AccessRules) -> None:
        self.app = app
        self.admitted = admitted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refused = self.refusal(scope)
        if refused is not None:
            await refused(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)

    def refusal(self, scope: Scope) -> Response | None:
        """The reply to a request that is not let through; None for one that is. Sets `scope["writes"]`:
        whether the token came with it."""
        if scope["type"] != "http":
            return PlainTextResponse("there are no web sockets here\n", 400)
        headers = Headers(scope=scope)
        if (
            headers.getlist("host") != [headers.get("host", "")]
            or headers["host"].lower() not in self.admitted.hosts
        ):
            return PlainTextResponse(
                "this name is not one the dashboard is asked by: open the address that `clew dash` printed\n",
                421,
            )
        origins = headers.getlist("origin")
        if any(origin not in self.admitted.origins for origin in origins):
            return PlainTextResponse(_ELSEWHERE, 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return PlainTextResponse(_ELSEWHERE, 403)
        if int(headers.get("content-length") or 0) > LONGEST:
            return PlainTextResponse("too long\n", 413)
        return self._tokens(scope, headers)

    def _tokens(self, scope: Scope, headers: Headers) -> Response | None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if given := query.get(QUERY):
            if scope["method"] not in _SAFE or not self._is_token(given[-1]):
                return PlainTextResponse(_STALE, 403)
            reply = RedirectResponse(quote(scope["path"]), 303)
            reply.set_cookie(self.admitted.cookie, self.admitted.token, httponly=True, samesite="strict")
            return reply
        kept = self._is_token(_cookie(headers, self.admitted.cookie))
        said = headers.get(HEADER)
        if said is not None and not self._is_token(said):
            return PlainTextResponse(_STALE, 403)
        scope["writes"] = kept or said is not None
        if scope["method"] not in _SAFE:
            # A cookie goes with every request a browser makes; what the page itself says does not.
            if said is None:
                return PlainTextResponse("a change needs the token: open the address that was printed\n", 403)
        elif not self.admitted.loopback and not scope["writes"]:
            return PlainTextResponse("this needs the token: open the address that was printed\n", 401)
        return None

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode("utf-8", "replace"), self.admitted.token.encode())


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""
