"""What must not grow in a crawl that runs for days: logs, the write-ahead log, descriptors, threads."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from clew.fetch.base import Response
from clew.messages import Decision, Record
from clew.run import logs
from clew.run.observe import Progress
from clew.store import SqliteStore, open_reader
from clew.testing.stores import fetched, found


def fill(store: SqliteStore, first: int, count: int) -> None:
    for number in range(first, first + count):
        url = f"http://a.example/{number}"
        store.save([found(number, [url])])
        blob = store.append(Response(url=url, status=200, body=b"x"), 0.0)
        # hexadecimal digits of noise: half of it is left when it is packed
        store.save(fetched(number, url, text=random.Random(number).randbytes(40_000).hex(), blob=blob))
        if number % 5 == 0:
            store.flush()
    store.flush()


@pytest.mark.slow
def test_the_write_ahead_log_is_folded_back_while_a_crawl_runs(tmp_path: Path):
    """Fifty megabytes go through it; it never holds more than a fraction of them."""
    wal = tmp_path / "crawl" / "clew.db-wal"
    most = written = 0
    with SqliteStore(tmp_path / "crawl") as store:
        for start in range(0, 1200, 100):
            fill(store, start, 100)
            most = max(most, wal.stat().st_size)
        written = (tmp_path / "crawl" / "clew.db").stat().st_size
    assert written > 2 * most
    assert most < 40 << 20
    assert not wal.exists() or wal.stat().st_size == 0


@pytest.mark.slow
def test_a_reader_beside_the_crawl_does_not_keep_the_log_from_being_folded_back(tmp_path: Path):
    """Reading in between, and letting go again, as `clew status` and the live view do."""
    wal = tmp_path / "crawl" / "clew.db-wal"
    most = 0
    with SqliteStore(tmp_path / "crawl") as store:
        fill(store, 0, 1)
        with open_reader(tmp_path / "crawl") as reader:
            for start in range(1, 800, 100):
                fill(store, start, 100)
                assert reader.counts().pages == start + 100
                assert sum(1 for _ in reader.pages(text=False)) == start + 100
                most = max(most, wal.stat().st_size)
    assert most < 40 << 20


def decision(number: int) -> Decision:
    return Decision(
        seq=number,
        at=0.0,
        kind="page",
        url=f"http://a.example/{number}",
        candidate=number,
        attempt=0,
        score=0.0,
        terms=(0.0,),
        queue=0,
        status=200,
        result="match",
        verdict=1.0,
        reasons=("x 1.0",),
        new=0,
        known=0,
        dropped=(),
    )


def test_the_log_rotates_and_old_parts_go_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs, "MAX_BYTES", 20_000)
    log = logs.CrawlLog(tmp_path)
    for number in range(2_000):
        log.settled([Record(decision(number))], Progress())
    log.close()
    parts = sorted(tmp_path.glob("clew.log*"))
    assert len(parts) == 1 + logs.BACKUPS
    assert all(path.stat().st_size <= 20_000 for path in parts)
    assert '"seq": 1999' in (tmp_path / "clew.log").read_text().splitlines()[-1]


def test_a_resumed_crawl_goes_on_in_the_same_log(tmp_path: Path):
    for number in range(2):
        log = logs.CrawlLog(tmp_path)
        log.note("hello", number=number)
        log.close()
    assert len((tmp_path / "clew.log").read_text().splitlines()) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.slow
def test_descriptors_and_threads_stay_flat(check):
    found = check("soak", "--pages", 400, "--every", 0.05, "--concurrency", 8)
    assert found["exit_code"] == 0
    assert found["pages"] == 400
    assert found["files_by_third"][2] <= found["files_by_third"][1] + 4
    assert found["threads_by_third"][2] <= found["threads_by_third"][1]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.slow
def test_the_check_of_scale_holds_many_hosts_and_long_pages_to_its_bounds(check):
    """In its short form; what a page or a candidate adds is a matter of long crawls."""
    found = check("scale", "--share", 0.02, "--case", "hosts", "--case", "links", "--every", 0.05)
    assert found["failures"] == []
    assert (found["cases"]["hosts"]["pages"], found["cases"]["links"]["pages"]) == (200, 3)
    assert all(case["stall"] > 0 for case in found["cases"].values())
