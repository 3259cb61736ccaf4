"""`crawl`, the library's front door.

run = clew.crawl(["https://example.org/"], match='"wind farm" AND lang:en', pages=2000)
for page in run:              # or: async for page in run
    print(page.score, page.url)
"""

from __future__ import annotations

import asyncio
import json
import queue
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from clew.crawl_settings import CrawlSettings
from clew.errors import ClewError, ConfigError, UsageError
from clew.messages import Effect, SavePage
from clew.page import Page
from clew.predicate.verdict import Predicate
from clew.run.build import predicate_of
from clew.run.config import CrawlConfig
from clew.run.explain import Explanation, explain
from clew.run.observe import Progress
from clew.run.session import Finished, Session
from clew.run.settings import OUTWARD, make_config, resume_config, stored_config
from clew.run.steering import Steer
from clew.run.topics import kept_topics
from clew.store.inbox import Inbox
from clew.topic import TopicLibrary

if TYPE_CHECKING:
    from clew.fetch.base import Fetcher
    from clew.run.clock import Clock
    from clew.store.base import Reader, Store

#: Finds that may wait for whoever iterates; with so many the crawl stands still.
AHEAD = 16

OneMatch = str | Callable[[Page], bool | float] | Predicate
Match = OneMatch | Mapping[str, OneMatch] | Sequence[str]


@dataclass(frozen=True, slots=True)
class Find:
    """A page that satisfied the predicate. Everything a `Page` has, and the verdict."""

    page: Page
    score: float
    reasons: tuple[str, ...]
    interests: tuple[str, ...] = ()
    """The interests that it satisfies, by name, where there are several."""

    @property
    def url(self) -> str:
        return self.page.url

    @property
    def title(self) -> str:
        return self.page.title

    @property
    def text(self) -> str:
        return self.page.text

    def as_dict(self) -> dict[str, Any]:
        """The find as plain data, for JSON, a database or a table."""
        page = self.page
        return {
            "url": page.url,
            "title": page.title,
            "score": self.score,
            "reasons": list(self.reasons),
            "interests": list(self.interests),
            "language": page.language,
            "type": page.type,
            "status": page.status,
            "depth": page.depth,
            "text": page.text,
        }

    def __repr__(self) -> str:
        return f"Find({self.score:.2f}, {self.url!r})"


class _Sink:
    """Passes finds on to whoever iterates."""

    def __init__(self, put: Callable[[Find], None]) -> None:
        self._put = put

    def started(self, progress: Progress) -> None:
        return None

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        for effect in effects:
            if isinstance(effect, SavePage) and effect.matched:
                verdict = effect.verdict
                self._put(Find(effect.page, verdict.score, verdict.reasons, verdict.interests))

    def finished(self, progress: Progress, reason: str) -> None:
        return None


