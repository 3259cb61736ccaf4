"""robots.txt: the public cases, real files, and the laws of matching."""

from __future__ import annotations

import base64
import io
import json
import re
import tarfile

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from clew.frontier.robots import DELAY_LIMIT, EVERYTHING, NOTHING, SIZE_LIMIT, Rules, product_token
from clew.frontier.robots_patterns import Patterns, escape, fold

SITE = "https://a.example"


def rules(text: str, agent: str = "clew/0.1.0") -> Rules:
    return Rules.parse(200, text.encode(), agent)


@pytest.mark.data
def test_all_public_cases_that_are_not_marked_as_one_vendors_own_pass(suite):
    cases = [json.loads(line) for line in suite("robots/robots_google_ctc.jsonl").read_text().splitlines()]
    assert len(cases) == 400
    wrong = [
        (case["id"], case["ua"], case["url"])
        for case in cases
        if not case["google_only"]
        and Rules.read(base64.b64decode(case["robots_b64"]), case["ua"]).allowed(case["url"])
        != case["allowed"]
    ]
    assert wrong == []


@pytest.mark.data
def test_no_real_file_crashes(suite):
    """4,231 files as found in the wild: each is read and answers."""
    with suite("robots/real_robots_txt.tar.zst").open("rb") as source:
        data = zstandard.ZstdDecompressor().stream_reader(source).read()
    count = 0
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            if member.isfile():
                body = tar.extractfile(member).read()
                read = Rules.parse(200, body, "clew/0.1.0")
                assert read.allowed(SITE + "/") in (True, False)
                assert read.delay is None or 0 <= read.delay <= DELAY_LIMIT
                count += 1
    assert count == 4231


@pytest.mark.parametrize("status", [500, 502, 503, 599, 999, 429, 0])
def test_a_server_in_trouble_forbids_everything(status):
    read = Rules.parse(status, b"User-agent: *\nAllow: /", "clew")
    assert not read.allowed(SITE + "/")
    assert read is NOTHING


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 301])
def test_no_robots_txt_allows_everything(status):
    """A redirect is followed by the caller; one that still stands here never led to a file."""
    read = Rules.parse(status, b"User-agent: *\nDisallow: /", "clew")
    assert read.allowed(SITE + "/x")
    assert read is EVERYTHING


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("clew/0.1.0", "clew"),
        ("clew/0.1 (+https://example.org)", "clew"),
        ("Clew", "Clew"),
        ("my-bot_x 2", "my-bot_x"),
        ("bot7/1", "bot"),
        ("Mozilla/5.0 (compatible; clew/0.1; +https://example.org)", "clew"),
        ("", ""),
        ("Ünder/1", ""),
    ],
)
def test_a_crawler_is_called_by_its_product_token(agent, token):
    assert product_token(agent) == token


def test_groups_that_name_the_crawler_replace_those_for_everyone():
    text = "User-agent: *\nDisallow: /\nUser-agent: CLEW\nDisallow: /a\n\nUser-agent: other\nDisallow: /b"
    assert rules(text).allowed(SITE + "/b")
    assert not rules(text).allowed(SITE + "/a")
    assert not rules(text, "third").allowed(SITE + "/b")


def test_several_groups_for_one_crawler_are_one():
    text = "User-agent: clew\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: clew\nDisallow: /c"
    assert [rules(text).allowed(SITE + p) for p in ("/a", "/b", "/c")] == [False, True, False]


def test_a_named_group_without_rules_allows_everything():
    assert rules("User-agent: *\nDisallow: /\n\nUser-agent: clew\nDisallow:").allowed(SITE + "/x")


def test_user_agent_lines_in_a_row_share_one_group():
    text = "User-agent: x\nSitemap: /s.xml\nUser-agent: clew\nDisallow: /a"
    assert not rules(text).allowed(SITE + "/a")
    assert not rules(text, "x").allowed(SITE + "/a")


def test_a_delay_ends_the_heading_of_its_group():
    """`*` is told to go slowly; only the next crawler is told to stay away."""
    text = "User-agent: *\nCrawl-delay: 5\n\nUser-agent: bad\nDisallow: /"
    assert rules(text).allowed(SITE + "/")
    assert rules(text).delay == 5.0
    assert not rules(text, "bad").allowed(SITE + "/")


