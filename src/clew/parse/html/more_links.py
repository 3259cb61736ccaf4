"""Elements and attributes that name pages without being links: followed with `--links more`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import turbohtml

from clew.parse.html.paths import tag_paths
from clew.parse.limits import Limits
from clew.parse.link_kinds import META, ExtraLink, is_address, leads_to_page, literals
from clew.parse.text import one_line

_CITING = frozenset({"blockquote", "q", "ins", "del"})
_DESCRIBED = frozenset({"img", "frame", "iframe"})
#: Controls of a form that send nothing of their own.
_BUTTONS = frozenset({"submit", "button", "reset", "image"})
#: Types of scripts that have addresses, beside JSON and JavaScript; others are shaders and templates.
_SCRIPTS = ("", "module", "speculationrules", "importmap")


def more_links(tree: turbohtml.Document, limits: Limits) -> tuple[ExtraLink, ...]:
    """What the document names, in its order, at most `limits.links` of it. One pass over the elements."""
    found = list(islice(_named(tree, limits), limits.links))
    paths = tag_paths([element for element, _ in found])
    return tuple(
        ExtraLink(href, _label(element, limits), "", path, (element.attr("rel") or "").lower())
        for (element, href), path in zip(found, paths, strict=True)
    )


def _named(tree: turbohtml.Document, limits: Limits) -> Iterator[tuple[turbohtml.Element, str]]:
    left = limits.script  # characters of scripts that are still looked at
    pressed = _link_forms(tree)
    for element in tree.iter_elements():
        tag, attributes = element.tag, element.attrs
        if not attributes and tag != "script":
            continue
        href = pressed.get(element) or _one(tag, element)
        if href:
            yield element, href
        scripts = [element.text] if tag == "script" and _has_addresses(element) else []
        for name, said in attributes.items():
            value = said.strip() if isinstance(said, str) else ""
            if name.startswith("on") or (name == "href" and value[:11].lower() == "javascript:"):
                scripts.append(value)
            elif name.startswith("data-"):
                if is_address(value):
                    yield element, value
                elif value[:1] in ("{", "["):
                    scripts.append(value)
        for script in scripts:
            source = script[:left]
            left -= len(source)
            for address in literals(source, limits.links):
                yield element, address
        if tag == "iframe" and (inner := element.attr("srcdoc")):
            for link in turbohtml.parse(inner, positions=False).select("a"):
                if target := link.attr("href"):
                    yield element, target


def _link_forms(tree: turbohtml.Document) -> dict[turbohtml.Node, str]:
    """Where forms and their buttons lead, if a form is a link in disguise: by GET, with nothing to send."""
    found: dict[turbohtml.Node, str] = {}
    for form in tree.select("form"):
        if (form.attr("method") or "get").strip().lower() != "get":
            continue
        if form.select("select") or form.select("textarea"):
            continue
        fields = form.select("input")
        if all((field.attr("type") or "").lower() in _BUTTONS for field in fields):
            found[form] = form.attr("action") or ""
            for button in (*form.select("button"), *fields):
                found[button] = button.attr("formaction") or ""
    return found


def _one(tag: str, element: turbohtml.Element) -> str:
    """The page that an element names by the attribute made for it; empty for none."""
    if tag == "link":
        rels = (element.attr("rel") or "").lower().split()
        listed = leads_to_page(rels, element.attr("type") or "", more=True)
        return (element.attr("href") or "") if listed or element.attr("itemprop") == "url" else ""
    if tag == "meta":
        name = (element.attr("property") or element.attr("name") or "").strip().lower()
        value = (element.attr("content") or "").strip()
        return value if name in META and is_address(value) else ""
    if tag == "object":
        return element.attr("data") or ""
    if tag == "embed":
        return element.attr("src") or ""
    if tag in _CITING:
        return element.attr("cite") or ""
    if tag in _DESCRIBED:
        return element.attr("longdesc") or ""
    if tag == "option":
        value = (element.attr("value") or "").strip()
        return value if is_address(value) else ""
    return ""


def _has_addresses(script: turbohtml.Element) -> bool:
    kind = (script.attr("type") or "").partition(";")[0].strip().lower()
    return kind in _SCRIPTS or kind.endswith(("json", "javascript", "ecmascript"))


def _label(element: turbohtml.Element, limits: Limits) -> str:
    """What a reader is told of it."""
    if element.tag in ("option", "button"):
        return one_line(element.text[: 4 * limits.anchor], limits.anchor)
    said = element.attr("title") or element.attr("alt") or element.attr("aria-label")
    return one_line(said or (element.attr("value") if element.tag == "input" else "") or "", limits.anchor)
