"""The visible text of a tree, and where in it each link's words and the main text are.

A link's words are not asked of its parent (that is quadratic on a page of many links). Instead every `<a>`
is enclosed in two marks, the whole document is rendered once, and the marks found in the rendered text say
where each link's words are. `render` marks without numbers, which is cheap and tells links apart by their
order; a page where that is not enough (links that are not rendered, links within links) is parsed again and
rendered with numbered marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import turbohtml
from numpy.typing import NDArray

from clew.parse.text import fold, legible

_LAYOUT = turbohtml.PlainText(layout="strict", bullet="", table_cell_separator=" ")
# No honest text has these controls, and unlike private characters they keep a Latin text one byte wide.
_OPEN, _CLOSE, _BEGIN, _END = "\x01", "\x02", "\x03", "\x04"
MARKS = (_OPEN, _CLOSE, _BEGIN, _END)
_PLAIN, _BLANK, _LINE, _MARK = range(4)
_KINDS = np.zeros(65_536, np.uint8)
_KINDS[[9, 11, 12, 13, 28, 29, 30, 31, 32]] = _BLANK
_KINDS[10] = _LINE
_KINDS[1:5] = _MARK


#: Elements that stand on lines of their own, and those within a line that may hold them all the same.
_BLOCKS = (
    *("address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt", "fieldset"),
    *("figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"),
    *("main", "nav", "ol", "p", "pre", "section", "table", "ul"),
)
_INLINE_TAGS = "a abbr b big cite code del em font i ins label mark q s small span strong sub sup tt u"
_INLINE = frozenset(_INLINE_TAGS.split())
_LEVELS = 8


@dataclass(frozen=True, slots=True)
class Rendered:
    """Folded text; where each link's words start and end in it (-1: they are not in it); the main text."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    main: str


def part(tree: turbohtml.Document) -> None:
    """Put white space behind blocks within a line, as in a link around a heading and a sentence.

    The renderer ends such a block without ending its line, so that two words would become one.
    """
    for tag in _BLOCKS:
        for block in tree.select(tag):
            node: turbohtml.Node = block
            for _ in range(_LEVELS):
                parent = node.parent
                if not isinstance(parent, turbohtml.Element) or parent.tag not in _INLINE:
                    break
                if node.next_sibling is not None:
                    node.insert_after(turbohtml.Text("\n"))
                    break
                node = parent


def plain_text(tree: turbohtml.Document | turbohtml.Element) -> str:
    """The visible text alone."""
    return fold(_without(tree.to_text(_LAYOUT), MARKS))


def rendered(tree: turbohtml.Document) -> tuple[str, str]:
    """The visible text, and the main text, which is a part of it. Changes the tree."""
    core = tree.main_content()
    if core is None:
        return plain_text(tree), ""
    core.insert(0, turbohtml.Text(_BEGIN))
    core.append(turbohtml.Text(_END))
    # A page may have marks of its own, by their numbers.
    marked = fold(_without(tree.to_text(_LAYOUT), (_OPEN, _CLOSE)))
    before, begun, rest = marked.partition(_BEGIN)
    main, ended, after = rest.partition(_END)
    if not (begun and ended) or _BEGIN in rest or _END in after:
        return fold(_without(marked, MARKS)), ""
    return _joint(_joint(before, main), after).strip(), main.strip()


def _without(text: str, marks: Sequence[str]) -> str:
    for mark in marks:
        if mark in text:
            text = text.replace(mark, "")
    return text


def _joint(left: str, right: str) -> str:
    """Two folded texts as one, folded: of white space on both sides a line break outlives a blank."""
    if left[-1:] in (" ", "\n") and right[:1] in (" ", "\n"):
        return left[:-1] + right if right[0] == "\n" else left + right[1:]
    return left + right


def render(
    tree: turbohtml.Document,
    links: Sequence[turbohtml.Element],
    again: Callable[[], tuple[turbohtml.Document, Sequence[turbohtml.Element]]],
) -> Rendered:
    """Text and places of the links (any element but `<a>` has none).

    Parameters: the tree, changed by this; its links in document order; `again` gives both anew.
    """
    found = marked(tree, links)
    return _numbered(*again()) if found is None else found


def marked(tree: turbohtml.Document, links: Sequence[turbohtml.Element]) -> Rendered | None:
    """`render` as long as marks without numbers will do; None where they will not."""
    core = tree.main_content()
    # The content scorer has run: marks can no longer sway it.
    enclosed = [number for number, link in enumerate(links) if link.tag == "a"]
    for number in enclosed:
        _enclose(links[number])
    if core is not None:
        core.insert(0, turbohtml.Text(_BEGIN))
        core.append(turbohtml.Text(_END))
    found = _places(tree.to_text(_LAYOUT), len(enclosed))
    if found is None:
        return None
    text, opened, closed, begin, end = found
    starts, ends = opened, closed
    if len(enclosed) != len(links):
        starts, ends = [-1] * len(links), [-1] * len(links)
        for number, a, b in zip(enclosed, opened, closed, strict=True):
            starts[number], ends[number] = a, b
    return Rendered(text, starts, ends, text[begin:end].strip())


