"""Two topics of the demo web, from its own pages: what it is about, and a place by the sea."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clew.lab.demo.plan import OUT_OF_REACH, PageKind
from clew.lab.demo.web import DemoWeb
from clew.parse import parse_page
from clew.topic import Example
from clew.training import TaxonomyFolder
from clew.training.folder import TopicSettings
from clew.training.taxonomy_training import TopicTrainer

#: Places that lie by the sea; the topic above each of them.
COAST = ("Marlow Point", "Sandhaven", "Colmouth", "Hollin Bay", "Istermouth", "Ellersea", "Gannet Rock")
ABOVE = "coast"
_EXAMPLES = 20


def make_topics(web: DemoWeb, folder: Path) -> str:
    """Train the web's subject and one place of the coast, with the coast above it; gives their conjunction.

    The place is the one that most articles on the subject name. Examples of places are articles about other
    things, and the subject's are articles that name no place of the coast: what is looked for is no example.
    """
    subject = web.plan.target
    articles = _articles(web)
    named = {page.place: _places(page) for page in articles}
    mine = [page for page in articles if subject in web.labels(page.place)]
    other = [page for page in articles if subject not in web.labels(page.place)]
    place = max(COAST, key=lambda name: sum(named[page.place] == {name} for page in mine))
    inland = [page for page in other if not named[page.place]]
    taxonomy = TaxonomyFolder.create(folder)
    examples: dict[str, Sequence[Example]] = {
        subject: [page for page in mine if place not in named[page.place]],
        f"{ABOVE}.{place.casefold().replace(' ', '-')}": [
            page for page in other if named[page.place] == {place}
        ],
        ABOVE: [page for page in other if named[page.place] and place not in named[page.place]],
        "any": inland,
    }
    for path in examples:
        if path not in ("any", ABOVE):
            taxonomy = taxonomy.add(path, TopicSettings("keyword"))
    for path, found in examples.items():
        taxonomy.keep(path, found[: _EXAMPLES * (1 + (path == "any"))])
    taxonomy.change(ABOVE, kind="keyword")
    trainer = TopicTrainer(taxonomy)
    for path in taxonomy.paths:
        taxonomy.save(path, trainer.train(path).model)
    return " AND ".join(f"topic:{path}" for path in examples if path not in ("any", ABOVE))


def _articles(web: DemoWeb) -> list[Example]:
    """Every article that can be read, in the order of the web."""
    found = []
    for node in web.plan.nodes:
        within = web.plan.sites[node.site].role not in OUT_OF_REACH
        reply = web.get(node.url) if node.kind is PageKind.ARTICLE and within else None
        if reply is not None:
            kind = reply.header("content-type")
            page = parse_page(reply.body, url=node.url, status=200, content_type=kind, headers=(), depth=0)
            found.append(Example(node.url, page))
    return found


def _places(example: Example) -> frozenset[str]:
    return frozenset(name for name in COAST if name in example.page.text or name in example.page.title)
