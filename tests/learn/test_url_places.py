"""`UrlPlaces`: what pages in the same place of the web were worth."""

import numpy as np
import pytest

from clew.learn.checkpoint import arrays_of, fill
from clew.learn.url_places import UrlPlaces

A = "http://a.example/"


def means(places, *targets):
    return places.means(places.chains(A, list(targets)))


def test_before_anything_was_learned_every_place_is_worth_nothing():
    assert means(UrlPlaces(2.0), f"{A}x/1", "http://b.example/").tolist() == [0.0, 0.0]


def test_each_level_counts_the_one_above_as_doubt_pages():
    """One page worth 1 in /x/, one worth 0 in /y/: 1/2 above both, then (1/2 + 1) / 2 and (1/2 + 0) / 2."""
    places = UrlPlaces(1.0)
    for target, worth in ((f"{A}x/1", 1.0), (f"{A}y/1", 0.0)):
        places.learn(places.chains(A, [target])[0], worth)
    assert means(places, f"{A}x/2", f"{A}y/2", f"{A}z/2").tolist() == pytest.approx([0.75, 0.25, 0.5])


def test_a_query_and_a_file_name_make_no_other_place():
    places = UrlPlaces(1.0)
    one, another = places.chains(A, [f"{A}x/1?at=/deep/in/", f"{A}x/2"])
    assert one.tolist() == another.tolist()


def test_links_that_leave_their_host_are_apart_from_those_that_stay():
    places = UrlPlaces(1.0)
    stays, leaves = places.chains(A, [A])[0], places.chains("http://b.example/", [A])[0]
    assert not set(stays[stays > 0].tolist()) & set(leaves[leaves > 0].tolist())


def test_credit_raises_a_place_without_another_page():
    places = UrlPlaces(1.0)
    chain = places.chains(A, [f"{A}x/1"])[0]
    places.learn(chain, 0.2)
    before = means(places, f"{A}x/2")[0]
    places.credit(chain, 0.3)
    assert means(places, f"{A}x/2")[0] > before
    assert (places.pages, places.mean) == (1, 0.2)


def test_what_was_learned_is_taken_up_again_and_damage_is_refused():
    places, other = UrlPlaces(1.0), UrlPlaces(1.0)
    places.learn(places.chains(A, [f"{A}x/1"])[0], 0.4)
    fill(other, dict(arrays_of(places)))
    assert means(other, f"{A}x/2").tolist() == means(places, f"{A}x/2").tolist()
    with pytest.raises(ValueError, match="places by column"):
        fill(other, dict(arrays_of(places)) | {"sums": np.zeros(3)})
