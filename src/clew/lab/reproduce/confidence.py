"""The paper of Hu and Wong (confidence): its figures, and how its model fares on recorded webs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from clew.lab.experiment import Topic
from clew.lab.experiment_plan import ExperimentCorpus
from clew.lab.reproduce.figure import Sheet
from clew.lab.reproduce.perform import open_corpus
from clew.lab.reproduce.study import Plot, Study, Tell
from clew.lab.simulate import simulate
from clew.learn.search_depth import OutDegrees, SearchDepth
from clew.policy.confidence import Confidence
from clew.strategy import make

#: The paper's example.
_P1, _P4 = 0.1, 0.999
_DEPTHS = 14
_P4S = (0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999)
#: What crawls count with: a level that suspends nothing in crawls of this length.
_COUNT_ONLY = 0.9999
_REQUESTS, _LEVELS = 400, 8
_HARD = ("subject.Science.Biology.Birds", "subject.Geography.Climate_and_the_Weather")
_CASES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("webkb:cornell", ("student", "faculty"), ()),
    ("webkb:texas", ("student", "faculty"), ()),
    ("webkb:washington", ("student", "project"), ()),
    ("wikispeedia", _HARD, ()),
    ("wikispeedia:hard", _HARD, ()),
    ("miniweb", (), ("imageio", "gevent")),
    ("made:detours:1", ("wind", "cooking"), ()),
)
_QUICK = (("made:detours:1", ("wind",), ()),)


def confidence_study(*, small: bool = False, tell: Tell = lambda said: None) -> Study:
    """The paper's figures 3 and 4, and the depths of recorded webs; `small` on one made web only."""
    cases = [case for spec in (_QUICK if small else _CASES) for case in _measured(*spec, tell)]
    return Study(
        "confidence",
        "How far the next relevant page is",
        "Figure 3: with P1 = 0.1, P4 = 0.999 and two new links on every page, the expected depth is 7.21"
        " from a relevant page and 8.65 from an irrelevant one. Figure 4: the likeliest depth grows with"
        " P4.",
        "The same by the recursion. Then the model against recorded webs: a breadth-first crawl of "
        f"{_REQUESTS} requests counts P1 to P4 and the new links of pages; *predicted* is the "
        "distribution these give, *observed* how many links the next page of the topic really is from "
        "each page of the web that can be reached, and *found at* at which depth of a direction the "
        "crawl met its finds.",
        (_figure_3(), _figure_4(), *_reliability(cases)),
        (_table_3(), _table_4(), _table_of_webs(cases), _table_of_depths(cases)),
    )


# the paper's figures


def _both() -> tuple[tuple[str, SearchDepth], ...]:
    return (
        ("from a relevant page", SearchDepth(_P4, p2=1 - _P1)),
        ("from an irrelevant page", SearchDepth(_P4)),
    )


def _figure_3() -> Plot:
    lines = tuple(
        (name, [(float(i), p) for i, p in enumerate(depth.mass(_DEPTHS), 1)]) for name, depth in _both()
    )
    return Plot(
        "figure-3", "Figure 3: crawler confidence, P1 = 0.1, P4 = 0.999", lines, "depth", "probability"
    )


def _table_3() -> Sheet:
    columns = [depth.mass(_DEPTHS) for _, depth in _both()]
    rows = [(str(i + 1), *(f"{column[i]:.4f}" for column in columns)) for i in range(_DEPTHS)]
    rows.append(("E[S]", *(f"{depth.mean():.3f}" for _, depth in _both())))
    rows.append(("likeliest beyond 1", *(str(depth.mode()) for _, depth in _both())))
    rows.append(("90 % within", *(str(depth.quantile(0.9)) for _, depth in _both())))
    return Sheet("Figure 3: the probability of each depth", ("depth", *(n for n, _ in _both())), tuple(rows))


def _figure_4() -> Plot:
    points = [(p4, float(SearchDepth(p4).mode())) for p4 in (0.8 + 0.001 * i for i in range(200))]
    return Plot("figure-4", "Figure 4: the likeliest depth by P4", (("N", points),), "P4", "depth")


def _table_4() -> Sheet:
    rows = [
        ("N, by the recursion", *(str(SearchDepth(p4).mode()) for p4 in _P4S)),
        ("N, by the paper's formula", *(str(_peak(p4)) for p4 in _P4S)),
        ("E[S]", *(f"{SearchDepth(p4).mean():.2f}" for p4 in _P4S)),
    ]
    return Sheet("Figure 4: from an irrelevant page", ("P4", *(f"{p4:g}" for p4 in _P4S)), tuple(rows))


def _peak(p4: float) -> int:
    golden = (math.sqrt(5) - 1) / 2
    return math.ceil((math.log(-math.log(golden)) - math.log(-math.log(p4))) / math.log(2))


# recorded webs


