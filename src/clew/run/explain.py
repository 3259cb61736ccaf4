"""`explain`: why a URL was fetched when it was, is waiting, or was left out.

What was decided is read from the store (the candidate, the trace); what was never a candidate is
put through the same scope and robots rules again, which give the same answer as they gave then.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any

from clew import native
from clew import url as urls
from clew.engine.commands import columns_of
from clew.errors import ClewError, StoreForeign, UsageError
from clew.frontier.host import Host
from clew.frontier.robots import Rules, product_token, unavailable
from clew.messages import Decision, State, Via
from clew.policy.confidence import DEMOTION, SUSPENDED
from clew.policy.traps import Traps
from clew.predicate.interests import formulas
from clew.run.build import visits_of
from clew.run.config import CrawlConfig
from clew.run.exploration import LinkYield, ScoreSplit, ScoreSplitter, link_yield
from clew.run.factor_report import FactorReport, factor_report
from clew.run.recall_confidence import counted
from clew.run.settings import stored_config
from clew.store.base import CandidateRow, PageRow, Reader
from clew.strategy import STRATEGIES, find
from clew.strategy.options import read
from clew.strategy.per_interest import parts_for

_FATES = {
    State.QUEUED: "waiting",
    State.LEASED: "under way",
    State.FETCHED: "fetched",
    State.FAILED: "failed",
    State.DROPPED: "left out",
    State.REDIRECTED: "redirected",
}
#: Why a page was left out, in words.
REASONS = {
    "robots": "robots.txt of its host does not allow it",
    "robots-waits": "robots.txt of its host cannot be had now; it is asked for again before anything else",
    "no-robots": "robots.txt of its host could not be read, and so nothing there is allowed",
    "scope": "it is outside the scope of the crawl (--scope)",
    "exclude": "an exclude pattern matches it (--exclude)",
    "include": "no include pattern matches it (--include)",
    "depth": "it is too many links from the seeds (--depth)",
    "type": "it is of a type that is not wanted (--types)",
    "pruned": "no page that satisfies what is sought links to it (--prune)",
    "not-followed": "the strategy goes by people's visits alone, not by links",
    "redirects": "too many redirects in a row",
    "seed-list": "it is a sitemap: the pages it lists are seeds in its stead",
    "bad-url": "the address it points to is no web address",
    "host-banned": "its host was banned while the crawl was under way",
    "host-excluded": "its host failed too often and was given up",
    "soft-404": "it is an error page served as a success, or of a kind that mostly are (--traps)",
    "mirror": "its host serves the pages of another, where this one is known (--traps)",
    "trap:calendar": "it is a page of a calendar that led nowhere (--traps)",
    "trap:copies": "pages of its kind are mostly copies of others (--traps)",
    "trap:deep": "its path is too deep (--traps)",
    "trap:farm": "pages of its kind say the same few words and lead to more of the same (--traps)",
    "trap:hosts": "its domain has ever more hosts with nothing of their own (--traps)",
    "trap:query": "its query grows with every step (--traps)",
    "trap:redirect": "pages of its kind all redirect to one place (--traps)",
    "trap:repeat": "its path repeats itself (--traps)",
    "trap:session": "pages of its kind are mostly copies under random names (--traps)",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The story of one URL."""

    url: str
    fate: str
    """`fetched`, `waiting`, `failed`, `left out`, `redirected` or `never seen`."""
    why: str
    """One sentence."""
    found: str = ""
    """How it came to be known."""
    score: float | None = None
    parts: tuple[tuple[str, float], ...] = ()
    """Contributions by name; they sum to the score."""
    decisions: tuple[Decision, ...] = ()
    page: PageRow | None = None
    notes: tuple[str, ...] = field(default=())
    factors: FactorReport | None = None
    """For a strategy that learns: rank, runner-up and the evidence of every factor."""
    split: ScoreSplit | None = None
    """Whether it was chosen for what was known of it or to explore, where the strategy can tell."""
    led_to: LinkYield | None = None
    """What became of its links, where that is told and it was fetched."""

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, *, full: bool = False) -> list[str]:
        """The explanation for people; of what was learned the three strongest reasons, or all when `full`."""
        out = [self.url, f"  {self.fate}: {self.why}"]
        if self.found:
            out.append(f"  found    {self.found}")
        if self.score is not None:
            told = self.parts if full or self.factors is None else ()
            sums = " + ".join(f"{name} {value:.4g}" for name, value in told)
            out.append(f"  score    {self.score:.4g}" + (f" = {sums}" if sums else ""))
        for decision in self.decisions:
            status = f", HTTP {decision.status}" if decision.status else ""
            out.append(
                f"  chosen   as decision {decision.seq}, {decision.queue} waiting: {decision.result}{status}"
            )
        if self.split is not None and self.split.explored:
            out += [f"  tried    {self.split}", *[f"  taught   {lesson}" for lesson in self._lessons()]]
        if self.page is not None:
            whose = f" for {', '.join(self.page.interests)}" if self.page.interests else ""
            out.append(f"  verdict  {self.page.score:.4g}{f' (a find{whose})' if self.page.matched else ''}")
            out.extend(f"    {reason}" for reason in self.page.reasons)
        if self.factors is not None:
            out.extend(self.factors.lines(full=full))
        out.extend(f"  note     {note}" for note in self.notes)
        return out

    def _lessons(self) -> list[str]:
        """What came of trying it."""
        if self.page is None:
            return ["there is no page"] if self.fate == _FATES[State.FAILED] else []
        found = "a find" if self.page.matched else "no find"
        return [found if self.led_to is None else f"{found}; {self.led_to}"]

    def as_dict(self) -> dict[str, Any]:
        """The explanation for programs."""
        page = self.page
        return {
            "url": self.url,
            "fate": self.fate,
            "why": self.why,
            "found": self.found,
            "score": self.score,
            "parts": dict(self.parts),
            "decisions": [
                {
                    "seq": d.seq,
                    "at": d.at,
                    "attempt": d.attempt,
                    "score": d.score,
                    "queue": d.queue,
                    "status": d.status,
                    "result": d.result,
                    "reasons": list(d.reasons),
                }
                for d in self.decisions
            ],
            "verdict": page.score if page else None,
            "matched": page.matched if page else None,
            "interests": list(page.interests) if page else [],
            "terms": list(page.reasons) if page else [],
            "notes": list(self.notes),
            "learned": self.factors.as_dict() if self.factors else None,
            "exploration": self.split.as_dict() if self.split else None,
            "led_to": asdict(self.led_to) if self.led_to else None,
        }


