"""A page on this machine that shows crawls as they think, starts new ones and steers those under way.

A crawl's store and trace come in, by number, as far as they are new; pages and server-sent events go out. The
invariants: the crawl never waits for it (the database is opened read-only, for a moment at a time, by another
process); what is commanded goes through `clew.run.steering`, as `clew steer` goes; nothing that came from the
web is ever more than text in the page; and no request changes anything that does not come from the page
itself (`clew.dashboard.gate`).

The packages it needs beyond clew's own are the extra `clew[dash]`; `require` says so where they are missing.
"""

from __future__ import annotations

from importlib.util import find_spec

from clew.errors import UsageError

__all__ = ["require"]

_NEEDED = ("starlette", "uvicorn", "sse_starlette", "jinja2")


def require() -> None:
    """Raise `UsageError`, with what to type, where a package that the dashboard needs is not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the dashboard needs {', '.join(missing)}: install it with `pip install 'clew[dash]'`"
        )
