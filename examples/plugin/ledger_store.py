"""A store of one's own: every batch appended to one file, and read by going over them again.

[project.entry-points."clew.stores"]
ledger = "ledger_store:BACKEND"

clew crawl -d ledger:farms.ledger …
"""

import os
import pickle
from dataclasses import replace
from pathlib import Path

from clew.errors import StoreForeign
from clew.messages import Learned, SavePage
from clew.page import Links
from clew.store import MemoryStore, StoreBackend

#: Where the values of a batch come from. A file may be a stranger's, and must not name what is run.
KNOWN = ("clew.messages", "clew.page", "clew.predicate.verdict", "numpy", "array", "copyreg")
BUILTINS = {"frozenset", "set", "object"}


class Batches(pickle.Unpickler):
    """Reads batches, and makes nothing that a batch does not have in it."""

    def find_class(self, module, name):
        allowed = name in BUILTINS if module == "builtins" else module.startswith(KNOWN)
        if not allowed or "." in name:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a batch")
        return super().find_class(module, name)


class Ledger(MemoryStore):
    """A `MemoryStore` whose batches outlive it. One that was cut short by a crash counts as never saved."""

    def __init__(self, path, *, write=True):
        super().__init__()
        self._file = path.open("a+b" if write else "rb")
        self._file.seek(0)
        whole = 0
        try:
            while True:
                effects, meta = Batches(self._file).load()
                super().save(effects)
                super().set_meta(**meta)
                whole = self._file.tell()
        except (EOFError, pickle.UnpicklingError) as end:
            if isinstance(end, pickle.UnpicklingError) and "truncated" not in str(end):
                raise StoreForeign(f"{path} is no ledger ({end}): give another file") from None
        if write:
            self._file.truncate(whole)

    def save(self, effects):
        super().save(effects)
        self._append([plain(effect) for effect in effects], {})

    def set_meta(self, **values):
        super().set_meta(**values)
        self._append([], values)
        self.flush()

    def flush(self):
        if not self._file.closed and self._file.writable():
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self):
        self.flush()
        self._file.close()

    def _append(self, effects, meta):
        self._file.write(pickle.dumps((effects, meta)))


def plain(effect):
    """An effect as data: what was learned is text once somebody asks, and of links their numbers are kept."""
    if isinstance(effect, Learned):
        return Learned(effect.text)
    if isinstance(effect, SavePage):
        return replace(effect, page=replace(effect.page, links=Links()))
    return effect


def path_of(place):
    return Path(place.removeprefix("ledger:"))


def read(place):
    if not path_of(place).is_file():
        raise StoreForeign(f"there is no ledger at {place}: give the file of one")
    return Ledger(path_of(place), write=False)


BACKEND = StoreBackend(
    open=lambda place: Ledger(path_of(place)),
    read=read,
    exists=lambda place: path_of(place).is_file(),
)
