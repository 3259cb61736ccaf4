"""Troubles of this machine's own network are no host's failure."""

import socket

import pytest

from clew.errors import FetchError, Reason
from clew.fetch import HttpFetcher, HttpSettings
from clew.fetch.base import Request
from clew.fetch.network import Network, has_route

PUBLIC = ["93.184.216.34"]


def names(known):
    """A name server that knows these, and answers nothing about others."""

    async def look_up(host):
        if host not in known:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return known[host]

    return look_up


async def reason_of(fetcher, host):
    with pytest.raises(FetchError) as failed:
        await fetcher.locate(host)
    return failed.value.reason, failed.value.detail


async def test_a_name_server_that_answers_nothing_any_more_is_no_hosts_failure():
    known = {"a.example": PUBLIC}
    async with HttpFetcher(lookup=names(known)) as fetcher:
        fetcher.network = Network(routed=lambda: True)
        assert await fetcher.locate("a.example") == tuple(PUBLIC)
        # that of one zone may be down
        assert (await reason_of(fetcher, "b.example"))[0] is Reason.DNS
        known.clear()
        reason, detail = await reason_of(fetcher, "b.example")
        assert (reason, detail) == (Reason.LOCAL, "the name server of this machine does not answer")
        known["b.example"] = PUBLIC
        assert await fetcher.locate("b.example") == tuple(PUBLIC)


async def test_a_machine_that_never_was_connected_is_told_of_each_host():
    own = {"localhost": ["127.0.0.1"]}
    async with HttpFetcher(HttpSettings(allow_private=("localhost",)), lookup=names(own)) as fetcher:
        await fetcher.locate("localhost")
        assert (await reason_of(fetcher, "b.example"))[0] is Reason.DNS


async def test_no_route_to_anywhere_is_no_hosts_failure():
    ways = [True]
    async with HttpFetcher(lookup=names({"a.example": PUBLIC})) as fetcher:
        fetcher.network = Network(routed=lambda: ways[0])
        await fetcher.locate("a.example")
        refused = FetchError(Reason.CONNECT, "a.example: Network is unreachable")
        assert await fetcher.network.blamed(refused, "a.example", names({})) is refused
        ways[0] = False
        found = await fetcher.network.blamed(refused, "a.example", names({}))
        assert found.reason is Reason.LOCAL


async def test_a_proxy_is_named_at_once_and_one_that_went_away_is_no_hosts_failure(serve, reply):
    place = await serve(reply(b"x"))
    proxy = f"http://127.0.0.1:{place.port}"
    async with HttpFetcher(HttpSettings(proxy=proxy)) as fetcher:
        assert (await fetcher.fetch(Request("http://a.example/"))).status == 200
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with HttpFetcher(HttpSettings(proxy=gone)) as fetcher:
            for replied, reason in ((False, Reason.CONNECT), (True, Reason.LOCAL)):
                fetcher.network.replied = replied
                with pytest.raises(FetchError) as failed:
                    await fetcher.fetch(Request("http://a.example/"))
                assert failed.value.reason is reason
                assert f"the proxy {gone[7:]}" in failed.value.detail


V4 = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
V6 = "{} {} 00000000000000000000000000000000 00 fd00 00000400 00000003 00000000 {} {}\n"


@pytest.mark.parametrize(
    ("v4", "v6", "there"),
    [
        ("eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0\n", "", True),
        ("eth0 000200C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\n", "", False),
        ("eth0 00000000 010200C0 0002 0 0 0 00000000 0 0 0\n", "", False),
        ("", V6.format("0" * 32, "00", "00000003", "eth0"), True),
        ("", V6.format("0" * 32, "00", "00200200", "lo"), False),
        ("", V6.format("0" * 32, "00", "00000201", "eth0"), False),
        ("", "", False),
        ("what is this", "", True),
    ],
)
def test_a_default_route_is_read_off_the_systems_own_tables(tmp_path, v4, v6, there):
    (tmp_path / "route").write_text(V4 + v4)
    (tmp_path / "route6").write_text(v6)
    assert has_route(tmp_path / "route", tmp_path / "route6") == there
    assert has_route(tmp_path / "none", tmp_path / "none"), "where the system does not tell"
