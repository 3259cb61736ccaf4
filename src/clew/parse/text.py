"""Plain strings: folding white space, and cutting the words around a link out of the text."""

from __future__ import annotations

# Soft hyphens and zero-width marks split words that a reader sees as one.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_SPACES = dict.fromkeys(map(ord, "\t\v\f\r\x85\xa0\u2028\u2029\u3000\u2007\u202f"), " ")
_TIDY = {**_INVISIBLE, **_SPACES}


def fold(text: str) -> str:
    r"""White space folded to single blanks, blank lines dropped, other line breaks kept.

    >>> fold("  wind   farm \n\n\t near\xa0the sea ")
    'wind farm\nnear the sea'
    """
    if not text.isascii():
        text = text.translate(_TIDY)
    lines = []
    for line in text.split("\n"):
        if line:
            # Most lines come out of the renderer folded already.
            if "  " in line or line[0] <= " " or line[-1] <= " " or "\t" in line or "\r" in line:
                line = " ".join(line.split())
            if line:
                lines.append(line)
    return "\n".join(lines)


def one_line(text: str, limit: int) -> str:
    r"""Folded to one line of at most `limit` characters.

    >>> one_line(" wind \n farm ", 7)
    'wind fa'
    """
    return " ".join(text[: 4 * limit].translate(_INVISIBLE).split())[:limit]


def window(flat: str, start: int, end: int, reach: int) -> str:
    """The text from `start` to `end` with up to `reach` characters on each side, cut between words.

    >>> window("the old wind farm at sea", 8, 17, 5)
    'old wind farm at'
    """
    left, right = start - reach, end + reach
    left = flat.find(" ", left, start) + 1 or start if left > 0 else 0
    if right < len(flat):
        right = flat.rfind(" ", end, right)
        if right < 0:
            right = end
    cut = flat[left:right]
    return " ".join(cut.split()) if "  " in cut or cut[:1] == " " or cut[-1:] == " " else cut


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, ending at a line or a word.

    >>> clip("wind farm", 6)
    'wind'
    """
    if len(text) <= limit:
        return text
    cut = max(text.rfind("\n", 0, limit + 1), text.rfind(" ", 0, limit + 1))
    return text[: cut if cut > 0 else limit]
