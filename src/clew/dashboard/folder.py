"""`CrawlFolder`: the crawls below a folder, each under a name that is safe in a URL."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clew.errors import UsageError
from clew.run.settings import FILE
from clew.store import is_crawl

#: How deep crawls and experiments are looked for below the folder, and how many are listed.
_DEEP, _MOST, _LOOKED = 3, 500, 20_000
#: How a `clew.toml` that the form wrote begins; where a crawl that it started says what went wrong.
WRITTEN, SAID = "# Written by clew dash.", "clew.err"
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class ListedCrawl:
    """One crawl, or one experiment of the lab, of the folder."""

    key: str
    name: str
    path: Path


class CrawlFolder:
    """What lies below a folder. A request names a key; a path is only ever taken from the list.

    Parameters: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def __repr__(self) -> str:
        return f"CrawlFolder({str(self.root)!r})"

    def crawls(self) -> dict[str, ListedCrawl]:
        """The crawls there are now, by key, in the order of their names."""
        return _keyed(self.root, self._below("clew.db"))

    def experiments(self) -> dict[str, ListedCrawl]:
        """The experiments of `clew lab run` there are now, by key."""
        return _keyed(self.root, self._below("runs.jsonl"))

    def visits(self) -> list[str]:
        """Databases of `clew visits import`, as paths from the folder."""
        found = (path / name for path, names in self._walk() for name in names if name.endswith("visits.db"))
        return sorted(str(path.relative_to(self.root)) for path in found)

    def place_for(self, name: str) -> Path:
        """The directory of a new crawl of that name; `UsageError` where there can be none."""
        if not re.fullmatch(r"[^\W_][\w. -]{0,79}", name) or name.endswith((".", " ")):
            raise UsageError(
                "a name begins with a letter or digit, and has letters, digits, spaces, . _ - only"
            )
        place = self.root / name
        if place.exists() and not _never_began(place):
            raise UsageError(f"{name!r} is there already: choose another name")
        return place

    def _below(self, file: str) -> list[Path]:
        return sorted(path for path, names in self._walk() if file in names)[:_MOST]

    def _walk(self) -> Iterator[tuple[Path, list[str]]]:
        """Folders and the names of their files, links not followed, what lies in a crawl not looked at."""
        waiting, looked = [(self.root, 0)], 0
        while waiting and looked < _LOOKED:
            folder, depth = waiting.pop()
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            looked += len(entries)
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
            yield folder, names
            if depth < _DEEP and "clew.db" not in names:
                waiting += [
                    (folder / entry.name, depth + 1)
                    for entry in entries
                    if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
                ]


def _never_began(place: Path) -> bool:
    """Whether a directory has nothing but what was written for a crawl that could not be started."""
    try:
        names = {entry.name for entry in place.iterdir()}
        return names <= {FILE, SAID} and (place / FILE).read_text("utf-8").startswith(WRITTEN)
    except (OSError, ValueError):
        return False


def _keyed(root: Path, paths: list[Path]) -> dict[str, ListedCrawl]:
    found = {}
    for path in paths:
        name = str(path.relative_to(root)) if path != root else path.name
        found[key_of(name)] = ListedCrawl(key_of(name), name, path)
    return found


def key_of(name: str) -> str:
    """A name as part of a URL, different for different names.

    >>> key_of("wind farms/2026")
    'wind-farms-2026-46583f'
    """
    slug = _NOT_SLUG.sub("-", name.lower()).strip("-")[:40]
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{slug or 'crawl'}-{digest}"


def open_folder(place: Path) -> tuple[CrawlFolder, ListedCrawl | None]:
    """The folder that a path means, and the crawl if it is one itself."""
    place = place.absolute()
    if not place.is_dir():
        raise UsageError(f"{place} is not a folder: give a crawl's directory, or a folder with crawls in it")
    if not is_crawl(str(place)):
        return CrawlFolder(place), None
    folder = CrawlFolder(place.parent)
    key = key_of(place.name)
    return folder, ListedCrawl(key, place.name, place)
