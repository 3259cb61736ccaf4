"""Names, addresses and sockets: what the door lets out, counted where connections are made."""

from __future__ import annotations

import asyncio
import socket
import sys

import pytest

from clew.errors import RETRY, FetchError, Reason
from clew.fetch import Request, Vetting
from clew.fetch.vetted_resolver import ForbiddenSocket, VettedResolver

_connected: list[str] = []


def _hook(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.connect":
        _connected.append(str(args[1]))


sys.addaudithook(_hook)


@pytest.fixture
def connected():
    """Every address a socket was connected to during the test, by the interpreter's own audit."""
    _connected.clear()
    return _connected


def names(table: dict[str, list[str] | list[list[str]]]):
    """A name server: each name has addresses, or a list of answers given in turn."""
    asked: list[str] = []

    async def lookup(host: str) -> list[str]:
        asked.append(host)
        if host not in table:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        answer = table[host]
        if answer and isinstance(answer[0], list):
            return answer[min(asked.count(host), len(answer)) - 1]
        return answer

    lookup.asked = asked
    return lookup


DISGUISED = [
    # loopback, written as browsers would still read it
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001",
    "0x7f.1", "127.0.0.1.", "127.000.000.001", "%31%32%37.0.0.1", "127。0。0。1", "１２７.0.0.1", "①②⑦.0.0.1",
    "127.255.255.254", "0.0.0.0", "0", "0x0", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[0000::0001]",
    # private networks
    "10.0.0.1", "0xa.0.0.1", "167772161", "012.0.0.1", "172.16.0.1", "2886729729", "192.168.0.1",
    "0xc0a80001", "192.168.1", "[::ffff:10.0.0.1]", "[fc00::1]", "[fd12:3456:789a::1]", "100.64.0.1",
    "[fec0::1]",
    # link-local and metadata
    "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "169.16689662",
    "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200",
    "168.63.129.16", "192.0.0.192",
    # IPv4 carried by IPv6 transition schemes
    "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]", "[2001:0:7f00:1::]", "[2001:db8::1]",
    # multicast, reserved
    "224.0.0.1", "255.255.255.255", "240.0.0.1", "[ff02::1]", "198.18.0.1", "192.0.2.1",
    # names
    "localhost", "LOCALHOST", "localhost.", "x.localhost", "ℓocalhost", "metadata.google.internal",
    "inside.example", "mixed.example", "mapped.example", "later.example",
]  # fmt: skip

TABLE = {
    "inside.example": ["10.0.0.7"],
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "later.example": ["fd00::1"],
}


@pytest.mark.parametrize("host", DISGUISED)
async def test_no_disguise_of_an_inner_address_is_connected_to(fetcher, connected, host):
    one = fetcher(allow_private=(), lookup=names(TABLE))
    with pytest.raises(FetchError) as caught:
        await one.fetch(Request(f"http://{host}/"))
    assert caught.value.reason in (Reason.FORBIDDEN_ADDRESS, Reason.BAD_URL)
    assert connected == []


async def test_a_name_is_looked_up_once_and_its_vetted_address_connected_to(serve, fetcher, reply, connected):
    """A name server that turns to an inner address after the check is not asked a second time."""
    server = await serve(reply(b"x"))
    lookup = names({"site.example": [["127.0.0.1"], ["10.0.0.1"]]})
    one = fetcher(lookup=lookup, keepalive=0.001)
    for _ in range(2):
        got = await one.fetch(Request(server.url(host="site.example")))
        assert got.address == "127.0.0.1"
        await asyncio.sleep(0.01)
    assert lookup.asked == ["site.example"]
    assert all("127.0.0.1" in address for address in connected)
    assert server.header("Host") == f"site.example:{server.port}"


async def test_an_answer_that_has_expired_is_vetted_again(serve, fetcher, reply):
    server = await serve(reply(b"x"), close=True)
    one = fetcher(lookup=names({"site.example": [["127.0.0.1"], ["10.0.0.1"]]}), dns_ttl=0.0)
    await one.fetch(Request(server.url(host="site.example")))
    with pytest.raises(FetchError) as caught:
        await one.fetch(Request(server.url(host="site.example")))
    assert caught.value.reason is Reason.FORBIDDEN_ADDRESS
    assert "--allow-private site.example" in str(caught.value)


async def test_a_name_without_an_address_is_a_dns_failure(fetcher):
    one = fetcher(lookup=names({"empty.example": []}))
    for host, reason in (("missing.example", Reason.UNKNOWN_HOST), ("empty.example", Reason.DNS)):
        for scheme in ("http", "https"):
            with pytest.raises(FetchError) as caught:
                await one.fetch(Request(f"{scheme}://{host}/"))
            assert caught.value.reason is reason


async def test_a_name_server_that_cannot_be_asked_is_another_matter_than_a_name_that_is_not_there(fetcher):
    async def lookup(host):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with pytest.raises(FetchError) as caught:
        await fetcher(lookup=lookup).locate("site.example")
    assert caught.value.reason is Reason.DNS
    assert RETRY[Reason.UNKNOWN_HOST].rest < RETRY[Reason.DNS].rest


async def test_the_system_knows_no_invalid_name(fetcher):
    for host in ("nothing.invalid", "a" * 64 + ".invalid", "xn--a.invalid"):
        with pytest.raises(FetchError) as caught:
            await fetcher(timeout=10.0).fetch(Request(f"http://{host}/"))
        assert caught.value.reason in (Reason.UNKNOWN_HOST, Reason.DNS, Reason.BAD_URL, Reason.TIMEOUT)


async def test_a_host_that_is_allowed_by_name_may_have_any_address(serve, fetcher, reply):
    server = await serve(reply(b"x"))
    lookup = names({"wiki.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]})
    one = fetcher(allow_private=("wiki.example",), lookup=lookup)
    assert (await one.fetch(Request(server.url(host="wiki.example")))).body == b"x"
    with pytest.raises(FetchError) as caught:
        await one.fetch(Request(server.url(host="other.example")))
    assert caught.value.reason is Reason.FORBIDDEN_ADDRESS


def test_addresses_that_the_local_network_made_up_do_not_condemn_a_name():
    """DNS64 adds a NAT64 address to every name; alone it is refused, beside a real one it is passed over."""
    resolver = VettedResolver(Vetting(), names({}))
    assert resolver.vet("a.example", ["8.8.8.8", "64:ff9b::808:808"]) == ["8.8.8.8"]
    with pytest.raises(FetchError):
        resolver.vet("a.example", ["64:ff9b::808:808"])


def test_the_socket_has_the_last_word():
    resolver = VettedResolver(Vetting(["::1"]), names({}))
    info = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("10.0.0.1", 80))
    with pytest.raises(ForbiddenSocket):
        resolver.socket(info)
    resolver.socket((socket.AF_INET6, socket.SOCK_STREAM, 0, "", ("::1", 80, 0, 0))).close()


async def test_an_address_that_slips_by_every_check_is_stopped_at_the_socket(
    serve, fetcher, reply, connected, monkeypatch
):
    server = await serve(reply(b"x"))
    one = fetcher(allow_private=())
    monkeypatch.setattr(one.vetting, "why_name", lambda host, port: None)
    with pytest.raises(FetchError) as caught:
        await one.fetch(Request(server.url()))
    assert caught.value.reason is Reason.FORBIDDEN_ADDRESS
    assert (connected, server.connections) == ([], 0)


async def test_the_memory_for_names_is_bounded(monkeypatch):
    monkeypatch.setattr("clew.fetch.vetted_resolver.CACHE_SIZE", 10)
    table = {f"h{i}.example": ["8.8.8.8"] for i in range(50)}
    resolver = VettedResolver(Vetting(), names(table))
    for host in table:
        await resolver.addresses(host)
        assert len(resolver._cache) <= 10
