"""A suite: several experiments in one file, which share their strategies and may keep a log of every look.

Topics that a crawler was tuned on say little of it, and topics that are looked at often are tuned on in the
end. So a suite of topics to judge by names a `log`: a line is written to it when a run begins and one when it
ends, with the date, the commit and the figures, and peeking shows.
"""

from __future__ import annotations

import math
import subprocess
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import xxhash

from clew.errors import ConfigError
from clew.lab.experiment import Experiment
from clew.lab.results import append
from clew.lab.statistics import holm, interval, sign_flip
from clew.lab.summary import ResultTable

WARM = " from warm pages"


@dataclass(frozen=True, slots=True)
class Suite:
    """The experiments of a file, in order, and where looks at them are logged, if anywhere."""

    name: str
    parts: tuple[Experiment, ...]
    whole: bool
    """Whether the file is a single experiment."""
    log: Path | None
    mark: str
    """What changes when the file does."""

    def repeated(self, *, dice: int | None, sets: int | None) -> Suite:
        """This suite with other numbers of dice and of seed sets."""
        parts = tuple(part.repeated(dice=dice, sets=sets) for part in self.parts)
        return Suite(self.name, parts, self.whole, self.log, self.mark)

    def only(self, names: Sequence[str]) -> Suite:
        """The named parts alone."""
        known = [part.name for part in self.parts]
        for name in names:
            if name not in known:
                raise ConfigError(f"{self.name} has no part {name!r}: choose {', '.join(known)}")
        parts = tuple(part for part in self.parts if not names or part.name in names)
        return Suite(self.name, parts, self.whole, self.log, self.mark)

    def place(self, output: Path, part: Experiment) -> Path:
        """Where the results of a part go."""
        return output if self.whole else output / part.name


def load_suite(path: Path) -> Suite:
    """Read a file of one experiment, or of several: what stands above `[[parts]]` goes for each of them."""
    try:
        text = path.read_bytes()
        given = tomllib.loads(text.decode("utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return Suite(path.stem, (Experiment.load(path),), True, None, "")  # it says what is wrong
    log = given.pop("log", "")
    parts = given.pop("parts", None)
    if not isinstance(log, str) or not (parts is None or isinstance(parts, list)):
        raise ConfigError(f"{path}: log is the name of a file, and parts are tables: [[parts]]")
    folder = path.parent.absolute()
    name = str(given.pop("name", path.stem))
    tables = [{}] if parts is None else parts
    found: list[Experiment] = []
    for number, part in enumerate(tables, start=1):
        if not isinstance(part, dict):
            raise ConfigError(f"{path}: part {number} is no table")
        default = name if parts is None else f"part-{number}"
        where = str(path) if parts is None else f"{path}, part {part.get('name', number)}"
        one = Experiment.parse({"name": default} | given | part, where)
        found.append(one.model_copy(update={"corpora": tuple(c.located(folder) for c in one.corpora)}))
    names = [part.name for part in found]
    if len(set(names)) < len(names) or not found:
        raise ConfigError(f"{path}: its parts need names, each another")
    if any("/" in part or part.startswith(".") for part in names if parts is not None):
        raise ConfigError(f"{path}: a part's name is also a folder's: leave out slashes and a dot in front")
    mark = f"{xxhash.xxh3_64_hexdigest(text)}"
    return Suite(name, tuple(found), parts is None, folder / log if log else None, mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """One strategy over all webs of a suite, cold or warm: a mean over topics."""

    starts: str
    strategy: str
    topics: int
    nauc: float
    low: float
    high: float
    difference: float | None
    """Mean difference from the baseline."""
    p: float | None
    """Of the paired permutation test against the baseline, corrected by Holm."""


def overall(tables: Sequence[ResultTable], baseline: str) -> tuple[Overall, ...]:
    """All webs together, cold and warm starts apart; a topic from several kinds of cold starts is one."""
    found: list[Overall] = []
    for starts in ("cold", "warm"):
        mine = [table for table in tables if table.setting.endswith(WARM) == (starts == "warm")]
        longest = {t.setting: max(o.budget for o in mine if o.setting == t.setting) for t in mine}
        values: dict[str, dict[str, list[float]]] = {}
        for table in (table for table in mine if table.budget == longest[table.setting]):
            corpus = table.setting.partition(" from ")[0]
            for row in table.rows:
                for topic, value in row.topics.items():
                    if value is not None:
                        by_topic = values.setdefault(row.strategy, {})
                        by_topic.setdefault(f"{corpus}/{topic}", []).append(value)
        means = {
            name: {topic: math.fsum(some) / len(some) for topic, some in topics.items()}
            for name, topics in values.items()
        }
        found += _compared(starts, means, baseline if baseline in means else next(iter(means), ""))
    return tuple(found)


def _compared(starts: str, means: dict[str, dict[str, float]], base: str) -> list[Overall]:
    gaps = {
        name: [value - means[base][topic] for topic, value in topics.items() if topic in means[base]]
        for name, topics in means.items()
    }
    tested = holm({name: sign_flip(gaps[name]) for name in means if name != base})
    rows = []
    for name, topics in means.items():
        low, high = interval(list(topics.values()))
        rows.append(
            Overall(
                starts=starts,
                strategy=name,
                topics=len(topics),
                nauc=math.fsum(topics.values()) / len(topics),
                low=low,
                high=high,
                difference=math.fsum(gaps[name]) / len(gaps[name]) if name != base and gaps[name] else None,
                p=tested.get(name),
            )
        )
    return rows


def note_look(suite: Suite, event: str, tables: Sequence[ResultTable] = ()) -> None:
    """Write a line to the suite's log, if it has one."""
    if suite.log is None:
        return
    figures = {
        f"{table.setting}, {table.budget} requests": {
            row.strategy: [_short(row.nauc), _short(row.luck.worst_share), _short(row.luck.nothing)]
            for row in table.rows
        }
        for table in tables
    }
    line: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": _commit(suite.log.parent),
        "clew": version("clew"),
        "event": event,
        "suite": suite.name,
        "file": suite.mark,
        "parts": [part.name for part in suite.parts],
        "dice": max(part.dice for part in suite.parts),
        "sets": max(rule.sets for part in suite.parts for rule in part.seeds),
        "strategies": list(dict.fromkeys(s.label for part in suite.parts for s in part.strategies)),
    }
    append(suite.log, line | ({"figures": figures} if tables else {}))


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _commit(folder: Path) -> str:
    """The commit that is checked out where the log is, with a + if files differ from it."""
    try:
        asked = [
            subprocess.run(
                ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=20, check=True
            ).stdout.strip()
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
        ]
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return asked[0] + ("+" if asked[1] else "")
