"""`EmptyPages`: pages that say next to nothing, or say that there is nothing.

An error page served as a success (a *soft 404*) is told by its title or its few words. A page that says the
same few words as another page of its host, once links and numbers are taken away, is empty: it may be a
list, which is judged by where it leads, or one more page of a trap.
"""

from __future__ import annotations

import re

import xxhash

from clew.page import Page

#: Longer texts have something to say.
TEXT_LIMIT = 60_000
WORDS_LIMIT = 600
_MISSES = 8
#: Of each host, so many repeated texts are kept with the crawl: templates are few.
_KEPT = 64
_ERROR = re.compile(
    r"\b(?:404|410)\b.{0,40}(?:error|not found|gone|fehler|erreur)|(?:error|fehler|erreur|errore)\s*:?\s*404"
    r"|\bnot\s+found\b|\b(?:could|can)\s?not\s+be\s+found\b|\bcouldn.t\s+(?:be\s+found|find)\b"
    r"|\b(?:page|document|file|item|article|product)\b.{0,30}\b(?:does\s+not|doesn.t|no\s+longer)\s+exists?\b"
    r"|\bno\s+such\s+page\b|\bpage\s+(?:is\s+)?(?:missing|unavailable)\b"
    r"|\bnicht\s+(?:gefunden|vorhanden)\b|\bexistiert\s+nicht\b|\bintrouvable\b|\bn.existe\s+pas\b"
    r"|\bno\s+(?:encontrad[ao]|existe)\b|\bnon\s+trovat[ao]\b|\bnão\s+(?:encontrad[ao]|existe)\b"
    r"|\bniet\s+gevonden\b|\bnie\s+znaleziono\b|\bне\s+найден[ао]?\b|見つかりません|找不到",
    re.IGNORECASE,
)
_DIGITS = str.maketrans("", "", "0123456789")


def own_words(page: Page) -> str:
    """What a short page says besides its links, numbers left out; empty for a page with much to say.

    >>> from clew.page import Link, Links
    >>> links = Links.of("http://a.example/", [Link("http://a.example/", "http://a.example/x", "more")])
    >>> own_words(Page(url="http://a.example/", text="Page 12\\nmore", links=links))
    'Page'
    """
    text = page.text
    if not text or len(text) > TEXT_LIMIT:
        return ""
    kept: list[str] = []
    size, at, misses = 0, 0, 0
    for anchor in page.links.anchors:
        if not anchor:
            continue
        found = text.find(anchor, at)
        if found < 0:
            misses += 1
            if misses > _MISSES:
                break
            continue
        kept.append(text[at:found])
        size += found - at
        at = found + len(anchor)
        if size > 2 * WORDS_LIMIT:
            return ""
    kept.append(text[at : at + 2 * WORDS_LIMIT + 1])
    words = " ".join(" ".join(kept).translate(_DIGITS).split())
    return words if len(words) <= WORDS_LIMIT else ""


def hashed(words: str) -> int:
    """A hash of the few words of a page; 0 for none."""
    return xxhash.xxh3_64_intdigest(words.encode("utf-8", "surrogatepass")) if words else 0


class EmptyPages:
    """Remembers the few words that pages of each host have said; those said again, for later sessions too.

    >>> pages = EmptyPages()
    >>> pages.is_soft_404(Page(url="http://a.example/x", title="Page not found", text="Sorry."), "Sorry.")
    True
    >>> pages.is_empty("a.example", "Best links!"), pages.is_empty("a.example", "Best links!")
    (False, True)
    """

    def __init__(self) -> None:
        self._said: dict[str, set[int]] = {}
        self._again: dict[str, dict[int, None]] = {}

    def is_soft_404(self, page: Page, words: str) -> bool:
        """Whether a page served as a success says that there is nothing."""
        if not words and page.text:
            return False
        return _ERROR.search(page.title[:200]) is not None or (
            len(words) <= 200 and _ERROR.search(words) is not None
        )

    def is_empty(self, host: str, words: str) -> bool:
        """Whether another page of the host has said these few words; remembers them."""
        return self.was_said(host, hashed(words))

    def was_said(self, host: str, mark: int) -> bool:
        """`is_empty` for the hash of some words; 0 is that of none."""
        if not mark:
            return False
        said = self._said.setdefault(host, set())
        if mark in said:
            self._again.setdefault(host, {})[mark] = None
            return True
        said.add(mark)
        return False

    def state(self, host: str) -> list[int]:
        """What pages of a host have said more than once, as plain data."""
        return list(self._again.get(host, ()))[:_KEPT]

    def restore(self, host: str, state: object) -> None:
        """The opposite of `state`; what is not understood is passed over."""
        for mark in state if isinstance(state, list) else ():
            if isinstance(mark, int):
                self._said.setdefault(host, set()).add(mark)
                self._again.setdefault(host, {})[mark] = None
