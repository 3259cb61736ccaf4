"""Where on a page a link is: its tag path."""

from __future__ import annotations

import turbohtml

#: Steps of a path that are kept, the innermost ones.
STEPS = 24


class Paths:
    """Tag paths, each step found once: `html/body/div.content/ul/li/a`, at most the innermost 24 steps."""

    __slots__ = ("_known", "_steps")

    def __init__(self) -> None:
        self._known: dict[turbohtml.Node, tuple[str, int]] = {}
        self._steps: dict[tuple[str, str, str], str] = {}

    def of(self, link: turbohtml.Element) -> str:
        """The path of one link."""
        parent = link.parent
        known = self._known.get(parent) if parent is not None else None
        if known is None:
            known = self._climb(parent) if isinstance(parent, turbohtml.Element) else ("", 0)
        return _extend(known, self._step(link))[0]

    def _climb(self, element: turbohtml.Element) -> tuple[str, int]:
        """The path of an element whose parents may be unknown yet."""
        chain = [element]
        node = element.parent
        while isinstance(node, turbohtml.Element) and node not in self._known and len(chain) < STEPS:
            chain.append(node)
            node = node.parent
        path = self._known.get(node, ("", 0)) if node is not None else ("", 0)
        # A climb that was cut short knows the innermost steps of this element alone.
        whole = path[1] > 0 or not isinstance(node, turbohtml.Element)
        for ancestor in reversed(chain):
            path = _extend(path, self._step(ancestor))
            if whole or ancestor is element:
                self._known[ancestor] = path
        return path

    def _step(self, element: turbohtml.Element) -> str:
        # attr() joins a class list with blanks; the first class tells a menu from a paragraph.
        key = (element.tag, element.attr("class") or "", element.attr("id") or "")
        step = self._steps.get(key)
        if step is None:
            step = self._steps[key] = _step(*key)
        return step


def _extend(path: tuple[str, int], step: str) -> tuple[str, int]:
    text, length = path
    if length == STEPS:
        return f"{text[text.index('/') + 1 :]}/{step}", STEPS
    return (f"{text}/{step}" if text else step), length + 1


def _step(tag: str, classes: str, name: str) -> str:
    first = classes.split(None, 1)
    if first:
        return f"{tag}.{first[0][:32]}".replace("/", "_")
    # Numbered ids name one element of one page; plain ones name a place in the template.
    return f"{tag}#{name[:32]}".replace("/", "_") if name and name.isalpha() else tag
