"""Cookies go back to the origin that set them, and to nobody else."""

import pytest

from clew.errors import ConfigError, FetchError, Reason
from clew.fetch import Request, Response
from clew.fetch.cookies import (
    MAX_COOKIES,
    MAX_HEADER,
    MAX_PER_ORIGIN,
    CookieFetcher,
    CookieJar,
    parse,
    read_file,
)

NOW = 1_700_000_000.0
A = "https://www.a.example/shop/cart"


def jar_with(*lines, url=A, now=NOW):
    jar = CookieJar()
    jar.take(url, lines, now)
    return jar


@pytest.mark.parametrize(
    "line",
    [
        "novalue",
        "=nameless",
        "",
        "a=1; Domain=example",
        "a=1; Domain=co.uk",
        "a=1; Domain=b.example",
        "a=1; Domain=.b.example",
        "a=1; Domain=ww.a.example",
        "a=1; Domain=deep.www.a.example",
        "a\x00=1",
        "a=1\x1b",
        "a=" + "x" * 4096,
        "__Secure-a=1",
        "__Host-a=1; Secure",
        "__Host-a=1; Secure; Path=/x",
        "__Host-a=1; Secure; Path=/; Domain=www.a.example",
        "__hOsT-a=1; Path=/",
    ],
)
def test_what_a_host_may_not_say_is_refused(line):
    assert parse(line, A, NOW) is None


@pytest.mark.parametrize(
    "line",
    [
        "a=1",
        "a=",
        "a=1; Domain=www.a.example",
        "a=1; Domain=.A.example",
        "a=1; Domain=",
        "a=1; Expires=Wed, 09-Jun-2027 10:18:14 GMT; HttpOnly; SameSite=Lax",
        "__Secure-a=1; Secure",
        "__Host-a=1; Secure; Path=/",
    ],
)
def test_what_a_host_may_say_is_kept(line):
    assert parse(line, A, NOW) is not None


def test_a_public_suffix_is_refused_for_its_hosts_but_may_keep_cookies_of_its_own():
    assert parse("a=1; Domain=github.io", "https://me.github.io/", NOW) is None
    assert parse("a=1; Domain=github.io", "https://github.io/", NOW) is not None
    assert parse("a=1; Domain=0.0.1", "http://127.0.0.1/", NOW) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://www.a.example/shop/cart",
        "https://www.a.example:8443/shop/cart",
        "https://a.example/shop/cart",
        "https://b.www.a.example/shop/cart",
        "https://other.example/shop/cart",
        "https://www.a.example/shopping",
    ],
)
def test_no_other_scheme_host_port_or_path_sees_it_whatever_its_domain_says(url):
    jar = jar_with("id=7; Domain=a.example; Path=/shop")
    assert jar.header(A, NOW) == "id=7"
    assert jar.header(url, NOW) == ""


def test_plain_http_can_neither_set_nor_see_secure_cookies():
    assert parse("a=1; Secure", "http://a.example/", NOW) is None
    assert jar_with("a=1; Secure").header(A.replace("https", "http"), NOW) == ""


def test_paths_come_by_default_from_the_page_and_the_longest_goes_first():
    jar = jar_with("wide=1; Path=/", "near=2", "deep=3; Path=/shop/cart", "odd=4; Path=elsewhere")
    assert jar.header(A, NOW) == "deep=3; near=2; odd=4; wide=1"
    assert jar.header("https://www.a.example/", NOW) == "wide=1"
    assert jar.header("https://www.a.example/shop/?q=/shop/cart", NOW) == "near=2; odd=4; wide=1"


def test_cookies_end_when_they_say_so_and_can_be_taken_back():
    jar = jar_with("a=1; Max-Age=60", "b=2; Expires=Tue, 14 Nov 2023 22:13:30 GMT", "c=3; Max-Age=never")
    assert jar.header(A, NOW + 5) == "a=1; b=2; c=3"
    assert jar.header(A, NOW + 20) == "a=1; c=3"
    assert jar.header(A, NOW + 61) == "c=3"
    jar.take(A, ["c=; Max-Age=0"], NOW)
    assert jar.header(A, NOW + 61) == ""
    assert jar_with("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT").header(A, NOW) == ""
    assert len(jar_with("x=1; Max-Age=99999999999").header(A, NOW + 401 * 86400)) == 0


def test_the_last_value_of_a_name_counts():
    assert jar_with("a=1", "b=1", "a=2").header(A, NOW) == "b=1; a=2"


def test_numbers_and_sizes_are_bounded():
    jar = jar_with(*(f"n{i}={'x' * 1000}" for i in range(MAX_PER_ORIGIN + 20)))
    assert len(jar) == MAX_PER_ORIGIN
    assert "n0=" not in jar.header(A, NOW)
    assert len(jar.header(A, NOW)) <= MAX_HEADER
    for number in range(200):
        jar.take(f"http://h{number}.example/", [f"n{i}=1" for i in range(50)], NOW)
    assert len(jar) <= MAX_COOKIES


