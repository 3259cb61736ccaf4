"""Where on a page a link is: its tag path."""

from __future__ import annotations

from collections.abc import Sequence

import turbohtml

#: Steps of a path that are kept, the innermost ones.
STEPS = 24


Path = tuple[str, int]
Known = dict[turbohtml.Node | None, Path]


class _Steps(dict[tuple[str, str | None, str | None], str]):
    """Steps by tag, class list and id: a tag with its first class, or its id if that is a word, or alone."""

    def __missing__(self, key: tuple[str, str | None, str | None]) -> str:
        tag, classes, name = key
        # attr() joins a class list with blanks; the first class tells a menu from a paragraph.
        if classes is not None and (first := classes.split(None, 1)):
            step = f"{tag}.{first[0][:32]}".replace("/", "_")
        # Numbered ids name one element of one page; plain ones name a place in the template.
        elif name is not None and name.isalpha():
            step = f"{tag}#{name[:32]}"
        else:
            step = tag
        self[key] = step
        return step


def tag_paths(links: Sequence[turbohtml.Element]) -> tuple[str, ...]:
    """The path of each link: `html/body/div.content/ul/li/a`, at most the innermost 24 steps."""
    known: Known = {}
    steps = _Steps()
    found = []
    for link in links:
        parent = link.parent
        text, length = known.get(parent) or _climb(parent, known, steps)
        step = steps[link.tag, link.attr("class"), link.attr("id")]
        if length == STEPS:
            text = text[text.index("/") + 1 :]
        found.append(f"{text}/{step}" if text else step)
    return tuple(found)


def _climb(node: turbohtml.Node | None, known: Known, steps: _Steps) -> Path:
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
    text, length = path or ("", 0)
    for ancestor in reversed(chain):
        step = steps[ancestor.tag, ancestor.attr("class"), ancestor.attr("id")]
        if length == STEPS:
            text, length = text[text.index("/") + 1 :], length - 1
        text, length = f"{text}/{step}" if text else step, length + 1
        if whole or ancestor is chain[0]:
            known[ancestor] = text, length
    return text, length
