"""The server's own log: no host and no address is asked too soon, and none twice at once."""

import importlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

_CHECKS = Path(__file__).parents[2] / "checks"


@pytest.fixture(scope="module")
def bench():
    """The check itself, which imports what lies beside it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(_CHECKS)
        yield importlib.import_module("politeness")


async def test_hosts_on_shared_addresses_are_asked_one_at_a_time_with_the_delay_between(bench, tmp_path):
    """Redirects, robots.txt elsewhere, resets and 503 included; two sessions, the second a resumed one."""
    web = bench.Web(hosts=9, addresses=3, pages=30)
    delay = 0.25
    async with bench.Server(web) as server:
        for pages in (12, 24):
            await bench.crawl(web, server.port, tmp_path / "crawl", delay, pages, 300.0)
        found = bench.figures(server.log, web, delay)
    assert found["addresses"] == 3
    assert found["requests"] > 30
    assert found["min_gap_host"] >= 1.0
    assert found["min_gap_address"] >= 1.0
    assert found["most_in_flight_host"] == found["most_in_flight_address"] == 1
