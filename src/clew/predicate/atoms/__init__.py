"""The atoms, one kind a file, and the registry of the fields that make them.

A `Value` comes in from the lexer, an atom goes out. The invariant: an atom's text, parsed again, gives an
equal atom. A new atom is a new module with its own `FIELDS` and one line here.
"""

from clew.predicate.atoms import address, kind, number, python, text
from clew.predicate.atoms.address import Host, Url
from clew.predicate.atoms.base import Clue, Leaf, Maker, Matcher, Resources, Value
from clew.predicate.atoms.kind import Lang, Type
from clew.predicate.atoms.number import Number
from clew.predicate.atoms.python import Python
from clew.predicate.atoms.regex import Regex
from clew.predicate.atoms.text import Text

#: Who makes an atom of a value, by field name; the empty name is for words without a field.
FIELDS: dict[str, Maker] = {
    **text.FIELDS,
    **address.FIELDS,
    **number.FIELDS,
    **kind.FIELDS,
    **python.FIELDS,
}

__all__ = [
    "FIELDS",
    "Clue",
    "Host",
    "Lang",
    "Leaf",
    "Maker",
    "Matcher",
    "Number",
    "Python",
    "Regex",
    "Resources",
    "Text",
    "Type",
    "Url",
    "Value",
]
