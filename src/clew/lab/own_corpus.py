"""Corpora of one's own: pages as lines of JSON, or a WARC or crawl with labels beside it.

`pages.jsonl`, plain or compressed by gzip or zstd, has a page a line: `url` and `html`, and if there are
any `labels` (a text or a list of texts) and `headers` (a table, or a list of pairs or of lines). A labels
file has `url` and `labels` a line, or an address and its labels with tabs between them. A file is taken
whole or not at all: what is wrong with it is told with the number of the line.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import xxhash
import zstandard

from clew.errors import FetchError, ParseError, UsageError
from clew.fetch.base import Response
from clew.fetch.replay import RecordedWeb
from clew.lab.corpus_index import RecordedPage, open_index
from clew.lab.webs import CorpusWeb, LabelledWeb
from clew.page import Page
from clew.predicate.atoms.python import find as find_function
from clew.run.parsing import to_page
from clew.url import canonical

LONGEST = 64 << 20
"""Most bytes of a line: a file compressed a thousandfold must not fill the memory."""
_ZSTD, _GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
_STEP, _LITTLE = 1 << 20, 1 << 12
#: Headers that speak of a transfer that is over, not of the page.
TRANSFER = frozenset({"content-length", "content-encoding", "connection", "keep-alive", "transfer-encoding"})
PYTHON = "py:"
"""How labels begin that a function gives."""


def holds_pages(path: Path) -> bool:
    """Whether a file is one of pages, by its name.

    >>> holds_pages(Path("pages.jsonl.zst")), holds_pages(Path("crawl.warc.gz"))
    (True, False)
    """
    return path.name.endswith((".jsonl", ".jsonl.gz", ".jsonl.zst"))


def pages_in(path: Path) -> Iterator[RecordedPage]:
    """The pages of a file of lines."""
    number = 0
    for number, row in _rows(path):
        url, html = row.get("url"), row.get("html")
        if not isinstance(url, str) or not isinstance(html, str):
            lacking = "url" if not isinstance(url, str) else "html"
            raise _wrong(path, number, f"it has no {lacking}: a page needs url and html, both text")
        headers = _headers(row.get("headers"), path, number)
        try:
            body = html.encode(_charset(headers), "xmlcharrefreplace")
        except (LookupError, UnicodeError) as error:
            raise _wrong(path, number, f"its html cannot be written as its headers say: {error}") from None
        yield RecordedPage(url, "page", _labels(row.get("labels"), path, number), headers, body)
    if not number:
        raise UsageError(f"{path} is empty: it should have a page a line, with url and html")


def fingerprint(path: Path) -> str:
    """What changes when a corpus does: of a file its bytes, of a folder the names and sizes in it."""
    total = xxhash.xxh3_64()
    if path.is_file():
        with path.open("rb") as file:
            while piece := file.read(_STEP):
                total.update(piece)
    else:
        for file_path in sorted(path.rglob("*.warc*")):
            total.update(f"{file_path.relative_to(path)}\0{file_path.stat().st_size}\0".encode())
    return total.hexdigest()


def open_pages(path: Path, name: str = "", entry: tuple[str, ...] = ()) -> CorpusWeb:
    """The recorded web of a file of pages; it starts at `entry`, or else at its first page."""
    index = open_index(f"own-{fingerprint(path)}", path, pages_in)
    first = next((url for _, given, _ in index.listing() if (url := canonical(given)) is not None), None)
    if first is None:
        raise UsageError(f"{path} has no page with an http or https address")
    return CorpusWeb(name or corpus_name(path), (index,), seeds=entry or (first,))


def corpus_name(path: Path) -> str:
    """What a corpus is called when nothing else is said: its file's name up to the first dot.

    >>> corpus_name(Path("data/recipes.jsonl.zst"))
    'recipes'
    """
    return path.resolve().name.partition(".")[0] or path.name


class RelabelledWeb:
    """A recorded web with labels from elsewhere: a table by URL, or a function of a page."""

    def __init__(
        self,
        web: RecordedWeb,
        name: str,
        entry: tuple[str, ...],
        given: Mapping[str, tuple[str, ...]] | Callable[[Page], Any],
    ) -> None:
        self.web = web
        self.name = name
        self.entry = entry
        self.given = given
        self._known: dict[str, tuple[str, ...]] = {}

    def get(self, url: str) -> Response | None:
        """The reply recorded for a canonical URL."""
        return self.web.get(url)

    def urls(self) -> Iterator[str]:
        """Every recorded URL, in the order recorded."""
        return self.web.urls()

    def labels(self, url: str) -> tuple[str, ...]:
        """What the table or the function says of a page; a URL that gave no page has none."""
        if not callable(self.given):
            return self.given.get(url, ())
        if url not in self._known:
            self._known[url] = self._asked(url, self.given)
        return self._known[url]

    def _asked(self, url: str, function: Callable[[Page], Any]) -> tuple[str, ...]:
        try:
            reply = self.web.get(url)
            if reply is None or not 200 <= reply.status < 300 or url.endswith("/robots.txt"):
                return ()
            page = to_page(reply, 0)
        except (FetchError, ParseError):
            return ()
        answer = function(page)
        said = (answer,) if isinstance(answer, str) else tuple(answer or ())
        if not all(isinstance(label, str) for label in said):
            raise UsageError(f"the labels of {url} are {said!r}: a function of labels gives texts")
        return said

    def seeds(self) -> tuple[str, ...]:
        """Where it starts."""
        return self.entry

    def __repr__(self) -> str:
        return f"RelabelledWeb({self.name!r}, {self.web!r})"


def with_labels(web: LabelledWeb, name: str, labels: str, entry: tuple[str, ...] = ()) -> LabelledWeb:
    """A recorded web with the labels of a file, or of `py:module:function`, instead of its own."""
    start = entry or web.seeds()
    if labels.startswith(PYTHON):
        module, _, function = labels.removeprefix(PYTHON).partition(":")
        if not module or not function:
            raise UsageError(f"labels {labels!r}: write py:module:function, a function from a page to labels")
        return RelabelledWeb(web, name, start, find_function(module, function))
    path = Path(labels)
    if not path.is_file():
        raise UsageError(f"there is no labels file {path}: give one, or py:module:function")
    given = labels_in(path)
    if not any(url in given for url in web.urls()):
        raise UsageError(
            f"no address in {path} is one of {name}: its first is {next(iter(given), 'missing')}"
        )
    return RelabelledWeb(web, name, start, given)


def labels_in(path: Path) -> dict[str, tuple[str, ...]]:
    """The labels of each canonical URL in a labels file; said twice, a page has both."""
    found: dict[str, tuple[str, ...]] = {}
    for number, url, labels in _labelled(path):
        address = canonical(url)
        if address is None:
            raise _wrong(path, number, f"{url[:80]!r} is no http or https address")
        found[address] = tuple(dict.fromkeys((*found.get(address, ()), *labels)))
    return found


def _labelled(path: Path) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    if holds_pages(path):
        for number, row in _rows(path):
            if not isinstance(row.get("url"), str):
                raise _wrong(path, number, "it has no url: a line needs url and labels")
            yield number, row["url"], _labels(row.get("labels"), path, number)
        return
    for number, line in _lines(path):
        try:
            url, *labels = [part.strip() for part in line.decode("utf-8").split("\t")]
        except UnicodeDecodeError:
            raise _wrong(path, number, "it is not UTF-8") from None
        if not labels:
            raise _wrong(path, number, "it has no tab: write an address and its labels, with tabs between")
        yield number, url, tuple(filter(None, labels))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in _lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _wrong(path, number, f"it is not JSON ({error})") from None
        if not isinstance(row, dict):
            raise _wrong(path, number, "it is no JSON object")
        yield number, row


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not empty, with their numbers, whatever it is compressed by."""
    number = 0
    try:
        with path.open("rb") as file, _plain(file) as stream:
            while line := stream.readline(LONGEST + 1):
                number += 1
                if len(line) > LONGEST:
                    raise _wrong(path, number, f"it is longer than {LONGEST >> 20} MB")
                if line.strip():
                    yield number, line
    except (zstandard.ZstdError, EOFError, OSError) as error:
        raise UsageError(f"{path} cannot be read beyond line {number}: {error}") from None


