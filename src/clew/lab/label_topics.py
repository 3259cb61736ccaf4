"""Topics of a recorded web's own labels: a taxonomy to crawl by, where the labels are a tree."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from clew.lab.corpora import TAXONOMY
from clew.lab.demo import DemoWeb
from clew.lab.demo.topics import make_topics
from clew.lab.parsed_web import ParsedWeb
from clew.topic import Example, Taxonomy, TopicLibrary
from clew.training import TaxonomyFolder
from clew.training.train import StemVectors, train
from clew.url import key

#: Examples a topic is given, and the fewest it is trained from.
EXAMPLES = 20
FEWEST = 10


def web_topics(parsed_web: ParsedWeb) -> TopicLibrary:
    """The topics of a recorded web: those of its labels; of the demo web, which has no tree of them, those
    that `clew demo --interest topics` trains."""
    web = parsed_web.web
    if not isinstance(web, DemoWeb):
        return label_library(label_examples(parsed_web))
    with tempfile.TemporaryDirectory() as folder:
        make_topics(web, Path(folder) / "topics")
        return TaxonomyFolder.open(Path(folder) / "topics").library()


def label_examples(parsed_web: ParsedWeb, count: int = EXAMPLES) -> dict[str, list[Example]]:
    """Examples of every label that is a path in a tree: the first pages, by a hash of the address, that have
    no other."""
    found: dict[str, list[Example]] = {}
    for url in sorted(parsed_web.urls, key=key):
        labels = [label for label in parsed_web.web.labels(url) if label.startswith(TAXONOMY)]
        page = parsed_web.page(url) if len(labels) == 1 else None
        if page is not None:
            mine = found.setdefault(labels[0].removeprefix(TAXONOMY).casefold(), [])
            if len(mine) < count:
                mine.append(Example(url, page))
    return found


def label_library(
    examples: dict[str, list[Example]], topics: Sequence[str] = (), kind: str = "keyword"
) -> TopicLibrary:
    """Models of the topics, all or some with those above them, each trained from its own examples and those
    below it (exi), against all that are not comparable. `keyword` is the kind of the paper."""
    taxonomy = Taxonomy(examples)
    wanted = {one for path in topics for one in (path, *taxonomy.above(path))} or {*taxonomy.topics}
    vectors = StemVectors()
    models = {}
    for path in taxonomy.topics:
        positives = taxonomy.indirect(path, examples)
        if path in wanted and len(positives) >= FEWEST:
            models[path] = train(positives, taxonomy.others(path, examples), kind=kind, vectors=vectors).model
    return TopicLibrary(taxonomy, models, {}, "the labels of a recorded web")
