"""`clew check`: read a formula back, and score a page with it."""

from __future__ import annotations

import asyncio
import mimetypes
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import clean, put, put_json, say
from clew.cli.directories import Json
from clew.cli.exits import DONE, NO_MATCH
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.page import Page

_MAX_FILE = 64_000_000


def check(
    formula: Annotated[str, Parameter(metavar="FORMULA", allow_leading_hyphen=True, help="What to find.")],
    page: Annotated[
        str | None,
        Parameter(metavar="URL|FILE", allow_leading_hyphen=True, help="A page to score; - for stdin."),
    ] = None,
    /,
    *,
    threshold: Annotated[float, Parameter(metavar="X", help="The degree that satisfies.")] = 0.5,
    semantics: Annotated[str, Parameter(metavar="NAME", help="minmax, product or weighted.")] = "minmax",
    allow_private: Annotated[
        tuple[str, ...], Parameter(negative=(), metavar="HOST|CIDR", help="A private host that may be asked.")
    ] = (),
    proxy: Annotated[str | None, Parameter(metavar="URL", help="An HTTP proxy, http://host:port.")] = None,
    json: Json = False,
) -> int:
    """Read a formula back and score a page with it, term by term."""
    from clew.predicate import FormulaPredicate, notes
    from clew.predicate import compile as compile_predicate

    predicate = compile_predicate(formula, threshold=threshold, semantics=semantics, allow_python=True)
    assert isinstance(predicate, FormulaPredicate)
    for note in notes(formula):
        say(f"note: {note}")
    result: dict[str, Any] = {"formula": predicate.text()}
    if page is not None:
        parsed = _page(page, allow_private, proxy)
        verdict = predicate.judge(parsed)
        result |= {"url": parsed.url, "title": parsed.title, "score": verdict.score}
        result["satisfied"] = verdict.satisfied
        result["terms"] = [
            {"term": term.text, "degree": term.degree, "negated": term.negated, "weight": term.weight}
            for term in predicate.terms(parsed)
        ]
    if json:
        put_json(result)
    else:
        _show(result, threshold)
    return DONE if result.get("satisfied", True) else NO_MATCH


def _show(result: dict[str, Any], threshold: float) -> None:
    put(result["formula"])
    if "score" not in result:
        return
    put()
    terms = [("NOT " if term["negated"] else "") + term["term"] for term in result["terms"]]
    width = max(map(len, terms), default=0)
    for text, term in zip(terms, result["terms"], strict=True):
        weight = f"  weight {term['weight']:g}" if term["weight"] != 1 else ""
        # beside "NOT x" stands the degree of NOT x, which is what the formula sees
        degree = 1 - term["degree"] if term["negated"] else term["degree"]
        put(f"  {text.ljust(width)}  {degree:.3f}{weight}")
    word = "satisfied" if result["satisfied"] else "not satisfied"
    put()
    put(f"{result['score']:.3f}  {word} (threshold {threshold:g})  {clean(result['title'], 60)}")


def _page(place: str, allow_private: tuple[str, ...], proxy: str | None) -> Page:
    if place.startswith(("http://", "https://")):
        return asyncio.run(_fetched(place, allow_private, proxy))
    return _local(place)


def _local(place: str) -> Page:
    from clew.parse import parse_page

    if place == "-":
        body, url, kind = sys.stdin.buffer.read(_MAX_FILE), "file:///dev/stdin", "text/html"
    else:
        path = Path(place)
        if not path.is_file():
            hint = f"; for a web page write https://{place}" if "." in place and not path.exists() else ""
            raise UsageError(f"there is no file {place!r}{hint}")
        if path.stat().st_size > _MAX_FILE:
            raise UsageError(f"{place} is larger than {_MAX_FILE // 10**6} MB: that is no page")
        body, url = path.read_bytes(), path.resolve().as_uri()
        kind = mimetypes.guess_type(path.name)[0] or "text/html"
    return parse_page(body, url=url, status=200, content_type=kind, headers=(), depth=0)


async def _fetched(url: str, allow_private: tuple[str, ...], proxy: str | None) -> Page:
    """One page of the user's choosing, asked for by hand: like a browser, without asking robots.txt."""
    from clew import url as urls
    from clew.fetch.base import Request
    from clew.parse import parse_page
    from clew.run.build import fetcher_of
    from clew.run.settings import make_config

    values = {"seeds": (url,), "match": "check", "allow_private": allow_private, "proxy": proxy}
    fetcher = fetcher_of(make_config(values), lambda: 0.0)
    target = urls.canonical(url) or url
    try:
        for _ in range(10):
            reply = await fetcher.fetch(Request(target))
            onward = reply.header("location")
            if reply.status not in (301, 302, 303, 307, 308) or not onward:
                break
            target = urls.canonical(onward, target) or target
    finally:
        await fetcher.close()
    if reply.status >= 300:
        raise UsageError(f"{target} gave status {reply.status}: there is no page to score")
    return parse_page(
        reply.body,
        url=target,
        status=reply.status,
        content_type=reply.header("content-type"),
        headers=reply.headers,
        depth=0,
    )
