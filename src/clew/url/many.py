"""The links of a page, all at once: `canonical_many`.

Pages of one site share most of their links, and most hrefs are plain paths. So what an href came to is
remembered for the next page of the same directory, and a plain path is joined to a plain base by putting
two strings together; only what is left goes through the URL parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from clew.url.canon import DEFAULT, RAW_LIMIT, Canon, tidy
from clew.url.whatwg import Joiner, resolve

#: A segment of a path that the standard and our rules leave as it is, wherever it stands.
_SEGMENT = r"[A-Za-z0-9_~!$&'*+,=@-][A-Za-z0-9._~!$&'*+,=@()-]*"
#: A page of a plain directory; its own name does not matter.
_BASE = re.compile(
    rf"(https?://[a-z0-9.-]+(?::[0-9]+)?)(/(?:{_SEGMENT}/)*)(?:[^/?#\\.%][^/?#\\]*)?(?:\?[^#]*)?(?:#.*)?\Z"
)
_SIMPLE = re.compile(rf"(?:(/)|((?:\.\./)+))?((?:{_SEGMENT}/)*(?:{_SEGMENT})?)(?:#.*)?\Z", re.DOTALL)
#: A path that begins at the page's directory, and not with a scheme.
_RELATIVE = re.compile(r"[A-Za-z0-9._~-][A-Za-z0-9._~%-]*(?:[/?#]|$)")
_OTHER_SCHEME = re.compile(r"(?:javascript|mailto|tel|data|about|blob|ftp|file|sms):", re.IGNORECASE)
#: What the standard trims from both ends of a URL.
_TRIM = "".join(map(chr, range(33)))


def canonical_many(hrefs: Sequence[str], base: str, *, rules: Canon = DEFAULT) -> list[str | None]:
    """`canonical` of every href of one page, in order; an href to the page itself (`#top`, empty) gives None.

    Equal hrefs are resolved once, and with the default rules remembered for other pages of the directory.

    >>> canonical_many(["b", "#x", "mailto:a@b.example", "b"], "http://a.example/")
    ['http://a.example/b', None, None, 'http://a.example/b']
    """
    place = _MEMORY.at(base) if rules is DEFAULT else _Place(base, rules=rules)
    place.base, place.join = base, None
    return list(map(place.__getitem__, hrefs))


class _Folder(dict[str, str]):
    """The URLs below one directory, by what follows it: shared by all places that lead there.

    One text for each URL, too: its hash is worked out once, whoever asks for it later.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __missing__(self, rest: str) -> str:
        found = self[rest] = self.text + rest
        return found


class _Place(dict[str, str | None]):
    """What the hrefs of one directory's pages came to.

    Parameters: a page; its directory and those above it, if they are plain; the rules.
    """

    __slots__ = ("above", "base", "join", "rules")

    def __init__(self, base: str, above: tuple[_Folder, ...] = (), rules: Canon = DEFAULT) -> None:
        self.base = base
        self.join: Joiner | None = None
        self.rules = rules
        self.above = above
        """The directory, its parent, and so on up to the root."""

    def __missing__(self, href: str) -> str | None:
        folder, rest = self._split(href)
        found = folder.get(rest) if folder is not None else None
        if found is None:
            plain = _SIMPLE.match(href) if self.above and len(href) < 1000 else None
            if plain is None:
                found = self._joined(href)
                if not self._lasting(href):
                    return found
            elif folder is not None:
                found = folder[plain[3]]
            else:
                # Nothing but a fragment, or nothing at all.
                found = None
        self[href] = found
        return found

    def _split(self, href: str) -> tuple[_Folder | None, str]:
        """The directory that a path begins at, and what follows."""
        above = self.above
        first = href[:1]
        if not above or not first or first == "#":
            return None, ""
        if first == "/":
            return above[-1], href[1:]
        if first != ".":
            return above[0], href
        ups = 0
        while href.startswith("../", 3 * ups):
            ups += 1
        return above[min(ups, len(above) - 1)], href[3 * ups :]

    def _joined(self, href: str) -> str | None:
        bare = href.strip(_TRIM)
        if not bare or bare[0] == "#" or len(bare) > RAW_LIMIT or (":" in bare and _OTHER_SCHEME.match(bare)):
            return None
        if self.join is None:
            self.join = Joiner(self.base)
        joined = self.join(bare)
        return None if joined is None else tidy(joined, self.rules)

    def _lasting(self, href: str) -> bool:
        """Whether an href comes to the same on every page of the directory."""
        if self.rules is not DEFAULT:
            # This place is for one page only.
            return True
        if href[:1] == "/":
            # Two slashes, either way round, lead to another host.
            return href[1:2] not in ("/", "\\")
        return href.startswith(("http://", "https://", "#", "mailto:", "javascript:")) or bool(
            _RELATIVE.match(href)
        )


class _Memory:
    """Places by directory; the oldest are forgotten when there are many hrefs in all.

    `/x` depends on the origin of its page, `x` on its directory, `http://…` on nothing; hrefs that depend on
    more are not remembered.
    """

    def __init__(self, hrefs: int = 200_000) -> None:
        self.hrefs = hrefs
        self._places: dict[str, _Place] = {}
        self._folders: dict[str, _Folder] = {}
        self._size = 0
        self._newest = ""

    def at(self, base: str) -> _Place:
        """The place of a page."""
        self._bound()
        plain = _BASE.match(base) if len(base) < 2000 else None
        sound = plain is not None and _sound(plain[1])
        key = plain[1] + plain[2] if plain is not None and sound else _directory(base)
        place = self._places.pop(key, None)
        if place is not None:
            self._size -= len(place) + 1
        else:
            above = _above(plain[1], plain[2]) if plain is not None and sound else []
            place = _Place(base, tuple([self._folder(text) for text in above]))
        # The last in order is the last used.
        self._places[key] = place
        self._newest = key
        return place

    def _folder(self, text: str) -> _Folder:
        known = self._folders.get(text)
        if known is None:
            known = self._folders[text] = _Folder(text)
        return known

    def _bound(self) -> None:
        """Count what the last page brought, and make room."""
        if self._newest in self._places:
            self._size += len(self._places[self._newest]) + 1
        self._newest = ""
        if self._size > self.hrefs:
            # What is below a directory is no more than what places know; it goes with them.
            self._folders.clear()
            for key in list(self._places)[: (len(self._places) + 1) // 2]:
                self._size -= len(self._places.pop(key)) + 1
            for place in self._places.values():
                place.above = tuple([self._folder(folder.text) for folder in place.above])


@lru_cache(maxsize=1024)
def _sound(origin: str) -> bool:
    """Whether an origin is written the way the standard and our rules write it."""
    text = origin + "/"
    return resolve(text) == text and tidy(text, DEFAULT) == text


def _directory(base: str) -> str:
    """What relative hrefs of an unusual base are relative to."""
    whole = resolve(base) or base
    bare = whole.partition("?")[0].partition("#")[0]
    return bare[: bare.rfind("/") + 1]


def _above(origin: str, folder: str) -> list[str]:
    """A directory, its parent, and so on.

    >>> _above("http://a.example", "/x/y/")
    ['http://a.example/x/y/', 'http://a.example/x/', 'http://a.example/']
    """
    found = [origin + folder]
    while folder != "/":
        folder = folder[: folder.rindex("/", 0, -1) + 1]
        found.append(origin + folder)
    return found


_MEMORY = _Memory()
