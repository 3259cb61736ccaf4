"""Short forms of the checks that attack: private addresses in disguise, bombs, a web in trouble."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.slow


def test_no_way_in_leads_to_a_private_address(check):
    """Every connection is counted where it is made; every way was walked, and did lead to a refusal."""
    found = check("ssrf")
    assert found["targets"] >= 60
    assert found["not_offered"] == {}
    assert found["connections"] == 0, found["rogue"]
    assert found["accepted"] == 0
    assert found["strangers"] == []
    assert found["looked_up"] == []
    assert found["door"]["forbidden-address"] >= 120
    # The names that alternate were connected to at their public face, or this would prove nothing.
    assert found["public"] > 0


linux = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")


@linux
@pytest.mark.parametrize("only", ["2 GiB of zeros", "256 MiB"])
def test_bombs_do_not_grow_a_crawl(check, only):
    rows = check("bombs", "--only", only)
    assert len(rows) >= 4
    for row in rows:
        assert row["hit"] >= 1, row
        assert row["grown_mb"] <= 64, row


@linux
@pytest.mark.data
def test_the_bombs_of_the_public_suite_do_not_grow_a_crawl(check, suite):
    suite("bombs")
    rows = check("bombs", "--only", "bomb-")
    assert len(rows) == 4
    assert max(row["grown_mb"] for row in rows) <= 64, rows


def test_every_healthy_page_of_a_web_in_trouble_is_fetched(check):
    found = check("chaos", "--pages", 90, "--hosts", 6, "--timeout", 1.0)
    assert found["lost"] == {}
    assert found["healthy_fetched"] == 90
    assert found["kinds"] >= 60
    assert found["faulty"] >= 0.3
    assert found["trespasses"] == 0


@pytest.mark.data
def test_hostile_sitemaps_are_refused_and_touch_nothing(check, suite):
    """Entities, external files and addresses, bombs: refused, or read without being followed."""
    suite("sitemaps")
    rows = check("hostile_xml")
    assert sum(row["name"].startswith("hostile-") for row in rows) == 7
    for row in rows:
        assert row["touched"] == [], row
        if "hostile" in row["name"] or "entit" in row["name"] or "external" in row["name"]:
            assert row["sitemap"] == "refused", row
