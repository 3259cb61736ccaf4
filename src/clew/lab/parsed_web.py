"""`ParsedWeb`: a recorded web made ready for many crawls.

Each page is parsed once per process and shared by all runs (pages are frozen, so sharing is safe), and the
links between pages are known as a `Graph`, for oracles and for choosing seeds. The graph has exactly the ways
a crawl has: links in scope, redirects, refreshes, and nothing that robots rules forbid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from sys import intern

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.errors import FetchError, ParseError, Reason
from clew.fetch.replay import not_recorded
from clew.fetch.retry import retry_after
from clew.frontier.admission import Admission
from clew.frontier.robots import Rules
from clew.lab import parse_cache
from clew.lab.graph import Graph, Mask
from clew.lab.webs import LabelledWeb
from clew.messages import Outcome, Task, TaskKind
from clew.page import Links, Page
from clew.policy import Duplicates, Scope
from clew.run.parsing import to_page

AGENT = "clew"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class ParsedWeb:
    """A recorded web, its pages parsed, its links known.

    Parameters: the web; `dead_links`, whether links to what was not recorded are offered (and answered by a
    404, a request like any other) or left out of the pages; `robots`, whether robots.txt is asked for and,
    with the directives in pages, obeyed.
    """

    def __init__(self, web: LabelledWeb, *, dead_links: bool = True, robots: bool = True) -> None:
        self.web = web
        self.dead_links = dead_links
        self.robots = robots
        self.urls = tuple(web.urls())
        self.number = {url: i for i, url in enumerate(self.urls)}
        self._replies: dict[str, Outcome] = {}
        self._kept: dict[str, Page] = {}
        self._nothing = Task(0, TaskKind.PAGE, "", "")

    def __len__(self) -> int:
        return len(self.urls)

    def __repr__(self) -> str:
        return f"ParsedWeb({self.web.name!r}, {len(self)} pages)"

    def outcome(self, task: Task) -> Outcome:
        """What a fetch of this task gives."""
        found = self._reply(task.url)
        if task.kind is not TaskKind.PAGE:
            return replace(found, task=task, page=None)
        page = found.page
        if page is not None and page.depth != task.depth:
            page = replace(page, depth=task.depth)
        # `replace` of many fields costs more than this on the hottest path of the lab.
        return Outcome(
            task=task,
            status=found.status,
            page=page,
            location=found.location,
            error=found.error,
            detail=found.detail,
            wire=found.wire,
            elapsed=found.elapsed,
            retry_after=found.retry_after,
        )

    def page(self, url: str) -> Page | None:
        """The parsed page of a URL; None where there is none (an error, a redirect, nothing recorded)."""
        return self._reply(url).page

    def pages(self) -> Iterator[tuple[int, Page]]:
        """Every page there is, with its number, in the order of the web."""
        for i, url in enumerate(self.urls):
            if (page := self.page(url)) is not None:
                yield i, page

    def _reply(self, url: str) -> Outcome:
        known = self._replies.get(url)
        if known is None:
            known = self._read(url)
            if url in self.number:
                self._replies[url] = known
        return known

    def _read(self, url: str) -> Outcome:
        task = self._nothing
        try:
            response = self.web.get(url) or not_recorded(url)
        except FetchError as problem:
            return Outcome(task=task, error=problem.reason, detail=problem.detail)
        page = None
        is_robots = url.endswith("/robots.txt")
        if 200 <= response.status < 300 and not is_robots:
            try:
                page = self._cut(self._kept.pop(url) if url in self._kept else to_page(response, 0))
            except ParseError as problem:
                return Outcome(task=task, error=Reason.PARSE, detail=str(problem), wire=response.wire)
        return Outcome(
            task=task,
            status=response.status,
            page=page,
            location=response.header("location"),
            body=response.body if is_robots else b"",
            wire=response.wire,
            elapsed=response.elapsed,
            retry_after=retry_after(response.header("retry-after"), 0.0),
        )

    def _cut(self, page: Page) -> Page:
        links = page.links
        known = self.number
        keep = [i for i, target in enumerate(links.targets) if self.dead_links or target in known]
        # The same few addresses and tag paths stand on thousands of pages: one copy of each is enough.
        kept = Links(
            links.source,
            tuple([intern(links.targets[i]) for i in keep]),
            tuple([intern(links.anchors[i]) for i in keep]),
            tuple([links.contexts[i] for i in keep]),
            tuple([intern(links.paths[i]) for i in keep]),
            tuple([intern(links.rels[i]) for i in keep]),
        )
        return replace(page, links=kept, robots=page.robots if self.robots else frozenset())

    # the whole of it at once; for oracles and the choice of seeds only

    @cached_property
    def graph(self) -> Graph:
        """Every way from one recorded URL to another that a crawl may take."""
        self._kept = {} if self._replies else parse_cache.pages_of(self.web)
        admission = Admission(Scope())
        allowed = self._allowed()
        edges: list[tuple[int, int]] = []
        for i, url in enumerate(self.urls):
            if not allowed[i]:
                continue
            found = (self.number.get(target, -1) for target in self._ways(url, admission))
            edges.extend([(i, other) for other in found if other >= 0 and allowed[other]])
        return Graph.of(len(self.urls), edges)

    def _ways(self, url: str, admission: Admission) -> tuple[str, ...]:
        reply = self._reply(url)
        if reply.status in _REDIRECTS:
            target = urls.canonical(reply.location, url)
            return () if target is None else (target,)
        if reply.page is None or not admission.scope.keeps(reply.page.type):
            return ()
        more = (reply.page.refresh, reply.page.canonical)
        return (*admission.admit(reply.page, 1).links.targets, *(target for target in more if target))

    def _allowed(self) -> Mask:
        """Which URLs robots rules leave open."""
        if not self.robots:
            return np.ones(len(self.urls), np.bool_)
        rules: dict[str, Rules] = {}
        for url in self.urls:
            origin = urls.origin(url)
            if origin not in rules:
                reply = self._reply(f"{origin}/robots.txt")
                rules[origin] = Rules.parse(reply.status, reply.body, AGENT)
        return np.array([rules[urls.origin(url)].allowed(url) for url in self.urls], np.bool_)

    @cached_property
    def originals(self) -> NDArray[np.int64]:
        """For each URL the number of the page it is a copy of, in the order of the web; else its own."""
        known = Duplicates()
        found = np.arange(len(self.urls))
        for number, page in self.pages():
            repeated = known.find(page.digest, page.sketch)
            if repeated is None:
                known.add(number, page.digest, page.sketch)
            else:
                found[number] = repeated[0]
        return found

    @cached_property
    def origins(self) -> NDArray[np.int32] | None:
        """The origin of each URL by number; None where robots.txt is not asked for."""
        if not self.robots:
            return None
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(urls.origin(url), len(numbers)) for url in self.urls], np.int32)
