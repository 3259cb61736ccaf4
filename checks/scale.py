"""Large crawls, watched from outside: do memory, descriptors and stalls stay within what is promised?

    .venv/bin/python checks/scale.py [--case long] [--case hosts] [--share 0.1] [--json]

    long        20,000 pages with `intelligent`: what a page adds beyond the 5,000th, and all are stored
    hosts       10,000 hosts through one proxy with 256 file descriptors: no host is blamed for them
    candidates  300,000 candidates of one host: what each adds
    links       pages of 100,000 links: read in part, judged, and the loop goes on

Each runs `clew crawl` as a user would, over a site on loopback, and is held to the bounds printed beside what
was measured. A stall is the processor time of the crawl's first thread between two requests (`watching.py`).
With `--share` everything is smaller by that factor; what a page or a candidate adds says little then.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loopback import FANOUT, Site, serving
from verdict import arguments, ended
from watching import Sample, Stalls, watched

CLEW = str(Path(sys.executable).with_name("clew"))
#: More pages than any crawl here will ask for.
ENDLESS = 10**60
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


@dataclass(slots=True)
class Novel(Site):
    """Pages whose vocabulary grows with every page, as that of real text does."""

    def html(self, number: int) -> bytes:
        dice = random.Random(number)
        # Ranks by a power law: a few words are everywhere, every page has some that no other has.
        ranks = [int(dice.paretovariate(0.6)) for _ in range(self.words)]
        words = " ".join(_word(rank) for rank in ranks)
        near = range(number * FANOUT + 1, min(number * FANOUT + 1 + FANOUT, self.pages))
        far = [dice.randrange(self.pages) for _ in range(self.links - FANOUT)]
        links = "".join(f'<li><a href="/{i}">{_word(i)} {_word(i % 97)}</a>' for i in [*near, *far])
        start = f"<!doctype html><html lang=en><title>{_word(number)} {number}</title>"
        return f"{start}<p>{self.token(number)} {words}</p><ul>{links}</ul></html>".encode()


def _word(rank: int) -> str:
    word = ""
    while rank:
        rank, digit = divmod(rank, len(_SYLLABLES))
        word += _SYLLABLES[digit]
    return word or "o"


@dataclass(slots=True)
class Hosts(Site):
    """One page a host, behind a proxy: host n links to its children and a few others."""

    def url(self, number: int) -> str:
        return f"http://h{number}.example/{number}"

    def path(self, target: bytes) -> bytes:
        return target.rpartition(b"/")[2]

    def html(self, number: int) -> bytes:
        dice = random.Random(number)
        near = range(number * FANOUT + 1, min(number * FANOUT + 1 + FANOUT, self.pages))
        far = [dice.randrange(self.pages) for _ in range(4)]
        links = "".join(f'<li><a href="{self.url(i)}">to number {i}</a>' for i in [*near, *far])
        return f"<!doctype html><title>Host {number}</title><p>{self.token(number)}<ul>{links}</ul>".encode()


@dataclass(slots=True)
class Lists(Site):
    """Pages that are lists of links to other lists and little else, without end."""

    each: int = 1000

    def html(self, number: int) -> bytes:
        first = number * self.each + 1
        links = "".join(f'<a href="/{i}">{_word(i)}</a>\n' for i in range(first, first + self.each))
        return f"<!doctype html><title>List {number}</title><p>{self.token(number)}</p>{links}".encode()


@dataclass(slots=True)
class Case:
    """One crawl: the site, what is said to it besides, and what must hold of it."""

    site: Site
    words: list[str]
    bounds: Callable[[Measured], dict[str, tuple[float, float]]]
    """Of each measure, what it was and what it may be at most."""
    descriptors: int | None = None


@dataclass(slots=True)
class Measured:
    """What was seen of one crawl."""

    pages: int = 0
    failed: int = 0
    queued: int = 0
    exit_code: int = 0
    seconds: float = 0.0
    stall: float = 0.0
    samples: list[Sample] = field(default_factory=list, repr=False)

    @property
    def memory(self) -> float:
        """Megabytes of the crawl and its workers, at most."""
        return max(sample.rss_mb for sample in self.samples)

    @property
    def files(self) -> int:
        return max(sample.files for sample in self.samples)

    @property
    def added(self) -> float:
        """Bytes that the crawl's own process took from its first page to its peak."""
        return 2**20 * (max(sample.main_mb for sample in self.samples) - self.samples[0].main_mb)

    def growth(self, since: int) -> float:
        """Kilobytes that each page after the `since`-th added to the crawl's own process.

        From the means of the first and of the last tenth, so that no single sample decides.
        """
        later = [sample for sample in self.samples if sample.pages >= since]
        tenth = max(1, len(later) // 10)
        first, last = later[:tenth], later[-tenth:]
        pages = sum(s.pages for s in last) / len(last) - sum(s.pages for s in first) / len(first)
        grown = sum(s.main_mb for s in last) / len(last) - sum(s.main_mb for s in first) / len(first)
        return 1024 * grown / max(1.0, pages)


def cases(share: float) -> dict[str, Case]:
    """The crawls, by name, smaller by a factor."""

    def sized(count: int) -> int:
        return max(20, round(count * share))

    own = ["--own", "127.0.0.1", "--allow-private", "127.0.0.1"]
    pages, hosts, lists, long_lists = sized(20_000), sized(10_000), sized(300), max(3, round(20 * share))
    return {
        "long": Case(
            Novel(pages, words=200, links=20),
            [*own, "--strategy", "intelligent"],
            lambda seen: {
                "pages not stored": (pages - seen.pages, 0),
                "KB a page beyond the first quarter": (seen.growth(pages // 4), 2.0),
                "MB in all": (seen.memory, 400),
                "descriptors": (seen.files, 120),
                "longest stall, CPU seconds": (seen.stall, 2.0),
            },
        ),
        "hosts": Case(
            Hosts(hosts),
            ["--own", "*", "--strategy", "breadth-first"],
            lambda seen: {
                "pages not stored": (hosts - seen.pages, 0),
                "hosts blamed": (seen.failed, 0),
                "MB in all": (seen.memory, 400),
                "descriptors": (seen.files, 256),
                "longest stall, CPU seconds": (seen.stall, 2.0),
            },
            descriptors=256,
        ),
        "candidates": Case(
            Lists(ENDLESS, each=1000),
            [*own, "--strategy", "intelligent", "--pages", str(lists)],
            lambda seen: {
                "candidates missing": (1000 * lists - seen.queued - seen.pages, 0),
                "bytes a candidate, all told": (seen.added / max(1, seen.queued), 2500),
                "MB in all": (seen.memory, 800),
                "descriptors": (seen.files, 120),
                "longest stall, CPU seconds": (seen.stall, 2.0),
            },
        ),
        "links": Case(
            Lists(ENDLESS, each=100_000),
            [*own, "--strategy", "intelligent", "--pages", str(long_lists)],
            lambda seen: {
                "pages not stored": (long_lists - seen.pages, 0),
                "MB in all": (seen.memory, 600),
                "descriptors": (seen.files, 120),
                "longest stall, CPU seconds": (seen.stall, 2.0),
            },
        ),
    }


def measure(case: Case, every: float) -> Measured:
    """Run one crawl and look at it until it ends."""
    site, stalls = case.site, Stalls()
    site.told = stalls
    with tempfile.TemporaryDirectory() as place, serving(site):
        directory = Path(place) / "crawl"
        line = [CLEW, "crawl", site.seed, "-m", "site*", "-d", str(directory), "--delay", "0"]
        line += ["--concurrency", "32", "--no-traps", *case.words]
        line += [] if "--pages" in case.words else ["--pages", "none"]
        if case.descriptors is not None:
            line += ["--proxy", f"http://127.0.0.1:{site.port}"]
        line = _limited(line, case.descriptors)
        began = time.monotonic()
        code, samples = watched(
            line, directory, lambda: len(site.log), every=every, begun=lambda pid: setattr(stalls, "pid", pid)
        )
        seen = Measured(exit_code=code, seconds=round(time.monotonic() - began, 1), samples=samples)
        from clew.store import open_reader

        with open_reader(directory) as reader:
            counts = reader.counts()
        seen.pages, seen.failed, seen.queued = counts.pages, counts.failed, counts.queued
        if code:
            print(directory.with_suffix(".out").read_text(errors="replace")[-2000:], file=sys.stderr)
    seen.stall = round(stalls.longest, 3)
    return seen


def _limited(line: list[str], descriptors: int | None) -> list[str]:
    """A command with so many file descriptors; `exec`, so that the process stays the one that is watched."""
    if descriptors is None:
        return line
    return ["/bin/sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *line]


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Large crawls, watched from outside.")
    parser.add_argument("--case", action="append", choices=list(cases(1)), help="may be given again")
    parser.add_argument("--share", type=float, default=1.0, help="of the size of everything")
    parser.add_argument("--every", type=float, default=0.25, help="seconds between looks")
    given = parser.parse_args(argv)
    # Whoever ends this ends the crawl with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ.pop("CLEW_CONFIG", None)
    # The site serves from this process: it must be able to have more connections than the crawl.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    tried, failures, told = 0, [], {}
    for name, case in cases(given.share).items():
        if given.case and name not in given.case:
            continue
        seen = measure(case, given.every)
        held = {"exit code": (float(seen.exit_code), 0.0), **case.bounds(seen)}
        tried += len(held)
        failures += [
            f"{name}: {what}: {was:g}, at most {most:g}" for what, (was, most) in held.items() if was > most
        ]
        told[name] = {**asdict(seen), "bounds": held}
        del told[name]["samples"]
        if not given.json:
            print(
                f"{name}: {seen.pages} pages in {seen.seconds} s, {seen.queued} candidates left", flush=True
            )
            for what, (was, bound) in held.items():
                print(f"    {what:<36}{was:>12.4g}   at most {bound:g}", flush=True)
    figures = {"tried": tried, "failures": failures, "cases": told}
    return ended(given, "scale", tried, failures, figures)


if __name__ == "__main__":
    sys.exit(main())
