"""Where a crawl comes to rest, and where it is read and taken up again.

Effects move in, batch by batch, through `save`; replies move in through `append`; rows, exports and
search hits move out. A crawl is a directory: `clew.db` (SQLite) and `pages/*.warc.gz`. One thread
writes; readers never do. The invariant: a batch is stored whole or not at all, the bytes it names
are on disk before it is, and what lies beyond the last committed byte is cut on resume. So `kill -9`
at any instant loses nothing that was flushed and stores nothing twice.
"""

from clew.store.base import CandidateRow, Counts, PageRow, Reader, Snapshot, Store
from clew.store.directory import is_crawl
from clew.store.exports import export
from clew.store.fulltext import Hit, search
from clew.store.memory import MemoryStore
from clew.store.read import CrawlReader, open_reader
from clew.store.sqlite import SqliteStore, open_store

__all__ = [
    "CandidateRow",
    "Counts",
    "CrawlReader",
    "Hit",
    "MemoryStore",
    "PageRow",
    "Reader",
    "Snapshot",
    "SqliteStore",
    "Store",
    "export",
    "is_crawl",
    "open_reader",
    "open_store",
    "search",
]
