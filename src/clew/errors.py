"""One exception tree; foreign errors are mapped to it where they enter.

    ClewError
    ├── UsageError                 the user's words are off: exit 2
    │   ├── ConfigError            a setting, a clew.toml key
    │   └── PredicateSyntaxError   a formula; knows the column
    │       └── StopSyntaxError    a stop rule; knows the column
    ├── FetchError                 no usable reply; `reason` is a key of RETRY
    ├── ParseError                 a body that could not be turned into a Page
    └── StoreError                 a crawl directory or page cache
        ├── StoreBusy              another process has it
        ├── StoreForeign           not ours, or damaged, or from a newer clew
        └── StorageFull            no room left on the device: exit 5

Whether a failed fetch is tried again is a table, not code.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ClewError(Exception):
    """Every error clew raises on purpose; `str()` is a sentence that says what to do."""

    exit_code = 1


class Interruption(BaseException):
    """The crawl is to end, for the reason given, while code of the user's keeps it; not to be caught by
    that."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class UsageError(ClewError):
    """The user's words are off: an argument, a setting, a formula."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting is unknown or out of range."""


class PredicateSyntaxError(UsageError):
    """A formula does not parse.

    >>> print(PredicateSyntaxError("expected a term", "a AND ", 6))
    expected a term at column 7
      a AND
            ^
    """

    def __init__(self, problem: str, formula: str, position: int) -> None:
        self.problem = problem
        self.formula = formula
        self.position = position
        super().__init__(problem, formula, position)

    def __str__(self) -> str:
        shown = self.formula.replace("\n", " ").replace("\t", " ")
        start = max(0, self.position - 60)
        window = shown[start : self.position + 40]
        lead = "  " + ("…" if start else "")
        pointer = " " * (len(lead) + self.position - start) + "^"
        return f"{self.problem} at column {self.position + 1}\n{lead}{window}\n{pointer}"


class StopSyntaxError(PredicateSyntaxError):
    """A stop rule does not parse.

    >>> print(StopSyntaxError("unknown clause 'matchs': did you mean 'matches'?", "matchs > 5", 0))
    unknown clause 'matchs': did you mean 'matches'? at column 1
      matchs > 5
      ^
    """


class ParseError(ClewError):
    """A body could not be turned into a Page."""


class StoreError(ClewError):
    """Something about a crawl directory or a page cache."""


class StoreBusy(StoreError):
    """Another process is using the directory."""


class StoreForeign(StoreError):
    """The directory is not a crawl of clew's, is damaged, or was written by a newer clew."""


class StorageFull(StoreError):
    """The device has no room left."""

    exit_code = 5


class Reason(StrEnum):
    """Why a fetch gave no usable reply."""

    DNS = "dns"
    UNKNOWN_HOST = "unknown-host"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    RESET = "reset"
    BAD_REPLY = "bad-reply"
    BAD_URL = "bad-url"
    FORBIDDEN_ADDRESS = "forbidden-address"
    SERVER_ERROR = "server-error"
    BUSY = "busy"
    PARSE = "parse"
    BROWSER = "browser"
    INTERNAL = "internal"
    LOCAL = "local"
    """This machine could not make the request: no host is charged with it, and the crawl pauses."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often to try again, and how long the host rests first (doubled each time)."""

    times: int
    rest: float


#: The retry policy. A reason that is not here is final.
RETRY: dict[Reason, Retry] = {
    Reason.DNS: Retry(1, 30.0),
    # A final answer; it is asked for once more because some name servers lose their zones for a moment.
    Reason.UNKNOWN_HOST: Retry(1, 2.0),
    Reason.CONNECT: Retry(2, 10.0),
    Reason.TIMEOUT: Retry(2, 10.0),
    Reason.RESET: Retry(2, 5.0),
    Reason.BAD_REPLY: Retry(1, 5.0),
    Reason.SERVER_ERROR: Retry(2, 10.0),
    Reason.BUSY: Retry(4, 30.0),
}


class FetchError(ClewError):
    """A fetch gave no usable reply.

    >>> FetchError(Reason.TIMEOUT, "no reply within 30 s").reason.value
    'timeout'
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(reason, detail)

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.detail}"
