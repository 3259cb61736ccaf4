"""The site every contender crawls: real articles, about 34 KB and 100 links each, one blob on disk.

Articles and subject pages of the 2007 Wikipedia Selection for Schools, as they were served. Links to
pages that are not in the site (picture descriptions, mostly) are led to pages that are, and each article
gets a list of further articles, real titles and all, so that the average page has 100 links; the longest
articles are left out, so that the average page has 34 KB. Only the corpus file is read; the site lies
where the benchmark is told to put it.
"""

from __future__ import annotations

import html
import json
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import zstandard

CORPUS = "wikispeedia_pages.jsonl.zst"
PAGES, SHARE = 4_550, 97
START = "/wp/s/Science.htm"
MORE = "/more.htm"
"""Links to the pages that are not counted as the site's: smaller ones, there for crawls of 5,000 pages."""
_HREF = re.compile(r'(<a\b[^>]*?\bhref=")([^"#]+)((?:#[^"]*)?")')


@dataclass(frozen=True)
class Article:
    path: str
    title: str
    markup: str


def articles(corpus: Path, *kinds: str) -> Iterator[Article]:
    with corpus.open("rb") as file:
        plain = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        rest = b""
        while piece := plain.read(1 << 20):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                row = json.loads(line)
                if row["kind"] in kinds:
                    yield Article(urlsplit(row["url"]).path, row["title"], row["html"])


def build(corpus: Path, target: Path) -> None:
    """Write `site.bin` (bodies end to end) and `site.json` (path -> offset and length)."""
    found = sorted(articles(corpus, "article", "index"), key=lambda a: len(a.markup))[:PAGES]
    others = list(articles(corpus, "other"))
    known = {a.path: i for i, a in enumerate(found)}
    further = [f'<li><a href="{html.escape(a.path)}">{html.escape(a.title)}</a></li>\n' for a in found]
    bodies = {}
    counts = []
    for number, article in enumerate(found):
        markup, count = _at_home(article, found, known)
        # As many as bring the page to its share: pages that have more links than that keep them.
        wanted = max(0, SHARE - count)
        step = 1 + number % 37
        extra = [further[(number + step * (i + 1)) % len(further)] for i in range(wanted)]
        block = f'<div class="further"><h2>Further articles</h2><ul>{"".join(extra)}</ul></div>\n'
        at = markup.rfind('<div class="printfooter">')
        body = markup[:at] + block + markup[at:] if at > 0 else markup + block
        bodies[article.path] = body.encode()
        counts.append(count + wanted)
    index = {}
    at = 0
    with (target / "site.bin").open("wb") as blob:
        for path, body in bodies.items():
            index[path] = (at, len(body))
            at += blob.write(body)
        more = "".join([f'<a href="{html.escape(a.path)}">{html.escape(a.title)}</a>\n' for a in others])
        for path, text in [*((a.path, _at_home(a, found, known)[0]) for a in others), (MORE, more)]:
            body = text.encode()
            index[path] = (at, len(body))
            at += blob.write(body)
    sizes = [len(b) for b in bodies.values()]
    facts = {"pages": len(bodies), "bytes": statistics.mean(sizes), "links": statistics.mean(counts)}
    (target / "site.json").write_text(json.dumps({"facts": facts, "index": index}))


def _at_home(article: Article, found: list[Article], known: dict[str, int]) -> tuple[str, int]:
    """The article with every link leading to a page of the site, and the number of its links."""
    count = 0

    def lead(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        path = urlsplit(urljoin(f"http://x{article.path}", html.unescape(match[2]))).path
        if path in known:
            return match[0]
        near = found[sum(path.encode()) * 7919 % len(found)].path
        return f"{match[1]}{html.escape(near)}{match[3]}"

    return _HREF.sub(lead, article.markup), count


def facts(target: Path) -> dict[str, float]:
    found: dict[str, float] = json.loads((target / "site.json").read_text())["facts"]
    return found
