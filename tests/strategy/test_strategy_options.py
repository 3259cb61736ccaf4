"""Options of strategies: refused in words when they make no sense, and all in the docs."""

import re
from pathlib import Path

import pytest

from clew.errors import ConfigError
from clew.predicate import CallablePredicate
from clew.strategy import find, make

BLIND = CallablePredicate(lambda page: True, "blind")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("shark", {"decoy": 1}, "did you mean 'decay'"),
        ("shark", {"decay": 2}, "a number from 0 to 1, not 2"),
        ("shark", {"decay": "fast"}, "a number from 0 to 1, not 'fast'"),
        ("shark", {"examples": "some"}, "one of auto, found, none"),
        ("ache", {"every": 2.5}, "a whole number"),
        ("tagpath", {"explore": True}, "a number"),
        ("focused", {"x": 1}, "has no option 'x'"),
        ("focussed", {}, "did you mean 'focused'"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_words(name, options, words):
    with pytest.raises(ConfigError, match=words.replace("?", r"\?")):
        make(name, BLIND, options=options)


def test_options_reach_the_strategy():
    assert make("shark", BLIND, options={"decay": "0.25", "examples": "none"}).decay == 0.25
    assert make("ache", BLIND, options={"every": 50}).first == 50


@pytest.mark.parametrize("name", ["focused", "shark", "cosine", "ache", "anthelion", "tagpath"])
def test_the_options_are_in_the_docs_with_their_defaults(name):
    """docs/strategies.md has one row for each option, and no others."""
    text = (Path(__file__).parents[2] / "docs" / "strategies.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*?) \|", section, re.M))
    assert set(rows) == set(find(name).options)
    strategy = make(name, BLIND)
    for option, shown in rows.items():
        default = getattr(strategy, option, None)
        if default is not None:
            assert str(default).removesuffix(".0") == shown.replace(",", ""), option
