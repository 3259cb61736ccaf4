"""`Experiment`: what is to be compared, on what, and how, as read from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from clew.errors import ConfigError
from clew.lab.own_corpus import PYTHON, corpus_name


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusSpec(_Table):
    """A recorded web and the rules of the game on it. In TOML, a name alone will do.

    A corpus of one's own is given by its `path`: a file of pages, a WARC file or folder, a crawl directory.
    """

    name: str
    """One that `open_web` knows; of a corpus given by its path, what it is called in tables."""
    dead_links: Literal["keep", "drop"]
    """Links to what was not recorded: a 404 that costs a request, or not offered at all."""
    robots: Literal["obey", "ignore"] = "obey"
    path: str = ""
    labels: str = ""
    """A file of labels by address, or `py:module:function`, for a corpus given by its path."""
    entry: tuple[str, ...] = ()
    """Where a corpus given by its path starts; at its first page when not given."""

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, given: Any) -> Any:
        given = {"name": given} if isinstance(given, str) else given
        if isinstance(given, dict) and isinstance(given.get("path"), str) and given["path"]:
            given = {"name": corpus_name(Path(given["path"]))} | given
        if isinstance(given, dict) and "dead_links" not in given:
            drop = str(given.get("name", "")).startswith("wikispeedia")
            given = given | {"dead_links": "drop" if drop else "keep"}
        return given

    @model_validator(mode="after")
    def _own(self) -> Self:
        if not self.path and (self.labels or self.entry):
            raise ValueError("labels and entry are for a corpus given by its path")
        return self

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, value) for name, value in super().__repr_args__() if value)

    def located(self, folder: Path) -> CorpusSpec:
        """This corpus with its files looked for in a folder, unless they say where they are."""
        if not self.path:
            return self
        labels = self.labels
        if labels and not labels.startswith(PYTHON):
            labels = str(folder / labels)
        return self.model_copy(update={"path": str(folder / self.path), "labels": labels})


class Topic(_Table):
    """Pages to be found: those with a label, those that satisfy a formula, or those that do both."""

    name: str
    label: str = ""
    formula: str = ""

    @model_validator(mode="before")
    @classmethod
    def _by_label(cls, given: Any) -> Any:
        given = {"label": given} if isinstance(given, str) else given
        if isinstance(given, dict) and not given.get("name"):
            given = given | {"name": " & ".join(filter(None, (given.get("label"), given.get("formula"))))}
        return given

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.label and not self.formula:
            raise ValueError("a topic needs a label, a formula, or both")
        return self


class TopicRule(_Table):
    """Topics to be chosen among a corpus's labels, by the experiment's seed."""

    count: int = Field(ge=1)
    min: int = Field(default=30, ge=1)
    max: int = Field(default=400, ge=1)
    within: str = ""
    """Only labels that begin with this."""


class SeedRule(_Table):
    """Starting points.

    `random`: `sets` sets of `pages` pages each, drawn for every topic anew and redrawn until at least the
    share `reach` of its targets can be reached. `warm`: the same, drawn among the topic's targets, as a user
    begins who has examples; two pages a set unless `pages` says otherwise. `entry`: the corpus's own entry
    pages, one set. `given`: the sets in `urls`.
    """

    kind: Literal["random", "warm", "entry", "given"] = "random"
    sets: int = Field(default=1, ge=1)
    pages: int = Field(default=1, ge=1)
    reach: float = Field(default=0.5, ge=0, le=1)
    urls: tuple[tuple[str, ...], ...] = ()
    """For `given`: a list of sets."""

    @model_validator(mode="before")
    @classmethod
    def _examples(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("kind") == "warm":
            return {"pages": 2} | given
        return given

    @property
    def drawn(self) -> bool:
        """Whether its pages are drawn, as many sets as one likes."""
        return self.kind in ("random", "warm")

    @model_validator(mode="after")
    def _urls(self) -> Self:
        if (self.kind == "given") != bool(self.urls):
            raise ValueError('seeds of kind "given", and no others, need urls: a list of lists of addresses')
        return self


class StrategySpec(_Table):
    """A strategy with its options. In TOML, every other key of its table is an option of the strategy."""

    name: str
    label: str
    """What it is called in tables; its name when not given."""
    weights: dict[str, float] | str | None = None
    batch: int = Field(default=1, ge=1)
    """Pages asked for and settled together: what the first of them teach comes too late for the last."""
    visits: str = ""
    """A log of visits: `wikispeedia`, or a database of `clew visits import`."""
    tunnel: Literal["off", "climb", "drop", "reweight"] = "off"
    """How what is sought widens when finds become rare."""
    prune: bool = False
    """Whether links of pages that do not satisfy what is sought are left out."""
    confidence: float | None = Field(default=None, gt=0, lt=1)
    """The level at which directions without finds are suspended."""
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _options(cls, given: Any) -> Any:
        given = {"name": given} if isinstance(given, str) else given
        if not isinstance(given, dict):
            return given
        own = {key: value for key, value in given.items() if key in cls.model_fields}
        options = dict(own.pop("options", {})) | {k: v for k, v in given.items() if k not in cls.model_fields}
        return {"label": given.get("name"), "options": options} | own


def _many(given: Any) -> Any:
    return given if isinstance(given, list | tuple) else [given]


class Experiment(_Table):
    """Topics × seed sets × strategies × dice on each corpus, for the largest of `budgets` requests.

    A crawl does not know its budget, so one run shows what it would have found with any smaller one.

    >>> Experiment.parse({"name": "x", "corpora": "demo", "topics": [{"formula": "wind"}], "budget": 100,
    ...     "strategies": ["random"]}).strategies[0].label
    'random'
    """

    name: str
    corpora: Annotated[tuple[CorpusSpec, ...], BeforeValidator(_many), Field(min_length=1)]
    topics: tuple[Topic, ...] | TopicRule
    seeds: Annotated[tuple[SeedRule, ...], BeforeValidator(_many), Field(min_length=1)] = (SeedRule(),)
    strategies: Annotated[tuple[StrategySpec, ...], BeforeValidator(_many), Field(min_length=1)]
    budget: Annotated[tuple[int, ...], BeforeValidator(_many), Field(min_length=1)]
    predicate: Literal["blind", "open"] = "blind"
    """Whether a crawler learns only yes or no after each fetch, or may apply the formula to links too."""
    traps: bool = False
    """Whether the engine leaves traps and mirrors alone, as it does outside the lab."""
    baseline: str = ""
    """The strategy that others are tested against; the first one when not given."""
    seed: int = 0
    dice: int = Field(default=1, ge=1, le=1000)
    """How often every case is run with every strategy, each time with other dice."""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        labels = [strategy.label for strategy in self.strategies]
        for name in labels:
            if labels.count(name) > 1:
                raise ValueError(f"two strategies are called {name!r}: give one of them another label")
        names = [corpus.name for corpus in self.corpora]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two corpora are called {name!r}: give one of them another name")
        if self.baseline and self.baseline not in labels:
            raise ValueError(f"the baseline {self.baseline!r} is none of the strategies")
        if min(self.budget) < 1:
            raise ValueError("a budget is at least one request")
        if self.predicate == "open":
            listed = self.topics if isinstance(self.topics, tuple) else ()
            if not listed or not all(topic.formula for topic in listed):
                raise ValueError("an open predicate needs topics that are listed, each with a formula")
        return self

    @classmethod
    def parse(cls, given: dict[str, Any], source: str = "experiment") -> Experiment:
        """An experiment from plain data; `source` names it in complaints."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise ConfigError(f"{source}: {_complaint(error)}") from None

    @classmethod
    def load(cls, path: Path) -> Experiment:
        """Read a TOML file; its name is the experiment's when none is given."""
        try:
            given = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise ConfigError(
                f"there is no experiment {path}: give a TOML file, as docs/lab.md describes"
            ) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} is not TOML: {error}") from None
        found = cls.parse({"name": path.stem} | given, str(path))
        folder = path.parent.absolute()
        return found.model_copy(update={"corpora": tuple(one.located(folder) for one in found.corpora)})

    def repeated(self, *, dice: int | None = None, sets: int | None = None) -> Experiment:
        """This experiment with other numbers of dice, and of seed sets where sets are drawn.

        >>> given = {"name": "x", "corpora": "demo", "topics": ["wind"], "budget": 9}
        >>> again = Experiment.parse(given | {"strategies": ["random"]}).repeated(dice=5, sets=3)
        >>> again.dice, again.seeds[0].sets
        (5, 3)
        """
        seeds = [rule.model_dump() | ({"sets": sets} if sets and rule.drawn else {}) for rule in self.seeds]
        changes = {"seeds": seeds} | ({} if dice is None else {"dice": dice})
        return self.parse(self.model_dump() | changes)

    @property
    def longest(self) -> int:
        """The largest budget: how long every run is."""
        return max(self.budget)


def _complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if not str(part).startswith(("tuple[", "function-")))
    reason = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return f"there is no setting {place!r}"
    if first["type"] == "missing":
        return f"{place} is missing: docs/lab.md says what an experiment needs"
    return f"{place}: {reason}" if place else reason
