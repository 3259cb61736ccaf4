"""`CrawlConfig`: every setting of a crawl, checked, frozen.

A setting is the same word everywhere: `--cache-age` on the command line, `CLEW_CACHE_AGE` in the
environment, `cache-age` in `clew.toml`, `cache_age` here. How the four are put together is in
`clew.run.settings`; what each means to the user is in docs/configuration.md.
"""

from __future__ import annotations

import ipaddress
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from clew.errors import ConfigError
from clew.fetch.settings import default_user_agent, is_credential
from clew.policy.scope import DEFAULT_KINDS, KINDS, pattern
from clew.run.checks import choice, claimable, host_matches, is_network, none, web_address, weighed
from clew.run.units import seconds, size
from clew.strategy import NAMES as STRATEGIES

SEMANTICS = ("minmax", "product")
SITEMAPS = ("off", "robots", "on")
COOKIES = ("off", "session")
SCOPES = ("all", "domain", "host", "prefix")
DEFAULT_DELAY = 1.0
#: Hosts that are not the user's own are never asked more often than this.
MIN_DELAY = 0.25
REDACTED = "<redacted>"

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*)")
_HOST = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?", re.I)
#: Set by the client itself; a user's value would break the exchange.
_RESERVED = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


def _optional(convert: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: None if (value := none(value)) is None else convert(value))


Limit = Annotated[Annotated[int, Field(ge=1)] | None, BeforeValidator(none)]
Seconds = Annotated[float, BeforeValidator(seconds)]
Size = Annotated[int, BeforeValidator(size), Field(ge=1)]
Texts = tuple[str, ...]


