"""Changes of focus in a stored crawl: when, from what to what, what each cost and what it led to."""

from __future__ import annotations

import json

from clew.engine.commands import SetFocus, name_of
from clew.errors import StoreForeign
from clew.messages import Decision
from clew.policy.focus_ledger import FocusChange, FocusLedger
from clew.store.base import Reader

_SET_FOCUS = name_of(SetFocus(""))


def focus_changes(reader: Reader) -> tuple[FocusChange, ...]:
    """Every change of what is sought, in order. Where there was none, no page is read."""
    if not any(f'"command":"{_SET_FOCUS}"' in entry.entry for entry in reader.journal()):
        return ()
    ledger = FocusLedger[str]()
    rows = {row.id: row for row in reader.pages(text=False)}
    fetched = {row.url for row in rows.values()}
    for decision in reader.decisions():
        if decision.kind == "command" and decision.result == _SET_FOCUS:
            ledger.record_change(*_formulas(decision))
        row = rows.pop(decision.candidate, None) if decision.kind == "page" else None
        if row is None:
            continue
        if row.source is not None and row.source not in fetched:
            # A redirect is no page: what led there is asked for.
            candidate = reader.candidate(row.source)
            ledger.record_source(row.source, candidate.source if candidate else None)
        ledger.record_page(row.url, row.source, find=row.matched)
    return ledger.changes


def _formulas(decision: Decision) -> tuple[str, str]:
    """What was sought before a change and after it."""
    try:
        told = json.loads(decision.reasons[0])
        return str(told["instead_of"]), str(told["formula"])
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise StoreForeign(
            f"decision {decision.seq} changed the focus and does not say to what: it is damaged"
        ) from error
