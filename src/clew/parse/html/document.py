"""Markup to what clew wants of it, in a fixed number of linear passes.

A link's words are not asked of its parent (that is quadratic on a page of many links). Instead every `<a>`
is enclosed in two numbered marks, the whole document is rendered once, and the marks found in the rendered
text say where each link's words are; anchors and contexts are slices of that one text. The main content is
marked and cut out in the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import turbohtml

from clew.parse.html.paths import Paths
from clew.parse.limits import DEFAULT, Limits
from clew.parse.text import clip, fold, one_line, window

#: What a reader does not see, or sees as a control. The renderer itself skips scripts and styles.
_UNSEEN = (
    'noscript,template,svg,select,textarea,iframe,[hidden],[style*="display:none" i],'
    '[style*="display: none" i]'
)
_LAYOUT = turbohtml.PlainText(layout="strict", bullet="", table_cell_separator=" ")
# No honest text has these controls, and unlike private characters they keep a Latin text one byte wide.
_OPEN, _CLOSE = "\x01", "\x02"
_MARK = re.compile(f"{_OPEN}[0-9]*{_CLOSE}?")
_WANTED = ("a", "area", "iframe", "frame", "link", "meta", "title", "base", "h1")
_SOURCE = {"a": "href", "area": "href", "link": "href", "iframe": "src", "frame": "src"}
_FEEDS = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"}
)
_UNMARKED_TEXTS = 200
_SELF_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)"
    r"([a-zA-Z][a-zA-Z0-9]*)((?:\s[^<>]*)?)/>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What markup holds, as written: URLs unresolved, links by column, in document order."""

    title: str = ""
    description: str = ""
    lang: str = ""
    base: str = ""
    canonical: str = ""
    refresh: str = ""
    robots: tuple[tuple[str, str], ...] = ()
    """(agent, directives) of each `<meta name=robots>` and each `<meta name=clew>`."""
    text: str = ""
    main: str = ""
    hrefs: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    rels: tuple[str, ...] = ()
    truncated: bool = False


@dataclass(slots=True)
class _Head:
    """What the scan over the elements collects."""

    titles: list[str] = field(default_factory=list)
    h1: str = ""
    base: str = ""
    canonical: str = ""
    metas: dict[str, str] = field(default_factory=dict)
    robots: list[tuple[str, str]] = field(default_factory=list)
    links: list[turbohtml.Element] = field(default_factory=list)
    refresh: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class _Text:
    """Rendered text, and the places of its marks: `places[2 * n]` to `places[2 * n + 1]` is element `n`."""

    text: str
    places: list[int]

    def between(self, number: int) -> str:
        start, end = self.places[2 * number : 2 * number + 2]
        return self.text[start:end] if 0 <= start <= end else ""


def read(markup: str, limits: Limits = DEFAULT, *, xhtml: bool = False) -> Found:
    """Everything clew wants of a document.

    Parameters: `markup`, decoded; `limits`; `xhtml`, whether `<div/>` closes the element.

    >>> found = read("<title>T</title><p>see <a href=x>wind farms</a> now")
    >>> found.title, found.hrefs, found.anchors, found.contexts
    ('T', ('x',), ('wind farms',), ('see wind farms now',))
    """
    if xhtml:
        markup = _SELF_CLOSED.sub(r"<\1\2></\1>", markup)
    tree = turbohtml.parse(markup, positions=False)
    head = _scan(tree, limits)
    refresh = _meta_refresh(tree) if head.refresh else None
    tree.remove(_UNSEEN)
    rendered = _render(tree, head.links)
    anchors, contexts = _words(tree, rendered, head.links, limits)
    text, core = rendered.text.strip(), rendered.between(len(head.links)).strip()
    paths = Paths()
    root = tree.root
    return Found(
        title=next(filter(None, (*head.titles, head.metas.get("og:title"), head.h1)), ""),
        description=head.metas.get("description") or head.metas.get("og:description", ""),
        lang=(root.attr("lang") or root.attr("xml:lang") or "") if root else "",
        base=head.base,
        canonical=head.canonical,
        refresh=refresh[1] if refresh else "",
        robots=tuple(head.robots),
        text=clip(text, limits.text),
        main=clip(core, limits.text),
        hrefs=tuple([link.attr(_SOURCE[link.tag]) or "" for link in head.links]),
        anchors=anchors,
        contexts=contexts,
        paths=tuple([paths.of(link) for link in head.links]),
        rels=tuple([(link.attr("rel") or "").lower() for link in head.links]),
        truncated=head.truncated or len(text) > limits.text,
    )


def _scan(tree: turbohtml.Document, limits: Limits) -> _Head:
    """One pass over the elements of interest, before anything is removed."""
    head = _Head()
    for element in tree.iter_elements(_WANTED):
        tag = element.tag
        source = _SOURCE.get(tag)
        if source is not None:
            if element.attr(source) and (tag != "link" or _follow(element, head)):
                if len(head.links) >= limits.links:
                    head.truncated = True
                    break
                head.links.append(element)
        elif tag == "meta":
            _meta(element, head, limits)
        elif tag == "base":
            head.base = head.base or (element.attr("href") or "")
        elif tag == "h1":
            head.h1 = head.h1 or one_line(element.text, limits.title)
        elif not head.titles and element.namespace is turbohtml.Namespace.HTML:
            head.titles.append(one_line(element.text, limits.title))
    return head


