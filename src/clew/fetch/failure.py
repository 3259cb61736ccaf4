"""Foreign errors become `FetchError` here, and nowhere else."""

from __future__ import annotations

import errno
import ssl

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from clew.errors import FetchError, Reason
from clew.fetch.connect import ForbiddenSocket

# The first class that fits decides, so that a class stands before those it derives from.
_REASONS: tuple[tuple[type[BaseException], Reason], ...] = (
    (ForbiddenSocket, Reason.FORBIDDEN_ADDRESS),
    (aiohttp.ClientConnectorDNSError, Reason.DNS),
    (aiohttp.ClientSSLError, Reason.TLS),
    (ssl.SSLError, Reason.TLS),
    (aiohttp.ConnectionTimeoutError, Reason.TIMEOUT),
    (TimeoutError, Reason.TIMEOUT),
    (aiohttp.ClientHttpProxyError, Reason.CONNECT),
    (aiohttp.ClientConnectorError, Reason.CONNECT),
    (aiohttp.InvalidURL, Reason.BAD_URL),
    (aiohttp.NonHttpUrlClientError, Reason.BAD_URL),
    (aiohttp.ClientPayloadError, Reason.BAD_REPLY),
    (aiohttp.ClientResponseError, Reason.BAD_REPLY),
    (HttpProcessingError, Reason.BAD_REPLY),
    (aiohttp.ServerDisconnectedError, Reason.RESET),
    (aiohttp.ClientConnectionError, Reason.RESET),
    (aiohttp.ClientError, Reason.BAD_REPLY),
    (ConnectionError, Reason.RESET),
    (UnicodeError, Reason.BAD_REPLY),
)
_OUT_OF_FILES = frozenset({errno.EMFILE, errno.ENFILE})


def failure(error: BaseException, seconds: float) -> FetchError:
    """What an error of the HTTP client's means to a crawl; `seconds` is the time limit it worked under.

    >>> failure(TimeoutError(), 30.0)
    FetchError(<Reason.TIMEOUT: 'timeout'>, 'no complete reply within 30 s')
    """
    if isinstance(error, FetchError):
        return error
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    local = _local(cause)
    if local is not None:
        return local
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return FetchError(reason, _words(error, reason, seconds))
    return FetchError(Reason.INTERNAL, f"{type(error).__name__}: {error}")


def refused_socket(error: OSError, host: str) -> FetchError:
    """What it means that no connection could be made.

    >>> refused_socket(ConnectionRefusedError(111, "Connection refused"), "a.example").reason.value
    'connect'
    """
    return _local(error) or FetchError(Reason.CONNECT, f"{host}: {error.strerror or error}")


def _local(error: BaseException) -> FetchError | None:
    """What this machine itself refused, if it did."""
    if isinstance(error, ForbiddenSocket):
        return FetchError(Reason.FORBIDDEN_ADDRESS, str(error))
    if isinstance(error, OSError) and error.errno in _OUT_OF_FILES:
        # Not the page's fault, nor final: connections that end give descriptors back.
        return FetchError(Reason.CONNECT, "too many open files: raise `ulimit -n` or lower --concurrency")
    return None


def _words(error: BaseException, reason: Reason, seconds: float) -> str:
    if reason is Reason.TIMEOUT:
        return f"no complete reply within {seconds:g} s"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or str(error.certificate_error)
        return (
            f"{error.host}: the certificate is not valid ({why}); if you trust it, except the host with "
            f"--insecure {error.host}"
        )
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"{error.host}: {error.os_error}"
    if isinstance(error, aiohttp.ClientResponseError):
        return " ".join(error.message.split())[:200] or type(error).__name__
    return " ".join(str(error).split())[:200] or type(error).__name__
