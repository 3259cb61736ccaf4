"""The made web of regions: what it is, and that finds lie behind other pages there."""

from __future__ import annotations

import pytest

from clew.errors import UsageError
from clew.lab import open_web
from clew.lab.graph import Graph
from clew.lab.region_web import FIELDS, RegionWeb
from clew.parse import parse_page


@pytest.fixture(scope="module")
def web():
    return RegionWeb(3)


def test_it_is_a_function_of_its_seed(web):
    same, other = open_web("regions:3"), open_web("regions:4")
    places = list(web.urls())[::997]
    assert list(same.urls()) == list(web.urls())
    assert [same.get(url).body for url in places] == [web.get(url).body for url in places]
    assert [other.get(url) and other.get(url).body for url in places] != [web.get(url).body for url in places]


def test_pages_that_are_about_a_town_and_a_pursuit_have_both_as_labels(web):
    both = [url for url in web.urls() if len(web.labels(url)) == 2]
    assert len(both) > 0.8 * len(web)
    town, pursuit = web.labels(both[0])
    assert town.startswith("subject.region")
    assert pursuit.removeprefix("subject.").split(".")[0] in FIELDS
    assert web.labels("http://nowhere.example/") == ()
    assert web.get("http://nowhere.example/") is None


def test_clubs_of_one_town_and_pursuit_do_not_link_to_each_other_and_all_can_be_reached(web):
    urls = list(web.urls())
    number = {url: at for at, url in enumerate(urls)}
    edges = []
    for url, page in web._pages.items():
        for link in page.links:
            here, there = url.split("/")[2], link.url.split("/")[2]
            assert here == there or len(web.labels(url)) < 2 or web.labels(url) != web.labels(link.url)
            edges.append((number[url], number[link.url]))
    assert Graph.of(len(urls), edges).reach([number[web.seeds()[0]]]).mean() > 0.95


def test_its_pages_are_written_and_linked(web):
    url = next(url for url in web.urls() if web.labels(url)[-1:] == ("subject.travel.sailing",))
    page = parse_page(web.get(url).body, url=url, status=200, content_type="text/html", headers=(), depth=0)
    assert len(page.links) > 3
    assert len(page.text) > 300


def test_a_name_that_is_none_is_told():
    with pytest.raises(UsageError, match="regions:7"):
        open_web("regions:x")
