"""Mirrors: which origins copy which, and how that outlasts a stop."""

from __future__ import annotations

import json

from clew.policy.mirrors import Mirrors


def test_what_is_known_of_mirrors_comes_back_from_plain_data():
    """A crawl taken up again leaves the same copies alone as one that went on; rubbish is passed over."""
    mirrors = Mirrors()
    for _ in range(4):
        mirrors.twins("http://b.example", "http://a.example")
    mirrors.apart("http://b.example", "http://c.example")
    again = Mirrors()
    for origin, state in json.loads(json.dumps(mirrors.changes())).items():
        again.restore(origin, state)
    assert list(again.originals("http://b.example")) == ["http://a.example"]
    assert mirrors.changes() == {} == again.changes()
    again.restore("http://d.example", ["x", 1])
    assert "http://d.example" not in again
