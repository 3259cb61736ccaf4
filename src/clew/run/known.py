"""Targets that a user knows already, by which to see how much a crawl finds: read, checked, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clew import url as urls
from clew.errors import ConfigError
from clew.policy.recall import KnownTargets
from clew.run.config import CrawlConfig
from clew.store.base import Reader

MOST = 100_000
"""Known targets of a crawl: more make no interval narrower that anybody could tell."""


def read_known(path: Path) -> tuple[str, ...]:
    """The addresses in a file, one a line, canonical, each once; empty lines and those that begin with # are
    passed over."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise ConfigError(
            f"the known targets in {path} cannot be read ({error.strerror}): give a file that has an address "
            "a line"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"the known targets in {path} cannot be read: it is no text in UTF-8") from None
    found: list[str] = []
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        address = urls.canonical(line)
        if address is None:
            raise ConfigError(
                f"{line[:80]!r} is not an http or https address (line {number} of {path}): write it whole, "
                "such as https://example.org/page"
            )
        found.append(address)
    if not found:
        raise ConfigError(f"there is no address in {path}: write one a line")
    if len(found) > MOST:
        raise ConfigError(f"{path} has {len(found):,} addresses: give a random sample of at most {MOST:,}")
    return tuple(dict.fromkeys(found))


def known_of(config: CrawlConfig, meta: Mapping[str, Any]) -> KnownTargets | None:
    """The known targets of a crawl, without its seeds: the file's, or where that is gone those it keeps."""
    if config.known is None:
        return None
    kept = kept_known(meta)
    try:
        given = read_known(config.known)
    except ConfigError:
        if kept is None:
            raise
        return kept
    seeds = {urls.canonical(seed) for seed in config.seeds}
    held_out = [address for address in given if address not in seeds]
    if not held_out:
        raise ConfigError(
            f"every address in {config.known} is a seed: what a crawl begins with it does not find"
        )
    return KnownTargets(held_out)


def kept_known(meta: Mapping[str, Any]) -> KnownTargets | None:
    """The known targets that a crawl keeps; None if it has none."""
    kept = meta.get("known")
    if not isinstance(kept, list) or not kept or len(kept) > MOST:
        return None
    return KnownTargets([address for address in kept if isinstance(address, str)])


def told(reader: Reader) -> dict[str, Any] | None:
    """What became of the known targets of a stored crawl; None where it has none."""
    known = kept_known(reader.meta())
    if known is None:
        return None
    for decision in reader.decisions():
        known.record(decision)
    low, high = known.interval
    in_sight = sum(reader.candidate(address) is not None for address in known.urls)
    return {
        "targets": len(known.urls),
        "counted": known.counted,
        "found": known.found,
        "in_sight": in_sight,
        "low": low,
        "high": high,
    }
