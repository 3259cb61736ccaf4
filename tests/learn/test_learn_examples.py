"""Examples are forgotten from the oldest on, whole, with their labels."""

import numpy as np

from clew.learn import Examples


def test_old_examples_are_forgotten_and_columns_stay():
    examples = Examples(200, "satisfied", limit=10)
    for i in range(25):
        examples.add(np.array([7, 100 + i], np.int32), satisfied=i % 2 == 0)
    assert len(examples) <= 10
    assert set(examples.owners.tolist()) == set(range(len(examples)))
    rows = [
        sorted(examples.columns[examples.items[examples.owners == r]].tolist()) for r in range(len(examples))
    ]
    assert rows == [[7, 100 + i] for i in range(25 - len(examples), 25)]
    assert examples.labels["satisfied"] == [i % 2 == 0 for i in range(25 - len(examples), 25)]
