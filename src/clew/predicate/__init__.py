"""What the user wants: text of a formula comes in, a predicate that judges pages goes out.

`parse` turns text into a `Formula`, a frozen tree; `compile` makes a `Predicate` of it (or of any callable),
which gives each page a `Verdict` and each link a guess. The invariants: a formula prints as text that parses
back equal; every degree is in [0, 1]; text that is no formula raises `PredicateSyntaxError` and nothing else;
and a verdict depends on the formula and the page alone.
"""

from clew.predicate.formula import And, AtLeast, Formula, Not, Or, Weighted
from clew.predicate.grammar import parse
from clew.predicate.interests import Interests
from clew.predicate.judge import CallablePredicate, FormulaPredicate, TermResult, compile  # noqa: A004
from clew.predicate.review import Note, notes
from clew.predicate.verdict import Predicate, Verdict

__all__ = [
    "And",
    "AtLeast",
    "CallablePredicate",
    "Formula",
    "FormulaPredicate",
    "Interests",
    "Not",
    "Note",
    "Or",
    "Predicate",
    "TermResult",
    "Verdict",
    "Weighted",
    "compile",
    "notes",
    "parse",
]
