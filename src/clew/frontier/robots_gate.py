"""`RobotsGate`: robots.txt, asked for before the first page of an origin, obeyed ever after.

robots.txt is fetched like anything else: as a task, at the host's pace. A redirect of it is another
task, at the pace of the host it leads to. While it is under way its host offers nothing. Where it cannot be
had, after a few tries in half a minute, the origin is parked (`clew.frontier.parked`) and asked again, at
rests that double, for as long as the crawl lives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from clew import url as urls
from clew.errors import RETRY, Reason
from clew.frontier.host import RETRY_AFTER
from clew.frontier.hosts import Host, Hosts, Politeness, Robots
from clew.frontier.parked import ParkedOrigins
from clew.frontier.robots import NOTHING, Rules, unavailable
from clew.messages import Outcome

_HOPS = 5
REDIRECT_STATUS = frozenset({301, 302, 303, 307, 308})
BUSY_STATUS = frozenset({429, 503})
_UNREACHABLE = 0
_PATIENCE = 0.1
_DOUBLINGS = 12
#: Times that robots.txt is asked for again when nothing else is left to do; with rests that double, two and a
#: half minutes, and where it was read before some hours.
_AGAIN = 4
_AGAIN_WHERE_READ = 12
#: Bytes from which a robots.txt is large (one in fifty is), what it takes in memory for each byte at most,
#: and what all large ones together may take.
LARGE = 32 * 1024
_UNFOLDED = 10
LARGE_TOGETHER = 256 * 1024 * 1024

SitemapsNamed = Callable[[str, tuple[str, ...]], None]
"""Is told of an origin and the sitemaps its robots.txt names."""


class RobotsGate:
    """Says of a URL that it may be fetched (`yes`), may not (`no`), that robots.txt is first (`ask`), or that
    it cannot be had now (`wait`)."""

    def __init__(
        self,
        hosts: Hosts,
        politeness: Politeness,
        parked: ParkedOrigins,
        on_sitemaps: SitemapsNamed = lambda origin, names: None,
    ) -> None:
        self.hosts = hosts
        self.parked = parked
        self.politeness = politeness
        self.on_sitemaps = on_sitemaps
        self.evicted: list[Host] = []
        """Hosts of which a large robots.txt was forgotten since someone last looked."""
        self._under_way: dict[int, tuple[Host, Host, str]] = {}
        self._large: dict[tuple[int, str], int] = {}
        """Size of each large robots.txt, by host and origin, the one used last at the end."""
        self._together = 0

    def check(self, host: Host, url: str, now: float) -> Literal["yes", "no", "ask", "wait"]:
        """Whether this URL of this host may be fetched now."""
        if host.own and not self.politeness.own_robots:
            return "yes"
        origin = urls.origin(url)
        parked = self.parked.get(origin)
        if parked is not None:
            return "wait" if now < parked.until else "ask"
        known = host.robots.get(origin)
        if known is None or now - known.at > self.politeness.robots_age or unavailable(known.status):
            return "ask"
        if len(known.body) >= LARGE:
            self._large[host.number, origin] = self._large.pop((host.number, origin))
        return "yes" if known.rules.allowed(url) else "no"

    def ask(self, host: Host, url: str, task: int, now: float) -> tuple[str, int] | None:
        """Where to ask for the robots.txt behind this URL, and the number of the attempt.

        None when the host it has been redirected to is not free; this host rests until it may be.
        """
        origin = urls.origin(url)
        target, _, attempt = host.robots_from.setdefault(origin, (f"{origin}/robots.txt", 0, 0))
        asked = self.asked_host(host, origin)
        if asked is not host and asked.excluded:
            del host.robots_from[origin]
            self.learn(host, origin, _UNREACHABLE, now, b"")
            return None
        if asked is not host and not self.hosts.free(asked, now):
            self.hosts.rest(host, max(self.hosts.ready_at(asked), now + max(asked.delay, _PATIENCE)))
            return None
        host.blocked = True
        self.hosts.touch(host.number)
        self.hosts.begin(asked)
        self._under_way[task] = (host, asked, origin)
        return target, attempt

    def asked_host(self, host: Host, origin: str) -> Host:
        """The host that will be asked for an origin's robots.txt: itself, unless it has redirected us."""
        known = host.robots_from.get(origin)
        return host if known is None else self.hosts[self.hosts.number(urls.host(known[0]))]

    def settle(self, outcome: Outcome, now: float) -> tuple[Host, str]:
        """Take in a reply to `ask`; gives the host it was for, and what came of it in a word."""
        host, asked, origin = self._under_way.pop(outcome.task.id)
        _, hops, attempt = host.robots_from.pop(origin)
        if not outcome.cached:
            asked.requests += 1
        host.blocked = False
        self.hosts.touch(host.number)
        reason = failure(outcome)
        # A busy server is not asked for its robots.txt as patiently as for a page: everything else waits.
        reason = Reason.SERVER_ERROR if reason is Reason.BUSY else reason
        rule = RETRY.get(reason) if reason else None
        parked = self.parked.get(origin)
        if parked is not None and reason is not None and outcome.status > 0:
            # A host that goes on saying "not now" to one request an hour is not given up for it.
            self.hosts.silent.clear()
            rest = asked_rest(asked, outcome)
        else:
            rest = health(self.hosts, asked, outcome)
        outage = self.hosts.outage and not asked.excluded
        if asked.excluded:
            rule = None
        if reason is not None and rule is not None and (outage or (attempt < rule.times and parked is None)):
            backoff = 0.0 if outcome.retry_after else self.hosts.backoff(reason, min(attempt, _DOUBLINGS))
            rest = max(backoff, rest)
            self.hosts.end(asked, now, rest)
            self.hosts.rest(host, now + rest)
            host.robots_from[origin] = (outcome.task.url, hops, attempt + 1)
            return host, "retry"
        self.hosts.end(asked, now, rest)
        if outcome.status in REDIRECT_STATUS and hops < _HOPS:
            target = urls.canonical(outcome.location, outcome.task.url)
            if target is not None:
                host.robots_from[origin] = (target, hops + 1, 0)
                return host, "redirect"
        # A redirect that leads nowhere counts as "no robots.txt", as RFC 9309 2.3.1.2 allows.
        status = 404 if outcome.status in REDIRECT_STATUS else outcome.status
        status = _UNREACHABLE if outcome.error else status
        if rule is not None and (status != _UNREACHABLE or parked is not None or self._read(host, origin)):
            failed = attempt if parked is None else max(attempt, parked.attempts)
            self._park(host, origin, status, now, failed, rest)
            return host, "parked"
        # A host with a bad certificate is there: what it serves by plain HTTP may be as good as any.
        if status == _UNREACHABLE and host.mute and outcome.error is not Reason.TLS:
            host.excluded = host.unsaved = True
        self.learn(host, origin, status, now, outcome.body)
        return host, "ok" if 200 <= status < 300 else "none" if status and not unavailable(
            status
        ) else "failed"

    def _park(self, host: Host, origin: str, status: int, now: float, failed: int, rest: float) -> None:
        """Have an origin wait for its robots.txt, twice as long as the last time."""
        before = self.parked.get(origin)
        patience = _AGAIN_WHERE_READ if self._read(host, origin) else _AGAIN
        patience = patience if before is None else before.patience
        backoff = RETRY[Reason.SERVER_ERROR].rest * 2 ** min(failed, _DOUBLINGS)
        until = now + min(max(rest, backoff), self.politeness.longest_rest)
        host.robots.pop(origin, None)
        if status != _UNREACHABLE:
            host.robots[origin] = Robots(status, now, b"", NOTHING)
        self._evict(host, origin, 0)
        self.parked.park(host, origin, until=until, attempts=failed + 1, patience=patience)

    @staticmethod
    def _read(host: Host, origin: str) -> bool:
        """Whether this origin has ever said what it allows: it is there, whatever ails it now."""
        known = host.robots.get(origin)
        return known is not None and known.status > 0 and not unavailable(known.status)

    def learn(self, host: Host, origin: str, status: int, at: float, body: bytes) -> None:
        """Take in an origin's robots.txt."""
        body = body if 200 <= status < 300 else b""
        host.robots[origin] = Robots(status, at, body, Rules.parse(status, body, self.politeness.agent))
        self._evict(host, origin, len(body))
        host.robots_delay(self.politeness)
        self.parked.release(origin)
        self.on_sitemaps(origin, host.robots[origin].rules.sitemaps)

    def _evict(self, host: Host, origin: str, size: int) -> None:
        """Forget the large files that were not needed for longest: they are asked for again when they are.

        Hosts are cheap to make up, and each may have half a megabyte of rules.
        """
        self._together -= self._large.pop((host.number, origin), 0)
        if size < LARGE:
            return
        self._large[host.number, origin] = size
        self._together += size
        while self._together * _UNFOLDED > LARGE_TOGETHER:
            number, oldest = next(iter(self._large))
            self._together -= self._large.pop((number, oldest))
            del self.hosts[number].robots[oldest]
            self.evicted.append(self.hosts[number])

    def abandon(self, task: int) -> None:
        """The request will not be made after all."""
        host, asked, _ = self._under_way.pop(task)
        host.blocked = False
        self.hosts.touch(host.number)
        self.hosts.undo(asked)


def failure(outcome: Outcome) -> Reason | None:
    """The reason a reply is no use, if it is none."""
    if outcome.error is not None:
        return outcome.error
    if outcome.status in BUSY_STATUS:
        return Reason.BUSY
    return Reason.SERVER_ERROR if outcome.status >= 500 else None


def asked_rest(host: Host, outcome: Outcome) -> float:
    """The seconds that a reply asks to be left alone for, which its host remembers across a restart."""
    asked = outcome.retry_after or 0.0
    if asked or RETRY_AFTER in host.notes:
        host.note(RETRY_AFTER, asked)
    return asked


def health(hosts: Hosts, host: Host, outcome: Outcome) -> float:
    """Take a reply's good or bad into the host's health; gives the rest the host needs beyond its delay."""
    asked = asked_rest(host, outcome)
    reason = failure(outcome)
    if reason is None:
        hosts.well(host, 0.0 if outcome.cached else outcome.elapsed)
        return asked
    if reason not in RETRY:
        # A page that is no page, or a name that may not be visited: not the host's fault.
        return asked
    return max(asked, hosts.unwell(host, replied=outcome.status > 0, busy=reason is Reason.BUSY))
