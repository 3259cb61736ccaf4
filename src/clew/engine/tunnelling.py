"""`Tunnelling`: a crawl's own wish for another focus, and what must be kept of it over a stop.

The rule is `clew.policy.tunnel`. At the end of a session it may want another focus; whoever drives the crawl
commands it, as a person would. Each session leaves an entry in the journal, with what was counted so far, so
that a crawl that is taken up again counts on from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from clew.engine.commands import SetFocus
from clew.errors import ConfigError, StoreForeign
from clew.messages import Journal
from clew.page import Page
from clew.policy.tally import Tally
from clew.policy.tunnel import Tunnel, TunnelRules, WideningTrial, resolved
from clew.predicate import parse
from clew.predicate.judge import FormulaPredicate
from clew.predicate.verdict import Predicate

SESSION = "session"


def is_session(entry: Journal) -> bool:
    """Whether an entry of the journal tells how a session ended."""
    return f'"command":"{SESSION}"' in entry.entry


class Tunnelling:
    """Watches what is found, and wants another focus when it is time.

    Parameters: what is judged; the rules.
    """

    def __init__(self, predicate: Predicate, rules: TunnelRules) -> None:
        if not isinstance(predicate, FormulaPredicate) or "py:" in predicate.text():
            raise ConfigError(
                f"{predicate.text()!r} cannot be widened: tunnelling needs a formula of words and topics; "
                "leave it out with --tunnel off"
            )
        self.predicate = predicate
        self.rules = rules
        self.tunnel = Tunnel(resolved(predicate.formula, predicate.topics.topic), rules)
        self.wanted: SetFocus | None = None
        """The change that is to be commanded before anything else is leased."""
        self._parts = [predicate.another(str(part)) for part in self.tunnel.parts]

    def __repr__(self) -> str:
        return f"Tunnelling({self.tunnel!r})"

    def record_page(self, page: Page, tally: Tally) -> str:
        """Take in a page that the tally has counted; gives what the journal must keep when it was the last of
        a session."""
        self.count_page(page)
        if tally.pages % self.rules.session:
            return ""
        focus = self.tunnel.end_session(tally)
        text = "" if focus is None else self._text(str(focus))
        self.wanted = SetFocus(text, rescore=self.rules.whole) if text else None
        rarity = self.tunnel.rarity
        kept = {
            "command": SESSION,
            "focus": text,
            "widest": tally.widest,
            "visited": rarity.visited,
            "lowered": rarity.lowered,
            "trial": asdict(self.tunnel.trial),
        }
        return json.dumps(kept, separators=(",", ":"), ensure_ascii=False)

    def count_page(self, page: Page) -> None:
        """Count how far a page satisfies each part of what is judged."""
        degrees = [part.judge(page).score for part in self._parts]
        if degrees:
            self.tunnel.record_degrees(degrees, self.predicate.threshold)

    def take(self, formula: str) -> None:
        """This is sought from now on."""
        if self.wanted is not None and self.wanted.formula == formula:
            self.wanted = None
        judged = formula == self.predicate.text()
        self.tunnel.take(self.tunnel.steps[0] if judged else parse(formula))

    def recall(self, entry: Journal, tally: Tally) -> bool:
        """Take in again, on resume, how a session ended; False for an entry about something else."""
        if not is_session(entry):
            return False
        try:
            kept = json.loads(entry.entry)
            rarity = self.tunnel.rarity
            rarity.visited = {str(part): int(count) for part, count in kept["visited"].items()}
            rarity.lowered = {str(part): int(count) for part, count in kept["lowered"].items()}
            tally.widest = bool(kept["widest"])
            # A journal of before there were trials has none.
            trial = {str(name): int(value) for name, value in kept.get("trial", {}).items()}
            self.tunnel.trial = WideningTrial(**trial)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreForeign(
                f"the end of a session in the journal is damaged ({str(error)[:200]}): "
                "restore the directory from a copy"
            ) from error
        return True

    def resume(self, entries: Iterable[Journal], pages: Iterable[Page]) -> None:
        """Go on after a stop: `entries` are those of the journal, which were taken in; `pages` those of the
        session that is under way. A change that was wanted and never commanded is wanted still."""
        for entry in entries:
            kept = json.loads(entry.entry)
            if kept.get("command") == SESSION:
                text = str(kept["focus"])
                self.wanted = SetFocus(text, rescore=self.rules.whole) if text else None
            elif kept.get("command") in ("set-focus", "set-match"):
                self.wanted = None
        for page in pages:
            self.count_page(page)

    def _text(self, formula: str) -> str:
        return self.predicate.text() if formula == str(self.tunnel.steps[0]) else formula
