"""Documents as examples: files and folders of HTML, plain text or PDF, and the files clew keeps examples in.

A kept example is JSON with `url`, `title`, `language` and `text`. Everything else is parsed as a fetched
page would be. What is no document is refused in one sentence: an example that is not read must not be
missed in silence.
"""

from __future__ import annotations

import json
import mimetypes
import os
from collections.abc import Iterator
from pathlib import Path

import xxhash

from clew import url as urls
from clew.errors import ClewError, StoreForeign, UsageError
from clew.page import Page
from clew.parse import parse_page
from clew.topic import Example
from clew.topic.document import MAX_TEXT

#: The largest file that is taken for a document, in bytes.
MAX_FILE = 10_000_000
#: The most files of one folder.
MAX_FILES = 20_000
_TYPES = {".txt": "text/plain", ".md": "text/plain", ".pdf": "application/pdf"}
#: Bytes of text, in whatever encoding: all but those that control a terminal.
_TEXT = bytes([byte for byte in range(256) if byte >= 32 or byte in b"\t\n\r\f\x1b"])


def read_file(path: Path) -> Example:
    """One document."""
    try:
        if path.stat().st_size > MAX_FILE:
            raise UsageError(
                f"{path} has more than {MAX_FILE // 10**6} MB: that is no page; cut it into documents, "
                "or leave it out"
            )
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}): check the name and its permissions"
        ) from None
    if not body.strip():
        raise UsageError(f"{path} is empty: an example is a document with words; remove it")
    page = _kept(path, body) if path.suffix == ".json" else _parsed(path, body)
    return checked(str(path), page)


def checked(place: str, page: Page) -> Example:
    """A page as an example, no longer than is read of it; one without words is refused."""
    if not any(character.isalpha() for character in page.text + page.title):
        raise UsageError(f"{place} has no words: an example is a document with text; remove it")
    kept = Page(
        url=page.url,
        title=page.title[:1000],
        text=page.text[:MAX_TEXT],
        language=page.language,
        type=page.type,
    )
    return Example(place, kept)


def _is_binary(body: bytes) -> bool:
    """Whether something is no text: a byte of 0 anywhere, or many that control a terminal."""
    start = body[:1000]
    return b"\0" in body or len(start.translate(None, _TEXT)) > len(start) // 20


def _parsed(path: Path, body: bytes) -> Page:
    kind = _TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0] or "text/html"
    if kind != "application/pdf" and _is_binary(body):
        raise UsageError(f"{path} is no text: give HTML, plain text or PDF, or leave it out")
    try:
        return parse_page(
            body, url=path.resolve().as_uri(), status=200, content_type=kind, headers=(), depth=0
        )
    except ClewError as error:
        raise UsageError(f"{path} cannot be read as a page ({error}): give HTML, plain text or PDF") from None


def _kept(path: Path, body: bytes) -> Page:
    try:
        data = json.loads(body)
        fields = {name: data[name] for name in ("url", "title", "text", "language")}
    except (ValueError, KeyError, TypeError, RecursionError):
        fields = {}
    if not fields or not all(isinstance(value, str) for value in fields.values()):
        raise StoreForeign(
            f"{path} is no example kept by clew: remove it, or give the page itself as HTML or text"
        )
    return Page(**fields)


def read_folder(folder: Path) -> list[Example]:
    """Every document of a folder and the folders in it, in order of their paths."""
    found = [read_file(path) for path in files_of(folder)]
    if not found:
        raise UsageError(f"{folder} has no documents in it: put HTML, text or PDF files there")
    return found


def files_of(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, without hidden ones; a folder that leads back to itself is an
    error, not a long wait."""
    found = sorted(_files(folder, {_real(folder)}))
    if len(found) > MAX_FILES:
        raise UsageError(f"{folder} has more than {MAX_FILES:,} files: choose some of them")
    return found


def _files(folder: Path, above: set[str]) -> Iterator[Path]:
    for name, is_folder in entries(folder):
        path = folder / name
        if is_folder:
            yield from _files(path, above | {below(path, above)})
        else:
            yield path


def entries(folder: Path) -> list[tuple[str, bool]]:
    """Names in a folder, in order, without hidden ones, and whether each is a folder."""
    try:
        with os.scandir(folder) as found:
            return sorted((entry.name, entry.is_dir()) for entry in found if not entry.name.startswith("."))
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be read ({error.strerror}): check the name and its permissions"
        ) from None


def below(path: Path, above: set[str]) -> str:
    """The real place of a folder, which must not be one of those it was reached through."""
    real = _real(path)
    if real in above:
        raise UsageError(f"{path} leads back to a folder it lies in: remove the link")
    return real


def _real(path: Path) -> str:
    return os.path.realpath(path)


def keep(example: Example, folder: Path) -> tuple[Path, bool]:
    """Write an example into a folder, under a name made of what it says; and whether it was new there."""
    page = example.page
    name = "-".join(urls.tokens(page.url)[-4:])[:60] if "://" in page.url else ""
    path = folder / f"{name or 'page'}-{example.key:016x}.json"
    if path.exists():
        return path, False
    data = {"url": page.url, "title": page.title, "language": page.language, "text": page.text}
    text = json.dumps(data, ensure_ascii=False, indent=1)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text.encode("utf-8", "replace").decode("utf-8") + "\n", "utf-8")
    return path, True


def digest_of(examples: list[Example]) -> str:
    """Equal for equal sets of documents."""
    keys = sorted(f"{example.key:016x}" for example in examples)
    return f"{xxhash.xxh3_64_intdigest(' '.join(keys).encode()):016x}"
