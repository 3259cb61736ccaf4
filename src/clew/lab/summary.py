"""`summarise`: from runs to tables, with the topic as the unit of every mean, interval and test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clew.errors import UsageError
from clew.lab import metrics
from clew.lab.results import Oracle, RunResult, measured
from clew.lab.statistics import holm, interval, ratio_interval, sign_flip, variance_components

#: A crawl that has found nothing after so many requests has begun badly, ...
BEGINNING = 50
#: ... all the more where a crawl that knows the way finds something within so many.
NEAR = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Luck:
    """What one crawl may come to, beside the mean of many: dice, starts, topics, and the first find."""

    dice: int
    """With how many dice each case was run; 0 for a strategy that has none."""
    worst: float | None
    """Mean over cases of the nAUC with the unluckiest of the dice."""
    worst_share: float | None
    """`worst` as a share of the mean of all runs; None with one throw, where there is no worst."""
    worst_low: float | None
    """The 95 % bootstrap interval of `worst_share`, over topics."""
    worst_high: float | None
    sd_dice: float | None
    """Standard deviations of nAUC: from dice to dice within a case, ..."""
    sd_starts: float | None
    """... from seed set to seed set within a topic, ..."""
    sd_topics: float | None
    """... and from topic to topic, each without what the ones before explain."""
    nothing: float
    """The share of runs without a find, seeds aside, in the first `BEGINNING` requests."""
    nothing_near: float | None
    """`nothing` among the runs of cases where the oracle has a find within `NEAR` requests."""
    first: float
    """Mean requests to the first find, seeds aside; a run without one counts the whole budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One strategy in one setting at one budget: means over topics."""

    strategy: str
    nauc: float | None
    low: float | None
    """The 95 % bootstrap interval of `nauc`, over topics."""
    high: float | None
    nauc_bound: float | None
    """`nauc` measured against the upper bound instead of the achievable oracle."""
    recall: float | None
    to50: float | None
    """Mean requests to half of the reachable targets, over the runs that got there; their share follows."""
    to50_share: float
    to80: float | None
    to80_share: float
    to90: float | None
    to90_share: float
    hosts: float
    pages: float
    failed: float
    difference: float | None
    """Mean difference in nAUC from the baseline."""
    p: float | None
    """Of the paired permutation test against the baseline, corrected by Holm for the number of strategies."""
    topics: dict[str, float | None]
    """nAUC by topic."""
    luck: Luck


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two strategies compared, topic by topic."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    wins: int
    losses: int
    p: float
    holm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable:
    """One setting (a corpus and a kind of seeds) at one budget."""

    setting: str
    budget: int
    cases: int
    baseline: str
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]


def summarise(
    runs: Sequence[RunResult], oracles: Iterable[Oracle], budgets: Sequence[int], baseline: str = ""
) -> tuple[ResultTable, ...]:
    """A table for every setting and budget, in the order of the runs.

    `baseline` is the strategy others are tested against; the first one when not given.
    """
    labels = list(dict.fromkeys(run.strategy for run in runs))
    if baseline and baseline not in labels:
        raise UsageError(f"no strategy {baseline!r} in these results: choose from {', '.join(labels)}")
    known = {oracle.case: oracle for oracle in oracles}
    settings = dict.fromkeys(run.setting for run in runs)
    return tuple(
        _table(setting, [r for r in runs if r.setting == setting], known, budget, baseline)
        for setting in settings
        for budget in sorted(budgets)
    )


def as_json(tables: Sequence[ResultTable]) -> dict[str, Any]:
    """The tables as plain data."""
    return {"tables": [asdict(table) for table in tables]}


def _table(
    setting: str, runs: Sequence[RunResult], known: dict[str, Oracle], budget: int, baseline: str
) -> ResultTable:
    at = {run.key: measured(run.finds, known[run.case], budget) for run in runs}
    by_strategy: dict[str, list[RunResult]] = {}
    for run in runs:
        by_strategy.setdefault(run.strategy, []).append(run)
    base = baseline if baseline in by_strategy else next(iter(by_strategy))
    topics = {name: _by_topic(mine, lambda run: at[run.key]["nauc"]) for name, mine in by_strategy.items()}
    pairs = _pairs(topics)
    tested = holm({name: sign_flip(_gaps(topics[name], topics[base])) for name in topics if name != base})
    near = _near(runs, known)
    rows = tuple(
        _row(name, mine, at, topics[name], topics[base], tested.get(name), _luck(mine, near, at, budget))
        for name, mine in by_strategy.items()
    )
    cases = len({run.case for run in runs})
    return ResultTable(setting=setting, budget=budget, cases=cases, baseline=base, rows=rows, pairs=pairs)


def _row(
    name: str,
    runs: Sequence[RunResult],
    at: dict[str, dict[str, float | int | None]],
    topics: dict[str, float | None],
    base: dict[str, float | None],
    p: float | None,
    luck: Luck,
) -> Row:
    values = [value for value in topics.values() if value is not None]
    low, high = interval(values) if values else (None, None)
    gaps = _gaps(topics, base)
    reached: dict[str, Any] = {}
    for share in ("to50", "to80", "to90"):
        got = [value for run in runs if (value := at[run.key][share]) is not None]
        reached |= {share: _mean(got), f"{share}_share": len(got) / len(runs)}
    return Row(
        strategy=name,
        nauc=_mean(values),
        low=low,
        high=high,
        nauc_bound=_over_topics(runs, lambda run: at[run.key]["nauc_bound"]),
        recall=_over_topics(runs, lambda run: at[run.key]["recall"]),
        hosts=_over_topics(runs, lambda run: run.hosts) or 0.0,
        pages=_over_topics(runs, lambda run: run.pages) or 0.0,
        failed=_over_topics(runs, lambda run: run.failed) or 0.0,
        difference=_mean(gaps) if p is not None else None,
        p=p,
        topics=topics,
        luck=luck,
        **reached,
    )


def _luck(
    runs: Sequence[RunResult],
    near: set[str],
    at: dict[str, dict[str, float | int | None]],
    budget: int,
) -> Luck:
    cases: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        if (value := at[run.key]["nauc"]) is not None:
            cases.setdefault(run.topic, {}).setdefault(run.case, []).append(value)
    worst = [_mean([min(values) for values in mine.values()]) or 0.0 for mine in cases.values()]
    means = [_mean([v for values in mine.values() for v in values]) or 0.0 for mine in cases.values()]
    all_of_them, thrown = _mean(means), max((run.throw for run in runs), default=0)
    # Without dice every throw would be the same, the worst too.
    share = (_mean(worst) or 0.0) / all_of_them if all_of_them and thrown != 1 else None
    low, high = ratio_interval(worst, means) if share is not None else (None, None)
    parts = variance_components(cases)
    begun = {run.key: run.first is None or run.first > min(BEGINNING, budget) for run in runs}
    firsts = [budget if run.first is None else min(run.first, budget) for run in runs]
    return Luck(
        dice=thrown,
        worst=_mean(worst),
        worst_share=share,
        worst_low=low,
        worst_high=high,
        sd_dice=0.0 if thrown == 0 else _root(parts.dice),
        sd_starts=_root(parts.starts),
        sd_topics=_root(parts.topics),
        nothing=_mean([float(flag) for flag in begun.values()]) or 0.0,
        nothing_near=_mean([float(begun[run.key]) for run in runs if run.case in near]),
        first=_mean(firsts) or 0.0,
    )


def _near(runs: Sequence[RunResult], known: dict[str, Oracle]) -> set[str]:
    """The cases in which the oracle's first find that was not given comes soon."""
    given: dict[str, int] = {}
    for run in runs:
        given[run.case] = max(given.get(run.case, 0), len(run.given))
    return {case for case, seeds in given.items() if any(at <= NEAR for at in known[case].finds[seeds:])}


