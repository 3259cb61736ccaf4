"""`TaxonomyFolder`: topics on disk, as plain files that can be versioned and sent.

topics/
  taxonomy.toml            clew-taxonomy = 1
  positive/                optional: pages about nothing in particular, which teach every topic what it is not
  tourism/                 a topic is a folder with a topic.toml
    topic.toml             kind = "linear", and keywords with their weights
    positive/  negative/   its examples
    model.json             what was learned
    rügen/                 a subtopic, tourism.rügen
"""

from __future__ import annotations

import json
import shutil
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clew.errors import StoreForeign, UsageError
from clew.topic import ANY, KINDS, Example, Taxonomy, TopicLibrary, TopicModel, topic_path
from clew.topic.model import MAX_TEXT, dumps, loads
from clew.topic.taxonomy import RESERVED
from clew.training.documents import below, entries, files_of, keep, read_file

NAME = "topics"
FILE, TOPIC, MODEL = "taxonomy.toml", "topic.toml", "model.json"
VERSION = 1
#: Of how many pages one is about a topic, unless the taxonomy says otherwise.
PRIOR = 0.1
_MAX_TOML = 1_000_000


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """What `topic.toml` says of a topic."""

    kind: str = "linear"
    keywords: Mapping[str, float] = field(default_factory=dict)
    """Words that were given by hand; a weight of 0 keeps a word out."""


class TaxonomyFolder:
    """A taxonomy on disk.

    Parameters: the folder. `open` reads an existing one, `create` makes one where there is none.
    """

    def __init__(self, folder: Path, prior: float, topics: Mapping[str, Path]) -> None:
        self.folder = folder
        self.prior = prior
        self._places = dict(topics)
        self.taxonomy = Taxonomy(topics)

    def __repr__(self) -> str:
        return f"TaxonomyFolder({str(self.folder)!r}, {len(self._places)} topics)"

    @classmethod
    def open(cls, folder: Path) -> TaxonomyFolder:
        """Read which topics there are."""
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder} with topics: make one with clew topic new NAME")
        if not (folder / FILE).is_file():
            raise UsageError(f"{folder} is no taxonomy (it has no {FILE}): make one with clew topic new NAME")
        data = _toml(folder / FILE)
        if data.get("clew-taxonomy") != VERSION:
            raise StoreForeign(
                f"{folder / FILE} does not say clew-taxonomy = {VERSION}: it was not written by this version "
                "of clew"
            )
        prior = data.get("prior", PRIOR)
        if not isinstance(prior, float) or not 0.0 < prior < 1.0:
            raise UsageError(f"{folder / FILE}: prior is a share between 0 and 1, such as prior = {PRIOR}")
        return cls(folder, prior, dict(_topics(folder, "", {str(folder.resolve())})))

    @classmethod
    def create(cls, folder: Path) -> TaxonomyFolder:
        """The taxonomy in a folder, which is made if there is none."""
        if not (folder / FILE).is_file():
            if folder.exists() and (not folder.is_dir() or any(entries(folder))):
                raise UsageError(f"{folder} is there and is no taxonomy: give another --topics DIR")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / FILE).write_text(f"clew-taxonomy = {VERSION}\nprior = {PRIOR}\n", "utf-8")
        return cls.open(folder)

    @property
    def paths(self) -> tuple[str, ...]:
        """The topics that have a file of their own, in order."""
        return tuple(sorted(self._places))

    def find(self, name: str) -> str:
        """The path of a topic by its name; an error names the nearest."""
        path = self.taxonomy.find(name)
        if path != ANY and path not in self._places:
            raise UsageError(f"{path} has subtopics and no {TOPIC}: clew topic new {path}")
        return path

    def add(self, name: str, settings: TopicSettings) -> TaxonomyFolder:
        """Make a topic; gives the taxonomy with it."""
        path = topic_path(name)
        if path in self._places:
            raise UsageError(f"the topic {path} is there already: add examples with clew topic add {path}")
        for above in [*self.taxonomy.above(path)[::-1], path]:
            if above not in self._places:
                place = self.folder.joinpath(*above.split("."))
                place.mkdir(parents=True, exist_ok=True)
                self._write(place, settings if above == path else TopicSettings())
        return TaxonomyFolder.open(self.folder)

    def remove(self, path: str) -> None:
        """Delete a topic's folder: examples, model and subtopics."""
        place = self._places[path]
        if place.is_symlink():
            place.unlink()
        else:
            shutil.rmtree(place)

    def settings(self, path: str) -> TopicSettings:
        """What a topic's file says."""
        place = self._places[path] / TOPIC
        data = _toml(place)
        kind, keywords = data.get("kind", "linear"), data.get("keywords", {})
        if kind not in KINDS:
            raise UsageError(f"{place}: kind is one of {', '.join(KINDS)}")
        if not isinstance(keywords, dict) or not all(_is_weight(weight) for weight in keywords.values()):
            raise UsageError(f"{place}: keywords have weights from 0 to 1000, such as sail = 2")
        return TopicSettings(kind, {word: float(weight) for word, weight in keywords.items()})

    def change(self, path: str, kind: str | None = None, keywords: Mapping[str, float] | None = None) -> None:
        """Set a topic's kind, or add keywords."""
        now = self.settings(path)
        wanted = replace(now, kind=kind or now.kind, keywords={**now.keywords, **(keywords or {})})
        if wanted != now:
            self._write(self._places[path], wanted)

    def keep(self, path: str, examples: Iterable[Example], *, negative: bool = False) -> tuple[int, int]:
        """Copy examples into a topic's folder: how many, and how many of them were there already."""
        folder = self._place(path) / ("negative" if negative else "positive")
        news = [keep(example, folder)[1] for example in examples]
        return len(news), news.count(False)

    def examples(self, side: str = "positive") -> dict[str, list[Example]]:
        """The examples of every topic, and of ANY."""
        return {path: self.own_examples(path, side) for path in (ANY, *self._places)}

    def own_examples(self, path: str, side: str = "positive") -> list[Example]:
        """The examples a topic has itself."""
        folder = self._place(path) / side
        return [read_file(file) for file in files_of(folder)] if folder.is_dir() else []

    def count(self, path: str, side: str = "positive") -> int:
        """How many examples a topic has itself, unread."""
        folder = self._place(path) / side
        return len(files_of(folder)) if folder.is_dir() else 0

    def model(self, path: str) -> TopicModel | None:
        """A topic's model; None before it is trained."""
        place = self._places.get(path)
        file = place / MODEL if place is not None else None
        if file is None or not file.is_file():
            return None
        if file.stat().st_size > 4 * MAX_TEXT:
            raise StoreForeign(
                f"{file} is too large for a model: train the topic again with clew topic train"
            )
        try:
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise StoreForeign(
                f"{file} cannot be read: train the topic again with clew topic train"
            ) from None
        return loads(text, str(file))

    def save(self, path: str, model: TopicModel) -> None:
        """Write a topic's model, whole or not at all."""
        file = self._places[path] / MODEL
        beside = file.with_name(MODEL + ".part")
        beside.write_text(dumps(model), "utf-8")
        beside.replace(file)

    def library(self, likes: Mapping[str, TopicModel] | None = None) -> TopicLibrary:
        """Every topic that has a model, for formulas."""
        models = {path: model for path in self._places if (model := self.model(path)) is not None}
        return TopicLibrary(self.taxonomy, models, likes or {}, str(self.folder))

    def _place(self, path: str) -> Path:
        return self.folder if path == ANY else self._places[path]

    def _write(self, place: Path, settings: TopicSettings) -> None:
        lines = [f'kind = "{settings.kind}"']
        if settings.keywords:
            lines += ["", "# Words and their weights; 0 keeps a word out.", "[keywords]"]
            lines += [
                f"{json.dumps(word, ensure_ascii=False)} = {w!r}" for word, w in settings.keywords.items()
            ]
        (place / TOPIC).write_text("\n".join(lines) + "\n", "utf-8")


