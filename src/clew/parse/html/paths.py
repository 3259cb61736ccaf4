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
        chain: list[turbohtml.Element] = [link]
        node = link.parent
        while isinstance(node, turbohtml.Element) and node not in self._known and len(chain) < STEPS:
            chain.append(node)
            node = node.parent
        path, length = self._known.get(node, ("", 0)) if node is not None else ("", 0)
        # A climb that was cut short knows the whole path of the link alone, not of the steps above it.
        exact = length > 0 or not isinstance(node, turbohtml.Element)
        for element in reversed(chain):
            step = self._step(element)
            path = f"{path}/{step}" if path else step
            length += 1
            if length > STEPS:
                path, length = path[path.index("/") + 1 :], STEPS
            if exact and element is not link:
                self._known[element] = (path, length)
        return path

    def _step(self, element: turbohtml.Element) -> str:
        # attr() joins a class list with blanks; the first class tells a menu from a paragraph.
        key = (element.tag, element.attr("class") or "", element.attr("id") or "")
        step = self._steps.get(key)
        if step is None:
            step = self._steps[key] = _step(*key)
        return step


def _step(tag: str, classes: str, name: str) -> str:
    first = classes.split(None, 1)
    if first:
        return f"{tag}.{first[0][:32]}".replace("/", "_")
    # Numbered ids name one element of one page; plain ones name a place in the template.
    return f"{tag}#{name[:32]}".replace("/", "_") if name and name.isalpha() else tag
