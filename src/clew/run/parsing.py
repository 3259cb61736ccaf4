"""Turning replies into pages: here, or in worker processes that can be killed if a page hangs them."""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Protocol

from clew.errors import ParseError
from clew.fetch.base import Response
from clew.messages import Sitemap
from clew.page import Page
from clew.parse import parse_page
from clew.parse.sitemap import parse_sitemap

if TYPE_CHECKING:
    from clew.engine import CrawlRules
    from clew.strategy.base import Strategy

#: Bodies up to this size are parsed on the spot: that takes a few milliseconds, less than handing them to
#: another process and the pages back. Larger ones would keep the loop waiting.
AT_ONCE = 128 * 1024
#: Replies handed to a worker at a time, and bytes of them.
BATCH, BATCH_BYTES = 8, 256 * 1024
#: Processor seconds that one page may take to parse; typical ones take a millisecond. Not wall time: on a
#: busy machine a page that needs little may wait long.
CPU_LIMIT = 30
#: Wall seconds after which a worker that neither answers nor uses the processor is taken for stuck.
STUCK = 600.0
#: Beginnings of bodies, PDF and gzip, that say little by their size of how long they take to read.
_UNFOLDING = (b"%PDF", b"\x1f\x8b")

_POSIX = os.name == "posix"


@dataclass(frozen=True, slots=True)
class Reading:
    """How replies are read."""

    wanted: frozenset[str] = frozenset()
    """Columns of links that the strategy reads and that are not found out unless asked for."""
    more: bool = False
    """Links are also what only names a page (`--links more`)."""

    @classmethod
    def of(cls, rules: CrawlRules, strategy: Strategy) -> Reading:
        """As a crawl reads them, at first and when a strategy learns again."""
        return cls(strategy.capabilities.link_columns, rules.more_links)


USUAL = Reading()


class Parser(Protocol):
    """Bytes to `Page`. Raises nothing but `ParseError`."""

    reading: Reading

    def at_once(self, response: Response) -> bool:
        """Whether this reply is better read on the spot, by `to_page` or `to_sitemap`, than by waiting."""
        ...

    async def parse(self, response: Response, depth: int) -> Page: ...

    async def sitemap(self, response: Response) -> Sitemap: ...

    async def close(self) -> None: ...


def to_page(response: Response, depth: int, reading: Reading = USUAL) -> Page:
    """Parse one reply, in whatever process this runs."""
    if response.rendered is not None:
        # Whatever the server said of it, what the browser hands over is HTML in UTF-8.
        plain = replace(response, body=response.rendered, rendered=None, headers=_as_rendered(response))
        return replace(to_page(plain, depth, reading), rendered=True)
    return parse_page(
        response.body,
        url=response.url,
        status=response.status,
        content_type=response.header("content-type"),
        headers=response.headers,
        depth=depth,
        truncated=response.truncated,
        wanted=reading.wanted,
        more=reading.more,
    )


def _as_rendered(response: Response) -> tuple[tuple[str, str], ...]:
    others = [item for item in response.headers if item[0].lower() != "content-type"]
    return (("Content-Type", "text/html; charset=utf-8"), *others)


def to_sitemap(response: Response) -> Sitemap:
    """Read one sitemap, in whatever process this runs."""
    return parse_sitemap(
        response.body,
        url=response.url,
        content_type=response.header("content-type"),
        truncated=response.truncated,
    )


