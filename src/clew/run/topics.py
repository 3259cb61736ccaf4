"""The topics that a crawl's formula names: read from folders when it begins, kept with it from then on.

A crawl keeps the models of its topics and examples in its own record. So it is resumed as it began, with
the folders changed or gone; and whoever resumes it is told when they have changed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from clew.errors import UsageError
from clew.page import Page
from clew.predicate import Formula, parse
from clew.predicate.atoms import LikeAtom, TopicAtom
from clew.predicate.formula import walk
from clew.predicate.interests import Interests, formulas
from clew.predicate.judge import FormulaPredicate
from clew.predicate.verdict import Predicate
from clew.run.config import CrawlConfig
from clew.store.base import Store
from clew.topic import TopicLibrary, TopicModel
from clew.training import read_library
from clew.training.sources import Ask, fetch_page, read_source

_KEY = "topics"


def library_of(config: CrawlConfig, match: object) -> TopicLibrary:
    """What a formula names of topics and examples, read from where they are; empty if it names none."""
    given = {"": match} if not isinstance(match, str | Mapping) else match
    named = (formulas(given) if isinstance(given, str) else given).values()
    parsed = [parse(one, allow_python=True) if isinstance(one, str) else one for one in named]
    atoms = [atom for one in parsed if isinstance(one, Formula) for atom, _, _ in walk(one)]
    places = sorted({atom.name for atom in atoms if isinstance(atom, LikeAtom)})
    needed = any(isinstance(atom, TopicAtom) for atom in atoms)
    library = read_library(config.topics) if needed else TopicLibrary()
    likes = {place: like_of(place, asker(config)) for place in places}
    return TopicLibrary(library.taxonomy, library.models, likes, library.source)


def like_of(place: str, ask: Ask) -> TopicModel:
    """The examples at a place, as `like:` compares pages with them."""
    from clew.training.train import like

    try:
        examples = read_source(place, ask).get("positive", [])
    except UsageError as error:
        raise UsageError(f"like:{place}: {error}") from None
    if not examples:
        raise UsageError(f"like:{place}: there are no positive examples: add some, or name another place")
    return like(examples)


def asker(config: CrawlConfig) -> Ask:
    """Fetches single pages through the one door, with the manners of a crawl's settings."""

    def ask(url: str) -> Page:
        found: list[Page | BaseException] = []

        def work() -> None:
            try:
                found.append(asyncio.run(_asked(config, url)))
            except BaseException as problem:
                found.append(problem)

        # In a thread of its own: whoever asks may stand in an event loop already.
        thread = threading.Thread(target=work, name="clew-example")
        thread.start()
        thread.join()
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]

    return ask


async def _asked(config: CrawlConfig, url: str) -> Page:
    from clew.run.build import fetcher_of

    fetcher = fetcher_of(config, lambda: 0.0)
    try:
        return await fetch_page(fetcher, url)
    finally:
        await fetcher.close()


def kept_topics(meta: Mapping[str, Any]) -> TopicLibrary | None:
    """The topics that a crawl keeps; None if its formula names none, or it has not begun."""
    data = meta.get(_KEY)
    return None if data is None else TopicLibrary.from_data(data, "the crawl")


def keep_topics(store: Store, predicate: Predicate, others: TopicLibrary | None = None) -> None:
    """Have a crawl that begins keep the topics of its formula, and those that its strategy goes by."""
    library = predicate.topics if isinstance(predicate, FormulaPredicate | Interests) else TopicLibrary()
    if others is not None:
        library = replace(others, likes=library.likes)
    if library.digest:
        store.set_meta(topics=library.as_data())


def changed_topics(kept: TopicLibrary, topics: Path | None) -> tuple[str, ...]:
    """The topics of a crawl whose models in the folder are not those it keeps; none where there is no
    folder."""
    from clew.training import find_taxonomy

    if not kept.models or find_taxonomy(topics) is None:
        return ()
    now = read_library(topics).models
    return tuple(
        [path for path, model in kept.models.items() if path not in now or now[path].digest != model.digest]
    )
