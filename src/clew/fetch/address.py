"""Which addresses may be connected to.

The web is full of links that point inwards: to the crawler's own machine, its network, the metadata
service of the cloud it runs in. `Vetting` knows the ranges of both address families that are not the
public internet, and what of them the user has opened. It judges addresses, not names, so no spelling of a
name or number gets around it; IPv6 forms that carry an IPv4 address are judged by what they carry.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

from clew.errors import ConfigError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Written out, because the standard library's `is_global` calls several of these global, and which ones
# depends on its version. The first range that fits names the reason, so single addresses come first.
_CLOSED_V4 = [
    (ipaddress.IPv4Network(network), why)
    for network, why in (
        ("169.254.169.254/32", "cloud metadata"),
        ("168.63.129.16/32", "cloud metadata"),
        ("192.0.0.192/32", "cloud metadata"),
        ("100.100.100.200/32", "cloud metadata"),
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
]
_CLOSED_V6 = [
    (ipaddress.IPv6Network(network), why)
    for network, why in (
        ("fd00:ec2::254/128", "cloud metadata"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "NAT64"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
        ("2001::/32", "Teredo"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
    )
]
_UNICAST = ipaddress.IPv6Network("2000::/3")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

# Names that mean this machine or its cloud wherever they are looked up. Addresses are judged anyway; this
# list is for when the looking up is left to a proxy.
_CLOSED_NAMES = {
    "localhost": "loopback",
    "localhost.localdomain": "loopback",
    "ip6-localhost": "loopback",
    "ip6-loopback": "loopback",
    "broadcasthost": "reserved",
    "metadata": "cloud metadata",
    "metadata.google.internal": "cloud metadata",
    "instance-data": "cloud metadata",
}

# Mail, shells and the like: a link must not make the crawler talk to them (the "bad ports" of browsers).
CLOSED_PORTS = frozenset(
    (0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
     103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
     512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
     995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
     6669, 6679, 6697, 10080)
)  # fmt: skip


@lru_cache(maxsize=65_536)
def range_of(address: str) -> str | None:
    """The closed range an address lies in, or None for the public internet.

    >>> range_of("127.0.0.1"), range_of("::ffff:10.0.0.1"), range_of("8.8.8.8")
    ('loopback', 'private', None)
    >>> range_of("not an address")
    'not an address'
    """
    ip = parse(address)
    if ip is None:
        return "not an address"
    if isinstance(ip, ipaddress.IPv4Address):
        return next((why for network, why in _CLOSED_V4 if ip in network), None)
    known = next((why for network, why in _CLOSED_V6 if ip in network), None)
    return known or (None if ip in _UNICAST else "reserved")


def parse(address: str) -> Address | None:
    """An address, freed of brackets, zone and IPv6 wrapping; None when it is none.

    >>> parse("[::ffff:1.2.3.4]"), parse("fe80::1%eth0"), parse("a.example")
    (IPv4Address('1.2.3.4'), IPv6Address('fe80::1'), None)
    """
    try:
        ip = ipaddress.ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return None
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return ip.ipv4_mapped
        if ip in _COMPATIBLE and int(ip) > 1:
            return ipaddress.IPv4Address(int(ip))
    return ip


class HostSet:
    """A set of hosts, addresses and networks.

    >>> hosts = HostSet(["wiki.example", "*.lab.example", "10.0.0.0/8"])
    >>> hosts.named("WIKI.example."), hosts.named("a.lab.example"), hosts.named("lab.example")
    (True, True, False)
    >>> hosts.holds("10.1.2.3"), "10.1.2.3" in hosts
    (True, True)
    """

    def __init__(self, items: Sequence[str] = ()) -> None:
        self.items = tuple(items)
        self._networks: list[Network] = []
        self._names: set[str] = set()
        self._domains: list[str] = []
        for item in self.items:
            self._add(item.strip().lower())

    def _add(self, item: str) -> None:
        try:
            self._networks.append(ipaddress.ip_network(item.strip("[]"), strict=False))
        except ValueError:
            if not item or "/" in item or ":" in item:
                raise ConfigError(
                    f"{item!r} is no host, address or network: write it like wiki.example, *.lab.example, "
                    "10.1.2.3 or 10.0.0.0/8"
                ) from None
            if item.startswith("*."):
                self._domains.append(item[1:].rstrip("."))
            else:
                self._names.add(item.rstrip("."))

    def named(self, host: str) -> bool:
        """Whether a host is in it by its name."""
        host = host.rstrip(".").lower()
        return host in self._names or "*" in self._names or any(host.endswith(d) for d in self._domains)

    def holds(self, address: str) -> bool:
        """Whether an address is in it."""
        ip = parse(address)
        return ip is not None and any(ip in network for network in self._networks)

    def __contains__(self, host: str) -> bool:
        return self.named(host) or self.holds(host)


class Vetting:
    """The public internet, plus what the user allows.

    Parameters: `allow`, each a host (`intranet.example`, `*.lab.example`), an address or a network
    (`10.0.0.0/8`); a host covers whatever address it has. `*` covers everything, which is right only behind
    a proxy that answers from a recorded web.

    >>> vetting = Vetting(["10.1.0.0/16", "wiki.example"])
    >>> vetting.why("a.example", "10.1.2.3"), vetting.why("wiki.example", "192.168.0.7")
    (None, None)
    >>> vetting.why("a.example", "192.168.0.7")
    'private'
    """

    def __init__(self, allow: Sequence[str] = ()) -> None:
        self.allow = HostSet(allow)

    def why(self, host: str, address: str) -> str | None:
        """Why an address of a host must not be connected to; None when it may."""
        closed = range_of(address)
        if closed is None or self.allow.named(host) or self.allow.holds(address):
            return None
        return closed

    def allowed(self, host: str, address: str) -> bool:
        """Whether an address of a host may be connected to."""
        return self.why(host, address) is None

    def why_name(self, host: str, port: int | None = None) -> str | None:
        """Why a host is refused before it is looked up; None when it is not.

        It may be a closed address, mean this machine, or be asked for on a port where no web server is.
        """
        host = host.rstrip(".").lower()
        if host in self.allow:
            return None
        if port in CLOSED_PORTS:
            return f"port {port}"
        if parse(host) is not None:
            return range_of(host)
        if host.endswith((".localhost", ".localdomain")):
            return "loopback"
        return _CLOSED_NAMES.get(host)

    def __repr__(self) -> str:
        return f"Vetting({list(self.allow.items)!r})"
