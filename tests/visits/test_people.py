"""Who is a person: groups, robots and sessions, each counted once."""

import numpy as np

from clew.visits.people import PersonLimits, persons

DAY = 86_400_000


def counted(visits, robots=(), **limits):
    visits = sorted(visits)
    people, times = (np.array(column, np.int64) for column in zip(*visits, strict=True))
    return persons(times, people, np.array(robots, np.int64), PersonLimits(**limits))


def test_groups_by_day_and_by_minute_are_not_people():
    busy = [(0, i * 40_000) for i in range(12)]
    hasty = [(1, i * 1000 + i * i) for i in range(6)]
    person = [(2, 0), (2, 5000), (2, DAY)]
    kept, counts = counted([*busy, *hasty, *person], day=10, minute=5)
    assert (counts.people, counts.groups_by_day, counts.groups_by_minute) == (1, 1, 1)
    assert kept.tolist() == [False] * 18 + [True] * 3
    assert counts.sessions == 2


def test_robots_are_known_by_robots_txt_by_a_clock_and_by_never_sleeping():
    asked = [(0, 7), (0, 900)]
    clock = [(1, i * 60_000) for i in range(30)]
    sleepless = [(2, i * 3_600_000 + (i * 7919) % 50_000) for i in range(24)]
    person = [(3, i * 60_000 + (i * 7919) % 50_000) for i in range(30)]
    _, counts = counted([*asked, *clock, *sleepless, *person], robots=[0])
    assert (counts.people, counts.robots_by_request, counts.robots_by_rhythm) == (1, 1, 2)


def test_nobody_is_nobody():
    none = np.zeros(0, np.int64)
    kept, counts = persons(none, none, none, PersonLimits())
    assert len(kept) == 0
    assert set(counts.as_dict().values()) == {0}
