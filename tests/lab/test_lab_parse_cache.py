"""Pages of a corpus kept from one experiment to the next."""

from __future__ import annotations

from clew.lab.parse_cache import code_mark


def test_the_code_that_makes_pages_has_a_fingerprint():
    """It reads that code's files: one that was moved must not keep every corpus from being opened."""
    mark = code_mark()
    assert len(mark) == 16
    assert int(mark, 16) >= 0
    assert code_mark() == mark