class InlineParser:
    """Parses on the spot: for recorded webs and small crawls."""

    def __init__(self, reading: Reading = USUAL) -> None:
        self.reading = reading

    def at_once(self, response: Response) -> bool:
        return True

    async def parse(self, response: Response, depth: int) -> Page:
        return to_page(response, depth, self.reading)

    async def sitemap(self, response: Response) -> Sitemap:
        return to_sitemap(response)

    async def close(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class _Job:
    """One reply to be read in a worker."""

    do: Callable[..., Any]
    given: tuple[Any, ...]
    size: int
    done: asyncio.Future[Any]


def _do_all(work: list[tuple[Callable[..., Any], tuple[Any, ...]]], cpu_limit: int) -> list[Any]:
    """In a worker: the outcome of each job, an error in place of one that failed."""
    results: list[Any] = []
    for do, given in work:
        _allow_cpu(cpu_limit)
        try:
            results.append(do(*given))
        except ParseError as problem:
            results.append(problem)
    return results


class WorkerParser:
    """Parses in worker processes, so that the loop that talks to the network never waits for a page.

    Replies that wait are handed over several at a time: what it costs to pass a message is shared by them.
    """

    def __init__(
        self,
        workers: int,
        reading: Reading = USUAL,
        *,
        cpu_limit: int = CPU_LIMIT,
        stuck: float = STUCK,
    ) -> None:
        self.workers = workers
        self.reading = reading
        self.cpu_limit = cpu_limit
        self.stuck = stuck
        self._pool = self._start()
        self._waiting: deque[_Job] = deque()
        self._batches: set[asyncio.Task[None]] = set()

    def at_once(self, response: Response) -> bool:
        return False

    async def parse(self, response: Response, depth: int) -> Page:
        page: Page = await self._work(to_page, response, depth, self.reading)
        return page

    async def sitemap(self, response: Response) -> Sitemap:
        sitemap: Sitemap = await self._work(to_sitemap, response)
        return sitemap

    async def _work(self, do: Callable[..., Any], response: Response, *more: Any) -> Any:
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Job(do, (response, *more), len(response.body), done))
        self._feed()
        return await done

    def _feed(self) -> None:
        """Give out what waits: to each worker one batch to work on, and one to go on with."""
        while self._waiting and len(self._batches) < 2 * self.workers:
            batch = [self._waiting.popleft()]
            size = batch[0].size
            share = 1 + len(self._waiting) // self.workers
            while self._waiting and size < BATCH_BYTES and len(batch) < min(BATCH, share):
                batch.append(self._waiting.popleft())
                size += batch[-1].size
            task = asyncio.create_task(self._run([job for job in batch if not job.done.cancelled()]))
            self._batches.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._batches.discard(task)
        if not task.cancelled():
            self._feed()

    async def _run(self, batch: list[_Job]) -> None:
        try:
            results = await self._try(batch)
        except ParseError as problem:
            if len(batch) > 1:
                # One of them is to blame: alone, each answers for itself.
                for job in batch:
                    await self._run([job])
                return
            results = [problem] * len(batch)
        for job, result in zip(batch, results, strict=True):
            if job.done.done():
                continue
            if isinstance(result, ParseError):
                job.done.set_exception(result)
            else:
                job.done.set_result(result)

    async def _try(self, batch: list[_Job]) -> list[Any]:
        loop = asyncio.get_running_loop()
        work = [(job.do, job.given) for job in batch]
        problem = ParseError("the page crashed the parser")
        # Another page may have broken the pool: in a fresh one these get one more try.
        for _ in range(2):
            pool, processes = self._pool, []
            try:
                with starting_processes():
                    # If there are too few processes, this starts one.
                    done = loop.run_in_executor(pool, _do_all, work, self.cpu_limit)
                processes = _processes_of(pool)
                return await asyncio.wait_for(done, self.stuck)
            except TimeoutError:
                problem = ParseError(f"the process that parsed it gave no answer within {self.stuck:g} s")
                self._restart(pool)
            except BrokenProcessPool:
                if len(batch) == 1 and _ran_out_of_cpu(processes):
                    problem = ParseError(f"parsing took more than {self.cpu_limit} s of processor time")
                self._restart(pool)
            except (OSError, RuntimeError) as error:
                raise ParseError(f"no process to parse it in could be started: {error}") from error
        raise problem

    async def close(self) -> None:
        for task in self._batches:
            task.cancel()
        self._kill(self._pool)

    def _start(self) -> ProcessPoolExecutor:
        # Not fork: the driver has threads.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=begin_work)

    def _restart(self, broken: ProcessPoolExecutor) -> None:
        if self._pool is broken:
            self._pool = self._start()
            self._kill(broken)

    @staticmethod
    def _kill(pool: ProcessPoolExecutor) -> None:
        processes = _processes_of(pool)
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()


class HybridParser:
    """Leaves small pages to be parsed on the spot; large ones go to worker processes, started by the first.

    So the loop that talks to the network never waits long, and the many small pages cost no more than they
    must.
    """

    def __init__(self, workers: int, size: int = AT_ONCE, reading: Reading = USUAL) -> None:
        self.workers = workers
        self.reading = reading
        self.size = size
        self._pool: WorkerParser | None = None

    def at_once(self, response: Response) -> bool:
        small = len(response.rendered or response.body) <= self.size
        return small and not response.body.startswith(_UNFOLDING)

    async def parse(self, response: Response, depth: int) -> Page:
        return await self._workers().parse(response, depth)

    async def sitemap(self, response: Response) -> Sitemap:
        return await self._workers().sitemap(response)

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()

    def _workers(self) -> WorkerParser:
        if self._pool is None:
            self._pool = WorkerParser(self.workers)
        self._pool.reading = self.reading
        return self._pool


@contextmanager
def starting_processes() -> Iterator[None]:
    """Processes begun meanwhile do not run the user's script, and do not hear Ctrl-C.

    By default a new process imports the main module. In a script that crawls at its top level, as short ones
    do, that would begin the same crawl once more; and there is nothing in it that a worker needs. And until
    it has said that Ctrl-C is not for it (`begin_work`), it imports for half a second, in which a Ctrl-C
    would end it with a traceback: it inherits a mask that blocks the signal.
    """
    main = vars(sys.modules["__main__"])
    kept: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.update(dict.fromkeys(kept))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _POSIX else set()
    try:
        yield
    finally:
        if _POSIX:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        main.update(kept)


def begin_work() -> None:
    """In a worker: Ctrl-C is the driver's to handle, and the end of the driver is the worker's too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _POSIX:
        import resource

        # A worker that is ended for using too much time leaves no core file behind.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    os.nice(5)
    threading.Thread(target=end_with_parent, name="clew-parent", daemon=True).start()


def _allow_cpu(seconds: int) -> None:
    """In a worker: from now on, so much processor time until the kernel ends this process.

    The kernel's limit holds within compiled code too, where no thread of Python's could look at a clock.
    """
    if not _POSIX:
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = math.ceil(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard < 0 else min(soft, hard), hard))


def _ran_out_of_cpu(processes: list[BaseProcess]) -> bool:
    """Whether one of the processes of a broken pool was ended by the limit that `_allow_cpu` set."""
    for process in processes:
        process.join(1.0)  # the pool ends the others; what ended each is known once it was waited for
    return _POSIX and any(process.exitcode == -signal.SIGXCPU for process in processes)


def _processes_of(pool: ProcessPoolExecutor) -> list[BaseProcess]:
    return list((getattr(pool, "_processes", None) or {}).values())


def end_with_parent() -> None:
    """A driver that is killed cannot tell its workers; they would wait for pages for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def make_parser(workers: int | None, reading: Reading = USUAL) -> Parser:
    """A parser with that many worker processes for all pages; 0 parses on the spot, None goes by size."""
    if workers is None:
        return HybridParser(max(1, min(4, (os.cpu_count() or 1) - 1)), reading=reading)
    return WorkerParser(workers, reading=reading) if workers else InlineParser(reading)
