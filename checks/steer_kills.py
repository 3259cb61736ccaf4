"""SIGKILLs in the middle of steering: is a request lost, is one obeyed twice?

    .venv/bin/python checks/steer_kills.py [--kills 50] [--pages 1500] [--json]

Runs `clew crawl` as a user would, over a site on loopback. Each time it is under way a request to steer it is
left in its inbox (another formula, several by name, another strategy, weights, a boost, feedback, a host
banned, a pause and its end), and at a random moment of the next tenths of a second, or while it learns anew
for it, it is killed and started again. At last it ends by itself. Bars: every request stands in the journal
once, whole and in the order they were made; what is in force in the end is what they say together; all are
answered; and no page is lost or stored twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kills import PYTHON, left_behind, start
from loopback import Site, serving
from verdict import arguments, ended

from clew.engine import commands
from clew.run.build import rules_of
from clew.run.config import CrawlConfig
from clew.run.settings import stored_config
from clew.run.steering import Steer, is_final, steered
from clew.store import open_reader
from clew.store.inbox import Inbox


def command(site: Site, directory: Path, given: argparse.Namespace) -> list[str]:
    """The crawl, as typed; the second time the same words resume it."""
    line = [str(PYTHON.with_name("clew")), "crawl", site.seed, "-m", "site*", "-d", str(directory)]
    line += ["--pages", "none", "--concurrency", "8", "--delay", "0", "--parse-workers", "0"]
    return [*line, "--own", "127.0.0.1", "--allow-private", "127.0.0.1", "--strategy", "best-first"]


def request(number: int, directory: Path, dice: random.Random) -> Steer:
    """The request of a number: each kind in its turn, and none like another."""
    kinds: list[dict[str, Any]] = [
        {"boost": {f"*/{number}*": 1.0 + number}},
        {"match": "site* OR page"},
        {"ban_host": f"h{number}.example"},
        {"strategy": "intelligent"},
        {"weights": {"content": 1.0 + number, "url": 0.5}},
        {"match": {"all": "site*", "few": f"site*{number % 10}page"}},
        {"feedback": {_page(directory, dice): bool(number % 2)}},
        {"match": "site*"},
        {"strategy": "best-first", "boost": {f"*/{number}*": 2.0}, "ban_host": f"h{number}.example"},
        {"requests": 1_000_000 + number},
    ]
    return Steer.of(**kinds[number % len(kinds)])


def _page(directory: Path, dice: random.Random) -> str:
    with open_reader(directory) as reader:
        return dice.choice([page.url for page in reader.pages(text=False)])


def kill_many(site: Site, directory: Path, given: argparse.Namespace) -> list[tuple[str, Steer, bool]]:
    """Steer, kill, start again; gives of each request its name, what it says, and whether the crawl was
    killed before it had answered."""
    dice = random.Random(given.seed)
    log = directory.with_suffix(".log")
    posted: list[tuple[str, Steer, bool]] = []
    for number in range(given.kills):
        process = start(command(site, directory, given), log)
        before, deadline = len(site.log), time.monotonic() + 120
        share = max(1, (site.pages - before) // (given.kills - number + 2))
        goal = before + (max(40, share) if number == 0 else dice.randint(1, share))
        while len(site.log) < goal and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        wanted = request(number, directory, dice)
        inbox = Inbox(directory)
        name = inbox.post(wanted.dumps())
        # A request is looked for four times a second; one in three is killed while it is worked on.
        patience = time.monotonic() + dice.uniform(0.0, 0.7)
        working = dice.random() < 0.33
        while time.monotonic() < patience + (20.0 if working else 0.0) and process.poll() is None:
            if working and inbox.answered(name) is not None:
                time.sleep(dice.uniform(0.0, 0.05))
                break
            time.sleep(0.002)
        amid = process.poll() is None and not is_final(inbox.answered(name))
        process.send_signal(signal.SIGKILL)
        process.wait()
        posted.append((name, wanted, amid))
    return posted


def verdict(site: Site, directory: Path, posted: list[tuple[str, Steer, bool]]) -> dict[str, Any]:
    """The figures, from the journal, the inbox and the pages."""
    with open_reader(directory) as reader:
        entries = [json.loads(entry.entry) for entry in reader.journal() if '"request"' in entry.entry]
        found = steered(reader)
        begun = _begun(stored_config(reader.meta()))
        pages = Counter(page.url for page in reader.pages(text=False))
        told = [decision for decision in reader.decisions() if decision.kind == "command"]
        # That a strategy was taught again for a formula is a command of the crawl's own.
        decisions = sum('"request"' in decision.reasons[0] for decision in told)
        taught = sum(decision.result == "retaught" for decision in told)
    obeyed = Counter(entry["request"] for entry in entries)
    order = list(dict.fromkeys(entry["request"] for entry in entries))
    wanted, expected, sizes = begun, 0, dict[str, int]()
    for name, steer, _ in posted:
        changes = steer.changes(wanted)
        sizes[name] = len(changes)
        for change in changes:
            wanted, expected = wanted.after(change), expected + 1
    inbox = Inbox(directory)
    return {
        "kills": len(posted),
        "killed_before_the_answer": sum(amid for _, _, amid in posted),
        "lost": sum(name not in obeyed for name in sizes),
        "twice": sum(obeyed[name] > size for name, size in sizes.items()),
        "half": sum(0 < obeyed[name] < size for name, size in sizes.items()),
        "out_of_order": int(order != [name for name, _, _ in posted]),
        "commands": len(entries),
        "commands_in_trace": decisions,
        "commands_expected": expected,
        "taught_again_later": taught,
        "in_force": int(_plain(found) != _plain(wanted)),
        "unanswered": sum(not is_final(inbox.answered(name)) for name in sizes),
        "waiting": len(list(inbox.waiting())),
        "pages": len(pages),
        "pages_lost": site.pages - len(pages),
        "pages_twice": sum(count - 1 for count in pages.values()),
    }


def _begun(config: CrawlConfig) -> commands.InForce:
    """What was in force before anything was commanded."""
    budget = rules_of(config).budget
    return commands.InForce(budget, {}, config.match, config.match, config.strategy)


def _plain(found: commands.InForce) -> tuple[Any, ...]:
    return found.match, found.strategy, dict(found.weights), dict(found.boosts), found.budget, found.paused


def wrong(found: dict[str, Any]) -> list[str]:
    """What a crawl that was killed while it was steered must not show."""
    bad = {
        "requests lost": found["lost"],
        "requests obeyed twice": found["twice"],
        "requests obeyed by half": found["half"],
        "requests obeyed in another order": found["out_of_order"],
        "commands that the trace lacks or has twice": found["commands"] - found["commands_in_trace"],
        "commands more or fewer than were asked for": found["commands"] - found["commands_expected"],
        "what is in force is not what was asked for": found["in_force"],
        "requests that were not answered": found["unanswered"],
        "requests that wait": found["waiting"],
        "pages lost": found["pages_lost"],
        "pages stored twice": found["pages_twice"],
        "exit code of the last run": found["exit_code"],
        "processes left behind": found["orphans"],
    }
    return [f"{what}: {count}" for what, count in bad.items() if count]


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Kill a crawl while it is steered, again and again, and look for damage.")
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--latency", type=float, default=0.02, help="seconds the server takes to answer")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ.pop("CLEW_CONFIG", None)
    site = Site(given.pages, latency=given.latency)
    with tempfile.TemporaryDirectory() as place, serving(site):
        directory = Path(place) / "crawl"
        posted = kill_many(site, directory, given)
        end = start(command(site, directory, given), Path(place) / "end.log")
        code = end.wait(timeout=900)
        if code:
            print((Path(place) / "end.log").read_text()[-2000:], file=sys.stderr)
        found = verdict(site, directory, posted) | {"exit_code": code, "orphans": len(left_behind())}
    lines = [f"  {name.replace('_', ' ')}: {value}" for name, value in found.items()]
    failures = wrong(found)
    if given.kills >= 10 and not found["killed_before_the_answer"]:
        failures.append("no kill struck before a request was answered")
    return ended(given, "steer_kills", found["kills"], failures, found, lines)


if __name__ == "__main__":
    sys.exit(main())