@dataclass(frozen=True, slots=True)
class _Case:
    """A topic on a recorded web: what a crawl counted, and where the next page of the topic really is."""

    web: str
    topic: str
    counted: Confidence
    distances: dict[bool, list[int]]
    """Of pages that are no finds, and of finds: how many links the next is away; 0 where none is."""

    @property
    def name(self) -> str:
        return f"{self.web}, {self.topic.rpartition('.')[2].replace('_', ' ')}"

    def predicted(self, *, relevant: bool) -> SearchDepth:
        counted = self.counted
        return SearchDepth(
            counted.p(4).value if counted.p(4).of else 1.0,
            OutDegrees(counted.out_links),
            (counted.p(2).value if counted.p(2).of else 1.0) if relevant else None,
        )

    def within(self, depth: int, *, relevant: bool) -> float:
        found = self.distances[relevant]
        return sum(0 < one <= depth for one in found) / len(found) if found else math.nan


def _measured(web: str, labels: tuple[str, ...], formulas: tuple[str, ...], tell: Tell) -> list[_Case]:
    field = open_corpus(web)
    topics = [Topic(name=label, label=label) for label in labels]
    topics += [Topic(name=formula, formula=formula) for formula in formulas]
    found = []
    for topic in topics:
        found.append(_measure(field, web, topic))
        tell(found[-1].name)
    return found


def _measure(field: ExperimentCorpus, web: str, topic: Topic) -> _Case:
    parsed, mask = field.parsed_web, field.mask(topic)
    wanted = field.predicate(topic, blind=True)
    seeds = parsed.web.seeds()
    course = simulate(parsed, wanted, make("breadth-first", wanted), seeds, _REQUESTS, confidence=_COUNT_ONLY)
    assert course.confidence is not None  # it was asked for
    graph = parsed.graph
    away = graph.flipped().distances(np.flatnonzero(mask))
    distances: dict[bool, list[int]] = {False: [], True: []}
    for node in np.flatnonzero(graph.reach([parsed.number[seed] for seed in seeds])).tolist():
        behind = graph.after(np.array([node]))
        reached = away[behind[behind != node]]
        reached = reached[reached >= 0]
        distances[bool(mask[node])].append(1 + int(reached.min()) if len(reached) else 0)
    return _Case(web, topic.name, course.confidence, distances)


def _reliability(cases: list[_Case]) -> list[Plot]:
    """Predicted against observed: on the diagonal, the model is right."""
    plots = []
    for relevant, kind in ((False, "irrelevant"), (True, "relevant")):
        lines = [("as predicted", [(0.0, 0.0), (1.0, 1.0)])]
        for case in cases:
            if len(case.distances[relevant]) < 5:
                continue
            mass = case.predicted(relevant=relevant).mass(_LEVELS)
            sums = np.cumsum(mass).tolist()
            points = [(sums[i], case.within(i + 1, relevant=relevant)) for i in range(_LEVELS)]
            lines.append((case.name, [(0.0, 0.0), *points]))
        plots.append(
            Plot(
                f"reliability-{kind}",
                f"The next relevant page within 1 to {_LEVELS} links of an {kind} page"
                if kind == "irrelevant"
                else f"The next relevant page within 1 to {_LEVELS} links of a {kind} page",
                tuple(lines),
                "predicted",
                "observed",
            )
        )
    return plots


def _table_of_webs(cases: list[_Case]) -> Sheet:
    rows = []
    for case in cases:
        counted = case.counted
        shares = [counted.p(number) for number in (1, 4)]
        depth = case.predicted(relevant=False)
        rows.append(
            (
                case.name,
                *(f"{p.value:.3f} ({p.interval[0]:.3f}–{p.interval[1]:.3f})" for p in shares),
                f"{OutDegrees(counted.out_links).mean:.1f}",
                f"{depth.mean():.2f}" if depth.never() < 1.0 else "–",
                str(depth.quantile(0.9) or "–"),
            )
        )
    headings = ("web, topic", "P1", "P4", "new links", "E[S], irrelevant", "90 % within")
    return Sheet("What the crawls counted, and what the model makes of it", headings, tuple(rows))


def _table_of_depths(cases: list[_Case]) -> Sheet:
    rows = []
    for case in cases:
        sums = np.cumsum(case.predicted(relevant=False).mass(_LEVELS)).tolist()
        pairs = [f"{sums[i]:.2f} / {case.within(i + 1, relevant=False):.2f}" for i in range(5)]
        total = sum(case.counted.depths)
        came = [f"{sum(case.counted.depths[: d + 1]) / total:.2f}" if total else "–" for d in (1, 2, 4)]
        rows.append((case.name, *pairs, " / ".join(came)))
    headings = (
        "predicted / observed",
        *(f"within {i}" for i in range(1, 6)),
        "found at 1 / by 2 / by 4",
    )
    return Sheet("From irrelevant pages: the next relevant page within so many links", headings, tuple(rows))
