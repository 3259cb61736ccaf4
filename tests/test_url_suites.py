"""Public suites: the URL standard, IDNA, the public suffix list, a peer's normaliser, two real webs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict

import pytest
import zstandard

from clew import url

pytestmark = pytest.mark.data


def cases(path):
    return [case for case in json.loads(path.read_text("utf-8")) if isinstance(case, dict)]


def test_every_case_of_the_url_standard(suite):
    """All 891 parse, join or fail as the standard says."""
    wrong = [
        case
        for case in cases(suite("url/urltestdata.json"))
        if url.resolve(case["input"], case.get("base")) != (None if case.get("failure") else case["href"])
    ]
    assert wrong == []


def test_the_hot_path_agrees_on_every_http_case_of_the_standard(suite):
    """What `Joiner` makes of a case is what the exact parser makes, if http(s) or a failure."""
    for case in cases(suite("url/urltestdata.json")):
        base = case.get("base") or "http://a.example/b/"
        exact = url.resolve(case["input"], base)
        if exact is None or exact.startswith("http"):
            assert url.Joiner(base)(case["input"]) == exact, case


def test_every_case_of_to_ascii(suite):
    """All 87 domains go on the wire as IDNA says."""
    assert [
        case for case in cases(suite("url/toascii.json")) if url.to_ascii(case["input"]) != case["output"]
    ] == []


def test_every_registrable_domain(suite):
    """All 78 cases of the public suffix list."""
    text = suite("url/test_psl.txt").read_text("utf-8")
    found = re.findall(r"^checkPublicSuffix\((null|'.*?'), (null|'.*?')\);", text, re.MULTILINE)
    assert len(found) == 78
    for given, wanted in found:
        expected = None if wanted == "null" else wanted.strip("'")
        assert url.registrable("" if given == "null" else given.strip("'")) == expected, given


def test_agreement_with_another_crawlers_normaliser(suite):
    """Of crawler-commons' 112 examples 89 agree; the rest differ for the five reasons listed."""
    lines = suite("url/weirdToNormalizedUrls.csv").read_text("utf-8").split("\n")
    rows = list(csv.reader((x for x in lines if x.strip() and x[0] != "#"), skipinitialspace=True))
    agree, reasons = 0, defaultdict(int)
    for given, wanted in rows:
        if url.canonical(given) == wanted.strip():
            agree += 1
        else:
            reasons[reason(given, wanted.strip())] += 1
    assert agree == 89
    assert dict(reasons) == {
        "a path with empty segments is another path": 6,
        "not http(s), or no host": 9,
        "the standard leaves it unescaped in a query": 4,
        "an empty value is not an absent one": 2,
        "a nameless parameter is a parameter": 2,
    }


def reason(given, wanted):
    ours = url.canonical(given)
    if ours is None:
        return "not http(s), or no host"
    if re.sub("(?<!:)/+", "/", ours) == wanted:
        return "a path with empty segments is another path"
    if re.sub(r"[\[\]^`|]", lambda m: f"%{ord(m[0]):X}", ours) == wanted:
        return "the standard leaves it unescaped in a query"
    if ours.removesuffix("=") == wanted:
        return "an empty value is not an absent one"
    if ours.replace("?=1&", "?") == wanted:
        return "a nameless parameter is a parameter"
    return f"unexplained: {given} -> {ours}, not {wanted}"


@pytest.mark.parametrize(
    ("name", "pages", "changed"),
    [("wikispeedia_pages.jsonl.zst", 5462, 0), ("miniweb_pages.jsonl.zst", 24_821, 36)],
)
def test_no_two_recorded_pages_share_a_canonical_url(corpus, name, pages, changed):
    """Canonicalisation merges no pages that really differ; it changes only raw spaces and the like."""
    recorded = []
    with corpus(name).open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        recorded.extend(line.split('"', 4)[3] for line in io.TextIOWrapper(reader, "utf-8"))
    assert len(recorded) == pages
    found = [url.canonical(x) for x in recorded]
    assert len(set(found) - {None}) == len(set(recorded))
    assert sum(a != b for a, b in zip(found, recorded, strict=True)) == changed
