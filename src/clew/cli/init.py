"""`clew init`: a commented clew.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from clew.cli.console import put, put_json
from clew.cli.places import Json
from clew.errors import UsageError

TEMPLATE = """\
# Settings for clew, read by `clew crawl` in this directory and those below it.
# The command line and CLEW_* variables come first. Uncomment what you need.

# Where to start, and what to find.
# seeds = ["https://example.org/"]
# match = '"wind farm" AND lang:en'
# threshold = 0.5                 # a page whose degree is at least this is a find
# semantics = "minmax"            # how degrees combine: minmax or product
# strategy = "intelligent"        # or best-first, breadth-first, random, a baseline: see docs/strategies.md
# factors = ["content", "sibling"]  # the reasons that `intelligent` combines; all of them by default
# option = ["refresh=0.02"]       # options of the strategy
# use = ["earlier-crawl"]         # begin with what earlier crawls learned
# seed = 0                        # the dice: one seed gives one crawl

# When to stop: whichever comes first. "none" lifts a limit.
# pages = 1000
# matches = "none"
# time = "none"                   # "90s", "30m", "2h"
# bytes = "none"                  # "500MB"
# requests = "none"
# per-host = "none"               # pages from any one host
# interest = "none"               # stop when nothing promises so many times what chance gives
# max-size = "none"               # candidates at hand; the others wait on disk

# Where to look.
# scope = "all"                   # all, or stay with the seeds' domain, host or prefix
# include = ["*/articles/*"]      # globs, or regular expressions between slashes
# exclude = ["/[?&]sort=/"]
# depth = "none"                  # links from the nearest seed
# types = ["html", "xhtml", "text", "feed", "pdf"]
# nofollow = false                # leave out links marked rel=nofollow
# sitemaps = "robots"             # off, those robots.txt names, or on: /sitemap.xml too
# traps = true                    # leave endless calendars, copies, error pages and mirrors alone

# How to ask.
# delay = "1s"                    # between two requests to one host or address
# concurrency = 16                # requests in flight, over all hosts
# timeout = "30s"
# max-body = "10MB"
# user-agent = "mybot/1.0 (me@example.org)"
# header = ["Accept-Language: en"]
# proxy = "http://127.0.0.1:8089"
# allow-private = ["10.0.0.0/8"]  # private hosts and networks that may be visited
# own = ["www.example.org"]       # hosts of your own: these may be asked fast and often
# ignore-robots = false           # do not ask hosts of your own for robots.txt
# insecure = []                   # hosts whose TLS certificate is not checked
# cookies = "off"                 # off or session
# cookie-file = "cookies.txt"     # cookies of your own to send, in Netscape format
# browser = ["auto"]              # render empty pages, or those of hosts, in Chromium: clew[browser]
# browser-path = "/usr/bin/chromium"

# This machine.
# cache = "cache"                 # a page cache that several crawls share
# cache-age = "7d"
# ordered = false                 # settle replies in the order asked: exactly repeatable
# parse-workers = 2
# metrics-port = 9464             # Prometheus, on 127.0.0.1

# How much each part of the strategy's score counts; must come last in the file.
# [weights]
# content = 1.0
# sibling = 2.0
"""


def init(
    *,
    force: Annotated[bool, Parameter(negative=(), help="Replace a clew.toml that is there.")] = False,
    json: Json = False,
) -> None:
    """Write a commented clew.toml in this directory; prints where it is."""
    path = Path.cwd() / "clew.toml"
    if path.exists() and not force:
        raise UsageError(f"{path} is there already: edit it, or replace it with --force")
    path.write_text(TEMPLATE, encoding="utf-8")
    if json:
        put_json({"file": str(path)})
    else:
        put(str(path))
