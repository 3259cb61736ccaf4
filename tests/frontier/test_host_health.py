"""How a host's health decides its pace: slow-down, recovery, rest, exclusion."""

import pytest

from clew.frontier import Hosts, Politeness
from clew.frontier.host import Host
from clew.messages import SaveHost

POLITE = Politeness(delay=1.0)


def host(**more):
    return Host("a.example", 0, more.pop("own", False), more.pop("delay", 1.0), 1, **more)


def test_a_busy_host_is_asked_half_as_often_each_time_and_recovers_step_by_step():
    h = host()
    pauses = []
    for _ in range(4):
        h.unwell(POLITE, replied=True, busy=True)
        pauses.append(h.pause(POLITE))
    assert pauses == [2.0, 4.0, 8.0, 16.0]
    back = []
    for _ in range(20):
        h.well(0.1)
        back.append(h.pause(POLITE))
    assert back == sorted(back, reverse=True)
    assert 12 < back[0] < 16
    assert back[-1] == 1.0


def test_the_slow_down_has_an_end():
    h = host()
    for _ in range(50):
        h.unwell(POLITE, replied=True, busy=True)
    assert h.pause(POLITE) == POLITE.slowest


def test_a_slow_host_is_left_alone_for_longer():
    h = host()
    h.well(3.0)
    assert h.pause(POLITE) == pytest.approx(6.0)
    for _ in range(30):
        h.well(0.1)
    assert h.pause(POLITE) == pytest.approx(1.0)
    h.well(1000.0)
    assert h.pause(POLITE) == POLITE.strain_limit


def test_own_hosts_are_not_slowed_down():
    h = host(own=True, delay=0.0)
    h.well(5.0)
    h.unwell(POLITE, replied=True, busy=True)
    assert h.pause(POLITE) == 0.0


def test_failures_in_a_row_rest_a_host_longer_and_longer():
    h = host()
    h.well(0.0)
    rests = [h.unwell(POLITE, replied=True, busy=False) for _ in range(8)]
    assert rests[:2] == [0.0, 0.0]
    assert rests[2:] == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]


def test_a_host_that_never_answers_is_given_up_soon_and_one_that_did_much_later():
    mute, known, old = host(), host(), host()
    known.well(0.0)
    for _ in range(400):
        old.well(0.0)
    tries = {}
    for name, h in (("mute", mute), ("known", known), ("old", old)):
        while not h.excluded:
            h.unwell(POLITE, replied=False, busy=False)
        tries[name] = h.failures
    assert tries == {"mute": 3, "known": 20, "old": 120}


def test_one_answer_in_between_starts_the_count_again():
    h = host()
    for i in range(500):
        if i % 15:
            h.unwell(POLITE, replied=True, busy=False)
        else:
            h.well(0.0)
    assert not h.excluded


def test_what_must_be_remembered_comes_back():
    hosts = Hosts(POLITE)
    before = hosts[hosts.number("a.example")]
    hosts.meet(before, "10.0.0.1")
    before.note("traps", [["/x", 0, 8.0, {}, "trap:copies"]])
    for _ in range(3):
        before.unwell(POLITE, replied=False, busy=False)
    row = before.row(POLITE)
    assert before.row(POLITE).memory is None, "unchanged memory is not written again"
    after = host()
    assert after.recall(row) == ("10.0.0.1",)
    assert after.excluded
    assert after.notes == before.notes
    assert after.failures == 3


@pytest.mark.parametrize("memory", ["", "{", "[1]", "null", '{"addresses": 3, "excluded": "yes"}', '"x"'])
def test_a_damaged_memory_is_passed_over(memory):
    h = host()
    row = SaveHost(
        host="a.example", next_at=0.0, delay=1.0, failures=0, requests=1, pages=1, matches=0, memory=memory
    )
    assert h.recall(row) == ()
    assert not h.excluded


def test_an_address_that_a_host_left_is_minded_until_no_connection_can_lead_there():
    hosts = Hosts(POLITE)
    a = hosts[hosts.number("a.example")]
    hosts.settle_at(a, ["10.0.0.1"], 0.0)
    hosts.begin(a)
    hosts.end(a, 100.0)
    hosts.settle_at(a, ["10.0.0.2"], 110.0)
    assert [p.address for p in a.addresses] == ["10.0.0.1", "10.0.0.2"]
    hosts.settle_at(a, ["10.0.0.2"], 200.0)
    assert [p.address for p in a.addresses] == ["10.0.0.2"]
    assert hosts.addresses["10.0.0.1"].hosts == []
