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
from clew.predicate.interests import formulas
from clew.report.crawl_fold import BLIND, chance_curve
from clew.report.crawl_summary import MAX_HOSTS, ComparedCrawl, CrawlSummary, gather
from clew.report.find_graph import graph_of, shown
from clew.report.harvest_chart import curves, exploration_bars, legend, recall_band
from clew.report.line_chart import COLOURS, Line, key, plot
from clew.run.stopping import estimates
from clew.store.base import Reader
from clew.units import duration_text, size_text

#: Rows of the table behind a chart.
_ROWS = 60
_LIBRARIES = ("aiohttp", "turbohtml", "lark", "numpy", "fastwarc")


def write_report(store: Reader, path: Path, *, command: str) -> None:
    """Write the report of one crawl; `command` is what to type to do it again."""
    facts = gather(store)
    elapsed = _elapsed(facts)
    looks = estimates(store)
    blind = facts.config.get("strategy") in BLIND
    found = [] if blind else chance_curve(facts.fold.curve.queue, looks)
    chance = [(float(pages), finds) for (pages, _), finds in zip(facts.curve, found, strict=False)]
    factors = _strongest(facts)
    # Changes of focus have a table of their own.
    marks = [mark for mark in facts.fold.marks if mark.name != "set-focus"]
    values = {
        "facts": facts,
        "command": command,
        "chart": curves(
            [("finds", facts.curve), *facts.interests.items()], [facts.changes], chance=chance, marks=marks
        ),
        "chance": chance,
        "rows": _thinned(facts, chance),
        "marks": marks,
        "factors": factors,
        "factor_chart": plot(factors, "pages fetched", "contribution"),
        "factor_key": key([name for name, _ in factors]),
        "exploration": facts.fold.exploration,
        "exploration_bars": exploration_bars(facts.fold.exploration.stretches),
        "names": legend(["finds", *facts.interests]),
        "formulas": sought_by_name(facts),
        "shares": facts.fold.shares(facts.interests),
        "graph": graph_of(store, facts.fold.finds),
        "looks": looks,
        "band": recall_band(looks, facts.curve),
        "elapsed": duration_text(elapsed) if elapsed else "",
        "more_finds": facts.counts.matched - len(facts.finds),
        "more_hosts": facts.asked - len(facts.hosts),
        "linked_hosts": facts.counts.hosts - facts.asked,
        "max_hosts": MAX_HOSTS,
        "dropped": sorted(facts.counts.by_reason.items(), key=lambda item: (-item[1], item[0])),
    }
    write_page(path, "crawl.html.j2", values)


def sought_by_name(facts: CrawlSummary) -> dict[str, str]:
    """The formula of each interest of a crawl that has several; of one that steering added, none is told."""
    given = formulas(str(facts.config.get("match", "")))
    return {name: given.get(name, "") for name in facts.interests}


def _thinned(
    facts: CrawlSummary, chance: Sequence[tuple[float, float]]
) -> list[tuple[int, int, float | None, list[int]]]:
    """Rows of the table behind the curve: pages, finds, those by chance, those of each interest."""
    curve, each = facts.curve, facts.interests.values()
    step = max(1, len(curve) // _ROWS)
    kept = [*range(0, len(curve) - 1, step), len(curve) - 1]
    return [
        (*curve[at], chance[at][1] if at < len(chance) else None, [one[at][1] for one in each]) for at in kept
    ]


def _strongest(facts: CrawlSummary) -> list[Line]:
    """The contributions that said most, along the crawl."""
    rows = facts.fold.stretches.rows
    said = [
        (sum(abs(means[column]) for _, means in rows), name, [(end, means[column]) for end, means in rows])
        for column, name in enumerate(facts.fold.names)
    ]
    loudest = sorted((one for one in said if one[0] > 0), key=lambda one: (-one[0], one[1]))[:COLOURS]
    return [(name, points) for _, name, points in loudest]


def write_comparison(
    runs: Sequence[ComparedCrawl], path: Path, *, title: str, note: str = "", command: str = ""
) -> None:
    """Write several crawls of one web side by side: a chart with a line each, and a table."""
    values = {
        "runs": runs,
        "title": title,
        "note": note,
        "command": command,
        "chart": curves([(run.name, run.curve) for run in runs], [run.changes for run in runs]),
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
    environment.filters.update(link=link, shown=shown, size=size_text, setting=_setting)
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
