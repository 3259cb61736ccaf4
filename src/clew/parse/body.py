"""`parse_page`: a reply's bytes to a `Page`, whatever they are."""

from __future__ import annotations

import html as _entities
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from clew.errors import ParseError
from clew.page import Excerpts, Later, Links, Once, Page
from clew.parse import html, media
from clew.parse.charset import decode
from clew.parse.directives import directives
from clew.parse.language import code, language
from clew.parse.limits import DEFAULT, Limits, within
from clew.parse.link_kinds import ExtraLink, header_links, in_text, literals
from clew.parse.pdf import read_pdf
from clew.parse.similar import fingerprints
from clew.parse.text import clip, fold, one_line
from clew.url import canonical, canonical_many, resolve

Headers = Sequence[tuple[str, str]]

_NOT_XML = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)(?:([A-Za-z0-9]{2,32});)?"
)
_REFRESH = re.compile(r"^\s*[0-9.]+\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_NOTHING = html.Found()
#: A main text that is shorter, or a smaller share of the text, does not speak for the page.
_SHORT_MAIN, _FAIR_SHARE = 200, 0.2


@dataclass(frozen=True, slots=True)
class _Reply:
    body: bytes
    url: str
    status: int
    content_type: str
    headers: Headers
    depth: int
    truncated: bool
    type: str
    limits: Limits
    wanted: frozenset[str]
    more: bool


def parse_page(
    body: bytes,
    *,
    url: str,
    status: int = 200,
    content_type: str = "",
    headers: Headers = (),
    depth: int = 0,
    truncated: bool = False,
    limits: Limits = DEFAULT,
    wanted: frozenset[str] = frozenset(),
    more: bool = False,
) -> Page:
    """A reply as a page. Raises nothing but `ParseError`.

    HTML, XHTML, feeds, other XML, plain text and (with the `pdf` extra) PDF are read; any other type gives a
    page with its `type` set, no text and no links.

    Parameters: `url`, canonical; `content_type`, the header with its parameters, taken from `headers` when
    empty; `truncated`, whether the fetcher cut the body; `wanted`, which of the links' `contexts` and `paths`
    somebody is going to ask for (the others are found out when they are asked for, at twice the price);
    `more`, whether links are also what only names a page (`clew.parse.link_kinds`).

    >>> page = parse_page(b"<title>T</title><p>a <a href=/b#c>bee</a>", url="http://a.example/", status=200)
    >>> page.title, page.text, page.links[0].target, page.links[0].anchor
    ('T', 'a bee', 'http://a.example/b', 'bee')
    """
    content_type = content_type or _header(headers, "content-type")
    if len(body) > limits.body:
        body, truncated = body[: limits.body], True
    kind_name, kind = media.classify(body, content_type)
    reply = _Reply(
        body, url, status, content_type, headers, depth, truncated, kind_name, limits, wanted, more
    )
    try:
        return _READERS[kind](reply)
    except ParseError:
        raise
    except Exception as error:
        # A parser written in C over hostile input: whatever it raises, the crawl goes on.
        raise ParseError(f"{url} cannot be parsed: {error!r}") from error


def _html(reply: _Reply, *, xhtml: bool = False) -> Page:
    markup, charset = decode(reply.body, reply.content_type, xml=xhtml)
    markup, cut = within(markup, reply.limits)
    found = html.read(markup, reply.limits, xhtml=xhtml, wanted=reply.wanted, more=reply.more)
    base = (resolve(found.base, reply.url) if found.base else None) or reply.url
    return _page(
        reply,
        title=found.title,
        description=found.description,
        text=found.text,
        main=found.text if _unfair(found.main, found.text) else found.main,
        core=found.main,
        declared=found.lang,
        charset=charset,
        found=found,
        base=base,
        canonical=(canonical(found.canonical, base) if found.canonical else None) or "",
        refresh=(canonical(found.refresh, base) if found.refresh else None) or "",
        robots=found.robots,
        truncated=found.truncated or cut,
    )


def _unfair(main: str, text: str) -> bool:
    """Whether a part of a text is too small to stand for it."""
    return len(main) < max(min(_SHORT_MAIN, len(text) // 2), _FAIR_SHARE * len(text))


def _xhtml(reply: _Reply) -> Page:
    return _html(reply, xhtml=True)


def _xml(reply: _Reply) -> Page:
    markup, charset = decode(reply.body, reply.content_type, xml=True)
    found = _read_xml(markup, reply.limits)
    if found.entries is None:
        return _page(reply, text=found.text, main=found.text, charset=charset)
    blocks = [found.title, found.description]
    for entry in found.entries:
        blocks += (entry.title, entry.summary)
    text = clip("\n".join(filter(None, blocks)), reply.limits.text)
    rows = [(found.link, found.title, "", "feed/link")] if found.link else []
    rows += [
        (x.href, x.title, f"{x.title} {x.summary[:300]}".strip(), "feed/entry/link") for x in found.entries
    ]
    hrefs, anchors, contexts, paths = zip(*rows, strict=True) if rows else ((), (), (), ())
    contexts = tuple(one_line(context, 3 * reply.limits.reach) for context in contexts)
    columns = html.Found(hrefs=hrefs, anchors=anchors, contexts=contexts, paths=paths, rels=("",) * len(rows))
    return _page(
        reply,
        title=found.title,
        description=found.description,
        text=text,
        main=text,
        charset=charset,
        found=columns,
    )


def _read_xml(markup: str, limits: Limits) -> html.Feed:
    if "<!ENTITY" in markup:
        raise ParseError("this XML declares entities of its own, which are never expanded")
    try:
        return html.read_xml(markup, limits)
    except ParseError:
        # Feeds often have HTML's entities or a bare ampersand; XML knows neither.
        return html.read_xml(_NOT_XML.sub(_as_xml, markup), limits)


def _as_xml(match: re.Match[str]) -> str:
    known = _entities.unescape(match[0]) if match[1] else match[0]
    return "&amp;" + match[0][1:] if known == match[0] else _entities.escape(known)


def _text(reply: _Reply) -> Page:
    raw, charset = decode(reply.body, reply.content_type)
    text = clip(fold(raw.replace("\r\n", "\n").replace("\r", "\n")), reply.limits.text)
    hrefs, starts, ends = in_text(text, reply.limits.links)
    none = ("",) * len(hrefs)
    columns = html.Found(
        hrefs=tuple(hrefs),
        anchors=none,
        contexts=_excerpts(text, starts, ends, reply.limits),
        paths=("text",) * len(hrefs),
        rels=none,
    )
    return _page(
        reply,
        title=one_line(text.partition("\n")[0], reply.limits.title),
        text=text,
        main=text,
        charset=charset,
        found=columns,
        truncated=len(raw) > 2 * reply.limits.text,
    )


def _pdf(reply: _Reply) -> Page:
    found = read_pdf(reply.body, reply.limits)
    return _page(reply, title=found.title, text=found.text, main=found.text, truncated=found.truncated)


def _other(reply: _Reply) -> Page:
    if not (reply.more and reply.type.endswith(("json", "javascript", "ecmascript"))):
        return _page(reply)
    source, charset = decode(reply.body[: reply.limits.script], reply.content_type)
    named = tuple(ExtraLink(href, path="script") for href in literals(source, reply.limits.links))
    return _page(reply, charset=charset, found=html.Found(more=named))


_READERS: dict[media.Kind, Callable[[_Reply], Page]] = {
    media.Kind.HTML: _html,
    media.Kind.XHTML: _xhtml,
    media.Kind.XML: _xml,
    media.Kind.TEXT: _text,
    media.Kind.PDF: _pdf,
    media.Kind.OTHER: _other,
}


def _page(
    reply: _Reply,
    *,
    title: str = "",
    description: str = "",
    text: str = "",
    main: str = "",
    core: str = "",
    declared: str = "",
    charset: str = "",
    found: html.Found = _NOTHING,
    base: str = "",
    canonical: str = "",
    refresh: str = "",
    robots: Sequence[tuple[str, str]] = (),
    truncated: bool = False,
) -> Page:
    """The page, with what every kind has: language, directives, fingerprints.

    Parameters: what was found; `core`, the block taken for the main text, however small; `found`, the links;
    `base`, what they are relative to, if not the page.
    """
    links, cut = _links(reply, base or reply.url, found, text)
    said = declared if code(declared) else _header(reply.headers, "content-language")
    body = main or text
    digest, sketch = fingerprints(text, core, title)
    return Page(
        url=reply.url,
        status=reply.status,
        type=reply.type,
        title=title,
        description=description,
        text=text,
        main=main,
        language=language(body, said),
        charset=charset,
        links=links,
        canonical=canonical or _header_canonical(reply),
        refresh=refresh or _refresh(reply),
        robots=directives(robots, reply.headers),
        depth=reply.depth,
        digest=digest,
        sketch=sketch,
        truncated=reply.truncated or truncated or cut,
    )


def _header_canonical(reply: _Reply) -> str:
    """The page that a `Link` header names as the one to know this by."""
    for link in header_links(reply.headers, more=False):
        if "canonical" in link.rel.split():
            return canonical(link.href, reply.url) or ""
    return ""


def _refresh(reply: _Reply) -> str:
    """The target of a `Refresh` header, which browsers obey as they do the meta element."""
    target = _REFRESH.search(_header(reply.headers, "refresh"))
    return (canonical(target[1], reply.url) if target else None) or ""


def _links(reply: _Reply, base: str, found: html.Found, text: str) -> tuple[Links, bool]:
    """Columns of the links that lead somewhere else over http(s), and whether there were too many of them."""
    url = reply.url
    targets = canonical_many(found.hrefs, base)
    keep = [i for i, target in enumerate(targets) if target is not None and target != url]
    links = Links(
        url,
        tuple([target or "" for target in targets]),
        found.anchors,
        found.contexts,
        found.paths,
        found.rels,
    )
    if len(keep) != len(targets):
        links = links.pick(keep)
    extra = [(canonical(link.href, url), link) for link in header_links(reply.headers, reply.more)]
    if reply.more:
        named = (*found.more, *_written_out(text, reply.limits))
        extra += zip(canonical_many([link.href for link in named], base), named, strict=True)
    if not extra:
        return links, False
    known = {url, *links.targets}
    fresh = {target: link for target, link in reversed(extra) if target is not None and target not in known}
    rows = [*reversed(fresh.items())][: max(0, reply.limits.links - len(links))]
    return _appended(links, rows), len(rows) < len(fresh)


def _written_out(text: str, limits: Limits) -> list[ExtraLink]:
    """URLs in a text, with the words around them."""
    hrefs, starts, ends = in_text(text, limits.links)
    contexts = _excerpts(text, starts, ends, limits)
    return [
        ExtraLink(href, context=context, path="text") for href, context in zip(hrefs, contexts, strict=True)
    ]


def _excerpts(text: str, starts: list[int], ends: list[int], limits: Limits) -> Excerpts:
    longest = limits.anchor
    return Excerpts(
        text, starts, [min(b, a + longest) for a, b in zip(starts, ends, strict=True)], limits.reach
    )


def _appended(links: Links, rows: list[tuple[str, ExtraLink]]) -> Links:
    """Links, and behind them others. Columns that are worked out later still are."""
    if not rows:
        return links
    count = len(links) + len(rows)
    joined = Once(
        partial(
            _joined,
            (links.contexts, links.paths),
            (tuple([link.context for _, link in rows]), tuple([link.path for _, link in rows])),
        )
    )
    return Links(
        links.source,
        (*links.targets, *(target for target, _ in rows)),
        (*links.anchors, *(link.anchor for _, link in rows)),
        Later(joined, 0, count),
        Later(joined, 1, count),
        (*links.rels, *(link.rel for _, link in rows)),
    )


def _joined(
    before: tuple[Sequence[str], ...], after: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str, ...], ...]:
    return tuple([(*first, *second) for first, second in zip(before, after, strict=True)])


def _header(headers: Headers, name: str) -> str:
    return next((value for key, value in headers if key.lower() == name), "")
