"""What is worked out only when someone looks: contexts and tag paths of links."""

import pickle

from clew.page import Later, Once
from clew.parse import parse_page

PAGE = b"""<title>T</title><div class=menu><a href=/a>first</a> <a href=/b><b>second</b><br>line</a></div>
<p>words before <a href=/c>\n third </a>, words behind <a href=/d><img alt="a picture"></a>"""


def _page(body: bytes = PAGE):
    return parse_page(body, url="http://a.example/", content_type="text/html")


def test_columns_are_there_when_asked_for() -> None:
    links = _page().links
    assert links.anchors == ("first", "second line", "third", "a picture")
    assert links.contexts[2] == "first second line words before third , words behind"
    assert links.contexts[3].endswith("words behind a picture")
    assert links.paths == (*("html/body/div.menu/a",) * 2, *("html/body/p/a",) * 2)


def test_a_page_that_travels_keeps_them() -> None:
    page = _page()
    again = pickle.loads(pickle.dumps(page))
    assert again == page
    assert tuple(again.links.contexts) == tuple(page.links.contexts)
    assert again.links.paths == page.links.paths


def test_some_rows_stay_unread_until_looked_at() -> None:
    asked = []

    def work():
        asked.append(1)
        return (("a", "b", "c"),)

    column = Later(Once(work), 0, 3).pick([0, 2]).pick([1])
    assert len(column) == 1
    assert not asked
    assert (column[0], tuple(column), asked) == ("c", ("c",), [1])


def test_links_within_links_have_words_of_their_own() -> None:
    links = _page(b"<p><a href=/1>outer <object><a href=/2>inner</a></object> end</a>").links
    assert links.anchors == ("outer inner end", "inner")


def test_white_space_within_a_link_stays_on_its_side() -> None:
    assert _page(b"<p>by <a href=/1>\nS. Weber</a>, professor").text == "by S. Weber, professor"
