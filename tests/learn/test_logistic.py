"""The regressions find the optimum, by whatever way; their products are the same on every machine."""

import os
import subprocess
import sys

import numpy as np
import pytest

from clew.learn.examples import Examples
from clew.learn.logistic import DenseDesign, LogisticRegression, SparseDesign, dot, newton, sigmoid

#: Lengths that a BLAS takes at once, and ones that it would share out among threads.
SIZES = (0, 1, 9, 9_999, 10_000, 10_001, 20_001, 45_000)
TOLD = """
import numpy as np
from clew.learn.logistic import dot
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


@pytest.fixture
def rows():
    """Forty examples of a column that tells, one that does not, and one that is always there."""
    dice = np.random.default_rng(7)
    told = dice.random((2, 40)) < 0.5
    labels = np.where(dice.random(40) < 0.8, told[0], ~told[0]).astype(float)
    return np.concatenate([told, np.ones((1, 40))]).astype(float), labels


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_sparse_and_dense_examples_lead_to_the_same_weights(rows, scaled, intercept):
    columns, labels = rows
    owners, items = np.nonzero(columns.T[:, : 2 if intercept else 3])
    design = SparseDesign(items, owners, (40, 2 if intercept else 3), intercept=intercept, scaled=scaled)
    found = [newton(d, labels, np.zeros(3), np.full(3, 0.5)) for d in (design, DenseDesign(columns))]
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    slope = columns @ (sigmoid(columns.T @ found[0]) - labels) + 0.5 * found[0]
    assert np.abs(slope).max() < 1e-6


def test_weights_keep_to_their_centre_while_trust_is_small(rows):
    columns, labels = rows
    centre = np.array([-1.0, 2.0, 0.5])
    near, far = (
        newton(DenseDesign(columns), labels, centre, np.ones(3), centre=centre, trust=trust)
        for trust in (1e-6, 1.0)
    )
    assert near == pytest.approx(centre, abs=1e-4)
    assert far[0] > 0.0


def test_steps_from_where_the_last_ended_reach_the_optimum(rows):
    columns, labels = rows
    examples, model = Examples(100, "find"), LogisticRegression(100)
    for row, label in zip(columns.T, labels, strict=True):
        examples.add(np.flatnonzero(row[:2]).astype(np.int32) + 40, find=bool(label))
    for _ in range(30):
        model.step(examples, examples.labels["find"])
    best = newton(DenseDesign(columns), labels, np.zeros(3), np.array([1.0, 1.0, 0.01]))
    assert [*model.weights[40:42], model.bias] == pytest.approx(best.tolist(), abs=1e-3)
    assert not model.weights[:40].any()
