"""`LinkFeatures`: what can be told of a link before it is followed, as sparse rows.

Where it points, how it is written and where it stands are *features*, columns of a wide sparse matrix by
hash. Those of each candidate are kept, and of fetched ones what became of them. A feature is about one page
(the list a link stands in), one site (a directory), or any (a word of an anchor), so that what is learned
from one link serves those like it, near or far.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew import url as urls
from clew.factor.cutting import MANY, cut, is_one_token
from clew.learn.checkpoint import require, within
from clew.learn.examples import Examples
from clew.learn.hashing import FeatureHasher
from clew.learn.rows import Ids, SparseRows, first_of_each, grown, woven
from clew.learn.vocabulary import packed, unpacked
from clew.page import Links

#: Features share 2^18 columns by hash: too many to collide often, few enough to keep a weight for each.
_BITS = 18
WIDTH = 1 << _BITS
#: Features, directories and tag paths that are remembered with their columns.
_REMEMBERED = 100_000
_DIGITS = re.compile(r"\d+")
#: A query counts as so many steps: what it asks for lies deep.
_QUERY = 3
#: How deep a path of so many steps lies.
_LOGS = np.array([native.log1p_of(steps) for steps in range(64)])


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
    return native.log1p_of(max(0, steps) + (_QUERY if "?" in url else 0))


@dataclass(frozen=True, slots=True)
class Said:
    """The words of anchors: of each how many, their numbers one after the other, and the words by number."""

    lengths: Ids
    numbers: Ids | NDArray[np.int32]
    names: Sequence[str]

    @classmethod
    def of(cls, words: Sequence[Sequence[str]]) -> Said:
        """From rows of words; those of one table must be told with the same numbers every time.

        >>> Said.of([["wind"], ["sea", "wind"]]).numbers.tolist()
        [0, 1, 0]
        """
        names = list(dict.fromkeys([word for row in words for word in row]))
        number = {word: n for n, word in enumerate(names)}
        flat = np.array([number[word] for row in words for word in row], np.int64)
        return cls(np.array([len(row) for row in words], np.int64), flat, names)


class LinkFeatures:
    """The features of candidates, and the outcomes of those that were fetched."""

    def __init__(self) -> None:
        self.rows = SparseRows()
        self.depths: NDArray[np.float32] = np.zeros(1024, np.float32)
        self.examples = Examples(WIDTH, "satisfied", "alive")
        self.hasher = FeatureHasher(_BITS, remembered=_REMEMBERED, named=True)
        self.hosts: dict[str, int] = {"": 0}
        """Hosts by name, numbered in the order met."""
        self._host_of: NDArray[np.int32] = np.zeros(1024, np.int32)
        self._pieces = SparseRows()
        self._places: dict[str, int] = {}
        self._files: dict[str, int] = {}
        self._directories: dict[str, tuple[list[str], list[int], list[int]]] = {}
        self._paths: dict[str, list[int]] = {}
        self._words: NDArray[np.int32] = np.full(1024, -1, np.int32)

    def kept(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "examples": self.examples,
            "depths": self.depths[: self.rows.rows],
            "host_of": self._host_of[: self.rows.rows],
            "named": np.array(list(self.names), np.int32),
            # Names of features, and after them those of hosts.
            **packed([*self.names.values(), *self.hosts]),
        }

    def recall(self, found: Mapping[str, Any]) -> None:
        names, count = unpacked(found), len(found["named"])
        hosts = names[count:]
        require(within(found["named"], 0, WIDTH) and len(names) >= count, "features by name")
        require(within(self.rows.items, 0, WIDTH) and len(found["depths"]) <= self.rows.rows, "features")
        require(len(set(hosts)) == len(hosts) and hosts[:1] == [""], "hosts by name")
        require(within(found["host_of"], 0, len(hosts)), "hosts of candidates")
        self.depths, self._host_of = found["depths"], found["host_of"]
        self.hosts = {host: number for number, host in enumerate(hosts)}
        self.hasher.names = dict(zip(found["named"].tolist(), names[:count], strict=True))

    def host_number(self, url: str) -> int:
        """The number of a URL's host."""
        return self.hosts.setdefault(url.partition("://")[2].partition("/")[0], len(self.hosts))

    def hosts_of(self, ids: Ids) -> NDArray[np.int32]:
        """The numbers of candidates' hosts; 0 for those of which nothing is known."""
        if int(ids.max(initial=-1)) < len(self._host_of):
            return self._host_of[ids]
        known = ids < len(self._host_of)
        return np.where(known, self._host_of[np.where(known, ids, 0)], 0)

    def depth_of(self, ids: Ids) -> NDArray[np.float64]:
        """How deep candidates lie; 0 for those of which nothing is known."""
        if int(ids.max(initial=-1)) < len(self.depths):
            return self.depths[ids].astype(np.float64)
        known = ids < len(self.depths)
        return np.where(known, self.depths[np.where(known, ids, 0)].astype(np.float64), 0.0)

    def note(self, first: int, links: Links, chosen: Sequence[int], said: Said, satisfied: bool) -> None:
        """Keep the features of new candidates, numbered from `first` on: the chosen ones of a page's links.

        Links of a page share most of what can be told of them: each directory, file name and direction is
        looked at once, and the rows are put together of the pieces.
        """
        self._tidy()
        targets = [links.targets[i] for i in chosen]
        heads = [target.partition("?")[0] if "?" in target else target for target in targets]
        names = [head[head.rfind("/") + 1 :] for head in heads]
        own = SparseRows()
        stands = self._stands(own, links, chosen)
        places, leads, steps = self._led(own, links.source, [h[: h.rfind("/")] for h in heads], satisfied)
        new = [name for name in dict.fromkeys(names) if name not in self._files]
        self._files.update(zip(new, self._kept(new), strict=True))
        files = np.array([self._files[name] for name in names], np.int64)
        rows = woven(
            self._pieces.gather(np.stack([places, files], axis=1)),
            (said.lengths, self._spoken(said)),
            own.gather(np.stack([stands, leads], axis=1)),
        )
        self.rows.extend(*first_of_each(*rows), first)
        steps += np.array([bool(name) for name in names], np.int64)
        self._deep(first, steps, targets)
        origins = [target[: target.find("/", 8)] for target in targets]
        number_of = {origin: self.host_number(origin) for origin in dict.fromkeys(origins)}
        self._host_of = grown(self._host_of, first + len(targets))
        self._host_of[first : first + len(targets)] = [number_of[origin] for origin in origins]

    def _stands(self, own: SparseRows, links: Links, chosen: Sequence[int]) -> Ids:
        """For each link the piece of where it stands on its page."""
        paths = [links.paths[i] for i in chosen] if links.paths else [""] * len(chosen)
        known = {
            path: own.append([*self._path(path), self.hasher[f"stands at {path} of {links.source}"]])
            for path in dict.fromkeys(paths)
        }
        return np.array([known[path] for path in paths], np.int64)

    def _led(
        self, own: SparseRows, url: str, prefixes: Sequence[str], satisfied: bool
    ) -> tuple[Ids, Ids, Ids]:
        """For each link the piece of its directory, that of its direction, and how many steps down it is."""
        source = Source.of(url, satisfied)
        leads: dict[str, int] = {}
        near: dict[str, int] = {}
        places: list[int] = []
        directions: list[int] = []
        steps: list[int] = []
        for prefix in dict.fromkeys(prefixes):
            host, _, directory = prefix.partition("://")[2].partition("/")
            relation = _relation(host, directory, source)
            if relation not in leads:
                leads[relation] = own.append(self._leads(relation, source))
            place = self._places.get(prefix)
            if place is None:
                place = self._places[prefix] = self._pieces.append(self._place(host, directory))
            near[prefix] = len(places)
            places.append(place)
            directions.append(leads[relation])
            steps.append(prefix.count("/") - 2)
        which = np.array([near[prefix] for prefix in prefixes], np.int64)
        table = np.array([places, directions, steps], np.int64)[:, which]
        return table[0], table[1], table[2]

    def _deep(self, first: int, steps: Ids, targets: Sequence[str]) -> None:
        """Keep how deep candidates lie, by the steps of their paths; a query is looked at for itself."""
        self.depths = grown(self.depths, first + len(targets))
        self.depths[first : first + len(targets)] = _LOGS[np.minimum(steps, len(_LOGS) - 1)]
        for i in [i for i, target in enumerate(targets) if "?" in target]:
            self.depths[first + i] = depth(targets[i])
        for i in (steps >= len(_LOGS)).nonzero()[0].tolist():
            self.depths[first + i] = depth(targets[i])

    def _spoken(self, said: Said) -> NDArray[np.int32]:
        """The columns of words of anchors."""
        if len(self._words) < len(said.names):
            more = np.full(len(said.names) + len(said.names) // 2 - len(self._words), -1, np.int32)
            self._words = np.concatenate([self._words, more])
        found = self._words[said.numbers]
        if len(found) and found.min() < 0:
            for number in said.numbers[found < 0].tolist():
                self._words[number] = self.hasher["anchor " + said.names[number]]
            found = self._words[said.numbers]
        return found

    def _leads(self, relation: str, source: Source) -> list[int]:
        """Features of all links of a page that lead in one direction."""
        on = "on a find" if source.satisfied else "on no find"
        names = (on, "leads " + relation, f"leads {relation}, {on}", f"from {source.host}/{source.directory}")
        return [self.hasher[name] for name in names]

    def _kept(self, files: Sequence[str]) -> Sequence[int]:
        """The pieces of last steps of URLs that were not met before."""
        if len(files) < MANY:
            return [self._pieces.append(self._file(file)) for file in files]
        lengths, words = cut(files)
        shapes = _DIGITS.sub("0", "\n".join(files)).split("\n")
        features = ["url " + word for word in words]
        hasher, names = self.hasher, self.names
        column_of = {feature: hasher.column(feature) for feature in dict.fromkeys(features)}
        found = array("i")
        begin = 0
        for file, shape, end in zip(files, shapes, lengths.cumsum().tolist(), strict=True):
            for feature in features[begin:end]:
                column = column_of[feature]
                # Of features that share a column the first that was met gives it its name.
                names.setdefault(column, feature)
                found.append(column)
            begin = end
            found.extend((hasher["file " + shape], hasher[_ending(file)]))
        return self._pieces.extend(lengths + 2, np.frombuffer(found, np.int32))

    def _file(self, file: str) -> list[int]:
        """Features of the last step of a URL."""
        words = (file,) if is_one_token(file) else urls.tokens(file)
        found = [self.hasher.column("url " + word) for word in words]
        found += (self.hasher["file " + _DIGITS.sub("0", file)], self.hasher[_ending(file)])
        return found

    def _place(self, host: str, directory: str) -> list[int]:
        """Features of a directory, the same for all that lies in it."""
        shared = self._directories.get(directory)
        if shared is None:
            steps = directory.split("/") if directory else []
            above = ["/".join(steps[: n + 1]) for n in range(len(steps))]
            told = [self.hasher["url " + word] for word in urls.tokens(directory)]
            shared = (above, [self.hasher[f"depth {len(steps)}"]], told)
            _keep(self._directories, directory, shared)
        above, deep, told = shared
        # A directory is met once, and its features are remembered with it: none needs to be by itself.
        feature = self.hasher.column
        return [feature("host " + host), *deep, *[feature(f"below {host}/{step}") for step in above], *told]

    def _path(self, path: str) -> list[int]:
        found = self._paths.get(path)
        if found is None:
            found = [self.hasher["at " + path], self.hasher["at …/" + "/".join(path.split("/")[-3:])]]
            _keep(self._paths, path, found)
        return found

    def _tidy(self) -> None:
        """Forget pieces when there are too many; not while a page's links are put together of them."""
        if len(self._pieces) > _REMEMBERED:
            self._pieces.clear()
            self._places.clear()
            self._files.clear()

    @property
    def names(self) -> dict[int, str]:
        """What the columns stand for; of features that share one, the first that was met."""
        assert self.hasher.names is not None
        return self.hasher.names


def _keep(memory: dict[Any, Any], key: object, value: object) -> None:
    if len(memory) >= _REMEMBERED:
        memory.clear()
    memory[key] = value


def _ending(file: str) -> str:
    return "ending " + file.rpartition(".")[2] if "." in file else "no ending"


def _relation(host: str, directory: str, source: Source) -> str:
    if host != source.host:
        return "elsewhere"
    if directory == source.directory:
        return "beside"
    if directory.startswith(source.directory):
        return "down"
    return "up" if source.directory.startswith(directory) else "across"
