"""Examples of a topic from a recorded web: its pages with a label."""

from __future__ import annotations

from clew.errors import UsageError
from clew.lab.corpora import open_web, topics_of
from clew.parse import parse_page
from clew.spelling import closest
from clew.topic import Example
from clew.training.documents import checked


def examples_of(spec: str, limit: int | None = None) -> list[Example]:
    """The pages of a recorded web that have a label: `wikispeedia/subject.IT.Software`."""
    name, _, label = spec.partition("/")
    web = open_web(name)
    labels: set[str] = set()
    named: list[str] = []
    for url in web.urls():
        topics = topics_of(web, url)
        labels.update(topics)
        named += [url] if label in topics else []
    if not named:
        near = closest(label, sorted(labels))
        hint = f"did you mean {near!r}?" if near else "write corpus:NAME/LABEL"
        raise UsageError(f"no page of {name} has the label {label!r}: {hint}")
    # Evenly spread: pages that stand together are alike.
    count = len(named) if limit is None else max(1, min(limit, len(named)))
    found: list[Example] = []
    for url in [named[i * len(named) // count] for i in range(count)]:
        reply = web.get(url)
        if reply is not None:
            kind = reply.header("content-type")
            page = parse_page(reply.body, url=url, status=200, content_type=kind, headers=(), depth=0)
            found.append(checked(url, page))
    return found
