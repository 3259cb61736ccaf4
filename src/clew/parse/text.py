"""Plain strings: folding white space."""

from __future__ import annotations

# Soft hyphens and zero-width marks split words that a reader sees as one.
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_CONTROLS = dict.fromkeys([*range(9), *range(14, 32), 127])
_BLANKS = "\x85\xa0\u2007\u2028\u2029\u202f\u3000"


def fold(text: str) -> str:
    r"""White space folded to single blanks, blank lines dropped, other line breaks kept.

    >>> fold("  wind   farm \n\n\t near\xa0the sea ")
    'wind farm\nnear the sea'
    """
    text = legible(text)
    # Most lines come out of the renderer folded already.
    if "\t" in text:
        text = text.replace("\t", "  ")
    lines = [
        " ".join(line.split()) if "  " in line or line[0] <= " " or line[-1] <= " " else line
        for line in text.split("\n")
        if line
    ]
    return "\n".join(filter(None, lines)) if "" in lines else "\n".join(lines)


def one_line(text: str, limit: int) -> str:
    r"""Folded to one line of at most `limit` characters.

    >>> one_line(" wind \n farm ", 7)
    'wind fa'
    """
    return " ".join(legible(text[: 4 * limit]).translate(_CONTROLS).split())[:limit].rstrip()


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, ending at a line or a word.

    >>> clip("wind farm", 6)
    'wind'
    """
    if len(text) <= limit:
        return text
    cut = max(text.rfind("\n", 0, limit + 1), text.rfind(" ", 0, limit + 1))
    return text[: cut if cut > 0 else limit]


def legible(text: str) -> str:
    """Without invisible characters, and with plain blanks for exotic ones."""
    if text.isascii():
        return text
    # Searching for each in turn beats str.translate, which looks every character up.
    for character in _INVISIBLE:
        if character in text:
            text = text.replace(character, "")
    for character in _BLANKS:
        if character in text:
            text = text.replace(character, " ")
    return text