def test_a_jar_that_keeps_nothing_keeps_nothing():
    jar = CookieJar(keep=False)
    jar.take(A, ["a=1"], NOW)
    assert jar.header(A, NOW) == ""


def write(tmp_path, *rows):
    file = tmp_path / "cookies.txt"
    file.write_text("# Netscape HTTP Cookie File\n\n" + "".join("\t".join(row) + "\n" for row in rows))
    return file


def test_a_file_of_cookies_says_where_each_goes(tmp_path):
    file = write(
        tmp_path,
        (".a.example", "TRUE", "/", "TRUE", "0", "login", "s3cret"),
        ("#HttpOnly_b.example", "FALSE", "/in", "FALSE", "1900000000", "id", "x"),
        ("old.example", "FALSE", "/", "FALSE", "1000", "gone", "x"),
    )
    jar = CookieJar(read_file(file, NOW), keep=False)
    assert jar.header("https://www.a.example/", NOW) == "login=s3cret"
    assert jar.header("http://www.a.example/", NOW) == ""
    assert jar.header("https://ba.example/", NOW) == ""
    assert jar.header("http://b.example/in/x", NOW) == "id=x"
    assert jar.header("http://c.b.example/in/x", NOW) == ""
    assert jar.header("http://old.example/", NOW) == ""
    assert "s3cret" not in repr(jar.given)


def test_what_the_server_sets_replaces_what_the_file_gave(tmp_path):
    file = write(tmp_path, ("www.a.example", "FALSE", "/", "FALSE", "0", "s", "old"))
    jar = CookieJar(read_file(file, NOW))
    jar.take(A, ["s=new; Path=/"], NOW)
    assert jar.header(A, NOW) == "s=new"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("co.uk", "TRUE", "/", "FALSE", "0", "a", "hunter2"), "public suffix"),
        (("a.example", "TRUE", "/", "a", "hunter2"), "seven fields"),
        (("a.example", "TRUE", "/", "FALSE", "0", "", "hunter2"), "line 3"),
    ],
)
def test_a_bad_line_is_named_and_not_repeated(tmp_path, row, says):
    with pytest.raises(ConfigError) as caught:
        read_file(write(tmp_path, row), NOW)
    assert says in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_file(tmp_path / "none.txt", NOW)


class Shop:
    """Sets a session cookie on every reply; remembers what it was sent."""

    def __init__(self):
        self.sent = []
        self.closed = False

    async def fetch(self, request):
        self.sent.append(dict(request.headers).get("Cookie"))
        headers = (("Set-Cookie", "sid=s3cret; Path=/; Secure"), ("set-cookie", "b=2"), ("X", "y"))
        return Response(url=request.url, status=200, headers=headers)

    async def close(self):
        self.closed = True


async def test_a_session_is_kept_and_its_secrets_do_not_reach_the_archive():
    shop = Shop()
    fetcher = CookieFetcher(shop, CookieJar(), lambda: NOW)
    first = await fetcher.fetch(Request(A))
    await fetcher.fetch(Request(A))
    await fetcher.fetch(Request("https://www.a.example/robots.txt"))
    await fetcher.fetch(Request("http://www.a.example/shop/cart"))
    await fetcher.fetch(Request(A, anonymous=True))
    assert shop.sent == [None, "b=2; sid=s3cret", None, None, None]
    assert first.headers == (
        ("Set-Cookie", "sid=<redacted>; Path=/; Secure"),
        ("set-cookie", "b=<redacted>"),
        ("X", "y"),
    )
    assert not fetcher.locates
    await fetcher.close()
    assert shop.closed


async def test_the_cookie_is_on_the_wire_with_all_other_headers_in_place(serve, fetcher, reply):
    server = await serve(reply(b"x", "Set-Cookie: sid=1; Path=/"))
    one = CookieFetcher(fetcher(headers=(("X-Plain", "p"),)), CookieJar(), lambda: NOW)
    await one.fetch(Request(server.url("/a")))
    await one.fetch(Request(server.url("/b")))
    assert server.header("Cookie", 0) is None
    assert server.header("Cookie", 1) == "sid=1"
    assert server.header("X-Plain", 1) == "p"
    assert server.requests[1].count(b"\r\n\r\n") == 1
    other = await serve(reply(b"x"))
    await one.fetch(Request(other.url("/")))
    assert other.header("Cookie") is None


async def test_a_header_cannot_smuggle_another(serve, fetcher, reply):
    server = await serve(reply(b"x"))
    with pytest.raises(FetchError) as caught:
        await fetcher().fetch(Request(server.url(), headers=(("Cookie", "a=1\r\nX: y"),)))
    assert caught.value.reason is Reason.BAD_URL
    assert server.requests == []
