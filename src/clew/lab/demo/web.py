"""`DemoWeb`: the demo web as a recorded web, in memory, every page written when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from clew.errors import FetchError, Reason, UsageError
from clew.fetch.base import Response
from clew.lab.demo import extras
from clew.lab.demo.links import make_plan
from clew.lab.demo.plan import NO_ROBOTS, Node, PageKind, Role, Site
from clew.lab.demo.prose import vocabulary
from clew.lab.demo.render import PageRenderer, extra_paths, has_print

HTML = "text/html; charset=utf-8"
SLOW_SECONDS = 1.2
RETRY_AFTER = 120


class DemoWeb:
    """A small web of many hosts, made up from a seed, with one topic worth finding.

    Parameters: `seed`; `hosts` (16 or more) and `pages` (8 a host or more), the latter without copies,
    redirects, feeds and the calendar, which come on top; `topic`, one of `DemoWeb.topics()`.

    >>> web = DemoWeb()
    >>> web.get(web.seeds()[0]).status, web.formula()
    (200, '"wind farm" OR turbine')
    """

    name = "demo"

    def __init__(self, seed: int = 7, hosts: int = 40, pages: int = 2000, topic: str = "wind") -> None:
        if topic not in self.topics():
            raise UsageError(f"no topic {topic!r} in the demo web: choose one of {', '.join(self.topics())}.")
        if hosts < 16 or pages < 8 * hosts:
            raise UsageError("a demo web needs at least 16 hosts, and 8 pages for each.")
        self.plan = make_plan(seed, hosts, pages, topic)
        self._press = PageRenderer(self.plan)
        self._sites = {site.name: i for i, site in enumerate(self.plan.sites)}
        self._nodes = {node.url: node for node in self.plan.nodes}
        self._moved = {alias: node for node in self.plan.nodes if (alias := self._press.alias(node))}
        self._printed = {
            f"{node.url}?print=1": node for node in self.plan.nodes if has_print(node, self._site(node))
        }
        self._copies = self._mirror()
        self._extras = {site.name: frozenset(self._extra_paths(site)) for site in self.plan.sites}

    @staticmethod
    def topics() -> tuple[str, ...]:
        """The topics that can be asked for."""
        return tuple(topic.name for topic in vocabulary()[1].values() if topic.lang == "en")

    def seeds(self) -> tuple[str, ...]:
        """A portal and a newspaper: neither is about the topic."""
        starts = (Role.PORTAL, Role.NEWS)
        homes = [node for node in self.plan.nodes if node.kind is PageKind.HOME]
        return tuple(next(node.url for node in homes if self._site(node).role is role) for role in starts)

    def formula(self) -> str:
        """A predicate, as text, that the relevant pages satisfy (and their copies), and no others."""
        phrase, word = vocabulary()[1][self.plan.target].core
        return f'"{phrase}" OR {word}'

    def relevant(self) -> frozenset[str]:
        """The pages about the topic that can be reached and read, copies left out."""
        return frozenset(node.url for node in self.plan.nodes if self.plan.relevant(node))

    def copies(self) -> dict[str, str]:
        """Exact and printed copies: their URL -> the URL of the original."""
        return {url: node.url for url, node in {**self._copies, **self._printed}.items()}

    def labels(self, url: str) -> tuple[str, ...]:
        """The topic of a page and the kind of page it is; nothing for what is no page."""
        node = self._nodes.get(url) or self._copies.get(url) or self._printed.get(url)
        return () if node is None else (node.topic, node.kind.value)

    def urls(self) -> Iterator[str]:
        """Every URL that gives a reply, whatever its status."""
        broken = {site.name for site in self.plan.sites if site.role in (Role.SILENT, Role.BREAKING)}
        for site in self.plan.sites:
            start = f"http://{site.name}"
            if site.name in broken:
                continue
            if site.role not in NO_ROBOTS:
                yield f"{start}/robots.txt"
            if self._has_sitemap(site):
                yield f"{start}/sitemap.xml"
            yield from (start + path for path in self._extra_paths(site))
        for known in (self._nodes, self._moved, self._printed, self._copies):
            yield from (url for url in known if url.split("/")[2] not in broken)

    def get(self, url: str) -> Response | None:
        """The reply to a canonical URL; raises `FetchError` on hosts that never give one."""
        scheme, _, rest = url.partition("://")
        name, slash, path = rest.partition("/")
        if scheme != "http" or name not in self._sites:
            return None
        site = self.plan.sites[self._sites[name]]
        if site.role is Role.SILENT:
            raise FetchError(Reason.TIMEOUT, f"{name} did not answer")
        if site.role is Role.BREAKING:
            raise FetchError(Reason.RESET, f"{name} broke the connection")
        if site.role is Role.BUSY:
            return _reply(url, "text/plain", b"Come back later.\n", 503, ("Retry-After", str(RETRY_AFTER)))
        return self._page(url, site) or self._extra(url, site, slash + path)

    def _page(self, url: str, site: Site) -> Response | None:
        if node := self._nodes.get(url):
            return self._written(url, site, self._press.page(node))
        if node := self._copies.get(url):
            return self._written(url, site, self._press.page(node))
        if node := self._printed.get(url):
            return self._written(url, site, self._press.page(node, printed=True))
        if node := self._moved.get(url):
            status = 302 if site.role is Role.SHORTENER else 301
            return _redirect(url, node.url if status == 302 else node.url.partition(site.name)[2], status)
        return None

    def _written(self, url: str, site: Site, text: str) -> Response:
        if site.role is Role.GERMAN:  # an old server: the charset stands in the page alone
            return _reply(url, "text/html", text.encode("windows-1252", "xmlcharrefreplace"))
        return _reply(url, HTML, text.encode(), elapsed=SLOW_SECONDS if site.role is Role.SLOW else 0.0)

    def _extra(self, url: str, site: Site, path: str) -> Response | None:
        if path == "/robots.txt":
            return self._robots(url, site)
        if path == "/sitemap.xml" and self._has_sitemap(site):
            return _reply(url, "application/xml", extras.sitemap(self._articles(site)).encode())
        if path not in self._extras[site.name]:
            return None
        if path.startswith("/calendar/"):
            return _reply(url, HTML, extras.calendar(self.plan.seed, site, path).encode())
        if path in HOPS:
            return _redirect(url, HOPS[path], 302)
        return self._file(url, site, path)

    def _file(self, url: str, site: Site, path: str) -> Response:
        if path == "/feed.xml":
            return _reply(url, "application/rss+xml", extras.feed(site, self._articles(site)[:10]).encode())
        if path == "/notes.txt":
            return _reply(url, "text/plain; charset=utf-8", extras.notes(self.plan.seed, site).encode())
        if path == "/moved.html":
            return _reply(url, HTML, b'<meta http-equiv="refresh" content="0; url=/"><title>Moved</title>')
        return _reply(url, *extras.odd(self.plan.seed, site, path))

    def _robots(self, url: str, site: Site) -> Response | None:
        if site.role is Role.CLOSED:
            return _reply(url, "text/plain", b"", 503)
        if site.role in NO_ROBOTS:
            return None
        delay = site is self.plan.sites[-1]
        text = extras.robots(site, delay=delay, sitemap=self._has_sitemap(site))
        return _reply(url, "text/plain", text.encode())

    def _extra_paths(self, site: Site) -> tuple[str, ...]:
        if site.role in (Role.MIRROR, Role.SHORTENER):
            return ()
        more = tuple(path for path in HOPS if site.style == 2)
        months = tuple(extras.calendar_paths()) if site.role is Role.CALENDAR else ()
        return tuple(dict.fromkeys((*extra_paths(site), *more, *months)))

    def _has_sitemap(self, site: Site) -> bool:
        return site.role is Role.TOPICAL and site.style == 1

    def _articles(self, site: Site) -> list[Node]:
        return self.plan.of(self._sites[site.name], PageKind.ARTICLE)

    def _site(self, node: Node) -> Site:
        return self.plan.sites[node.site]

    def _mirror(self) -> dict[str, Node]:
        """The mirror's pages: its host's name in the place of another's."""
        mirror = next(site for site in self.plan.sites if site.role is Role.MIRROR)
        origin = next(
            i for i, site in enumerate(self.plan.sites) if site.role is Role.TOPICAL and site.relative
        )
        name = self.plan.sites[origin].name
        public = [
            node for node in self.plan.nodes if node.site == origin and node.kind is not PageKind.PRIVATE
        ]
        return {node.url.replace(name, mirror.name, 1): node for node in public}

    def __repr__(self) -> str:
        plan = self.plan
        return f"DemoWeb(seed={plan.seed}, {len(plan.sites)} hosts, {len(plan.nodes)} pages, {plan.target!r})"


#: Redirects that lead somewhere after three steps, and redirects that do not.
HOPS = {"/hop/1": "/hop/2", "/hop/2": "/hop/3", "/hop/3": "/", "/loop/a": "/loop/b", "/loop/b": "/loop/a"}


def _reply(
    url: str, kind: str, body: bytes, status: int = 200, *headers: tuple[str, str], elapsed: float = 0.0
) -> Response:
    sent = (("Content-Type", kind), *headers)
    return Response(url=url, status=status, headers=sent, body=body, wire=len(body), elapsed=elapsed)


def _redirect(url: str, to: str, status: int) -> Response:
    return _reply(url, "text/plain", b"", status, ("Location", to))
