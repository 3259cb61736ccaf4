"""The index of a corpus file: made once, opened many times, never half."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from pathlib import Path

import pytest
import zstandard

from clew.lab.corpus_index import RecordedPage, open_index, rows


def write_corpus(path: Path, pages: int = 20) -> Path:
    lines = "".join(
        json.dumps({"url": f"http://a.example/{n}", "html": f"page {n} é"}) + "\n" for n in range(pages)
    )
    path.write_bytes(zstandard.compress(lines.encode()))
    return path


def read(path: Path):
    for row in rows(path):
        yield RecordedPage(
            row["url"],
            "page",
            ("even",) if row["url"][-1] in "02468" else (),
            (("A", "b"),),
            row["html"].encode(),
        )


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE_HOME", str(tmp_path / "cache"))
    return write_corpus(tmp_path / "small.jsonl.zst")


def check(index) -> None:
    assert [(n, url) for n, url, _ in index.listing()] == [(n, f"http://a.example/{n}") for n in range(20)]
    assert index.read(7) == ((("A", "b"),), "page 7 é".encode())
    assert (index.labels(4), index.labels(5)) == (("even",), ())


def test_pages_labels_and_headers_come_back_as_they_went_in(source):
    check(open_index("small", source, read))


def test_the_second_opening_does_not_read_the_corpus(source):
    open_index("small", source, read)

    def never(path):
        raise AssertionError("the corpus was read again")

    check(open_index("small", source, never))


def test_a_changed_corpus_is_read_anew(source):
    open_index("small", source, read)
    write_corpus(source, pages=3)
    assert len(list(open_index("small", source, read).listing())) == 3


def test_a_cache_that_cannot_be_written_means_memory(source, monkeypatch):
    blocked = source.parent / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("CLEW_CACHE_HOME", str(blocked))
    index = open_index("small", source, read)
    assert index.path is None
    check(index)


def test_a_damaged_cache_file_is_made_again(source):
    index = open_index("small", source, read)
    index.close()
    index.path.write_bytes(b"SQLite format 3\x00" + b"rubbish" * 1000)
    check(open_index("small", source, read))


def test_a_failure_while_reading_leaves_nothing_behind(source):
    def broken(path):
        yield from list(read(path))[:5]
        raise ValueError("the corpus ends in the middle")

    with pytest.raises(ValueError, match="middle"):
        open_index("small", source, broken)
    assert list((source.parent / "cache").iterdir()) == []


def _build(source: str, home: str) -> None:
    os.environ["CLEW_CACHE_HOME"] = home
    check(open_index("small", Path(source), read))


def test_two_processes_may_make_it_at_once(source):
    home = source.parent / "both"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_build, args=(str(source), str(home))) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(list(home.iterdir())) == 1


def test_it_can_be_read_from_several_threads(source):
    index = open_index("small", source, read)
    wrong: list[int] = []

    def work() -> None:
        wrong.extend(n for n in list(range(20)) * 20 if index.read(n)[1] != f"page {n} é".encode())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_it_can_be_read_after_a_fork(source):
    index = open_index("small", source, read)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if index.read(3)[1] == "page 3 é".encode() else 1)
    assert os.waitpid(pid, 0)[1] == 0
    check(index)
