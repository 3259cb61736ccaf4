"""Text of PDF files, where the `pdf` extra is installed; without it a PDF is a page without text."""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass

from clew.errors import ParseError
from clew.parse.limits import DEFAULT, Limits
from clew.parse.text import clip, fold, one_line


@dataclass(frozen=True, slots=True)
class Pdf:
    """A document's title and text."""

    title: str = ""
    text: str = ""
    truncated: bool = False


def read_pdf(body: bytes, limits: Limits = DEFAULT) -> Pdf:
    """Title and text of the first pages.

    >>> read_pdf(b"", Limits(pdf_pages=0)).text
    ''
    """
    try:
        from pypdf import PdfReader
    except ImportError:
        return Pdf()
    if not body:
        return Pdf()
    # What it stumbles over is told by the error below, not in the middle of a crawl's progress.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(body), strict=False)
        about = reader.metadata
        title = one_line(str(about.get("/Title") or "") if about else "", limits.title)
        pieces: list[str] = []
        size = 0
        for number, page in enumerate(reader.pages):
            if number >= limits.pdf_pages or size > limits.text:
                return Pdf(title, clip(fold("\n".join(pieces)), limits.text), True)
            pieces.append(page.extract_text())
            size += len(pieces[-1])
    except Exception as error:
        # pypdf raises whatever a broken file makes it stumble over.
        raise ParseError(f"this PDF cannot be read: {error!r}") from error
    return Pdf(title, clip(fold("\n".join(pieces)), limits.text))
