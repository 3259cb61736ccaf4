"""`CrawlConfig`: every setting of a crawl, declared once, checked, frozen.

A field says all there is to say of a setting: its type and what it may be, its default, by `Setting` how it
is shown, and in its docstring what it means (see `clew.run.declare`). Options of the command line, `CLEW_*`
variables, keys of `clew.toml`, the file that `clew init` writes, the tables of the documentation and the
library's `CrawlSettings` are made from that. A setting is the same word everywhere: `--cache-age`,
`CLEW_CACHE_AGE`, `cache-age`, `cache_age`. How the layers are put together is in `clew.run.settings`.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from clew.fetch.settings import default_user_agent, is_credential
from clew.policy import StopRule
from clew.policy.scope import DEFAULT_KINDS
from clew.run import checks
from clew.run.declare import ASK, FIND, LOOK, MACHINE, STOP, Declared, Setting
from clew.strategy import STRATEGIES
from clew.strategy import find as find_strategy
from clew.units import seconds, size

DEFAULT_DELAY = 1.0
#: Hosts that are not the user's own are never asked more often than this.
MIN_DELAY = 0.25
REDACTED = "<redacted>"

_OR_NONE = BeforeValidator(checks.none)
Texts = tuple[str, ...]
HostNames = tuple[Annotated[str, AfterValidator(checks.host)], ...]
Patterns = tuple[Annotated[str, AfterValidator(checks.url_pattern)], ...]
Seconds = Annotated[float, BeforeValidator(seconds)]
Size = Annotated[int, BeforeValidator(size)]
Limit = Annotated[Annotated[int, Field(ge=1)] | None, _OR_NONE]
Place = Annotated[Path | None, _OR_NONE]


class CrawlConfig(BaseModel):
    """The settings of one crawl.

    >>> config = CrawlConfig(seeds=("https://example.org/",), match="wind", time="2h")
    >>> config.time, config.pages, config.delay
    (7200.0, 1000, 1.0)
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=False, use_attribute_docstrings=True
    )

    seeds: Annotated[
        Texts, AfterValidator(checks.seeds), Setting(FIND, fixed=True, example=("https://example.org/",))
    ]
    """Pages to start from: full http(s) URLs.

    On the command line they are arguments."""
    match: Annotated[
        str,
        BeforeValidator(checks.formula),
        Setting(
            FIND, "[NAME=]FORMULA", fixed=True, short="-m", example='"wind farm" AND lang:en', repeats=True
        ),
    ]
    """Which pages to find: a formula such as `'"wind farm" AND lang:en'`; see [predicates](predicate.md).

    Several formulas in one crawl have names, `NAME=FORMULA`, and the option is repeated; in `clew.toml` they
    are a table. See [interests](interests.md)."""
    share: Annotated[Literal["even", "greedy"], Setting(FIND, "NAME", fixed=True)] = "even"
    """How several formulas share the pages: `even`, or `greedy` for those that are found; see
    [interests](interests.md)."""
    like: Annotated[Texts, Setting(FIND, "PLACE", fixed=True, example=("examples",))] = ()
    """Find pages like those at a place, a folder, a file or a URL; can be repeated; instead of a formula.

    Short for the formula `like:PLACE OR …` with a `threshold` of 0.3, unless another is given. The examples
    need not be where the crawl starts."""
    threshold: Annotated[
        float | Literal["start"], BeforeValidator(checks.threshold), Setting(FIND, "X|start", fixed=True)
    ] = 0.5
    """A page whose degree is at least this is a find; `start`: the least above 0 of the start pages'.

    For `start` these are fetched and judged once before the crawl begins."""
    semantics: Annotated[Literal["minmax", "product", "weighted"], Setting(FIND, "NAME", fixed=True)] = (
        "minmax"
    )
    """How degrees combine: `minmax`, `product` or `weighted`.

    With `minmax` AND is the least, OR the greatest; with `weighted` AND is the geometric mean."""
    link_formula: Annotated[Literal["whole", "any", "rarer"], Setting(FIND, "NAME", fixed=True)] = "whole"
    """What links are held against: the `whole` formula, `any` of what AND joins, or the `rarer` of it."""
    topics: Annotated[Place, Setting(FIND, "DIR", shown="topics, if it is there", example="topics")] = None
    """The folder of the topics that the formula names; see [topics](topics.md).

    In `clew.toml` relative to the file. It is read when the crawl begins: a crawl keeps the models it began
    with, and says so if they have changed when it is resumed."""
    strategy: Annotated[str, BeforeValidator(checks.strategy_name), Setting(FIND, "NAME", fixed=True)] = (
        "intelligent"
    )
    """Which link next: `intelligent`, `best-first`, `breadth-first`, …; see [strategies](strategies.md)."""
    weights: Annotated[
        dict[str, float] | str,
        BeforeValidator(checks.weighed),
        Setting(FIND, "NAME|NAME=X,…", fixed=True, shown="the strategy's own", example={"content": 1.0}),
    ] = {}
    """How the parts of the score are weighed: `learned`, `balanced`, `product`, or weights by name.

    In `clew.toml` weights by name are a table."""
    factors: Annotated[
        Texts, Setting(FIND, "NAME", fixed=True, shown="all", example=("content", "sibling"))
    ] = ()
    """The reasons that `intelligent` combines; can be repeated."""
    option: Annotated[
        tuple[Annotated[str, AfterValidator(checks.strategy_option)], ...],
        Setting(FIND, "NAME=VALUE", fixed=True, example=("refresh=0.02",)),
    ] = ()
    """An option of the strategy; can be repeated; see [strategies](strategies.md)."""
    tunnel: Annotated[
        Literal["auto", "climb", "drop", "reweight", "off"],
        BeforeValidator(checks.off),
        Setting(FIND, "NAME", fixed=True),
    ] = "auto"
    """Widen what is sought when finds become rare: `climb`, `drop`, `reweight` or `off`; see
    [tunnelling](tunnelling.md).

    What counts as a find stays the same. `auto` climbs the taxonomy with `ariadne` and a formula of topics,
    and is off otherwise."""
    tunnel_session: Annotated[int, Field(ge=10, le=1_000_000), Setting(FIND, "N", fixed=True)] = 100
    """Pages between two looks at whether finds have become rare."""
    tunnel_when: Annotated[Literal["lost", "paper"], Setting(FIND, "NAME", fixed=True)] = "lost"
    """Widen on trial, when the scent is `lost`, or by the rule of the `paper`."""
    tunnel_by: Annotated[Literal["visited", "lowered"], Setting(FIND, "NAME", fixed=True)] = "visited"
    """Which part of a formula is rare: by pages that were about it, or by how often it `lowered` a degree."""
    tunnel_frontier: Annotated[Literal["whole", "new"], Setting(FIND, "NAME", fixed=True)] = "whole"
    """At a change, score the `whole` frontier anew, or `new` links only."""
    confidence: Annotated[
        Annotated[float, Field(gt=0, lt=1)] | None,
        BeforeValidator(checks.unless_off),
        Setting(FIND, "X|off", fixed=True, shown="off", example=0.9),
    ] = None
    """Suspend a direction that has gone deeper without a find than a share X of the finds came, such as 0.9;
    see [confidence](confidence.md).

    What is suspended waits behind everything else, and is taken up when nothing else is left or a find links
    to it."""
    prune: Annotated[bool, Setting(FIND, fixed=True)] = False
    """Follow no links of pages that do not satisfy what is sought; those of start pages are followed.

    Finds that lie behind other pages are lost by it: there to compare with; see
    [tunnelling](tunnelling.md)."""
    use: Annotated[Texts, Setting(FIND, "CRAWL|FILE", fixed=True, example=("earlier-crawl",))] = ()
    """Begin with what earlier crawls learned: their directories, or knowledge files; can be repeated."""
    visits: Annotated[
        Place,
        AfterValidator(checks.absolute),
        Setting(FIND, "VISITS", fixed=True, shown="", example="visits.db"),
    ] = None
    """Go by what people visited, too: a database of `clew visits import`; see [people's logs](visits.md).

    With it, seeds can be left out. In `clew.toml` relative to the file."""
    k: Annotated[
        Annotated[int, Field(ge=1)] | None,
        _OR_NONE,
        Setting(FIND, "N", fixed=True, shown="3, at home 1", example=5),
    ] = None
    """Know of pages only that at least so many people visited.

    By default 3, and 1 where `visits` holds nothing but your own browser's history."""
    visits_a_day: Annotated[int, Field(ge=1), Setting(FIND, "N", fixed=True)] = 2000
    """Whoever has more visits on one day is a group, and left out of `visits`."""
    visits_a_minute: Annotated[int, Field(ge=1), Setting(FIND, "N", fixed=True)] = 100
    """Whoever has more visits in one minute is a group, and left out of `visits`."""
    session_gap: Annotated[Seconds, Setting(FIND, "DURATION", fixed=True)] = 1800.0
    """Visits of a person that lie further apart belong to different sessions."""
    random_seed: Annotated[int, Field(ge=0, lt=2**63), Setting(FIND, "N", fixed=True, former="seed")] = 0
    """The dice: the same number gives the same crawl."""

    pages: Annotated[Limit, Setting(STOP, "N")] = 1000
    """Stop after so many pages, fetched and judged."""
    matches: Annotated[Limit, Setting(STOP, "N")] = None
    """Stop after so many finds."""
    time: Annotated[Seconds | None, _OR_NONE, Setting(STOP, "DURATION")] = None
    """Stop after a time such as `90s`, `30m` or `2h`, over all sessions."""
    bytes: Annotated[Size | None, _OR_NONE, Setting(STOP, "SIZE")] = None
    """Stop after receiving so much, such as `500MB`."""
    requests: Annotated[Limit, Setting(STOP, "N")] = None
    """Stop after so many requests, robots.txt and redirects counted."""
    per_host: Annotated[Limit, Setting(STOP, "N")] = None
    """Fetch at most so many pages from one host.

    The other hosts go on. What is left waits, and is fetched when the crawl is resumed with more."""
    interest: Annotated[Annotated[float, Field(gt=0)] | None, _OR_NONE, Setting(STOP, "X")] = None
    """Stop when for 50 pages nothing promised X times what chance gives, and nothing was found.

    For `intelligent` only. The crawl then says "nothing interesting"."""
    stop: Annotated[
        str,
        AfterValidator(checks.stop_rule),
        Setting(STOP, "RULE", example="stale >= 2000 or precision < 0.02 over 500"),
    ] = ""
    """Stop when a rule holds, such as `'stale >= 2000 or precision < 0.02 over 500'`; see
    [stopping](stopping.md).

    The limits above hold beside it. `clew status` says how far each clause is."""
    known: Annotated[
        Place, AfterValidator(checks.absolute), Setting(STOP, "FILE", shown="", example="known.txt")
    ] = None
    """Targets you know already, an address a line, to see how many of them the crawl comes upon by itself.

    It is not told of them: with and without them it is the same crawl. See [recall](recall.md). In
    `clew.toml` relative to the file."""
    max_size: Annotated[Annotated[int, Field(ge=10)] | None, _OR_NONE, Setting(STOP, "N")] = None
    """Keep the best N candidates at hand; the others wait on disk until there is room.

    At least 10. What is worth less stays queued on disk, is not scored anew, and comes back when the list has
    half as many. Bounds work, not memory: see [strategies](strategies.md)."""

    scope: Annotated[Literal["all", "domain", "host", "prefix"], Setting(LOOK, "NAME", fixed=True)] = "all"
    """Look at `all`, or stay with the seeds' registrable `domain`, `host` or folder (`prefix`)."""
    include: Annotated[Patterns, Setting(LOOK, "PATTERN", fixed=True, example=("*/articles/*",))] = ()
    """Only URLs that match a glob or `/regex/`; can be repeated."""
    exclude: Annotated[Patterns, Setting(LOOK, "PATTERN", fixed=True, example=("/[?&]sort=/",))] = ()
    """No URLs that match a glob or `/regex/`; can be repeated."""
    depth: Annotated[Annotated[int, Field(ge=0)] | None, _OR_NONE, Setting(LOOK, "N", fixed=True)] = None
    """At most so many links away from the nearest seed; 0 fetches the seeds alone."""
    types: Annotated[
        tuple[Annotated[str, AfterValidator(checks.page_type)], ...], Setting(LOOK, "NAME,…", fixed=True)
    ] = DEFAULT_KINDS
    """Page types to keep.

    `pdf` needs the extra `clew[pdf]`."""
    links: Annotated[Literal["pages", "more"], Setting(LOOK, "NAME", fixed=True)] = "pages"
    """Follow links to `pages`, or `more`: URLs in text, scripts, `data-*`, `cite` and the like, too.

    See [parsing](parsing.md#links-of-every-kind)."""
    nofollow: Annotated[bool, Setting(LOOK, fixed=True)] = False
    """Leave out single links marked `rel=nofollow`.

    That mark says whom a page vouches for, not what may be fetched, so it is ignored unless asked for. A page
    that says `nofollow` about itself, by `meta robots` or `X-Robots-Tag`, is always obeyed."""
    sitemaps: Annotated[
        Literal["off", "robots", "on"], BeforeValidator(checks.on_or_off), Setting(LOOK, "off|robots|on")
    ] = "robots"
    """Read the sitemaps that robots.txt names (`robots`), or `/sitemap.xml` where it names none, too (`on`).

    See [politeness](politeness.md#sitemaps)."""
    traps: Annotated[bool, Setting(LOOK)] = True
    """Leave endless calendars, growing queries, copies, error pages and mirrors alone once recognised.

    See [politeness](politeness.md#traps)."""

    delay: Annotated[Seconds, Field(le=3600), Setting(ASK, "DURATION")] = DEFAULT_DELAY
    """Time between two requests to one host or address.

    More where a host asks for it, is slow or is busy. Under 0.25 s only for hosts named by `own`; others then
    keep 1 s."""
    concurrency: Annotated[int, Field(ge=1, le=4096), Setting(ASK, "N")] = 16
    """Requests in flight at once, over all hosts.

    One at a time for each host that is not your own."""
    proxy: Annotated[
        str | None,
        _OR_NONE,
        AfterValidator(checks.proxy),
        Setting(ASK, "URL", shown="", example="http://127.0.0.1:8089"),
    ] = None
    """An HTTP proxy for every request, `http://host:port`.

    Proxy variables of the environment are not used."""
    header: Annotated[
        tuple[Annotated[str, AfterValidator(checks.header)], ...],
        Setting(ASK, "'NAME: VALUE'", example=("Accept-Language: en",)),
    ] = ()
    """A header for every request; can be repeated.

    Secret ones go to the seeds' own origins only, and are not stored."""
    user_agent: Annotated[
        str,
        AfterValidator(checks.agent),
        Setting(ASK, "TEXT", shown="clew/VERSION", example="mybot/1.0 (me@example.org)"),
    ] = default_user_agent()
    """Who asks; say how to reach you.

    Its first word is the name robots.txt is read for."""
    timeout: Annotated[Seconds, Field(gt=0, le=3600), Setting(ASK, "DURATION")] = 30.0
    """Give up on a reply after this, from asking to its last byte."""
    max_body: Annotated[Size, Field(ge=1), Setting(ASK, "SIZE")] = 10_000_000
    """Cut a page after so much, decompressed, and mark it as truncated."""
    allow_private: Annotated[
        tuple[Annotated[str, AfterValidator(checks.private_host)], ...],
        Setting(ASK, "HOST|CIDR", example=("10.0.0.0/8",)),
    ] = ()
    """A private host, address or network that may be visited; can be repeated."""
    own: Annotated[
        tuple[Annotated[str, AfterValidator(checks.own_host)], ...],
        Setting(ASK, "HOST", example=("www.example.org",)),
    ] = ()
    """A host of your own, which may be asked fast and often; can be repeated.

    Your word that a host is yours: `example.org`, `*.example.org`. The only thing that permits a delay under
    0.25 s, several requests at once to one host, and `ignore-robots`. `*` is for a recorded web: it needs a
    `proxy` on this machine."""
    ignore_robots: Annotated[bool, Setting(ASK)] = False
    """Do not ask hosts of your own for robots.txt."""
    insecure: Annotated[HostNames, Setting(ASK, "HOST")] = ()
    """A host whose TLS certificate is not checked; can be repeated."""
    cookies: Annotated[
        Literal["off", "session"], BeforeValidator(checks.off), Setting(ASK, "off|session")
    ] = "off"
    """Keep cookies while it runs, each for the origin that set it; see [fetching](fetching.md#cookies)."""
    cookie_file: Annotated[Place, Setting(ASK, "FILE", shown="", example="cookies.txt")] = None
    """Cookies of your own to send, in Netscape format.

    The format of curl and of browsers' extensions. In `clew.toml` relative to the file. It is read when the
    crawl begins and when it is resumed, and not stored."""
    fetcher: Annotated[str | None, _OR_NONE, Setting(ASK, "NAME", shown="http", example="http")] = None
    """The way to the web: `http`, or one that another package brings;
    see [fetching](fetching.md#a-fetcher-of-ones-own).

    Cookies, page cache and browser stand before it as before `http`."""
    browser: Annotated[HostNames, Setting(ASK, "HOST|auto", example=("auto",))] = ()
    """Render pages of a host (`*` for all), or those that look empty (`auto`), in Chromium; can be repeated;
    see [fetching](fetching.md#pages-made-by-scripts).

    Hosts are written `app.example` or `*.app.example`. Needs the extra `clew[browser]` and a Chromium or
    Chrome of the system."""
    browser_path: Annotated[Place, Setting(ASK, "FILE", shown="on the path", example="/usr/bin/chromium")] = (
        None
    )
    """The Chromium or Chrome to use, if it is not on the path.

    In `clew.toml` relative to the file."""

    cache: Annotated[Place, Setting(MACHINE, "DIR", shown="", example="cache")] = None
    """A page cache that several crawls share.

    In `clew.toml` relative to the file."""
    cache_age: Annotated[Seconds, Setting(MACHINE, "DURATION")] = 7 * 86400.0
    """How old a cached page may be."""
    batch: Annotated[int, Field(ge=1, le=1024), Setting(MACHINE, "N")] = 1
    """Replies settled together, at most: learned from at once and saved as one; fewer learn sooner."""
    ordered: Annotated[bool, Setting(MACHINE, fixed=True)] = False
    """Settle replies in the order asked, so that a crawl of an unchanged web gives the same trace; slower."""
    parse_workers: Annotated[
        Annotated[int, Field(ge=0, le=64)] | None,
        _OR_NONE,
        Setting(MACHINE, "N", shown="large pages only", example=2),
    ] = None
    """Processes that parse pages; 0 parses all in the main one.

    They are handed several pages at a time. By default pages up to 128 KB are parsed in the main process,
    larger ones in others, one for each further core up to 4."""
    predicate_timeout: Annotated[
        Annotated[Seconds, Field(gt=0, le=3600)] | None, _OR_NONE, Setting(MACHINE, "DURATION")
    ] = None
    """Ask functions that a formula names by `py:` in a process of their own, and no longer than this for a
    page.

    A page that takes longer is no find; `clew status` says how many there were."""
    metrics_port: Annotated[
        Annotated[int, Field(ge=1, le=65535)] | None,
        _OR_NONE,
        Setting(MACHINE, "PORT", shown="", example=9464),
    ] = None
    """Serve Prometheus metrics on `http://127.0.0.1:PORT/metrics`."""

    @model_validator(mode="before")
    @classmethod
    def _take_former_names(cls, values: Any) -> Any:
        return checks.likened(current_names(values)) if isinstance(values, dict) else values

    # what fields may be together

    @model_validator(mode="after")
    def _check_start(self) -> CrawlConfig:
        if self.visits is None and not find_strategy(self.strategy).capabilities.follows:
            raise ValueError(
                f"{self.strategy!r} goes by what people visited: give --visits, a database that "
                "clew visits import makes"
            )
        if not self.seeds and self.visits is None:
            raise ValueError("a crawl needs at least one page to start from, such as https://example.org/")
        return self

    @model_validator(mode="after")
    def _check_interest(self) -> CrawlConfig:
        if self.interest is not None and not find_strategy(self.strategy).capabilities.interest:
            able = ", ".join(name for name in STRATEGIES if find_strategy(name).capabilities.interest)
            raise ValueError(f"{self.strategy!r} cannot tell interest: choose a strategy that can ({able})")
        return self

    @model_validator(mode="after")
    def _check_known(self) -> CrawlConfig:
        if self.stop and self.known is None and StopRule.parse(self.stop).needs("known"):
            raise ValueError(
                "the clause 'known' goes by targets you know already: give --known FILE, an address a line, "
                "or write recall >= 0.9"
            )
        return self

    @model_validator(mode="after")
    def _check_manners(self) -> CrawlConfig:
        if "*" in self.own and not self.proxy_is_loopback():
            raise ValueError(
                "own '*' claims the whole web: it is for a recorded web behind a proxy on this machine, "
                "so give --proxy http://127.0.0.1:PORT with it, or name your own hosts"
            )
        if self.delay < MIN_DELAY and not self.own:
            raise ValueError(
                f"a delay under {MIN_DELAY:g} s is for hosts of your own: name them with --own HOST, "
                f"or keep the delay at {MIN_DELAY:g} s or more"
            )
        if self.ignore_robots and not self.own:
            raise ValueError("robots.txt can be ignored on hosts of your own only: name them with --own HOST")
        if self.sends_cookies() and self.cache is not None:
            raise ValueError(
                "pages asked for with cookies may be meant for you alone, and a page cache is shared: "
                "leave out --cache, or --cookies and --cookie-file"
            )
        if self.sends_cookies() and any(name.lower() == "cookie" for name, _ in self.headers()):
            raise ValueError(
                "give cookies one way: by --cookies and --cookie-file, or by --header 'Cookie: …'"
            )
        if "*" in self.insecure:
            raise ValueError("insecure takes host names: TLS is not switched off for the whole web")
        return self

    # questions

    def owns(self, host: str) -> bool:
        """Whether the user said that a host is theirs.

        >>> CrawlConfig(seeds=("http://a.example/",), match="x", own=("*.a.example",)).owns("www.a.example")
        True
        """
        return any(checks.host_matches(host, pattern) for pattern in self.own)

    def sends_cookies(self) -> bool:
        """Whether requests may carry cookies."""
        return self.cookies != "off" or self.cookie_file is not None

    def delay_for(self, host: str) -> float:
        """Seconds between two requests to a host; one too short for others' hosts holds for own ones only."""
        return self.delay if self.delay >= MIN_DELAY or self.owns(host) else DEFAULT_DELAY

    def strategy_options(self) -> dict[str, object]:
        """`option`, `factors` and a way to weigh, as the strategy takes them."""
        given: dict[str, object] = {name: value for name, _, value in (o.partition("=") for o in self.option)}
        if self.factors:
            given["factors"] = self.factors
        if isinstance(self.weights, str):
            given["weights"] = self.weights
        return given

    def headers(self) -> tuple[tuple[str, str], ...]:
        """`header` as pairs of name and value."""
        found = [checks.HEADER.fullmatch(header) for header in self.header]
        return tuple((match[1], match[2].strip()) for match in found if match)

    def proxy_is_loopback(self) -> bool:
        """Whether the proxy is on this machine."""
        host = (urlsplit(self.proxy).hostname or "") if self.proxy else ""
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def missing_secrets(self) -> tuple[str, ...]:
        """Names of the headers (or `proxy`) whose values were not stored and must be given again."""
        names = [name for name, value in self.headers() if value == REDACTED]
        if self.proxy and urlsplit(self.proxy).password == "redacted":
            names.append("proxy")
        return tuple(names)

    # at rest

    def to_json(self) -> str:
        """The settings as JSON text, secrets redacted: what a crawl directory keeps."""
        plain = self.model_dump(mode="json")
        plain["header"] = [
            f"{name}: {REDACTED if is_credential(name) else value}" for name, value in self.headers()
        ]
        if self.proxy and (parts := urlsplit(self.proxy)).password:
            place = parts.netloc.rpartition("@")[2]
            plain["proxy"] = parts._replace(netloc=f"{parts.username}:redacted@{place}").geturl()
        return json.dumps(plain, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> CrawlConfig:
        """The opposite of `to_json`; redacted values stay redacted, see `missing_secrets`."""
        return cls.model_validate_json(text)


#: The settings in their order, by key.
SETTINGS = {
    key: Declared(key, field, next(item for item in field.metadata if isinstance(item, Setting)))
    for key, field in CrawlConfig.model_fields.items()
}
#: Names that settings had before, which are still taken, and their names now.
FORMER = {item.setting.former: key for key, item in SETTINGS.items() if item.setting.former}


def current_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the names they have now; where a setting has both names, the one of now holds.

    >>> current_names({"seed": 3, "pages": 10})
    {'random_seed': 3, 'pages': 10}
    """
    return {FORMER.get(key, key): value for key, value in values.items() if FORMER.get(key) not in values}
