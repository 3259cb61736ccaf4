"""The HTTP fetcher against real sockets on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import inspect
import os
import resource
import shutil
import ssl
import subprocess
from dataclasses import fields

import pytest

from clew.errors import ConfigError, FetchError, Reason
from clew.fetch import Fetcher, HttpFetcher, HttpSettings, Request, default_user_agent, retry_after


async def refused(fetcher, url: str) -> FetchError:
    with pytest.raises(FetchError) as caught:
        await fetcher.fetch(Request(url))
    return caught.value


async def test_a_page_comes_back_as_sent(serve, fetcher, reply):
    page = "<p>Gr\u00fc\u00dfe</p>".encode()
    server = await serve(reply(page, "Content-Type: text/html", "X-Place: K\u00f6ln", "Set-Cookie: a=1"))
    got = await fetcher().fetch(Request(server.url("/a?b=c")))
    assert (got.status, got.body, got.wire, got.truncated, got.raw) == (200, page, len(page), False, None)
    assert got.header("content-type") == "text/html"
    assert got.header("x-place") == "K\u00f6ln"
    assert got.address == "127.0.0.1"
    assert got.url == server.url("/a?b=c")


async def test_connections_are_kept_and_cookies_are_not(serve, fetcher, reply):
    async def lookup(host):
        return ["127.0.0.1"]

    server = await serve(reply(b"x", "Set-Cookie: session=1; Path=/"))
    one = fetcher(lookup=lookup)
    for _ in range(3):
        await one.fetch(Request(server.url(host="site.example")))
    assert server.connections == 1
    assert len(server.requests) == 3
    assert server.header("Cookie") is None


async def test_the_request_says_who_asks_and_what_is_understood(serve, fetcher, reply):
    server = await serve(reply())
    await fetcher(user_agent="mybot/1", headers=(("Accept-Language", "de"),)).fetch(Request(server.url("/x")))
    assert server.requests[0].startswith(b"GET /x HTTP/1.1\r\n")
    assert server.header("User-Agent") == "mybot/1"
    assert server.header("Accept-Encoding") == "gzip, deflate, br, zstd"
    assert server.header("Accept-Language") == "de"
    assert server.header("Accept").startswith("text/html")


async def test_the_path_goes_out_exactly_as_written(serve, fetcher, reply):
    """A client that re-quotes URLs would ask for another page than the one that was leased."""
    server = await serve(reply())
    path = "/a%2Fb/%C3%A9|(x)/;v=1/%7e?q=a+b%20c&r=%3D&s='x'&t[]=1"
    await fetcher().fetch(Request(server.url(path)))
    line = server.requests[0].split(b"\r\n")[0].decode()
    assert line == "GET /a%2Fb/%C3%A9|(x)/;v=1/%7e?q=a+b%20c&r=%3D&s=%27x%27&t[]=1 HTTP/1.1"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"])
async def test_redirects_are_reported_not_followed(serve, fetcher, reply, status):
    server = await serve(reply(b"moved", "Location: /next", status=status))
    got = await fetcher().fetch(Request(server.url()))
    assert got.status == int(status[:3])
    assert got.header("location") == "/next"
    assert len(server.requests) == 1


async def test_compressed_bodies_are_unpacked_and_kept_raw_on_request(serve, fetcher, reply):
    page = b"<p>wind</p>" * 1000
    packed = gzip.compress(page)
    server = await serve(reply(packed, "Content-Encoding: gzip"))
    got = await fetcher().fetch(Request(server.url()))
    assert (got.body, got.wire, got.raw, got.truncated) == (page, len(packed), None, False)
    assert got.header("content-encoding") == "gzip"
    kept = await fetcher(keep_raw=True).fetch(Request(server.url()))
    assert (kept.body, kept.raw) == (page, packed)


async def test_a_broken_encoding_is_a_bad_reply_and_a_torn_one_is_truncated(serve, fetcher, reply):
    server = await serve(reply(b"<html>not gzip", "Content-Encoding: gzip"))
    assert (await refused(fetcher(), server.url())).reason is Reason.BAD_REPLY
    server = await serve(reply(gzip.compress(b"wind" * 10_000)[:-20], "Content-Encoding: gzip"))
    got = await fetcher().fetch(Request(server.url()))
    assert got.truncated
    assert got.body.startswith(b"windwind")


async def test_caps_on_wire_and_body_cut_and_mark(serve, fetcher, reply):
    server = await serve(reply(b"x" * 100_000))
    got = await fetcher(max_wire=5000).fetch(Request(server.url()))
    assert (len(got.body), got.wire, got.truncated) == (5000, 5000, True)
    got = await fetcher(max_body=7000).fetch(Request(server.url()))
    assert (len(got.body), got.truncated) == (7000, True)
    got = await fetcher(max_body=7000).fetch(Request(server.url(), limit=10))
    assert (got.body, got.truncated) == (b"x" * 10, True)
    got = await fetcher(max_body=100_000).fetch(Request(server.url()))
    assert (len(got.body), got.truncated) == (100_000, False)


async def test_what_may_be_long_is_not_cut_where_pages_are(serve, fetcher, reply):
    """A robots.txt that was cut short would forbid less than it does."""
    server = await serve(reply(b"x" * 5000))
    got = await fetcher(max_body=1000).fetch(Request(server.url(), limit=9000))
    assert len(got.body) == 5000
    assert not got.truncated


async def test_an_endless_body_ends_at_the_cap(serve, fetcher):
    async def endless(writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
            await writer.drain()

    server = await serve(endless)
    got = await fetcher(max_body=50_000).fetch(Request(server.url()))
    assert (len(got.body), got.truncated) == (50_000, True)


async def test_endless_headers_are_a_bad_reply(serve, fetcher):
    async def endless(writer):
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for i in range(100_000):
            writer.write(b"X-%d: %s\r\n" % (i, b"y" * 50))
            await writer.drain()

    server = await serve(endless)
    assert (await refused(fetcher(), server.url())).reason is Reason.BAD_REPLY


@pytest.mark.parametrize("headers", [["A: " + "x" * 1_000_000], [f"A{i}: " + "x" * 2000 for i in range(100)]])
async def test_large_headers_are_a_bad_reply(serve, fetcher, reply, headers):
    server = await serve(reply(b"x", *headers))
    assert (await refused(fetcher(), server.url())).reason is Reason.BAD_REPLY


@pytest.mark.parametrize("proxied", [False, True])
async def test_a_nul_in_a_header_is_a_bad_reply(serve, fetcher, reply, proxied):
    """What one reader cuts off at a NUL another reads on."""
    server = await serve(reply(b"x", "Content-Type: text/html\0; charset=utf-8"))
    one = fetcher(proxy=server.url(""), allow_private=("*",)) if proxied else fetcher()
    assert (await refused(one, server.url())).reason is Reason.BAD_REPLY


async def test_headers_within_the_limit_are_taken(serve, fetcher, reply):
    server = await serve(reply(b"x", "A: " + "x" * 30_000))
    assert len((await fetcher().fetch(Request(server.url()))).header("a")) == 30_000


async def test_a_slow_drip_ends_with_the_time_and_keeps_what_came(serve, fetcher):
    async def drip(writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbeginning")
        await writer.drain()
        await asyncio.Event().wait()

    server = await serve(drip)
    got = await fetcher(timeout=1.0).fetch(Request(server.url()))
    assert (got.body, got.truncated) == (b"beginning", True)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"])
async def test_silence_is_a_timeout(serve, fetcher, said):
    async def silent(writer):
        writer.write(said)
        await asyncio.Event().wait()

    server = await serve(silent)
    error = await refused(fetcher(timeout=0.2), server.url())
    assert error.reason is Reason.TIMEOUT
    assert "0.2 s" in error.detail


async def test_waiting_for_a_turn_is_not_counted_as_time(serve, fetcher):
    async def slow(writer):
        await asyncio.sleep(0.3)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nx")
        await writer.drain()

    server = await serve(slow)
    one = fetcher(concurrency=1, timeout=1.0)
    got = await asyncio.gather(*(one.fetch(Request(server.url())) for _ in range(4)))
    assert [g.body for g in got] == [b"x"] * 4


async def test_a_short_body_is_truncated_and_a_reset_in_it_too(serve, fetcher):
    server = await serve(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", close=True)
    got = await fetcher().fetch(Request(server.url()))
    assert (got.body, got.truncated) == (b"only this", True)

    async def reset(writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.transport.abort()

    server = await serve(reset)
    got = await fetcher().fetch(Request(server.url()))
    assert (got.body, got.truncated) == (b"only this", True)


async def test_a_redirect_whose_body_breaks_off_is_still_a_redirect(serve, fetcher):
    head = b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 100\r\n"
    for answer in (head + b"\r\n", head + b"Content-Encoding: gzip\r\n\r\nnot gzip"):
        server = await serve(answer, close=True)
        got = await fetcher().fetch(Request(server.url()))
        assert (got.status, got.header("location"), got.truncated) == (302, "/x", True)


async def test_hanging_up_without_a_word_is_a_reset(serve, fetcher):
    server = await serve(b"", close=True)
    assert (await refused(fetcher(), server.url())).reason is Reason.RESET


async def test_nobody_listening_is_a_failed_connection(serve, fetcher):
    gone = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = gone.sockets[0].getsockname()[1]
    gone.close()
    await gone.wait_closed()
    assert (await refused(fetcher(), f"http://127.0.0.1:{port}/")).reason is Reason.CONNECT


@pytest.mark.parametrize(
    "url",
    ["ftp://a.example/", "file:///etc/passwd", "javascript:1", "http://", "", "a.example", "data:text/html,x",
     "http://a b/", "gopher://a.example/", "//a.example/", "http://[::1", "ws://a.example/"],
)  # fmt: skip
async def test_only_http_urls_are_fetched(fetcher, url):
    assert (await refused(fetcher(), url)).reason is Reason.BAD_URL


async def test_credentials_in_a_link_are_not_sent(serve, fetcher, reply):
    server = await serve(reply(b"x"))
    got = await fetcher().fetch(Request(f"http://user:secret@127.0.0.1:{server.port}/"))
    assert got.body == b"x"
    assert server.header("Authorization") is None
    assert b"secret" not in server.requests[0]


async def test_credentials_go_to_the_named_origins_only(serve, fetcher, reply):
    """Same host, other port: another origin, so nothing is shown to it."""
    mine, other = await serve(reply()), await serve(reply())
    one = fetcher(
        headers=(("Authorization", "Bearer s3"), ("Cookie", "a=b"), ("X-Api-Key", "k"), ("X-Plain", "p")),
        credential_hosts=(f"http://127.0.0.1:{mine.port}",),
    )
    for server in (mine, other):
        await one.fetch(Request(server.url()))
    names = ("Authorization", "Cookie", "X-Api-Key", "X-Plain")
    assert [mine.header(name) for name in names] == ["Bearer s3", "a=b", "k", "p"]
    assert [other.header(name) for name in names] == [None, None, None, "p"]
    await one.fetch(Request(mine.url(), anonymous=True))
    assert [mine.header(name) for name in names] == [None, None, None, "p"]


async def test_a_proxy_gets_the_whole_url_its_credentials_and_does_the_looking_up(serve, fetcher, reply):
    proxy = await serve(reply(b"from the proxy"))
    one = fetcher(
        proxy=proxy.url(""), allow_private=(), headers=(("Proxy-Authorization", "Basic eDp5"), ("X-A", "1"))
    )
    got = await one.fetch(Request("http://nowhere.example/page?x"))
    assert got.body == b"from the proxy"
    assert got.address == ""
    assert proxy.requests[0].startswith(b"GET http://nowhere.example/page?x HTTP/1.1\r\n")
    assert proxy.header("Host") == "nowhere.example"
    assert proxy.header("Proxy-Authorization") == "Basic eDp5"
    for url in ("http://127.0.0.1/", "http://[::1]/", "http://localhost/", "http://169.254.169.254/"):
        assert (await refused(one, url)).reason is Reason.FORBIDDEN_ADDRESS
    assert len(proxy.requests) == 1


async def test_user_and_password_of_a_proxy_are_sent_with_every_request_to_it(serve, fetcher, reply):
    proxy = await serve(reply(b"x"))
    address = f"http://me:p%40ss@127.0.0.1:{proxy.port}"
    one, impatient = fetcher(proxy=address), fetcher(proxy=address, timeout=0.5)
    for path in ("1", "2"):
        await one.fetch(Request(f"http://a.example/{path}"))
    assert [proxy.header("Proxy-Authorization", i) for i in (0, 1)] == ["Basic bWU6cEBzcw=="] * 2
    await refused(impatient, "https://a.example/")
    assert proxy.requests[2].startswith(b"CONNECT a.example:443 ")
    assert proxy.header("Proxy-Authorization", 2) == "Basic bWU6cEBzcw=="


async def test_a_proxy_of_a_recorded_web_may_have_any_host(serve, fetcher, reply):
    proxy = await serve(reply(b"x"))
    one = fetcher(proxy=proxy.url(""), allow_private=("*",))
    assert (await one.fetch(Request("http://10.0.0.1/"))).body == b"x"


async def test_a_proxy_that_is_down_or_refuses_a_tunnel_is_a_failed_connection(serve, fetcher, reply):
    proxy = await serve(reply(b"no", status="403 Forbidden"))
    error = await refused(fetcher(proxy=proxy.url("")), "https://a.example/")
    assert error.reason is Reason.CONNECT
    assert (await refused(fetcher(proxy="http://127.0.0.1:9"), "http://a.example/")).reason is Reason.CONNECT


async def test_proxies_of_the_environment_are_not_used(serve, fetcher, reply, monkeypatch):
    proxy, server = await serve(reply(b"proxy")), await serve(reply(b"direct"))
    monkeypatch.setenv("http_proxy", proxy.url(""))
    assert (await fetcher().fetch(Request(server.url()))).body == b"direct"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate that nobody vouches for."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: TLS cannot be tried")
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out c.pem"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "c.pem", folder / "key.pem")
    return context


async def test_tls_is_verified_unless_the_host_is_excepted(serve, fetcher, reply, certificate):
    server = await serve(reply(b"x"), ssl=certificate)
    url = f"https://127.0.0.1:{server.port}/"
    untrusted = await refused(fetcher(), url)
    assert untrusted.reason is Reason.TLS
    assert "--insecure 127.0.0.1" in untrusted.detail
    assert (await refused(fetcher(insecure=("other.example",)), url)).reason is Reason.TLS
    assert (await fetcher(insecure=("127.0.0.1",)).fetch(Request(url))).body == b"x"


async def test_cancelling_a_fetch_cancels_it(serve, fetcher):
    asked = asyncio.Event()

    async def silent(writer):
        asked.set()
        await asyncio.Event().wait()

    server = await serve(silent)
    task = asyncio.create_task(fetcher().fetch(Request(server.url())))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_closed_fetcher_opens_again(serve, fetcher, reply):
    server = await serve(reply(b"x"))
    one = fetcher()
    for _ in range(2):
        assert (await one.fetch(Request(server.url()))).body == b"x"
        await one.close()
        await one.close()
    assert server.connections == 2


def test_it_is_a_fetcher():
    for name in ("fetch", "close"):
        assert inspect.iscoroutinefunction(getattr(HttpFetcher, name))
        assert hasattr(Fetcher, name)
    assert default_user_agent().startswith("clew/")


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": 0}, {"max_body": -1}, {"concurrency": 0}, {"user_agent": ""}, {"user_agent": "a\r\nb"},
        {"headers": (("A", "b\r\nc"),)}, {"headers": (("Ä", "b"),)}, {"headers": (("Host", "x"),)},
        {"proxy": "socks5://a:1"}, {"proxy": "http://a:port"}, {"proxy": "nonsense"},
        {"allow_private": ("http://x/",)}, {"credential_hosts": ("ftp://x",)}, {"insecure": ("a/b",)},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_with_a_sentence(wrong):
    with pytest.raises(ConfigError) as caught:
        HttpSettings(**wrong)
    assert len(str(caught.value)) > 10


def test_settings_with_a_password_in_the_proxy_do_not_print_it():
    """A settings object ends up in logs and tracebacks."""
    shown = repr(
        HttpSettings(proxy="http://me:hunter2@p.example:3128", headers=(("Authorization", "hunter2"),))
    )
    assert "hunter2" not in shown
    assert {f.name for f in fields(HttpSettings)} >= {"proxy", "headers"}


@pytest.mark.parametrize(
    ("value", "now", "seconds"),
    [
        ("0", 0, 0.0), ("7", 0, 7.0), (" 7 ", 0, 7.0), ("-7", 0, 0.0), ("1.5", 0, 1.5), ("", 0, None),
        ("inf", 0, None), ("nan", 0, None), ("tomorrow", 0, None),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 60, 60.0), ("Thu, 01 Jan 1970 00:02:00 GMT", 600, 0.0),
        ("Thursday, 01-Jan-70 00:02:00 GMT", 60, 60.0), ("Thu Jan  1 00:02:00 1970", 60, 60.0),
        ("Thu, 99 Jan 1970 00:02:00 GMT", 60, None),
    ],
)  # fmt: skip
def test_retry_after_in_both_forms(value, now, seconds):
    assert retry_after(value, now) == seconds


async def test_idle_connections_through_a_proxy_are_bounded(serve, fetcher, reply):
    """Each host has a connection of its own to the proxy, and each is an open file."""
    proxy = await serve(reply(b"x"))
    one = fetcher(proxy=proxy.url(""), allow_private=("*",), concurrency=3)
    for number in range(12):
        await one.fetch(Request(f"http://h{number}.example/"))
    assert one._client is not None
    assert sum(map(len, one._client._session.connector._conns.values())) <= 3


@contextlib.contextmanager
def no_descriptor_left():
    """Every file that this process may have open is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as files:
        probe = files.enter_context(open(os.devnull))
        files.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (probe.fileno() + 8, hard))
        with contextlib.suppress(OSError):
            while True:
                files.enter_context(open(os.devnull))
        yield


@pytest.mark.parametrize("proxied", [False, True])
async def test_without_a_descriptor_idle_connections_are_dropped_and_the_request_is_made_again(
    serve, fetcher, reply, proxied
):
    server, other = await serve(reply(b"x")), await serve(reply(b"x"))
    one = fetcher(proxy=server.url(""), allow_private=("*",)) if proxied else fetcher()
    await one.fetch(Request("http://a.example/" if proxied else server.url("/")))
    with no_descriptor_left():
        got = await one.fetch(Request("http://b.example/" if proxied else other.url("/")))
    assert got.body == b"x"
