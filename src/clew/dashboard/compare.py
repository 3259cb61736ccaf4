"""Crawls, and runs of the lab, side by side: a line of one chart and a row of one table each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clew.dashboard.folder import ListedCrawl
from clew.dashboard.live import LiveCrawl
from clew.errors import ClewError
from clew.lab.results import Results
from clew.report.crawl_fold import CrawlFold

#: Lines of a chart that can still be told apart.
MOST = 12


def crawl_row(live: LiveCrawl, key: str) -> dict[str, Any]:
    """A crawl as a line: its find curve over requests and its figures."""
    fold: CrawlFold = live.fold
    points = fold.curve.points
    config = live.config
    pages, finds = fold.curve.pages, fold.curve.finds
    return {
        "key": key,
        "name": live.name,
        "kind": "crawl",
        "status": live.status,
        "strategy": "" if config is None else config.strategy,
        "formula": "" if config is None else config.match,
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "pages": pages,
        "requests": fold.requests,
        "finds": finds,
        "harvest": finds / pages if pages else 0.0,
        "per_find": fold.requests / finds if finds else None,
        "half": _half(points),
    }


def experiment_rows(listed: ListedCrawl) -> list[dict[str, Any]]:
    """The strategies of an experiment as lines: mean finds over the requests of its cases."""
    try:
        runs = Results(listed.path).runs().values()
    except (ClewError, TypeError, ValueError, OSError):  # a folder that something else made
        return []
    groups: dict[tuple[str, str], list[Any]] = {}
    for run in runs:
        groups.setdefault((run.setting, run.strategy), []).append(run)
    rows = []
    for (setting, strategy), group in groups.items():
        points = _mean_curve([run.finds for run in group], max(run.budget for run in group))
        requests = sum(run.requests for run in group) / len(group)
        pages = sum(run.pages for run in group) / len(group)
        finds = sum(len(run.finds) for run in group) / len(group)
        rows.append(
            {
                "key": f"{listed.key}/{setting}/{strategy}",
                "name": f"{listed.name}: {strategy}, {setting}",
                "kind": "lab",
                "status": f"mean of {len(group)} runs",
                "strategy": strategy,
                "formula": "",
                "x": [x for x, _ in points],
                "y": [y for _, y in points],
                "pages": round(pages, 1),
                "requests": round(requests, 1),
                "finds": round(finds, 1),
                "harvest": finds / pages if pages else 0.0,
                "per_find": requests / finds if finds else None,
                "half": _half(points),
            }
        )
    return rows


def _mean_curve(finds: list[tuple[int, ...]], budget: int) -> list[tuple[int, float]]:
    """Mean finds of some runs after so many requests, at a hundred or so places."""
    step = max(1, budget // 128)
    places = [*range(0, budget, step), budget]
    return [(at, sum(_before(run, at) for run in finds) / len(finds)) for at in places]


def _before(finds: Iterable[int], at: int) -> int:
    return sum(1 for request in finds if request <= at)


def _half(points: Iterable[tuple[float, float]]) -> float | None:
    """Pages, or requests, after which half of what was found had been found."""
    known = list(points)
    last = known[-1][1] if known else 0
    return next((x for x, y in known if last and y >= last / 2), None)
