"""What a page in the browser may ask for, and which pages are shown to one; no browser is needed here."""

import asyncio
import sys

import pytest

from clew.errors import ConfigError, FetchError, Reason
from clew.fetch import Response, subrequests
from clew.fetch.browser_shell import looks_empty
from clew.fetch.chromium import _document, _headers, _Tab, find_chromium, playwright_at_hand
from clew.fetch.subrequests import PageVisit, SubrequestLimits, SubrequestPace, Subrequests

A = "https://a.example"
ROBOTS = b"User-agent: *\nDisallow: /private/\n"


class Door:
    """Answers from a dict: body, (status, location), or an error."""

    def __init__(self, web=(), robots=b""):
        self.web = dict(web)
        self.robots = robots
        self.asked = []
        self.anonymous = []
        self.headers = ()
        self.under_way = self.most = 0

    async def fetch(self, request):
        self.asked.append(request.url)
        self.anonymous.append((request.url, request.anonymous))
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        if request.url.endswith("/robots.txt"):
            return Response(url=request.url, status=200, body=self.robots)
        found = self.web.get(request.url, (404, ""))
        if isinstance(found, Exception):
            raise found
        if isinstance(found, tuple):
            return Response(url=request.url, status=found[0], headers=(("Location", found[1]),))
        return Response(url=request.url, status=200, headers=self.headers, body=found, wire=len(found))

    async def close(self): ...


def subrequests_of(door, delay=0.0, **more):
    return Subrequests(door, SubrequestPace(lambda host: delay), "clew/0", **more)


def visit(**limits):
    return PageVisit(f"{A}/", SubrequestLimits(**limits))


@pytest.mark.parametrize(
    "body",
    [
        b"<body><div id=root></div><script src=/main.js></script>",
        b"<!doctype html><head><title>My shop: everything for the sailor, and more of it</title>"
        b"<style>"
        + b"p{color:red}"
        * 90
        + b"</style></head><body><noscript>You need to enable JavaScript to run"
        b" this app. "
        + b"Really. " * 50
        + b"</noscript><app-root></app-root><script type=module>go()</script>",
        b"<body><!-- " + b"words " * 200 + b" --><p>Loading&nbsp;...</p><script>start()</script>",
        b"<script>" + b"var x = 'text';" * 1000,
    ],
)
def test_a_page_that_waits_for_its_scripts_is_a_shell(body):
    assert looks_empty(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<p>Short, but all there is.</p>",
        b"<p>Short.</p><script type='application/ld+json'>{}</script>",
        b"<body>" + b"<p>Words to be read by people.</p>" * 9 + b"<script src=/stats.js></script>",
        b"<body><ul>" + b"<li><a href=/x>x</a>" * 5 + b"</ul><script src=/stats.js></script>",
        b"<head><title>t</title><p>" + b"Words to be read by people. " * 9 + b"<script>x()</script>",
    ],
)
def test_a_page_with_something_to_read_or_to_follow_is_none(body):
    assert not looks_empty(body)


