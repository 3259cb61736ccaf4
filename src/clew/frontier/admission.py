"""`Admission`: what a page's links become before they are candidates.

Links are reduced to distinct targets and looked up. Targets never seen before are checked against the
scope, the traps and the hosts that were given up; what is left out is counted by reason. A known target
has been through all that, so most links of a page cost one look-up together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.page import Links, Page
from clew.parse.directives import binding
from clew.policy.scope import Scope

_NOFOLLOW = frozenset({"nofollow", "none"})

Lookup = Callable[[Sequence[str]], tuple[NDArray[np.uint64], NDArray[np.int64]]]
"""Keys and candidate numbers of URLs; -1 for those never seen."""
Objection = Callable[[str, str, str], str | None]
"""Why a URL (of a host, linked to by a source) should be left out; None when it may be fetched."""


def _never_seen(targets: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    return urls.keys(targets), np.full(len(targets), -1, np.int64)


@dataclass(frozen=True, slots=True)
class Admitted:
    """Links that may become candidates, one per distinct target, and the count of the others."""

    links: Links
    keys: NDArray[np.uint64]
    ids: NDArray[np.int64]
    """Candidate numbers; -1 for targets never seen."""
    hosts: tuple[str, ...]
    """Empty text for a known target, whose host nobody asks for."""
    dropped: dict[str, int]


@dataclass(frozen=True, slots=True)
class Admission:
    """Lets links in, or says why not."""

    scope: Scope
    rel_nofollow: bool = False
    """Leave out links marked rel=nofollow."""
    page_nofollow: bool = True
    """Leave out all links of a page that says nofollow (or none) in its robots directives."""
    follow: bool = True
    """Let any links of pages in at all."""
    agent: str = "clew"
    """The name that pages may address this crawler by."""
    lookup: Lookup = _never_seen
    objection: Objection = lambda url, host, source: None

    def check(self, url: str, depth: int, source: str = "") -> str | None:
        """Why a URL should not become a candidate; None when it may."""
        return self.scope.check(url, depth) or self.objection(url, urls.host(url), source)

    def admit(self, page: Page, depth: int) -> Admitted:
        """The links of a page that are in scope; `depth` is the depth they would have."""
        links = page.links
        dropped: dict[str, int] = {}
        if not self.follow:
            return self.admit_none(links, "not-followed")
        if self.page_nofollow and binding(page.robots, self.agent) & _NOFOLLOW:
            return self.admit_none(links, "nofollow")
        rows = self._distinct(page, dropped)
        if self.scope.depth is not None and depth > self.scope.depth:
            if rows:
                dropped["depth"] = len(rows)
            return self.chosen(links, [], dropped)
        return self.chosen(links, rows, dropped, depth)

    def admit_none(self, links: Links, why: str) -> Admitted:
        """None of a page's links, for one reason."""
        return self.chosen(links, [], {why: len(links)} if links else {})

    def first(self, links: Links, limit: int, depth: int) -> Admitted:
        """The first of many links that are new and on their source's own domain."""
        domain = urls.site(urls.host(links.source))
        dropped: dict[str, int] = {}
        rows: list[int] = []
        for i in np.flatnonzero(self.lookup(links.targets)[1] < 0).tolist():
            if urls.site(urls.host(links.targets[i])) != domain:
                dropped["sitemap-foreign"] = dropped.get("sitemap-foreign", 0) + 1
            elif len(rows) >= limit:
                dropped["sitemap-limit"] = dropped.get("sitemap-limit", 0) + 1
            else:
                rows.append(i)
        return self.chosen(links, rows, dropped, depth)

    def chosen(self, links: Links, rows: list[int], dropped: dict[str, int], depth: int = 0) -> Admitted:
        """Those of the given links that may be followed."""
        targets = [links.targets[i] for i in rows]
        keys, ids = self.lookup(targets)
        hosts = [""] * len(rows)
        out: list[int] = []
        check, objection, source = self.scope.check, self.objection, links.source
        for place in (ids < 0).nonzero()[0].tolist():
            target = targets[place]
            host = hosts[place] = urls.host(target)
            reason = check(target, depth) or objection(target, host, source)
            if reason is not None:
                dropped[reason] = dropped.get(reason, 0) + 1
                out.append(place)
        if out:
            left = set(out)
            kept = [place for place in range(len(rows)) if place not in left]
            rows, hosts = [rows[place] for place in kept], [hosts[place] for place in kept]
            keys, ids = keys[kept], ids[kept]
        picked = links if len(rows) == len(links) else links.pick(rows)
        return Admitted(picked, keys, ids, tuple(hosts), dropped)

    def _distinct(self, page: Page, dropped: dict[str, int]) -> list[int]:
        """Rows of the first link to each target, the page itself left out."""
        links = page.links
        if not self.rel_nofollow:
            first = dict(zip(reversed(links.targets), range(len(links) - 1, -1, -1), strict=True))
            first.pop(page.url, None)
            return sorted(first.values())
        seen = {page.url}
        rows: list[int] = []
        for i, target in enumerate(links.targets):
            if target in seen:
                continue
            if "nofollow" in links.rels[i]:
                # Not marked as seen: the same target may stand on the page again without the mark.
                dropped["nofollow"] = dropped.get("nofollow", 0) + 1
                continue
            seen.add(target)
            rows.append(i)
        return rows