def explain(store: Reader, url: str, *, config: CrawlConfig | None = None) -> Explanation:
    """Tell the story of a URL, given as it is typed or seen on a page."""
    canonical = urls.canonical(url)
    if canonical is None:
        raise UsageError(f"{url!r} is not an http or https address")
    if config is None:
        config = stored_config(store.meta())
    notes = () if canonical == url else (f"looked up as {canonical}",)
    row = store.candidate(canonical)
    if row is None:
        return _never_seen(store, canonical, config, notes)
    decisions = tuple(store.trace_of(canonical))
    page = store.page(canonical)
    parts = _chosen_parts(decisions) or row.terms
    at = next((d.seq for d in reversed(decisions) if d.terms), None)
    names = _columns(store, config, at)
    if at is None:
        # What waits is stored without these.
        names = tuple([name for name in names if name not in ("boost", SUSPENDED)])
    suspended = _suspended(store, config, row, names, parts, at)
    if suspended and at is None:
        parts, names = (*parts, -DEMOTION), (*names, SUSPENDED)
    lost = _host_refusal(store, row.host) if row.state in (State.QUEUED, State.DROPPED) else None
    shut = row.reason == "robots" and _no_robots(_robots_status(store, canonical))
    if lost or shut:
        notes = (*notes, *_last_failure(store, row.host))
    why = REASONS["no-robots"] if shut else _why(row, page)
    if lost and row.state is State.QUEUED:
        why = REASONS[lost]
    elif row.state is State.QUEUED and unavailable(_robots_status(store, canonical)):
        why = REASONS["robots-waits"]
        notes = (*notes, *_last_failure(store, row.host))
    elif suspended and at is None:
        why = f"it waits behind all that is not {suspended} (--confidence)"
    elif suspended:
        notes = (*notes, f"when it was chosen, nothing better was at hand: {suspended}")
    factors, led_to = None, None
    split = None if at is None or row.via == Via.SEED else _splitter(store, config, at).split(parts)
    try:
        led_to = link_yield(store, row.id) if split is not None and page is not None else None
        factors = _factor_report(store, config, row, decisions)
    except StoreForeign as error:
        notes = (*notes, f"what was known when it was chosen cannot be worked out: {error}")
    return Explanation(
        canonical,
        "left out" if lost else _FATES[row.state],
        why,
        found=_found(row),
        score=native.left_sum(parts) if parts else row.score,
        # A crawl of an older clew had other columns, whose names are not known any more.
        parts=tuple(zip(names, parts, strict=True)) if len(names) == len(parts) else (),
        decisions=decisions,
        page=page,
        notes=notes,
        factors=factors,
        split=split,
        led_to=led_to,
    )


