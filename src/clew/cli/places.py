"""Crawl directories as the verbs see them: open one to read, open one to crawl into."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.errors import StoreForeign

if TYPE_CHECKING:
    from clew.run.config import CrawlConfig
    from clew.store.base import Reader

Directory = Annotated[Path, Parameter(metavar="DIR", help="The directory of a crawl.")]
Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print JSON.")]


@contextmanager
def reading(directory: Path) -> Iterator[Reader]:
    """A crawl opened for reading; a crawl under way may be read too."""
    from clew.store import open_reader

    reader = open_reader(directory)
    try:
        yield reader
    finally:
        reader.close()


def stored_config(meta: dict[str, Any]) -> CrawlConfig:
    """The settings a crawl was started with."""
    from pydantic import ValidationError

    from clew.run.config import CrawlConfig

    stored = meta.get("config")
    if not isinstance(stored, dict):
        raise StoreForeign("the crawl directory has no settings in it: it was not made by `clew crawl`")
    try:
        return CrawlConfig.from_json(json.dumps(stored))
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise StoreForeign(
            f"the settings in the crawl directory cannot be read ({place}): "
            "was it written by another version of clew?"
        ) from None
