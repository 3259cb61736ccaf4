"""`Intake`: what a page's links become before they are candidates.

Links are reduced to distinct targets, checked against the scope and the page's own wishes
(`nofollow`), and looked up; what is left out is counted by reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.page import Links, Page
from clew.policy.scope import Scope


@dataclass(frozen=True, slots=True)
class Admitted:
    """Links that may become candidates, one per distinct target, and the count of the others."""

    links: Links
    keys: NDArray[np.uint64]
    hosts: tuple[str, ...]
    dropped: dict[str, int]


@dataclass(frozen=True, slots=True)
class Intake:
    """Lets links in, or says why not."""

    scope: Scope
    rel_nofollow: bool = False
    """Leave out links marked rel=nofollow."""
    page_nofollow: bool = True
    """Leave out all links of a page that says nofollow (or none) in its robots directives."""

    def admit(self, page: Page, depth: int) -> Admitted:
        """The links of a page that are in scope; `depth` is the depth they would have."""
        links = page.links
        dropped: dict[str, int] = {}
        if self.page_nofollow and page.robots & {"nofollow", "none"}:
            if links:
                dropped["nofollow"] = len(links)
            return self._chosen(links, [], dropped)
        seen = {page.url}
        chosen: list[int] = []
        check = self.scope.check
        for i, target in enumerate(links.targets):
            if target in seen:
                continue
            if self.rel_nofollow and "nofollow" in links.rels[i]:
                # Not marked as seen: the same target may stand on the page again without the mark.
                dropped["nofollow"] = dropped.get("nofollow", 0) + 1
                continue
            seen.add(target)
            reason = check(target, depth)
            if reason is None:
                chosen.append(i)
            else:
                dropped[reason] = dropped.get(reason, 0) + 1
        return self._chosen(links, chosen, dropped)

    def _chosen(self, links: Links, chosen: list[int], dropped: dict[str, int]) -> Admitted:
        kept = Links(
            links.source,
            tuple([links.targets[i] for i in chosen]),
            tuple([links.anchors[i] for i in chosen]),
            tuple([links.contexts[i] for i in chosen]),
            tuple([links.paths[i] for i in chosen]),
            tuple([links.rels[i] for i in chosen]),
        )
        hosts = tuple([urls.host(t) for t in kept.targets])
        return Admitted(kept, urls.keys(kept.targets), hosts, dropped)
