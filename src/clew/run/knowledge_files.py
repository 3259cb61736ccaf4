"""Knowledge between crawls: read from a crawl directory or a file, written to a file."""

from __future__ import annotations

from pathlib import Path

from clew.errors import StoreForeign, UsageError
from clew.knowledge import Knowledge, dumps, loads
from clew.knowledge.codec import MAX_BYTES
from clew.store import is_crawl, open_reader
from clew.strategy.per_interest import states_of


def read_knowledge(place: Path | str) -> Knowledge:
    """What a crawl learned, from its directory or from a file of `write_knowledge`; of a crawl of several
    interests what was learned for one of them, `DIR#NAME`."""
    name = ""
    if not is_crawl(place) and "#" in str(place) and is_crawl(str(place).rpartition("#")[0]):
        folder, _, name = str(place).rpartition("#")
        place = Path(folder)
    if is_crawl(place):
        with open_reader(place) as reader:
            text = reader.learned()
        if not text:
            raise UsageError(
                f"the crawl in {place} learned nothing that can be used: only strategies that learn, such as "
                "intelligent, leave knowledge behind"
            )
        return loads(_of_interest(text, name, place), f"the knowledge of {place}")
    place = Path(place)
    if not place.is_file():
        raise UsageError(f"there is neither a crawl nor a knowledge file at {place}")
    if place.stat().st_size > MAX_BYTES:
        raise StoreForeign(f"{place} is larger than {MAX_BYTES >> 20} MB: it was not written by clew")
    try:
        text = place.read_text("utf-8")
    except UnicodeDecodeError:
        raise StoreForeign(f"{place} is not text: it is not knowledge saved by clew") from None
    return loads(text, str(place))


def _of_interest(text: str, name: str, place: Path | str) -> str:
    """What was learned for one interest, where each has learned for itself."""
    states = states_of(text)
    if not states and not name:
        return text
    if not states.get(name):
        known = f"one of {', '.join(f'{place}#{one}' for one in states)}" if states else f"{place}"
        said = f"no interest {name!r}" if name else "several interests, each of which learned for itself"
        raise UsageError(f"the crawl in {place} has {said}: give {known}")
    return states[name]


def write_knowledge(knowledge: Knowledge, place: Path, *, force: bool = False) -> None:
    """Save knowledge as a file, whole or not at all."""
    if place.exists() and not force:
        raise UsageError(f"{place} exists: give --force to replace it, or another name")
    beside = place.with_name(place.name + ".part")
    beside.write_text(dumps(knowledge), "utf-8")
    beside.replace(place)
