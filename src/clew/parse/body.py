"""`parse_page`: a reply's bytes to a `Page`, whatever they are."""

from __future__ import annotations

import html as _entities
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew.errors import ParseError
from clew.page import Excerpts, Links, Page
from clew.parse import html, media
from clew.parse.charset import decode
from clew.parse.directives import directives
from clew.parse.language import code, language
from clew.parse.limits import DEFAULT, Limits, within
from clew.parse.pdf import read_pdf
from clew.parse.similar import fingerprints
from clew.parse.text import clip, fold, one_line
from clew.url import canonical, canonical_many, resolve

Headers = Sequence[tuple[str, str]]

_URL = re.compile(r"https?://[^\s<>\"'()\[\]{}|\\^`]+")
_NOT_XML = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)(?:([A-Za-z0-9]{2,32});)?"
)
_REFRESH = re.compile(r"^\s*[0-9.]+\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
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
) -> Page:
    """A reply as a page. Raises nothing but `ParseError`.

    HTML, XHTML, feeds, other XML, plain text and (with the `pdf` extra) PDF are read; any other type gives a
    page with its `type` set, no text and no links.

    Parameters: `url`, canonical; `content_type`, the header with its parameters, taken from `headers` when
    empty; `truncated`, whether the fetcher cut the body; `wanted`, which of the links' `contexts` and `paths`
    somebody is going to ask for (the others are found out when they are asked for, at twice the price).

    >>> page = parse_page(b"<title>T</title><p>a <a href=/b#c>bee</a>", url="http://a.example/", status=200)
    >>> page.title, page.text, page.links[0].target, page.links[0].anchor
    ('T', 'a bee', 'http://a.example/b', 'bee')
    """
    content_type = content_type or _header(headers, "content-type")
    if len(body) > limits.body:
        body, truncated = body[: limits.body], True
    kind_name, kind = media.classify(body, content_type)
    reply = _Reply(body, url, status, content_type, headers, depth, truncated, kind_name, limits, wanted)
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
    found = html.read(markup, reply.limits, xhtml=xhtml, wanted=reply.wanted)
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
        links=_links(reply.url, base, found),
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
        links=_links(reply.url, reply.url, columns),
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
    flat = text.replace("\n", " ")
    found = [match.span() for match in _URL.finditer(flat)][: reply.limits.links]
    columns = html.Found(
        hrefs=tuple(flat[a:b].rstrip(".,;:!?") for a, b in found),
        anchors=("",) * len(found),
        contexts=Excerpts(
            text, [a for a, _ in found], [min(b, a + 300) for a, b in found], reply.limits.reach
        ),
        paths=("text",) * len(found),
        rels=("",) * len(found),
    )
    return _page(
        reply,
        title=one_line(text.partition("\n")[0], reply.limits.title),
        text=text,
        main=text,
        charset=charset,
        links=_links(reply.url, reply.url, columns),
        truncated=len(raw) > 2 * reply.limits.text,
    )


def _pdf(reply: _Reply) -> Page:
    found = read_pdf(reply.body, reply.limits)
    return _page(reply, title=found.title, text=found.text, main=found.text, truncated=found.truncated)


def _other(reply: _Reply) -> Page:
    return _page(reply)


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
    links: Links | None = None,
    canonical: str = "",
    refresh: str = "",
    robots: Sequence[tuple[str, str]] = (),
    truncated: bool = False,
) -> Page:
    """The page, with what every kind has: language, directives, fingerprints.

    Parameters: what was found; `core`, the block taken for the main text, however small.
    """
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
        links=links if links is not None else Links(reply.url),
        canonical=canonical,
        refresh=refresh or _refresh(reply),
        robots=directives(robots, reply.headers),
        depth=reply.depth,
        digest=digest,
        sketch=sketch,
        truncated=reply.truncated or truncated,
    )


def _refresh(reply: _Reply) -> str:
    """The target of a `Refresh` header, which browsers obey as they do the meta element."""
    target = _REFRESH.search(_header(reply.headers, "refresh"))
    return (canonical(target[1], reply.url) if target else None) or ""


def _links(url: str, base: str, found: html.Found) -> Links:
    """Columns of the links that lead somewhere else over http(s)."""
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
    return links if len(keep) == len(targets) else links.pick(keep)


def _header(headers: Headers, name: str) -> str:
    return next((value for key, value in headers if key.lower() == name), "")
