"""Steering: what somebody wants changed in a crawl, from wherever they are.

A `Steer` says what is wanted, checked as far as it can be without the crawl. `send` leaves it in the inbox of
a crawl directory and waits for what comes of it; a crawl that rests takes it in when it goes on, before it
asks for anything. Each request has a name that the journal keeps with its effects, in one batch: so it is
obeyed once, whatever is killed when. `preview_of` says what would move, and moves nothing.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.engine import Crawl, commands
from clew.engine.commands import (
    BanHost,
    Change,
    Feedback,
    InForce,
    SetBoost,
    SetBudget,
    SetMatch,
    SetPaused,
    SetStrategy,
    SetWeights,
)
from clew.errors import ClewError, ConfigError, UsageError
from clew.messages import State
from clew.policy.scope import pattern
from clew.predicate.interests import formulas
from clew.predicate.judge import canonical
from clew.predicate.review import refuse_unknown_topics
from clew.run.build import crawl_of, rules_of
from clew.run.checks import formula, nearest
from clew.run.config import CrawlConfig
from clew.run.recall_confidence import recall_confidence
from clew.run.relearn import foresee, refolding, relearning
from clew.run.resume import restore
from clew.run.settings import make_config, stored_config
from clew.run.topics import kept_topics
from clew.store import folder_of, open_reader, open_store
from clew.store.base import Reader
from clew.store.directory import owner_of
from clew.store.inbox import Inbox
from clew.strategy import checked_weights, find
from clew.topic import TopicLibrary

__all__ = ["LIMITS", "MovedCandidate", "Preview", "Steer", "SteerReply", "preview_of", "send", "steered"]

#: What ends a crawl, by the names of the settings.
LIMITS = ("pages", "matches", "time", "bytes", "requests", "interest", "stop")
#: Everything that may be asked for.
CLAUSES = ("match", "strategy", "weights", *LIMITS, "ban_host", "boost", "feedback", "pause", "resume")
#: Reasons for which a crawl stopped that leave it as it was: it only has to go on.
_RESTING = (None, "interrupted", "storage full", "robots.txt unavailable")
_FACTORS = 1e-6, 1e6
_SHOWN = 10
_POLL = 0.05
_WORDS = {"yes": True, "no": False, "true": True, "false": False}

Progress = Callable[[int, int], None]
"""Told how many of how many decisions were learned from again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer:
    """What is to change in a crawl, all of it at one moment. `Steer.of` makes one of what a user typed.

    >>> Steer.of(pages=5000, boost=["*/blog/*=2"], ban_host="ads.example").boost
    {'*/blog/*': 2.0}
    """

    match: str | None = None
    """What is a find: a formula. Pages that were fetched are judged anew."""
    strategy: str | None = None
    weights: Mapping[str, float] | None = None
    """Of contributions, by name; none gives the strategy's own back."""
    limits: Mapping[str, int | float | str | None] = field(default_factory=dict)
    """When to stop, by the names in `LIMITS`; None lifts a limit."""
    ban_host: tuple[str, ...] = ()
    boost: Mapping[str, float] = field(default_factory=dict)
    """How many times as much URLs of a pattern are worth; 1 takes a boost back."""
    feedback: Mapping[str, bool] = field(default_factory=dict)
    """Whether fetched pages are finds, by canonical URL."""
    paused: bool | None = None
    """To pause, or to go on; None is neither."""

    @classmethod
    def of(cls, **given: object) -> Steer:
        """A request, checked, from values as Python, JSON or a command line has them (None is not given)."""
        wanted = {name.replace("-", "_"): value for name, value in given.items() if value is not None}
        for name in wanted:
            if name not in CLAUSES:
                raise ConfigError(f"there is no {name!r} to steer by{nearest(name, CLAUSES)}")
        if wanted.get("pause") and wanted.get("resume"):
            raise ConfigError("a crawl is paused or goes on: give one of --pause and --resume")
        paused = True if wanted.get("pause") else False if wanted.get("resume") else None
        settings = _settings(wanted)
        steer = cls(
            match=_formula(wanted["match"]) if "match" in wanted else None,
            strategy=settings.strategy if "strategy" in wanted else None,
            weights=_weights(wanted["weights"], settings) if "weights" in wanted else None,
            limits={name: getattr(settings, name) for name in LIMITS if name in wanted},
            ban_host=tuple(dict.fromkeys(map(_host, _listed(wanted.get("ban_host"))))),
            boost=dict(map(_boost, _pairs(wanted.get("boost"), "boost"))),
            feedback=dict(map(_feedback, _pairs(wanted.get("feedback"), "feedback"))),
            paused=paused,
        )
        if steer == cls():
            raise UsageError(
                "say what to change, such as --pages 5000, --match FORMULA, --boost PATTERN=2 or --pause"
            )
        return steer

    def as_dict(self) -> dict[str, Any]:
        """The request as plain data; `Steer.of` takes it back."""
        plain: dict[str, Any] = {
            "match": self.match,
            "strategy": self.strategy,
            "weights": None if self.weights is None else dict(self.weights) or "none",
            **{name: "none" if value in (None, "") else value for name, value in self.limits.items()},
            "ban_host": list(self.ban_host),
            "boost": dict(self.boost),
            "feedback": dict(self.feedback),
            "pause": self.paused is True,
            "resume": self.paused is False,
        }
        return {name: value for name, value in plain.items() if value not in (None, [], {}, False)}

    def dumps(self) -> str:
        """The request as JSON text."""
        return json.dumps(self.as_dict(), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def loads(cls, text: str | None) -> Steer:
        """A request of JSON text, from wherever that came."""
        try:
            found = json.loads(text or "")
            if not isinstance(found, dict):
                raise ValueError
        except (ValueError, RecursionError):
            raise UsageError("that is no request to a crawl: clew steer writes them") from None
        return cls.of(**found)

    def changes(self, in_force: InForce) -> tuple[Change, ...]:
        """The commands to a crawl where these are in force, in the order they are given."""
        found: list[Change] = []
        if self.strategy is not None:
            found.append(SetStrategy(self.strategy))
        if self.weights is not None:
            found.append(SetWeights(checked_weights(find(self.strategy or in_force.strategy), self.weights)))
        if self.match is not None:
            found.append(SetMatch(self.match))
        if self.limits:
            named = {"seconds" if name == "time" else name: value for name, value in self.limits.items()}
            found.append(SetBudget(replace(in_force.budget, **named)))  # type: ignore[arg-type]
        found += [BanHost(host) for host in self.ban_host]
        found += [SetBoost(text, factor) for text, factor in self.boost.items()]
        found += [Feedback(url, satisfied) for url, satisfied in self.feedback.items()]
        if self.paused is not None:
            found.append(SetPaused(self.paused))
        return tuple(found)


def _settings(wanted: Mapping[str, object]) -> CrawlConfig:
    """Those that are settings too, checked as such."""
    shared = {name: wanted[name] for name in (*LIMITS, "strategy") if name in wanted}
    if isinstance(wanted.get("stop"), str) and str(wanted["stop"]).strip().lower() == "none":
        shared["stop"] = ""
    weights = wanted.get("weights")
    if weights is not None and weights != "none":
        shared["weights"] = weights
    return make_config({"seeds": ("http://example.org/",), "match": "x", **shared})


def _weights(given: object, settings: CrawlConfig) -> Mapping[str, float]:
    if given == "none":
        return {}
    if isinstance(settings.weights, str):
        raise ConfigError(
            f"weights: {settings.weights!r} is a way to weigh that a crawl begins with; while it runs, give "
            "weights by name, such as content=1,url=0.5, or none for those it began with"
        )
    return settings.weights


def _formula(given: object) -> str:
    try:
        return canonical(formula(given))
    except ValueError as error:
        raise ConfigError(f"match: {error}") from None


def _host(given: object) -> str:
    text = str(given).strip()
    canonical = urls.canonical(text if "://" in text else f"http://{text}/")
    host = "" if canonical is None else urls.host(canonical)
    if not host or (canonical != f"http://{host}/" and "://" not in text):
        raise ConfigError(f"ban-host: {text!r} is not a host such as ads.example.org")
    return host


def _boost(pair: tuple[str, object]) -> tuple[str, float]:
    text, given = pair
    try:
        factor = float(str(given))
    except ValueError:
        factor = math.nan
    if not text:
        raise ConfigError("boost: an empty pattern matches nothing: write PATTERN=FACTOR ('*/blog/*=2')")
    if not _FACTORS[0] <= factor <= _FACTORS[1]:
        raise ConfigError(
            f"boost: the factor of {text!r} must be a number from {_FACTORS[0]:g} to {_FACTORS[1]:g}, "
            f"not {str(given)[:40]!r}; below 1 has pages wait longer, 1 takes the boost back"
        )
    pattern(text)
    return text, factor


def _feedback(pair: tuple[str, object]) -> tuple[str, bool]:
    url, given = pair
    canonical = urls.canonical(url)
    if canonical is None:
        raise ConfigError(f"feedback: {url!r} is not an http or https address")
    said = given if isinstance(given, bool) else _WORDS.get(str(given).strip().lower())
    if said is None:
        raise ConfigError(f"feedback: say yes or no of {url}, not {str(given)[:40]!r}")
    return canonical, said


def _listed(given: object) -> Sequence[object]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _pairs(given: object, name: str) -> Iterator[tuple[str, object]]:
    """Pairs, from a mapping or from texts NAME=VALUE; the last equals sign counts."""
    if isinstance(given, Mapping):
        yield from ((str(key), value) for key, value in given.items())
        return
    for item in _listed(given):
        key, equals, value = str(item).rpartition("=")
        if not equals:
            example = "PATTERN=FACTOR, such as '*/blog/*=2'" if name == "boost" else "URL=yes or URL=no"
            raise ConfigError(f"{name}: {str(item)[:80]!r}: write {example}")
        yield key, value


@dataclass(frozen=True, slots=True)
class MovedCandidate:
    """A candidate, and its score and place among all that wait, before and after."""

    url: str
    before: float
    after: float
    place_before: int
    place_after: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What would move."""

    waiting: int
    """Candidates that wait."""
    moved: int
    """Of these, how many would be worth something else."""
    rises: tuple[MovedCandidate, ...]
    falls: tuple[MovedCandidate, ...]
    finds: tuple[int, int] | None = None
    """Finds before and after, where pages would be judged anew."""


Fate = Literal["applied", "waiting", "refused", "previewed", "working"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SteerReply:
    """What came of a request."""

    state: Fate
    """`applied`; `waiting`, to be taken in when the crawl goes on; `working`, taken in but not done when the
    wait for it was over; `refused`; `previewed`."""
    message: str
    """A sentence that says so, and what to do."""
    request: str = ""
    decision: int | None = None
    """The number of the last decision it became."""
    changes: tuple[str, ...] = ()
    preview: Preview | None = None

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", ())}


def send(
    directory: Path | str,
    request: Steer,
    *,
    preview: bool = False,
    timeout: float | None = 30.0,
    progress: Progress | None = None,
) -> SteerReply:
    """Steer a crawl, running or at rest, or say what would move; gives what came of it.

    Parameters: where the crawl is; what is wanted; how many seconds to wait for a running crawl (None waits
    as long as it runs); who is told how far it is. A request that cannot be is a `UsageError`.
    """
    if preview:
        found = preview_of(directory, request, progress=progress)
        return SteerReply(state="previewed", message="nothing was changed", preview=found)
    folder = folder_of(directory)
    with open_reader(directory) as reader:
        in_force = check(reader, request)
        if folder is None:
            raise UsageError(f"{directory} cannot be steered from here: only crawls in directories can")
        running = owner_of(folder) is not None
        ended = not running and reader.meta().get("stopped") not in _RESTING
        changes = tuple(map(commands.name_of, request.changes(in_force)))
        if ended and request == Steer(feedback=request.feedback) and _can_stand_in(reader):
            return replace(_tell_ended(directory, request, progress), changes=changes)
        if ended:
            require_unfinished(reader, request, directory)
    inbox = Inbox(folder)
    name = inbox.post(request.dumps())
    reply = _await(inbox, name, folder, timeout, progress) if running else None
    if reply is not None:
        return replace(reply, changes=changes)
    return SteerReply(
        state="waiting",
        message=f"the crawl is at rest: it will be taken in when it goes on, with clew crawl -d {directory}",
        request=name,
        changes=changes,
    )


def _can_stand_in(reader: Reader) -> bool:
    """Whether the engine of a stored crawl can be made from what is stored alone."""
    return "py:" not in stored_config(reader.meta()).match


def _tell_ended(directory: Path | str, request: Steer, progress: Progress | None) -> SteerReply:
    """Have a crawl that has ended take in what somebody says of its pages; nothing is fetched for it, and it
    stays as ended as it was."""
    with contextlib.ExitStack() as opened:
        store = opened.enter_context(open_store(directory))
        crawl, archive = _engine(store, opened, time.time())
        changes = request.changes(crawl.in_force)
        refold = crawl.prepare(*changes)
        if refold is None or archive is None:
            raise UsageError(
                "feedback is not taken in where no replies are kept: pages cannot be judged anew"
            )
        for seq in refolding(crawl, store, archive, refold):
            if progress is not None:
                progress(seq, crawl.tracer.count)
        store.save(crawl.command(changes, time.time(), refold))
        store.flush()
        decision = crawl.tracer.count
    message = f"done, as decision {decision}; the crawl has ended, and nothing was fetched"
    return SteerReply(state="applied", message=message, decision=decision)


def _await(
    inbox: Inbox, name: str, folder: Path, timeout: float | None, progress: Progress | None
) -> SteerReply | None:
    """The answer to a request; None when the crawl ended without one."""
    until = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        # Looked at before the answer is: it may come just before the crawl ends.
        alive = owner_of(folder) is not None
        found = _answer(inbox.answered(name))
        if found is not None and found.get("state") == "working" and progress is not None:
            with contextlib.suppress(TypeError, ValueError):
                progress(int(found.get("done", 0)), int(found.get("total", 0)))
        if found is not None and found.get("state") in ("applied", "refused"):
            inbox.forget(name)
            reply = SteerReply(
                state=found["state"],
                message=str(found.get("message", "")),
                request=name,
                decision=found.get("decision"),
            )
            if reply.state == "refused":
                raise UsageError(reply.message)
            return reply
        if not alive:
            return None
        if time.monotonic() >= until:
            return SteerReply(
                state="working",
                message="the crawl has not finished with it yet: it goes on with it, and clew status tells",
                request=name,
            )
        time.sleep(_POLL)


def applied(decision: int) -> str:
    """The answer to a request that was obeyed."""
    return json.dumps({"state": "applied", "decision": decision, "message": f"done, as decision {decision}"})


def refused(why: str) -> str:
    """The answer to a request that cannot be obeyed."""
    return json.dumps({"state": "refused", "message": why})


def working(done: int, total: int) -> str:
    """The answer to a request that takes a while."""
    return json.dumps({"state": "working", "done": done, "total": total})


def is_final(answer: str | None) -> bool:
    """Whether nothing more will be said."""
    found = _answer(answer)
    return found is not None and found.get("state") in ("applied", "refused")


def _answer(text: str | None) -> dict[str, Any] | None:
    try:
        found = json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def check(reader: Reader, request: Steer) -> InForce:
    """Refuse what can be seen to be wrong from outside; gives what is in force."""
    in_force = steered(reader)
    request.changes(in_force)
    if request.match is not None:
        for text in formulas(request.match).values():
            refuse_unknown_topics(text, kept_topics(reader.meta()) or TopicLibrary())
    for url in request.feedback:
        if reader.page(url) is None:
            raise UsageError(f"{url} was not fetched: feedback is for pages that were")
    return in_force


def require_unfinished(reader: Reader, request: Steer, directory: Path | str) -> None:
    """Refuse to steer a crawl that has ended, unless that is what is to change."""
    reason = reader.meta().get("stopped")
    if reason in _RESTING:
        return
    counts = reader.counts()
    used = {
        "pages": counts.pages,
        "matches": counts.matched,
        "requests": counts.requests,
        "bytes": counts.wire,
    }
    ended = "interest" if reason == "nothing interesting" else reason if reason in LIMITS else "stop"
    if ended in request.limits and reason != "frontier empty":
        limit = request.limits[ended]
        if isinstance(limit, int | float) and ended in used and limit <= used[ended]:
            raise UsageError(f"{ended}: {limit} are used up already ({used[ended]} so far): give more")
        return
    again = (
        f"clew crawl -d {directory} --{reason} MORE goes on"
        if reason in LIMITS
        else "begin another crawl, with --use of this one"
        if reason == "frontier empty"
        else f"clew crawl -d {directory} --stop RULE goes on"
    )
    raise UsageError(
        f"the crawl in {directory} has ended ({reason}), and nothing was changed: {again}; or give "
        f"{'--' + ended + ' MORE' if reason in LIMITS else 'what lets it go on'} here, too"
    )


def steered(reader: Reader, config: CrawlConfig | None = None) -> InForce:
    """What is in force in a stored crawl, which may be running: its settings and what was commanded since."""
    found = settings_in_force(stored_config(reader.meta()) if config is None else config)
    for entry in reader.journal():
        if '"command":' in entry.entry and (change := commands.loads(entry.entry, found)) is not None:
            found = found.after(change)
    return found


def settings_in_force(config: CrawlConfig) -> InForce:
    """What a crawl begins with, of that which can be commanded."""
    text = config.match
    with contextlib.suppress(ClewError):
        text = canonical(config.match, allow_python=True)
    weights = {} if isinstance(config.weights, str) else config.weights
    if weights:
        weights = checked_weights(find(config.strategy), weights)
    return InForce(
        budget=rules_of(config).budget, weights=weights, focus=text, match=text, strategy=config.strategy
    )


def preview_of(
    directory: Path | str | Reader, request: Steer, *, progress: Progress | None = None
) -> Preview:
    """What a request would move, worked out beside the crawl, from what it has saved; changes nothing."""
    with contextlib.ExitStack() as opened:
        reader = (
            opened.enter_context(open_reader(directory)) if isinstance(directory, str | Path) else directory
        )
        check(reader, request)
        crawl, archive = _engine(reader, opened)
        changes = request.changes(crawl.in_force)
        before = _open_scores(crawl)
        finds = crawl.tally.matches
        refold = crawl.prepare(*changes)
        if refold is not None:
            if archive is None:
                raise UsageError("what would move cannot be worked out: no replies are kept here")
            for seq in refolding(crawl, reader, archive, refold):
                if progress is not None:
                    progress(seq, crawl.tracer.count)
        crawl.command(changes, 0.0, refold)
        judged = refold is not None and bool(refold.judged)
        return _compared(crawl, *before, (finds, crawl.tally.matches) if judged else None)


def _engine(
    reader: Reader, opened: contextlib.ExitStack, now: float = 0.0
) -> tuple[Crawl, Callable[..., Any] | None]:
    """The engine as it stands in a store."""
    config = stored_config(reader.meta())
    if "py:" in config.match:
        raise UsageError(
            "the formula of this crawl names Python code to import, and that is not done on a file's word: "
            "it can be steered, but not previewed"
        )
    saved = reader.snapshot()
    if saved is None:
        raise UsageError("the crawl has not begun: nothing waits that could move")
    crawl = crawl_of(config, reader)
    commanded = foresee(crawl, reader)
    restore(crawl, saved, now)
    recall_confidence(crawl, reader)
    replies = reader.replies()
    if replies is not None:
        opened.enter_context(contextlib.closing(replies))
    if replies is None or not crawl.strategy.capabilities.relearns:
        for entry in commanded:
            crawl.repeat(entry)
    else:
        for _ in relearning(crawl, reader, replies.get, go_on=True, commanded=commanded):
            pass
    return crawl, None if replies is None else replies.get


def _open_scores(crawl: Crawl) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    frontier = crawl.frontier
    ids = np.flatnonzero(frontier.states[: frontier.count] == State.QUEUED)
    banned = [host.number for host in crawl.hosts.list if host.excluded]
    ids = ids[~np.isin(frontier.hosts[ids], banned)]
    return ids, frontier.scores[ids].copy()


def _compared(
    crawl: Crawl, ids: NDArray[np.int64], old: NDArray[np.float64], finds: tuple[int, int] | None
) -> Preview:
    """The candidates that gain and lose most places, the more so the further ahead."""
    kept, _ = _open_scores(crawl)
    new = crawl.frontier.scores[ids].copy()
    # A host that is banned falls behind everything.
    new[~np.isin(ids, kept)] = -np.inf
    places = [np.empty(len(ids), np.int64) for _ in range(2)]
    for place, scores in zip(places, (old, new), strict=True):
        place[np.lexsort((ids, -scores))] = np.arange(1, len(ids) + 1)
    gain = np.log(places[0]) - np.log(places[1])
    order = np.argsort(-gain, kind="stable")

    def told(rows: Sequence[int]) -> tuple[MovedCandidate, ...]:
        return tuple(
            MovedCandidate(
                crawl.url_of(int(ids[row])),
                float(old[row]),
                float(new[row]) if np.isfinite(new[row]) else 0.0,
                int(places[0][row]),
                int(places[1][row]),
            )
            for row in rows
        )

    return Preview(
        waiting=len(ids),
        moved=int((old != new).sum()),
        rises=told([row for row in order[:_SHOWN].tolist() if gain[row] > 0]),
        falls=told([row for row in order[::-1][:_SHOWN].tolist() if gain[row] < 0]),
        finds=finds,
    )
