"""The pages of a corpus, parsed once and kept beside its index, so that an experiment starts at once.

The file's name has a fingerprint of the corpus and of the code that parses, so that what another version
made is never read; it can be deleted at any time. Where it cannot be written, pages are parsed again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import xxhash
import zstandard

from clew.errors import FetchError, ParseError
from clew.lab.corpus_index import cache_home
from clew.lab.webs import CorpusWeb, LabelledWeb
from clew.page import Links, Page
from clew.run.parsing import to_page

_PLAIN = tuple(field.name for field in fields(Page) if field.name not in ("links", "robots", "depth"))
_END = b"end"
_COLUMNS = tuple(field.name for field in fields(Links) if field.name != "source")


def pages_of(web: LabelledWeb) -> dict[str, Page]:
    """Every page of a corpus by URL, from the cache or parsed now; nothing for webs that may change."""
    path = _place(web)
    if path is None:
        return {}
    found = _load(path)
    if not found:
        for url in web.urls():
            with contextlib.suppress(FetchError, ParseError):
                if (response := web.get(url)) is not None and 200 <= response.status < 300:
                    found[url] = to_page(response, 0)
        _keep(path, _stem(web), found.values())
    return found


def _load(path: Path) -> dict[str, Page]:
    if not path.is_file():
        return {}
    found: dict[str, Page] = {}
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, zstandard.ZstdError):
        with path.open("rb") as file:
            text = zstandard.ZstdDecompressor().stream_reader(file).read()
        *lines, end = text.split(b"\n")
        for line in lines:
            page = _page(json.loads(line))
            found[page.url] = page
        if end == _END:
            return found
    return {}  # damaged or cut off: as good as none


def _keep(path: Path, stem: str, pages: Iterable[Page]) -> None:
    """Keep pages for next time; those that other versions made are thrown away."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(prefix=path.name, suffix=".new", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file, zstandard.ZstdCompressor(1).stream_writer(file) as out:
                for page in pages:
                    out.write(json.dumps(_row(page), separators=(",", ":")).encode() + b"\n")
                out.write(_END)
            for old in path.parent.glob(f"{stem}-*.pages.zst"):
                old.unlink(missing_ok=True)
            Path(made).replace(path)
        finally:
            Path(made).unlink(missing_ok=True)


def _place(web: LabelledWeb) -> Path | None:
    """Where the pages of a web are kept; None for a web that may change under the same name."""
    if not isinstance(web, CorpusWeb) or any(index.path is None for index in web.indexes):
        return None
    sources = [index.path.name for index in web.indexes if index.path is not None]
    mark = xxhash.xxh3_64_hexdigest("\n".join([web.name, code_mark(), *sources]).encode())
    return cache_home() / f"{_stem(web)}-{mark}.pages.zst"


def _stem(web: LabelledWeb) -> str:
    return re.sub(r"\W+", "_", web.name)


@cache
def code_mark() -> str:
    """A fingerprint of the code that turns bytes into pages, and of the corpora's own changes to them."""
    total = xxhash.xxh3_64()
    root = resources.files("clew")
    for place in (
        "page.py",
        "lab/corpora.py",
        "lab/corpus_readers.py",
        "lab/own_corpus.py",
        "lab/parse_cache.py",
    ):
        total.update((root / place).read_bytes())
    for package in ("parse", "parse/html", "url", "words"):
        for file in sorted((root / package).iterdir(), key=lambda item: item.name):
            if file.name.endswith(".py"):
                total.update(file.read_bytes())
    return total.hexdigest()


def _row(page: Page) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(page, name) for name in _PLAIN}
    row["robots"] = sorted(page.robots)
    row["sketch"] = page.sketch.hex()
    row["links"] = {name: tuple(getattr(page.links, name)) for name in _COLUMNS}
    return row


def _page(row: Mapping[str, Any]) -> Page:
    columns: dict[str, Any] = {name: tuple(row["links"][name]) for name in _COLUMNS}
    given = {name: row[name] for name in _PLAIN}
    given["sketch"] = bytes.fromhex(row["sketch"])
    links = Links(source=given["url"], **columns)
    return Page(**given, robots=frozenset(row["robots"]), links=links)
