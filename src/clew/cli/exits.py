"""Exit codes, and the way from an exception to one of them."""

from __future__ import annotations

import errno
import os
import sys
import threading
import traceback
from contextlib import suppress

DONE = 0
FAILURE = 1
USAGE = 2
NO_MATCH = 3
NO_SEED = 4
STORAGE_FULL = 5
HUNG_UP = 129
INTERRUPTED = 130
TERMINATED = 143

#: What the codes mean, for the help text and the documentation.
MEANING = {
    DONE: "done",
    FAILURE: "failure",
    USAGE: "usage or configuration",
    NO_MATCH: "finished with no match",
    NO_SEED: "no seed reachable",
    STORAGE_FULL: "storage full",
    HUNG_UP: "terminal closed (SIGHUP), can be resumed",
    INTERRUPTED: "interrupted, can be resumed",
    TERMINATED: "terminated (SIGTERM), can be resumed",
}

#: Reasons to stop a crawl that have an exit code of their own, whatever was found.
_BY_REASON = {"interrupted": INTERRUPTED, "no seed reachable": NO_SEED}
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def tell(text: str) -> None:
    """A line on stderr. That nobody reads it any more, or it cannot be kept, ends no crawl."""
    with suppress(OSError):
        print(text, file=sys.stderr)


def complain(message: str) -> None:
    """Say something went wrong, on stderr."""
    tell(f"clew: {message}")


def code_of_end(reason: str, matches: int, signal: int = 0) -> int:
    """The exit code of a crawl that ended: by the reason, the finds, and the signal if one stopped it.

    >>> code_of_end("pages", 3), code_of_end("pages", 0), code_of_end("interrupted", 3, signal=15)
    (0, 3, 143)
    """
    if reason == "interrupted" and signal:
        return 128 + signal
    return _BY_REASON.get(reason, DONE if matches else NO_MATCH)


def code_of(error: BaseException) -> int:
    """Say what happened and give the exit code for it."""
    from clew.errors import ClewError

    if os.environ.get("CLEW_DEBUG"):
        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):
        return _pipe_closed()
    if isinstance(error, KeyboardInterrupt):
        complain("interrupted")
        return INTERRUPTED
    if isinstance(error, ClewError):
        complain(str(error))
        return error.exit_code
    if isinstance(error, MemoryError):
        complain(
            "out of memory; what was saved is safe: lower --concurrency or --max-body, and start it again"
        )
        return FAILURE
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        complain(f"{error.filename or 'the output'}: no room left: free some space and try again")
        return STORAGE_FULL
    if isinstance(error, OSError) and error.filename is not None:
        complain(f"{error.filename}: {error.strerror or error}; check the path and who may use it")
        return FAILURE
    complain(f"something unexpected happened: {type(error).__name__}: {error}")
    if not os.environ.get("CLEW_DEBUG"):
        complain("set CLEW_DEBUG=1 to see where; a crawl's own log is clew.log in its directory")
    return FAILURE


def leave_threads(code: int) -> None:
    """End the program now if code of the user's left threads running: Python would wait for them for ever."""
    left = [it.name for it in threading.enumerate() if not it.daemon and it is not threading.main_thread()]
    if left:
        complain(
            f"threads that a predicate began are still running, and are not waited for: {', '.join(left)}"
        )
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _pipe_closed() -> int:
    """Whoever read our output has gone: end quietly, and keep the interpreter from flushing into the void."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE
