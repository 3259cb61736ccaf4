"""What the paper says of its figures, held against ours: a statement, what was measured, whether it holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from clew.lab.reproduce.figure import Figure, Outcomes, Panel, Sheet, harvest, mean, percent
from clew.lab.reproduce.sheets import TENTH, reused, spread
from clew.lab.reproduce.trial import FACTORS, Crawled, Trial

#: "Almost as well", of the best factor's harvest.
_ALMOST = 0.9
#: A harvest that is so many times random's is much higher.
_MUCH = 3.0


@dataclass(frozen=True, slots=True)
class TrialGroup:
    """One predicate from one seed: what everybody made of it."""

    trial: Trial
    by: Mapping[str, Crawled]

    def end(self, name: str) -> float:
        """The harvest of a whole crawl."""
        return self.by[name].harvest(self.trial.pages)

    @property
    def best(self) -> str:
        """The best factor alone."""
        return max(FACTORS, key=self.end)

    def learning(self, name: str) -> int:
        """Pages to the tenth find; all of them, when there were fewer."""
        return self.by[name].until(TENTH) or self.trial.pages


def cases(figures: Mapping[str, Figure], outcomes: Outcomes) -> list[TrialGroup]:
    """Every predicate and seed that all factors were tried on, once each."""
    found: dict[Trial, TrialGroup] = {}
    for figure in figures.values():
        for panel in figure.panels:
            lines = {line.name: line.trials for line in panel.lines}
            if not set(FACTORS) <= set(lines):
                continue
            for number, trial in enumerate(lines["composite"]):
                by = {name: outcomes[trials[number]] for name, trials in lines.items()}
                found.setdefault(trial, TrialGroup(trial, by))
    return list(found.values())


def statements(figures: Mapping[str, Figure], outcomes: Outcomes) -> tuple[Sheet, ...]:
    """The paper's statements as one table, and the factors' means as another."""
    every = cases(figures, outcomes)
    rows = (
        _random(figures, outcomes),
        *_learning(every),
        *_composite(every),
        *_factors(every),
        *_seeds(figures, outcomes),
        _kinds(figures, outcomes),
        *_reuse(figures, outcomes),
    )
    headings = ("the paper says", "where", "here", "holds")
    return (Sheet("The paper's statements", headings, rows), _means(every))


def _verdict(holds: bool, partly: bool = False) -> str:
    return "yes" if holds else "partly" if partly else "no"


def _random(figures: Mapping[str, Figure], outcomes: Outcomes) -> tuple[str, ...]:
    panel = figures["figure-3"].panels[0]
    value = mean([harvest(line, outcomes, panel.pages) for line in panel.lines if line.name == "random"])
    composite = harvest(panel.lines[0], outcomes, panel.pages)
    said = f"random {percent(value)}, composite {percent(composite)} after {panel.pages} pages"
    return (
        "random finds about 1 %, the composite many times that",
        "5",
        said,
        _verdict(composite > _MUCH * value),
    )


def _learning(every: list[TrialGroup]) -> tuple[tuple[str, ...], ...]:
    rise = sum(case.by["composite"].harvest(case.trial.pages // 10) < _peak(case) for case in every)
    pages = {name: mean([case.learning(name) for case in every]) for name in FACTORS}
    said = ", ".join(f"{name} {pages[name]:.0f}" for name in FACTORS)
    slower = pages["link"] > max(pages["content"], pages["url"])
    return (
        (
            "the crawl finds little at first and improves as it learns",
            "5, Fig. 3",
            f"the composite's harvest is higher later than after a tenth of the crawl in {rise} of "
            f"{len(every)} cases",
            _verdict(rise >= 0.8 * len(every), rise >= 0.5 * len(every)),
        ),
        (
            "link learns more slowly than content and URL tokens",
            "5, Fig. 4",
            f"pages to {TENTH} finds, mean: {said}",
            _verdict(slower, pages["link"] > min(pages["content"], pages["url"])),
        ),
    )


def _peak(case: TrialGroup) -> float:
    """The best harvest of the composite at a quarter, a half and the whole of its crawl."""
    pages = case.trial.pages
    return max(case.by["composite"].harvest(pages * k // 4) for k in (1, 2, 4))


def _composite(every: list[TrialGroup]) -> tuple[tuple[str, ...], ...]:
    above = sum(case.end("composite") > case.end(case.best) for case in every)
    almost = sum(case.end("composite") >= _ALMOST * case.end(case.best) for case in every)
    ratio = float(np.median([case.end("composite") / max(case.end(case.best), 1e-9) for case in every]))
    return (
        (
            "the composite is almost as good as or better than the best factor, each time",
            "5.3",
            f"at least {_ALMOST:g} of the best factor's harvest in {almost} of {len(every)} cases; "
            f"median ratio {ratio:.2f}",
            _verdict(almost == len(every), almost >= len(every) / 2),
        ),
        (
            "the combination is always superior to each factor",
            "3.6",
            f"in {above} of {len(every)} cases",
            _verdict(above == len(every), above >= len(every) / 2),
        ),
    )


def _factors(every: list[TrialGroup]) -> tuple[tuple[str, ...], ...]:
    best = Counter(case.best for case in every)
    ends = {name: mean([case.end(name) for case in every]) for name in FACTORS}
    last = min(FACTORS, key=lambda name: ends[name])
    beats = sum(case.end("sibling") > case.end("random") for case in every)
    near = rank_correlation(
        [case.by["link"].locality for case in every], [case.end("link") for case in every]
    )
    told = ", ".join(f"{name} {best[name]}" for name in FACTORS)
    return (
        (
            "which factor is best depends on the predicate",
            "5.1",
            f"best in so many of {len(every)} cases: {told}",
            _verdict(len(best) > 2, len(best) == 2),
        ),
        (
            "sibling is below the other factors on average, but above random",
            "5, Fig. 4",
            f"lowest on average is {last}; sibling is above random in {beats} of {len(every)} cases",
            _verdict(last == "sibling" and beats > 0.8 * len(every), beats > 0.8 * len(every)),
        ),
        (
            "link fails where satisfying pages do not link to each other",
            "5.1, Fig. 6",
            f"rank correlation of link's harvest with locality, over cases: {near:.2f}",
            _verdict(near > 0.5, near > 0.2),
        ),
    )


def rank_correlation(a: list[float], b: list[float]) -> float:
    """Spearman's.

    >>> rank_correlation([1, 2, 3], [10, 20, 40])
    1.0
    """
    if len(a) < 2:
        return 0.0
    x, y = _ranks(a), _ranks(b)
    x, y = x - x.mean(), y - y.mean()
    size = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return round(float((x * y).sum()) / size, 10) if size else 0.0


def _ranks(values: list[float]) -> np.ndarray:
    """Ranks; equals share the mean of theirs."""
    data = np.array(values, np.float64)
    return np.array([(data < v).sum() + ((data == v).sum() - 1) / 2 for v in data], np.float64)


def _seeds(figures: Mapping[str, Figure], outcomes: Outcomes) -> tuple[tuple[str, ...], ...]:
    ahead: Counter[str] = Counter()
    spreads: dict[str, list[float]] = {}
    for panel in figures["seeds"].panels:
        lines = {line.name: line.trials for line in panel.lines}
        ends = {name: _ends(panel, lines[name], outcomes) for name in ("composite", *FACTORS)}
        for content, link in zip(ends["content"], ends["link"], strict=True):
            ahead["content" if content > link else "link"] += 1
        for name, values in ends.items():
            spreads.setdefault(name, []).append(spread(values))
    by = {name: mean(values) for name, values in spreads.items()}
    told = ", ".join(f"{name} {value:.2f}" for name, value in by.items())
    least = by["composite"] <= min(by[name] for name in FACTORS)
    return (
        (
            "content and link change places with the seed",
            "5.2, Fig. 7, 8",
            f"content ahead from {ahead['content']} seeds, link from {ahead['link']}",
            _verdict(min(ahead["content"], ahead["link"]) > 1, min(ahead["content"], ahead["link"]) == 1),
        ),
        (
            "the composite is robust to the seed",
            "5.2, Fig. 9",
            f"spread of the harvest over five seeds, mean of two webs: {told}",
            _verdict(least, by["composite"] <= mean([by[name] for name in FACTORS])),
        ),
    )


def _ends(panel: Panel, trials: tuple[Trial, ...], outcomes: Outcomes) -> list[float]:
    return [outcomes[trial].harvest(panel.pages) for trial in trials]


def _kinds(figures: Mapping[str, Figure], outcomes: Outcomes) -> tuple[str, ...]:
    ratios = []
    for panel in figures["table-2"].panels:
        found = {line.name: harvest(line, outcomes, panel.pages) for line in panel.lines}
        ratios.append(found["composite"] / max(found["random"], 1 / panel.pages))
    much = sum(ratio >= _MUCH for ratio in ratios)
    said = (
        f"at least {_MUCH:g} times random in {much} of {len(ratios)} predicates; median "
        f"{float(np.median(ratios)):.1f} times, least {min(ratios):.1f}"
    )
    says = "for all kinds of predicates the harvest is much higher than random's"
    return says, "5.2, Table 2", said, _verdict(much == len(ratios), much >= len(ratios) / 2)


def _reuse(figures: Mapping[str, Figure], outcomes: Outcomes) -> tuple[tuple[str, ...], ...]:
    return (
        (
            "a crawl that uses earlier knowledge begins high",
            "5.4, Fig. 10",
            *_gain(figures["figure-10"], outcomes, 0.2),
        ),
        (
            "for a related predicate: 42 % against 28 %, 1.5 times",
            "5.4",
            *_gain(figures["related"], outcomes, 1.0),
        ),
    )


def _gain(figure: Figure, outcomes: Outcomes, share: float) -> tuple[str, str]:
    rows = [row for panel in figure.panels for row in reused(panel, outcomes, share)]
    told = []
    best = 0.0
    for name in dict.fromkeys(row[0] for row in rows):
        without = mean([row[1] for row in rows if row[0] == name])
        using = mean([row[2] for row in rows if row[0] == name])
        ratio = using / without if without else 0.0
        best = max(best, ratio)
        told.append(f"{name} {percent(using)} against {percent(without)}, {ratio:.2f} times")
    when = (
        "over the whole crawl"
        if share == 1.0
        else f"in the first {share:.0%} of the crawl".replace("%", " %")
    )
    return f"{when}: {'; '.join(told)}", _verdict(best >= 1.4, best > 1.05)


def _means(every: list[TrialGroup]) -> Sheet:
    """Every strategy over all cases: harvest, how often the best of all, pages to ten finds."""
    rows = []
    for name in every[0].by:
        ends = [case.end(name) for case in every]
        top = sum(case.end(name) >= max(case.end(n) for n in case.by if n != "oracle") for case in every)
        learning = mean([case.learning(name) for case in every])
        rows.append((name, percent(mean(ends)), "" if name == "oracle" else str(top), f"{learning:.0f}"))
    headings = ("over all cases", "harvest, mean", "best, times", f"pages to {TENTH} finds, mean")
    return Sheet(f"All {len(every)} cases", headings, tuple(rows))
