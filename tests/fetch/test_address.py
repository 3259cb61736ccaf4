"""Which addresses may be connected to."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import ConfigError
from clew.fetch.address import HostSet, Vetting, parse, range_of

CLOSED = {
    "0.0.0.0": "unspecified", "0.1.2.3": "unspecified", "10.0.0.1": "private", "10.255.255.255": "private",
    "100.64.0.1": "carrier-grade NAT", "100.127.255.255": "carrier-grade NAT", "127.0.0.1": "loopback",
    "127.255.255.254": "loopback", "169.254.1.1": "link-local", "169.254.169.254": "cloud metadata",
    "168.63.129.16": "cloud metadata", "192.0.0.192": "cloud metadata", "100.100.100.200": "cloud metadata",
    "172.16.0.1": "private", "172.31.255.255": "private", "192.0.0.8": "reserved",
    "192.0.2.1": "documentation",
    "192.88.99.1": "6to4 relay", "192.168.1.1": "private", "198.18.0.1": "benchmarking",
    "198.19.255.255": "benchmarking", "198.51.100.7": "documentation", "203.0.113.7": "documentation",
    "224.0.0.1": "multicast", "239.255.255.255": "multicast", "240.0.0.1": "reserved",
    "255.255.255.255": "reserved", "::": "unspecified", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
    "::ffff:10.0.0.1": "private", "::ffff:169.254.169.254": "cloud metadata", "::127.0.0.1": "loopback",
    "::10.0.0.1": "private", "64:ff9b::7f00:1": "NAT64", "64:ff9b::808:808": "NAT64", "64:ff9b:1::1": "NAT64",
    "2002:7f00:1::": "6to4", "2002:808:808::1": "6to4", "2001::1": "Teredo", "2001:0:4136:e378::": "Teredo",
    "2001:10::1": "reserved", "2001:20::1": "reserved", "2001:db8::1": "documentation",
    "3fff::1": "documentation", "fc00::1": "private", "fd00:ec2::254": "cloud metadata",
    "fd12:3456::1": "private", "fe80::1": "link-local", "fe80::1%eth0": "link-local", "fec0::1": "private",
    "ff02::1": "multicast", "100::1": "reserved", "::ffff:0:127.0.0.1": "reserved", "4000::1": "reserved",
    "5f00::1": "reserved", "[::1]": "loopback", "a.example": "not an address", "": "not an address",
    "127.1": "not an address", "0x7f.0.0.1": "not an address", "0177.0.0.1": "not an address",
    "2130706433": "not an address",
}  # fmt: skip

OPEN = ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "192.0.1.1",
        "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8"]  # fmt: skip


@pytest.mark.parametrize(("address", "why"), CLOSED.items())
def test_closed_addresses_are_refused_with_their_range(address, why):
    assert range_of(address) == why
    assert Vetting().why("a.example", address) == why
    assert not Vetting().allowed("a.example", address)


@pytest.mark.parametrize("address", OPEN)
def test_the_public_internet_is_open(address):
    assert Vetting().allowed("a.example", address)


def test_a_network_is_opened_for_every_host():
    vetting = Vetting(["10.1.0.0/16", "fd00::/8", "127.0.0.1"])
    assert vetting.allowed("a.example", "10.1.9.9")
    assert vetting.allowed("a.example", "::ffff:10.1.9.9")
    assert vetting.allowed("a.example", "fd00::7")
    assert not vetting.allowed("a.example", "10.2.0.1")
    assert not vetting.allowed("a.example", "127.0.0.2")


def test_a_host_is_opened_whatever_its_address_and_no_other_host_with_it():
    vetting = Vetting(["wiki.example", "*.lab.example"])
    assert vetting.allowed("wiki.example", "10.0.0.1")
    assert vetting.allowed("WIKI.example.", "10.0.0.1")
    assert vetting.allowed("x.lab.example", "10.0.0.1")
    for host in ("lab.example", "xwiki.example", "wiki.example.evil.example", "elab.example"):
        assert not vetting.allowed(host, "10.0.0.1"), host


def test_names_that_mean_this_machine_are_refused_unless_allowed():
    for name in ("localhost", "LOCALHOST.", "a.localhost", "metadata.google.internal", "ip6-localhost"):
        assert Vetting().why_name(name) is not None, name
    assert Vetting().why_name("a.example") is None
    assert Vetting().why_name("10.0.0.1") == "private"
    assert Vetting().why_name("::1") == "loopback"
    assert Vetting(["localhost"]).why_name("localhost") is None
    assert Vetting(["127.0.0.0/8"]).why_name("127.0.0.1") is None


def test_ports_of_other_protocols_are_refused_unless_the_host_is_allowed():
    assert Vetting().why_name("a.example", 25) == "port 25"
    assert Vetting().why_name("a.example", 8080) is None
    assert Vetting(["a.example"]).why_name("a.example", 25) is None


@pytest.mark.parametrize("item", ["10.0.0.0/99", "http://a.example/", "", "a.example:80"])
def test_nonsense_cannot_be_allowed(item):
    with pytest.raises(ConfigError, match="no host, address or network"):
        HostSet([item])


@given(st.ip_addresses(v=4))
def test_an_address_within_ipv6_is_judged_like_itself(ip):
    """Neither the mapped nor the compatible form changes the verdict (`::0.0.0.0/31` is `::` and `::1`)."""
    bare = range_of(str(ip))
    assert range_of(f"::ffff:{ip}") == bare
    if int(ip) > 1:
        assert range_of(f"::{ip}") == bare


@given(st.ip_addresses())
def test_everything_the_standard_library_calls_private_is_closed(ip):
    wrapped = parse(str(ip))
    if not wrapped.is_global or wrapped.is_multicast:
        assert range_of(str(ip)) is not None
    assert isinstance(wrapped, ipaddress.IPv4Address | ipaddress.IPv6Address)
