"""Too little of something: room on disk, descriptors, memory. It is said, and resuming loses nothing."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def limit(what: int, value: int):
    return lambda: resource.setrlimit(what, (value, value))


@contextlib.contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A file system of that size; skips where none can be mounted."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can be mounted by root only: the test beside this one needs none")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def test_a_full_disk_ends_the_crawl_with_5_and_resuming_loses_nothing(crawling, tmp_path):
    """A real file system with no room left, later made larger."""
    with small_disk(tmp_path / "disk", "600k") as disk:
        ended = crawling.run(directory=disk / "crawl")
        assert ended.code == 5, ended.said
        assert "no room left" in ended.said
        assert "clew crawl -d" in ended.said
        again = crawling.run(directory=disk / "crawl")
        assert again.code == 5, again.said
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert crawling.run(directory=disk / "crawl").code == 0
        crawling.whole(disk / "crawl")


def test_files_that_may_not_grow_end_the_crawl_with_5_and_resuming_loses_nothing(crawling):
    """The same by a limit on file sizes, which needs no rights."""
    ended = crawling.run(before=limit(resource.RLIMIT_FSIZE, 300_000))
    assert ended.code == 5, ended.said
    assert "no room left" in ended.said
    assert crawling.run().code == 0
    crawling.whole()


def test_few_descriptors_are_enough(crawling):
    """64 of them, where 200 requests may be in flight, on a slow server: fewer are made at once."""
    crawling.site.latency = 0.1
    ended = crawling.run("--concurrency", 200, before=limit(resource.RLIMIT_NOFILE, 64))
    assert ended.code == 0, ended.said
    assert "0 failed" in ended.said
    crawling.whole()


def test_it_is_said_when_there_are_too_few_descriptors_for_any_crawl(crawling):
    ended = crawling.run(before=limit(resource.RLIMIT_NOFILE, 24))
    assert ended.code == 2, ended.said
    assert "ulimit -n" in ended.said
    assert crawling.run().code == 0
    crawling.whole()


@pytest.mark.parametrize("megabytes", [400, 700])
def test_a_cap_on_memory_costs_time_but_no_page(crawling, megabytes):
    """Whether the crawl fits under the cap or not, what it had is safe."""
    capped = crawling.run(before=limit(resource.RLIMIT_AS, megabytes << 20))
    assert capped.code != 5
    ended = crawling.run()
    assert ended.code == 0, ended.said
    crawling.whole()
