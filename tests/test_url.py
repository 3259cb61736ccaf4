"""URLs: canonical form, the hot path, and what is read off a canonical URL."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from clew import url

ODDITIES = """
    http:// https: // / .. . %2e %41 %c3%9f % %% %3 # ? & = ; a.example EXAMPLE.com. xn-- xn--zca ß user@ :80
    :443 @ \\ ^ | 127.0.0.1 0x7f.1 [::1] [ ] utm_source=x sid=0123456789abcdef ;jsessionid=A1 b=2 a=1 é \ud800
    /(S(abcdefghijklmnopqrstuvwx)) ftp: javascript: 1 F \0
"""
UNFETCHABLE = """
    a/b mailto:a@b.example javascript:void(0) ftp://a.example/ http:// http://a..example/ http://.a.example/
    http://.../ http://0x7f.1../ http://1.2.3.256/ http://a.example:99999/
"""
PIECES = st.sampled_from([*ODDITIES.split(), " ", "\t"])
HREFS = st.lists(PIECES | st.text(max_size=4), max_size=9).map("".join)
HTTPISH = st.builds("http://{}/{}".format, st.sampled_from(["a.example", "b.example.:8080", "[::1]"]), HREFS)


@given(HREFS | HTTPISH)
@example("http://a.example/%%361")
@example("http://a.example/..;sid=1/x")
@example("http://0x7f.1../")
@settings(max_examples=5 * settings().max_examples)
def test_canonical_is_idempotent_and_parses(text):
    """A canonical URL is its own canonical form, survives the exact parser, and names a host."""
    found = url.canonical(text)
    assume(found is not None)
    assert url.canonical(found) == found
    assert url.resolve(found) == found
    assert url.host(found)
    assert len(found) <= url.DEFAULT.max_length


@given(
    HREFS, st.sampled_from(["http://a.example/x/y?z", "https://b.example:8443/", "http://xn--zca.example/^/"])
)
@settings(max_examples=5 * settings().max_examples)
def test_the_hot_path_is_the_exact_path(href, base):
    """Joining many hrefs gives for each what the exact parser gives alone."""
    exact = url.resolve(href, base)
    if exact is None or exact.startswith("http"):
        assert url.Joiner(base)(href) == exact
    expected = (
        None if href.strip("".join(map(chr, range(33))))[:1] in ("", "#") else url.canonical(href, base)
    )
    assert url.canonical_many([href, href], base) == [expected, expected]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("http://A.example", "http://a.example/"),
        ("https://a.example:443/#x", "https://a.example/"),
        ("http://user:pw@a.example:8080/", "http://a.example:8080/"),
        ("http://user@[::1]/", "http://[::1]/"),
        ("http://a.example.:81/", "http://a.example:81/"),
        ("http://a.example/%7Eme/%c3%a4/a%2fb", "http://a.example/~me/%C3%A4/a%2Fb"),
        ("http://a.example/wp/%25/%25C3%2581.htm", "http://a.example/wp/%25/%25C3%2581.htm"),
        ("http://a.example/100%", "http://a.example/100%25"),
        ("http://a.example/a/./b/../c", "http://a.example/a/c"),
        ("http://a.example/?", "http://a.example/"),
        ("http://a.example/?b=2&a=2&b=1&a=1", "http://a.example/?a=2&a=1&b=2&b=1"),
        ("http://a.example/?UTM_Source=x&gclid=1&fbclid=2&msclkid=3", "http://a.example/"),
        ("http://a.example/?PHPSESSID=x&q=1", "http://a.example/?q=1"),
        ("http://a.example/?sid=0123456789abcdef", "http://a.example/"),
        ("http://a.example/?sid=42", "http://a.example/?sid=42"),
        ("http://a.example/x;jsessionid=0A1B;v=2?y", "http://a.example/x;v=2?y"),
        ("http://a.example/(S(abcdefghijklmnopqrstuvwx))/x.aspx", "http://a.example/x.aspx"),
        ("http://a.example/Foo_(bar)", "http://a.example/Foo_(bar)"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://Bücher.example/ü?ü", "http://xn--bcher-kva.example/%C3%BC?%C3%BC"),
        (" \n http://a.example/ ", "http://a.example/"),
    ],
)
def test_canonical_examples(given, wanted):
    """One example for each rule."""
    assert url.canonical(given) == wanted


@pytest.mark.parametrize(
    "given",
    [*UNFETCHABLE.split(), "", "http://a.example/" + "x" * 4096, "http://" + "a" * 300 + "/", "x" * 70_000],
)
def test_what_cannot_be_fetched_is_no_url(given):
    """Other schemes, hosts no name server knows, and monsters give None."""
    assert url.canonical(given) is None


def test_plain_rules_take_no_liberties_with_the_query():
    """`PLAIN` keeps order, tracking and sessions."""
    text = "http://a.example/x;jsessionid=1?utm_source=x&b=1&a=2"
    assert url.canonical(text + "#f", rules=url.PLAIN) == text


def test_keys_and_slots_never_change():
    """They are written to disk and shared between machines, so their values are pinned."""
    assert url.key("http://a.example/") == 15685384335643010201
    assert url.key("https://example.org/?a=1") == 16571554084703364455
    assert url.keys(["http://a.example/", "https://example.org/?a=1"]).tolist() == [
        15685384335643010201,
        16571554084703364455,
    ]
    assert url.keys([]).dtype == "uint64"
    assert (url.slot("a.example"), url.slot("example.org")) == (136, 69)


@given(HTTPISH)
def test_tokens_are_lower_case_words_of_the_url(text):
    """No token is empty or has a capital, whatever the URL; the paper's tokens hold no dot and no slash."""
    assert all(x and x == x.lower() for x in url.tokens(text))
    assert all(x and "." not in x and "/" not in x for x in url.tokens(text, "paper"))


def test_tokens_split_humps_and_digits():
    """CamelCase always, digits on request."""
    assert url.tokens("http://a.example/windFarm23/HTMLPage") == [
        "a",
        "example",
        "wind",
        "farm23",
        "htmlpage",
    ]
    assert url.tokens("http://a.example/p2b", digits=True) == ["a", "example", "p", "2", "b"]


def test_names():
    """Host, origin, site and addresses, by example."""
    assert url.host("http://[2001:db8::1]:8080/x") == "[2001:db8::1]"
    assert url.origin("https://a.example:8443/x?y") == "https://a.example:8443"
    assert url.site("a.b.co.uk") == "b.co.uk"
    assert url.site("[::1]") == "[::1]"
    assert not url.is_ip("1.2.3.example")


@given(
    st.lists(
        st.sampled_from(
            (
                *(
                    "http://a.example/x/p?q=/r",
                    "http://a.example/x/",
                    "https://a.example/x/z",
                    "http://1.2/a/b",
                ),
                *(
                    "http://a.example/x/y_(1)/z/w_(2).htm",
                    "http://a.example/x%20(y/z",
                    "http://a.example.:80/x/",
                ),
            )
        )
    ),
    st.lists(HREFS | st.text(alphabet="/\\.:?#ahtp%2e\t\n @&()", max_size=8), max_size=12),
)
def test_what_an_href_came_to_on_another_page_makes_no_difference(bases, hrefs):
    """Links are remembered between pages under the default rules; under others they are not."""
    for base in bases:
        assert url.canonical_many(hrefs, base) == url.canonical_many(hrefs, base, rules=url.Canon())