def _columns(store: Reader, config: CrawlConfig, before: int | None) -> tuple[str, ...]:
    """What the contributions to a score were called when a decision was made, or are now: commands may have
    changed that."""
    names = part_names(config)
    for entry in store.journal():
        if before is None or entry.after < before:
            names = columns_of(entry.entry) or names
    return names


def _splitter(store: Reader, config: CrawlConfig, before: int) -> ScoreSplitter:
    """What told contributions apart when a decision was made."""
    splitter = ScoreSplitter(config.strategy, part_names(config))
    for entry in store.journal():
        if entry.after < before:
            splitter = splitter.after(entry.entry)
    return splitter


def part_names(config: CrawlConfig) -> tuple[str, ...]:
    """What the contributions are called, which for some strategies is the user's choice."""
    if config.strategy not in STRATEGIES:
        return ()
    strategy = find(config.strategy)
    weights = {} if isinstance(config.weights, str) else config.weights
    options = read(config.strategy, strategy.options, config.strategy_options())
    parts = strategy.parts_of(weights, options, reuses=bool(config.use), visits=config.visits is not None)
    names = [name for name in formulas(config.match) if name]
    parts = parts_for(names, parts) if names else parts
    return parts if config.confidence is None else (*parts, SUSPENDED)


def _suspended(
    store: Reader,
    config: CrawlConfig,
    row: CandidateRow,
    names: tuple[str, ...],
    parts: tuple[float, ...],
    at: int | None,
) -> str:
    """Why a candidate was suspended when it was chosen, or is while it waits; empty if it was not."""
    if config.confidence is None or (at is None and row.state is not State.QUEUED):
        return ""
    known = dict(zip(names, parts, strict=True)) if len(names) == len(parts) else {}
    if at is not None and not known.get(SUSPENDED):
        return ""
    return counted(store, config.confidence, before=at)[0].why(row.id)


def _factor_report(
    store: Reader, config: CrawlConfig, row: CandidateRow, decisions: tuple[Decision, ...]
) -> FactorReport | None:
    """The learned grounds, where there are any and the archive is at hand."""
    if not find(config.strategy).capabilities.explains:
        return None
    visits = store.meta().get("visits")
    if visits:
        try:
            log = visits_of(config)
        except ClewError:
            return None
        if log is None or log.digest != visits:
            # The strategy would learn something else by now.
            return None
    before = next((d.seq for d in reversed(decisions) if d.terms), None)
    if before is None and row.state is not State.QUEUED:
        return None
    return factor_report(store, config, row.id, before)


def _chosen_parts(decisions: tuple[Decision, ...]) -> tuple[float, ...]:
    """What it was worth at the moment it was chosen last."""
    return next((d.terms for d in reversed(decisions) if d.terms), ())


def _found(row: CandidateRow) -> str:
    anchor = f" as “{row.anchor}”" if row.anchor else ""
    if row.via == Via.VISITS:
        after = f", when {row.source} was fetched" if row.source else ""
        return f"by people's visits{after}"
    place = f" on {row.source}" if row.source else ""
    return f"by {row.via}{place}{anchor}, {row.depth} link{'' if row.depth == 1 else 's'} from a seed"


def _why(row: CandidateRow, page: PageRow | None) -> str:
    if row.state is State.FETCHED and page is not None:
        if page.matched:
            return "it satisfies the formula"
        if page.duplicate_of:
            return f"it repeats {page.duplicate_of}{' nearly' if page.near else ''}, so it is not counted"
        if page.satisfied:
            return "it satisfies the formula, but asks not to be indexed (robots: noindex)"
        return "it does not satisfy the formula"
    if row.state is State.QUEUED:
        again = f" (tried before: {row.reason})" if row.reason else ""
        return f"nothing has put it first yet{again}"
    if row.state is State.REDIRECTED and row.reason == "redirect":
        return "it leads to another address, which is followed in its place"
    return REASONS.get(row.reason, row.reason or "no reason recorded")


