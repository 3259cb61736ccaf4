"""`map_in_processes`: calls spread over worker processes, which inherit what their parent holds."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from clew.errors import ClewError
from clew.run.parsing import end_with_parent

Result = TypeVar("Result")


def map_in_processes(
    work: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    workers: int,
    prepare: Callable[[str], None],
    given: str,
) -> Iterator[Result]:
    """What `work` gives for each of the calls, as they finish.

    Forked workers have what their parent has; others make it for themselves by `prepare(given)`.
    """
    fork = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if fork else "spawn")
    if fork:
        gc.collect()
        gc.freeze()  # so that collecting garbage does not copy every page into every worker
    begun = () if fork else (prepare, given)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=begun)
    try:
        for future in as_completed([pool.submit(work, *call) for call in calls]):
            yield future.result()
    except BrokenProcessPool:
        raise ClewError(
            "a worker process ended unexpectedly (out of memory?): run it again to go on"
        ) from None
    finally:
        processes = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        if fork:
            gc.unfreeze()


def _begin(prepare: Callable[[str], None] | None = None, given: str = "") -> None:
    """A worker leaves Ctrl-C to its parent and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=end_with_parent, name="clew-parent", daemon=True).start()
    if prepare is not None:
        prepare(given)
