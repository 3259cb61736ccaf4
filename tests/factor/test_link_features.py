"""The features of links read together are those of links read one by one."""

import numpy as np
import pytest

from clew.factor import link_features as module
from clew.factor.link_features import LinkFeatures, Said, depth
from clew.page import Links

TARGETS = (
    "http://a.example/wind/farm.html",
    "http://a.example/wind/wind.html?q=/x",
    "http://a.example/",
    "http://b.example/wind/sea/",
    "https://a.example/wind/farm.html",
    f"http://a.example/{'deep/' * 70}x",
)


def links(targets):
    n = len(targets)
    return Links("http://a.example/wind/", targets, ("",) * n, ("",) * n, ("body/a",) * n, ("",) * n)


@pytest.mark.parametrize("remembered", [0, 100_000])
def test_a_link_has_the_same_features_alone_and_among_others(monkeypatch, remembered):
    """And when everything that was remembered is forgotten in between."""
    together = LinkFeatures()
    words = [["sea"], [], ["wind", "sea"], [], [], ["wind"]]
    said = Said.of(words)
    together.note(0, links(TARGETS), range(len(TARGETS)), said, True)
    monkeypatch.setattr(module, "_REMEMBERED", remembered)
    alone = LinkFeatures()
    starts = np.cumsum(said.lengths) - said.lengths
    for i, start in enumerate(starts.tolist()):
        one = Said(said.lengths[i : i + 1], said.numbers[start : start + len(words[i])], said.names)
        alone.note(i, links(TARGETS), [i], one, True)
    for i, target in enumerate(TARGETS):
        assert alone.rows.row(i).tolist() == together.rows.row(i).tolist()
        assert together.depths[i] == np.float32(depth(target)) == alone.depths[i]
    names = [together.names[i] for i in together.rows.row(1).tolist()]
    assert names.count("url wind") == 1, "a word of directory and file is one feature"
    assert {"below a.example/wind", "file wind.html", "ending html", "leads beside", "on a find"} <= set(
        names
    )


FILES = (
    "windFarm.html",
    "sea_12.html",
    "sea_13.html",
    "p1",
    "p2",
    "",
    "l%C3%A9",
    "wind.PDF",
    "farm-wind",
    "x.y.z",
)


@pytest.mark.parametrize("bits", [3, 18])
def test_files_read_together_have_the_features_of_files_read_one_by_one(monkeypatch, bits):
    """And give the same names to the columns, also where many features share one."""
    monkeypatch.setattr(module, "_BITS", bits)
    noted = []
    for many in (1, 1000):
        monkeypatch.setattr(module, "MANY", many)
        features = LinkFeatures()
        for first, chosen in ((0, FILES[:4]), (4, FILES[2:])):
            targets = tuple([f"http://a.example/{i % 2}/{file}" for i, file in enumerate(chosen)])
            said = Said.of([["wind", "sea"][: i % 3] for i in range(len(chosen))])
            features.note(first, links(targets), range(len(chosen)), said, True)
        noted.append(
            ([features.rows.row(n).tolist() for n in range(12)], features.names, features.depths.tolist())
        )
    assert noted[0] == noted[1]
