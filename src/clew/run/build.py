"""From a configuration to the parts of a crawl: predicate, strategy, rules, fetcher."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.engine import Crawl, CrawlRules
from clew.errors import ConfigError
from clew.factor.visit_log import VisitLog
from clew.fetch.base import Fetcher, FetcherClass
from clew.frontier.hosts import Politeness
from clew.frontier.robots import product_token
from clew.knowledge import Knowledge
from clew.policy import Budget, Scope
from clew.policy.tunnel import TunnelRules
from clew.predicate import compile as compile_predicate
from clew.predicate.interests import is_named
from clew.predicate.verdict import Predicate
from clew.run.config import DEFAULT_DELAY, MIN_DELAY, CrawlConfig
from clew.run.knowledge_files import read_knowledge
from clew.run.topics import kept_topics, library_of
from clew.run.user_code import UserCode
from clew.strategy import Strategy, make
from clew.strategy import find as find_strategy
from clew.topic import TopicLibrary
from clew.training import read_library
from clew.visits import PersonLimits, read_visits

#: The threshold of a crawl that has yet to learn it from its start pages: every degree above 0 will do.
ANY_DEGREE = sys.float_info.min
#: Seconds added to every delay of a host that is not the user's own.
MARGIN = 0.05


def seeds_of(config: CrawlConfig) -> tuple[str, ...]:
    """The starting points, canonical; a seed that is no web address is an error, not a surprise."""
    found = [(seed, urls.canonical(seed)) for seed in config.seeds]
    bad = [seed for seed, canonical in found if canonical is None]
    if bad:
        raise ConfigError(f"{bad[0]!r} is not an http or https address to start from: check how it is spelt")
    return tuple(dict.fromkeys([canonical for _, canonical in found if canonical is not None]))


def rules_of(config: CrawlConfig) -> CrawlRules:
    """Scope, budgets and politeness."""
    scope = Scope(
        config.scope,
        seeds_of(config),
        include=config.include,
        exclude=config.exclude,
        depth=config.depth,
        types=config.types,
    )
    budget = Budget(
        config.pages,
        config.matches,
        config.time,
        config.bytes,
        config.requests,
        interest=config.interest,
        stop=config.stop,
    )
    politeness = Politeness(
        delay=config.delay if config.delay >= MIN_DELAY else DEFAULT_DELAY,
        agent=product_token(config.user_agent),
        own=config.owns,
        own_delay=config.delay,
        own_limit=config.concurrency,
        own_robots=not config.ignore_robots,
        per_host=config.per_host,
        margin=MARGIN,
    )
    return CrawlRules(
        scope=scope,
        budget=budget,
        politeness=politeness,
        rel_nofollow=config.nofollow,
        more_links=config.links == "more",
        sitemaps=config.sitemaps,
        traps=config.traps,
        max_size=config.max_size,
        prune=config.prune,
        tunnel=tunnel_of(config),
        confidence=config.confidence,
    )


def tunnel_of(config: CrawlConfig) -> TunnelRules | None:
    """How the focus widens: as asked for; unasked, by climbing, for strategies that tunnel by themselves and
    formulas that have something to climb to."""
    way = config.tunnel
    if way == "auto":
        tunnels = find_strategy(config.strategy).capabilities.tunnels and not is_named(config.match)
        way = "climb" if tunnels and "topic:" in config.match else "off"
    if way == "off":
        return None
    if is_named(config.match):
        raise ConfigError("tunnelling widens one formula, and there are several: leave it out, --tunnel off")
    return TunnelRules(
        way=way,
        session=config.tunnel_session,
        reading=config.tunnel_by,
        when=config.tunnel_when,
        whole=config.tunnel_frontier == "whole",
    )


def predicate_of(
    config: CrawlConfig,
    match: Any = None,
    code: UserCode | None = None,
    topics: TopicLibrary | None = None,
) -> Predicate:
    """The user's predicate: the formula in the configuration, unless something else is given.

    `code` is what watches the functions it names; `topics` what it may name of them, if that is not to be
    read from the folders it was said to be in.
    """
    wanted = config.match if match is None else match
    return compile_predicate(
        wanted,
        topics=library_of(config, wanted) if topics is None else topics,
        threshold=ANY_DEGREE if config.threshold == "start" else config.threshold,
        semantics=config.semantics,
        link_formula=config.link_formula,
        allow_python=True,
        resolve=(code or UserCode(config.predicate_timeout)).resolve,
    )


class CrawlRecord(Protocol):
    """Gives the URL of a candidate by its number, and what is kept about the crawl: a store, or a reader."""

    def url(self, candidate: int) -> str: ...

    def urls(self, candidates: NDArray[np.int64]) -> Sequence[str]: ...

    def link_texts(self, candidates: NDArray[np.int64]) -> tuple[Sequence[str], Sequence[str]]: ...

    def meta(self) -> Mapping[str, Any]: ...


def known_from(places: Sequence[str]) -> Knowledge | None:
    """What earlier crawls learned, taken together: crawl directories, or files of `clew knowledge save`."""
    known = [read_knowledge(Path(place)) for place in places]
    return functools.reduce(Knowledge.merge, known) if known else None


def visits_of(config: CrawlConfig) -> VisitLog | None:
    """What people visited, as far as at least k of them did."""
    if config.visits is None:
        return None
    try:
        state = config.visits.stat()
    except OSError as error:
        raise ConfigError(
            f"the visits in {config.visits} cannot be read ({error.strerror}): clew visits import makes them"
        ) from None
    limits = PersonLimits(day=config.visits_a_day, minute=config.visits_a_minute, gap=config.session_gap)
    return _read_once(config.visits, config.k, limits, (state.st_mtime_ns, state.st_size))


@functools.lru_cache(maxsize=1)
def _read_once(place: Path, k: int | None, limits: PersonLimits, version: tuple[int, int]) -> VisitLog:
    return read_visits(place, k, limits).log


def crawl_of(config: CrawlConfig, store: CrawlRecord, predicate: Predicate | None = None) -> Crawl:
    """The engine, with nothing in it yet."""
    kept = kept_topics(store.meta())
    judge = predicate_of(config, topics=kept) if predicate is None else predicate
    strategy = strategy_of(config, judge, kept)
    return Crawl(judge, strategy, rules_of(config), store.url, store.urls, store.link_texts)


def strategy_of(config: CrawlConfig, judge: Predicate, kept: TopicLibrary | None = None) -> Strategy:
    """The strategy, with nothing learned yet but what earlier crawls knew; `kept` are the topics of a crawl
    that goes on."""
    options = config.strategy_options()
    return make(
        config.strategy,
        judge,
        seed=config.random_seed,
        weights=None if isinstance(config.weights, str) else config.weights,
        options=options,
        known=known_from(config.use),
        share=config.share,
        visits=visits_of(config),
        topics=_signature_topics(config, kept)
        if options.get("signature_features", "words") != "words"
        else None,
    )


def _signature_topics(config: CrawlConfig, kept: TopicLibrary | None) -> TopicLibrary:
    """The topics that people's signatures are made of: those the crawl keeps, or all of the taxonomy."""
    library = read_library(config.topics) if kept is None else kept
    if not library.models:
        raise ConfigError(
            "signature_features needs topics, and there are none here: make some with clew topic new and "
            "clew topic train, or say where yours are with --topics DIR"
        )
    return library