def _enclose(link: turbohtml.Element) -> None:
    """Mark where a link's text begins and ends."""
    children = link.children
    if len(children) == 1:
        only = children[0]
        if type(only) is turbohtml.Text:
            words = only.data
            bare = words.strip()
            # White space stays outside the marks, where it folds with what is there.
            start = words.find(bare)
            end = start + len(bare)
            only.data = f"{words[:start]}{_OPEN}{bare}{_CLOSE}{words[end:]}"
            return
    link.insert(0, turbohtml.Text(_OPEN))
    link.append(turbohtml.Text(_CLOSE))


def _places(marked: str, count: int) -> tuple[str, list[int], list[int], int, int] | None:
    """A rendered text folded, without its marks, and where they were; None unless each mark came out once.

    Folding is that of `clew.parse.text.fold`, as if the marks were not there. Only white space and marks, a
    fifth of a text, are looked at more than once.
    """
    codes, codec = _codes(legible(marked))
    kinds = _KINDS.take(codes, mode="clip")
    at = np.flatnonzero(kinds)
    kinds = kinds[at]
    marks = at[kinds == _MARK]
    which = codes[marks]
    links = which[which < 3]
    if len(links) != 2 * count or (links != _order(count)).any() or len(which) - len(links) > 2:
        return None
    # A run of white space, whatever marks are in it, becomes one character: a line break where there is one
    # in it, else a blank; nothing at the beginning and at the end.
    run = np.cumsum(np.diff(at, prepend=-1) != 1)
    blanks = np.flatnonzero(kinds != _MARK)
    first = blanks[np.diff(run[blanks], prepend=-1) != 0]
    lines = np.zeros(len(at) + 2, np.bool_)
    lines[run[kinds == _LINE]] = True
    folded = codes.copy()
    folded[at[first]] = np.where(lines[run[first]], 10, 32)
    if len(first) and at[0] == 0 and run[first[0]] == run[0]:
        first = first[1:]
    if len(first) and at[-1] == len(codes) - 1 and run[first[-1]] == run[-1]:
        first = first[:-1]
    gone = np.delete(at, first)
    keep = np.ones(len(codes), np.bool_)
    keep[gone] = False
    places = marks - np.searchsorted(gone, marks)
    opened, closed = places[which == 1].tolist(), places[which == 2].tolist()
    begin, end = places[which == 3], places[which == 4]
    main = (int(begin[0]), int(end[0])) if len(begin) == len(end) == 1 else (0, 0)
    return folded[keep].tobytes().decode(codec, "surrogatepass"), opened, closed, *main


def _codes(text: str) -> tuple[NDArray[Any], str]:
    """One number a character, in the narrowest width, and the codec that turns them into text again."""
    for codec, width in (("latin-1", np.uint8), ("utf-16-le", np.uint16)):
        try:
            raw = text.encode(codec, "surrogatepass" if width is np.uint16 else "strict")
        except UnicodeEncodeError:
            continue
        codes = np.frombuffer(raw, width)
        if len(codes) == len(text):
            return codes, codec
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32), "utf-32-le"


def _order(count: int) -> NDArray[np.uint8]:
    return np.tile(np.array([1, 2], np.uint8), count)


# Numbered marks: `\x01` number `\x02` for each end of each element.


def _numbered(tree: turbohtml.Document, links: Sequence[turbohtml.Element]) -> Rendered:
    core = tree.main_content()
    for number, link in enumerate(links):
        if link.tag == "a":
            _number(link, number)
    if core is not None:
        _number(core, len(links))
    text, places = _unmark(fold(tree.to_text(_LAYOUT)), 2 * len(links) + 2)
    starts, ends = places[0:-2:2], places[1:-2:2]
    begin, end = places[-2:]
    return Rendered(text.strip(), starts, ends, text[begin:end].strip() if 0 <= begin <= end else "")


def _number(element: turbohtml.Element, number: int) -> None:
    """Mark where an element's text begins (an even number) and ends (the odd one after it)."""
    element.insert(0, turbohtml.Text(f"{_OPEN}{2 * number}{_CLOSE}"))
    element.append(turbohtml.Text(f"{_OPEN}{2 * number + 1}{_CLOSE}"))


def _unmark(marked: str, count: int) -> tuple[str, list[int]]:
    """A folded text without its marks, still folded, and where they were."""
    head, *rest = marked.split(_OPEN)
    pieces, places = [head], [-1] * count
    place, last = len(head), head[-1:] or "\n"
    for piece in rest:
        digits, _, words = piece.partition(_CLOSE)
        number = int(digits) if digits.isdecimal() and len(digits) < 9 else count
        if number < count:
            places[number] = place
        else:
            # The page has the mark's character in its own text: nothing is lost but that character.
            words = piece
        first = words[:1]
        if (first == " " or first == "\n") and (last == " " or last == "\n"):
            # White space on both sides of a mark: a line break outlives a blank.
            if first == "\n" and last == " ":
                pieces[-1] = pieces[-1][:-1]
                place -= 1
            else:
                words = words[1:]
        if words:
            pieces.append(words)
            place += len(words)
            last = words[-1]
    return "".join(pieces), places
