"""Everything a crawl has kept, read once: what is sound, what is damaged, what can be fetched again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clew.errors import StoreForeign, UsageError
from clew.store.backends import backend_of, open_reader
from clew.store.base import Progress

_REPLY = "reply of "


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What was found in a crawl."""

    pages: int
    replies: int
    """Pages whose archived reply has the digest it had."""
    lost: tuple[str, ...]
    """URLs of pages whose archived reply is damaged or gone."""
    unreadable: tuple[str, ...]
    """Rows and files that cannot be read, each named."""
    problems: tuple[str, ...]
    """What is wrong with files, and what keeps the crawl from being resumed, each a sentence."""

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return not (self.lost or self.unreadable or self.problems)


def examine(place: Path | str, progress: Progress = lambda done, total: None) -> Examination:
    """Read all that a crawl has kept, every reply too, and change nothing.

    >>> from clew.store import SqliteStore
    >>> import tempfile
    >>> directory = Path(tempfile.mkdtemp()) / "farms"
    >>> SqliteStore(directory).close()
    >>> examine(directory).sound
    True
    """
    problems = list(backend_of(place).check(str(place)))
    pages, replies = 0, 0
    lost = []
    with open_reader(place) as reader:
        total = reader.counts().pages
        try:
            for page in reader.pages():
                pages += 1
                progress(pages, total)
                reader.outlinks(page.id)
                if page.blob is None:
                    continue
                if reader.record(page) is None:
                    lost.append(page.url)
                else:
                    replies += 1
            for rows in (reader.hosts(), reader.decisions(), reader.journal()):
                for _ in rows:
                    pass
            reader.meta()
            reader.snapshot()
            reader.learned()
        except StoreForeign as error:
            problems.append(f"it cannot be resumed: {error}")
        unreadable = tuple(name for name in reader.unreadable if not name.startswith(_REPLY))
    return Examination(
        pages=pages,
        replies=replies,
        lost=tuple(lost),
        unreadable=unreadable,
        problems=tuple(dict.fromkeys(problems)),
    )


def repair(place: Path | str, found: Examination) -> int:
    """Queue again what an examination found lost and what cannot be read of pages; gives how many."""
    mend = backend_of(place).repair
    if mend is None:
        raise UsageError(f"the store of {place} cannot be repaired by clew: see its own tools")
    return mend(str(place), found.lost)