def _never_seen(store: Reader, url: str, config: CrawlConfig, notes: tuple[str, ...]) -> Explanation:
    from clew.run.build import rules_of

    if near := _nearest(store, url):
        notes = (*notes, f"the nearest URL that is known is {near}")
    reason = rules_of(config).scope.check(url, 0) or _given_up(store, url, config)
    if reason is not None:
        notes = (*notes, *_last_failure(store, urls.host(url))) if reason == "host-excluded" else notes
        return Explanation(url, "left out", REASONS.get(reason, reason), notes=notes)
    if not _robots_allow(store, url, config):
        return Explanation(
            url, "never seen", f"no fetched page links to it, and {REASONS['robots']}", notes=notes
        )
    hint = (
        "no fetched page links to it, or every link to it was too deep or marked nofollow"
        if config.depth is not None or config.nofollow
        else "no fetched page links to it"
    )
    return Explanation(url, "never seen", hint, notes=notes)


def _nearest(store: Reader, url: str) -> str | None:
    """The known URL that was likely meant: another way to write it, or one much like it that was tried."""
    scheme, _, rest = url.partition("://")
    plain = rest.removeprefix("www.")
    for place in (rest, plain, f"www.{plain}"):
        for ending in (place, place.removesuffix("/"), f"{place.removesuffix('/')}/"):
            for way in (scheme, "http" if scheme == "https" else "https"):
                known = urls.canonical(f"{way}://{ending}")
                if known is not None and known != url and store.candidate(known) is not None:
                    return known
    tried: dict[str, dict[str, None]] = {}
    for line in store.decisions():
        if line.kind in ("page", "drop"):
            tried.setdefault(urls.host(line.url), {})[line.url] = None
    host = urls.host(url)
    hosts = [host] if host in tried else get_close_matches(host, tried, n=1, cutoff=0.8)
    close = [near for name in hosts for near in get_close_matches(url, tried[name], n=1, cutoff=0.8)]
    return close[0] if close else None


def _host_refusal(store: Reader, host: str) -> str | None:
    """Why a host was given up, if it was; what is queued for it may not have been closed before the end."""
    row = next((row for row in store.hosts() if row.host == host), None)
    if row is None:
        return None
    known = Host(host, 0, False, 0.0, 1)
    known.recall(row)
    return known.refusal


def _last_failure(store: Reader, host: str) -> tuple[str, ...]:
    """What the host said, or did not say, when it was asked last."""
    last: Decision | None = None
    for line in store.decisions():
        if line.result in ("failed", "parked", "retry") and urls.host(line.url) == host:
            last = line
    if last is None:
        return ()
    return ("its host when last asked: " + (": ".join(filter(None, last.reasons)) or f"HTTP {last.status}"),)


def _given_up(store: Reader, url: str, config: CrawlConfig) -> str | None:
    """Why its host, or its kind of page, was given up, if it was: by what is remembered."""
    host = urls.host(url)
    traps = Traps(on=config.traps)
    row = next((row for row in store.hosts() if row.host == host), None)
    if row is not None:
        known = Host(host, 0, False, 0.0, 1)
        known.recall(row)
        if known.excluded:
            return known.refusal
        traps.restore(host, known.notes.get("traps"))
    return traps.check(url, host)


def _robots_allow(store: Reader, url: str, config: CrawlConfig) -> bool:
    if config.ignore_robots and config.owns(urls.host(url)):
        return True
    known = _robots(store, url)
    return known is None or Rules.parse(*known, product_token(config.user_agent)).allowed(url)


def _no_robots(status: int) -> bool:
    return status == 0 or unavailable(status)


def _robots_status(store: Reader, url: str) -> int:
    """What the server said when it was asked for robots.txt; 0 when it could not be reached."""
    known = _robots(store, url)
    return 404 if known is None else known[0]


def _robots(store: Reader, url: str) -> tuple[int, bytes] | None:
    """Status and body of the robots.txt that speaks for a URL, if it is known."""
    host, origin = urls.host(url), urls.origin(url)
    rows = [row for row in store.hosts() if row.host == host]
    found = [(status, body) for row in rows for place, status, _, body in row.robots or () if place == origin]
    return found[0] if found else None