class Run:
    """A crawl that starts when it is iterated. Iterate it once, with `for` or `async for`.

    Leaving the loop early stops the crawl at a checkpoint; with a directory, the same call goes on there.
    """

    def __init__(
        self,
        config: CrawlConfig,
        predicate: Predicate,
        directory: Path | str | None,
        *,
        fetcher: Fetcher | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.config = config
        self.directory = directory
        self.finished: Finished | None = None
        """How it ended; None until then."""
        self._predicate = predicate
        self._fetcher = fetcher
        self._clock = clock
        self._session: Session | None = None
        self._store: Store | None = None
        self._reader: Reader | None = None
        self._begun = False

    def __repr__(self) -> str:
        return (
            f"Run({self._session.crawl!r})" if self._session else f"Run({self.config.match!r}, not started)"
        )

    def __iter__(self) -> Iterator[Find]:
        """Finds as they come. The crawl runs in a thread of its own, at most `AHEAD` finds ahead of the
        reader; then it stands still."""
        finds: queue.Queue[Find | BaseException | None] = queue.Queue()
        loop = asyncio.new_event_loop()
        session = self._open(finds.put, lambda: finds.qsize() >= AHEAD)

        def work() -> None:
            end: BaseException | None = None
            try:
                asyncio.set_event_loop(loop)
                self.finished = loop.run_until_complete(session.run())
            except BaseException as problem:
                end = problem
            finds.put(end)

        thread = threading.Thread(target=work, name="clew", daemon=True)
        thread.start()
        try:
            while isinstance(item := finds.get(), Find):
                loop.call_soon_threadsafe(session.wake)
                yield item
            if item is not None:
                raise item
        finally:
            if thread.is_alive():
                loop.call_soon_threadsafe(session.stop)
            thread.join()
            loop.close()
            self._let_go()

    async def __aiter__(self) -> AsyncIterator[Find]:
        """Finds as they come, on the running event loop, at most `AHEAD` ahead of the reader."""
        finds: asyncio.Queue[Find | None] = asyncio.Queue()
        session = self._open(finds.put_nowait, lambda: finds.qsize() >= AHEAD)
        work = asyncio.create_task(session.run())
        work.add_done_callback(lambda _: finds.put_nowait(None))
        try:
            while (find := await finds.get()) is not None:
                session.wake()
                yield find
            self.finished = work.result()
        finally:
            session.stop()
            if not work.done():
                self.finished = await work
            self._let_go()

    def run(self) -> Finished:
        """Crawl to the end without looking at the finds one by one."""
        for _ in self:
            pass
        if self.finished is None:
            raise ClewError("the crawl ended without saying why")
        return self.finished

    @property
    def store(self) -> Reader:
        """What was crawled: pages, hosts, trace. There once the crawl has begun."""
        found = self._reader or self._store
        if found is None:
            raise UsageError("the crawl has not begun: iterate it, or call run()")
        return found

    def explain(self, url: str) -> Explanation:
        """Why a URL was fetched when it was, or why it was not."""
        return explain(self.store, url, config=self.config)

    def steer(self, **changes: Any) -> Future[int]:
        """Change the crawl while it runs: `match`, `strategy`, `weights`, `pages` and the other limits,
        `stop`, `ban_host`, `boost` ({pattern: factor}), `feedback` ({url: bool}), `pause`, `resume`.

        Gives what will be the number of the decision in the trace, once all of it is durable; its `result()`
        raises `UsageError` where it cannot be done. In `async for`, await `asyncio.wrap_future` of it.
        """
        if self._session is None:
            raise UsageError("the crawl has not begun: iterate it, and steer it meanwhile")
        return self._session.steer(Steer.of(**changes))

    def to_dataframe(self) -> Any:
        """The finds as a pandas DataFrame, a row each, as exports have them; needs pandas."""
        from clew.store.exports import FIELDS, record

        rows = [record(row) for row in self.store.pages(matched=True)]
        try:
            import pandas
        except ImportError:
            raise UsageError(
                "a data frame needs pandas: pip install clew[pandas], or iterate the run"
            ) from None
        frame = pandas.DataFrame(rows, columns=list(FIELDS))
        frame["fetched_at"] = pandas.to_datetime(frame["fetched_at"], utc=True)
        return frame

    def close(self) -> None:
        """Let go of the directory altogether."""
        if self._reader is not None:
            self._reader.close()
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _open(self, put: Callable[[Find], None], held: Callable[[], bool]) -> Session:
        if self._begun:
            raise UsageError(
                "a run is iterated once: call clew.crawl(...) again, with the same directory to go on"
            )
        self._begun = True
        self._store, self.config = _store(self.directory, self.config)
        self._session = Session(
            self.config,
            self._store,
            fetcher=self._fetcher,
            predicate=self._predicate,
            observers=[_Sink(put)],
            clock=self._clock,
            held=held,
            inbox=_inbox(self.directory),
        )
        return self._session

    def _let_go(self) -> None:
        """The crawl is over: from here on it is only read, and the directory is free for the next."""
        if self._store is None:
            return
        from clew.store import is_crawl, open_reader

        self._store.flush()
        if self.directory is not None and is_crawl(self.directory):
            self._store.close()
            self._reader = open_reader(self.directory)


def _inbox(directory: Path | str | None) -> Inbox | None:
    """Where others leave requests to a crawl."""
    from clew.store import folder_of

    folder = None if directory is None else folder_of(directory)
    return None if folder is None else Inbox(folder)


def _store(directory: Path | str | None, config: CrawlConfig) -> tuple[Store, CrawlConfig]:
    """The store to crawl into, and the settings to do it with: an existing crawl keeps what makes it so."""
    from clew.store import open_store

    store = open_store("memory:" if directory is None else directory)
    try:
        stored = store.meta().get("config")
        if stored is not None:
            given = config.model_dump()
            kept = stored_config({"config": stored}).model_copy(update=dict.fromkeys(OUTWARD))
            config = resume_config(kept, given, environ={}).config
        store.set_meta(config=json.loads(config.to_json()))
    except BaseException:
        store.close()
        raise
    return store, config


def crawl(
    seeds: str | Sequence[str],
    *,
    match: Match,
    directory: str | Path | None = None,
    fetcher: Fetcher | str | None = None,
    clock: Clock | None = None,
    **settings: Unpack[CrawlSettings],
) -> Run:
    """Find pages that satisfy `match`, starting from `seeds`.

    `seeds` is one URL or several. `match` is a formula, or any callable `Page -> bool | float`, or a
    `Predicate`; or several of them by name, `{"wind": ..., "solar": ...}`, of which each find says which it
    satisfies. `directory` (or the address of another store) keeps the crawl and lets it be resumed; without
    one everything stays in memory. `fetcher` is one, or the name of one that is installed.
    The settings are those of the command line (`pages=2000`, `strategy="best-first"`, `delay=2`, …). What is
    wrong with any of them is said here, not when the crawl begins.
    """
    text = _text(match)
    listed = (seeds,) if isinstance(seeds, str) else tuple(seeds)
    try:
        named = {"fetcher": fetcher} if isinstance(fetcher, str) else {}
        config = make_config({**settings, **named, "seeds": listed, "match": text})
        named_or_one = match if isinstance(match, Mapping) or not isinstance(match, Sequence) else None
        predicate = predicate_of(config, named_or_one, topics=_kept_topics(directory))
    except ConfigError as error:
        raise ConfigError(_in_python(str(error))) from None
    own = None if isinstance(fetcher, str) else fetcher
    return Run(config, predicate, directory, fetcher=own, clock=clock)


def _kept_topics(directory: str | Path | None) -> TopicLibrary | None:
    """The topics that a crawl keeps, if there is one to go on with."""
    from clew.store import is_crawl, open_reader

    if directory is None or not is_crawl(directory):
        return None
    with open_reader(directory) as reader:
        return kept_topics(reader.meta())


def _in_python(message: str) -> str:
    """A complaint in the words of the library: parameters instead of options.

    >>> _in_python("max-body: give --allow-private HOST")
    'max_body: give allow_private HOST'
    """
    message = re.sub(r"^[a-z]+(?:-[a-z]+)+(?=: )", lambda key: key[0].replace("-", "_"), message, flags=re.M)
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda option: option[1].replace("-", "_"), message)


def _text(match: Match) -> object:
    """What the configuration keeps of it."""
    if isinstance(match, Mapping):
        return {name: one if isinstance(one, str) else _name(one) for name, one in match.items()}
    return match if isinstance(match, Sequence) else _name(match)


def _name(match: Callable[[Page], bool | float] | Predicate) -> str:
    if isinstance(match, Predicate):
        return match.text()
    return f"py:{getattr(match, '__module__', '?')}:{getattr(match, '__qualname__', type(match).__name__)}"
