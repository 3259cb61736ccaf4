"""`WasteGuard`: recognises traps, empty pages and mirrors, so that no requests are spent on them.

The engine asks it before a link is queued (`check_link`) and before a candidate is fetched
(`check_candidate`), and tells it of every page, redirect and copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from clew import url as urls
from clew.messages import State
from clew.page import Page
from clew.policy.mirrors import Mirrors
from clew.policy.soft404 import EmptyPages, hashed, own_words
from clew.policy.traps import Traps, Worth

#: States of a candidate that came to something, or still may.
_ALIVE = frozenset({State.QUEUED, State.LEASED, State.FETCHED})


@dataclass(frozen=True, slots=True)
class PageCheck:
    """What `WasteGuard.check_page` found out about a fetched page."""

    soft_404: bool
    """An error page that was served as a success."""
    empty: bool
    """Its few words are those of another page of its host."""
    said: int = 0
    """A hash of those words; 0 for a page with much to say."""


class WasteGuard:
    """Recognises traps, empty pages and mirrors; asked before a link is queued and a candidate fetched.

    Parameters: `on`, without which nothing is objected to; `state`, which says what has become of a URL, None
    for one that is no candidate.
    """

    def __init__(self, *, on: bool = True, state: Callable[[str], State | None] = lambda url: None) -> None:
        self.on = on
        self.state = state
        self.forget()

    def __repr__(self) -> str:
        return f"Watch({self.traps!r}, {self.mirrors!r})"

    def forget(self) -> None:
        """Know nothing of any page."""
        self.traps = Traps(on=self.on)
        self.empty_pages = EmptyPages()
        self.mirrors = Mirrors()

    def check_link(self, url: str, host: str, source: str = "") -> str | None:
        """Why a link should not be followed; None when it may be."""
        return self.traps.check(url, host, source)

    def check_candidate(self, url: str, host: str) -> str | None:
        """Why a candidate should not be fetched after all; None when it may be."""
        if not self.on:
            return None
        why = self.traps.closed(url, host)
        if why is not None:
            return why
        origin = urls.origin(url)
        if origin in self.mirrors:
            rest = url[len(origin) :]
            if any(self.state(original + rest) in _ALIVE for original in self.mirrors.originals(origin)):
                return "mirror"
        return None

    def check_page(self, page: Page, host: str, *, satisfied: bool) -> PageCheck:
        """Whether a page is an error page or an empty one.

        One that satisfies the predicate is no error page unless another page said the same words.
        """
        if not self.on:
            return PageCheck(soft_404=False, empty=False)
        words = own_words(page)
        said = hashed(words)
        empty = self.empty_pages.was_said(host, said)
        soft_404 = self.empty_pages.is_soft_404(page, words) and (empty or not satisfied)
        return PageCheck(soft_404=soft_404, empty=empty, said=said)

    def record_page(
        self,
        url: str,
        host: str,
        check: PageCheck,
        *,
        find: bool,
        twin: str,
        near: bool,
        fresh: Iterable[str],
    ) -> bool:
        """A page was fetched; `twin` is the URL of the page it repeats, if any. True when that counts
        against its kind."""
        if not self.on:
            return False
        if twin and not near:
            self._twins(url, twin)
        elif not twin:
            self._apart(url)
        worth = Worth.GOOD
        if find:
            worth = Worth.FIND
        elif check.soft_404:
            worth = Worth.ERROR
        elif twin:
            worth = Worth.NEAR if near else Worth.COPY
        elif check.empty:
            worth = Worth.EMPTY
        return self.traps.met(url, host, worth, fresh)

    def _twins(self, url: str, twin: str) -> None:
        here, there = urls.origin(url), urls.origin(twin)
        if here != there and url[len(here) :] == twin[len(there) :]:
            self.mirrors.twins(here, there)

    def _apart(self, url: str) -> None:
        origin = urls.origin(url)
        if origin in self.mirrors:
            rest = url[len(origin) :]
            for other in self.mirrors.partners(origin):
                if self.state(other + rest) is State.FETCHED:
                    self.mirrors.apart(origin, other)
