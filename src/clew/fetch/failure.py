"""Foreign errors become `FetchError` here, and nowhere else."""

from __future__ import annotations

import errno
import ssl

from clew.errors import FetchError, Reason
from clew.fetch.vetted_resolver import ForbiddenSocket

# The first class that fits decides.
_REASONS: tuple[tuple[type[BaseException], Reason], ...] = (
    (ssl.SSLError, Reason.TLS),
    (TimeoutError, Reason.TIMEOUT),
    (ConnectionError, Reason.RESET),
    (UnicodeError, Reason.BAD_REPLY),
)
_OUT_OF_FILES = frozenset({errno.EMFILE, errno.ENFILE})
#: Troubles of this machine, whoever it asks. That there is no route may be due to one address alone.
_IN_TROUBLE = frozenset({errno.ENOMEM, errno.ENOBUFS, errno.ENETDOWN})


class ProxyUnreachable(FetchError):
    """No connection to the proxy could be made: no request can be, whichever host it is for."""

    def __init__(self, place: str) -> None:
        super().__init__(Reason.CONNECT, f"no connection to the proxy {place} can be made: check --proxy")


def failure(error: BaseException, seconds: float) -> FetchError:
    """What an error means to a crawl; `seconds` is the time limit the request had.

    >>> failure(TimeoutError(), 30.0)
    FetchError(<Reason.TIMEOUT: 'timeout'>, 'no complete reply within 30 s')
    """
    if isinstance(error, FetchError):
        return error
    local = refused_here(error)
    if local is not None:
        return local
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return FetchError(reason, late(seconds) if reason is Reason.TIMEOUT else words(error))
    return FetchError(Reason.INTERNAL, f"{type(error).__name__}: {error}")


def refused_socket(error: OSError, host: str) -> FetchError:
    """What it means that no connection could be made.

    >>> refused_socket(ConnectionRefusedError(111, "Connection refused"), "a.example").reason.value
    'connect'
    """
    return refused_here(error) or FetchError(Reason.CONNECT, f"{host}: {error.strerror or error}")


def refused_here(error: BaseException) -> FetchError | None:
    """What this machine itself refused, if it did."""
    if isinstance(error, ForbiddenSocket):
        return FetchError(Reason.FORBIDDEN_ADDRESS, str(error))
    if isinstance(error, OSError) and error.errno in _IN_TROUBLE:
        return FetchError(Reason.LOCAL, f"this machine cannot connect to anyone: {error.strerror or error}")
    if isinstance(error, OSError) and error.errno in _OUT_OF_FILES:
        # Not the page's fault, nor final: connections that end give descriptors back.
        return FetchError(Reason.LOCAL, "too many open files: raise `ulimit -n` or lower --concurrency")
    return None


def out_of_files(error: BaseException | None) -> bool:
    """Whether an error, or what led to it, is that this process or machine has no file descriptor left.

    >>> out_of_files(OSError(errno.EMFILE, "Too many open files")), out_of_files(TimeoutError())
    (True, False)
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in _OUT_OF_FILES:
            return True
        error = error.__cause__
    return False


def late(seconds: float) -> str:
    """That a request took too long, in words."""
    return f"no complete reply within {seconds:g} s"


def words(error: BaseException) -> str:
    """What an error says of itself, in one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__