@pytest.mark.parametrize(
    "piece", [b"<script ", b"<a ", b"<!--", b"<", b"</script", b"<svg>", b"&nbsp;", b"<p "]
)
def test_a_page_of_nothing_but_beginnings_is_judged_too(piece):
    # Taken badly, this takes hours.
    assert looks_empty(b"<script></script>" + piece * (2_000_000 // len(piece)))


async def test_subrequests_are_fetched_through_the_door_and_redirects_followed():
    door = Door({f"{A}/s.js": (302, "/t.js?utm_source=1#x"), f"{A}/t.js?utm_source=1": b"go()"})
    seen = visit()
    reply = await subrequests_of(door).get(f"{A}/s.js#hash", seen)
    assert reply.body == b"go()"
    assert door.asked == [f"{A}/robots.txt", f"{A}/s.js", f"{A}/t.js?utm_source=1"]
    assert (seen.requests, seen.wire, seen.size) == (3, 4, 4)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("file:///etc/passwd", "not a web address"),
        ("chrome://settings/", "not a web address"),
        (f"{A}/private/x", "robots.txt does not allow it"),
        (f"{A}/inwards", "robots.txt does not allow it"),
        (f"{A}/loop", "too many redirects"),
        (f"{A}/odd", "redirects to no web address"),
        (f"{A}/big", "the page has asked for enough"),
    ],
)
async def test_what_may_not_be_had_is_refused_with_a_reason(url, why):
    web = {
        f"{A}/inwards": (301, "/private/x"),
        f"{A}/loop": (302, "/loop"),
        f"{A}/odd": (302, "javascript:alert(1)"),
        f"{A}/big": b"x" * 2000,
    }
    seen = visit(size=1000)
    with pytest.raises(FetchError) as caught:
        await subrequests_of(Door(web, ROBOTS)).get(url, seen)
    assert (caught.value.reason, caught.value.detail) == (Reason.BROWSER, why)
    assert seen.refused[-1].startswith(why)


async def test_data_of_another_origin_is_not_read_by_way_of_a_redirect_unless_it_is_for_all():
    there = "https://b.example/secret"
    door = Door({f"{A}/go": (302, there), there: b"s3cret"})
    asker = subrequests_of(door)
    with pytest.raises(FetchError, match="redirects to another origin"):
        await asker.get(f"{A}/go", visit())
    assert (await asker.get(f"{A}/go", visit(), script=True)).body == b"s3cret"
    door.headers = (("Access-Control-Allow-Origin", "*"),)
    assert (await subrequests_of(door).get(f"{A}/go", visit())).body == b"s3cret"
    assert {url for url, anonymous in door.anonymous if anonymous} == {there, "https://b.example/robots.txt"}


async def test_the_doors_refusals_are_passed_on_and_noted():
    refusal = FetchError(Reason.FORBIDDEN_ADDRESS, "10.0.0.1 is private")
    seen = visit()
    with pytest.raises(FetchError) as caught:
        await subrequests_of(Door({f"{A}/x": refusal})).get(f"{A}/x", seen)
    assert caught.value is refusal
    assert "forbidden-address" in seen.refused[0]


async def test_a_page_gets_so_many_subrequests_and_no_more():
    door = Door({f"{A}/{i}": b"x" for i in range(50)})
    asker, seen = subrequests_of(door), visit(requests=10)
    got = 0
    for i in range(50):
        try:
            await asker.get(f"{A}/{i}", seen)
            got += 1
        except FetchError:
            pass
    assert got == 9
    assert len(door.asked) == seen.requests == 10


async def test_scripts_are_remembered_within_bounds_and_data_is_not(monkeypatch):
    door = Door({f"{A}/s{i}.js": b"x" * 100 for i in range(4)} | {f"{A}/data": b"1"})
    asker = subrequests_of(door)
    for _ in range(2):
        seen = visit()
        await asker.get(f"{A}/s0.js", seen, script=True)
        await asker.get(f"{A}/data", seen)
    assert door.asked.count(f"{A}/s0.js") == 1
    assert door.asked.count(f"{A}/data") == 2
    assert seen.size == 101
    monkeypatch.setattr(subrequests, "MEMORY", 250)
    for i in (1, 2, 3):
        await asker.get(f"{A}/s{i}.js", visit(), script=True)
    await asker.get(f"{A}/s0.js", visit(), script=True)
    assert door.asked.count(f"{A}/s0.js") == 2


