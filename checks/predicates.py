"""Predicates in Python that misbehave: does `--time` hold, does Ctrl-C end the crawl, is each told in a
sentence?

    .venv/bin/python checks/predicates.py [--only NAME]

Each function below is the predicate of a crawl of the demo web: in the crawl's own process, interrupted by
Ctrl-C, and in a process of its own (`--predicate-timeout`). Bars: every crawl ends by itself with the exit
code and the words that belong to it, there is no traceback, and the slow ones are named by `clew status`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verdict import arguments, ended

from clew.lab.demo import DemoWeb
from clew.lab.serve import serving

#: Seconds after which a crawl that should have ended has not.
PATIENCE = 90.0


# The predicates.


def sleeps(page: Any) -> float:
    print("asked", file=sys.stderr, flush=True)
    time.sleep(3600)
    return 1.0


def spins(page: Any) -> float:
    print("asked", file=sys.stderr, flush=True)
    while True:
        pass


def stubborn(page: Any) -> float:
    print("asked", file=sys.stderr, flush=True)
    while True:
        try:
            time.sleep(1)
        except BaseException:
            continue


def exits(page: Any) -> float:
    sys.exit(3)


def exits_at_once(page: Any) -> float:
    os._exit(7)


def odd(page: Any) -> float:
    class Odd(BaseException):
        pass

    raise Odd("not an Exception")


def huge(page: Any) -> Any:
    return 10**400


def vast(page: Any) -> Any:
    return 10**5000


def nan(page: Any) -> float:
    return float("nan")


def unshown(page: Any) -> Any:
    class Unshown:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    return Unshown()


def threads(page: Any) -> float:
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return 1.0


def slow(page: Any) -> float:
    time.sleep(1.2)
    return 1.0


@dataclass(frozen=True, slots=True)
class Case:
    """One crawl: the predicate, further options, whether Ctrl-C is pressed, and what must come of it."""

    function: str
    code: int
    said: str
    options: tuple[str, ...] = ()
    press: int = 0
    """How often Ctrl-C is pressed, the first time when the predicate is asked."""
    status: str = ""
    """What `clew status` says."""

    @property
    def name(self) -> str:
        return " ".join([self.function, *self.options, *["Ctrl-C"] * self.press])


TIME, LIMIT = ("--time", "2s"), ("--predicate-timeout", "500ms")
NUMBER = "it must return True, False or a number from 0 to 1"
CASES = (
    Case("sleeps", 3, "time used up", TIME, status="py:predicates:sleeps"),
    Case("spins", 3, "time used up", TIME, status="py:predicates:spins"),
    Case("stubborn", 1, "py:predicates:stubborn cannot be interrupted", TIME),
    Case("sleeps", 130, "interrupted: 0 finds", press=1),
    Case("spins", 130, "interrupted: 0 finds", press=1),
    Case("stubborn", 130, "ended at once", press=2),
    Case("exits", 1, "py:predicates:exits failed on http://"),
    Case("odd", 1, "Odd: not an Exception"),
    Case("huge", 1, NUMBER),
    Case("vast", 1, NUMBER),
    Case("nan", 1, NUMBER),
    Case("unshown", 1, NUMBER),
    Case("threads", 0, "threads that a predicate began"),
    Case("slow", 0, "pages used up", status="py:predicates:slow"),
    Case("sleeps", 3, "pages used up", LIMIT, status="too long for 2 of them"),
    Case("spins", 3, "pages used up", LIMIT, status="too long for 2 of them"),
    Case("stubborn", 3, "pages used up", LIMIT, status="too long for 2 of them"),
    Case("sleeps", 130, "interrupted: 0 finds", ("--predicate-timeout", "1h"), press=1),
    Case("exits", 1, "py:predicates:exits failed on http://", LIMIT),
    Case("exits_at_once", 1, "ended its process on http://", LIMIT),
    Case("huge", 1, NUMBER, LIMIT),
    Case("threads", 0, "pages used up", LIMIT),
)


def crawl(case: Case, proxy: str, seed: str, directory: Path) -> list[str]:
    """Run one case; gives what was wrong with it."""
    clew = [sys.executable, "-m", "clew.cli"]
    words = ["crawl", seed, "-m", f"py:predicates:{case.function}", "-d", str(directory), "--proxy", proxy]
    words += ["--own", "*", "--delay", "0", "--pages", "2", *case.options]
    surroundings = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    lines: list[str] = []
    with subprocess.Popen([*clew, *words], stderr=subprocess.PIPE, text=True, env=surroundings) as process:
        ender = threading.Timer(PATIENCE, process.kill)
        ender.start()
        assert process.stderr is not None
        presses = case.press
        for line in process.stderr:
            lines.append(line)
            if presses and ("asked" in line or "press Ctrl-C again" in line):
                presses -= 1
                process.send_signal(signal.SIGINT)
        code = process.wait()
        ender.cancel()
    said = "".join(lines)
    wrong = [] if code == case.code else [f"{case.name}: exit code {code}, not {case.code}: {said[-300:]}"]
    if case.said not in said:
        wrong.append(f"{case.name}: not told {case.said!r}: {said[-300:]}")
    if "Traceback" in said:
        wrong.append(f"{case.name}: a traceback")
    shown = subprocess.run([*clew, "status", str(directory)], capture_output=True, text=True, check=False)
    if shown.returncode or case.status not in shown.stdout:
        wrong.append(f"{case.name}: status does not say {case.status!r}")
    return wrong


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Crawl with predicates that misbehave.")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="may be given again")
    given = parser.parse_args(argv)
    cases = [case for case in CASES if not given.only or case.function in given.only]
    web, failures = DemoWeb(), []
    with serving(web) as proxy, tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            wrong = crawl(case, proxy, web.seeds()[0], Path(folder, str(number)))
            if not given.json:
                print(f"{case.name:<40}{'failed' if wrong else 'as it should'}", flush=True)
            failures += wrong[:1]
    return ended(given, "predicates", len(cases), failures)


if __name__ == "__main__":
    sys.exit(main())
