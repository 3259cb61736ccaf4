"""Are copies copies? Every page of the recorded webs that is called a copy, judged by its word fives.

    python checks/copies.py [--webs demo,webkb] [--json FILE]

Each web is read in its own order, as a crawl would: a page is compared with the earlier ones that are no
copies themselves (`clew.policy.Duplicates`). Each pair called a copy is then judged by all of its visible
text: the share of word fives that the two pages have in common, of all that either has (Jaccard). A near copy
under 0.80 is false, an exact copy under 1. Missed are pages not called copies though an earlier page shares
0.95 of the fives or more; those with another title are counted apart: on sites of one template, title and
identifier are often all that differs, and such pages are different on purpose.

The judge shares no code with what it judges: it numbers words, not hashes of them. The check fails when more
than one in a hundred copies is false, or when fewer than 300 were judged on all webs.
"""

from __future__ import annotations

import re
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from operator import eq

import numpy as np
from numpy.typing import NDArray
from verdict import arguments, ended

from clew.errors import FetchError, ParseError
from clew.lab.corpora import open_web
from clew.lab.webs import LabelledWeb
from clew.page import Page
from clew.policy import Duplicates
from clew.run.parsing import to_page

WEBS = ("wikispeedia:images", "webkb", "webkb:misc", "webkb:washington", "miniweb", "demo")
FALSE_UNDER, MISSED_FROM, MOST_FALSE, LEAST_JUDGED = 0.80, 0.95, 0.01, 300
WORD = re.compile(r"\w+")
BUCKETS, BAND, LOOKS, LIKELY = 96, 6, 60, 0.85

Fives = NDArray[np.uint64]


@dataclass
class Row:
    """What was counted on one web."""

    web: str
    pages: int = 0
    exact: int = 0
    exact_false: int = 0
    near: int = 0
    near_false: int = 0
    missed: int = 0
    missed_other_title: int = 0
    lowest: float = 1.0
    """The smallest share among the pairs called copies."""
    examples: list[str] = field(default_factory=list)
    """Pairs that are false."""


class Judge:
    """Word fives of texts, with every word known by its number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def fives(self, text: str) -> Fives:
        """The distinct fives of a text, sorted; of a text of fewer words, all its words as one."""
        numbers = self.numbers
        words = [numbers.setdefault(word, len(numbers)) for word in WORD.findall(text.lower())]
        ids = np.array(words, np.uint64) + np.uint64(1)
        size = min(5, len(ids))
        count = len(ids) - size + 1 if size else 0
        found = np.zeros(count, np.uint64)
        for at in range(size):
            # Odd multipliers that nothing else here uses; two fives that differ collide once in 2**64.
            found = found * np.uint64(0xD6E8FEB86659FD93) + ids[at : at + count] * np.uint64(
                0xA0761D6478BD642F
            )
            found ^= found >> np.uint64(32)
        return np.unique(found)


def share(one: Fives, other: Fives) -> float:
    """Fives in common, of all that either has."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / max(1, len(one) + len(other) - common)


