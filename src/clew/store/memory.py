"""`MemoryStore`: a crawl that is kept no longer than its process, for the library and for tests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import StoreError, UsageError
from clew.fetch.base import Response
from clew.messages import (
    Close,
    Decision,
    Effect,
    Forward,
    Journal,
    Learned,
    Record,
    Redimension,
    Rejudge,
    Rescore,
    SaveCandidates,
    SaveHost,
    SavePage,
    State,
)
from clew.page import Links
from clew.store.base import CandidateRow, Counts, FoundLink, PageRow, Reader, Snapshot, Store, StoreBackend
from clew.store.rows import CLOSED, REQUESTS, dumps, elapsed, iso, stored, total


@dataclass(slots=True)
class _Candidate:
    key: int
    url: str
    host: int
    depth: int
    source: int
    anchor: str
    via: str
    terms: NDArray[np.float64]
    state: State = State.QUEUED
    reason: str = ""
    attempts: int = 0


class MemoryStore(Store):
    """A `Store` in lists and dicts. Archives nothing: `append` gives None.

    >>> store = MemoryStore()
    >>> store.load() is None, store.counts().pages
    (True, 0)
    """

    def __init__(self) -> None:
        self._candidates: list[_Candidate] = []
        self._numbers: dict[str, int] = {}
        self._hosts: dict[str, int] = {}
        self._host_states: dict[int, SaveHost] = {}
        self._pages: dict[int, SavePage] = {}
        self._trace: dict[int, Decision] = {}
        self._journal: list[Journal] = []
        self._checkpoint: bytes | None = None
        self._meta: dict[str, str] = {}
        self._learned = Learned("")
        self._width = 0
        self._feedback: dict[int, bool] = {}

    def url(self, candidate: int) -> str:
        """The URL of a candidate saved before."""
        if not 0 <= candidate < len(self._candidates):
            raise KeyError(candidate)
        return self._candidates[candidate].url

    def append(self, response: Response, fetched_at: float) -> None:
        """Keeps nothing."""

    def save(self, effects: Sequence[Effect]) -> None:
        """Take one batch."""
        for effect in effects:
            match effect:
                case SaveCandidates():
                    self._save_candidates(effect)
                case Close():
                    self._close(effect)
                case Record(decision):
                    self._record(decision)
                case Journal():
                    self._journal.append(effect)
                case SavePage():
                    self._pages[effect.candidate] = _slim(effect)
                case Rejudge():
                    self._rejudge(effect)
                case Redimension():
                    self._redimension()
                case SaveHost():
                    self._save_host(effect)
                case Rescore():
                    self._rescore(effect)
                case Learned():
                    self._learned = effect
                case Forward():
                    pass

    def flush(self) -> None:
        """Nothing to wait for."""

    def close(self) -> None:
        """Nothing to let go of."""

    def set_meta(self, **values: Any) -> None:
        """Merge into `meta`."""
        self._meta.update({key: dumps(value) for key, value in values.items()})

    def meta(self) -> dict[str, Any]:
        """Plain data about the crawl."""
        return {key: json.loads(value) for key, value in sorted(self._meta.items())}

    def snapshot(self) -> Snapshot | None:
        """The state of the crawl; None when it never began."""
        return self.load()

    def learned(self) -> str:
        """The strategy's learned state, as text; empty when there is none."""
        return self._learned.text

    def checkpoint(self) -> memoryview | None:
        """The checkpoint of what was learned that was saved last."""
        return None if self._checkpoint is None else memoryview(self._checkpoint)

    def save_checkpoint(self, pieces: Iterable[bytes | memoryview]) -> None:
        """Keep a checkpoint in the place of the last one."""
        self._checkpoint = b"".join(pieces)

    def replies(self) -> None:
        """None: this store keeps no bytes."""

    def record(self, page: PageRow) -> None:
        """None: this store keeps no bytes."""

    def load(self) -> Snapshot | None:
        """State to resume from; None for a new crawl."""
        if not self._candidates:
            return None
        rows, pages = self._candidates, self._pages
        digests: dict[int, int] = {}
        for number, saved in pages.items():
            if saved.page.digest and saved.duplicate_of < 0:
                digests.setdefault(saved.page.digest, number)
        times = [decision.at for decision in self._trace.values()]
        return Snapshot(
            keys=np.array([row.key for row in rows], np.uint64),
            hosts=np.array([row.host for row in rows], np.int32),
            host_names=tuple(self._hosts),
            depths=np.array([row.depth for row in rows], np.int32),
            sources=np.array([row.source for row in rows], np.int32),
            states=np.array([row.state for row in rows], np.uint8),
            attempts=np.array([min(row.attempts, 255) for row in rows], np.uint8),
            terms=np.array([self._terms(row) for row in rows]),
            host_states=tuple(self.hosts()),
            digests=digests,
            copies={
                number: (saved.duplicate_of, saved.near)
                for number, saved in self._pages.items()
                if saved.duplicate_of >= 0
            },
            said={number: saved.said for number, saved in self._pages.items()},
            sketches={
                number: saved.page.sketch
                for number, saved in pages.items()
                if saved.page.sketch and saved.duplicate_of < 0
            },
            matched=frozenset(number for number, saved in pages.items() if saved.matched),
            scores={number: saved.verdict.score for number, saved in pages.items()},
            interests={
                number: saved.verdict.interests
                for number, saved in pages.items()
                if saved.matched and saved.verdict.interests
            },
            decisions=len(self._trace),
            tasks=sum(decision.kind in REQUESTS for decision in self._trace.values()),
            pages=len(pages),
            requests=sum(host.requests for host in self.hosts()),
            wire=sum(host.wire for host in self.hosts()),
            elapsed=elapsed([(min(times), max(times))]) if times else 0.0,
            learned=self._learned.text,
        )

    def pages(self, *, matched: bool = False, text: bool = True) -> Iterator[PageRow]:
        """Fetched pages in the order fetched."""
        for saved in list(self._pages.values()):
            if saved.matched or not matched:
                row = self._page_row(saved)
                yield row if text else replace(row, text="")

    def page(self, url: str) -> PageRow | None:
        """The page stored under a canonical URL."""
        saved = self._pages.get(self._numbers.get(url, -1))
        return None if saved is None else self._page_row(saved)

    def candidate(self, url: str) -> CandidateRow | None:
        """What is known of a canonical URL."""
        number = self._numbers.get(url)
        if number is None:
            return None
        row = self._candidates[number]
        terms = self._terms(row)
        return CandidateRow(
            id=number,
            url=row.url,
            host=list(self._hosts)[row.host],
            depth=row.depth,
            source=self._url_or_none(row.source),
            anchor=row.anchor,
            via=row.via,
            state=row.state,
            reason=row.reason,
            terms=tuple(terms.tolist()),
            score=total(terms),
        )

    def links_numbered(self, candidates: Sequence[int]) -> dict[int, FoundLink]:
        """Some candidates as links, by number."""
        known = {
            number: self._candidates[number]
            for number in candidates
            if number in range(len(self._candidates))
        }
        return {
            number: FoundLink(
                id=number, url=row.url, source=row.source, depth=row.depth, anchor=row.anchor, state=row.state
            )
            for number, row in known.items()
        }

    def outlinks(self, candidate: int) -> NDArray[np.int64]:
        """Numbers of the candidates a fetched page links to."""
        saved = self._pages.get(candidate)
        return np.array([] if saved is None else saved.links, np.int64)

    def hosts(self) -> Iterator[SaveHost]:
        """Every host that was asked for something, in the order first met."""
        return (self._host_states[number] for number in sorted(self._host_states))

    def decisions(self, after: int = -1) -> Iterator[Decision]:
        """The trace, in order."""
        return (self._trace[seq] for seq in sorted(self._trace) if seq > after)

    def journal(self) -> Iterator[Journal]:
        """What came into the crawl besides replies, in order."""
        return iter(self._journal)

    def trace_of(self, url: str) -> list[Decision]:
        """Every decision about one URL, in order."""
        return [decision for decision in self.decisions() if decision.url == url]

    def counts(self) -> Counts:
        """The figures of `clew status`."""
        states = Counter(row.state for row in self._candidates)
        reasons = Counter(row.reason for row in self._candidates if row.state in CLOSED)
        for decision in self._trace.values():
            reasons.update(dict(decision.dropped))
        found = [saved.verdict.interests for saved in self._pages.values() if saved.matched]
        finds = Counter(name for names in found for name in names)
        return Counts(
            pages=len(self._pages),
            matched=sum(saved.matched for saved in self._pages.values()),
            duplicates=sum(saved.duplicate_of >= 0 for saved in self._pages.values()),
            queued=states[State.QUEUED],
            failed=states[State.FAILED],
            dropped=states[State.DROPPED],
            redirected=states[State.REDIRECTED],
            hosts=len(self._hosts),
            requests=sum(host.requests for host in self.hosts()),
            wire=sum(host.wire for host in self.hosts()),
            rendered=sum(saved.page.rendered for saved in self._pages.values()),
            feedback=len(self._feedback),
            by_reason=dict(sorted(reasons.items())),
            by_interest=dict(sorted(finds.items())),
        )

    def __repr__(self) -> str:
        return f"MemoryStore({len(self._candidates)} candidates, {len(self._pages)} pages)"

    def _save_candidates(self, effect: SaveCandidates) -> None:
        if effect.first != len(self._candidates):
            expected = len(self._candidates)
            raise StoreError(
                f"candidate {expected} was expected next, not {effect.first}: numbers have no gaps"
            )
        self._widen(effect.terms)
        for i, url in enumerate(effect.urls):
            host = self._host_number(effect.hosts[i])
            self._numbers.setdefault(url, len(self._candidates))
            self._candidates.append(
                _Candidate(
                    int(effect.keys[i]),
                    url,
                    host,
                    effect.depths[i],
                    effect.source,
                    effect.anchors[i],
                    effect.via.value,
                    effect.terms[i],
                )
            )

    def _close(self, effect: Close) -> None:
        if not 0 <= effect.candidate < len(self._candidates):
            raise StoreError(f"candidate {effect.candidate} cannot be closed: it was never saved")
        row = self._candidates[effect.candidate]
        row.state, row.reason, row.attempts = stored(effect.state), effect.reason, effect.attempts

    def _record(self, decision: Decision) -> None:
        if decision.seq in self._trace:
            raise StoreError(f"decision {decision.seq} was recorded before")
        self._trace[decision.seq] = decision

    def _save_host(self, effect: SaveHost) -> None:
        number = self._host_number(effect.host)
        known = self._host_states.get(number)
        if effect.robots is None:
            effect = replace(effect, robots=known.robots if known else ())
        if effect.memory is None:
            effect = replace(effect, memory=known.memory if known else "")
        self._host_states[number] = effect

    def _host_number(self, name: str) -> int:
        return self._hosts.setdefault(name, len(self._hosts))

    def _rescore(self, effect: Rescore) -> None:
        count = len(self._candidates)
        if len(effect.ids) and not 0 <= int(effect.ids.min()) <= int(effect.ids.max()) < count:
            raise StoreError(f"only candidates 0 to {count - 1} can be rescored: others were never saved")
        self._widen(effect.terms)
        for number, terms in zip(effect.ids.tolist(), effect.terms, strict=True):
            self._candidates[number].terms = terms

    def _rejudge(self, effect: Rejudge) -> None:
        saved = self._pages[effect.candidate]
        self._pages[effect.candidate] = replace(saved, verdict=effect.verdict, matched=effect.matched)
        if effect.feedback is not None:
            self._feedback[effect.candidate] = effect.feedback

    def _redimension(self) -> None:
        self._width = 0
        for row in self._candidates:
            row.terms = np.zeros(0)

    def _widen(self, terms: NDArray[np.float64]) -> None:
        if len(terms):
            self._width = max(self._width, terms.shape[1])

    def _terms(self, row: _Candidate) -> NDArray[np.float64]:
        """Contributions, filled with zeros to the width of the widest."""
        return np.pad(row.terms, (0, self._width - len(row.terms)))

    def _url_or_none(self, candidate: int) -> str | None:
        return self.url(candidate) if candidate >= 0 else None

    def _page_row(self, saved: SavePage) -> PageRow:
        page = saved.page
        return PageRow(
            id=saved.candidate,
            url=self.url(saved.candidate),
            status=page.status,
            title=page.title,
            score=saved.verdict.score,
            matched=saved.matched,
            satisfied=saved.verdict.satisfied,
            duplicate_of=self._url_or_none(saved.duplicate_of),
            near=saved.near,
            depth=saved.depth,
            source=self._url_or_none(saved.source),
            fetched_at=iso(saved.fetched_at),
            lang=page.language,
            type=page.type,
            text=page.text,
            reasons=saved.verdict.reasons,
            blob=saved.blob,
            via=self._candidates[saved.candidate].via,
            rendered=page.rendered,
            feedback=self._feedback.get(saved.candidate),
            interests=saved.verdict.interests,
        )


def _slim(saved: SavePage) -> SavePage:
    """Without what no reader asks for: links are many, and the main text is part of the text."""
    return replace(saved, page=replace(saved.page, links=Links(), main=""))


def _read(place: str) -> Reader:
    raise UsageError(f"{place} is a crawl in memory, gone with the process that made it: give a directory")


BACKEND = StoreBackend(open=lambda place: MemoryStore(), read=_read, exists=lambda place: False)
