"""The forward proxy over loopback: any client gets exactly what was recorded."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys

import aiohttp
import pytest
from yarl import URL

from clew.errors import FetchError, Reason, UsageError
from clew.fetch import HttpSettings, Request, Response
from clew.fetch.http import HttpFetcher
from clew.fetch.replay import NOT_RECORDED
from clew.lab import LoggedRequest, RecordedServer, serving
from clew.testing import DemoWeb, StaticWeb, check_fetcher

LONG = "<p>" + "wind " * 400
ODD = "http://a.example/wp/%25C3%2581ed%25C3%25A1n.htm"
WEB = StaticWeb(
    {
        "http://a.example/": "<title>A</title>",
        "http://a.example/long": LONG,
        ODD: "<title>odd</title>",
        "https://b.example/": "<title>secure</title>",
        "http://a.example/away": Response(
            url="http://a.example/away", status=301, headers=(("Location", "/long"),)
        ),
        "http://slow.example/": Response(url="http://slow.example/", status=200, body=b"late", elapsed=4.0),
        "http://endless.example/": Response(
            url="http://endless.example/", status=200, body=b"late", elapsed=1e9
        ),
        "http://broken.example/": FetchError(Reason.RESET, "broken"),
        "http://silent.example/": FetchError(Reason.TIMEOUT, "silent"),
    }
)


@pytest.fixture
async def proxy():
    """A server, its hits, and a client that uses it."""
    hits: list[LoggedRequest] = []
    async with RecordedServer(WEB, log=hits.append, stall=0.05) as server, aiohttp.ClientSession() as client:

        async def ask(url: str, method: str = "GET", **options):
            target = URL(url, encoded=True)
            async with client.request(
                method, target, proxy=server.url, allow_redirects=False, **options
            ) as reply:
                return reply.status, reply.headers, await reply.read()

        server.ask, server.hits = ask, hits
        yield server


async def talk(server: RecordedServer, data: bytes) -> bytes:
    """Everything the server says to those bytes, until it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(data)
    said = await reader.read()
    writer.close()
    return said


async def test_a_recorded_page_comes_back_to_the_byte(proxy):
    status, headers, body = await proxy.ask("http://a.example/long")
    assert (status, body.decode(), headers["Content-Type"]) == (200, LONG, "text/html; charset=utf-8")


async def test_the_url_is_neither_decoded_nor_encoded_on_the_way(proxy):
    status, _, body = await proxy.ask(ODD)
    assert (status, body) == (200, b"<title>odd</title>")
    assert proxy.hits[-1].url == ODD
    assert (await proxy.ask("http://a.example/wp/%C3%81ed%C3%A1n.htm"))[0] == 404


async def test_urls_are_looked_up_in_canonical_form(proxy):
    assert (await proxy.ask("http://A.example:80/long?utm_source=x"))[0] == 200


async def test_what_was_not_recorded_is_the_404_of_the_replay_fetcher(proxy):
    for url in ("http://a.example/no", "http://a.example/robots.txt", "http://unknown.example/"):
        status, _, body = await proxy.ask(url)
        assert (status, body) == (404, NOT_RECORDED)


async def test_head_has_the_length_but_no_body(proxy):
    status, headers, body = await proxy.ask("http://a.example/long", "HEAD")
    assert (status, int(headers["Content-Length"]), body) == (200, len(LONG), b"")


async def test_redirects_are_passed_on(proxy):
    status, headers, _ = await proxy.ask("http://a.example/away")
    assert (status, headers["Location"]) == (301, "/long")


async def test_other_methods_are_refused(proxy):
    status, headers, _ = await proxy.ask("http://a.example/", "POST", data=b"x")
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


async def test_tunnels_are_refused_with_an_explanation(proxy):
    said = await talk(
        proxy, b"CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\nConnection: close\r\n\r\n"
    )
    assert said.startswith(b"HTTP/1.1 501 ")
    assert b"GET https://" in said


