"""Knowledge used again: finds in the first requests with and without what an earlier crawl learned.

    python benchmarks/reuse.py                       # 6 topics of Wikispeedia, 3 seed sets each
    python benchmarks/reuse.py --topics 20 --sets 5 --budget 500

For each topic a crawl learns from one random page; then crawls from other random pages run without
knowledge, with that of the same topic, and with that of an unrelated one (the next topic in the list).
Blind predicates. Printed: mean finds, and the ratios to the crawl without knowledge, per topic and overall.
"""

from __future__ import annotations

import argparse

import numpy as np

from clew.knowledge import Knowledge
from clew.lab import open_web
from clew.lab.arena import Arena
from clew.lab.predicates import Blind
from clew.lab.simulate import simulate
from clew.strategy import Intelligent


def topics_of(web, count: int, low: int, high: int) -> list[tuple[str, frozenset[str]]]:  # type: ignore[no-untyped-def]
    members: dict[str, set[str]] = {}
    for url in web.urls():
        for label in web.labels(url):
            steps = label.split(".")
            for n in range(2, len(steps) + 1):
                members.setdefault(".".join(steps[:n]), set()).add(url)
    fit = sorted(name for name, urls in members.items() if low <= len(urls) <= high)
    chosen = np.random.default_rng(3).permutation(len(fit))[:count]
    return [(fit[i], frozenset(members[fit[i]])) for i in sorted(chosen)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="wikispeedia")
    parser.add_argument("--topics", type=int, default=6)
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--budget", type=int, default=500)
    asked = parser.parse_args()
    web = open_web(asked.corpus)
    arena = Arena(web, dead_links=False)
    pages = sorted(url for url in web.urls() if web.labels(url))
    topics = topics_of(web, asked.topics, 100, 700)
    dice = np.random.default_rng(11)

    def run(
        targets: frozenset[str], seed: str, dice_seed: int, known: Knowledge | None
    ) -> tuple[int, Knowledge]:
        strategy = Intelligent(dice_seed, known=known)
        course = simulate(arena, Blind("topic", targets), strategy, [seed], asked.budget)
        return len(course.finds), strategy.knowledge

    learned = {
        name: run(targets, pages[int(dice.integers(len(pages)))], 1, None)[1] for name, targets in topics
    }
    print(f"{'topic':44} {'plain':>6} {'same':>6} {'other':>6} {'same÷plain':>11} {'other÷plain':>12}")
    sums = np.zeros(3)
    for i, (name, targets) in enumerate(topics):
        other = topics[(i + len(topics) // 2) % len(topics)][0]
        rows = []
        for k in range(asked.sets):
            seed = pages[int(dice.integers(len(pages)))]
            rows.append(
                [run(targets, seed, 2 + k, known)[0] for known in (None, learned[name], learned[other])]
            )
        mean = np.mean(rows, axis=0)
        sums += mean
        ratio = mean / max(1e-9, mean[0])
        print(
            f"{name[-44:]:44} {mean[0]:6.1f} {mean[1]:6.1f} {mean[2]:6.1f} {ratio[1]:11.2f} {ratio[2]:12.2f}",
            flush=True,
        )
    same, other = sums[1] / sums[0], sums[2] / sums[0]
    print(f"{'all':44} {sums[0]:6.1f} {sums[1]:6.1f} {sums[2]:6.1f} {same:11.2f} {other:12.2f}")


if __name__ == "__main__":
    main()
