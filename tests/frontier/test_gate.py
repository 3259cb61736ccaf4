"""What robots.txt files may cost: large ones are many only where somebody makes them up."""

import pytest

from clew.frontier import gate
from clew.frontier.gate import LARGE, Gate
from clew.frontier.hosts import Hosts, Politeness
from clew.frontier.queue import Frontier


@pytest.fixture
def hosts():
    return Hosts(Frontier(1), Politeness())


def learned(gate, hosts, name, body):
    host = hosts[hosts.number(name)]
    gate.learn(host, f"http://{name}", 200, 0.0, body)
    return host


def test_large_files_not_used_for_longest_are_forgotten_and_asked_for_again(hosts, monkeypatch):
    monkeypatch.setattr(gate, "LARGE_TOGETHER", 25 * LARGE)
    keeper = Gate(hosts, hosts.politeness)
    large = b"User-agent: *\nDisallow: /no\n".ljust(LARGE, b"#")
    a, b = (learned(keeper, hosts, name, large) for name in ("a.example", "b.example"))
    small = learned(keeper, hosts, "s.example", b"User-agent: *\nDisallow: /no")
    assert keeper.check(a, "http://a.example/no", 1.0) == "no"
    c = learned(keeper, hosts, "c.example", large)
    assert keeper.forgotten == [b]
    assert keeper.check(b, "http://b.example/no", 1.0) == "ask"
    assert [keeper.check(host, f"http://{host.name}/no", 1.0) for host in (a, c, small)] == ["no"] * 3


def test_a_large_file_that_became_small_counts_no_more(hosts, monkeypatch):
    monkeypatch.setattr(gate, "LARGE_TOGETHER", 15 * LARGE)
    keeper = Gate(hosts, hosts.politeness)
    for _ in range(3):
        host = learned(keeper, hosts, "a.example", b"#" * LARGE)
    learned(keeper, hosts, "a.example", b"")
    learned(keeper, hosts, "b.example", b"#" * LARGE)
    assert keeper.forgotten == []
    assert keeper.check(host, "http://a.example/", 1.0) == "yes"
