"""`CrawlSettings`: the settings that `clew.crawl` takes, for editors and type checkers.

Made from `clew.run.config` by `python tools/settings.py`: change them there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict


class CrawlSettings(TypedDict, total=False):
    """Settings of a crawl, by name; each may be left out. docs/configuration.md says what they mean."""

    share: Literal["even", "greedy"]
    like: Sequence[str]
    threshold: float | Literal["start"]
    semantics: Literal["minmax", "product", "weighted"]
    link_formula: Literal["whole", "any", "rarer"]
    topics: Path | str | None
    strategy: str
    weights: Mapping[str, float] | str
    factors: Sequence[str]
    option: Sequence[str]
    tunnel: Literal["auto", "climb", "drop", "reweight", "off"]
    tunnel_session: int
    tunnel_when: Literal["lost", "paper"]
    tunnel_by: Literal["visited", "lowered"]
    tunnel_frontier: Literal["whole", "new"]
    confidence: float | None
    prune: bool
    use: Sequence[str]
    visits: Path | str | None
    k: int | None
    visits_a_day: int
    visits_a_minute: int
    session_gap: float | str
    random_seed: int
    pages: int | None
    matches: int | None
    time: float | str | None
    bytes: int | str | None
    requests: int | None
    per_host: int | None
    interest: float | None
    stop: str
    known: Path | str | None
    max_size: int | None
    scope: Literal["all", "domain", "host", "prefix"]
    include: Sequence[str]
    exclude: Sequence[str]
    depth: int | None
    types: Sequence[str]
    links: Literal["pages", "more"]
    nofollow: bool
    sitemaps: Literal["off", "robots", "on"]
    traps: bool
    delay: float | str
    concurrency: int
    proxy: str | None
    header: Sequence[str]
    user_agent: str
    timeout: float | str
    max_body: int | str
    allow_private: Sequence[str]
    own: Sequence[str]
    ignore_robots: bool
    insecure: Sequence[str]
    cookies: Literal["off", "session"]
    cookie_file: Path | str | None
    browser: Sequence[str]
    browser_path: Path | str | None
    cache: Path | str | None
    cache_age: float | str
    batch: int
    ordered: bool
    parse_workers: int | None
    predicate_timeout: float | str | None
    metrics_port: int | None
