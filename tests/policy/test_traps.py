"""Traps are recognised by what they do, and nothing healthy is."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.page import Link, Links, Page
from clew.policy.mirrors import Mirrors
from clew.policy.soft404 import EmptyPages, own_words
from clew.policy.traps import Traps, Worth
from clew.policy.url_shape import dated, folder, folder_of, shapes

A = "http://a.example"
HOST = "a.example"


def page(title="", text="", anchors=(), url=f"{A}/x"):
    links = Links.of(url, [Link(url, f"{A}/{i}", anchor) for i, anchor in enumerate(anchors)])
    return Page(url=url, title=title, text=text, links=links)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/a/b/a/b/a/b", "trap:repeat"),
        ("/shop/shop/shop/", "trap:repeat"),
        ("/news/x/news/y/news/z", "trap:repeat"),
        ("/" + "/".join(f"s{i}" for i in range(25)), "trap:deep"),
        ("/?" + "&".join(f"p{i}=1" for i in range(30)), "trap:query"),
        ("/f?c=1&c=2&c=3&c=4&c=5", "trap:query"),
        ("/2005/05/05/05/story", None),
        ("/a/a/a", None),
        ("/images/a/a3/photo", None),
        ("/en/docs/en/guide/index", None),
        ("/find?q=wind&lang=en&page=2&sort=date&from=1", None),
        ("/x", None),
    ],
)
def test_urls_that_repeat_themselves_or_have_no_end(path, reason):
    assert Traps().check(A + path, HOST) == reason


def test_a_query_that_grows_along_the_way_is_left_out_and_one_that_is_just_long_is_not():
    traps = Traps()
    source = f"{A}/list?a=1&b=2&c=3"
    assert traps.check(f"{source}&d=4", HOST, source) == "trap:query"
    assert traps.check(f"{source}&d=4", HOST, f"{A}/home") is None
    assert traps.check(f"{A}/list?a=2&b=2&c=3", HOST, source) is None


def test_switched_off_it_says_nothing():
    traps = Traps(on=False)
    for i in range(50):
        traps.met(f"{A}/x?{i}", HOST, Worth.COPY)
    assert traps.check(f"{A}/a/b/a/b/a/b", HOST) is None
    assert traps.closed(f"{A}/x?1", HOST) is None


@pytest.mark.parametrize(
    "path",
    [
        "/calendar/2031/05",
        "/calendar/2031/5/7",
        "/calendar/1999/12/24?view=day",
        "/calendar/2031-05-07",
        "/calendar/20310507",
        "/calendar/2031",
    ],
)
def test_dates_of_one_calendar_have_one_shape(path):
    assert shapes(A + path) == ("date:/calendar",)


@pytest.mark.parametrize(
    "path",
    [
        "/2005/03/slug-12",
        "/articles/1998",
        "/articles/201305",
        "/v/2031/99",
        "/wiki/2031-99",
        "/12/31",
        "/page/3",
    ],
)
def test_numbers_that_are_no_dates_are_no_calendar(path):
    assert not dated(shapes(A + path)[0])


def test_dates_in_the_query_are_a_calendar_too():
    assert shapes(f"{A}/events?month=5&year=2031") == shapes(f"{A}/events?month=6&year=2031")
    assert dated(shapes(f"{A}/events?date=2031-05-01")[0])
    assert not dated(shapes(f"{A}/events?date=soon")[0])


def test_a_calendar_that_leads_nowhere_is_closed_and_one_that_lists_articles_is_not():
    barren, fruitful = Traps(), Traps()
    for month in range(1, 13):
        here = f"{A}/calendar/2031/{month:02}"
        barren.met(here, HOST, Worth.GOOD, [f"{A}/calendar/2032/{month:02}"])
        fruitful.met(here, HOST, Worth.GOOD, [f"{A}/story/{month}", f"{A}/calendar/2032/{month:02}"])
    assert barren.check(f"{A}/calendar/2044/01", HOST) == "trap:calendar"
    assert barren.check(f"{A}/story/1", HOST) is None
    assert fruitful.check(f"{A}/calendar/2044/01", HOST) is None


def test_finds_on_a_calendar_keep_it_open():
    traps = Traps()
    for day in range(1, 29):
        traps.met(f"{A}/events/2031/05/{day:02}", HOST, Worth.FIND)
    assert traps.check(f"{A}/events/2031/06/01", HOST) is None


@pytest.mark.parametrize(
    ("url", "worth", "reason"),
    [
        ("/x?sid={}", Worth.COPY, "trap:copies"),
        ("/s/0123456789abcdef{:04}/page", Worth.COPY, "trap:session"),
        ("/gone/{}", Worth.ERROR, "soft-404"),
        ("/ads/{}.html", Worth.EMPTY, "trap:farm"),
    ],
)
def test_a_shape_of_bad_pages_is_closed_with_its_reason(url, worth, reason):
    traps = Traps()
    for i in range(8):
        assert traps.check(A + url.format(i), HOST) is None
        traps.met(A + url.format(i), HOST, worth, [A + url.format(1000 + i)])
    assert traps.check(A + url.format(999), HOST) == reason
    assert traps.check(f"{A}/elsewhere/1", HOST) is None
    assert traps.check("http://b.example" + url.format(999), "b.example") is None


def test_redirects_to_one_place_close_a_shape_and_redirects_to_many_do_not():
    login, shortener = Traps(), Traps()
    for i in range(20):
        login.redirected(f"{A}/edit/{i}", HOST, f"{A}/login")
        shortener.redirected(f"{A}/go/{i}", HOST, f"http://b.example/{i}")
    assert login.check(f"{A}/edit/99", HOST) == "trap:redirect"
    assert shortener.check(f"{A}/go/99", HOST) is None


def test_a_mixed_shape_stays_open():
    traps = Traps()
    for i in range(200):
        traps.met(f"{A}/p/{i}", HOST, Worth.COPY if i % 2 else Worth.GOOD)
    assert traps.check(f"{A}/p/999", HOST) is None


def test_lists_that_say_little_but_lead_on_are_healthy():
    """Pages 2, 3, 4 … of a list say the same few words; each leads to new pages of another kind."""
    traps = Traps()
    for i in range(100):
        traps.met(f"{A}/list/{i}", HOST, Worth.EMPTY, [f"{A}/list/{i + 1}", f"{A}/story-{i}.html"])
    assert traps.check(f"{A}/list/999", HOST) is None


def test_a_domain_of_ever_more_worthless_hosts_is_closed_for_new_ones_only():
    traps = Traps()
    traps.met("http://www.farm.example/1", "www.farm.example", Worth.GOOD)
    for i in range(40):
        host = f"h{i}.farm.example"
        traps.met(f"http://{host}/{i}", host, Worth.COPY)
    assert traps.check("http://h99.farm.example/", "h99.farm.example") == "trap:hosts"
    assert traps.check("http://www.farm.example/2", "www.farm.example") is None
    assert traps.check("http://other.example/", "other.example") is None


def test_what_is_held_against_a_host_survives_as_plain_data():
    before, after = Traps(), Traps()
    for i in range(8):
        before.met(f"{A}/x?{i}", HOST, Worth.COPY)
    after.restore(HOST, before.state(HOST))
    assert after.check(f"{A}/x?99", HOST) == before.check(f"{A}/x?99", HOST) == "trap:copies"
    assert after.state(HOST) == before.state(HOST)


def test_what_is_kept_of_a_host_with_many_folders_stays_small_and_is_the_worst_of_it():
    traps = Traps()
    for i in range(8):
        traps.met(f"{A}/shop/x?{i}", HOST, Worth.COPY)
    for name in itertools.product("abcdefghijklm", repeat=3):
        traps.met(f"{A}/{''.join(name)}/page", HOST, Worth.COPY)
    kept = traps.state(HOST)
    assert len(kept) < 300
    assert [row[0] for row in kept if row[4]] == ["/shop/name?"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_memory_is_taken_in_or_passed_over(state):
    traps = Traps()
    traps.restore(HOST, state)
    traps.check(f"{A}/x", HOST)


@given(st.text(max_size=80).map(lambda t: f"{A}/{t}"))
def test_any_url_has_a_shape(url):
    assert shapes(url)
    Traps().check(url, HOST, url)


@given(
    st.lists(st.sampled_from(["a", "b7", "cal", "2031", "05", "x.html", "index.php", ""]), max_size=5),
    st.booleans(),
)
def test_the_folder_of_a_shape_is_that_of_its_urls(parts, asked):
    """Or the quick look would let closed shapes pass."""
    url = f"{A}/{'/'.join(parts)}{'?date=2031-01&x=/1' if asked else ''}"
    for shape in shapes(url):
        assert folder_of(shape) in (None, folder(url))


# pages that say nothing


def test_links_and_numbers_are_not_a_pages_own_words():
    assert own_words(page(text="Best links! one two\nPage 12", anchors=["one", "two"])) == "Best links! Page"
    assert own_words(page(text="word " * 400)) == ""
    assert own_words(page(text="")) == ""


@pytest.mark.parametrize(
    ("title", "text", "error"),
    [
        ("404 Not Found", "Sorry.", True),
        ("Seite nicht gefunden", "Leider.", True),
        ("Page introuvable", "Désolé.", True),
        ("Shop", "Sorry, this page could not be found.", True),
        ("Shop", "The product you want does not exist any more.", True),
        ("Lost and found", "Umbrellas, keys and a hat.", False),
        ("404 Not Found: a history", "word " * 500, False),
        ("Welcome", "Wind farms of the north.", False),
    ],
)
def test_error_pages_are_told_by_title_or_few_words(title, text, error):
    shown = page(title, text)
    assert EmptyPages().is_soft_404(shown, own_words(shown)) is error


# mirrors


def test_a_mirror_of_many_is_the_copy_of_each():
    mirrors = Mirrors()
    for i in range(8):
        mirrors.twins("http://m.example", f"http://h{i % 4}.example")
    assert len(list(mirrors.originals("http://m.example"))) == 4
    assert not any(list(mirrors.originals(f"http://h{i}.example")) for i in range(4))


def test_sites_that_share_some_pages_and_differ_in_others_are_no_mirrors():
    mirrors = Mirrors()
    for _ in range(6):
        mirrors.twins("http://b.example", "http://a.example")
    for _ in range(3):
        mirrors.apart("http://b.example", "http://a.example")
    assert not list(mirrors.originals("http://b.example"))
