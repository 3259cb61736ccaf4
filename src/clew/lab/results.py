"""The output directory of an experiment: one JSON line a run and an oracle, appended as they finish.

`runs.jsonl` and `oracles.jsonl` hold nothing that differs from one machine or one number of workers to
another; how long things took is in `timings.jsonl`. A line is written whole or, after a crash, cut off and
ignored, so that an experiment goes on where it stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clew.errors import UsageError
from clew.lab import metrics
from clew.lab.experiment import Experiment


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """What could be found in a case."""

    key: str
    case: str
    targets: int
    reachable: int
    finds: tuple[int, ...]
    """Of the achievable oracle: the request number of each find."""
    bound: tuple[int, ...]
    """Finds that no crawl can exceed after 1, 2, … requests, written as the request at which each comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One strategy in one case, measured."""

    key: str
    corpus: str
    start: str
    topic: str
    set: int
    strategy: str
    budget: int
    targets: int
    reachable: int
    requests: int
    pages: int
    failed: int
    hosts: int
    stop: str
    nauc: float | None
    nauc_bound: float | None
    recall: float | None
    to50: int | None
    to80: int | None
    to90: int | None
    finds: tuple[int, ...]
    parts: dict[str, tuple[float, ...]]
    throw: int = 1
    """Which dice it was run with, from 1; 0 for a strategy that has none."""
    given: tuple[int, ...] = ()
    """Those of `finds` that were seeds."""

    @property
    def first(self) -> int | None:
        """The request that brought the first find that was not given as a seed."""
        return next((at for at in self.finds if at not in self.given), None)

    @property
    def setting(self) -> str:
        """Corpus and kind of seeds: what tables are made for."""
        return f"{self.corpus} from {self.start} pages"

    @property
    def case(self) -> str:
        """The case it was run in."""
        return f"{self.corpus}/{self.start}/{self.topic}/{self.set}"


def measured(finds: tuple[int, ...], oracle: Oracle, budget: int) -> dict[str, float | int | None]:
    """The figures of merit of a find curve at a budget."""
    return {
        "nauc": metrics.nauc(finds, oracle.finds, budget),
        "nauc_bound": metrics.nauc(finds, oracle.bound, budget),
        "recall": metrics.recall(finds, oracle.reachable, budget),
        "to50": metrics.requests_to(0.5, finds, oracle.reachable, budget),
        "to80": metrics.requests_to(0.8, finds, oracle.reachable, budget),
        "to90": metrics.requests_to(0.9, finds, oracle.reachable, budget),
    }


class Results:
    """The files of one experiment."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.runs_path = directory / "runs.jsonl"
        self.oracles_path = directory / "oracles.jsonl"
        self.timings_path = directory / "timings.jsonl"

    def __repr__(self) -> str:
        return f"Results({str(self.directory)!r})"

    def begin(self, experiment: Experiment, keys: Sequence[str]) -> None:
        """Make the directory and note the experiment in it, with the keys of everything it consists of."""
        self.directory.mkdir(parents=True, exist_ok=True)
        text = experiment.model_dump_json(indent=1)
        write_whole(self.directory / "experiment.json", text + "\n")
        write_whole(self.directory / "plan.json", json.dumps(list(keys)) + "\n")

    def _rows(self, path: Path) -> dict[str, dict[str, Any]]:
        """The lines of a file that belong to the experiment, by key, in its order."""
        found = {row["key"]: row for row in read_lines(path) if "key" in row}
        try:
            keys = json.loads((self.directory / "plan.json").read_text("utf-8"))
        except (OSError, ValueError):
            return found
        return {key: found[key] for key in keys if key in found}

    def experiment(self) -> Experiment:
        """The experiment these are results of."""
        path = self.directory / "experiment.json"
        try:
            return Experiment.parse(json.loads(path.read_text("utf-8")), str(path))
        except FileNotFoundError:
            raise UsageError(f"{self.directory} holds no experiment: make one with `clew lab run`") from None
        except ValueError as error:
            raise UsageError(f"{path} cannot be read: {error}") from None

    def add(self, item: RunResult | Oracle) -> None:
        """Append one finished item."""
        path = self.runs_path if isinstance(item, RunResult) else self.oracles_path
        append(path, asdict(item))

    def time(self, key: str, pages: int, cpu: float) -> None:
        """Note how long a run took."""
        append(self.timings_path, {"key": key, "pages": pages, "cpu": round(cpu, 6)})

    def runs(self) -> dict[str, RunResult]:
        """Finished runs by key."""
        return {key: RunResult(**_tuples(row)) for key, row in self._rows(self.runs_path).items()}

    def oracles(self) -> dict[str, Oracle]:
        """Finished oracles by key."""
        return {key: Oracle(**_tuples(row)) for key, row in self._rows(self.oracles_path).items()}

    def timings(self) -> dict[str, tuple[int, float]]:
        """Pages and CPU seconds by key."""
        return {key: (row["pages"], row["cpu"]) for key, row in self._rows(self.timings_path).items()}

    def arrange(self, runs: Iterable[RunResult], oracles: Iterable[Oracle]) -> None:
        """Rewrite the lines in the order given, whatever order they finished in, and without leftovers."""
        for path, items in ((self.runs_path, runs), (self.oracles_path, oracles)):
            write_whole(path, "".join(_line(asdict(item)) for item in items))

    def clear(self) -> None:
        """Forget every run and oracle."""
        for path in (self.runs_path, self.oracles_path, self.timings_path):
            path.unlink(missing_ok=True)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a file; one cut off by a crash is left out."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        found.append(row)
    return found


def append(path: Path, row: dict[str, Any]) -> None:
    """Add a line in one write; a torn last line is ended first, so that it spoils nothing but itself."""
    with path.open("ab+", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        torn = False
        if size:
            file.seek(size - 1)
            torn = file.read(1) != b"\n"
        file.write((b"\n" if torn else b"") + _line(row).encode())


def write_whole(path: Path, text: str) -> None:
    """Write beside, then move: a reader never sees half a file."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    if isinstance(row.get("parts"), dict):
        changed["parts"] = {name: tuple(values) for name, values in row["parts"].items()}
    return row | changed
