"""The atoms, one kind a file, and the registry of the fields that make them.

A `Value` comes in from the lexer, an atom goes out. The invariant: an atom's text, parsed again, gives an
equal atom. A new atom is a new module with its own `FIELDS` and one line here, or a module of another
package and an entry point of the group `clew.predicates` that names its `FIELDS`.
"""

from collections.abc import Mapping
from functools import cache

from clew.plugins import Registry
from clew.predicate.atoms.address import HostAtom, Url
from clew.predicate.atoms.base import (
    Clue,
    Leaf,
    LinksMatcher,
    Maker,
    Matcher,
    Resources,
    TellingMatcher,
    Value,
)
from clew.predicate.atoms.kind import Lang, Type
from clew.predicate.atoms.number import Number
from clew.predicate.atoms.python import Python
from clew.predicate.atoms.regex import Regex
from clew.predicate.atoms.text import Text
from clew.predicate.atoms.topic import LikeAtom, TopicAtom

#: Where clew's own tables of fields are.
OWN = {
    name: f"clew.predicate.atoms.{name}:FIELDS"
    for name in ("text", "address", "number", "kind", "python", "topic")
}

#: Names of fields that other search engines have for ours.
ALIASES = {
    "intitle": "title",
    "allintitle": "title",
    "inurl": "url",
    "allinurl": "url",
    "intext": "text",
    "allintext": "text",
    "language": "lang",
    "filetype": "type",
    "domain": "site",
}


def _problem(name: str, found: object) -> str:
    if not isinstance(found, Mapping) or not all(isinstance(field, str) for field in found):
        return "it is no table of makers by field name"
    return ""


#: Tables of fields by the name of who brings them.
TABLES: Registry[Mapping[str, Maker]] = Registry("clew.predicates", OWN, _problem)


@cache
def fields() -> Mapping[str, Maker]:
    """Who makes an atom of a value, by field name; the empty name is for words without a field.

    >>> "lang" in fields()
    True
    """
    found: dict[str, Maker] = {}
    for table in TABLES.values():
        for name, maker in table.items():
            # A field that is there stays what it is: formulas that were written before mean the same.
            found.setdefault(name, maker)
    return found


__all__ = [
    "ALIASES",
    "TABLES",
    "Clue",
    "HostAtom",
    "Lang",
    "Leaf",
    "LikeAtom",
    "LinksMatcher",
    "Maker",
    "Matcher",
    "Number",
    "Python",
    "Regex",
    "Resources",
    "TellingMatcher",
    "Text",
    "TopicAtom",
    "Type",
    "Url",
    "Value",
    "fields",
]
