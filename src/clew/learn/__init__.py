"""Learning, without a web: the models and the data they learn from, each written once.

Features become columns by `hashing`, examples become sparse `rows`, and a model takes them in: a `logistic`
regression, a `bandit`, a `centroid`, `counts` of what was seen and what satisfied. `codec` keeps arrays and
counts as plain data. One model a file; factors and strategies say what they mean. Invariant: numbers are
added up in an order that depends on nothing but how many there are, so every result is the same to the last
bit on every machine.
"""

from clew.learn.bandit import Arms
from clew.learn.centroid import Centroid
from clew.learn.counts import Table
from clew.learn.examples import Examples
from clew.learn.hashing import FeatureHasher
from clew.learn.logistic import LogisticRegression, OnlineLogisticRegression
from clew.learn.rows import SparseRows

__all__ = [
    "Arms",
    "Centroid",
    "Examples",
    "FeatureHasher",
    "LogisticRegression",
    "OnlineLogisticRegression",
    "SparseRows",
    "Table",
]
