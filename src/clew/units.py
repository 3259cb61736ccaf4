"""Durations and sizes the way people write them: `2h`, `1h30m`, `500MB`, `1GiB`."""

from __future__ import annotations

import math
import re

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_BYTES = {
    "": 1, "b": 1,
    "k": 10**3, "kb": 10**3, "kib": 2**10,
    "m": 10**6, "mb": 10**6, "mib": 2**20,
    "g": 10**9, "gb": 10**9, "gib": 2**30,
    "t": 10**12, "tb": 10**12, "tib": 2**40,
}  # fmt: skip
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?i?b?)")


def seconds(value: object) -> float:
    """A duration in seconds, from a number of seconds or from text such as `90s`, `1h30m`, `7d`.

    >>> seconds("1h30m"), seconds("250ms"), seconds("30")
    (5400.0, 0.25, 30.0)
    """
    number = _number(value)
    if number is None:
        text = str(value).replace(" ", "").lower()
        if not _DURATION.fullmatch(text):
            raise ValueError(f"{value!r} is not a duration: write 90s, 30m, 2h, 1h30m or 7d")
        number = sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(text))
    return number


def size(value: object) -> int:
    """A number of bytes, from a number or from text such as `500MB`, `2GiB`.

    >>> size("500MB"), size("1KiB"), size(10)
    (500000000, 1024, 10)
    """
    number = _number(value)
    if number is None:
        found = _SIZE.fullmatch(str(value).replace(" ", "").replace("_", "").lower())
        if not found or found[2] not in _BYTES:
            raise ValueError(f"{value!r} is not a size: write 500MB, 2GB or 64KiB")
        number = float(found[1]) * _BYTES[found[2]]
    return int(number)


def _number(value: object) -> float | None:
    """A plain number, or text that is one; None for text with a unit."""
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is not a number")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"{value!r} must be a number of zero or more")
    return number


def duration_text(value: float) -> str:
    """Seconds as people read them.

    >>> duration_text(5400), duration_text(42.3), duration_text(0.25)
    ('1h30m', '42s', '250ms')
    """
    if value < 1:
        return f"{round(value * 1000)}ms"
    left = round(value)
    parts = []
    for unit in ("d", "h", "m", "s"):
        amount, left = divmod(left, int(_SECONDS[unit]))
        if amount:
            parts.append(f"{amount}{unit}")
    return "".join(parts[:2]) or "0s"


def size_text(value: float) -> str:
    """Bytes as people read them.

    >>> size_text(999), size_text(500_000_000)
    ('999 B', '500.0 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
