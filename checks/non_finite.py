"""Numbers that are none: does knowledge with one of them end a crawl, or in a sentence?

    .venv/bin/python checks/non_finite.py [--pages N]

Every count of a knowledge file is made infinite, no number, negative, beyond all bounds or no count at all,
one after the other, and a crawl of the demo web is begun with it (`--use`); so are weights. Bars: it is
refused with a sentence, or the crawl goes on to the end of its budget; no traceback, and no end for any other
reason.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from verdict import arguments, ended

from clew.cli import main as clew
from clew.knowledge import Knowledge, dumps
from clew.knowledge.counts import TABLES
from clew.lab.demo import DemoWeb
from clew.lab.serve import serving

NUMBERS = ("Infinity", "-Infinity", "NaN", "1e308", "1" + "0" * 400, "1e12", "-1", "5e-324", "true", '"7"')
WEIGHTS = ("nan", "inf", "-inf", "1e308", "1e6")


def knowledge() -> dict[str, Any]:
    """Knowledge as a crawl would leave it, with a word in every table."""
    plain: dict[str, Any] = json.loads(dumps(Knowledge(pages=40, satisfied=10)))
    plain["links"] = [5.0, 4.0, 3.0, 2.0]
    plain["tables"] = {name: [["wind", "farm"], [20.0, 9.0], [8.0, 3.0]] for name in TABLES}
    return plain


def cases() -> Iterator[tuple[str, str]]:
    """A name for each case, and the text of its file."""
    mark = 987654321
    places: dict[str, Callable[[dict[str, Any]], None]] = {
        "pages": lambda plain: plain.update(pages=mark),
        "satisfied": lambda plain: plain.update(satisfied=mark),
        "links": lambda plain: plain["links"].__setitem__(0, mark),
    }
    for table in TABLES:
        for column, name in ((1, "seen"), (2, "hits")):
            places[f"{table}.{name}"] = lambda plain, table=table, column=column: plain["tables"][table][
                column
            ].__setitem__(0, mark)
    for place, change in places.items():
        plain = knowledge()
        change(plain)
        for number in NUMBERS:
            yield f"{place} {number[:9]}", json.dumps(plain).replace(str(mark), number)


def crawl(words: Sequence[str]) -> str:
    """Run one crawl here; gives what was wrong with how it ended, if anything was."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = clew(["crawl", *words])
    text = said.getvalue()
    if "Traceback" in text or "unexpected" in text:
        return text[-300:]
    if code in (1, 2):
        return "" if "clew: " in text else f"refused without a word: {text[-300:]}"
    return "" if "pages used up" in text else text[-300:]


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Crawl with knowledge of numbers that are none.")
    parser.add_argument("--pages", type=int, default=12)
    given = parser.parse_args(argv)
    web, failures, tried = DemoWeb(), [], 0
    with serving(web, stall=1.0) as proxy, tempfile.TemporaryDirectory() as folder:
        common = [*web.seeds()[:2], "-m", "wind", "--proxy", proxy, "--own", "*", "--delay", "0"]
        common += ["--pages", str(given.pages)]
        for name, text in cases():
            file = Path(folder, f"{tried}.json")
            file.write_text(text)
            wrong = crawl([*common, "-d", str(Path(folder, f"crawl-{tried}")), "--use", str(file)])
            failures += [f"{name}: {wrong}"] if wrong else []
            tried += 1
        for weight in WEIGHTS:
            words = [
                *common,
                "-d",
                str(Path(folder, f"crawl-{tried}")),
                "--weights",
                f"content={weight},link=1",
            ]
            wrong = crawl(words)
            failures += [f"weight {weight}: {wrong}"] if wrong else []
            tried += 1
    return ended(given, "non_finite", tried, failures)


if __name__ == "__main__":
    sys.exit(main())
