"""`Registry`: contributions of one kind by name, clew's own and those of other packages.

A package brings a factor, a strategy or an atom of the predicate language by an entry point in its metadata:

    [project.entry-points."clew.factors"]
    freshness = "my_package:Freshness"

clew's own are references of the same form, loaded the same way. They come first, in a fixed order, since the
columns of a stored crawl follow it; others follow by name. Nothing is looked up before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from clew.errors import ConfigError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Loaded contributions by name; a mapping that finds its entries when it is first used.

    Parameters: the entry points' `group`; clew's own references, `module:object` by name; `check`, which says
    what is wrong with a loaded object, or nothing.

    >>> registry = Registry("clew.nothing", {"sep": "os:sep"}, lambda name, found: "")
    >>> list(registry), registry["sep"] == registry.load("os:sep")
    (['sep'], True)
    """

    def __init__(self, group: str, own: Mapping[str, str], check: Callable[[str, Any], str]) -> None:
        self.group = group
        self.own = dict(own)
        self._check = check

    def __repr__(self) -> str:
        return f"Registry({self.group!r}, {', '.join(self)})"

    def __getitem__(self, name: str) -> T:
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)

    @property
    def foreign(self) -> dict[str, str]:
        """Names that other packages bring, with their references."""
        found = {point.name: point.value for point in entry_points(group=self.group)}
        return {name: found[name] for name in sorted(found) if self.own.get(name) != found[name]}

    def load(self, reference: str) -> Any:
        """The object that a reference names."""
        return EntryPoint("", reference, self.group).load()

    @cached_property
    def _loaded(self) -> dict[str, T]:
        return {name: self._one(name, value) for name, value in {**self.own, **self._others()}.items()}

    def _others(self) -> dict[str, str]:
        others = self.foreign
        for name in others:
            if name in self.own:
                raise ConfigError(
                    f"{name!r} ({others[name]}, group {self.group}) takes the name of one of clew's own: "
                    "uninstall the package that brings it, or have it renamed"
                )
        return others

    def _one(self, name: str, reference: str) -> T:
        try:
            found: T = self.load(reference)
            problem = self._check(name, found)
        except Exception as error:  # whatever a foreign module raises while it is imported
            if name in self.own:
                raise
            problem = f"{type(error).__name__}: {error}"
        if problem:
            raise ConfigError(
                f"{name!r} ({reference}, group {self.group}) cannot be used: {problem}; "
                "mend or uninstall the package that brings it"
            )
        return found
