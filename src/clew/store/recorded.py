"""Recorded webs for replay: a crawl directory, or WARC files from anywhere.

An index from canonical URL to the place of its reply is made by reading the files once; bodies stay
on disk. WARC/1.0 and 1.1, plain or compressed, `response` and `resource` records; what is broken in a
file is left out and told in `problems`, what is good in it is used.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from fastwarc.warc import ArchiveIterator, WarcRecordType

from clew.errors import StoreForeign
from clew.fetch.base import Response
from clew.store.read import CrawlReader, read_directory
from clew.store.replies import http_reply
from clew.store.warc import RENDERED_TYPE
from clew.url import canonical

_KINDS = WarcRecordType.response | WarcRecordType.resource
_ALL = _KINDS | WarcRecordType.conversion
_GZIP = b"\x1f\x8b"
_PLAIN = b"WARC/"
_UNPACKED = 4 << 30
"""Most bytes of a file compressed in one piece that are unpacked."""
_STEP = 1 << 20

#: Which file, where in it.
_Place = tuple[int, int]


class WarcWeb:
    """The replies in WARC files, by canonical URL; of several for one URL, the last.

    Parameters: a file, a folder of them, or several of either; the most bytes of a decoded body.
    """

    def __init__(self, paths: Path | str | Iterable[Path | str], *, limit: int = 32 << 20) -> None:
        given = [paths] if isinstance(paths, (str, Path)) else list(paths)
        files = [file for path in given for file in _files(Path(path))]
        if not files:
            raise StoreForeign(f"{', '.join(map(str, given)) or 'nothing'}: no WARC file there")
        self.name = Path(given[0]).name
        self.limit = limit
        self._start([(file, None) for file in files])

    def _start(self, files: list[tuple[Path, int | None]]) -> None:
        self.problems: list[str] = []
        """What was left out, and why."""
        self._files: list[_Source] = []
        self._places: dict[str, _Place] = {}
        self._rendered: set[_Place] = set()
        for path, length in files:
            self._add(_Source(path, length))
        self._order = sorted(self._places, key=lambda url: url.endswith("/robots.txt"))

    def get(self, url: str) -> Response | None:
        """The reply recorded for a canonical URL; None when there is none."""
        place = self._places.get(url)
        if place is None:
            return None
        source, offset = self._files[place[0]], place[1]
        with source.open(offset) as stream:
            try:
                records = iter(ArchiveIterator(stream, record_types=_ALL, parse_http=False))
                record = next(records)
                reply, number = self._reply(url, record), record.record_id
                if reply is None or place not in self._rendered:
                    return reply
                return self._with_rendering(reply, number, next(records))
            except (OSError, StopIteration) as error:
                raise StoreForeign(
                    f"{source.path} changed while it was read ({error}): open it again"
                ) from error

    def urls(self) -> Iterator[str]:
        """Every canonical URL with a reply, in the order recorded, files named robots.txt last."""
        return iter(self._order)

    def close(self) -> None:
        """Let go of plain copies that were made of files compressed in one piece."""
        for source in self._files:
            source.close()

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self)} replies)"

    def _add(self, source: _Source) -> None:
        """Index one file: what can be read of it."""
        number = len(self._files)
        self._files.append(source)
        scanned = self._scan(source)
        if scanned.problem is None and scanned.found is None:
            source.unpack()
            scanned = self._scan(source)
        self._rendered.update((number, offset) for offset in scanned.rendered)
        if scanned.problem is not None:
            self.problems.append(_broken(scanned.problem, len(scanned.found or ())))
            if not scanned.found:
                self._refuse(self.problems[-1])
        for url, offset in scanned.found or ():
            self._places[url] = (number, offset)

    def _scan(self, source: _Source) -> _Scanned:
        return _scan(source)

    def _refuse(self, problem: str) -> None:
        """A file with nothing in it that can be used is no recorded web."""
        raise StoreForeign(problem)

    def _with_rendering(self, reply: Response, number: str | None, record: Any) -> Response:
        """The reply, with what a browser made of it if the record behind it is that."""
        if number is None or record.headers.get("WARC-Refers-To") != number:
            return reply
        return replace(reply, rendered=record.reader.read(min(record.content_length, self.limit)))

    def _reply(self, url: str, record: Any) -> Response | None:
        # Encoded bodies are smaller than decoded ones, but for the framing of chunks and headers.
        block = record.reader.read(min(record.content_length, 2 * self.limit + _STEP))
        address = record.headers.get("WARC-IP-Address") or ""
        cut = bool(record.headers.get("WARC-Truncated")) or len(block) < record.content_length
        if record.record_type == WarcRecordType.response:
            return http_reply(url, block, self.limit, cut=cut, address=address)
        kind = (("Content-Type", record.headers.get("Content-Type") or "application/octet-stream"),)
        cut = cut or len(block) > self.limit
        body = block[: self.limit]
        return Response(url=url, status=200, headers=kind, body=body, wire=len(block), truncated=cut)


class CrawlWeb(WarcWeb):
    """The replies in a crawl directory, as far as they are committed.

    Parameters: the directory, or a reader of it; the most bytes of a decoded body.
    """

    def __init__(self, crawl: Path | str | CrawlReader, *, limit: int = 32 << 20) -> None:
        with nullcontext(crawl) if isinstance(crawl, CrawlReader) else read_directory(crawl) as reader:
            files = [(file, length) for file, length in reader.archives() if length]
            self._known = {file: reader.reply_offsets(file.name) for file, _ in files}
            lost = [name for name in reader.unreadable if "pages/" in name]
        self.name = reader.path.name
        self.limit = limit
        self._start(list(files))
        if not self._places and (lost or self.problems):
            why = "; ".join([*lost, *self.problems])[:300]
            raise StoreForeign(
                f"{reader.path} has no reply that can be read ({why}): restore its archive from a copy"
            )

    def _scan(self, source: _Source) -> _Scanned:
        """What can be read of a file; behind damage, from the next reply on that the database names."""
        scanned = _scan(source)
        whole = scanned
        while scanned.problem is not None:
            reached = max([scanned.start, *(offset for _, offset in scanned.found or ())])
            again = next((offset for offset in self._known[source.path] if offset > reached), None)
            if again is None:
                break
            scanned = _scan(source, again)
            whole = _Scanned(
                again,
                [*(whole.found or ()), *(scanned.found or ())],
                whole.rendered + scanned.rendered,
                whole.problem,
            )
        return whole

    def _refuse(self, problem: str) -> None:
        """A crawl is read as far as it can be: its database has the rest."""


class _Source:
    """A file that can be read from any record on."""

    def __init__(self, path: Path, length: int | None) -> None:
        self.path = path
        self.length = length
        self._unpacked: IO[bytes] | None = None

    def open(self, offset: int = 0) -> _Window:
        """A stream from a record on; read to the committed length only."""
        if self._unpacked is not None:
            return _Window(os.fdopen(os.dup(self._unpacked.fileno()), "rb"), offset, None)
        return _Window(self.path.open("rb"), offset, self.length)

    def unpack(self) -> None:
        """Keep a plain copy: in a file compressed in one piece no record can be found by its place."""
        plain = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the web
        with self.open() as stream:
            for piece in _inflate(stream):
                plain.write(piece)
        plain.flush()
        self._unpacked = plain

    def close(self) -> None:
        if self._unpacked is not None:
            self._unpacked.close()


class _Window:
    """A stream that begins at an offset of a file and ends at a given length of it."""

    def __init__(self, stream: IO[bytes], offset: int, end: int | None) -> None:
        self._stream = stream
        self._at = offset
        self._end = os.fstat(stream.fileno()).st_size if end is None else end

    def read(self, size: int = -1) -> bytes:
        room = max(0, self._end - self._at)
        data = os.pread(self._stream.fileno(), room if size < 0 else min(size, room), self._at)
        self._at += len(data)
        return data

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset if whence == 0 else self._at + offset
        return self._at

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> _Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _Scanned:
    """What a file has in it, from a record on."""

    start: int
    found: list[tuple[str, int]] | None
    """Canonical URLs with the places of their records; None: the file is compressed in one piece."""
    rendered: list[int]
    """Which of the places have a rendering right behind them."""
    problem: str | None = None
    """What broke off the reading, if something did."""


def _scan(source: _Source, start: int = 0) -> _Scanned:
    """Read a file from a record on, to its end or as far as it goes."""
    found: list[tuple[str, int]] = []
    rendered: list[int] = []
    with source.open(start) as stream:
        magic = stream.read(5)
        if not magic:
            return _Scanned(start, found, rendered, f"{source.path} is empty")
        marks = _PLAIN if magic == _PLAIN else magic[:2]
        stream.seek(start)
        try:
            for record in ArchiveIterator(stream, record_types=_ALL, parse_http=False):
                with source.open(record.stream_pos) as there:
                    reachable = there.read(len(marks)) == marks
                if not reachable or (found and record.stream_pos <= found[-1][1]):
                    if marks == _GZIP:
                        return _Scanned(start, None, rendered)
                    why = f"{source.path} is compressed in one piece, not record by record"
                    return _Scanned(start, found, rendered, why)
                url = _target(record)
                if record.reader.consume() < record.content_length:
                    return _Scanned(start, found, rendered, f"{source.path} is cut short")
                if record.record_type == WarcRecordType.conversion:
                    if found and url == found[-1][0] and record.headers.get("Content-Type") == RENDERED_TYPE:
                        rendered.append(found[-1][1])
                elif url is not None:
                    found.append((url, record.stream_pos))
        except (OSError, ValueError) as error:
            return _Scanned(start, found, rendered, f"{source.path} is damaged ({error})")
    return _Scanned(start, found, rendered)


def _broken(what: str, used: int) -> str:
    left = f"{used} replies in it are used" if used else "nothing in it can be read"
    return f"{what}: {left}; restore it from a copy"


def _target(record: Any) -> str | None:
    target = record.headers.get("WARC-Target-URI") or ""
    return canonical(target.removeprefix("<").removesuffix(">"))


def _inflate(stream: Any) -> Iterator[bytes]:
    """The bytes of a gzip file, as far as they are good and not absurdly many."""
    total = 0
    inflate = zlib.decompressobj(31)
    data = stream.read(_STEP)
    while data and total < _UNPACKED:
        try:
            piece = inflate.decompress(data, _STEP)
        except zlib.error:
            return
        total += len(piece)
        yield piece
        if inflate.eof:
            data = inflate.unused_data or stream.read(_STEP)
            inflate = zlib.decompressobj(31)
        else:
            data = inflate.unconsumed_tail or stream.read(_STEP)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*.warc*") if file.is_file())
    if not path.exists():
        raise StoreForeign(f"{path} does not exist: give a WARC file or a folder of them")
    return [path]