def find_taxonomy(topics: Path | None) -> Path | None:
    """The folder with topics: the one given, or `topics` here if it is one."""
    here = Path(NAME)
    return topics if topics is not None else here if (here / FILE).is_file() else None


def read_library(topics: Path | None) -> TopicLibrary:
    """What formulas may name: the topics of the folder given, or of `topics` here; none if there is
    neither."""
    folder = find_taxonomy(topics)
    return TopicLibrary() if folder is None else TaxonomyFolder.open(folder).library()


def _topics(folder: Path, path: str, above: set[str]) -> Sequence[tuple[str, Path]]:
    """Every topic below a folder, with its own folder."""
    found: list[tuple[str, Path]] = []
    for name, is_folder in entries(folder):
        if not is_folder or name in RESERVED:
            continue
        place = folder / name
        real = below(place, above)
        here = topic_path(f"{path}.{name}" if path else unicodedata.normalize("NFC", name))
        inner = _topics(place, here, above | {real})
        if (place / TOPIC).is_file():
            found.append((here, place))
        elif not inner:
            raise UsageError(
                f"{place} is no topic (it has no {TOPIC}): make it one with clew topic new {here}"
            )
        found.extend(inner)
    return found


def _toml(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _MAX_TOML:
            raise StoreForeign(f"{file} is larger than {_MAX_TOML // 10**6} MB: it was not written by clew")
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise StoreForeign(
            f"{file} cannot be read: {str(error)[:200]}; mend it, or make the topic again"
        ) from None


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1000
