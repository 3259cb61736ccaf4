"""Markup to what clew wants of it, in a fixed number of linear passes.

A link's words are not asked of its parent (that is quadratic on a page of many links). Instead every `<a>`
gets a numbered mark as its first child, the whole document is rendered once, and the marks found in the
rendered text say where each link begins; anchors and contexts are slices of that one text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
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
_MAIN = "data-clew-main"
_RULES = {"a": ("a",), f"#{_MAIN}": ("main",)}
# Noncharacters: no honest text has them.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARK = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
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
    refresh = tree.meta_refresh() if head.refresh else None
    tree.remove(_UNSEEN)
    text, main, spans = _render(tree, head.links)
    anchors, contexts = _words(tree, text, spans, head.links, limits)
    whole = fold(text)
    core = fold(text[main[0] : main[1]]) if main else ""
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
        text=clip(whole, limits.text),
        main=clip(core, limits.text),
        hrefs=tuple([link.attr(_SOURCE[link.tag]) or "" for link in head.links]),
        anchors=anchors,
        contexts=contexts,
        paths=tuple([paths.of(link) for link in head.links]),
        rels=tuple([(link.attr("rel") or "").lower() for link in head.links]),
        truncated=head.truncated or len(whole) > limits.text,
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


def _render(
    tree: turbohtml.Document, links: list[turbohtml.Element]
) -> tuple[str, tuple[int, int] | None, dict[int, tuple[int, int]]]:
    """The visible text, where in it the main text is, and where each link's words are, by link number."""
    core = tree.main_content()
    if core is not None:
        core.attrs[_MAIN] = ""
    # The content scorer has run: marks can no longer sway it.
    for number, link in enumerate(links):
        if link.tag == "a":
            link.insert(0, turbohtml.Text(f"{_OPEN}{number}{_CLOSE}"))
    marked, notes = tree.to_annotated_text(_RULES, _LAYOUT)
    pieces, starts, removed, at, gone = [], [], [0], 0, 0
    numbers: dict[int, int] = {}
    for mark in _MARK.finditer(marked):
        start, end = mark.span()
        pieces.append(marked[at:start])
        numbers[start] = int(mark[1])
        starts.append(start)
        gone += end - start
        removed.append(gone)
        at = end
    pieces.append(marked[at:])
    spans, main = {}, None
    for start, end, label in notes:
        first = start - removed[bisect_left(starts, start)]
        last = end - removed[bisect_left(starts, end)]
        if label == "main":
            main = (first, last) if main is None else main
        elif start in numbers:
            spans[numbers[start]] = (first, last)
    return "".join(pieces), main, spans


def _words(
    tree: turbohtml.Document,
    text: str,
    spans: dict[int, tuple[int, int]],
    links: list[turbohtml.Element],
    limits: Limits,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Anchor and context of each link."""
    flat = text.replace("\n", " ")
    anchors: list[str] = []
    contexts: list[str] = []
    wordless: dict[turbohtml.Node, int] = {}
    unmarked = 0
    for number, link in enumerate(links):
        span = spans.get(number)
        anchor = context = ""
        if span is not None:
            start, end = span
            end = min(end, start + limits.anchor)
            anchor = flat[start:end].strip()
            if "  " in anchor:
                anchor = " ".join(anchor.split())
            context = window(flat, start, end, limits.reach)
        elif link.tag == "a" and unmarked < _UNMARKED_TEXTS:
            # In a part that is not shown. Asking an element for its text is linear in the element, so only
            # so many are asked.
            unmarked += 1
            anchor = _MARK.sub("", one_line(link.text[: 4 * limits.anchor], limits.anchor))
        if not anchor:
            wordless[link] = number
        anchors.append(anchor)
        contexts.append(context)
    if wordless:
        for number, label in _labels(tree, wordless).items():
            anchors[number] = one_line(label, limits.anchor)
            contexts[number] = contexts[number] or anchors[number]
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
