"""`clew doctor`: what is installed, what is missing, what the limits are; or what is damaged in a crawl.

Touches no network.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import sqlite3
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from clew import __version__, native
from clew.cli.console import ProgressNotice, clean, put, put_json, put_table
from clew.cli.directories import Json
from clew.cli.exits import DONE, FAILURE
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.store.examine import Examination

LIBRARIES = (
    "ada-url", "aiohappyeyeballs", "aiohttp", "brotli", "can_ada", "cyclopts", "fastwarc", "httptools",
    "jinja2", "lark", "markupsafe", "numpy", "prometheus-client", "publicsuffixlist", "pydantic",
    "PyStemmer", "rich", "stopwordsiso", "structlog", "turbohtml", "xxhash", "yarl", "zstandard",
)  # fmt: skip
#: Libraries that not every platform has, and what is worse without them.
HELPFUL = {"isal": "archives are written more slowly"}
#: Package, extra that brings it, what it is for.
EXTRAS = (
    ("pypdf", "pdf", "text of PDF pages"),
    ("pyarrow", "parquet", "clew export --format parquet"),
    ("playwright", "browser", "clew crawl --browser, pages made by scripts"),
)
ENOUGH_FILES = 1024
ENOUGH_DISK = 1_000_000_000
#: Damaged parts of a crawl told one by one, of each kind.
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    name: str
    state: str
    """`ok`, `note` or `bad`."""
    detail: str


def doctor(
    directory: Annotated[
        str | None, Parameter(metavar="DIR", help="A crawl to examine, every row and every reply.")
    ] = None,
    /,
    *,
    repair: Annotated[
        bool, Parameter(negative=(), help="Queue again what is lost and can be fetched again.")
    ] = False,
    json: Json = False,
) -> int:
    """Say what is installed, what is missing, what the limits are; or what is damaged in a crawl."""
    if directory is not None:
        return _crawl(directory, repair=repair, json=json)
    if repair:
        raise UsageError("--repair needs DIR: say which crawl")
    findings = [*_versions(), *_extras(), *_limits(), *_surroundings()]
    bad = [finding for finding in findings if finding.state == "bad"]
    if json:
        put_json(
            {
                "ok": not bad,
                "findings": [{"name": f.name, "state": f.state, "detail": f.detail} for f in findings],
            }
        )
    else:
        put_table(("", "", ""), [(f.state, f.name, f.detail) for f in findings])
        put()
        put("everything is in place" if not bad else f"{len(bad)} to mend: " + ", ".join(f.name for f in bad))
    return FAILURE if bad else DONE


def _crawl(directory: str, *, repair: bool, json: bool) -> int:
    """Examine a crawl, and repair it if asked for; what is left damaged then is told."""
    from clew.store.examine import examine
    from clew.store.examine import repair as mend

    found = examine(directory, ProgressNotice("examining").tell)
    queued = 0
    if repair and not found.sound:
        queued = mend(directory, found)
        left = examine(directory, ProgressNotice("examining again").tell)
    else:
        left = found
    if json:
        put_json({"ok": left.sound, "queued": queued, **asdict(left), "lost": found.lost})
    else:
        _show_crawl(directory, found, left, queued if repair else None)
    return DONE if left.sound else FAILURE


def _show_crawl(directory: str, found: Examination, left: Examination, queued: int | None) -> None:
    where = clean(directory)
    put(f"{found.pages} pages, {found.replies} replies sound, {len(found.lost)} lost")
    for name, items in (("lost", found.lost), ("damaged", found.unreadable), ("problem", found.problems)):
        for item in items[:_SHOWN]:
            put(f"  {name:8} {clean(item, 300)}")
        if len(items) > _SHOWN:
            put(f"  {name:8} … and {len(items) - _SHOWN} more: --json has all")
    if found.sound:
        put("everything is as clew left it")
    elif queued is None:
        put("what is lost can be fetched again: clew doctor --repair " + where)
    else:
        put(f"{queued} pages are queued to be fetched again: clew crawl -d {where}")
        if not left.sound:
            rest = len(left.lost) + len(left.unreadable) + len(left.problems)
            put(f"{rest} damaged parts cannot be repaired: restore them from a copy, or go on without them")


def _versions() -> list[Finding]:
    found = [Finding("clew", "ok", __version__), Finding("Python", "ok", platform.python_version())]
    for name in LIBRARIES:
        try:
            found.append(Finding(name, "ok", version(name)))
        except PackageNotFoundError:
            found.append(Finding(name, "bad", "missing: install clew again, with its dependencies"))
    for name, worse in HELPFUL.items():
        try:
            found.append(Finding(name, "ok", version(name)))
        except PackageNotFoundError:
            found.append(Finding(name, "note", f"missing: {worse}"))
    return [*found, _compiled(), _sqlite()]


def _compiled() -> Finding:
    if native.COMPILED:
        return Finding("compiled loops", "ok", "in use")
    why = (
        "CLEW_PURE=1 says so"
        if os.environ.get("CLEW_PURE") == "1"
        else "install a C compiler, then clew again"
    )
    return Finding("compiled loops", "note", f"not in use, pages are read more slowly: {why}")


def _sqlite() -> Finding:
    with sqlite3.connect(":memory:") as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    connection.close()
    if "ENABLE_FTS5" in options:
        return Finding("SQLite", "ok", f"{sqlite3.sqlite_version} with FTS5")
    return Finding("SQLite", "bad", f"{sqlite3.sqlite_version} without FTS5, which clew search needs")


def _extras() -> list[Finding]:
    found = []
    for package, extra, purpose in EXTRAS:
        try:
            found.append(Finding(package, "ok", f"{version(package)}: {purpose}"))
        except PackageNotFoundError:
            found.append(Finding(package, "note", f"missing: pip install 'clew[{extra}]' for {purpose}"))
    return [*found, _chromium()]


def _chromium() -> Finding:
    from clew.errors import ConfigError

    try:
        from clew.fetch.chromium import find_chromium

        program = find_chromium()
    except ImportError as error:  # a library is missing: that is said above
        return Finding("Chromium", "bad", f"cannot be looked for: {error}")
    except ConfigError:
        return Finding("Chromium", "note", "missing: apt-get install chromium, or alike, for --browser")
    unsafe = ", without its sandbox, since you are root" if os.geteuid() == 0 else ""
    return Finding("Chromium", "ok", f"{program}{unsafe}")


def _limits() -> list[Finding]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = Finding("open files", "ok", f"{soft} of at most {hard}")
    if soft != resource.RLIM_INFINITY and soft < ENOUGH_FILES:
        files = Finding(
            "open files", "note", f"{soft} is few: ulimit -n {ENOUGH_FILES}, or less --concurrency"
        )
    free = shutil.disk_usage(Path.cwd()).free
    disk = Finding("disk", "ok" if free > ENOUGH_DISK else "note", f"{free / 1e9:.1f} GB free here")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return [files, disk, Finding("cores", "ok", str(cores))]


def _surroundings() -> list[Finding]:
    from clew.errors import ConfigError

    try:
        from clew.run.settings import PREFIX, find_file, read_environment, read_file
    except (
        ImportError
    ) as error:  # a library is missing: that is said above, and the rest is still worth saying
        return [Finding("settings", "bad", f"cannot be read: {error}")]
    found = []
    file = find_file(Path.cwd())
    try:
        if file:
            read_file(file)
        found.append(Finding("clew.toml", "ok", str(file) if file else "none here or above"))
    except ConfigError as error:
        found.append(Finding("clew.toml", "bad", str(error)))
    names = sorted(name for name in os.environ if name.startswith(PREFIX))
    try:
        read_environment(os.environ)
        found.append(Finding("variables", "ok", ", ".join(names) or "no CLEW_* set"))
    except ConfigError as error:
        found.append(Finding("variables", "bad", str(error)))
    ignored = sorted(
        {name for name in os.environ if name.lower() in ("http_proxy", "https_proxy", "all_proxy")}
    )
    if ignored:
        found.append(
            Finding("proxies", "note", f"{', '.join(ignored)} not used: give --proxy to crawl through one")
        )
    return found
