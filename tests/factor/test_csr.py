"""Rows stay what they were while the array they rest in grows, also for those who look at it meanwhile."""

import numpy as np
import pytest

from clew.factor.csr import CsrRows


@pytest.mark.parametrize("held", [False, True])
def test_rows_outlive_growth(held):
    rows = CsrRows()
    rows.append(0, np.arange(5))
    seen = rows.row(0) if held else None
    for number in range(1, 400):
        rows.append(number, np.full(100, number))
    rows.extend(400, np.array([2, 1]), np.arange(30_000, 30_003))
    assert rows.row(0).tolist() == list(range(5))
    assert all((rows.row(n) == n).all() and len(rows.row(n)) == 100 for n in range(1, 400))
    assert rows.row(400).tolist() == [30_000, 30_001]
    assert rows.row(401).tolist() == [30_002]
    assert seen is None or seen.tolist() == list(range(5))