def fetcher_of(config: CrawlConfig, clock: Callable[[], float]) -> Fetcher:
    """The way out: HTTP or another package's, behind the page cache if there is one."""
    from clew.fetch import HttpSettings

    fetcher: Fetcher = _fetcher_class(config)(
        HttpSettings(
            user_agent=config.user_agent,
            timeout=config.timeout,
            headers=config.headers(),
            credential_hosts=tuple(dict.fromkeys(urls.origin(seed) for seed in seeds_of(config))),
            proxy=config.proxy,
            # Whoever owns every host behind a proxy of this machine talks to that proxy alone: nothing is
            # connected to by name, and a link to localhost is one more page the recorded web lacks.
            allow_private=("*",) if "*" in config.own else config.allow_private,
            max_body=config.max_body,
            insecure=config.insecure,
            concurrency=config.concurrency,
            # The engine has names looked up again before the answers expire here.
            dns_ttl=2 * Politeness().address_age,
            # With no delay, servers that close connections at once are met in the act all the time. There is
            # none for one's own hosts alone.
            retry_dropped=config.own if config.delay < MIN_DELAY else False,
        )
    )
    if config.sends_cookies():
        from clew.fetch.cookies import CookieFetcher, CookieJar, read_file

        given = read_file(config.cookie_file, clock()) if config.cookie_file is not None else ()
        fetcher = CookieFetcher(fetcher, CookieJar(given, keep=config.cookies == "session"), clock)
    if config.cache is not None:
        from clew.store.cache import CachingFetcher, PageCache

        asked = repr((config.user_agent, config.headers()))
        variant = f"{urls.key(asked):016x}"
        fetcher = CachingFetcher(fetcher, PageCache(config.cache), config.cache_age, clock, variant=variant)
    return _with_browser(fetcher, config) if config.browser else fetcher


def _with_browser(fetcher: Fetcher, config: CrawlConfig) -> Fetcher:
    """A browser in front of everything: what it asks for may come from the page cache too."""
    from clew.fetch.browser import BrowserFetcher, BrowserSettings

    return BrowserFetcher(
        fetcher,
        BrowserSettings(
            pages=config.browser,
            program=config.browser_path,
            timeout=config.timeout,
            max_body=config.max_body,
        ),
        config.user_agent,
        delay=config.delay_for,
        no_robots=lambda host: config.ignore_robots and config.owns(host),
    )


def _fetcher_class(config: CrawlConfig) -> FetcherClass:
    from clew.fetch import FETCHERS

    name = config.fetcher or "http"
    if name not in FETCHERS:
        raise ConfigError(
            f"fetcher: there is no {name!r}: install the package that brings it, or choose one of "
            f"{', '.join(FETCHERS)}"
        )
    return FETCHERS[name]


def check_fetcher(config: CrawlConfig) -> None:
    """That the fetcher is there, a browser if one is wanted, and the cookie file if one is named; a
    `ConfigError` says what to install or to mend."""
    _fetcher_class(config)
    if config.cookie_file is not None:
        from clew.fetch.cookies import read_file

        read_file(config.cookie_file, now=0.0)
    if config.browser:
        from clew.fetch.chromium import find_chromium, playwright_at_hand

        playwright_at_hand()
        find_chromium(config.browser_path)
