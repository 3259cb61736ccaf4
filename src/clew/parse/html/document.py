"""Markup to what clew wants of it, in a fixed number of linear passes.

The text comes from `render`, a link's anchor from its element. What few ask for, the words around links and
their tag paths, is left to `around`, which reads the markup again when someone does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import turbohtml

from clew.page import Excerpts, Later, Once
from clew.parse.html.more_links import more_links
from clew.parse.html.paths import tag_paths
from clew.parse.html.render import MARKS, Rendered, marked, part, plain_text, render, rendered
from clew.parse.limits import DEFAULT, Limits
from clew.parse.link_kinds import FRAMED, ExtraLink, leads_to_page
from clew.parse.text import clip, fold, legible, one_line

#: What a reader does not see, or sees as a control. The renderer itself skips scripts and styles.
_UNSEEN = ("noscript", "template", "svg", "select", "textarea", "iframe")
_HIDDEN = '[hidden],[style*="display:none" i],[style*="display: none" i]'
_HEAD = ("link", "meta", "base", "title", "h1")
_FRAMES = {"iframe": "src", "frame": "src", "object": "data", "embed": "src"}
_SOURCE = {"a": "href", "area": "href", "link": "href"} | _FRAMES
#: Elements of which only some are links.
_SOME = frozenset({"link", "object", "embed"})
_INLINE_TAGS = "b i em strong span font small big tt code u s cite abbr sub sup img"
#: Elements that are a part of the words around them, or show none.
_INLINE = frozenset(_INLINE_TAGS.split())
_FORBIDDING = ("noindex", "nofollow", "none")
_UNMARKED_TEXTS = 200
_MARK = re.compile("\x01[0-9]*\x02?|[\x02-\x04]")
#: A mark that the page writes as a number.
_WRITTEN_MARK = re.compile(r"&#(?:0*[1-4](?![0-9])|[xX]0*[1-4](?![0-9a-fA-F]));?")
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
    """(agent, directives) of each `<meta name=robots>`, and of those that forbid an agent by its name."""
    text: str = ""
    main: str = ""
    hrefs: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    contexts: Sequence[str] = ()
    paths: Sequence[str] = ()
    rels: tuple[str, ...] = ()
    more: tuple[ExtraLink, ...] = ()
    """What names a page and is no link, where that was asked for."""
    truncated: bool = False


@dataclass(slots=True)
class _Head:
    """What the scan over the elements collects."""

    tree: turbohtml.Document
    """The tree the links belong to."""
    titles: list[str] = field(default_factory=list)
    h1: str = ""
    base: str = ""
    canonical: str = ""
    metas: dict[str, str] = field(default_factory=dict)
    robots: list[tuple[str, str]] = field(default_factory=list)
    links: list[turbohtml.Element] = field(default_factory=list)
    hrefs: list[str] = field(default_factory=list)
    plain: bool = True
    """Every link is an `<a>`."""
    refresh: bool = False
    truncated: bool = False


def read(
    markup: str,
    limits: Limits = DEFAULT,
    *,
    xhtml: bool = False,
    wanted: frozenset[str] = frozenset(),
    more: bool = False,
) -> Found:
    """Everything clew wants of a document.

    Parameters: `markup`, decoded; `limits`; `xhtml`, whether `<div/>` closes the element; `wanted`, columns
    of the links (`contexts`, `paths`) that somebody will ask for, so that they are found out at once; `more`,
    whether what only names pages is wanted too.

    >>> found = read("<title>T</title><p>see <a href=x>wind farms</a> now")
    >>> found.title, found.hrefs, found.anchors, found.contexts[0]
    ('T', ('x',), ('wind farms',), 'see wind farms now')
    """
    if xhtml:
        markup = _SELF_CLOSED.sub(r"<\1\2></\1>", markup)
    for mark in MARKS:
        if mark in markup:
            markup = markup.replace(mark, "")
    tree = turbohtml.parse(markup, positions=False)
    head = _scan(tree, limits)
    refresh = _meta_refresh(tree) if head.refresh else None
    rels = _rels(tree, head.links, head.plain)
    extra = more_links(tree, limits) if more else ()
    rest, where = Once(partial(around, markup, limits)), Once(partial(places, markup, limits))
    paths = tag_paths(head.links) if "paths" in wanted else Later(where, 0, len(head.links))
    _strip(tree)
    anchors = _anchors(head, limits)
    if anchors is None:
        anchors = tuple(rest()[0])
    contexts: Sequence[str] = Later(rest, 1, len(anchors))
    # Marks that the page writes itself are for `around` to tell apart.
    marking = "contexts" in wanted and "&#" not in markup
    shown = marked(tree, head.links) if marking else None
    if shown is not None:
        text, main, contexts = shown.text, shown.main, _words(head, shown, limits)[1]
    else:
        text, main = rendered(_fresh(markup) if marking else tree)
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
        main=clip(main, limits.text),
        hrefs=tuple(head.hrefs),
        anchors=anchors,
        contexts=contexts,
        paths=paths,
        rels=rels,
        more=extra,
        truncated=head.truncated or len(text) > limits.text,
    )


def _fresh(markup: str) -> turbohtml.Document:
    """The tree without marks, of what a reader sees."""
    tree = turbohtml.parse(markup, positions=False)
    _strip(tree)
    return tree


def places(markup: str, limits: Limits = DEFAULT) -> tuple[tuple[str, ...]]:
    """Tag path of each link; who asks for it seldom wants the text around too, which costs more.

    >>> places("<p>see <a href=x>wind farms</a> now")
    (('html/body/p/a',),)
    """
    return (tag_paths(_scan(turbohtml.parse(markup, positions=False), limits).links),)


def around(markup: str, limits: Limits = DEFAULT) -> tuple[tuple[str, ...], Sequence[str]]:
    """Anchor and context of each link.

    Parameters: `markup` without marks, and without elements that XHTML closes at once.

    >>> around("<p>see <a href=x>wind farms</a> now")
    (('wind farms',), Excerpts(1))
    """
    if "&#" in markup:
        # A soft hyphen, which is not shown: with nothing in its place, what stands around could make another.
        markup = _WRITTEN_MARK.sub("&#173;", markup)
    tree = turbohtml.parse(markup, positions=False)
    head = _scan(tree, limits)
    _strip(tree)

    def again() -> tuple[turbohtml.Document, list[turbohtml.Element]]:
        fresh = turbohtml.parse(markup, positions=False)
        links = _scan(fresh, limits).links
        _strip(fresh)
        head.links, head.tree = links, fresh
        return fresh, links

    return _words(head, render(tree, head.links, again), limits)


def _rels(tree: turbohtml.Document, links: Sequence[turbohtml.Element], plain: bool) -> tuple[str, ...]:
    """What each link says of its relation to the page, lower case; `plain` when every link is an `<a>`."""
    if not tree.select_one("[rel]") or (plain and not tree.select_one("a[rel]")):
        return ("",) * len(links)
    return tuple([(link.attr("rel") or "").lower() for link in links])


def _anchors(head: _Head, limits: Limits) -> tuple[str, ...] | None:
    """The words of each link, from its element; None where links are within links."""
    tree, links, longest = head.tree, head.links, limits.anchor
    if tree.select("a a"):
        return None
    texts = [link.text for link in links] if head.plain else [_own(link) for link in links]
    # Blocks and line breaks within a link separate words, which only the renderer knows.
    children = tree.select("a > *")
    deep = any(child.select_one("*") is not None for child in children)
    inner = {child.parent for child in children if deep or child.tag not in _INLINE}
    if inner:
        for number, link in enumerate(links):
            if texts[number] and link in inner:
                texts[number] = plain_text(link)
    joined = "".join(texts)
    if not joined.isascii():
        texts = [text if text.isascii() else legible(text) for text in texts]
    if any(map(joined.__contains__, MARKS)):
        texts = [_MARK.sub("", text) for text in texts]
    anchors = [" ".join(text.split()) for text in texts]
    if max(map(len, anchors), default=0) > longest:
        anchors = [anchor[:longest].strip() for anchor in anchors]
    if "" in anchors:
        wordless: dict[turbohtml.Node, int] = {
            link: number for number, link in enumerate(links) if not anchors[number]
        }
        for number, label in _labels(tree, wordless).items():
            if label:
                anchors[number] = one_line(label, longest)
    return tuple(anchors)


def _own(link: turbohtml.Element) -> str:
    """A link's text; what a frame has between its tags is not for those who see frames."""
    return link.text if link.tag == "a" else ""


