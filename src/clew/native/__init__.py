"""Loops over texts, rows of numbers and hashes, compiled if a compiler was at hand when clew was installed.

Texts and arrays move through here and come out as folded texts or numbers. The invariant: every function has
a twin in Python that gives the same to the last bit (in `clew.words.cut`, `clew.parse.similar`,
`clew.parse.text`, `clew.parse.html.document`, `clew.predicate.glance`, `clew.predicate.view`,
`clew.url.many`, `clew.url.index`, `clew.frontier.runs`, `clew.factor.ragged`, `clew.factor.pieces`,
`clew.strategy.reading`), so that a crawl is the same crawl without them, only slower. Each name is None when
it was not compiled, or when the environment says `CLEW_PURE=1`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

__all__ = [
    "COMPILED",
    "beginning",
    "best",
    "find",
    "first_of_each",
    "flat",
    "fold",
    "gathered",
    "hashed",
    "having",
    "joined",
    "lines",
    "simhash",
    "sums",
]

flat: Callable[..., tuple[str, int] | None] | None = None
"""The folded words of a text between blanks, and their number, by a table of what becomes of a character;
None where the table does not say. Given a list as well, lines with such characters are left blank, and the
list takes where they begin and end."""
simhash: Callable[[bytes], int] | None = None
"""The similarity hash of the words of a text in UTF-8; see `clew.parse.similar`."""
fold: Callable[[str], str | None] | None = None
"""White space folded to single blanks, blank lines dropped; None where a rare kind needs a closer look."""
best: Callable[..., int] | None = None
"""The best entry of a host that still holds; see `clew.frontier.runs`."""
find: Callable[..., None] | None = None
"""The numbers of keys in a hash table of two arrays; see `clew.url.index`."""
first_of_each: Callable[..., int] | None = None
"""Rows without what stands in them twice; see `clew.factor.pieces`."""
gathered: Callable[..., None] | None = None
"""Products of a sparse matrix with a vector; see `clew.factor.logit`."""
hashed: Callable[..., int] | None = None
"""The hashes of words between blanks, and where they stand; see `clew.strategy.reading`."""
beginning: Callable[[str, str], dict[str, int] | None] | None = None
"""The words of a folded text that begin with some letters, counted; see `clew.predicate.view`."""
having: Callable[[tuple[str, ...], tuple[str, ...], list[int]], set[int]] | None = None
"""Which of some texts have certain letters, in any case, those beyond ASCII put into a list instead; see
`clew.predicate.glance`."""
joined: Callable[..., list[str | None]] | None = None
"""The URLs of a page's hrefs, as far as they are known; see `clew.url.many`."""
lines: Callable[[list[str]], list[int]] | None = None
"""Which of some texts are not yet words between single blanks; see `clew.parse.html.document`."""
sums: Callable[..., None] | None = None
"""The sums of the weights of the items of rows; see `clew.factor.ragged`."""

if os.environ.get("CLEW_PURE") != "1":
    with contextlib.suppress(ImportError):  # no compiler when it was installed
        from clew.native._fast import flat, fold, simhash
    with contextlib.suppress(ImportError):
        from clew.native._look import beginning, having, joined, lines
    with contextlib.suppress(ImportError):
        from clew.native._rows import best, find, first_of_each, hashed, sums
    with contextlib.suppress(ImportError):
        from clew.native._sparse import gathered

COMPILED = flat is not None
"""Whether the compiled part is in use."""
