"""`Watch`: looks at everything that is fetched, and says what is not worth fetching because of it.

It brings together the traps, the pages that say nothing and the mirrors. The engine asks it about a link
(`objects`), about a candidate that is about to be fetched (`refuses`), and tells it of each page, redirect
and copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from clew import url as urls
from clew.messages import State
from clew.page import Page
from clew.policy.mirrors import Mirrors
from clew.policy.soft404 import Blanks, own_words
from clew.policy.traps import Traps, Worth

#: States of a candidate that came to something, or still may.
_ALIVE = frozenset({State.QUEUED, State.LEASED, State.FETCHED})


@dataclass(frozen=True, slots=True)
class Look:
    """What a first look at a page gave."""

    error: bool
    """An error page that was served as a success."""
    empty: bool
    """It says what another page of its host has said, and little of it."""


class Watch:
    """Keeps a crawl from wasting itself.

    Parameters: `on`; `state`, which says what has become of a URL, None for one that is no candidate.
    """

    def __init__(self, *, on: bool = True, state: Callable[[str], State | None] = lambda url: None) -> None:
        self.on = on
        self.traps = Traps(on=on)
        self.blanks = Blanks()
        self.mirrors = Mirrors()
        self._state = state

    def __repr__(self) -> str:
        return f"Watch({self.traps!r}, {self.mirrors!r})"

    def objects(self, url: str, host: str, source: str = "") -> str | None:
        """Why a link should not be followed; None when it may be."""
        return self.traps.check(url, host, source)

    def refuses(self, url: str, host: str) -> str | None:
        """Why a candidate should not be fetched after all; None when it may be."""
        if not self.on:
            return None
        why = self.traps.closed(url, host)
        if why is not None:
            return why
        origin = urls.origin(url)
        if origin in self.mirrors:
            rest = url[len(origin) :]
            if any(self._state(original + rest) in _ALIVE for original in self.mirrors.originals(origin)):
                return "mirror"
        return None

    def look(self, page: Page, host: str, *, satisfied: bool) -> Look:
        """A first look at a page. One that satisfies is no error page unless another said the same words."""
        if not self.on:
            return Look(False, False)
        words = own_words(page)
        empty = self.blanks.empty(host, words)
        error = self.blanks.error(page, words) and (empty or not satisfied)
        return Look(error, empty)

    def page(
        self, url: str, host: str, look: Look, *, find: bool, twin: str, near: bool, fresh: Iterable[str]
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
        elif look.error:
            worth = Worth.ERROR
        elif twin:
            worth = Worth.NEAR if near else Worth.COPY
        elif look.empty:
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
                if self._state(other + rest) is State.FETCHED:
                    self.mirrors.apart(origin, other)
