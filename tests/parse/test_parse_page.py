"""HTML to pages: links with their words, text, main text, and what the head says."""

from __future__ import annotations

import pickle

import pytest

from clew.page import Links
from clew.parse import Limits, parse_page
from clew.parse.directives import binding

URL = "http://a.example/dir/page.html"


def page(markup, **options):
    return parse_page(markup.encode(), url=URL, content_type="text/html; charset=utf-8", **options)


def test_links_carry_anchor_context_path_and_rel():
    """One link in a list, seen from all sides."""
    found = page(
        '<body class="x y"><div id=content><ul><li>before the <a class=ext rel="NoFollow external"'
        ' href="../b#frag">wind\n <i>farms</i></a> after it</ul></div>'
    ).links
    assert len(found) == 1
    link = found[0]
    assert (link.source, link.target, link.position) == (URL, "http://a.example/b", 0)
    assert (link.anchor, link.context) == ("wind farms", "before the wind farms after it")
    assert link.path == "html/body.x/div#content/ul/li/a.ext"
    assert link.rel == "nofollow external"


def test_every_kind_of_link_is_found_in_document_order():
    """Anchors, areas, frames, and the link elements that lead to pages; nothing else."""
    found = page(
        "<link rel=stylesheet href=/s.css><link rel=next href=/next><link rel=icon href=/i>"
        "<link rel=alternate type=application/rss+xml href=/feed title=News>"
        "<link rel=alternate hreflang=de href=/de><link rel=canonical href=/c>"
        "<a href=/a>a</a><map><area href=/area alt='the area'></map><iframe src=/frame title=F></iframe>"
        "<img src=/img><form action=/form></form><a name=here>no link</a>"
    )
    assert [x.target.removeprefix("http://a.example") for x in found.links] == [
        "/next", "/feed", "/c", "/a", "/area", "/frame",
    ]  # fmt: skip
    assert [x.anchor for x in found.links] == ["", "News", "", "a", "the area", "F"]
    assert found.canonical == "http://a.example/c"


def test_links_to_nowhere_are_left_out():
    """Self links, fragments, scripts and mail are no links; duplicates are."""
    found = page(
        "<a href='#top'>t</a><a href=''>e</a><a href=page.html>self</a><a href='javascript:x()'>j</a>"
        "<a href=mailto:a@b.example>m</a><a href=/x>1</a><a href=/x?utm_source=y>2</a>"
    ).links
    assert [(x.target, x.anchor) for x in found] == [("http://a.example/x", "1"), ("http://a.example/x", "2")]


def test_a_picture_or_a_title_speaks_for_a_wordless_link():
    """Alternative text first, the title attribute as the last resort."""
    found = page(
        "<a href=/1><span><img alt='wind farm' src=x></span></a> <a href=/2 title=sea></a>"
        " <a href=/3><img alt='' src=x></a> <a href=/4 title=no><img alt=pic src=x>words</a>"
    ).links
    assert [x.anchor for x in found] == ["wind farm", "sea", "", "words"]
    assert found[0].context == "wind farm words"


def test_context_reaches_about_a_hundred_characters_and_cuts_between_words():
    """The window includes the anchor and never splits a word."""
    words = " ".join(f"word{i}" for i in range(100))
    (link,) = page(f"<p>{words} <a href=/x>anchor</a> {words}").links
    before, _, after = link.context.partition(" anchor ")
    assert words.endswith(before)
    assert words.startswith(after)
    assert 80 <= len(before) <= 100
    assert 80 <= len(after) <= 100


def test_contexts_of_neighbouring_links_hold_each_others_words():
    """The mark of one link leaves no trace in the context of the next."""
    found = page("<ul><li><a href=/1>one</a><li> <a href=/2> two </a><li><a href=/3>three</a></ul> end")
    assert [x.context for x in found.links] == ["one two three end"] * 3
    assert found.text == "one\ntwo\nthree\nend"


def test_links_in_hidden_parts_are_kept_without_context():
    """What is hidden is no text, but its links still lead somewhere."""
    found = page(
        "<p>seen</p><div hidden>x <a href=/h>menu</a></div><noscript><a href=/n>plain</a></noscript>"
    )
    assert found.text == "seen"
    assert [(x.anchor, x.context) for x in found.links] == [("menu", ""), ("plain", "")]


def test_visible_text_leaves_out_what_no_reader_sees():
    """Scripts, styles, templates, hidden elements and form controls are gone; blocks end lines."""
    found = page(
        "<title>T</title><style>s</style><script>j</script><h1>Head</h1><p>one\n  two&nbsp;three<br>four"
        "<template>t</template><p hidden>h</p><p style='display: none'>d</p><select><option>o</select>"
        "<ul><li>a<li>b</ul><table><tr><td>c<td>d</table><!-- c --><svg><text>v</text></svg>soft&shy;ware"
    )
    assert found.text == "Head\none two three\nfour\na\nb\nc d\nsoftware"


def test_main_text_is_the_article_and_falls_back_to_everything():
    """Navigation is not main text; a page without an article is its whole text."""
    story = "<p>" + "A wind farm is a group of wind turbines in one place, used to make electricity. " * 6
    nav = "<nav><ul>" + "<li><a href=/x>Navigation entry</a>" * 20 + "</ul></nav>"
    found = page(f"<body>{nav}<main><article><h1>Wind farms</h1>{story}</article></main>{nav}")
    assert "Navigation" in found.text
    assert "Navigation" not in found.main
    assert found.main.count("A wind farm is") == 6
    short = page("<a href=/x>one</a> two")
    assert short.main == short.text == "one two"


