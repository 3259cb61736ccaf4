"""Names of a package that are loaded when they are first asked for, so that importing it costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__`; `homes` says which module has each of its names.

    >>> loader("clew", {"Page": "clew.page"})("Page").__module__
    'clew.page'
    """

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    return load
