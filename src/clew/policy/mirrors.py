"""`Mirrors`: hosts that serve the pages of others under their own name.

Two origins that gave the same text under the same path, time and again, and hardly ever different texts,
are mirrors of each other. The one with more such twins (a mirror of many has more than each of them), or
else the one met later, is the copy: its URLs are left out where their twin is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_TWINS = 4
_DIFFERING = 3
_PARTNERS = 64


@dataclass(slots=True)
class _Origin:
    met: int
    twins: int = 0
    apart: int = 0
    """Pages that differ though their paths are equal."""
    partners: dict[str, None] = field(default_factory=dict)


class Mirrors:
    """Knows which origins copy which.

    >>> mirrors = Mirrors()
    >>> for i in range(4):
    ...     mirrors.twins("http://b.example", "http://a.example")
    >>> list(mirrors.originals("http://b.example")), list(mirrors.originals("http://a.example"))
    (['http://a.example'], [])
    """

    def __init__(self) -> None:
        self._origins: dict[str, _Origin] = {}
        self._changed: dict[str, None] = {}

    def __repr__(self) -> str:
        return f"Mirrors({sum(1 for name in self._origins if any(self.originals(name)))})"

    def __contains__(self, origin: str) -> bool:
        return origin in self._origins

    def twins(self, origin: str, earlier: str) -> None:
        """Both gave the same text under the same path; `earlier` was met first."""
        for name, other in ((earlier, origin), (origin, earlier)):
            known = self._origins.setdefault(name, _Origin(len(self._origins)))
            known.twins += 1
            self._changed[name] = None
            if len(known.partners) < _PARTNERS:
                known.partners[other] = None

    def apart(self, origin: str, other: str) -> None:
        """Both gave a text under the same path, and the texts differ."""
        for name in (origin, other):
            known = self._origins.get(name)
            if known is not None:
                known.apart += 1
                self._changed[name] = None

    def changes(self) -> dict[str, list[object]]:
        """What is newly known of origins, as plain data, to be given to `restore` one day."""
        found: dict[str, list[object]] = {}
        for name in self._changed:
            known = self._origins[name]
            found[name] = [known.met, known.twins, known.apart, list(known.partners)]
        self._changed.clear()
        return found

    def restore(self, origin: str, state: object) -> None:
        """The opposite of `changes` for one origin; what is not understood is passed over."""
        match state:
            case [int(met), int(twins), int(apart), list(partners)]:
                self._origins[origin] = _Origin(met, twins, apart, dict.fromkeys(map(str, partners)))
            case _:
                return

    def partners(self, origin: str) -> tuple[str, ...]:
        """Origins that share a page with this one."""
        known = self._origins.get(origin)
        return tuple(known.partners) if known else ()

    def originals(self, origin: str) -> Iterator[str]:
        """The origins that this one copies."""
        known = self._origins.get(origin)
        if known is None or known.twins < _TWINS or known.apart * _DIFFERING > known.twins:
            return
        for name in known.partners:
            other = self._origins.get(name)
            if other is not None and (known.twins, known.met) > (other.twins, other.met):
                yield name
