"""How good are topics? Wikispeedia's subjects, learned from twenty articles each, judged on all the others.

    python bench/topics.py [--kind linear bayes keyword] [--examples 5 20] [--json]

The rule: every subject with at least 30 articles, of which at least 20
have no other subject; its 20 examples are the first of those by a hash of the address; what it is not are
the examples of the other subjects. Judged is on every article with a subject that is no example of any,
from the corpus without subject lines (`wikispeedia:hard`). Intervals are bootstrap intervals over subjects.
Seconds and milliseconds are this machine's, under its load; beside them stands what parsing the same pages
takes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from clew.lab.corpora import open_web
from clew.page import Page
from clew.parse import parse_page
from clew.topic import Example, TopicModel, TopicScorers
from clew.training.train import StemVectors, reliability, roc_auc, train
from clew.url import key

CORPUS = "wikispeedia:hard"
TOPICS, DOCUMENTS = 10, 200
PRIOR = 0.1


def articles() -> list[tuple[Page, tuple[str, ...]]]:
    """Every article that has a subject, in an order that means nothing, with its subjects."""
    web = open_web(CORPUS)
    found = []
    for url in sorted(web.urls(), key=key):
        subjects = tuple(label for label in web.labels(url) if label.startswith("subject."))
        reply = web.get(url)
        if subjects and reply is not None:
            kind = reply.header("content-type")
            page = parse_page(reply.body, url=url, status=200, content_type=kind, headers=(), depth=0)
            found.append((page, subjects))
    return found


def chosen(found: Sequence[tuple[Page, tuple[str, ...]]], count: int) -> dict[str, list[Example]]:
    """The examples of every subject that has enough articles."""
    members: dict[str, int] = {}
    single: dict[str, list[Example]] = {}
    for page, subjects in found:
        for subject in subjects:
            members[subject] = members.get(subject, 0) + 1
        if len(subjects) == 1:
            single.setdefault(subjects[0], []).append(Example(page.url, page))
    fit = sorted(name for name, size in members.items() if size >= 30 and len(single.get(name, ())) >= 20)
    return {name: single[name][:count] for name in fit}


def interval(values: Sequence[float]) -> list[float]:
    """Mean, and the middle 95 % of the means of resampled subjects."""
    dice = np.random.default_rng(0)
    means = [float(np.mean(dice.choice(values, len(values)))) for _ in range(2000)]
    return [round(float(x), 4) for x in (np.mean(values), *np.quantile(means, [0.025, 0.975]))]


def quality(found: Sequence[tuple[Page, tuple[str, ...]]], kind: str, count: int) -> dict[str, Any]:
    """ROC-AUC and expected calibration error of every subject on articles that are no examples."""
    examples = chosen(found, count)
    used = {example.place for some in examples.values() for example in some}
    rest = [(page, subjects) for page, subjects in found if page.url not in used]
    models: dict[str, TopicModel] = {}
    promised = []
    vectors = StemVectors()
    for name, mine in examples.items():
        others = [example for other, some in examples.items() if other != name for example in some]
        models[name] = train(mine, others, kind=kind, prior=PRIOR, vectors=vectors).model
        held = models[name].held_out
        promised.append(held.auc if held is not None and held.auc is not None else 0.5)
    scorers = TopicScorers(models)
    degrees = np.array([scorers.page(page).degrees for page, _ in rest])
    areas, errors, weighed = [], [], []
    for column, name in enumerate(scorers.names):
        labels = np.array([name in subjects for _, subjects in rest])
        areas.append(roc_auc(degrees[:, column], labels))
        masses = np.where(labels, PRIOR / labels.sum(), (1 - PRIOR) / (~labels).sum())
        for into, weight in ((errors, None), (weighed, masses)):
            rows = reliability(degrees[:, column], labels, weight)
            into.append(sum(abs(mean - share) * mass for mean, share, mass in rows))
    return {
        "kind": kind,
        "examples": count,
        "subjects": len(examples),
        "judged": len(rest),
        "auc": interval(areas),
        "least_auc": round(min(areas), 4),
        "promised_auc": interval(promised),
        "calibration_error": interval(errors),
        "calibration_error_at_prior": interval(weighed),
    }


def speed(found: Sequence[tuple[Page, tuple[str, ...]]]) -> dict[str, Any]:
    """Seconds to train ten topics of two hundred documents; milliseconds to score a page for all ten."""
    # In the order of their subjects: so two hundred that stand together are about much the same.
    pages = [page for page, _ in sorted(found, key=lambda row: row[1])][::2]
    groups = {
        f"topic{n}": [Example(page.url, page) for page in pages[n * DOCUMENTS : (n + 1) * DOCUMENTS]]
        for n in range(TOPICS)
    }
    began = time.perf_counter()
    vectors = StemVectors()
    models = {}
    for name, mine in groups.items():
        others = [example for other, some in groups.items() if other != name for example in some]
        models[name] = train(mine, others, vectors=vectors).model
    seconds = time.perf_counter() - began
    scorers = TopicScorers(models)
    sample = pages[:500]
    for page in sample:
        scorers.page(page)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        for page in sample:
            scorers.page(page)
        times.append(1000 * (time.perf_counter() - began) / len(sample))
    web = open_web(CORPUS)
    bodies = [(page.url, reply) for page in sample if (reply := web.get(page.url)) is not None]
    began = time.perf_counter()
    for url, reply in bodies:
        parse_page(
            reply.body, url=url, status=200, content_type=reply.header("content-type"), headers=(), depth=0
        )
    parsing = 1000 * (time.perf_counter() - began) / len(bodies)
    return {
        "topics": TOPICS,
        "documents": DOCUMENTS,
        "train_seconds": round(seconds, 2),
        "page_milliseconds": round(min(times), 3),
        "parse_milliseconds": round(parsing, 3),
        "share_of_parsing": round(min(times) / parsing, 3),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", nargs="*", default=["linear", "bayes", "keyword"])
    parser.add_argument("--examples", nargs="*", type=int, default=[5, 10, 20])
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    found = articles()
    rows = [quality(found, kind, count) for kind in asked.kind for count in asked.examples]
    figures = {"quality": rows, "speed": speed(found)}
    if asked.json:
        print(json.dumps(figures))
        return 0
    for row in rows:
        auc, error = row["auc"], row["calibration_error"]
        print(
            f"{row['kind']:8} {row['examples']:3} examples  AUC {auc[0]:.3f} [{auc[1]:.3f}, {auc[2]:.3f}]  "
            f"least {row['least_auc']:.3f}  promised {row['promised_auc'][0]:.3f}  "
            f"calibration error {error[0]:.3f} [{error[1]:.3f}, {error[2]:.3f}], "
            f"at one in ten {row['calibration_error_at_prior'][0]:.3f}  "
            f"({row['subjects']} subjects, {row['judged']} articles)"
        )
    told = figures["speed"]
    print(
        f"{told['topics']} topics of {told['documents']} documents: trained in {told['train_seconds']} s; "
        f"a page scored for all in {told['page_milliseconds']} ms, {told['share_of_parsing']} of its parsing"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
