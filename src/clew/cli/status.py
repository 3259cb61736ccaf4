"""`clew status`: how far a crawl is."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from clew.cli.console import clean, put, put_json, put_pairs, put_table
from clew.cli.directories import Directory, Json, reading
from clew.cli.exits import complain
from clew.cli.progress_figures import pages_of, waiting_text
from clew.errors import ClewError
from clew.units import duration_text, size_text

if TYPE_CHECKING:
    from clew.policy.focus_ledger import FocusChange
    from clew.policy.recall import RecallEstimate
    from clew.policy.stop_rule import Standing
    from clew.store.base import Reader

#: Hosts that wait, and changes of focus, told one by one.
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
        told = _steered(reader)
        rule = told.get("stop", rule)
        clauses = _standings(reader, rule, spent) if rule else []
        changes = _focus_changes(reader)
        recall, known = _recall(reader)
        confidence = _confidence(reader, config.get("confidence"))
    slow = _slow_functions(meta.get("slow"))
    facts = {
        "directory": str(directory),
        "match": config.get("match", ""),
        "strategy": config.get("strategy", ""),
        "stopped": meta.get("stopped"),
        "elapsed": meta.get("elapsed"),
        "audits": meta.get("audits"),
        **counts,
        "steered": told,
        "slow": slow,
        "waiting": [asdict(wait) for wait in waiting],
        "stop": [asdict(clause) for clause in clauses],
        "focus": [asdict(change) for change in changes],
        "recall": None if recall is None else recall.as_dict(),
        "known": known,
        "confidence": confidence,
    }
    if json:
        put_json(facts)
        return
    _show(facts, config)
    if recall is not None or known is not None:
        put()
        put("recall")
        put_pairs(recall_pairs(recall, known))
    if confidence is not None:
        put()
        put("confidence")
        put_pairs(_confidence_pairs(confidence))
    if slow:
        put()
        put("slow")
        put_pairs({f"  {clean(name)}": _slowness(it) for name, it in slow.items()})
    if clauses:
        put()
        put("stops when")
        put_pairs({f"  {one.clause}": f"{one.value} now{', holds' if one.met else ''}" for one in clauses})
    if changes:
        put()
        put(f"seeking {clean(changes[-1].after)}")
        put_table(
            ("focus changed after", "to", "off-topic", "finds", "led to"),
            [(c.pages, clean(c.after), c.off_topic, c.finds, c.led_to) for c in changes[-_SHOWN:]],
            right=(0, 2, 3, 4),
        )
    if waiting:
        put()
        put("waiting")
        for line in waiting_text(waiting, now, _SHOWN):
            put(f"  {line}")


def _recall(reader: Reader) -> tuple[RecallEstimate | None, dict[str, Any] | None]:
    from clew.run.known import told
    from clew.run.stopping import estimates

    try:
        looks = estimates(reader)
        return looks[-1] if looks else None, told(reader)
    except ClewError as error:
        complain(f"how much was found cannot be said: {error}")
        return None, None


def _confidence(reader: Reader, level: object) -> dict[str, Any] | None:
    """What the crawl knows of how far finds are, and how many candidates are suspended by it."""
    if not isinstance(level, float):
        return None
    # Only where it is asked for: it takes the whole crawl.
    from clew.run.recall_confidence import counted

    try:
        found, suspended = counted(reader, level)
    except ClewError as error:
        complain(f"what is suspended cannot be said: {error}")
        return None
    return {"suspended": suspended, **found.as_dict()}


def _confidence_pairs(told: dict[str, Any]) -> dict[str, object]:
    """That in words."""
    limits = [told["limit"], told["limit_from_start"]]
    far = "too few finds to say how far is too far"
    if None not in limits:
        far = f"past {limits[0]} pages since the last find, {limits[1]} since a start page"
    p1, p3 = (
        f"{told[name]['value']:.3f} ({told[name]['low']:.3f} to {told[name]['high']:.3f})"
        for name in ("p1", "p3")
    )
    return {
        "  suspended": f"{told['suspended']} candidates; {far}",
        "  finds": f"a share {p1} of what finds lead to, {p3} of what other pages lead to",
        "  new links": f"{told['new_links']:.1f} on a page",
    }


def recall_pairs(recall: RecallEstimate | None, known: dict[str, Any] | None) -> dict[str, object]:
    """How much of what is sought was found, in words, by each estimate there is."""
    pairs: dict[str, object] = {}
    if recall is not None:
        least, about, most = recall.left
        pairs["  estimate"] = (
            f"{recall.low:.2f} to {recall.high:.2f} of what links lead to, {recall.middle:.2f} in the middle "
            f"(as of page {recall.pages})"
        )
        pairs["  left"] = (
            f"{least} to {most} finds, about {about}; {recall.unseen:.0%} of them not in sight yet"
        )
    if known is not None:
        pairs["  known"] = (
            f"{known['found']} of {known['counted']} targets known before were found: "
            f"{known['low']:.2f} to {known['high']:.2f}; {known['in_sight']} of {known['targets']} "
            "are in sight"
        )
    return pairs


def _steered(reader: Reader) -> dict[str, Any]:
    """What is in force by commands, where there were any."""
    if not any('"command":' in entry.entry for entry in reader.journal()):
        return {}
    from clew.run.steering import steered

    try:
        found = steered(reader)
    except ClewError as error:
        complain(f"what was commanded cannot be said: {error}")
        return {}
    return {
        "match": found.match,
        "focus": found.focus,
        "strategy": found.strategy,
        "weights": dict(found.weights),
        "boosts": dict(found.boosts),
        "paused": found.paused,
        "pages": found.budget.pages,
        "stop": found.budget.stop,
    }


def _standings(reader: Reader, rule: str, elapsed: float) -> list[Standing]:
    # Only where there is a rule: it takes the engine, and the whole crawl.
    from clew.run.stopping import standings

    try:
        return standings(reader, rule, elapsed)
    except ClewError as error:
        complain(f"how far the rule to stop is cannot be said: {error}")
        return []


def _focus_changes(reader: Reader) -> tuple[FocusChange, ...]:
    from clew.run.focus_changes import focus_changes

    try:
        return focus_changes(reader)
    except ClewError as error:
        complain(f"changes of focus cannot be told: {error}")
        return ()


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


def interest_pairs(match: str, finds: dict[str, int]) -> dict[str, object]:
    """The finds of each interest, where there are several, those without finds too."""
    from clew.predicate.interests import formulas

    names = [name for name in formulas(match) if name] if match else []
    return {f"  {clean(name)}": finds.get(name, 0) for name in dict.fromkeys([*names, *finds])}


def _show(facts: dict[str, Any], config: dict[str, Any]) -> None:
    pages, matched = facts["pages"], facts["matched"]
    told = facts["steered"]
    sought = str(told["match"] if told else facts["match"])
    pairs: dict[str, object] = {
        "match": "; ".join(map(clean, sought.split("\n"))),
        "strategy": facts["strategy"],
        "pages": pages_of(pages, config.get("pages")),
        "finds": f"{matched} ({matched / pages:.1%} of the pages)" if pages else matched,
        **interest_pairs(sought, facts["by_interest"]),
        "duplicates": facts["duplicates"],
        "requests": facts["requests"],
        "received": size_text(facts["wire"]),
        "hosts": facts["hosts"],
        "queued": facts["queued"],
        "failed": facts["failed"],
        "redirected": facts["redirected"],
    }
    if told:
        pairs["strategy"] = told["strategy"]
        pairs["pages"] = pages_of(pages, told["pages"])
    if told.get("boosts"):
        pairs["boosts"] = ", ".join(
            f"{clean(text, 80)}={factor:g}" for text, factor in told["boosts"].items()
        )
    if told.get("paused"):
        pairs["paused"] = "clew steer DIR --resume goes on"
    if facts["feedback"]:
        pairs["feedback"] = f"of {facts['feedback']} pages"
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
