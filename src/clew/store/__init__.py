"""Where a crawl comes to rest, and where it is read and taken up again.

Effects move in, batch by batch, through `save`; replies move in through `append`; rows, exports and
search hits move out. A crawl is a directory: `clew.db` (SQLite) and `pages/*.warc.gz`; or whatever the
scheme of its place says (`clew.store.backends`). One thread writes; readers never do. The invariant: a
batch is stored whole or not at all, the bytes it names are on disk before it is, and what lies beyond the
last committed byte is cut on resume, once the file was found to be ours. So `kill -9` at any instant loses
nothing that was flushed and stores nothing twice.
"""

from clew.store.backends import STORES, folder_of, is_crawl, open_reader, open_store
from clew.store.base import CandidateRow, Counts, Hit, PageRow, Reader, Snapshot, Store, StoreBackend
from clew.store.exports import export
from clew.store.memory import MemoryStore
from clew.store.sqlite import SqliteStore

__all__ = [
    "STORES",
    "CandidateRow",
    "Counts",
    "Hit",
    "MemoryStore",
    "PageRow",
    "Reader",
    "Snapshot",
    "SqliteStore",
    "Store",
    "StoreBackend",
    "export",
    "folder_of",
    "is_crawl",
    "open_reader",
    "open_store",
]
