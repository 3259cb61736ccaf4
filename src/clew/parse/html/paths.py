"""Where on a page a link is: its tag path."""

from __future__ import annotations

from collections.abc import Sequence

import turbohtml

#: Steps of a path that are kept, the innermost ones.
STEPS = 24


Path = tuple[str, int]


def tag_paths(links: Sequence[turbohtml.Element]) -> tuple[str, ...]:
    """The path of each link: `html/body/div.content/ul/li/a`, at most the innermost 24 steps."""
    known: dict[turbohtml.Node | None, Path] = {}
    steps: dict[tuple[str, str | None, str | None], str] = {}
    found = []
    for link in links:
        parent = link.parent
        path = known.get(parent)
        if path is None:
            path = _climb(parent, known, steps)
        key = (link.tag, link.attr("class"), link.attr("id"))
        step = steps.get(key)
        if step is None:
            step = steps[key] = _step(*key)
        found.append(f"{path[0]}/{step}" if 0 < path[1] < STEPS else _extend(path, step)[0])
    return tuple(found)


def _climb(
    node: turbohtml.Node | None,
    known: dict[turbohtml.Node | None, Path],
    steps: dict[tuple[str, str | None, str | None], str],
) -> Path:
    """The path of an element whose parents may be unknown yet."""
    chain: list[turbohtml.Element] = []
    path = None
    while isinstance(node, turbohtml.Element) and len(chain) < STEPS:
        chain.append(node)
        node = node.parent
        path = known.get(node)
        if path is not None:
            break
    # A climb that was cut short knows the innermost steps of this element alone.
    whole = path is not None or not isinstance(node, turbohtml.Element)
    path = path or ("", 0)
    for ancestor in reversed(chain):
        key = (ancestor.tag, ancestor.attr("class"), ancestor.attr("id"))
        step = steps.get(key)
        if step is None:
            step = steps[key] = _step(*key)
        path = _extend(path, step)
        if whole or ancestor is chain[0]:
            known[ancestor] = path
    return path


def _extend(path: Path, step: str) -> Path:
    text, length = path
    if length == STEPS:
        return f"{text[text.index('/') + 1 :]}/{step}", STEPS
    return (f"{text}/{step}" if text else step), length + 1


def _step(tag: str, classes: str | None, name: str | None) -> str:
    # attr() joins a class list with blanks; the first class tells a menu from a paragraph.
    first = (classes or "").split(None, 1)
    if first:
        return f"{tag}.{first[0][:32]}".replace("/", "_")
    # Numbered ids name one element of one page; plain ones name a place in the template.
    return f"{tag}#{name[:32]}".replace("/", "_") if name and name.isalpha() else tag
