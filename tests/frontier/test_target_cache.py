"""Links are looked up by their text first: the answers are those of the index."""

import numpy as np

from clew import url as urls
from clew.frontier import target_cache as module
from clew.frontier.target_cache import TargetCache

TARGETS = [f"http://a.example/{i}" for i in range(40)]
KEYS = urls.keys(TARGETS)
ORDER = {int(key): number for number, key in enumerate(KEYS[::2].tolist())}


def _known(asked: list[int]) -> TargetCache:
    def find(keys):
        asked.append(len(keys))
        return np.array([ORDER.get(int(key), -1) for key in keys], np.int64)

    return TargetCache(find, lambda numbers: KEYS[::2][numbers])


def test_every_look_gives_keys_and_numbers_of_all() -> None:
    asked: list[int] = []
    known = _known(asked)
    for some in (TARGETS[:10], TARGETS[:10], TARGETS[5:30], TARGETS[::-1], []):
        keys, numbers = known.lookup(some)
        assert keys.tolist() == urls.keys(some).tolist()
        assert numbers.tolist() == [ORDER.get(urls.key(target), -1) for target in some]
    # Those never seen are asked for again each time; a candidate only once.
    assert asked[:2] == [10, 5]


def test_forgetting_changes_no_answer(monkeypatch) -> None:
    monkeypatch.setattr(module, "MANY", 3)
    known = _known([])
    for _ in range(3):
        for start in range(0, 40, 7):
            some = TARGETS[start : start + 9]
            assert known.lookup(some)[1].tolist() == [ORDER.get(urls.key(target), -1) for target in some]
