"""`UserCode`: the functions that a formula names by `py:`, watched while they run.

They run in this process, in the middle of a settle, and nothing else happens meanwhile. So the time each
takes is kept, for `clew status`; whoever wants the crawl to end may `interrupt` the one that runs; and with a
limit they run in a process of their own, which is ended when a page takes longer.
"""

from __future__ import annotations

import multiprocessing
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

from clew.errors import ClewError, Interruption
from clew.page import Page
from clew.predicate.atoms.python import ask, find
from clew.run.parsing import begin_work, starting_processes

if TYPE_CHECKING:
    from clew.messages import Effect
    from clew.run.observe import Progress
    from clew.store.base import Store

#: Seconds for a page from which a function is called slow.
SLOW = 1.0
#: A slowest page is written down when it took so many times as long as the one before.
_SLOWER = 1.5


@dataclass(slots=True)
class FunctionTime:
    """What one function took so far."""

    pages: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    """Seconds for the page that took longest, …"""
    url: str = ""
    """… and which that was."""
    late: int = 0
    """Pages that took longer than the limit, and count as no finds."""


class UserCode:
    """Finds functions by module and name, and makes them ones that can be timed, interrupted and limited.

    Parameters: `limit`, seconds that a function may take for a page, in a process of its own; None for no
    limit, in this process.
    """

    def __init__(self, limit: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.times: dict[str, FunctionTime] = {}
        self.running = ""
        """The function that runs now."""
        self.interruptions = 0
        """How often it was interrupted, and went on."""
        self._clock = clock

    def __repr__(self) -> str:
        return f"UserCode({self.limit}, {', '.join(self.times) or 'nothing asked yet'})"

    def resolve(self, module: str, function: str) -> Callable[[Page], Any]:
        """The function, as `clew.predicate` asks for it."""
        name = f"py:{module}:{function}"
        found = find(module, function)
        if self.limit is not None:
            found = FunctionProcess(module, function, self.limit)
        taken = self.times.setdefault(name, FunctionTime())

        def timed(page: Page) -> Any:
            begun = self._clock()
            try:
                self.running = name
                return found(page)
            except OutOfTime:
                taken.late += 1
                return 0.0
            finally:
                self.running, self.interruptions = "", 0
                took = self._clock() - begun
                taken.pages += 1
                taken.seconds += took
                if took > taken.longest:
                    taken.longest, taken.url = took, page.url

        return timed

    def interrupt(self, reason: str) -> None:
        """From a signal's handler: end the crawl for this reason if a function runs, which would not let
        it."""
        if self.running:
            self.interruptions += 1
            raise Interruption(reason)

    def slow(self) -> dict[str, dict[str, Any]]:
        """The functions that were slow at least once, or late, with what they took."""
        return {name: asdict(it) for name, it in self.times.items() if it.late or it.longest >= SLOW}


class SlowFunctions:
    """An observer that writes which functions are slow to the crawl's record, for `clew status`."""

    def __init__(self, store: Store, code: UserCode) -> None:
        self.store = store
        self.code = code
        self._written = 0.0

    def started(self, progress: Progress) -> None:
        """Nothing yet."""

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        longest = max((it.longest for it in self.code.times.values()), default=0.0)
        if longest >= max(SLOW, self._written * _SLOWER):
            self._written = longest
            self._write()

    def finished(self, progress: Progress, reason: str) -> None:
        self._write()

    def _write(self) -> None:
        if slow := self.code.slow():
            self.store.set_meta(slow=slow)


class OutOfTime(Exception):
    """A function took longer than it may."""


class FunctionProcess:
    """A function of the user's in a process of its own, begun by the first page.

    One that takes too long is ended with its process; the next page begins another. What it does to its
    process, threads it leaves and exits included, does nothing to the crawl.
    """

    def __init__(self, module: str, function: str, limit: float) -> None:
        self.module = module
        self.function = function
        self.limit = limit
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def __call__(self, page: Page) -> float:
        connection = self._connection or self._begin()
        name = f"py:{self.module}:{self.function}"
        try:
            connection.send(page)
            if not connection.poll(self.limit):
                raise OutOfTime
            degree, problem = connection.recv()
        except (EOFError, OSError) as error:
            code = self._end()
            raise ClewError(f"{name} ended its process on {page.url} (exit code {code})") from error
        except (OutOfTime, Interruption):
            self._end()
            raise
        if problem:
            raise ClewError(problem)
        return float(degree)

    def _begin(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(
            target=_answer, args=(theirs, self.module, self.function), name="clew-predicate", daemon=True
        )
        with starting_processes():
            self._process.start()
        theirs.close()
        weakref.finalize(self, self._process.kill)
        # Importing is not what the limit is for.
        ours.recv()
        self._connection = ours
        return ours

    def _end(self) -> int | None:
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is None:
            return None
        process.join(0.2)
        process.kill()
        process.join()
        return process.exitcode


def _answer(connection: Connection, module: str, function: str) -> None:
    """In the process: ask the function of one page after another."""
    begin_work()
    name = f"py:{module}:{function}"
    asked = find(module, function)
    connection.send("ready")
    while True:
        page = connection.recv()
        try:
            connection.send((ask(asked, name, page), ""))
        except ClewError as problem:
            connection.send((0.0, str(problem)))
