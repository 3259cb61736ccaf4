"""`DurabilityGate`: how many requests may be out before the replies of earlier ones are safe on disk.

A reply that has come in and is not yet durable is as good as lost when the process dies: its page will be
asked for again. So it counts as under way until the store has it, and a crash makes clew repeat no more
requests than it is allowed to have in flight. Who is leased next, and in which order outcomes are settled,
is not touched by this: a task that finds no room merely waits before it goes out.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from clew.errors import StoreError
from clew.store.base import Store


@runtime_checkable
class Buffered(Protocol):
    """A store that takes batches at once and makes them durable later."""

    on_durable: Callable[[], None] | None
    """Called, from any thread, when something became durable or can no longer become so."""

    @property
    def backlog(self) -> int:
        """Replies taken and not yet durable, in however few batches. Raises what made writing impossible, if
        something did."""
        ...

    def hurry(self) -> None:
        """Make what was taken durable soon; does not wait for it."""
        ...


class DurabilityGate:
    """Bounds requests whose replies are not yet durable, so that a crash repeats at most `limit` of them."""

    def __init__(self, store: Store, limit: int, wake: Callable[[], None]) -> None:
        self.limit = limit
        self._store = store if isinstance(store, Buffered) else None
        self._wake = wake
        self._out = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        """Who waits, the first to come first."""
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"DurabilityGate({self._out} out of {self.limit})"

    def open(self) -> None:
        """Begin to listen to the store; from the event loop."""
        self._loop = asyncio.get_running_loop()
        if self._store is not None:
            self._store.on_durable = self._durable

    def close(self) -> None:
        """Listen no longer."""
        if self._store is not None:
            self._store.on_durable = None

    async def enter(self) -> None:
        """Return when one more request may go out; those who wait go out in the order they came."""
        if not self._queue and self._out + self.check() < self.limit:
            self._out += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(place)
        self._press()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                # There was room, and nobody is left to use it.
                self._out -= 1
                self._admit()
            raise

    def leave(self, outcomes: int = 1) -> None:
        """Outcomes were handed to the store, which counts them from now on."""
        self._out -= outcomes
        self._press()
        self._admit()

    def _admit(self) -> None:
        """Let in as many as there is room for, and no more: to wake all of them each time costs as much as a
        page's links. If there will never be room again, all are told why."""
        while self._queue:
            place = self._queue[0]
            if place.done():
                self._queue.popleft()
                continue
            try:
                if self._out + self.check() >= self.limit:
                    return
            except StoreError as problem:
                self._queue.popleft()
                place.set_exception(problem)
                continue
            self._queue.popleft()
            self._out += 1
            place.set_result(None)

    def _press(self) -> None:
        """Have the store write when a quarter of the room waits for it: the rest can be used meanwhile.

        Fewer are left to the store, which does not keep them long: a commit costs as much as settling a page.
        """
        if self._store is not None and 4 * self._store.backlog >= self.limit:
            self._store.hurry()

    def check(self) -> int:
        """Replies that are not durable yet; raises when they never will be."""
        return 0 if self._store is None else self._store.backlog

    def _durable(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._free)

    def _free(self) -> None:
        self._admit()
        self._wake()