def _follow(link: turbohtml.Element, head: _Head) -> bool:
    """Whether a `<link>` leads to a page; notes the canonical one."""
    rels = (link.attr("rel") or "").lower().split()
    if "canonical" in rels:
        head.canonical = head.canonical or (link.attr("href") or "")
        return True
    if "alternate" in rels:
        return (link.attr("type") or "").strip().lower() in _FEEDS
    return "next" in rels or "prev" in rels


def _meta(meta: turbohtml.Element, head: _Head, limits: Limits) -> None:
    name = (meta.attr("name") or meta.attr("property") or "").strip().lower()
    content = meta.attr("content") or ""
    if name in ("robots", "clew"):
        if len(head.robots) < 16:
            head.robots.append((name, content[:1000]))
    elif name in ("description", "og:description", "og:title"):
        head.metas.setdefault(name, one_line(content, limits.description))
    elif not name:
        head.refresh = head.refresh or (meta.attr("http-equiv") or "").strip().lower() == "refresh"


def _render(tree: turbohtml.Document, links: list[turbohtml.Element]) -> _Text:
    """The visible text, and where in it each link's words and the main text are."""
    core = tree.main_content()
    # The content scorer has run: marks can no longer sway it.
    for number, link in enumerate(links):
        if link.tag == "a":
            _enclose(link, number)
    if core is not None:
        _enclose(core, len(links))
    return _unmark(fold(tree.to_text(_LAYOUT)), 2 * len(links) + 2)


def _unmark(marked: str, count: int) -> _Text:
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
    return _Text("".join(pieces), places)


def _enclose(element: turbohtml.Element, number: int) -> None:
    """Mark where an element's text begins (an even number) and ends (the odd one after it)."""
    element.insert(0, turbohtml.Text(f"{_OPEN}{2 * number}{_CLOSE}"))
    element.append(turbohtml.Text(f"{_OPEN}{2 * number + 1}{_CLOSE}"))


def _words(
    tree: turbohtml.Document, rendered: _Text, links: list[turbohtml.Element], limits: Limits
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Anchor and context of each link."""
    flat, places = rendered.text.replace("\n", " "), rendered.places
    anchors: list[str] = []
    contexts: list[str] = []
    wordless: dict[turbohtml.Node, int] = {}
    unmarked = 0
    for number, link in enumerate(links):
        start, end = places[2 * number], places[2 * number + 1]
        anchor = context = ""
        if 0 <= start <= end:
            end = min(end, start + limits.anchor)
            anchor = flat[start:end].strip()
            if "  " in anchor:
                anchor = " ".join(anchor.split())
            context = window(flat, start, end, limits.reach)
        elif link.tag == "a" and unmarked < _UNMARKED_TEXTS:
            # In a part that is not shown. Asking an element for its text is linear in the element, so only
            # so many are asked.
            unmarked += 1
            anchor = one_line(_MARK.sub("", link.text[: 4 * limits.anchor]), limits.anchor)
        if not anchor:
            wordless[link] = number
        anchors.append(anchor)
        contexts.append(context)
    if wordless:
        for number, label in _labels(tree, wordless).items():
            anchor = anchors[number] = one_line(label, limits.anchor)
            start, end = places[2 * number], places[2 * number + 1]
            contexts[number] = window(flat, start, end, limits.reach, anchor) if 0 <= start <= end else anchor
    return tuple(anchors), tuple(contexts)


def _labels(tree: turbohtml.Document, wordless: dict[turbohtml.Node, int]) -> dict[int, str]:
    """Words for links that show none: their picture's, else their own title, by link number."""
    labels = {}
    for link, number in wordless.items():
        if isinstance(link, turbohtml.Element):
            labels[number] = link.attr("alt") or link.attr("title") or link.attr("aria-label") or ""
    # From the pictures up, not from the links down: links can be nested, and pictures hold nothing.
    for picture in tree.iter_elements("img"):
        node, alt = picture.parent, picture.attr("alt")
        for _ in range(4 if alt else 0):
            if node is None:
                break
            if node in wordless:
                labels[wordless[node]] = alt or ""
                break
            node = node.parent
    return labels


def plain(markup: str, limits: Limits = DEFAULT) -> str:
    """The text of a scrap of HTML.

    >>> plain("wind <b>farm</b> &amp; sea")
    'wind farm & sea'
    """
    if "<" not in markup and "&" not in markup:
        return clip(fold(markup), limits.text)
    return clip(fold(turbohtml.parse(markup, positions=False).to_text(_LAYOUT)), limits.text)


def _meta_refresh(tree: turbohtml.Document) -> tuple[float, str] | None:
    """Delay and target of a meta refresh. The parser resolves the target, and chokes on one that is no URL."""
    try:
        return tree.meta_refresh()
    except ValueError:
        return None