def _root(variance: float | None) -> float | None:
    return None if variance is None else math.sqrt(variance)


def _pairs(topics: dict[str, dict[str, float | None]]) -> tuple[Pair, ...]:
    names = list(topics)
    both = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    raw = {f"{a}\0{b}": sign_flip(_gaps(topics[a], topics[b])) for a, b in both}
    corrected = holm(raw)
    found = []
    for a, b in both:
        gaps = _gaps(topics[a], topics[b])
        if not gaps:
            continue
        low, high = interval(gaps)
        found.append(
            Pair(
                first=a,
                second=b,
                difference=math.fsum(gaps) / len(gaps),
                low=low,
                high=high,
                wins=sum(gap > 0 for gap in gaps),
                losses=sum(gap < 0 for gap in gaps),
                p=raw[f"{a}\0{b}"],
                holm=corrected[f"{a}\0{b}"],
            )
        )
    return tuple(found)


def mean_curve(runs: Sequence[RunResult], budget: int, points: int = 100) -> tuple[tuple[int, float], ...]:
    """The mean find curve as a share of what could be reached: over seed sets, then over topics."""
    by_topic: dict[str, list[tuple[float, ...]]] = {}
    places: tuple[int, ...] = ()
    for run in runs:
        if run.reachable:
            line = metrics.curve(run.finds, budget, points)
            places = tuple(place for place, _ in line)
            by_topic.setdefault(run.topic, []).append(tuple(count / run.reachable for _, count in line))
    if not by_topic:
        return ()
    topics = [
        [math.fsum(column) / len(lines) for column in zip(*lines, strict=True)] for lines in by_topic.values()
    ]
    means = [math.fsum(column) / len(topics) for column in zip(*topics, strict=True)]
    return tuple(zip(places, means, strict=True))


def _by_topic(
    runs: Iterable[RunResult], value: Callable[[RunResult], float | None]
) -> dict[str, float | None]:
    found: dict[str, list[float]] = {}
    for run in runs:
        mine = found.setdefault(run.topic, [])
        if (number := value(run)) is not None:
            mine.append(number)
    return {topic: _mean(numbers) for topic, numbers in found.items()}


def _over_topics(runs: Iterable[RunResult], value: Callable[[RunResult], float | None]) -> float | None:
    return _mean([number for number in _by_topic(runs, value).values() if number is not None])


def _gaps(first: dict[str, float | None], second: dict[str, float | None]) -> list[float]:
    """Differences by topic, where both have a value."""
    pairs = [(value, second.get(topic)) for topic, value in first.items()]
    return [a - b for a, b in pairs if a is not None and b is not None]


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
