"""The regression's products are the same whatever machine they are made on."""

import os
import subprocess
import sys

import numpy as np
import pytest

from clew.factor.logit import dot

#: Lengths that a BLAS takes at once, and ones that it would share out among threads.
SIZES = (0, 1, 9, 9_999, 10_000, 10_001, 20_001, 45_000)
TOLD = """
import numpy as np
from clew.factor.logit import dot
dice = np.random.default_rng(5)
for size in {sizes}:
    print(dot(dice.normal(size=size), dice.normal(size=size)).hex())
"""


def test_a_product_does_not_depend_on_the_processors():
    told = {
        subprocess.run(
            [sys.executable, "-c", TOLD.format(sizes=SIZES)],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OPENBLAS_CORETYPE": kernel},
            capture_output=True,
            check=True,
        ).stdout
        for threads, kernel in (("1", ""), ("2", ""), ("1", "Prescott"))
    }
    assert len(told) == 1


@pytest.mark.parametrize("size", SIZES)
def test_a_product_is_that_of_the_whole(size):
    a, b = np.random.default_rng(size).normal(size=(2, size))
    assert dot(a, b) == pytest.approx(float((a * b).sum()), rel=1e-12, abs=1e-9)
