"""Runs the acceptance checks: each attacks clew in one way and says what it tried and what failed.

    python checks/run.py                          every check, one after the other
    python checks/run.py --only kills --only ssrf
    python checks/run.py --only chaos --json -- --pages 90      words after -- go to the check

A check is a script in this folder with `main(argv) -> int`, whose last line is `name: N tried, M failed`. It
is found by that; nothing need be registered. Exit code 1 if any check failed, tried nothing, or could not be
run.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
_LAST = re.compile(r"^(?P<name>[\w-]+): (?P<tried>\d+) tried, (?P<failed>\d+) failed$")


@dataclass(frozen=True, slots=True)
class Ran:
    """How one check went."""

    name: str
    tried: int
    failed: int
    exit_code: int
    seconds: float
    said: str

    @property
    def passed(self) -> bool:
        """A check that tried nothing proves nothing."""
        return self.exit_code == 0 and self.tried > 0 and self.failed == 0


def checks(folder: Path = HERE) -> dict[str, Path]:
    """The checks in a folder by name: scripts that have a `main`, this one left out."""
    found = {
        path.stem: path
        for path in sorted(folder.glob("*.py"))
        if re.search(r"^def main\(", path.read_text("utf-8"), re.M)
    }
    found.pop(Path(__file__).stem, None)
    return found


def run(name: str, path: Path, words: Sequence[str], quiet: bool) -> Ran:
    """Run one check in a process of its own, passing on what it prints."""
    began = time.monotonic()
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, str(path), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if not quiet:
                print(f"  {lines[-1]}", flush=True)
    last = _LAST.match(lines[-1]) if lines else None
    return Ran(
        name=name,
        tried=int(last["tried"]) if last else 0,
        failed=int(last["failed"]) if last else 0,
        exit_code=process.returncode,
        seconds=round(time.monotonic() - began, 1),
        said="\n".join(lines),
    )


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    at = words.index("--") if "--" in words else len(words)
    words, more = words[:at], words[at + 1 :]
    parser = argparse.ArgumentParser(description="Run the acceptance checks.")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="may be given again")
    parser.add_argument("--json", action="store_true", help="one JSON list of the results, and nothing else")
    parser.add_argument("--folder", type=Path, default=HERE, help="where the checks are")
    given = parser.parse_args(words)
    known = checks(given.folder)
    for name in given.only:
        if name not in known:
            parser.error(f"there is no check {name!r}: choose from {', '.join(known)}")
    results = []
    for name in given.only or known:
        if not given.json:
            print(f"{name} …", flush=True)
        results.append(run(name, known[name], more, given.json))
    if given.json:
        print(json.dumps([{**asdict(one), "passed": one.passed} for one in results], indent=1))
    else:
        print(f"\n{'check':<20}{'tried':>8}{'failed':>8}{'seconds':>9}")
        for one in results:
            mark = "" if one.passed else f"   FAILED (exit {one.exit_code})"
            print(f"{one.name:<20}{one.tried:>8}{one.failed:>8}{one.seconds:>9.1f}{mark}")
    return 0 if all(one.passed for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
