"""`clew status`: how far a crawl is."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from clew.cli.console import clean, put, put_json, put_pairs
from clew.cli.directories import Directory, Json, reading
from clew.cli.exits import complain
from clew.cli.progress_figures import pages_of, waiting_text
from clew.errors import ClewError
from clew.units import duration_text, size_text

if TYPE_CHECKING:
    from clew.policy.stop_rule import Standing
    from clew.store.base import Reader

#: Hosts that wait, told one by one.
_SHOWN = 5


def status(directory: Directory, /, *, json: Json = False) -> None:
    """Say how far a crawl is; it may be running."""
    from clew.run.waits import waits

    with reading(directory) as reader:
        counts = asdict(reader.counts())
        meta = reader.meta()
        now = time.time()
        waiting = waits(reader.hosts(), now)
        raw = meta.get("config")
        config: dict[str, Any] = raw if isinstance(raw, dict) else {}
        elapsed = meta.get("elapsed")
        rule = str(config.get("stop") or "")
        spent = float(elapsed) if isinstance(elapsed, int | float) else 0.0
        clauses = _standings(reader, rule, spent) if rule else []
    slow = _slow_functions(meta.get("slow"))
    facts = {
        "directory": str(directory),
        "match": config.get("match", ""),
        "strategy": config.get("strategy", ""),
        "stopped": meta.get("stopped"),
        "elapsed": meta.get("elapsed"),
        "audits": meta.get("audits"),
        **counts,
        "slow": slow,
        "waiting": [asdict(wait) for wait in waiting],
        "stop": [asdict(clause) for clause in clauses],
    }
    if json:
        put_json(facts)
        return
    _show(facts, config)
    if slow:
        put()
        put("slow")
        put_pairs({f"  {clean(name)}": _slowness(it) for name, it in slow.items()})
    if clauses:
        put()
        put("stops when")
        put_pairs({f"  {one.clause}": f"{one.value} now{', holds' if one.met else ''}" for one in clauses})
    if waiting:
        put()
        put("waiting")
        for line in waiting_text(waiting, now, _SHOWN):
            put(f"  {line}")


def _standings(reader: Reader, rule: str, elapsed: float) -> list[Standing]:
    # Only where there is a rule: it takes the engine, and the whole crawl.
    from clew.run.stopping import standings

    try:
        return standings(reader, rule, elapsed)
    except ClewError as error:
        complain(f"how far the rule to stop is cannot be said: {error}")
        return []


def _slow_functions(told: object) -> dict[str, dict[str, Any]]:
    """The record that `clew.run.user_code` left, as far as it is one."""
    numbers = ("pages", "seconds", "longest", "late")
    return {
        name: it
        for name, it in (told.items() if isinstance(told, dict) else ())
        if isinstance(it, dict)
        and all(isinstance(it.get(key), int | float) and 0 <= it[key] < math.inf for key in numbers)
    }


def _slowness(it: dict[str, Any]) -> str:
    late = f", too long for {it['late']} of them, which count as no finds" if it["late"] else ""
    return (
        f"{duration_text(it['seconds'])} for {it['pages']} pages{late}; "
        f"{duration_text(it['longest'])} for {clean(str(it.get('url')), 100)}"
    )


def _show(facts: dict[str, Any], config: dict[str, Any]) -> None:
    pages, matched = facts["pages"], facts["matched"]
    pairs: dict[str, object] = {
        "match": clean(str(facts["match"])),
        "strategy": facts["strategy"],
        "pages": pages_of(pages, config.get("pages")),
        "finds": f"{matched} ({matched / pages:.1%} of the pages)" if pages else matched,
        "duplicates": facts["duplicates"],
        "requests": facts["requests"],
        "received": size_text(facts["wire"]),
        "hosts": facts["hosts"],
        "queued": facts["queued"],
        "failed": facts["failed"],
        "redirected": facts["redirected"],
    }
    if facts["rendered"]:
        pairs["rendered"] = f"{facts['rendered']} of the pages, by a browser"
    match facts["audits"]:
        case [int(checked), int(best)] if checked > 0:
            pairs["audits"] = f"{best} of {checked} choices checked were the best ({best / checked:.2%})"
    if isinstance(facts["elapsed"], int | float) and 0 < facts["elapsed"] < 1e12:
        pairs["time"] = duration_text(float(facts["elapsed"]))
    if facts["stopped"]:
        pairs["stopped"] = facts["stopped"]
    put_pairs(pairs)
    # a redirect that was followed is counted above, and nothing was left out
    left_out = {reason: count for reason, count in facts["by_reason"].items() if reason != "redirect"}
    if left_out:
        put()
        put("left out")
        ordered = sorted(left_out.items(), key=lambda item: (-item[1], item[0]))
        put_pairs({f"  {clean(reason)}": count for reason, count in ordered})
