"""Finds as the page lists them: with a stretch of their text, the words that were looked for marked.

Text is handed over in pieces, each plain or marked, so that the page has nothing to take apart and nothing
that it could take for markup.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

from clew import url as urls
from clew.errors import ClewError
from clew.predicate.atoms.base import glob
from clew.predicate.atoms.text import Text, pieces
from clew.predicate.formula import walk
from clew.predicate.judge import parse_each
from clew.report.crawl_fold import FoundPage
from clew.store.base import PageRow
from clew.store.follow import FollowedCrawl
from clew.store.query import Query, densest, fold
from clew.words import lexicon, spans

#: Words of a snippet, characters of a text looked through for one, and of a text shown whole.
_WIDTH, _SCANNED, _SHOWN = 36, 100_000, 30_000
#: Finds given at once, hits of a search, and links of the way from a seed.
MOST, _HITS, _WAY = 100, 200, 40

Pieces = list[tuple[str, bool]]
"""Stretches of a text in order, and whether each is marked."""


class WordMarker:
    """Tells the words of a page that a formula, or a search, looked for.

    Parameters: the text of the formula; that of the search, if there is one.
    """

    def __init__(self, formula: str, search: str = "") -> None:
        self._words: list[str] = []
        try:
            each = parse_each(formula, allow_python=True).values()
            atoms = [atom for one in each for atom, negated, _ in walk(one) if not negated]
        except ClewError:
            atoms = []
        for atom in atoms:
            if isinstance(atom, Text) and atom.field in ("", "text", "title", "main", "desc"):
                self._words += [piece for piece in pieces(atom.text) if piece != "*"]
        self._search = Query.parse(search) if search.strip() else None

    def test(self, language: str) -> Callable[[str], bool]:
        """Whether a word of a page in that language is one of them."""
        known = lexicon(language or "en")
        stems = {known.stem(word) for word in self._words if "*" not in word}
        globs = [glob(word) for word in self._words if "*" in word]

        def is_marked(word: str) -> bool:
            if self._search is not None and self._search.marks(fold(word)):
                return True
            return known.stem(word) in stems or any(matches(word) for matches in globs)

        return is_marked

    def snippet(self, text: str, language: str) -> Pieces:
        """About `_WIDTH` words around the most marked ones.

        >>> WordMarker("turbine").snippet("Two turbines turn.", "en")
        [('Two ', False), ('turbines', True), (' turn.', False)]
        """
        test = self.test(language)
        found = list(spans(text[:_SCANNED]))
        if not found:
            return []
        marked = [place for place, (word, _, _) in enumerate(found) if test(word)]
        first = densest(marked, _WIDTH, len(found))
        last = min(first + _WIDTH, len(found)) - 1
        begin = found[first][1] if first else 0
        end = found[last][2] + 40 if last == len(found) - 1 else found[last][2]
        inside = [found[place][1:] for place in marked if first <= place <= last]
        lead, tail = "… " if first else "", " …" if last < len(found) - 1 else ""
        return _cut(text, begin, min(end, len(text)), inside, lead, tail)

    def whole(self, text: str, language: str) -> Pieces:
        """The text from its beginning, as much as is shown."""
        test = self.test(language)
        shown = text[:_SHOWN]
        inside = [(start, end) for word, start, end in spans(shown) if test(word)]
        return _cut(text, 0, len(shown), inside, "", " …" if len(text) > _SHOWN else "")


def _cut(text: str, begin: int, end: int, marked: Iterable[tuple[int, int]], lead: str, tail: str) -> Pieces:
    found: Pieces = []
    plain, at = lead, begin
    for start, stop in marked:
        plain += text[at:start]
        if plain:
            found.append((plain, False))
        found.append((text[start:stop], True))
        plain, at = "", stop
    plain += text[at:end] + tail
    return [*found, (plain, False)] if plain else found


def list_finds(
    reader: FollowedCrawl,
    finds: list[FoundPage],
    formula: str,
    *,
    search: str = "",
    host: str = "",
    only: Container[int] | None = None,
    least: float = 0.0,
    best: bool = False,
    offset: int = 0,
    limit: int = 20,
) -> dict[str, Any]:
    """Some of the finds, newest or best first, those a search found in its order; and how many there are.

    Parameters: `only`, the candidates to choose among, where these are not all.
    """
    marker = WordMarker(formula, search)
    wanted = [
        find
        for find in finds
        if find.degree >= least
        and (not host or urls.host(find.url) == host.strip().lower())
        and (only is None or find.candidate in only)
    ]
    if search.strip():
        hits = {hit.url: place for place, hit in enumerate(reader.search(search, limit=_HITS, matched=True))}
        wanted = sorted((find for find in wanted if find.url in hits), key=lambda find: hits[find.url])
    elif best:
        wanted.sort(key=lambda find: (-find.degree, find.candidate))
    else:
        wanted.reverse()
    shown = [find.candidate for find in wanted[offset : offset + min(limit, MOST)]]
    return {
        "total": len(wanted),
        "offset": offset,
        "finds": [_row(page, marker) for page in reader.pages_numbered(shown)],
    }


def _row(page: PageRow, marker: WordMarker) -> dict[str, Any]:
    return {
        "id": page.id,
        "url": page.url,
        "title": page.title,
        "degree": page.score,
        "interests": list(page.interests),
        "depth": page.depth,
        "language": page.lang,
        "fetched": page.fetched_at,
        "snippet": marker.snippet(page.text, page.lang),
    }


def one_page(reader: FollowedCrawl, candidate: int, formula: str) -> dict[str, Any] | None:
    """A fetched page whole: its text, why it is a find, and the way that led to it from a seed."""
    rows = reader.pages_numbered([candidate])
    if not rows:
        return None
    page = rows[0]
    return _row(page, WordMarker(formula)) | {
        "matched": page.matched,
        "reasons": list(page.reasons),
        "text": WordMarker(formula).whole(page.text, page.lang),
        "status": page.status,
        "type": page.type,
        "rendered": page.rendered,
        "via": page.via,
        "way": way_to(reader, candidate),
    }


def way_to(reader: FollowedCrawl, candidate: int) -> list[dict[str, Any]]:
    """The links that led to a page, from a seed on."""
    way: list[dict[str, Any]] = []
    seen: set[int] = set()
    while candidate >= 0 and candidate not in seen and len(way) < _WAY:
        seen.add(candidate)
        link = reader.links_numbered([candidate]).get(candidate)
        if link is None:
            break
        way.append({"url": link.url, "anchor": link.anchor})
        candidate = link.source
    return way[::-1]
