"""`clew status`: how far a crawl is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clew.cli.console import clean, put, put_json, put_pairs
from clew.cli.figures import pages_of
from clew.cli.places import Directory, Json, reading
from clew.run.units import duration_text, size_text


def status(directory: Directory, /, *, json: Json = False) -> None:
    """Say how far a crawl is; it may be running."""
    with reading(directory) as reader:
        counts = asdict(reader.counts())
        meta = reader.meta()
    raw = meta.get("config")
    config: dict[str, Any] = raw if isinstance(raw, dict) else {}
    facts = {
        "directory": str(directory),
        "match": config.get("match", ""),
        "strategy": config.get("strategy", ""),
        "stopped": meta.get("stopped"),
        "elapsed": meta.get("elapsed"),
        "audits": meta.get("audits"),
        **counts,
    }
    if json:
        put_json(facts)
        return
    _show(facts, config)


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
    if facts["audits"]:
        checked, best = facts["audits"]
        pairs["audits"] = f"{best} of {checked} choices checked were the best ({best / checked:.2%})"
    if facts["elapsed"]:
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