class CrawlConfig(BaseModel):
    """The settings of one crawl.

    >>> config = CrawlConfig(seeds=("https://example.org/",), match="wind", time="2h")
    >>> config.time, config.pages, config.delay
    (7200.0, 1000, 1.0)
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False)

    seeds: Texts
    match: str
    threshold: float = Field(0.5, gt=0, le=1)
    semantics: Literal["minmax", "product"] = "minmax"
    strategy: str = "intelligent"
    weights: Annotated[dict[str, float] | str, BeforeValidator(weighed)] = {}
    factors: Texts = ()
    option: Texts = ()
    use: Texts = ()
    seed: int = Field(0, ge=0, lt=2**63)

    pages: Limit = 1000
    matches: Limit = None
    time: Annotated[float | None, _optional(seconds)] = None
    bytes: Annotated[int | None, _optional(size)] = None
    requests: Limit = None
    per_host: Limit = None
    interest: Annotated[Annotated[float, Field(gt=0)] | None, BeforeValidator(none)] = None
    max_size: Annotated[Annotated[int, Field(ge=10)] | None, BeforeValidator(none)] = None

    scope: Literal["all", "domain", "host", "prefix"] = "all"
    include: Texts = ()
    exclude: Texts = ()
    depth: Annotated[Annotated[int, Field(ge=0)] | None, BeforeValidator(none)] = None
    types: Texts = DEFAULT_KINDS
    nofollow: bool = False
    sitemaps: Literal["off", "robots", "on"] = "robots"
    traps: bool = True

    delay: Annotated[Seconds, Field(le=3600)] = DEFAULT_DELAY
    concurrency: int = Field(16, ge=1, le=4096)
    proxy: Annotated[str | None, BeforeValidator(none)] = None
    header: Texts = ()
    user_agent: str = default_user_agent()
    timeout: Annotated[Seconds, Field(gt=0, le=3600)] = 30.0
    max_body: Size = 10_000_000
    allow_private: Texts = ()
    own: Texts = ()
    ignore_robots: bool = False
    insecure: Texts = ()
    cookies: Literal["off", "session"] = "off"
    cookie_file: Annotated[Path | None, BeforeValidator(none)] = None
    browser: Texts = ()
    browser_path: Annotated[Path | None, BeforeValidator(none)] = None

    cache: Annotated[Path | None, BeforeValidator(none)] = None
    cache_age: Seconds = 7 * 86400.0
    ordered: bool = False
    parse_workers: Annotated[Annotated[int, Field(ge=0, le=64)] | None, BeforeValidator(none)] = None
    metrics_port: Annotated[Annotated[int, Field(ge=1, le=65535)] | None, BeforeValidator(none)] = None

    # what one field may be

    @field_validator("seeds")
    @classmethod
    def _check_seeds(cls, value: Texts) -> Texts:
        if not value:
            raise ValueError("a crawl needs at least one page to start from, such as https://example.org/")
        return tuple(web_address(seed) for seed in value)

    @field_validator("match")
    @classmethod
    def _check_match(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("say which pages to find, such as --match '\"wind farm\" AND lang:en'")
        return value

    @field_validator("semantics", mode="before")
    @classmethod
    def _check_semantics(cls, value: object) -> object:
        return choice(value, SEMANTICS)

    @field_validator("strategy", mode="before")
    @classmethod
    def _check_strategy(cls, value: object) -> object:
        return choice(value, STRATEGIES)

    @field_validator("scope", mode="before")
    @classmethod
    def _check_scope(cls, value: object) -> object:
        return choice(value, SCOPES)

    @field_validator("sitemaps", mode="before")
    @classmethod
    def _check_sitemaps(cls, value: object) -> object:
        return choice(
            {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value, SITEMAPS
        )

    @field_validator("cookies", mode="before")
    @classmethod
    def _check_cookies(cls, value: object) -> object:
        # TOML has words of its own for off.
        return choice("off" if value is False else value, COOKIES)

    @field_validator("include", "exclude")
    @classmethod
    def _check_patterns(cls, value: Texts) -> Texts:
        for text in value:
            if not text:
                raise ValueError("an empty pattern matches nothing: leave it out")
            try:
                pattern(text)
            except ConfigError as error:
                raise ValueError(str(error)) from None
        return value

    @field_validator("types")
    @classmethod
    def _check_types(cls, value: Texts) -> Texts:
        for name in value:
            choice(name, tuple(KINDS))
        return value

    @field_validator("proxy")
    @classmethod
    def _check_proxy(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"{value!r} is not a proxy address: write http://host:port")
        return value

    @field_validator("option")
    @classmethod
    def _check_options(cls, value: Texts) -> Texts:
        for item in value:
            name, equals, _ = item.partition("=")
            if not name or not equals:
                raise ValueError(f"{item!r} is not an option of a strategy: write name=value")
        return value

    @field_validator("header")
    @classmethod
    def _check_headers(cls, value: Texts) -> Texts:
        for header in value:
            found = _HEADER.fullmatch(header)
            if not found:
                raise ValueError(
                    f"{header.partition(':')[0]!r}: a header is written 'Name: value', on one line"
                )
            if found[1].lower() in _RESERVED:
                raise ValueError(f"the header {found[1]!r} is set by the client itself")
        return value

    @field_validator("user_agent")
    @classmethod
    def _check_agent(cls, value: str) -> str:
        if not value.strip() or not value.isprintable() or not value.isascii():
            raise ValueError("a user agent is one line of ASCII text, such as 'mybot/1.0 (me@example.org)'")
        return value

    @field_validator("allow_private")
    @classmethod
    def _check_private(cls, value: Texts) -> Texts:
        for item in value:
            if not is_network(item) and not _HOST.fullmatch(item):
                raise ValueError(
                    f"{item!r} is neither a host, nor an address, nor a network such as 10.0.0.0/8"
                )
        return value

    @field_validator("own", "insecure", "browser")
    @classmethod
    def _check_hosts(cls, value: Texts) -> Texts:
        for item in value:
            if item != "*" and not _HOST.fullmatch(item) and not is_network(item):
                hint = f"; did you mean {urlsplit(item).hostname!r}?" if "://" in item else ""
                raise ValueError(f"{item!r} is not a host name such as example.org or *.example.org{hint}")
        return value

    @field_validator("own")
    @classmethod
    def _check_own(cls, value: Texts) -> Texts:
        for item in value:
            claimable(item)
        return value

    # what fields may be together

    @model_validator(mode="after")
    def _check_interest(self) -> CrawlConfig:
        if self.interest is not None and self.strategy != "intelligent":
            raise ValueError(
                f"interest is estimated by the strategy 'intelligent' only: {self.strategy!r} cannot tell"
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
        return any(host_matches(host, pattern) for pattern in self.own)

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
        found = [_HEADER.fullmatch(header) for header in self.header]
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
