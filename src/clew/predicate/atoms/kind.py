"""What kind of page: `lang:en` and `type:html`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clew.page import Page
from clew.predicate.atoms.base import Crisp, Maker, Value, glob, show_value
from clew.predicate.formula import Atom
from clew.words import LANGUAGES

_CODE = re.compile(r"[a-z]{2,3}|\*")
_NAMES = {name: code for code, name in LANGUAGES.items()} | {"norwegian": "no"}


@dataclass(frozen=True, slots=True)
class Lang(Crisp):
    """The page's detected language, by two-letter code; `*` is any that could be told.

    >>> str(Lang("en-GB"))
    'lang:en'
    """

    code: str

    def __post_init__(self) -> None:
        code = re.split("[-_]", self.code.strip().lower())[0]
        if not _CODE.fullmatch(code):
            known = _NAMES.get(code, "en")
            raise ValueError(f"a language is given by its two-letter code, such as lang:{known}")
        object.__setattr__(self, "code", code)

    def __str__(self) -> str:
        return f"lang:{self.code}"

    def holds(self, page: Page) -> bool:
        return bool(page.language) if self.code == "*" else page.language == self.code


@dataclass(frozen=True, slots=True)
class Type(Crisp):
    """The page's media type, whole (`text/html`), or a part of it (`html`, `text`, `xml`); `*` allowed.

    >>> str(Type("HTML"))
    'type:html'
    """

    pattern: str

    def __post_init__(self) -> None:
        pattern = self.pattern.strip().lower()
        if not pattern or " " in pattern:
            raise ValueError("type: needs a media type, such as type:html, type:pdf or type:text/plain")
        object.__setattr__(self, "pattern", pattern)

    def __str__(self) -> str:
        return f"type:{show_value(self.pattern)}"

    def holds(self, page: Page) -> bool:
        test = glob(self.pattern)
        if "/" in self.pattern:
            return test(page.type)
        parts = re.split(r"[/+]", page.type)
        # XHTML is HTML to everyone but its parser.
        return any(map(test, parts)) or ("xhtml" in parts and test("html"))


def _make(kind: type[Lang] | type[Type]) -> Maker:
    def make(value: Value) -> Atom:
        try:
            return kind(value.plain("lang:en" if kind is Lang else "type:html"))
        except ValueError as error:
            value.fail(str(error))

    return make


FIELDS: dict[str, Maker] = {"lang": _make(Lang), "type": _make(Type)}