async def test_an_https_page_can_be_asked_for_by_its_full_address(proxy):
    said = await talk(proxy, b"GET https://b.example/ HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert said.endswith(b"<title>secure</title>")


async def test_one_connection_carries_many_requests_also_sent_ahead(proxy):
    line = b"GET http://a.example/ HTTP/1.1\r\n"
    said = await talk(proxy, (line + b"\r\n") * 20 + line + b"Connection: close\r\n\r\n")
    assert said.count(b"<title>A</title>") == 21
    assert len({hit.client for hit in proxy.hits}) == 1


async def test_a_request_may_come_in_pieces(proxy):
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    for piece in (b"GET /lo", b"ng HTTP/1.1\r\nHos", b"t: a.example\r\nConnection: close\r", b"\n\r\n"):
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
    assert (await reader.read()).endswith(LONG.encode())
    writer.close()


async def test_64_clients_at_once_all_get_their_own_page(proxy):
    paths = ["", "long", "none"] * 40
    replies = await asyncio.gather(*(proxy.ask(f"http://a.example/{path}") for path in paths))
    sizes = {"": 16, "long": len(LONG), "none": len(NOT_RECORDED)}
    assert [len(body) for _, _, body in replies] == [sizes[path] for path in paths]
    assert proxy.requests == 120


async def test_a_head_without_end_is_refused(proxy):
    said = await talk(proxy, b"GET http://a.example/ HTTP/1.1\r\nX: " + b"y" * 70_000)
    assert said.startswith(b"HTTP/1.1 431 ")


async def test_nonsense_is_a_400_and_the_end_of_the_connection(proxy):
    assert (await talk(proxy, b"hello\r\n\r\n")).startswith(b"HTTP/1.1 400 ")


async def test_recorded_failures_break_the_connection_and_are_logged_with_status_0(proxy):
    for host in ("broken", "silent"):
        with pytest.raises(aiohttp.ClientError):
            await proxy.ask(f"http://{host}.example/")
    assert [(hit.url, hit.status) for hit in proxy.hits][-1] == ("http://silent.example/", 0)


async def test_a_crawler_that_hangs_up_is_logged_too():
    hits: list[LoggedRequest] = []
    async with RecordedServer(WEB, log=hits.append, stall=60) as server:
        fetcher = HttpFetcher(HttpSettings(proxy=server.url, timeout=1.0))
        with pytest.raises(FetchError) as caught:
            await fetcher.fetch(Request("http://silent.example/"))
        await fetcher.close()
    assert caught.value.reason is Reason.TIMEOUT
    assert [(hit.url, hit.status) for hit in hits] == [("http://silent.example/", 0)]


async def test_pace_turns_recorded_seconds_into_waiting_and_no_pace_does_not():
    hits: list[LoggedRequest] = []
    for pace, host in ((0.01, b"slow"), (0.0, b"endless")):
        async with RecordedServer(WEB, log=hits.append, pace=pace) as server:
            said = await talk(server, b"GET http://%b.example/ HTTP/1.0\r\n\r\n" % host)
        assert said.endswith(b"late")
    assert hits[0].seconds >= 0.03


async def test_text_is_compressed_for_those_who_accept_it_when_asked_to():
    async with RecordedServer(WEB, compress=True) as server:
        request = b"GET http://a.example/long HTTP/1.0\r\n%s\r\n"
        packed = await talk(server, request % b"Accept-Encoding: gzip\r\n")
        plain = await talk(server, request % b"")
    assert b"Content-Encoding: gzip" in packed
    assert len(packed) < 300 < len(plain)
    assert b"Content-Encoding" not in plain


async def test_stopping_finishes_what_is_under_way():
    async with RecordedServer(WEB, pace=0.02) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET http://slow.example/ HTTP/1.1\r\n\r\n")
        while not any(talk.pending for talk in server.open):  # noqa: ASYNC110
            await asyncio.sleep(0)
    said = await reader.read()
    writer.close()
    assert said.endswith(b"late")
    assert b"Connection: close" in said


async def test_a_taken_port_is_a_usage_error_that_names_it():
    async with RecordedServer(WEB) as server:
        with pytest.raises(UsageError, match=f"{server.port}"):
            await RecordedServer(WEB, server.port).start()


async def test_the_live_fetcher_sees_the_demo_web_through_the_proxy_as_it_is():
    web = DemoWeb(hosts=16, pages=160)
    broken = next(site.name for site in web.plan.sites if site.role == "breaking")
    async with RecordedServer(web) as server:
        fetcher = HttpFetcher(HttpSettings(proxy=server.url))
        await check_fetcher(fetcher, web, failing=(f"http://{broken}/",))
        await fetcher.close()


def test_it_serves_from_a_thread_for_programs_that_are_not_asynchronous():
    hits: list[LoggedRequest] = []
    with (
        serving(WEB, hits.append) as url,
        socket.create_connection(("127.0.0.1", int(url.split(":")[2]))) as s,
    ):
        s.sendall(b"GET http://a.example/ HTTP/1.0\r\nUser-Agent: t/1\r\n\r\n")
        said = b"".join(iter(lambda: s.recv(65536), b""))
    assert said.endswith(b"<title>A</title>")
    assert (hits[0].agent, hits[0].method, hits[0].bytes) == ("t/1", "GET", 16)


SCRIPT = """
import sys
from clew.lab import DemoWeb, serve_forever
web = DemoWeb(hosts=16, pages=128)
print(serve_forever(web, port=0, log_path=sys.argv[1], on_ready=lambda url: print(url, flush=True)))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serving_forever_logs_json_lines_and_ends_cleanly_on_a_signal(tmp_path, number):
    log = tmp_path / "requests.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(log)], stdout=subprocess.PIPE, text=True
    ) as process:
        url = process.stdout.readline().strip()
        with socket.create_connection(("127.0.0.1", int(url.split(":")[2]))) as s:
            s.sendall(b"GET http://x.example/%25C3 HTTP/1.0\r\nUser-Agent: t/1\r\n\r\n")
            while s.recv(65536):
                pass
        process.send_signal(number)
        assert process.stdout.read().strip() == "1"
        assert process.wait() == 0
    (line,) = log.read_text().splitlines()
    hit = json.loads(line)
    assert set(hit) == {"time", "method", "url", "status", "bytes", "client", "agent", "seconds"}
    assert (hit["url"], hit["status"], hit["agent"]) == ("http://x.example/%25C3", 404, "t/1")