@pytest.mark.parametrize(
    ("value", "delay"),
    [("2", 2.0), ("0.5", 0.5), ("0", 0.0), ("100000", DELAY_LIMIT), ("-1", None), ("nan", None),
     ("inf", None), ("soon", None), ("", None), ("1e999", None)],
)  # fmt: skip
def test_delays_are_capped_and_nonsense_is_ignored(value, delay):
    assert rules(f"User-agent: *\nCrawl-delay: {value}").delay == delay


def test_the_longest_pattern_wins_and_allow_wins_a_tie():
    text = (
        "User-agent: *\nDisallow: /shop\nAllow: /shop/open\nDisallow: /shop/open/x$\n"
        "Allow: /tie\nDisallow: /tie"
    )
    allowed = rules(text).allowed
    paths = ("/shop", "/shop/open", "/shop/open/x", "/shop/open/xy", "/tie")
    assert [allowed(SITE + p) for p in paths] == [False, True, False, True, True]


def test_queries_count_and_fragments_do_not():
    allowed = rules("User-agent: *\nDisallow: /*?sort=\nDisallow: /x#y").allowed
    assert not allowed(SITE + "/list?sort=up")
    assert allowed(SITE + "/list#?sort=up")
    assert not allowed(SITE + "?sort=up")
    assert not allowed(SITE + "/x")


def test_a_rule_that_forbids_binds_every_spelling_of_the_path():
    allowed = rules("User-agent: *\nDisallow: /%7Eanna/\nDisallow: /caf\u00e9\nDisallow: /a%2fb").allowed
    for path in ("/~anna/x", "/%7eanna/x", "/caf%C3%A9", "/caf%c3%a9", "/caf\u00e9", "/a%2Fb"):
        assert not allowed(SITE + path), path
    assert allowed(SITE + "/a/b")


def test_sitemaps_are_listed_once_in_order_whoever_they_stand_under():
    text = "Sitemap: https://a.example/1.xml\nUser-agent: x\nDisallow: /\nsite-map: /2.xml\nSitemap: https://a.example/1.xml"
    assert rules(text).sitemaps == ("https://a.example/1.xml", "/2.xml")


def test_utf16_and_byte_order_marks_do_not_hide_rules():
    text = "User-agent: *\r\nDisallow: /a"
    for body in (text.encode("utf-16"), text.encode("utf-8-sig"), b"\xef\xbb" + text.encode()):
        assert not Rules.parse(200, body, "clew").allowed(SITE + "/a")


def test_a_file_over_the_limit_is_cut_at_a_line():
    """A rule cut in two would forbid more than was meant."""
    head = b"User-agent: *\nDisallow: /first\n"
    filler = b"#" * (SIZE_LIMIT - len(head) - len(b"\nDisallow: /a"))
    body = head + filler + b"\nDisallow: /abc\nDisallow: /late\n"
    read = Rules.parse(200, body, "clew")
    assert not read.allowed(SITE + "/first")
    assert read.allowed(SITE + "/a")
    assert read.allowed(SITE + "/late")


@given(st.binary(max_size=400), st.text(max_size=20), st.text(max_size=40))
def test_no_file_agent_or_url_raises(body, agent, url):
    read = Rules.parse(200, b"User-agent: *\nDisallow: " + body, agent)
    assert read.allowed(url) in (True, False)
    assert repr(read).startswith("Rules(")


PATTERN = st.text("/ab*$%7E", max_size=8)


@given(st.lists(PATTERN, max_size=8), st.text("/ab%7E", max_size=12).map("/".__add__))
def test_many_patterns_at_once_agree_with_one_regular_expression_each(patterns, path):
    """Dictionary look-ups and single passes give the longest match that trying all of them would."""

    def matches(pattern: str) -> bool:
        anchored = pattern.endswith("$")
        body = pattern[:-1] if anchored else pattern
        expression = ".*".join(map(re.escape, body.split("*"))) + (r"\Z" if anchored else "")
        return re.match(expression, path, re.DOTALL) is not None

    expected = max((len(p) for p in patterns if p and matches(p)), default=-1)
    assert Patterns.of(patterns).longest(path) == expected


@given(st.text(max_size=30))
def test_escaping_and_folding_are_idempotent(text):
    assert escape(escape(text)) == escape(text)
    assert fold(escape(text)).isascii()
