"""A crash repeats no more requests than may be in flight: replies that are not durable yet count as such."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from clew.errors import StorageFull
from clew.run.backpressure import DurabilityGate
from clew.store import MemoryStore, SqliteStore
from clew.testing.stores import found


class Slow:
    """A store whose disk works when told to."""

    def __init__(self) -> None:
        self.taken = self.hurried = 0
        self.failure: Exception | None = None
        self.on_durable = None

    @property
    def backlog(self) -> int:
        if self.failure:
            raise self.failure
        return self.taken

    def hurry(self) -> None:
        self.hurried += 1

    def commit(self) -> None:
        self.taken = 0
        assert self.on_durable is not None
        self.on_durable()


def gate_of(store: object, limit: int) -> DurabilityGate:
    gate = DurabilityGate(store, limit, lambda: None)  # type: ignore[arg-type]
    gate.open()
    return gate


async def test_what_is_not_durable_takes_up_room_until_it_is():
    store = Slow()
    gate = gate_of(store, 2)
    await gate.enter()
    await gate.enter()
    third = asyncio.create_task(gate.enter())
    store.taken += 1
    gate.leave()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not third.done()
    assert store.hurried
    store.commit()
    await third


async def test_whoever_waits_for_a_disk_that_failed_is_told():
    store = Slow()
    gate = gate_of(store, 1)
    store.taken = 1
    waiting = asyncio.create_task(gate.enter())
    await asyncio.sleep(0)
    store.failure = StorageFull("no room left")
    assert store.on_durable is not None
    store.on_durable()
    with pytest.raises(StorageFull):
        await waiting
    with pytest.raises(StorageFull):
        gate.check()


async def test_a_store_that_keeps_everything_in_memory_takes_up_no_room():
    gate = gate_of(MemoryStore(), 1)
    for _ in range(5):
        await gate.enter()
        gate.leave()
    assert gate.check() == 0


async def test_a_crawl_directory_says_when_its_backlog_is_gone(tmp_path: Path):
    with SqliteStore(tmp_path / "crawl", window=3600.0) as store:
        gate = gate_of(store, 1)
        store.save([found(0, ["http://a.example/"])])
        # Without the hurry this would wait for the hour the store was given.
        await asyncio.wait_for(gate.enter(), 300)
        assert store.backlog == 0
        gate.close()


def test_parse_workers_end_with_a_driver_that_was_killed():
    program = (
        "import asyncio, os\n"
        "from clew.fetch import Response\n"
        "from clew.run.parsing import WorkerParser\n"
        "async def main():\n"
        "    parser = WorkerParser(1)\n"
        "    await parser.parse(Response(url='http://a.example/', status=200, body=b'<p>x'), 0)\n"
        "    print(*parser._pool._processes, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "if __name__ == '__main__': asyncio.run(main())\n"
    )
    # The worker holds the other end of the pipe too: it is closed when both are gone, and not before.
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == -9
    assert done.stdout.strip().isdigit()


async def test_those_who_wait_go_out_one_by_one_in_the_order_they_came():
    store = Slow()
    gate = gate_of(store, 2)
    went: list[int] = []

    async def go(number: int) -> None:
        await gate.enter()
        went.append(number)

    tasks = [asyncio.create_task(go(number)) for number in range(5)]
    await asyncio.sleep(0)
    assert went == [0, 1]
    for expected in ([0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]):
        gate.leave()
        await asyncio.sleep(0)
        assert went == expected
    await asyncio.gather(*tasks)


async def test_who_gives_up_waiting_leaves_the_place_to_the_next():
    gate = gate_of(Slow(), 1)
    await gate.enter()
    first, second, third = [asyncio.create_task(gate.enter()) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    gate.leave()
    # It was given the place, and is gone before it could use it.
    second.cancel()
    await third
    assert first.cancelled()
    assert second.cancelled()