def _strip(tree: turbohtml.Document) -> None:
    """Take out what a reader does not see, and keep apart what a reader sees apart."""
    for tag in _UNSEEN:
        for element in tree.select(tag):
            element.extract()
    tree.remove(_HIDDEN)
    part(tree)


def _scan(tree: turbohtml.Document, limits: Limits) -> _Head:
    """What the head says, and the links in document order, before anything is removed."""
    head = _Head(tree)
    for tag in _HEAD:
        for element in tree.select(tag):
            _note(tag, element, head, limits)
    anchors = tree.select("a")
    sources = [link.attr("href") or _in_drawing(link) for link in anchors]
    if head.links or any(tree.select(tag) for tag in ("area", *_FRAMES)):
        _in_order(tree, head)
    else:
        head.links = [link for link, href in zip(anchors, sources, strict=True) if href]
        head.hrefs = [href for href in sources if href]
    if len(head.links) > limits.links:
        head.truncated = True
        del head.links[limits.links :], head.hrefs[limits.links :]
    return head


def _in_order(tree: turbohtml.Document, head: _Head) -> None:
    """Links of all kinds, as they come."""
    followed = set(head.links)
    head.links, head.plain = [], False
    for element in tree.iter_elements(tuple(_SOURCE)):
        tag = element.tag
        href = element.attr(_SOURCE[tag]) or (_in_drawing(element) if tag == "a" else "")
        if href and (tag not in _SOME or element in followed or _framed(element)):
            head.links.append(element)
            head.hrefs.append(href)


