"""How many requests can be in flight with the file descriptors there are.

A connection is a descriptor. A crawl that runs out of them would lose pages to errors that have nothing to do
with the pages, so the limit is raised as far as it may be, and where that is not enough fewer requests are
made at once.
"""

from __future__ import annotations

import resource

from clew.errors import UsageError

RESERVE = 40
"""Descriptors for everything but connections: database, archive, log, pipes to workers, look-ups."""
LEAST = 4
"""Requests in flight below which a crawl is not begun."""
PLENTY = 65_536


def affordable(concurrency: int) -> int:
    """The number of requests that can be in flight, at most `concurrency`.

    Raises the soft limit of the process as far as it may. A `UsageError` says what to do where there are too
    few for any crawl.

    >>> affordable(8)
    8
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = PLENTY if hard == resource.RLIM_INFINITY else min(hard, PLENTY)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    # One for each request, and one for a connection that is kept for the next.
    room = (soft - RESERVE) // 2 if soft != resource.RLIM_INFINITY else concurrency
    if room < min(LEAST, concurrency):
        raise UsageError(
            f"only {soft} files may be open at a time, and a crawl needs {RESERVE + 2 * LEAST} at least: "
            "raise the limit first, with `ulimit -n 1024`"
        )
    return min(concurrency, room)
