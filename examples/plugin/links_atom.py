"""A field of the predicate language of one's own: `outlinks:20` is true of pages with at least 20 links.

[project.entry-points."clew.predicates"]
outlinks = "links_atom:FIELDS"
"""

from dataclasses import dataclass

from clew.page import Page
from clew.predicate.atoms.base import Crisp, Value


@dataclass(frozen=True, slots=True)
class Outlinks(Crisp):
    """Whether a page has at least so many links."""

    least: int

    def __str__(self) -> str:
        return f"outlinks:{self.least}"

    def holds(self, page: Page) -> bool:
        return len(page.links) >= self.least


def make(value: Value) -> Outlinks:
    number = value.plain("outlinks:20")
    return (
        Outlinks(int(number))
        if number.isdigit()
        else value.fail("outlinks: needs a number, such as outlinks:20")
    )


FIELDS = {"outlinks": make}
