"""CrawlSummary into one HTML file."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
from collections.abc import Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from clew import __version__
from clew.report.crawl_summary import MAX_FINDS, MAX_HOSTS, ComparedCrawl, CrawlSummary, gather
from clew.report.harvest_chart import curves, legend
from clew.store.base import Reader
from clew.units import duration_text, size_text

_LIBRARIES = ("aiohttp", "turbohtml", "lark", "numpy", "fastwarc")


def write_report(store: Reader, path: Path, *, command: str) -> None:
    """Write the report of one crawl; `command` is what to type to do it again."""
    facts = gather(store)
    elapsed = _elapsed(facts)
    values = {
        "facts": facts,
        "command": command,
        "chart": curves([("finds", facts.curve)]),
        "elapsed": duration_text(elapsed) if elapsed else "",
        "more_finds": facts.counts.matched - len(facts.finds),
        "more_hosts": facts.asked - len(facts.hosts),
        "linked_hosts": facts.counts.hosts - facts.asked,
        "max_finds": MAX_FINDS,
        "max_hosts": MAX_HOSTS,
        "dropped": sorted(facts.counts.by_reason.items(), key=lambda item: (-item[1], item[0])),
    }
    write_page(path, "crawl.html.j2", values)


def write_comparison(
    runs: Sequence[ComparedCrawl], path: Path, *, title: str, note: str = "", command: str = ""
) -> None:
    """Write several crawls of one web side by side: a chart with a line each, and a table."""
    values = {
        "runs": runs,
        "title": title,
        "note": note,
        "command": command,
        "chart": curves([(run.name, run.curve) for run in runs]),
        "legend": legend([run.name for run in runs]),
    }
    write_page(path, "comparison.html.j2", values)


def link(url: str) -> Markup:
    """A URL as a link when it is an http(s) one, as mere text when it is anything else.

    >>> str(link("javascript:alert(1)"))
    'javascript:alert(1)'
    >>> str(link("http://a.example/?a&b")).startswith('<a href="http://a.example/?a&amp;b" rel=')
    True
    """
    if not url.startswith(("http://", "https://")):
        return Markup.escape(url)
    return Markup('<a href="{}" rel="noopener noreferrer nofollow">{}</a>').format(url, url)


def write_page(path: Path, template: str, values: dict[str, Any]) -> None:
    """Fill a template with values, add style and script, pin them, and write the file whole."""
    style, script = _text("style.css"), _text("script.js")
    pins = f"style-src '{_pin(style)}'; script-src '{_pin(script)}'"
    values |= {
        "style": Markup(style),  # our own file
        "script": Markup(script),  # our own file
        "policy": f"default-src 'none'; {pins}; base-uri 'none'",
        "versions": _versions(),
    }
    html = _environment().get_template(template).render(values)
    _replace(path, html)


def _replace(path: Path, html: str) -> None:
    """Write beside, then move: a reader never sees half a report."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    try:
        # A new file, not a link left there; titles may hold lone surrogates, which no encoding takes.
        with beside.open("x", encoding="utf-8", errors="replace") as stream:
            stream.write(html)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("clew.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(link=link, size=size_text, setting=_setting)
    return environment


def _setting(value: object) -> str:
    """A setting's value as text."""
    if value is None:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "–"
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value)) or "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _elapsed(facts: CrawlSummary) -> float:
    value = facts.meta.get("elapsed")
    # a directory may be a stranger's: no crawl took longer than ten thousand years
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e12 else 0.0


def _pin(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _text(name: str) -> str:
    return (resources.files("clew.report") / "templates" / name).read_text("utf-8")


def _versions() -> dict[str, str]:
    found = {"clew": __version__, "Python": platform.python_version()}
    return found | {name: version(name) for name in _LIBRARIES}