async def test_robots_txt_is_asked_for_once_and_not_at_all_when_the_crawl_has_it():
    door = Door({f"{A}/x": b"1", "https://b.example/x": b"1"}, ROBOTS)
    asker = subrequests_of(door)
    asker.heard(f"{A}/robots.txt", Response(url=f"{A}/robots.txt", status=503))
    with pytest.raises(FetchError):
        await asker.get(f"{A}/x", visit())
    asker.heard(f"{A}/robots.txt", Response(url=f"{A}/robots.txt", status=404))
    asker.heard(f"{A}/other", Response(url=f"{A}/other", status=503))
    await asker.get(f"{A}/x", visit())
    await asker.get("https://b.example/x", visit())
    await asker.get("https://b.example/x", visit())
    assert [url for url in door.asked if url.endswith("robots.txt")] == ["https://b.example/robots.txt"]
    mine = subrequests_of(door, no_robots=lambda host: host == "a.example")
    mine.heard(f"{A}/robots.txt", Response(url=f"{A}/robots.txt", status=503))
    assert (await mine.get(f"{A}/x", visit())).body == b"1"


async def test_a_host_gets_one_request_at_a_time_and_a_rest_between_visits():
    door = Door({f"{A}/{i}": b"x" for i in range(9)})
    asker = subrequests_of(door, delay=0.01)
    seen = visit()
    await asyncio.gather(*(asker.get(f"{A}/{i}", seen) for i in range(9)))
    assert door.most == 1
    slept = []
    pace = SubrequestPace(lambda host: 100.0)

    async def sleep(seconds):
        slept.append(seconds)

    asyncio_sleep, subrequests.asyncio.sleep = asyncio.sleep, sleep
    try:
        first, second = visit(), visit()
        for who in (first, first, second):
            async with pace.turn("a.example", who):
                pass
    finally:
        subrequests.asyncio.sleep = asyncio_sleep
    assert len(slept) == 1
    assert 99.0 < slept[0] <= 100.0


async def test_hosts_of_ones_own_need_not_wait():
    door = Door({f"{A}/{i}": b"x" for i in range(9)})
    seen = visit()
    asker = subrequests_of(door)
    await asker.get(f"{A}/0", seen)
    await asyncio.gather(*(asker.get(f"{A}/{i}", seen) for i in range(9)))
    assert door.most > 1


def test_a_page_gets_none_of_the_headers_that_start_something():
    reply = Response(
        url=f"{A}/",
        status=200,
        headers=(
            ("Content-Type", "text/html; charset=utf-8"),
            ("Set-Cookie", "a=1"),
            ("Refresh", "0;url=/x"),
            ("Content-Encoding", "gzip"),
            ("Content-Disposition", "attachment"),
            ("Link", "</x>; rel=preload"),
            ("Access-Control-Allow-Origin", "*"),
            ("Content-Security-Policy", "a"),
            ("content-security-policy", "b"),
        ),
    )
    assert _headers(reply) == {
        "content-type": "text/html; charset=utf-8",
        "access-control-allow-origin": "*",
        "content-security-policy": "a, b",
    }


def test_where_a_page_wanted_to_go_and_what_its_links_are_relative_to_is_kept_in_it():
    tab = _Tab(Response(url=f"{A}/", status=200), visit())
    plain = "<html><head><title>t</title></head><body></body></html>"
    assert _document(tab, plain, f"{A}/#top") == b"<!DOCTYPE html>" + plain.encode()
    tab.jump = f'{A}/next?a=1&b="2"'
    made = _document(tab, plain, f"{A}/app/home").decode()
    assert f'<head><base href="{A}/app/home"><meta http-equiv="refresh" content="0;url={A}/next?' in made
    assert "&quot;2&quot;" in made
    assert _document(tab, "", "").startswith(b'<!DOCTYPE html><meta http-equiv="refresh"')


def test_a_browser_is_looked_for_and_never_downloaded(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="apt-get install chromium"):
        find_chromium()
    program = tmp_path / "chromium-browser"
    program.write_text("#!/bin/sh\n")
    with pytest.raises(ConfigError, match="--browser-path"):
        find_chromium(program)
    program.chmod(0o755)
    assert find_chromium() == find_chromium(program) == program


def test_without_playwright_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    with pytest.raises(ConfigError, match=r"pip install 'clew\[browser\]'"):
        playwright_at_hand()
