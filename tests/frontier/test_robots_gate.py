"""What robots.txt files may cost: large ones are many only where somebody makes them up."""

import pytest

from clew.frontier import robots_gate
from clew.frontier.hosts import Hosts, Politeness
from clew.frontier.parked import ParkedOrigins
from clew.frontier.queue import Frontier
from clew.frontier.robots_gate import LARGE, RobotsGate


@pytest.fixture
def hosts():
    return Hosts(Politeness())


def learned(gate, hosts, name, body):
    host = hosts[hosts.number(name)]
    gate.learn(host, f"http://{name}", 200, 0.0, body)
    return host


def test_large_files_not_used_for_longest_are_forgotten_and_asked_for_again(hosts, monkeypatch):
    monkeypatch.setattr(robots_gate, "LARGE_TOGETHER", 25 * LARGE)
    gate = RobotsGate(hosts, hosts.politeness, ParkedOrigins(Frontier(1), hosts))
    large = b"User-agent: *\nDisallow: /no\n".ljust(LARGE, b"#")
    a, b = (learned(gate, hosts, name, large) for name in ("a.example", "b.example"))
    small = learned(gate, hosts, "s.example", b"User-agent: *\nDisallow: /no")
    assert gate.check(a, "http://a.example/no", 1.0) == "no"
    c = learned(gate, hosts, "c.example", large)
    assert gate.evicted == [b]
    assert gate.check(b, "http://b.example/no", 1.0) == "ask"
    assert [gate.check(host, f"http://{host.name}/no", 1.0) for host in (a, c, small)] == ["no"] * 3


def test_a_large_file_that_became_small_counts_no_more(hosts, monkeypatch):
    monkeypatch.setattr(robots_gate, "LARGE_TOGETHER", 15 * LARGE)
    gate = RobotsGate(hosts, hosts.politeness, ParkedOrigins(Frontier(1), hosts))
    for _ in range(3):
        host = learned(gate, hosts, "a.example", b"#" * LARGE)
    learned(gate, hosts, "a.example", b"")
    learned(gate, hosts, "b.example", b"#" * LARGE)
    assert gate.evicted == []
    assert gate.check(host, "http://a.example/", 1.0) == "yes"