def _plain(file: BinaryIO) -> BinaryIO:
    start = file.read(4)
    file.seek(0)
    if start == _ZSTD:
        return io.BufferedReader(_Unpacked(file), _STEP)
    return gzip.GzipFile(fileobj=file) if start.startswith(_GZIP) else file  # type: ignore[return-value]


class _Unpacked(io.RawIOBase):
    """The plain bytes of a zstd file of one or more frames; a file that ends within one is an error.

    The package's own stream reader ends quietly where a file was cut off.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._zstd = zstandard.ZstdDecompressor(max_window_size=2**27)
        self._frame = self._zstd.decompressobj()
        self._begun = False
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self._rest:
            # A few bytes at a time: a block of four can stand for a hundred thousand.
            packed = self._file.read(_LITTLE)
            if not packed:
                if self._begun:
                    raise EOFError("it ends too early, as a file does that was cut off")
                return 0
            self._rest = self._unpack(packed)
        taken = self._rest[: len(room)]
        room[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)

    def _unpack(self, packed: bytes) -> bytes:
        found = []
        while packed:
            self._begun = True
            found.append(self._frame.decompress(packed))
            packed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._begun = self._zstd.decompressobj(), False
        return b"".join(found)


def _headers(given: Any, path: Path, number: int) -> tuple[tuple[str, str], ...]:
    """Header lines of any of the three shapes, without those that speak of the transfer."""
    pairs = list(given.items()) if isinstance(given, dict) else (given or [])
    if not isinstance(pairs, list):
        raise _wrong(path, number, "its headers are neither a table nor a list")
    found = []
    for pair in pairs:
        parts = tuple(pair.partition(":")[::2]) if isinstance(pair, str) else tuple(pair or ())
        if len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            raise _wrong(path, number, f"{pair!r} is no header: write a name and a value")
        found.append((parts[0].strip(), parts[1].strip()))
    kept = dict(pair for pair in found if pair[0].lower() not in TRANSFER)
    kind = next((name for name in kept if name.lower() == "content-type"), "Content-Type")
    kept.setdefault(kind, "text/html")
    if "charset" not in kept[kind].lower():
        kept[kind] += "; charset=utf-8"  # it is text in the file, and this is what it is written in here
    return tuple(kept.items())


def _charset(headers: tuple[tuple[str, str], ...]) -> str:
    kind = next((value for name, value in headers if name.lower() == "content-type"), "")
    told = [part.strip().partition("=")[2] for part in kind.split(";")[1:] if "charset" in part.lower()]
    return told[0].strip("\"' ")


def _labels(given: Any, path: Path, number: int) -> tuple[str, ...]:
    said = [given] if isinstance(given, str) else [] if given is None else given
    if not isinstance(said, list) or not all(isinstance(label, str) for label in said):
        raise _wrong(path, number, "its labels are neither a text nor a list of texts")
    return tuple(said)


def _wrong(path: Path, number: int, what: str) -> UsageError:
    return UsageError(f"{path} line {number}: {what}")
