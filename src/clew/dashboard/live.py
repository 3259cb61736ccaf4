"""`LiveCrawl`: one crawl as its page shows it, brought up to date in small steps.

What the page shows is a handful of sections, each plain data of bounded size. An update reads what came since
the last one, for no longer than a moment; a long crawl that is looked at for the first time is taken in over
several. All pages that look at one crawl share its fold.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from clew.engine import commands
from clew.engine.commands import InForce
from clew.errors import ClewError
from clew.frontier.host import Host
from clew.messages import Decision, SaveHost
from clew.policy import Budget
from clew.policy.confidence import SUSPENDED
from clew.policy.recall import FEWEST_FETCHES, FEWEST_FINDS, RecallEstimate
from clew.predicate.interests import formulas
from clew.report.crawl_fold import BLIND, CrawlFold, FoundPage, InterestFinds, chance_curve
from clew.run.config import CrawlConfig
from clew.run.explain import REASONS, part_names
from clew.run.factor_report import FACTOR_WORDS
from clew.run.settings import stored_config
from clew.run.steering import LIMITS, settings_in_force
from clew.run.waits import waits
from clew.store.directory import holder
from clew.store.follow import FollowedCrawl, follow_directory
from clew.strategy import STRATEGIES, find

#: Seconds of an update spent on reading what is new; lines of the trace and candidates read at a time.
READING = 0.02
_LINES, _CANDIDATES, _NAMES = 250, 20_000, 5_000
#: Seconds for which what was read last is good enough.
_FRESH = 0.4
_HOSTS, _DECISIONS, _WAITS, _REASONS, _JOURNAL = 40, 40, 12, 3, 20


_T = TypeVar("_T")


class LiveCrawl:
    """One crawl, followed.

    Parameters: its directory; the name it is shown by.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.fold = CrawlFold()
        self.config: CrawlConfig | None = None
        self.problem = ""
        """Why there are no settings."""
        self.meta: dict[str, Any] = {}
        self.sections: dict[str, tuple[str, str]] = {}
        """Name -> digest and JSON text of each section."""
        self.catching_up = True
        self.took = 0.0
        """Seconds of processor time of the last update."""
        self._lock = threading.RLock()
        self._kept: FollowedCrawl | None = None
        self._pid: int | None = None
        self._names = (-1, {0: ""})
        self._candidates = -1
        self._known: dict[str, int] = {}
        self._identity = ""
        self._updated = -math.inf
        self._hosts: dict[str, SaveHost] = {}
        self._robots: dict[str, int] = {}
        self._copies = (0, 0)
        """Pages that were looked at, and how many of them repeat another."""
        self._journal = 0
        self.interests = InterestFinds()
        self._named = 0
        """Pages whose interests were read."""
        self.looks: list[RecallEstimate] = []
        """What was thought to be left, along the crawl."""
        self._in_force: tuple[tuple[CrawlConfig | None, int], InForce | None] = ((None, 0), None)

    def __repr__(self) -> str:
        return f"LiveCrawl({self.name!r}, {self.fold.after} decisions)"

    def update(self) -> None:
        """Take in what came since the last update, as far as a moment allows, and make the sections anew."""
        with self._lock:
            if not self.catching_up and time.monotonic() - self._updated < _FRESH:
                return
            began = time.thread_time()
            with self.reading() as reader:
                self._read(reader)
                made = self._sections(reader, time.time())
            for name, value in made.items():
                text = as_json(value)
                digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
                self.sections[name] = (digest, text)
            self._updated = time.monotonic()
            self.took = time.thread_time() - began

    @contextlib.contextmanager
    def reading(self) -> Iterator[FollowedCrawl]:
        """The crawl, opened to read. While it runs, for no longer than this takes, so that its writer can put
        its log away when it ends."""
        self._pid = holder(self.path)
        if self._pid is None and self._kept is not None:
            yield self._kept
            return
        if self._kept is not None:
            self._kept.close()
            self._kept = None
        reader = follow_directory(self.path)
        if self._pid is None:
            self._kept = reader
            yield reader
            return
        with contextlib.closing(reader):
            yield reader

    @property
    def pid(self) -> int | None:
        """The process that crawls, as of the last update; None when there is none."""
        return self._pid

    def locked(self, work: Callable[[], _T]) -> _T:
        """Do what reads the crawl while nobody else does: a connection is one thread's at a time."""
        with self._lock:
            return work()

    @property
    def in_force(self) -> InForce | None:
        """What the crawl goes by: its settings, and what was commanded since. None where these cannot be
        read."""
        read = (self.config, len(self.fold.commands))
        if read != self._in_force[0]:
            found = None if self.config is None else settings_in_force(self.config)
            for entry in self.fold.commands:
                with contextlib.suppress(ClewError):
                    if found is not None and (change := commands.loads(entry, found)) is not None:
                        found = found.after(change)
            self._in_force = read, found
        return self._in_force[1]

    @property
    def formula(self) -> str:
        """What is judged."""
        return "" if self.in_force is None else self.in_force.match

    @property
    def formulas(self) -> dict[str, str]:
        """What is judged where there are several interests, by name; empty where there is one without."""
        try:
            return {name: text for name, text in formulas(self.formula).items() if name}
        except ClewError:  # the directory of a stranger
            return {}

    @property
    def confidence(self) -> float | None:
        """The level by which directions are suspended; None where none are."""
        level = None if self.config is None else self.config.confidence
        return level if isinstance(level, float) else None

    def close(self) -> None:
        """Let go of the files."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _read(self, reader: FollowedCrawl) -> None:
        if reader.identity != self._identity:
            # Another crawl at the same place: begin again.
            self._identity = reader.identity
            self._names, self._candidates, self._known = (-1, {}), -1, {}
            self.config, self.fold = None, CrawlFold()
            self._journal, self.looks, self._copies = 0, [], (0, 0)
            self.interests, self._named = InterestFinds(), 0
        self.meta = reader.meta()
        if self.config is None or self._pid is not None:
            self._configure()
        if self.fold.after == 0:
            self.fold = (
                CrawlFold()
                if self.config is None
                else CrawlFold(part_names(self.config), self.config.strategy)
            )
        until = time.thread_time() + READING
        self._read_journal(reader)
        self.catching_up = self._read_trace(reader, until) or self._read_candidates(reader, until)
        seen, copies = self._copies
        pages = self.fold.curve.pages
        self._copies = pages, copies + reader.copies(seen, pages)
        if self.fold.rejudged_at is not None and not self.catching_up:
            found = reader.matched(self.fold.curve.pages)
            self.fold.rejudge(FoundPage(number, degree, url) for number, degree, url in found)
            self.interests, self._named = InterestFinds(), 0
        self.catching_up |= self._read_interests(reader, until)

    def _configure(self) -> None:
        """Read the settings, which a crawl that goes on may have others of."""
        try:
            self.config, self.problem = stored_config(self.meta), ""
        except ClewError as error:
            self.config, self.problem = None, str(error)

    def _read_journal(self, reader: FollowedCrawl) -> None:
        while True:
            entries, last = reader.journalled(self._journal, _LINES)
            for entry in entries:
                with contextlib.suppress(ClewError):
                    if (look := RecallEstimate.loads(entry.entry)) is not None:
                        self.looks.append(look)
            if last == self._journal:
                return
            self._journal = last

    def _read_trace(self, reader: FollowedCrawl, until: float) -> bool:
        """Whether there is more than there was time for."""
        after = self.fold.after
        while True:
            lines, last = reader.traced(after, _LINES)
            for session, decision in lines:
                self.fold.take(session, decision)
            if last == after:
                return False
            after = self.fold.after = last
            if time.thread_time() > until:
                return True

    def _read_interests(self, reader: FollowedCrawl, until: float) -> bool:
        """Whether there is more than there was time for."""
        pages = self.fold.curve.pages if self.formulas else 0
        while self._named < pages:
            upto = min(pages, self._named + _CANDIDATES)
            for page, candidate, names in reader.interests(self._named, upto):
                self.interests.add(page, candidate, names)
            self._named = upto
            if time.thread_time() > until:
                return self._named < pages
        return False

    def _read_candidates(self, reader: FollowedCrawl, until: float) -> bool:
        last, names = self._names
        while found := reader.host_names(last, _NAMES):
            names.update(found)
            last = found[-1][0]
        self._names = (last, names)
        newest = reader.last_candidate()
        while self._candidates < newest:
            upto = min(newest, self._candidates + _CANDIDATES)
            for number, count in reader.known_by_host(self._candidates, upto).items():
                name = names.get(number, "")
                self._known[name] = self._known.get(name, 0) + count
            self._candidates = upto
            if time.thread_time() > until:
                return True
        return False

    # what is shown

    def _sections(self, reader: FollowedCrawl, now: float) -> dict[str, Any]:
        fold = self.fold
        shown = [name for name, _ in fold.busiest(_HOSTS)]
        self._hosts = reader.hosts_named(shown)
        self._robots = reader.robots_named(shown)
        return {
            "state": self._state(reader, now),
            "curve": self._curve(),
            "interests": self._interests(),
            "factors": self._factors(),
            "decisions": self._decisions(),
            "hosts": self._host_rows(now),
            "problems": self._problems(reader, now),
            "focus": self._focus(reader),
            "left": self._left(),
            "steering": self._steering(),
        }

    @property
    def status(self) -> str:
        """`running`, `paused`, `finished`, `stopped` (and can go on), or `crashed`."""
        if self._pid is not None:
            return "paused" if self.in_force is not None and self.in_force.paused else "running"
        stopped = self.meta.get("stopped")
        if stopped is None:
            return "crashed" if self.fold.after else "new"
        return "stopped" if stopped == "interrupted" else "finished"

    def _state(self, reader: FollowedCrawl, now: float) -> dict[str, Any]:
        fold = self.fold
        pages, finds = fold.curve.pages, fold.curve.finds
        budget = Budget() if self.in_force is None else self.in_force.budget
        running = self.status == "running"
        pace = fold.pace(now if running else None)
        elapsed = fold.elapsed
        return {
            "status": self.status,
            "stopped": str(self.meta.get("stopped") or ""),
            "formula": self.formula,
            "strategy": "" if self.in_force is None else self.in_force.strategy,
            "finds": finds,
            "pages": pages,
            "budget": budget.pages,
            "harvest": finds / pages if pages else 0.0,
            "recent": self._recent_harvest(),
            "pace": pace,
            "elapsed": elapsed,
            "left": _time_left(budget, pages, finds, elapsed, pace) if running else None,
            "queue": fold.queue,
            "known": self._candidates + 1,
            "requests": fold.requests,
            "duplicates": self._copies[1],
            "failed": fold.results["failed"],
            "hosts": len(fold.hosts),
            "behind": max(0, reader.last_decision() - fold.after) if self.catching_up else 0,
            "sessions": len(fold.sessions),
        }

    def _recent_harvest(self) -> float:
        judged = [line.result == "match" for line, _ in self.fold.recent if line.result in ("match", "miss")]
        return sum(judged) / len(judged) if judged else 0.0

    def _curve(self) -> dict[str, Any]:
        curve = self.fold.curve
        points = curve.points
        blind = self.config is None or self.config.strategy in BLIND
        return {
            "pages": [pages for pages, _ in points],
            "finds": [finds for _, finds in points],
            "chance": [] if blind else [round(found, 2) for found in chance_curve(curve.queue, self.looks)],
            "marks": [
                {
                    "page": mark.page,
                    "name": mark.name,
                    "text": mark.text[:300],
                    "seq": mark.seq,
                    "at": mark.at,
                }
                for mark in self.fold.marks
            ],
        }

    def _interests(self) -> dict[str, Any]:
        """Several interests: what was found for each, and how many requests were made for it."""
        pages = [page for page, _ in self.fold.curve.points]
        curves = {name: self.interests.curve(name, pages) for name in self.formulas}
        shares = self.fold.shares(curves)
        return {
            "share": "" if self.config is None else self.config.share,
            "each": [
                {
                    "name": name,
                    "formula": formula,
                    "finds": curves[name][-1],
                    "requests": self.fold.turns[name],
                    "share": shares.get(name),
                }
                for name, formula in self.formulas.items()
            ],
            "pages": pages if curves else [],
            "series": list(curves.values()),
        }

    def _left(self) -> dict[str, Any]:
        """How much was not found, as of the last look at it, and how that went."""
        if not self.looks:
            return {"few": [FEWEST_FINDS, FEWEST_FETCHES]}
        looks = self.looks
        return looks[-1].as_dict() | {
            "series": {
                "pages": [look.pages for look in looks],
                "low": [round(look.low, 4) for look in looks],
                "middle": [round(look.middle, 4) for look in looks],
                "high": [round(look.high, 4) for look in looks],
            },
        }

    def _steering(self) -> dict[str, Any]:
        """What can be steered, as it is now."""
        found = self.in_force
        if found is None or self.config is None:
            return {}
        budget = asdict(found.budget)
        limits = {("seconds" if name == "time" else name): name for name in LIMITS}
        return {
            "match": found.match,
            "strategy": found.strategy,
            "strategies": list(STRATEGIES),
            "parts": list(self._parts(found.strategy)),
            "weights": dict(found.weights),
            "boosts": [{"pattern": text, "factor": factor} for text, factor in found.boosts.items()],
            "limits": {limits[name]: value for name, value in budget.items() if name in limits},
        }

    def _parts(self, strategy: str) -> tuple[str, ...]:
        """What the contributions to a score can be called in weights."""
        if self.config is None:
            return ()
        if strategy == self.config.strategy:
            # Each interest weighs its reasons alike; what suspends a link is not weighed.
            plain = [name.rpartition(".")[2] if self.formulas else name for name in part_names(self.config)]
            return tuple(name for name in dict.fromkeys(plain) if name != SUSPENDED)
        return find(strategy).parts if strategy in STRATEGIES else ()

    def _factors(self) -> dict[str, Any]:
        rows = self.fold.stretches.rows
        names = self.fold.names
        return {
            "names": list(names),
            "words": [FACTOR_WORDS.get(name.rpartition(".")[2], "") for name in names],
            "pages": [end for end, _ in rows],
            "explored": " ".join(self.fold.exploration.sentences()),
            "series": [[round(means[column], 5) for _, means in rows] for column in range(len(names))],
        }

    def moved(self, factor: str) -> dict[str, list[dict[str, Any]]]:
        """The links that a contribution moved most, of those that were fetched."""
        if factor not in self.fold.names:
            return {"up": [], "down": []}
        found = self.fold.moved[self.fold.names.index(factor)]
        return {
            side: [
                {"value": sign * value, "seq": seq, "url": url, "result": result}
                for value, seq, url, result in sorted(heap, reverse=True)
            ]
            for side, heap, sign in (("up", found.up, 1), ("down", found.down, -1))
        }

    def _decisions(self) -> list[dict[str, Any]]:
        return [self._decision(*line) for line in reversed([*self.fold.recent][-_DECISIONS:])]

    def _decision(self, line: Decision, names: tuple[str, ...]) -> dict[str, Any]:
        terms = zip(names, line.terms, strict=True) if len(names) == len(line.terms) else ()
        strongest = sorted((term for term in terms if term[1]), key=lambda term: -abs(term[1]))[:_REASONS]
        return {
            "seq": line.seq,
            "url": line.url,
            "score": line.score,
            "reasons": [{"name": name, "value": value} for name, value in strongest],
            "result": line.result,
            "verdict": line.verdict,
            "status": line.status,
            "new": line.new,
            "said": list(line.reasons[:_REASONS]),
        }

    def _host_rows(self, now: float) -> list[dict[str, Any]]:
        rows = []
        for name, tally in self.fold.busiest(_HOSTS):
            stored = self._hosts.get(name)
            refusal = None
            if stored is not None:
                host = Host(name, 0, False, stored.delay, 1)
                host.recall(stored)
                refusal = host.refusal
            known = self._known.get(name, 0)
            rows.append(
                {
                    "host": name,
                    "requests": tally.requests,
                    "pages": tally.pages,
                    "finds": tally.finds if stored is None else stored.matches,
                    "errors": tally.failures,
                    "queue": 0 if refusal else max(0, known - tally.tried),
                    "delay": None if stored is None else stored.delay,
                    "wait": 0.0 if stored is None else round(max(0.0, stored.next_at - now)),
                    "robots": self._robots.get(name),
                    "refusal": "" if refusal is None else refusal.removeprefix("host-"),
                }
            )
        return rows

    def _problems(self, reader: FollowedCrawl, now: float) -> dict[str, Any]:
        return {
            "failures": [
                {
                    "seq": line.seq,
                    "url": line.url,
                    "result": line.result,
                    "status": line.status,
                    "why": ": ".join(filter(None, line.reasons))[:300],
                }
                for line in reversed([*self.fold.failures][-_DECISIONS // 2 :])
            ],
            "reasons": [
                {"reason": reason, "count": count, "words": REASONS.get(reason, "")}
                for reason, count in self.fold.reasons.most_common(30)
            ],
            "waits": [
                {"place": wait.place, "seconds": round(wait.until - now), "why": wait.why}
                for wait in waits(self._hosts.values(), now)[:_WAITS]
            ]
            if self._pid is not None
            else [],
            "unreadable": list(reader.unreadable[:10]),
            "stopped": str(self.meta.get("stopped") or "") if self._pid is None else "",
            "crashed": self.status == "crashed",
        }

    def _focus(self, reader: FollowedCrawl) -> dict[str, Any]:
        """What is judged, what is sought, and how the one came to differ from the other."""
        judged = self.formula
        changes = [mark for mark in self.fold.marks if mark.name == "set-focus"]
        sought = judged if self.in_force is None else self.in_force.focus
        counts: dict[str, Any] = {}
        if self.config is not None and self.config.tunnel != "off" and self.fold.curve.pages:
            for entry in reader.last_journal(_JOURNAL):
                with contextlib.suppress(ValueError, AttributeError):
                    kept = json.loads(entry.entry)
                    if kept.get("command") == "session" and isinstance(kept.get("visited"), dict):
                        counts = {str(part): count for part, count in kept["visited"].items()}
        return {
            "confidence": self.confidence,
            "judged": judged,
            "sought": sought,
            "tunnel": "" if self.config is None else self.config.tunnel,
            "changes": [{"page": mark.page, "text": mark.text[:300]} for mark in changes],
            "parts": [{"part": part, "pages": count} for part, count in counts.items()],
        }


def as_json(value: Any) -> str:
    """Plain data as JSON text that a browser reads: a number that is none there is left out.

    >>> as_json({"score": math.inf, "url": "http://a.example/<b>"})
    '{"score":null,"url":"http://a.example/<b>"}'
    """
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":"))


def _finite(value: Any) -> Any:
    match value:
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value


def _time_left(budget: Budget, pages: int, finds: int, elapsed: float, pace: float) -> float | None:
    """Seconds until the first of the limits is reached, at the pace of now; None where none can be told."""
    told = []
    if budget.pages is not None and pace > 0:
        told.append((budget.pages - pages) / pace)
    if budget.matches is not None and pace > 0 and finds:
        told.append((budget.matches - finds) / (pace * finds / pages))
    if budget.seconds is not None:
        told.append(budget.seconds - elapsed)
    return max(0.0, min(told)) if told else None
