"""clew: say what pages you want, and it learns which links lead there."""

from __future__ import annotations

__version__ = "0.1.0"
