"""Figures as markdown, and their places in a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew.errors import UsageError
from clew.lab.reproduce.figure import Figure, Sheet


def block(figure: Figure, sheets: Sequence[Sheet], pictures: Mapping[str, str]) -> str:
    """A figure as markdown: what the paper had, what is here, plots (title to file) and tables."""
    parts = [f"*The paper.* {figure.paper}" if figure.paper else "", f"*Here.* {figure.here}"]
    parts += [f"![{title}]({file})" for title, file in pictures.items()]
    parts += [sheet.markdown().rstrip() for sheet in sheets]
    parts.append(f"`clew lab reproduce {figure.name}`")
    return "\n\n".join(part for part in parts if part) + "\n"


def fill(text: str, blocks: Mapping[str, str]) -> str:
    """A document with every block put between its two marks, `<!-- NAME -->` and `<!-- /NAME -->`.

    >>> fill("a\\n<!-- b -->\\nold\\n<!-- /b -->\\n", {"b": "new\\n"})
    'a\\n<!-- b -->\\n\\nnew\\n\\n<!-- /b -->\\n'
    """
    for name, said in blocks.items():
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if text.count(start) != 1 or text.count(end) != 1 or text.index(end) < text.index(start):
            raise UsageError(
                f"the document has no place for {name}: put {start.strip()} and {end} in it, a line each"
            )
        before, _, rest = text.partition(start)
        text = f"{before}{start}\n{said}\n{end}{rest.partition(end)[2]}"
    return text
