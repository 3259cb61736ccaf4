"""One reader a corpus file: records in, pages as a server would have sent them out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clew.lab.corpus_index import RecordedPage, rows


def wikispeedia(path: Path) -> Iterator[RecordedPage]:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    for row in rows(path):
        yield RecordedPage(row["url"], row["kind"], tuple(row["subjects"]), headers, row["html"].encode())


def webkb(path: Path) -> Iterator[RecordedPage]:
    for row in rows(path):
        # 1996: no charset was sent, and the recorded text is one character a byte.
        yield RecordedPage(
            row["url"], row["univ"], (row["label"],), _sent(row), row["html"].encode("latin-1")
        )


def _sent(row: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The recorded headers, but for those that speak of the transfer and not of the page."""
    pairs = [tuple(part.strip() for part in line.split(":", 1)) for line in row["headers"] if ":" in line]
    hop = {"content-length", "connection", "keep-alive", "transfer-encoding"}
    kept = tuple((pair[0], pair[1]) for pair in pairs if pair[0].lower() not in hop)
    return kept or (("Content-Type", "text/html"),)


def miniweb(path: Path) -> Iterator[RecordedPage]:
    charsets = {"latin-1": "iso-8859-1"}
    for row in rows(path):
        # Some pages declare an encoding that is not theirs; the header, which outranks them, is right.
        kind = f"text/html; charset={charsets.get(row['enc'], row['enc'])}"
        labels = (row["url"].split("/")[2], row["pkg"])
        yield RecordedPage(
            row["url"], "page", labels, (("Content-Type", kind),), row["html"].encode(row["enc"])
        )