def minima(fives: Fives) -> bytes:
    """The least five in each of 96 buckets, by a byte: pages that share most fives agree in most bytes."""
    spread = (fives ^ (fives >> np.uint64(29))) * np.uint64(0xE7037ED1A0B428DB)
    least = np.full(BUCKETS, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, (spread % np.uint64(BUCKETS)).astype(np.intp), spread // np.uint64(BUCKETS))
    return (least & np.uint64(0xFF)).astype(np.uint8).tobytes()


def pages(web: LabelledWeb) -> Iterator[Page]:
    """Every page that can be read, in the order of the web."""
    for url in web.urls():
        try:
            response = web.get(url)
            if response is not None and 200 <= response.status < 300:
                yield to_page(response, 0)
        except (FetchError, ParseError):
            continue


def judged(name: str) -> Row:
    """One web, read and judged."""
    row, judge, seen = Row(name), Judge(), Duplicates()
    texts: list[bytes] = []
    heads: list[tuple[str, str]] = []
    pairs: list[tuple[int, int, bool]] = []
    originals: list[int] = []
    for number, page in enumerate(pages(open_web(name))):
        texts.append(zlib.compress(page.text.encode("utf-8", "surrogatepass"), 1))
        heads.append((page.url, page.title))
        repeated = seen.find(page.digest, page.sketch)
        if repeated is None:
            seen.add(number, page.digest, page.sketch)
            originals.append(number)
        else:
            pairs.append((repeated[0], number, repeated[1]))
    row.pages = len(texts)

    def fives(number: int) -> Fives:
        return judge.fives(zlib.decompress(texts[number]).decode("utf-8", "surrogatepass"))

    for first, second, near in pairs:
        found = share(fives(first), fives(second))
        false = found < FALSE_UNDER if near else found < 1.0
        row.near, row.exact = row.near + near, row.exact + (not near)
        row.near_false, row.exact_false = (
            row.near_false + (near and false),
            row.exact_false + (not near and false),
        )
        row.lowest = min(row.lowest, found)
        if false:
            row.examples.append(f"{found:.2f} {heads[first][0]} {heads[second][0]}")
    bands: dict[tuple[int, bytes], list[int]] = {}
    sketches: dict[int, bytes] = {}
    for number in originals:
        own = fives(number)
        if len(own) < 40:
            continue
        sketch = minima(own)
        keys = [(at, sketch[at : at + BAND]) for at in range(0, BUCKETS, BAND)]
        met: dict[int, int] = {}
        for key in keys:
            for other in bands.get(key, ())[-LOOKS:]:
                met[other] = met.get(other, 0) + 1
        best = sorted(met, key=lambda other: -met[other])[:LOOKS]
        likely = [other for other in best if sum(map(eq, sketches[other], sketch)) >= LIKELY * BUCKETS]
        missed = [other for other in likely if share(fives(other), own) >= MISSED_FROM]
        if missed:
            same = any(heads[other][1].lower() == heads[number][1].lower() for other in missed)
            row.missed, row.missed_other_title = row.missed + same, row.missed_other_title + (not same)
        sketches[number] = sketch
        for key in keys:
            bands.setdefault(key, []).append(number)
    return row


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the webs asked for, print a table, and say whether the bar is met."""
    parser = arguments("Judge copies on recorded webs by the words they share.")
    parser.add_argument("--webs", default=",".join(WEBS), help="comma-separated; all by default")
    given = parser.parse_args(argv)
    rows: list[Row] = []
    names = ("pages", "exact", "false", "near", "false", "lowest", "missed", "other title", "seconds")
    lines = [f"{'web':20}" + "".join(f"{name:>12}" for name in names)]
    for name in given.webs.split(","):
        started = time.monotonic()
        row = judged(name)
        rows.append(row)
        counts = (row.pages, row.exact, row.exact_false, row.near, row.near_false)
        rest = (f"{row.lowest:.2f}", row.missed, row.missed_other_title, round(time.monotonic() - started))
        lines.append(f"{name:20}" + "".join(f"{one:>12}" for one in (*counts, *rest)))
        lines += [f"  false: {example}" for example in row.examples[:5]]
    tried = sum(row.exact + row.near for row in rows)
    false = sum(row.exact_false + row.near_false for row in rows)
    lines.append(f"false copies: {false} of {tried} ({false / max(1, tried):.2%}, at most {MOST_FALSE:.0%})")
    figures = {"tried": tried, "false": false, "webs": [asdict(row) for row in rows]}
    failures = [example for row in rows for example in row.examples] if false > MOST_FALSE * tried else []
    if tried < LEAST_JUDGED and given.webs == ",".join(WEBS):
        failures.append(f"only {tried} pairs were judged, not {LEAST_JUDGED}")
    return ended(given, "copies", tried, failures, figures, lines)


if __name__ == "__main__":
    sys.exit(main())
