"""Which kinds of links are followed: always, and with `--links more`.

Always: what takes a reader to another page. That is hyperlinks, frames, the next and the previous page,
refreshes and the canonical address, in markup and in reply headers. With `more`: whatever names a page
without taking anybody there, down to URLs in the text and in scripts. Never: what a page is made of
(pictures, styles, scripts), what is sent (forms with fields, pings) and what only identifies.
`docs/parsing.md` has the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

#: Types of a `<link rel=alternate>` that is a feed.
_FEEDS = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"}
)
#: Types of an `<object>` or `<embed>` that is a page shown in a frame.
FRAMED = frozenset({"text/html", "application/xhtml+xml", "application/pdf"})
_PAGE_RELS = frozenset({"next", "prev", "canonical"})
_RELS_OF_MORE = """
    alternate amphtml appendix archives author bookmark chapter contents copyright first glossary help home
    index last license me prerender previous privacy-policy section shortlink start subsection
    terms-of-service toc top up
"""
_MORE_RELS = frozenset(_RELS_OF_MORE.split())
_META_NAMES = """
    al:web:url article:author article:publisher citation_abstract_html_url citation_fulltext_html_url
    citation_pdf_url citation_public_url dc.identifier dc.relation dc.source identifier-url
    msapplication-starturl og:see_also og:url twitter:url
"""
#: Names of `<meta>` elements whose content is the address of a page.
META = frozenset(_META_NAMES.split())
_IN_TEXT = re.compile(r"https?://[^\s<>\"'()\[\]{}|\\^`]+")
#: Of an address in a script or an attribute: no quotes, so that each character is looked at once.
_LETTER = r"[^\s<>\"'`\\{}|^*$]"
_ADDRESS = (
    rf"(?:(?:https?:)?//[\w.-]+(?::[0-9]+)?(?:[/?#]{_LETTER}*)?"
    rf"|\.{{0,2}}/(?!/){_LETTER}*"
    rf"|[\w%~.-][\w%~./-]*\.(?:html?|xhtml|php[0-9]?|aspx?|jspx?|cgi|pdf)(?:[?#]{_LETTER}*)?)"
)
_WHOLE = re.compile(_ADDRESS, re.ASCII)
#: A text in quotes that is an address and no part of a sum. `@context` names a vocabulary, no page.
_QUOTED = re.compile(
    rf"(?<!\+)(?<!\+ )(?<!@context\":)(?<!@context\": )([\"'`])({_ADDRESS})\1(?!\s{{0,4}}\+)", re.ASCII
)
#: Namespaces look like pages and are none.
_NAMESPACE = re.compile(r"(?:https?:)?//(?:www\.w3\.org/(?:19|20)[0-9]{2}/|schema\.org/?$|ogp\.me/ns|/)")
_ESCAPES = (("\\/", "/"), ("\\u002F", "/"), ("\\u002f", "/"), ("\\u0026", "&"))
_LINK_VALUE = re.compile(r"<([^<>]{1,4096})>([^<]*)")
_PARAMETER = re.compile(r";\s{0,8}(rel|type|title|anchor)\s{0,8}=\s{0,8}(?:\"([^\"]*)\"|([^\s;,\"]+))", re.I)
_LONGEST, _HEADER_LINKS = 2_000, 100


class ExtraLink(NamedTuple):
    """A link that is no element of the document, or one that is only followed when asked for."""

    href: str
    anchor: str = ""
    context: str = ""
    path: str = ""
    rel: str = ""


def leads_to_page(rels: Iterable[str], media_type: str, more: bool) -> bool:
    """Whether a `<link>` element, or a link in a header, is followed.

    >>> leads_to_page(["next"], "", more=False), leads_to_page(["alternate"], "", more=False)
    (True, False)
    >>> leads_to_page(["alternate"], "application/rss+xml", more=False)
    True
    """
    named = set(rels)
    if "stylesheet" in named:
        return False
    if "alternate" in named and media_type.strip().lower() in _FEEDS:
        return True
    return bool(named & _PAGE_RELS or (more and named & _MORE_RELS))


def is_address(text: str) -> bool:
    """Whether a text found where anything may stand looks like the address of a page.

    >>> [is_address(text) for text in ("/a/b", "page.html?x=1", "//a.example", "wind", "/user/{id}", "a b/")]
    [True, True, True, False, False, False]
    """
    return 1 < len(text) <= _LONGEST and _WHOLE.fullmatch(text) is not None and not _NAMESPACE.match(text)


def literals(source: str, most: int) -> list[str]:
    """Addresses in quotes in a script or in JSON, each once, in order; work is linear in its length.

    >>> literals('go("/a"); x = "/user/" + id; {"next": "https:\\\\/\\\\/a.example\\\\/b", "n": "wind"}', 10)
    ['/a', 'https://a.example/b']
    """
    for written, meant in _ESCAPES:
        if written in source:
            source = source.replace(written, meant)
    found = (match[2] for match in _QUOTED.finditer(source))
    return list(dict.fromkeys(islice(filter(is_address, found), most)))


def in_text(text: str, most: int) -> tuple[list[str], list[int], list[int]]:
    """Addresses that are written out in a text, and where each starts and ends.

    >>> in_text("see http://a.example/b.", 9)
    (['http://a.example/b'], [4], [22])
    """
    found = [(match.start(), match[0].rstrip(".,;:!?")) for match in islice(_IN_TEXT.finditer(text), most)]
    return [url for _, url in found], [at for at, _ in found], [at + len(url) for at, url in found]


def header_links(headers: Sequence[tuple[str, str]], more: bool) -> Iterator[ExtraLink]:
    """Links in the headers of a reply: `Link` by the rules for `<link>`, `Content-Location` with `more`.

    >>> [link.href for link in header_links([("Link", '</2>; rel="next", </s.css>; rel=stylesheet')], False)]
    ['/2']
    """
    for name, value in headers:
        kind = name.lower()
        if kind == "content-location" and more and value:
            yield ExtraLink(value, path="header/content-location")
        if kind != "link":
            continue
        for match in islice(_LINK_VALUE.finditer(value), _HEADER_LINKS):
            said = {key.lower(): quoted or bare for key, quoted, bare in _PARAMETER.findall(match[2])}
            rel = said.get("rel", "").lower()
            # With an anchor the link is from another page than this.
            if "anchor" not in said and leads_to_page(rel.split(), said.get("type", ""), more):
                yield ExtraLink(match[1].strip(), anchor=said.get("title", ""), path="header/link", rel=rel)
