"""Links of every kind: the table of docs/parsing.md, executed; and what bounds the search for more."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from clew.parse import Limits, parse_page
from clew.parse.link_kinds import header_links, literals

DOCS = Path(__file__).parents[2] / "docs" / "parsing.md"
URL, TO = "http://a.example/page", re.compile(r"http://a\.example/to(\.html)?")
_ROW = re.compile(r"^\| ([^|]+) \| `(.+)` \| (followed|–) \| (followed|–) \|$", re.M)
_HEADER = re.compile(r"([A-Z][A-Za-z-]+): (.*)")
_BODY = re.compile(r"([a-z]+/[a-z+]+): (.*)")


def rows():
    section = DOCS.read_text("utf-8").partition("\n## Links of every kind\n")[2].partition("\n## ")[0]
    found = _ROW.findall(section)
    assert len(found) == section.count("\n| ") - 1  # every line but the heading, and the line below it
    return found


def follows(example, more):
    """Whether a page, or a header of one, leads to /to; frames, feeds and refreshes all count."""
    headers, body, kind = (), example, "text/html; charset=utf-8"
    if found := _HEADER.fullmatch(example):
        headers, body = [found.groups()], "<p>x"
    elif found := _BODY.fullmatch(example):
        kind, body = found.groups()
    page = parse_page(body.encode(), url=URL, content_type=kind, headers=headers, more=more)
    return any(TO.fullmatch(target) for target in (*page.links.targets, page.refresh, page.canonical))


@pytest.mark.parametrize(("kind", "example", "usually", "with_more"), rows(), ids=[row[0] for row in rows()])
def test_what_the_table_says(kind, example, usually, with_more):
    assert follows(example, more=False) is (usually == "followed")
    assert follows(example, more=True) is (with_more == "followed")


def page(markup, **options):
    return parse_page(markup.encode(), url=URL, content_type="text/html; charset=utf-8", **options)


def test_more_links_come_behind_the_others_with_their_words_and_places():
    """What was there stays as it is, numbers included."""
    markup = (
        "<p data-next=/n title=on>a <a href=/1>one</a> b <blockquote cite=/c>c</blockquote>"
        "<p>see http://b.example/t now<script>x='/s'</script>"
    )
    plain, found = page(markup).links, page(markup, more=True).links
    assert list(found)[: len(plain)] == list(plain)
    assert [(link.target, link.anchor, link.context, link.path) for link in found[1:]] == [
        ("http://a.example/n", "on", "", "html/body/p"),
        ("http://a.example/c", "", "", "html/body/blockquote"),
        ("http://a.example/s", "", "", "html/body/p/script"),
        ("http://b.example/t", "", "a one b c see http://b.example/t now", "text"),
    ]
    for wanted in ({"contexts"}, {"paths"}, {"contexts", "paths"}):
        assert page(markup, more=True, wanted=frozenset(wanted)).links == found
    assert pickle.loads(pickle.dumps(page(markup, more=True))).links == found


def test_a_page_that_names_no_other_has_none():
    for more in (False, True):
        found = page("<p>x", more=more, headers=[("Link", "</s.css>; rel=stylesheet"), ("Date", "now")])
        assert (len(found.links), found.canonical, found.refresh) == (0, "", "")


def test_what_the_page_links_to_is_not_found_again():
    markup = "<a href=/1>http://a.example/1</a><p data-x=/1 onclick=\"go('/1')\">http://a.example/page"
    assert page(markup, more=True).links.targets == ("http://a.example/1",)


def test_scripts_are_looked_at_up_to_a_limit_and_links_are_counted_together():
    markup = "<a href=/1>x</a><script>" + "".join(f"'/s{n}';" for n in range(50)) + "</script>"
    assert len(page(markup, more=True).links) == 51
    assert len(page(markup, more=True, limits=Limits(script=60)).links) < 15
    few = page(markup, more=True, limits=Limits(links=10))
    assert (len(few.links), few.truncated) == (10, True)


@pytest.mark.parametrize(
    "source",
    ["'" * 200_000, "'/" * 100_000, '"//' + "a." * 100_000, "'" + "a.html" * 40_000, '"/x" ' * 50_000],
    ids=["quotes", "slashes", "host", "endings", "addresses"],
)
def test_hostile_scripts_are_read_and_end(source):
    """What backtracked would not end within the life of the test."""
    assert len(literals(source, 10)) <= 10
    assert page(f"<script>{source}</script>", more=True).title == ""


def test_a_header_may_hold_many_links_and_those_of_another_page_are_none_of_ours():
    value = '</a>; rel=next; title="the next; one, really", </b>; rel="prev", </c>; rel=next; anchor="/d"'
    found = list(header_links([("link", value), ("Link", "<x>; rel"), ("LINK", "<")], more=True))
    assert [(link.href, link.anchor, link.rel) for link in found] == [
        ("/a", "the next; one, really", "next"),
        ("/b", "", "prev"),
    ]
