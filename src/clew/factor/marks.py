"""What can be told of a link before it is followed: where it points, how it is written, where it stands.

Every such thing is a *mark*, a column of a wide sparse matrix by hash; `Marks` keeps the marks of each
candidate, and of fetched ones what became of them. A mark is about one page (the list a link stands in), one
site (a directory), or any (a word of an anchor), so that what is learned from one link serves those like it,
near or far.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from clew import url as urls
from clew.factor.memory import Ragged
from clew.page import Links

#: Marks share 2^18 columns by hash: too many to collide often, few enough to keep a weight for each.
WIDTH = 1 << 18
#: Marks, directories and tag paths that are remembered with their columns.
_REMEMBERED = 100_000
#: Once there are more fetched candidates than this, the older half is forgotten.
_MOST = 8000
_DIGITS = re.compile(r"\d+")
#: A query counts as so many steps: what it asks for lies deep.
_QUERY = 3


@dataclass(frozen=True, slots=True)
class Source:
    """The page that links are found on."""

    host: str
    directory: str
    satisfied: bool

    @classmethod
    def of(cls, url: str, satisfied: bool) -> Source:
        host, directory, _, _ = parts_of(url)
        return cls(host, directory, satisfied)


def parts_of(url: str) -> tuple[str, str, str, str]:
    """Host, directory, file and query of a URL.

    >>> parts_of("http://a.example/b/c/d.html?e")
    ('a.example', 'b/c', 'd.html', 'e')
    """
    host, _, rest = url.partition("://")[2].partition("/")
    path, _, query = rest.partition("?")
    directory, _, file = path.rpartition("/")
    return host, directory, file, query


def depth(url: str) -> float:
    """How deep in its site a URL lies: log(1 + steps of its path).

    >>> depth("http://a.example/"), depth("http://a.example/b/") == depth("http://a.example/b.html")
    (0.0, True)
    """
    steps = url.count("/", url.find("://") + 3) - url.endswith("/")
    return math.log1p(max(0, steps) + (_QUERY if "?" in url else 0))


class Marks:
    """The marks of candidates, and the outcomes of those that were fetched."""

    def __init__(self) -> None:
        self.rows = Ragged()
        self.depths: NDArray[np.float32] = np.zeros(1024, np.float32)
        self.examples = Examples()
        self.names: dict[int, str] = {}
        self._columns: dict[str, int] = {}
        self._places: dict[tuple[str, str], list[int]] = {}
        self._paths: dict[str, list[int]] = {}
        self._files: dict[str, list[int]] = {}
        self._words: dict[str, int] = {}

    def depth_of(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """How deep candidates lie; 0 for those of which nothing is known."""
        known = ids < len(self.depths)
        found = self.depths[np.where(known, ids, 0)].astype(np.float64)
        return found if known.all() else np.where(known, found, 0.0)

    def note(
        self, first: int, links: Links, chosen: Sequence[int], words: Sequence[Sequence[str]], satisfied: bool
    ) -> None:
        """Keep the marks of new candidates, numbered from `first` on: the chosen ones among a page's links.

        `words` are those of their anchors.
        """
        source = Source.of(links.source, satisfied)
        stands: dict[str, list[int]] = {}
        leads: dict[str, list[int]] = {}
        rows = []
        for i, said in zip(chosen, words, strict=True):
            host, directory, file, _ = parts_of(links.targets[i])
            path = links.paths[i] if links.paths else ""
            if path not in stands:
                stands[path] = [*self._path(path), self.column(f"stands at {path} of {links.source}")]
            relation = _relation(host, directory, source)
            if relation not in leads:
                leads[relation] = self._leads(relation, source)
            row = [*self._place(host, directory), *self._file(file), *map(self._word, said)]
            rows.append(list(dict.fromkeys([*row, *stands[path], *leads[relation]])))
        flat = np.array([column for row in rows for column in row], np.int64)
        self.rows.extend(first, [len(row) for row in rows], flat)
        self.depths = grown(self.depths, first + len(rows))
        self.depths[first : first + len(rows)] = [depth(links.targets[i]) for i in chosen]

    def _leads(self, relation: str, source: Source) -> list[int]:
        """Marks of all links of a page that lead in one direction."""
        on = "on a find" if source.satisfied else "on no find"
        names = (on, "leads " + relation, f"leads {relation}, {on}", f"from {source.host}/{source.directory}")
        return [self.column(name) for name in names]

    def _file(self, file: str) -> list[int]:
        """Marks of the last step of a URL."""
        found = self._files.get(file)
        if found is None:
            names = ["url " + word for word in urls.tokens(file)]
            names.append("file " + _DIGITS.sub("0", file))
            names.append("ending " + file.rpartition(".")[2] if "." in file else "no ending")
            found = [self.column(name) for name in names]
            _keep(self._files, file, found)
        return found

    def _word(self, word: str) -> int:
        found = self._words.get(word)
        if found is None:
            found = self.column("anchor " + word)
            _keep(self._words, word, found)
        return found

    def _place(self, host: str, directory: str) -> list[int]:
        """Marks of a directory, the same for all that lies in it."""
        found = self._places.get((host, directory))
        if found is None:
            steps = directory.split("/") if directory else []
            names = ["host " + host, f"depth {len(steps)}"]
            names += [f"below {host}/{'/'.join(steps[: n + 1])}" for n in range(len(steps))]
            names += ["url " + word for word in urls.tokens(directory)]
            found = [self.column(name) for name in names]
            _keep(self._places, (host, directory), found)
        return found

    def _path(self, path: str) -> list[int]:
        found = self._paths.get(path)
        if found is None:
            found = [self.column("at " + path), self.column("at …/" + "/".join(path.split("/")[-3:]))]
            _keep(self._paths, path, found)
        return found

    def column(self, name: str) -> int:
        """The column of a mark, by its name."""
        found = self._columns.get(name)
        if found is None:
            found = xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogatepass")) & (WIDTH - 1)
            _keep(self._columns, name, found)
            if len(self.names) >= 2 * _REMEMBERED:
                self.names.clear()
            self.names[found] = name
        return found


def grown(array: Any, size: int) -> Any:
    """The array, with room for `size` numbers."""
    return array if size <= len(array) else np.concatenate([array, np.zeros(size, array.dtype)])


def _keep(memory: dict[Any, Any], key: object, value: object) -> None:
    if len(memory) >= _REMEMBERED:
        memory.clear()
    memory[key] = value


def _relation(host: str, directory: str, source: Source) -> str:
    if host != source.host:
        return "elsewhere"
    if directory == source.directory:
        return "beside"
    if directory.startswith(source.directory):
        return "down"
    return "up" if source.directory.startswith(directory) else "across"


class Examples:
    """Fetched candidates as rows of a matrix whose columns are numbered in the order met."""

    def __init__(self) -> None:
        self._compact: NDArray[np.int32] = np.full(WIDTH, -1, np.int32)
        self.columns: NDArray[np.int64] = np.zeros(1024, np.int64)
        """The mark of each column."""
        self.width = 0
        self._items: NDArray[np.int64] = np.zeros(8192, np.int64)
        self._owners: NDArray[np.int64] = np.zeros(8192, np.int64)
        self._size = 0
        self.satisfied: list[bool] = []
        self.alive: list[bool] = []

    def __len__(self) -> int:
        return len(self.alive)

    def add(self, row: NDArray[np.int32], satisfied: bool, alive: bool) -> None:
        """One more candidate that was fetched."""
        if len(self) >= _MOST:
            self._forget()
        new = row[self._compact[row] < 0]
        if len(new):
            top = self.width + len(new)
            self.columns = grown(self.columns, top)
            self.columns[self.width : top] = new
            self._compact[new] = np.arange(self.width, top)
            self.width = top
        end = self._size + len(row)
        self._items, self._owners = grown(self._items, end), grown(self._owners, end)
        self._items[self._size : end] = self._compact[row]
        self._owners[self._size : end] = len(self)
        self._size = end
        self.satisfied.append(satisfied)
        self.alive.append(alive)

    @property
    def items(self) -> NDArray[np.int64]:
        """The columns of all rows, one row after the other."""
        return self._items[: self._size]

    @property
    def owners(self) -> NDArray[np.int64]:
        """The row that each of `items` belongs to."""
        return self._owners[: self._size]

    def _forget(self) -> None:
        """Let go of the older half; columns keep their numbers."""
        half = len(self) // 2
        cut = int(np.searchsorted(self.owners, half))
        kept = self._size - cut
        self._items[:kept] = self._items[cut : self._size]
        self._owners[:kept] = self._owners[cut : self._size] - half
        self._size = kept
        del self.satisfied[:half], self.alive[:half]