def test_head_title_description_refresh_base():
    """The head's word on the page, resolved against the base."""
    found = page(
        "<html lang=de-AT><title> A\n title </title><base href=/other/>"
        "<meta name=Description content=' d  e '><meta http-equiv=refresh content='5; url=next'>"
        "<link rel=canonical href=here><a href=x>x</a>"
    )
    assert (found.title, found.description, found.language) == ("A title", "d e", "de")
    assert found.refresh == "http://a.example/other/next"
    assert found.canonical == "http://a.example/other/here"
    assert found.links[1].target == "http://a.example/other/x"


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<meta property=og:title content=og><h1>h</h1>", "og"),
        ("<title></title><h1>the <i>h</i></h1>", "the h"),
        ("<svg><title>no</title></svg><p>x", ""),
    ],
)
def test_titles_where_the_title_is_missing(markup, title):
    """og:title, then the first h1; never a drawing's title."""
    assert page(markup).title == title


def test_robots_directives_from_meta_and_headers():
    """Directives for everyone and for clew stand as they are, those for other agents under their names."""
    found = page(
        "<meta name=robots content='NoArchive'><meta name=clew content=nofollow>"
        "<meta name=otherbot content=none>",
        headers=[
            ("x-robots-tag", "noindex"),
            ("X-Robots-Tag", "otherbot: nosnippet"),
            ("X-Robots-Tag", "clew: x"),
        ],
    )
    ours = {"noarchive", "nofollow", "noindex", "x"}
    assert found.robots == ours | {"otherbot:nosnippet", "otherbot:noindex", "otherbot:nofollow"}
    assert binding(found.robots, "clew") == ours
    assert binding(found.robots, "OtherBot") == ours | {"nosnippet"}
    several = page("", headers=[("X-Robots-Tag", "noarchive, otherbot: noindex, nofollow, *: none")]).robots
    assert several == {"noarchive", "otherbot:noindex", "otherbot:nofollow", "noindex", "nofollow"}
    late = page("", headers=[("X-Robots-Tag", "unavailable_after: 25 Jun 2030, none")]).robots
    assert late == binding(late, "clew") == {"unavailable_after: 25 jun 2030", "noindex", "nofollow"}


def test_limits_cut_and_say_so():
    """Links, text and body are capped, and the page is marked truncated."""
    many = "".join(f"<a href=/{i}>w{i}</a> " for i in range(50))
    assert len(page(many, limits=Limits(links=10)).links) == 10
    assert page(many, limits=Limits(links=10)).truncated
    assert not page(many).truncated
    short = page(many, limits=Limits(text=20))
    assert short.truncated
    assert len(short.text) <= 20
    assert page("x" * 100, limits=Limits(body=10)).text == "x" * 10


def test_page_and_result_survive_pickling():
    """Worker processes send pages back."""
    found = page("<a href=/x>x</a>")
    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(parse_page)) is parse_page


def test_page_keeps_what_the_fetcher_said():
    """URL, status, depth and truncation pass through."""
    found = page("x", status=404, depth=3, truncated=True)
    assert (found.url, found.status, found.depth, found.truncated) == (URL, 404, 3, True)
    assert found.links == Links(URL)
    assert (found.type, found.charset) == ("text/html", "utf-8")


def test_xhtml_closes_empty_elements():
    """A self-closed script does not swallow the page, as it would in HTML."""
    body = b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><script src="x"/></head>'
    body += b'<body><div/><p>text <a href="/x">x</a><br/></p></body></html>'
    found = parse_page(body, url=URL, content_type="application/xhtml+xml")
    assert (found.text, found.links.targets) == ("text x", ("http://a.example/x",))
    assert parse_page(body, url=URL, content_type="text/xml").type == "application/xhtml+xml"


def test_deep_paths_keep_their_innermost_steps():
    """A path has at most 24 steps, the same for neighbours whatever was found before them."""
    found = page("<div>" * 100 + "<p><a href=/1>1</a><p><a href=/2>2</a>").links
    assert found[0].path == "div/" * 22 + "p/a"
    assert found[1].path == found[0].path


def test_the_marks_own_characters_in_a_page_do_no_harm():
    """A page that writes like the renderer's marks loses nothing but those characters."""
    found = page("a \x010\x02 b \x01 c <a href=/x>link</a> \x01999999999999\x02 d")
    assert found.links[0].anchor == "link"
    assert "b" in found.text
    assert found.text.endswith("d")


@pytest.mark.parametrize(
    ("markup", "text", "anchor"),
    [
        ("<a href=/x><h3>Wind farms</h3><span>at sea</span></a>", "Wind farms at sea", "Wind farms at sea"),
        ("<a href=/x>Wind<hr>farms</a> at sea", "Wind farms at sea", "Wind farms"),
        ("<span><b><div>Wind</div></b>farms</span> <a href=/x>here</a>", "Wind farms here", "here"),
        ("<a href=/x>Wind <b>far</b>ms</a>", "Wind farms", "Wind farms"),
    ],
)
def test_words_behind_a_block_within_a_line_stay_words(markup, text, anchor):
    found = page(markup)
    assert found.text.split() == text.split()
    assert found.links[0].anchor == anchor
