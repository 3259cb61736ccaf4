"""exp, log and their kin give the same bits on every processor, compiled or not."""

import ast
import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew import native
from clew.native import pure

NAMES = ("exp", "log", "log1p", "tanh")
#: Where the answer changes its kind, or the way to it does.
EDGES = [
    "0",
    "-0",
    "inf",
    "-inf",
    "nan",
    "5e-324",
    "-5e-324",
    "1e-308",
    "2.2250738585072014e-308",
    "1.8e307",
    "1.7976931348623157e308",
    "-1",
    "1",
    "0.5",
    "2",
    "709.78",
    "709.79",
    "710",
    "711",
    "-708.5",
    "-745.1",
    "-745.2",
    "-746",
    "-747",
    "-0.9999999999999999",
    "-1.0000000000000002",
    "0.375",
    "-0.25",
    "0.7071067811865475",
    "0.7071067811865476",
    "1152921504606846976",
    "1e17",
]


def numbers() -> np.ndarray:
    """Many numbers of all sizes, made without a function that could differ itself."""
    dice = np.random.default_rng(11)
    sizes = np.ldexp(dice.random(20_000) - 0.5, dice.integers(-60, 60, 20_000))
    return np.concatenate(
        [np.array(EDGES, np.float64), sizes, dice.random(20_000) * 1500 - 750, dice.random(20_000)]
    )


def made(module, name: str, *given: np.ndarray) -> np.ndarray:
    found = np.empty(given[0].shape)
    getattr(module, name)(*given, found)
    return found


def test_the_bits_are_those_that_every_processor_gives(loops):
    """The sum below was printed on x86-64 with and without AVX2 and FMA; any other processor must agree."""
    x = numbers()
    found = [made(loops, name, x) for name in NAMES] + [made(loops, "logaddexp", x, x[::-1].copy())]
    whole = np.where(np.isnan(np.stack(found)), 0.0, np.stack(found)).astype("<f8")
    assert hashlib.sha256(whole.tobytes()).hexdigest()[:16] == "f3c4c3f4590c7dfb"


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_right_to_the_last_bits(loops, name):
    for x, found in zip(numbers().tolist(), made(loops, name, numbers()).tolist(), strict=True):
        try:
            right = getattr(math, name)(x)
        except OverflowError:
            right = math.inf
        except ValueError:
            right = -math.inf if x == {"log": 0.0, "log1p": -1.0}[name] else math.nan
        room = 2.0**-52 if name == "tanh" else 2 * math.ulp(right)
        assert found == right or abs(found - right) <= room or (math.isnan(found) and math.isnan(right)), x


@given(st.floats(), st.floats())
def test_both_give_the_same_for_any_number(loops, a, b):
    for name in NAMES:
        assert getattr(loops, f"{name}_of")(a).hex() == getattr(pure, f"{name}_of")(a).hex()
        assert made(loops, name, np.array([a])).item().hex() == getattr(pure, f"{name}_of")(a).hex()
    pair = np.array([a]), np.array([b])
    assert made(loops, "logaddexp", *pair).item().hex() == made(pure, "logaddexp", *pair).item().hex()


def test_a_view_with_gaps_is_taken_as_well(loops):
    x = np.arange(10.0)
    assert native.exp(x[::3]).tolist() == [native.exp_of(v) for v in (0.0, 3.0, 6.0, 9.0)]


def test_a_sum_from_first_to_last_is_rounded_after_each():
    """Python 3.12 and later would give 2.0 by `sum`."""
    assert native.left_sum([1e16, 1.0, 1.0, -1e16]) == 0.0


HOUSE = Path(clew.__file__).parent
DECIDING = [
    "engine",
    "frontier",
    "policy",
    "strategy",
    "factor",
    "learn",
    "knowledge",
    "predicate",
    "parse",
    "topic",
    "url",
    "words",
]
#: What a C library, numpy or a BLAS works out with other last bits on another processor.
DIFFER = frozenset(
    [
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "logaddexp",
        "logaddexp2",
        "pow",
        "power",
        "sinh",
        "cosh",
        "tanh",
        "sin",
        "cos",
        "tan",
        "arctan",
        "atan",
        "cbrt",
        "hypot",
        "erf",
        "erfc",
        "gamma",
        "lgamma",
        "dot",
        "vdot",
        "inner",
        "matmul",
        "einsum",
        "linalg",
        "tensordot",
        "corrcoef",
        "cov",
        "convolve",
    ]
)


def unsteady(tree: ast.AST) -> list[str]:
    """What of a module's code may differ from one processor to the next."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            found.append(f"line {node.lineno}: @")
        if isinstance(node, ast.Attribute) and node.attr in DIFFER:
            owner = ast.unparse(node.value)
            if owner in ("np", "numpy", "math", "cmath"):
                found.append(f"line {node.lineno}: {owner}.{node.attr}")
    return found


def test_nothing_that_decides_uses_what_differs_between_processors():
    for package in DECIDING:
        for path in (HOUSE / package).rglob("*.py"):
            assert not unsteady(ast.parse(path.read_text("utf-8"))), path
    assert unsteady(ast.parse("a @ b; np.exp(x)")) == ["line 1: @", "line 1: np.exp"]


CRAWL = """
import asyncio, hashlib
from clew.fetch.replay import ReplayFetcher
from clew.lab.demo import DemoWeb
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import MemoryStore

web = DemoWeb(hosts=16, pages=300)
for strategy in ("intelligent", "ache", "anthelion", "tagpath", "shark"):
    config = CrawlConfig(seeds=web.seeds()[:3], proxy="http://127.0.0.1:9", match=web.formula(), pages=60,
                         own=("*",), delay=0, ordered=True, strategy=strategy, parse_workers=0)
    store = MemoryStore()
    asyncio.run(Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock()).run())
    lines = "\\n".join(decision.line() for decision in store.decisions())
    print(strategy, len(lines), hashlib.sha256(lines.encode()).hexdigest())
"""
#: The oldest of processors, as far as one can pretend to be it: no AVX2, no fused multiplication.
OLD = {
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 AVX2 FMA3",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable",
}
OTHERWISE = {"CLEW_PURE": "1", "PYTHONHASHSEED": "123", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}


@pytest.mark.slow
def test_an_old_processor_decides_alike_to_the_last_bit():
    """Scores and their parts included, with the compiled loops and without, wherever the clock stands."""
    told = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", CRAWL],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for settings in ({}, {**OLD, **OTHERWISE})
    ]
    assert told[0] == told[1]
    assert told[0].count("\n") == 5
