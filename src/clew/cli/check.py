"""`clew check`: read a formula back, and score a page with it."""

from __future__ import annotations

import mimetypes
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import clean, put, put_json, put_table, say
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
    topics: Annotated[
        Path | None, Parameter(metavar="DIR", help="The folder of the topics (topics, if it is there).")
    ] = None,
    json: Json = False,
) -> int:
    """Read a formula back and score a page with it, term by term."""
    from clew.predicate import FormulaPredicate, notes
    from clew.predicate import compile as compile_predicate
    from clew.run.settings import make_config
    from clew.run.topics import asker, library_of
    from clew.training.sources import is_url

    seed = page if page is not None and is_url(page) else "https://example.org/"
    config = make_config(
        {"seeds": (seed,), "match": "check", "allow_private": allow_private, "proxy": proxy, "topics": topics}
    )
    predicate = compile_predicate(
        formula,
        threshold=threshold,
        semantics=semantics,
        allow_python=True,
        topics=library_of(config, formula),
    )
    assert isinstance(predicate, FormulaPredicate)
    for note in notes(formula):
        say(f"note: {note}")
    result: dict[str, Any] = {"formula": predicate.text()}
    if page is not None:
        parsed = asker(config)(page) if is_url(page) else _local(page)
        verdict = predicate.judge(parsed)
        result |= {"url": parsed.url, "title": parsed.title, "score": verdict.score}
        result["satisfied"] = verdict.satisfied
        result["terms"] = [
            {
                "term": term.text,
                "degree": term.degree,
                "negated": term.negated,
                "weight": term.weight,
                **({"words": list(term.words)} if term.words else {}),
            }
            for term in predicate.terms(parsed)
        ]
        if degrees := _topics(parsed, topics):
            result["topics"] = degrees
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
        words = f"  {', '.join(term['words'])}" if "words" in term else ""
        put(f"  {text.ljust(width)}  {degree:.3f}{weight}{words}")
    word = "satisfied" if result["satisfied"] else "not satisfied"
    put()
    put(f"{result['score']:.3f}  {word} (threshold {threshold:g})  {clean(result['title'], 60)}")
    if "topics" in result:
        put()
        put_table(
            ("topic", "degree"), [(name, f"{x:.3f}") for name, x in result["topics"].items()], right=(1,)
        )


def _topics(page: Page, topics: Path | None) -> dict[str, float]:
    """Every topic's degree for a page, the highest first; none where there are no topics."""
    from clew.training import read_library

    library = read_library(topics)
    scorers = library.scorers(library.models)
    found = zip(scorers.names, scorers.page(page).degrees.tolist(), strict=True) if len(scorers) else ()
    return dict(sorted(found, key=lambda row: (-row[1], row[0])))


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
