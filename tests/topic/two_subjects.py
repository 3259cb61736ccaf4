"""Two subjects that share no word, and texts about each."""

from __future__ import annotations

SEA = ["boat", "sail", "harbour", "regatta", "mast", "crew", "tide", "anchor", "keel"]
LAND = ["tractor", "wheat", "barn", "plough", "harvest", "cattle", "field", "fence", "seed"]


def words_about(subject: list[str], number: int) -> list[str]:
    """Some words of a subject, others for every number."""
    return [subject[(number * 5 + i * i) % len(subject)] for i in range(12)]
