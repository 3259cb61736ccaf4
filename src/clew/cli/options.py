"""The settings of a crawl as options of the command line, one field each.

Values stay text here: `clew.run.config` converts and checks them, whichever way they came. A field
that is None was not given. A test holds these names equal to those of `CrawlConfig`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from cyclopts import Group, Parameter

FIND = Group("What to find", sort_key=1)
BUDGET = Group("When to stop", help="'none' lifts a limit.", sort_key=2)
SCOPE = Group("Where to look", sort_key=3)
MANNERS = Group("How to ask", sort_key=4)
MACHINE = Group("This machine", sort_key=5)

Texts = tuple[str, ...] | None


def _many(metavar: str, group: Group) -> Parameter:
    return Parameter(metavar=metavar, group=group, negative=())


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """Every setting but the seeds."""

    match: Annotated[
        str | None,
        Parameter(name=("--match", "-m"), metavar="FORMULA", group=FIND, allow_leading_hyphen=True),
    ] = None
    """Which pages to find, such as '"wind farm" AND lang:en'."""
    threshold: Annotated[str | None, Parameter(metavar="X", group=FIND)] = None
    """A page whose degree is at least this is a find (0.5)."""
    semantics: Annotated[str | None, Parameter(metavar="NAME", group=FIND)] = None
    """How degrees combine: minmax or product (minmax)."""
    strategy: Annotated[str | None, Parameter(metavar="NAME", group=FIND)] = None
    """Which link next: intelligent, best-first, breadth-first, random or a baseline (intelligent)."""
    weights: Annotated[str | None, Parameter(metavar="NAME|NAME=X,…", group=FIND)] = None
    """How the parts of the score are weighed: learned, balanced, product, or weights by name."""
    factors: Annotated[Texts, _many("NAME", FIND)] = None
    """The reasons that `intelligent` combines (all of them)."""
    option: Annotated[Texts, _many("NAME=VALUE", FIND)] = None
    """An option of the strategy; see the strategies' reference."""
    use: Annotated[Texts, _many("CRAWL|FILE", FIND)] = None
    """Begin with what earlier crawls learned."""
    seed: Annotated[str | None, Parameter(metavar="N", group=FIND)] = None
    """The dice: one seed gives one crawl (0)."""

    pages: Annotated[str | None, Parameter(metavar="N", group=BUDGET)] = None
    """Stop after so many pages (1000)."""
    matches: Annotated[str | None, Parameter(metavar="N", group=BUDGET)] = None
    """Stop after so many finds (none)."""
    time: Annotated[str | None, Parameter(metavar="DURATION", group=BUDGET)] = None
    """Stop after a time such as 90s, 30m or 2h (none)."""
    bytes: Annotated[str | None, Parameter(metavar="SIZE", group=BUDGET)] = None
    """Stop after receiving so much, such as 500MB (none)."""
    requests: Annotated[str | None, Parameter(metavar="N", group=BUDGET)] = None
    """Stop after so many requests, robots.txt and redirects counted (none)."""
    per_host: Annotated[str | None, Parameter(metavar="N", group=BUDGET)] = None
    """Fetch at most so many pages from one host (none)."""
    interest: Annotated[str | None, Parameter(metavar="X", group=BUDGET)] = None
    """Stop when for 50 pages nothing promised X times what chance gives, and nothing was found (none)."""
    max_size: Annotated[str | None, Parameter(metavar="N", group=BUDGET)] = None
    """Keep the best N candidates at hand; the others wait on disk until there is room (none)."""

    scope: Annotated[str | None, Parameter(metavar="NAME", group=SCOPE)] = None
    """Stay with the seeds' domain, host or prefix, or look at all (all)."""
    include: Annotated[Texts, _many("PATTERN", SCOPE)] = None
    """Only URLs that match a glob or /regex/; can be repeated."""
    exclude: Annotated[Texts, _many("PATTERN", SCOPE)] = None
    """No URLs that match a glob or /regex/; can be repeated."""
    depth: Annotated[str | None, Parameter(metavar="N", group=SCOPE)] = None
    """At most so many links away from a seed (none)."""
    types: Annotated[str | None, Parameter(metavar="NAME,…", group=SCOPE)] = None
    """Page types to keep (html,xhtml,text,feed,pdf)."""
    nofollow: Annotated[bool | None, Parameter(group=SCOPE)] = None
    """Leave out links marked rel=nofollow (no). Pages that say nofollow themselves are always obeyed."""
    sitemaps: Annotated[str | None, Parameter(metavar="off|robots|on", group=SCOPE)] = None
    """Read the sitemaps that robots.txt names, or /sitemap.xml where it names none, too (robots)."""
    traps: Annotated[bool | None, Parameter(group=SCOPE)] = None
    """Leave endless calendars, copies, error pages and mirrors alone once recognised (yes)."""

    delay: Annotated[str | None, Parameter(metavar="DURATION", group=MANNERS)] = None
    """Time between two requests to one host (1s)."""
    concurrency: Annotated[str | None, Parameter(metavar="N", group=MANNERS)] = None
    """Requests in flight at once, over all hosts (16)."""
    proxy: Annotated[str | None, Parameter(metavar="URL", group=MANNERS)] = None
    """An HTTP proxy for every request, http://host:port."""
    header: Annotated[Texts, _many("'NAME: VALUE'", MANNERS)] = None
    """A header for every request; can be repeated. Secrets are not stored."""
    user_agent: Annotated[str | None, Parameter(metavar="TEXT", group=MANNERS)] = None
    """Who asks; say how to reach you."""
    timeout: Annotated[str | None, Parameter(metavar="DURATION", group=MANNERS)] = None
    """Give up on a reply after this (30s)."""
    max_body: Annotated[str | None, Parameter(metavar="SIZE", group=MANNERS)] = None
    """Cut a page after so much, decompressed (10MB)."""
    allow_private: Annotated[Texts, _many("HOST|CIDR", MANNERS)] = None
    """A private host or network that may be visited; can be repeated."""
    own: Annotated[Texts, _many("HOST", MANNERS)] = None
    """A host of your own, which may be asked fast and often; can be repeated."""
    ignore_robots: Annotated[bool | None, Parameter(group=MANNERS)] = None
    """Do not ask hosts of your own for robots.txt (no; needs --own)."""
    insecure: Annotated[Texts, _many("HOST", MANNERS)] = None
    """A host whose TLS certificate is not checked; can be repeated."""
    cookies: Annotated[str | None, Parameter(metavar="off|session", group=MANNERS)] = None
    """Keep cookies while the crawl runs, each for the origin that set it (off)."""
    cookie_file: Annotated[str | None, Parameter(metavar="FILE", group=MANNERS)] = None
    """Cookies of your own to send, in Netscape format."""
    browser: Annotated[Texts, _many("HOST|auto", MANNERS)] = None
    """Render pages of a host (* for all), or those that look empty (auto), in Chromium; can be repeated."""
    browser_path: Annotated[str | None, Parameter(metavar="FILE", group=MANNERS)] = None
    """Chromium or Chrome, if it is not on the path."""

    cache: Annotated[str | None, Parameter(metavar="DIR", group=MACHINE)] = None
    """A page cache that several crawls share."""
    cache_age: Annotated[str | None, Parameter(metavar="DURATION", group=MACHINE)] = None
    """How old a cached page may be (7d)."""
    ordered: Annotated[bool | None, Parameter(group=MACHINE)] = None
    """Settle replies in the order asked, so that a live crawl can be repeated exactly (no)."""
    parse_workers: Annotated[str | None, Parameter(metavar="N", group=MACHINE)] = None
    """Processes that parse pages; 0 parses in the main one (chosen by the number of cores)."""
    metrics_port: Annotated[str | None, Parameter(metavar="PORT", group=MACHINE)] = None
    """Serve Prometheus metrics on 127.0.0.1:PORT."""

    def given(self) -> dict[str, object]:
        """The settings that were given."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}
