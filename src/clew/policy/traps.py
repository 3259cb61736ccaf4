"""`Traps`: spaces of pages without end get a small share of the crawl, and no more.

Three kinds of evidence, from the surest to the most patient:

- A URL that repeats itself or grows with every step is left out at once (`trap:repeat`, `trap:query`,
  `trap:deep`).
- Pages of one shape (see `clew.policy.url_shape`) are on trial together. Copies, error pages, and pages that
  say the same few words and lead to nothing but more of their kind count against the shape; finds and pages
  with something new to say count for it. A shape with many bad pages and few good ones is closed, and its
  candidates are left out (`trap:calendar`, `trap:session`, `trap:farm`, `trap:copies`, `soft-404`,
  `trap:redirect`).
- A domain with bad pages on ever more hosts is closed for those of its hosts that have given nothing good
  (`trap:hosts`). Short of that, nothing is held against a host: its other pages are fetched as before.

The cost is a few character counts for a link to a host without closed shapes, a look at the first folder for
the others, and at the whole shape where something in that folder is closed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from clew.policy.url_shape import dated, folder, folder_of, shapes
from clew.url import site

_SEGMENTS = 20
_REPEATS = 3
_PARAMETERS = 24
_GROWN = 4
_NAMES = 4
_LOOKED_AT = 200
_OUTWARD = 4
#: Trials of one host that are kept with the crawl: all are written down with every page that goes badly.
_KEPT = 128


class Worth(StrEnum):
    """What a fetched page was good for, as far as its shape is concerned."""

    FIND = "find"
    GOOD = "good"
    """A page that says something of its own."""
    COPY = "copy"
    """The very text of another page."""
    NEAR = "near"
    """Nearly the text of another page."""
    EMPTY = "empty"
    """Few words of its own, which another page of the host has said before."""
    ERROR = "soft-404"
    SINK = "sink"
    """A redirect to where the last one led, too."""


@dataclass(frozen=True, slots=True)
class TrapLimits:
    """When a shape is closed: so many bad pages, and so many times more than good ones."""

    bad: float = 8.0
    ratio: float = 3.0
    wide_bad: float = 24.0
    wide_ratio: float = 8.0
    hosts: int = 24
    """Hosts of one domain that gave bad pages and no good ones, after which more of them are not tried."""
    near: float = 0.25
    """What a near copy that leads to nothing new of its kind counts."""
    barren: float = 0.1
    """What a page with nothing to say that leads to nothing new of its kind counts."""


@dataclass(slots=True)
class ShapeRecord:
    """The record of one shape of one host."""

    good: int = 0
    bad: float = 0.0
    causes: dict[str, float] = field(default_factory=dict)
    sink: str = ""
    closed: str = ""
    """The reason, once it is closed."""


class Traps:
    """Knows which URLs lead into traps.

    >>> traps = Traps()
    >>> traps.check("http://a.example/a/b/a/b/a/b/", "a.example")
    'trap:repeat'
    >>> for i in range(9):
    ...     closed = traps.met(f"http://a.example/x?visit={i}", "a.example", Worth.COPY)
    >>> traps.check("http://a.example/x?visit=10", "a.example")
    'trap:copies'
    >>> traps.check("http://a.example/y", "a.example")
    """

    def __init__(self, *, on: bool = True, limits: TrapLimits | None = None) -> None:
        self.on = on
        self.limits = limits or TrapLimits()
        self._trials: dict[str, dict[str, ShapeRecord]] = {}
        self._bad: dict[str, dict[str, ShapeRecord]] = {}
        """The trials that went badly, the worst of them where there are many."""
        self._good: set[str] = set()
        """Hosts that have given something good."""
        self._closed: dict[str, dict[str, str]] = {}
        self._folders: dict[str, set[str | None]] = {}
        self._suspects: dict[str, dict[str, None]] = {}
        self._farms: set[str] = set()

    def __repr__(self) -> str:
        closed = sum(len(shapes) for shapes in self._closed.values())
        return f"Traps({len(self._trials)} hosts on trial, {closed} shapes closed)"

    def check(self, url: str, host: str, source: str = "") -> str | None:
        """Why a URL should be left out, in a word; None when it may be fetched. `source` links to it."""
        if not self.on:
            return None
        # Scheme and host have three slashes; nearly all URLs are through after these two counts.
        if url.count("/") > 5 and (why := _deep(url)):
            return why
        if "&" in url and (why := _grown(url, source)):
            return why
        return self.closed(url, host) if host in self._closed or self._farms else None

    def closed(self, url: str, host: str) -> str | None:
        """Why the shape of a URL, or its whole domain, is closed, if it is."""
        if self._farms and site(host) in self._farms and host not in self._good:
            return "trap:hosts"
        known = self._closed.get(host)
        if known is None:
            return None
        folders = self._folders[host]
        if None not in folders and folder(url) not in folders:
            return None
        return next((known[shape] for shape in shapes(url) if shape in known), None)

    def met(self, url: str, host: str, worth: Worth, fresh: Iterable[str] = ()) -> bool:
        """Take in a fetched page and the new links on it; True when it counts against its shape."""
        if not self.on:
            return False
        kinds = shapes(url)
        inward, outward = False, False
        if worth in (Worth.NEAR, Worth.EMPTY) or dated(kinds[0]):
            inward, outward = _ways(kinds[0], host, fresh)
        weight = self._weight(worth, dated(kinds[0]), inward, outward)
        for i, kind in enumerate(kinds):
            self._judge(host, kind, "farm" if inward and weight else worth.value, weight, wide=i > 0)
        if weight > 0:
            self._suspect(host)
        return weight > 0

    def redirected(self, url: str, host: str, target: str) -> bool:
        """Take in a redirect: only one that leads where the last one led is bad."""
        if not self.on:
            return False
        kind = shapes(url)[0]
        trial = self._trial(host, kind)
        same, trial.sink = trial.sink == target, target
        self._judge(host, kind, Worth.SINK.value, 1.0 if same else 0.0)
        return same

    def state(self, host: str) -> list[list[object]]:
        """The trials of a host that went badly, as plain data; the worst of them where there are many."""
        return [
            [shape, trial.good, trial.bad, trial.causes, trial.closed]
            for shape, trial in sorted(self._bad.get(host, {}).items())
        ]

    def restore(self, host: str, state: object) -> None:
        """The opposite of `state`; what is not understood is passed over."""
        for row in state if isinstance(state, list) else ():
            match row:
                case [str(shape), int(good), int() | float() as bad, dict(causes), str(closed)]:
                    known = {str(k): float(v) for k, v in causes.items() if isinstance(v, int | float)}
                    trial = ShapeRecord(good, float(bad), known, "", closed)
                    self._trials.setdefault(host, {})[shape] = trial
                    self._note(host, shape, trial)
                    if good:
                        self._good.add(host)
                    if closed:
                        self._close(host, shape, closed)
                case _:
                    continue

    def _weight(self, worth: Worth, calendar: bool, inward: bool, outward: bool) -> float:
        """How much a page counts against its shape; 0 counts for it."""
        if worth in (Worth.COPY, Worth.ERROR, Worth.SINK):
            return 1.0
        if worth is Worth.FIND:
            return 0.0
        if calendar:
            return 0.0 if outward else 1.0
        if worth is Worth.GOOD or outward:
            return 0.0
        if inward:
            return 1.0
        return self.limits.near if worth is Worth.NEAR else self.limits.barren

    def _judge(self, host: str, kind: str, cause: str, weight: float, *, wide: bool = False) -> None:
        trial = self._trial(host, kind)
        if weight <= 0.0:
            trial.good += 1
            self._good.add(host)
            return
        trial.bad += weight
        cause = "calendar" if dated(kind) else cause
        trial.causes[cause] = trial.causes.get(cause, 0.0) + weight
        limits = self.limits
        bad, ratio = (limits.wide_bad, limits.wide_ratio) if wide else (limits.bad, limits.ratio)
        if not trial.closed and trial.bad >= bad and trial.bad > ratio * trial.good:
            trial.closed = _reason(kind, trial)
            self._close(host, kind, trial.closed)
        self._note(host, kind, trial)

    def _note(self, host: str, kind: str, trial: ShapeRecord) -> None:
        """Remember a trial that went badly; now and then, forget which went least badly."""
        if trial.bad < 1.0:
            return
        noted = self._bad.setdefault(host, {})
        noted[kind] = trial
        if len(noted) >= 2 * _KEPT:
            worst = sorted(noted.items(), key=lambda item: (not item[1].closed, -item[1].bad, item[0]))
            self._bad[host] = dict(worst[:_KEPT])

    def _close(self, host: str, kind: str, reason: str) -> None:
        self._closed.setdefault(host, {})[kind] = reason
        self._folders.setdefault(host, set()).add(folder_of(kind))

    def _suspect(self, host: str) -> None:
        """A host gave a bad page: if it has given no good one, its domain may be a farm of hosts."""
        if host in self._good:
            return
        domain = site(host)
        hosts = self._suspects.setdefault(domain, {})
        hosts[host] = None
        if len(hosts) >= self.limits.hosts:
            bad = [name for name in hosts if name not in self._good]
            self._suspects[domain] = dict.fromkeys(bad)
            if len(bad) >= self.limits.hosts:
                self._farms.add(domain)

    def _trial(self, host: str, kind: str) -> ShapeRecord:
        trials = self._trials.setdefault(host, {})
        found = trials.get(kind)
        if found is None:
            found = trials[kind] = ShapeRecord()
        return found


def _reason(kind: str, trial: ShapeRecord) -> str:
    cause = max(trial.causes, key=lambda name: trial.causes[name])
    if cause == Worth.ERROR:
        return "soft-404"
    if "*" in kind.removesuffix("**"):
        return "trap:session"
    names = {"calendar": "calendar", "farm": "farm", "sink": "redirect", "empty": "farm"}
    return f"trap:{names.get(cause, 'copies')}"


def _ways(kind: str, host: str, fresh: Iterable[str]) -> tuple[bool, bool]:
    """Whether new links lead to pages of the same shape, and whether enough of them lead anywhere else."""
    inward = outward = 0
    here = f"//{host}"
    for target in islice(fresh, _LOOKED_AT):
        if here in target[:300] and shapes(target)[0] == kind:
            inward += 1
        else:
            outward += 1
    return inward > 0, outward > 0 and outward * _OUTWARD >= inward


def _deep(url: str) -> str | None:
    """A path that repeats itself, or has no end."""
    parts = [part for part in url.partition("?")[0].split("/")[3:] if part]
    if len(parts) > _SEGMENTS:
        return "trap:deep"
    if len(parts) < _REPEATS:
        return None
    for part in set(parts):
        # `/a/a/a` may be a shelf mark; numbers repeat in dates.
        if parts.count(part) >= _REPEATS and not part.isdigit() and (len(part) > 1 or len(parts) > 5):
            return "trap:repeat"
    return None


def _grown(url: str, source: str) -> str | None:
    """A query that grows along the way, or that nobody would have typed."""
    path, _, query = url.partition("?")
    count = query.count("&") + 1
    if count > _PARAMETERS:
        return "trap:query"
    if count >= _GROWN and source.startswith(path):
        before, _, earlier = source.partition("?")
        if before == path and earlier and count > earlier.count("&") + 1:
            return "trap:query"
    if count >= _NAMES:
        names = [part.partition("=")[0] for part in query.split("&")]
        if len(names) - len(set(names)) >= _NAMES:
            return "trap:query"
    return None
