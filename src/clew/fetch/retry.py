"""How long a server asks to be left alone."""

from __future__ import annotations

import math
from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after(value: str, now: float) -> float | None:
    """Seconds to wait by a Retry-After header, given as seconds or as a date; None when it says nothing.

    >>> retry_after("120", 0.0), retry_after("Thu, 01 Jan 1970 00:01:40 GMT", 40.0), retry_after("soon", 0.0)
    (120.0, 60.0, None)
    """
    value = value.strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        return _until(value, now)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _until(date: str, now: float) -> float | None:
    try:
        when = parsedate_to_datetime(date)
        # A date without a zone is in UTC, as HTTP has it, not in the zone of this machine.
        moment = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return max(0.0, moment - now)
