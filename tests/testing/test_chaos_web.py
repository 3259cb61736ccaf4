"""The chaos web: seeded, reachable, true to its word; its server does on the wire what each kind promises."""

from __future__ import annotations

import asyncio
import re
import socket

import pytest

from clew.errors import FetchError, UsageError
from clew.fetch import Request
from clew.testing import ChaosServer, ChaosWeb, HurriedClock, chaos_serving
from clew.testing.chaos import KINDS, Cure, Fault, FaultPlace, bomb

ON_PAGES = [kind for kind in KINDS.values() if kind.place is FaultPlace.PAGE]
HOPELESS = [kind for kind in KINDS.values() if kind.place is FaultPlace.SICK]


def name(kind: Fault) -> str:
    return kind.name


def links(web: ChaosWeb, url: str) -> list[str]:
    """Links on the page at an address of the web."""
    host, _, path = url.removeprefix("http://").partition("/")
    hrefs = re.findall(rb'href="([^"]+)"', web.answer(host, f"/{path}").page)
    return [href if href.startswith("http") else f"http://{host}{href}" for href in map(bytes.decode, hrefs)]


def test_there_are_many_kinds_and_each_says_what_it_does():
    assert len(KINDS) >= 25
    for kind in KINDS.values():
        assert len(kind.says) > 10, kind.name
        assert not kind.says.endswith(".")


@pytest.mark.parametrize("seed", [0, 1])
def test_every_healthy_page_can_be_reached_by_way_of_healthy_pages(seed):
    """Following links and harmless redirects from the seed, and nothing else."""
    web = ChaosWeb(seed, pages=120, hosts=7)
    seen: set[str] = set()
    todo = list(web.seeds())
    while todo:
        url = todo.pop()
        if url in seen:
            continue
        seen.add(url)
        if "/go/" in url:
            host, _, path = url.removeprefix("http://").partition("/")
            todo.append(web.answer(host, f"/{path}").page.decode())
        elif url in web.healthy():
            todo += [link for link in links(web, url) if link in web.healthy() or "/go/" in link]
    assert web.healthy() <= seen


def test_one_seed_is_one_web():
    one, same, other = ChaosWeb(1, pages=80), ChaosWeb(1, pages=80), ChaosWeb(2, pages=80)
    troubles = [[web.trouble(i) for i in range(80)] for web in (one, same, other)]
    assert troubles[0] == troubles[1] != troubles[2]
    for i in range(80):
        path = f"/p/{i}"
        assert one.answer(one.hosts[i % 12], path) == same.answer(one.hosts[i % 12], path)


def test_a_kind_nobody_knows_is_refused_by_name():
    with pytest.raises(UsageError, match="'gremlins' is no kind"):
        ChaosWeb(kinds={"gremlins"})


def test_every_kind_has_its_place_in_a_web_of_a_few_hundred_pages():
    web = ChaosWeb(3, pages=300)
    placed = {kind.name for kind in map(web.trouble, range(300)) if kind}
    assert placed == {k.name for k in KINDS.values() if k.place in (FaultPlace.PAGE, FaultPlace.WAY)}
    linked = {part for i in range(300) for link in links(web, web.url(i)) for part in link.split("/")}
    assert {k.name for k in KINDS.values() if k.place is FaultPlace.SICK} <= linked
    assert {k.name for k in KINDS.values() if k.place is FaultPlace.TRAP} - {"mirror"} <= linked


async def fetch_all(kind: Fault) -> list[tuple[int, int, str]]:
    """(page, attempt, what came) for pages in one kind of trouble, each asked for at most thrice."""
    web = ChaosWeb(5, pages=8, hosts=2, share=0.6, kinds={kind.name})
    async with ChaosServer(web, patience=3.0) as server:
        fetcher = server.fetcher(timeout=2.0)

        async def asked_for(number: int) -> list[tuple[int, int, str]]:
            found = []
            for attempt in range(3):
                try:
                    reply = await fetcher.fetch(Request(web.url(number, server.port)))
                    whole = web.token(number).encode() in reply.body and reply.status == 200
                    came = "page" if whole and reply.broken is None else "part"
                except FetchError as error:
                    came = error.reason.value
                found.append((number, attempt, came))
                if came == "page":
                    break
            return found

        # All at once: what is silent is silent for each of them.
        pages = await asyncio.gather(*(asked_for(i) for i in range(8) if web.trouble(i)))
        await fetcher.close()
    assert pages
    return [came for page in pages for came in page]


