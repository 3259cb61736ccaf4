"""Loops over the characters of a text, compiled where a compiler was at hand when clew was installed.

Texts move through here and come out as folded texts or numbers. The invariant: every function has a twin in
Python that gives the same to the last bit (in `clew.words.cut`, `clew.parse.similar`, `clew.parse.text`), so
that a crawl is the same crawl without them, only slower. Each name is None when it was not compiled, or when
the environment says `CLEW_PURE=1`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

__all__ = ["COMPILED", "flat", "fold", "simhash", "sums"]

flat: Callable[..., tuple[str, int] | None] | None = None
"""The folded words of a text between blanks, and their number, by a table of what becomes of a character;
None where the table does not say. Given a list as well, lines with such characters are left blank, and the
list takes where they begin and end."""
simhash: Callable[[bytes], int] | None = None
"""The similarity hash of folded words, those between zero bytes."""
fold: Callable[[str], str | None] | None = None
"""White space folded to single blanks, blank lines dropped; None where a rare kind needs a closer look."""
sums: Callable[..., None] | None = None
"""The sums of the weights of the items of rows; see `clew.factor.ragged`."""

if os.environ.get("CLEW_PURE") != "1":
    with contextlib.suppress(ImportError):  # no compiler when it was installed
        from clew.native._fast import flat, fold, simhash
    with contextlib.suppress(ImportError):
        from clew.native._rows import sums

COMPILED = flat is not None
"""Whether the compiled part is in use."""
