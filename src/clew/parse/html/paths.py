"""Where on a page a link is: its tag path."""

from __future__ import annotations

from collections.abc import Sequence

import turbohtml

#: Steps of a path that are kept, the innermost ones.
STEPS = 24


Path = tuple[str, int]
Steps = dict[tuple[str, str | None], str]


def tag_paths(links: Sequence[turbohtml.Element]) -> tuple[str, ...]:
    """The path of each link: `html/body/div.content/ul/li/a`, at most the innermost 24 steps."""
    known: dict[turbohtml.Node | None, Path] = {}
    steps: Steps = {}
    found = []
    for link in links:
        parent = link.parent
        path = known.get(parent)
        if path is None:
            path = _climb(parent, known, steps)
        step = _step(link, steps)
        found.append(f"{path[0]}/{step}" if 0 < path[1] < STEPS else _extend(path, step)[0])
    return tuple(found)


def _climb(node: turbohtml.Node | None, known: dict[turbohtml.Node | None, Path], steps: Steps) -> Path:
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
        path = _extend(path, _step(ancestor, steps))
        if whole or ancestor is chain[0]:
            known[ancestor] = path
    return path


def _step(element: turbohtml.Element, steps: Steps) -> str:
    """An element's step: its tag with its first class, or its id if that is a word, or the tag alone."""
    key = (element.tag, element.attr("class"))
    if key[1] is None:
        name = element.attr("id")
        # Numbered ids name one element of one page; plain ones name a place in the template.
        if name is not None and name.isalpha():
            return f"{key[0]}#{name[:32]}"
        return key[0]
    step = steps.get(key)
    if step is None:
        # attr() joins a class list with blanks; the first class tells a menu from a paragraph.
        first = key[1].split(None, 1)
        if not first:
            name = element.attr("id")
            return f"{key[0]}#{name[:32]}" if name is not None and name.isalpha() else key[0]
        step = steps[key] = f"{key[0]}.{first[0][:32]}".replace("/", "_")
    return step


def _extend(path: Path, step: str) -> Path:
    text, length = path
    if length == STEPS:
        return f"{text[text.index('/') + 1 :]}/{step}", STEPS
    return (f"{text}/{step}" if text else step), length + 1