@pytest.mark.parametrize("kind", [k for k in ON_PAGES if k.cure is Cure.HEALS], ids=name)
async def test_trouble_that_heals_is_gone_by_the_second_request(kind):
    found = await fetch_all(kind)
    assert all(attempt <= 1 for _, attempt, _ in found), found
    assert found[-1][2] == "page"


@pytest.mark.parametrize("kind", [k for k in ON_PAGES if k.cure is Cure.HARMLESS], ids=name)
async def test_harmless_trouble_leaves_the_page_to_who_reads_with_care(kind):
    found = await fetch_all(kind)
    came = {what for _, _, what in found}
    # What does not unpack to its end is a part, and the part is all of it.
    assert came == ({"part"} if kind.name == "gzip-bad-check" else {"page"}), found


@pytest.mark.parametrize("kind", HOPELESS, ids=name)
async def test_hopeless_trouble_ends_in_time_with_a_reply_or_a_fetch_error(kind):
    web = ChaosWeb(1, pages=3, hosts=1, kinds={kind.name})
    async with ChaosServer(web, patience=1.5) as server:
        fetcher = server.fetcher(timeout=1.0, max_body=100_000)
        url = f"http://{web.hosts[0]}:{server.port}/sick/{kind.name}/0"
        try:
            reply = await asyncio.wait_for(fetcher.fetch(Request(url)), 60)
            assert len(reply.body) <= 100_000
        except FetchError:
            pass
        await fetcher.close()
        assert server.met() == {kind.name}
        assert server.trespasses == []


async def test_names_that_lie_are_told_apart_and_whoever_believes_them_is_noticed():
    async with ChaosServer(ChaosWeb(pages=40)) as server:
        assert await server.lookup("h0.chaos.example") == ["127.0.0.1"]
        assert "127.0.0.1" in await server.lookup("name-mixed.liar.example")
        with pytest.raises(socket.gaierror):
            await server.lookup("name-unknown.liar.example")
        flapping = server.web.hosts[2]
        with pytest.raises(socket.gaierror):
            await server.lookup(flapping)
        assert await server.lookup(flapping) == ["127.0.0.1"]
        fetcher = server.fetcher()
        with pytest.raises(FetchError, match="forbidden-address"):
            await fetcher.fetch(Request(f"http://name-private.liar.example:{server.port}/"))
        assert server.trespasses == []
        await fetcher.close()
        gullible = server.fetcher(allow_private=("*",))
        await gullible.fetch(Request(f"http://name-private.liar.example:{server.port}/"))
        await gullible.close()
        assert len(server.trespasses) == 1


async def test_it_serves_as_a_proxy_to_crawlers_that_look_up_no_names():
    async with ChaosServer(ChaosWeb(pages=5, kinds={"calendar"})) as server:
        fetcher = server.fetcher(proxy=server.url, allow_private=())
        reply = await fetcher.fetch(Request("http://h0.chaos.example/p/0"))
        await fetcher.close()
        assert b"http://h1.chaos.example/p/1" in reply.body
        assert [visit.url for visit in server.visits] == ["http://h0.chaos.example/p/0"]


def test_it_serves_from_a_thread_and_counts_what_was_met():
    with chaos_serving(ChaosWeb(pages=5, kinds={"calendar"})) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"GET /calendar/2024/1 HTTP/1.1\r\nHost: h0.chaos.example\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK")
        assert server.met() == {"calendar"}
        assert (server.trapped(), server.faulty()) == (1.0, 0.0)


@pytest.mark.parametrize("coding", [pytest.param("br", marks=pytest.mark.slow), "gzip", "deflate", "zstd"])
def test_two_gibibytes_fit_into_two_kilobytes(coding):
    encoding, body = bomb(coding, 2 << 30)
    assert coding in encoding
    assert len(body) <= 2048


async def test_a_hurried_clock_waits_for_what_happens_and_skips_what_does_not():
    clock = HurriedClock(grace=0.01)
    start = clock.now()
    await clock.wait(asyncio.Event(), start + 86_400)
    assert clock.now() >= start + 86_400
    event = asyncio.Event()
    event.set()
    before = clock.now()
    await clock.wait(event, before + 3600)
    assert clock.now() < before + 60