def _in_drawing(link: turbohtml.Element) -> str:
    """Where an `<a>` of SVG leads, by the attribute it had before SVG 2."""
    return (link.attr("xlink:href") or "") if link.namespace is turbohtml.Namespace.SVG else ""


def _framed(element: turbohtml.Element) -> bool:
    """Whether an `<object>` or `<embed>` shows a page, as a frame does."""
    return element.tag != "link" and (element.attr("type") or "").partition(";")[0].strip().lower() in FRAMED


def _note(tag: str, element: turbohtml.Element, head: _Head, limits: Limits) -> None:
    if tag == "meta":
        _meta(element, head, limits)
    elif tag == "link":
        if element.attr("href") and _follow(element, head):
            head.links.append(element)
    elif tag == "base":
        head.base = head.base or (element.attr("href") or "")
    elif tag == "h1":
        head.h1 = head.h1 or one_line(element.text, limits.title)
    elif not head.titles and element.namespace is turbohtml.Namespace.HTML:
        head.titles.append(one_line(element.text, limits.title))


def _follow(link: turbohtml.Element, head: _Head) -> bool:
    """Whether a `<link>` leads to a page; notes the canonical one."""
    rels = (link.attr("rel") or "").lower().split()
    if "canonical" in rels:
        head.canonical = head.canonical or (link.attr("href") or "")
    return leads_to_page(rels, link.attr("type") or "", more=False)


def _meta(meta: turbohtml.Element, head: _Head, limits: Limits) -> None:
    name = (meta.attr("name") or meta.attr("property") or "").strip().lower()
    content = meta.attr("content") or ""
    if name in ("robots", "clew") or (name and content[:12].lower().lstrip().startswith(_FORBIDDING)):
        # Any name may be that of the user's own agent; only it can tell.
        if len(head.robots) < 16:
            head.robots.append((name, content[:1000]))
    elif name in ("description", "og:description", "og:title"):
        head.metas.setdefault(name, one_line(content, limits.description))
    elif not name:
        head.refresh = head.refresh or (meta.attr("http-equiv") or "").strip().lower() == "refresh"


def _words(head: _Head, rendered: Rendered, limits: Limits) -> tuple[tuple[str, ...], Sequence[str]]:
    """Anchor and context of each link."""
    starts = rendered.starts
    longest = limits.anchor
    ends = [min(end, start + longest) for start, end in zip(starts, rendered.ends, strict=True)]
    flat = rendered.text.replace("\n", " ")
    anchors = [flat[start:end].strip() if start >= 0 else "" for start, end in zip(starts, ends, strict=True)]
    if "" not in anchors:
        return tuple(anchors), Excerpts(rendered.text, starts, ends, limits.reach)
    labels: dict[int, str] = {}
    wordless: dict[turbohtml.Node, int] = {}
    unmarked = 0
    for number, anchor in enumerate(anchors):
        if anchor:
            continue
        link = head.links[number]
        if starts[number] < 0 and link.tag == "a" and unmarked < _UNMARKED_TEXTS:
            # In a part that is not shown. Asking an element for its text is linear in the element, so only
            # so many are asked.
            unmarked += 1
            anchors[number] = one_line(_MARK.sub("", link.text[: 4 * longest]), longest)
        if not anchors[number]:
            wordless[link] = number
    for number, label in _labels(head.tree, wordless).items():
        anchors[number] = labels[number] = one_line(label, longest)
    return tuple(anchors), Excerpts(rendered.text, starts, ends, limits.reach, labels)


def _labels(tree: turbohtml.Document, wordless: dict[turbohtml.Node, int]) -> dict[int, str]:
    """Words for links that show none: their picture's, else their own title, by link number."""
    labels = {}
    for link, number in wordless.items():
        if isinstance(link, turbohtml.Element):
            labels[number] = link.attr("alt") or link.attr("title") or link.attr("aria-label") or ""
    # From the pictures up, not from the links down: links can be nested, and pictures hold nothing.
    for picture in tree.select("a img[alt]"):
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
    tree = turbohtml.parse(markup, positions=False)
    part(tree)
    return clip(plain_text(tree), limits.text)


def _meta_refresh(tree: turbohtml.Document) -> tuple[float, str] | None:
    """Delay and target of a meta refresh. The parser resolves the target and chokes on one that is no URL."""
    try:
        return tree.meta_refresh()
    except ValueError:
        return None
