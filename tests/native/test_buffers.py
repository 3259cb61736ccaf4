"""Compiled functions refuse what does not fit: nothing is read or written beyond what they are given."""

import numpy as np
import pytest

from clew.native import pure

compiled = pytest.importorskip("clew.native._compiled", reason="not compiled here")

I8, I4, U8, U2, F8 = np.int64, np.int32, np.uint64, np.uint16, np.float64
#: Of each function arguments that it takes, and which of them are arrays that must be of another's length.
GIVEN = {
    **{name: ((np.ones(4), np.ones(4)), (0, 1)) for name in ("exp", "log", "log1p", "tanh")},
    "logaddexp": ((np.ones(4), np.ones(4), np.ones(4)), (0, 1, 2)),
    "best": (
        (0, 2, np.zeros(2, I4), np.zeros(2, I8), np.zeros(2), np.zeros(2, np.uint8), np.zeros(2)),
        (),
    ),
    "find": (
        (np.arange(4, dtype=U8), np.array([0, -1, 1, -1], I4), np.ones(3, U8), np.ones(3, I8)),
        (0, 1, 3),
    ),
    "sums": ((np.array([0, 1, 2], I8), np.zeros(2, I4), np.arange(2), np.ones(2), np.ones(2)), (4,)),
    "solved": ((np.eye(3).ravel(), np.ones(3), np.ones(3)), (0, 1, 2)),
    "gathered": ((np.zeros(4, I4), np.zeros(4, I4), np.ones(2), np.ones(2)), (0, 1)),
    "flat": (("wind farm", np.arange(65_536, dtype=U2), []), (1,)),
}
ARRAYS = [
    pytest.param(name, at, id=f"{name}-{at}")
    for name, (given, _) in GIVEN.items()
    for at, one in enumerate(given)
    if isinstance(one, np.ndarray)
]
#: Where functions write.
FOUND = [
    pytest.param(name, len(given) - 1, id=name)
    for name, (given, _) in GIVEN.items()
    if name not in ("best", "flat")
]
KINDS = [
    np.bool_,
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128),
    *("S4", "S8", "U1", "U2", "M8[s]", "m8[s]", "V4", "V8", "i4,i4"),
]


def call(name, at=None, other=None):
    given = [one.copy() if isinstance(one, np.ndarray) else one for one in GIVEN[name][0]]
    if at is not None:
        given[at] = other
    return getattr(compiled, name)(*given)


def test_each_function_that_takes_an_array_is_here():
    others = {"sketch", "exp_of", "log_of", "log1p_of", "tanh_of"}
    assert {name for name in vars(compiled) if not name.startswith("_")} == GIVEN.keys() | others
    assert all(callable(getattr(pure, name)) for name in GIVEN.keys() | others)
    for name in GIVEN:
        call(name)


@pytest.mark.parametrize(("name", "at"), ARRAYS)
def test_items_of_another_kind_are_refused(name, at):
    right = GIVEN[name][0][at]
    swapped = right.astype(right.dtype.newbyteorder())
    astray = np.zeros(right.nbytes + 1, np.uint8)[1:].view(right.dtype)
    kinds = [np.zeros(len(right), kind) for kind in KINDS if np.dtype(kind) != right.dtype]
    # Bytes are bytes, in whatever order.
    alike = [swapped, astray, bytes(right.nbytes), bytearray(right.nbytes), memoryview(b"")]
    for wrong in (*kinds, *alike[: 0 if right.itemsize == 1 else None]):
        # Of dates numpy gives no buffers at all.
        with pytest.raises((TypeError, ValueError)):
            call(name, at, wrong)
    for wrong in (None, 3, "wind", right.tolist()):
        with pytest.raises(TypeError):
            call(name, at, wrong)


@pytest.mark.parametrize(("name", "at"), ARRAYS)
def test_arrays_with_gaps_are_refused(name, at):
    right = GIVEN[name][0][at]
    for wrong in (np.repeat(right, 2)[::2], right[::-1]):
        assert len(wrong) == len(right)
        with pytest.raises(ValueError):
            call(name, at, wrong)


@pytest.mark.parametrize(
    ("name", "at"), [pytest.param(name, at, id=f"{name}-{at}") for name in GIVEN for at in GIVEN[name][1]]
)
def test_arrays_of_another_length_are_refused(name, at):
    right = GIVEN[name][0][at]
    for wrong in (right[:-1], right[:0], np.concatenate([right, right[:1]])):
        with pytest.raises(ValueError):
            call(name, at, wrong.copy())


@pytest.mark.parametrize(("name", "at"), FOUND)
def test_what_cannot_be_written_to_is_refused(name, at):
    fixed = GIVEN[name][0][at].copy()
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        call(name, at, fixed)


@pytest.mark.parametrize("name", GIVEN)
def test_too_few_and_too_many_arguments_are_refused(name):
    given = GIVEN[name][0]
    for wrong in ((), given[:-1], (*given, given[-1])):
        with pytest.raises(TypeError):
            getattr(compiled, name)(*wrong)


@pytest.mark.parametrize(
    ("name", "at", "wrong"),
    [
        ("best", 3, np.array([0, 2])),
        ("best", 3, np.array([-1, 0])),
        ("best", 5, np.zeros(0, np.uint8)),
        ("best", 6, np.zeros(0)),
        ("sums", 0, np.array([0, 1, 9])),
        ("sums", 0, np.array([-3, 1, 2])),
        ("sums", 1, np.array([0, 5], I4)),
        ("sums", 1, np.array([0, -1], I4)),
        ("sums", 1, np.zeros(1, I4)),
        ("sums", 3, np.ones(0)),
        ("gathered", 0, np.array([0, 0, 0, 2], I4)),
        ("gathered", 0, np.array([-1, 0, 0, 0], I4)),
        ("gathered", 1, np.array([0, 0, 2, 0], I4)),
        ("gathered", 1, np.array([0, 0, 0, -1], I4)),
        ("gathered", 2, np.ones(0)),
        ("gathered", 3, np.ones(0)),
    ],
)
def test_numbers_that_point_nowhere_are_refused(name, at, wrong):
    with pytest.raises(IndexError):
        call(name, at, wrong)


def test_more_entries_than_there_are_are_refused():
    for at in (2, 3, 4):
        with pytest.raises(ValueError):
            call("best", at, GIVEN["best"][0][at][:1].copy())
    for used in (3, -1):
        with pytest.raises(ValueError):
            call("best", 1, used)
    for at in (0, 1):
        with pytest.raises(TypeError):
            call("best", at, "0")
    with pytest.raises(OverflowError):
        call("best", 0, 1 << 70)


def test_what_is_no_text_is_refused():
    with pytest.raises(TypeError):
        call("flat", 0, b"wind")
    with pytest.raises(TypeError):
        call("flat", 2, ())
    for wrong in (("wind", 6, 40), (bytearray(b"wind"), 6, 40), (b"wind", 6.5, 40), (b"wind", 6)):
        with pytest.raises(TypeError):
            compiled.sketch(*wrong)
    for bits in (0, -1, 9):
        with pytest.raises(ValueError, match="bits"):
            compiled.sketch(b"wind", bits, 40)
    for name in ("exp_of", "log_of", "log1p_of", "tanh_of"):
        with pytest.raises(TypeError):
            getattr(compiled, name)("1")
