"""`HttpSettings`: how clew presents itself, whom it trusts, and when it has had enough."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import unquote, urlsplit

from clew.errors import ConfigError
from clew.fetch.address import HostSet
from clew.url import origin, resolve

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CREDENTIAL = re.compile(r"auth|cookie|token|secret|api-?key|password|session", re.IGNORECASE)
# The client writes these itself; a second opinion would break the exchange.
_RESERVED = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "te"})

Headers = tuple[tuple[str, str], ...]


def default_user_agent() -> str:
    """How clew calls itself, unless told otherwise: product token and version.

    >>> default_user_agent().startswith("clew/")
    True
    """
    try:
        return f"clew/{version('clew')}"
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "clew/0"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Everything the HTTP fetcher can be told; wrong values are refused with a `ConfigError`.

    >>> HttpSettings(timeout=5.0, headers=(("Accept-Language", "de"),)).max_body
    10000000
    """

    user_agent: str = field(default_factory=default_user_agent)
    timeout: float = 30.0
    """Seconds for one request, all told: look-up, connection, headers, body."""
    connect_timeout: float = 10.0
    """Seconds for connecting to one of a host's addresses, TLS included."""
    headers: Headers = field(default=(), repr=False)
    """Extra headers. Those that carry credentials go to `credential_hosts` only."""
    credential_hosts: tuple[str, ...] = ()
    """Origins (`https://a.example`) that may see credentials; a bare host means https."""
    proxy: str | None = field(default=None, repr=False)
    """`http://[user:password@]host:port`; then the proxy looks names up, not clew."""
    allow_private: tuple[str, ...] = ()
    """Hosts, addresses and networks outside the public internet that may be visited."""
    insecure: tuple[str, ...] = ()
    """Hosts (`a.example`, `*.b.example`) whose TLS certificate is not checked."""
    max_wire: int | None = None
    """Bytes of body received, at most; None for the same as `max_body`."""
    max_body: int = 10_000_000
    """Bytes of body after decompression, at most."""
    max_headers: int = 64 * 1024
    """Bytes of all reply headers together, at most."""
    concurrency: int = 64
    """Requests in flight, at most; further ones wait, and their time does not run."""
    keepalive: float = 15.0
    """Seconds an idle connection is kept."""
    dns_ttl: float = 60.0
    """Seconds the vetted addresses of a name are used again."""
    retry_dropped: bool | tuple[str, ...] = True
    """Ask again on the spot when a kept connection turns out to be closed, or which hosts to do that with.
    The server may have seen the first request, so where a delay must hold between any two, this is for the
    engine to do."""
    keep_raw: bool = False
    """Keep compressed bodies as sent too, in `Response.raw`."""

    def __post_init__(self) -> None:
        for name in ("timeout", "connect_timeout", "max_wire", "max_body", "max_headers", "concurrency"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigError(f"{name} must be more than 0")
        if not self.user_agent.strip() or not self.user_agent.isascii() or not self.user_agent.isprintable():
            raise ConfigError("the user agent must be one line of ASCII text, such as 'mybot/1.0'")
        for header, value in self.headers:
            _check_header(header, value)
        for entry in self.credential_hosts:
            _origin(entry)
        _check_proxy(self.proxy)
        HostSet(self.allow_private)
        HostSet(self.insecure)

    def shared_headers(self) -> dict[str, str]:
        """Headers for every host."""
        given = {name: value for name, value in self.headers if not is_credential(name)}
        return {"User-Agent": self.user_agent, "Accept": ACCEPT} | given

    def credentials(self) -> dict[str, str]:
        """Headers for `credential_hosts` only."""
        return {n: v for n, v in self.headers if is_credential(n) and not _for_proxy(n)}

    def proxy_headers(self) -> dict[str, str]:
        """Headers for the proxy only: a Proxy-Authorization, given as such or within the proxy's address."""
        parts = urlsplit(self.proxy or "")
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        basic = None if parts.username is None else f"Basic {base64.b64encode(pair.encode()).decode()}"
        found = next((value for name, value in self.headers if _for_proxy(name)), basic)
        return {} if found is None else {"Proxy-Authorization": found}

    def proxy_address(self) -> str | None:
        """The proxy without user and password."""
        if self.proxy is None:
            return None
        parts = urlsplit(self.proxy)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def credential_origins(self) -> frozenset[str]:
        """`credential_hosts` as canonical origins."""
        return frozenset(map(_origin, self.credential_hosts))


def is_credential(name: str) -> bool:
    """Whether a header of that name may carry a secret.

    >>> is_credential("Authorization"), is_credential("X-Api-Key"), is_credential("Accept-Language")
    (True, True, False)
    """
    return _CREDENTIAL.search(name) is not None


def _for_proxy(name: str) -> bool:
    return name.lower() == "proxy-authorization"


def _check_header(name: str, value: str) -> None:
    if not _HEADER_NAME.fullmatch(name) or any(c in value for c in "\r\n\0"):
        raise ConfigError(f"{name!r} is not a header: give a name and a value on one line")
    if name.lower() in _RESERVED:
        raise ConfigError(f"the header {name!r} is set by the client itself: leave it out")


def _check_proxy(proxy: str | None) -> None:
    if proxy is None:
        return
    try:
        parts = urlsplit(proxy)
        usable = parts.scheme == "http" and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("the proxy is not an address: write http://host:port")


def _origin(entry: str) -> str:
    url = resolve(entry if "://" in entry else f"https://{entry}")
    if url is None or not url.startswith(("http://", "https://")):
        raise ConfigError(f"{entry!r} is not an origin: write https://host or http://host:port")
    scheme, _, rest = origin(url).partition("//")
    return f"{scheme}//{rest.rpartition('@')[2]}"
