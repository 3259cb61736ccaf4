"""Functions of the user's that misbehave: timed, interrupted, and limited in a process of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from clew.errors import ClewError, Interruption
from clew.page import Page
from clew.predicate import compile as compile_predicate
from clew.run.user_code import SlowFunctions, UserCode
from clew.store import MemoryStore

PAGE = Page(url="http://a.example/", text="wind")
RULES = """
import os, sys, threading, time

def yes(page): return True
def exits(page): sys.exit(3)
def exits_at_once(page): os._exit(7)
def sleeps(page): time.sleep(3600)
def huge(page): return 10**400
def vast(page): return 10**5000

class Odd(BaseException): pass
def odd(page): raise Odd("not an Exception")

class Unshown:
    def __repr__(self): raise RuntimeError("no")
    def __float__(self): raise RuntimeError("no")
def unshown(page): return Unshown()
"""


@pytest.fixture(autouse=True)
def rules(tmp_path, monkeypatch):
    (tmp_path / "clew_user_rules.py").write_text(RULES)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("clew_user_rules", None)


def judge(name, code):
    return compile_predicate(f"py:clew_user_rules:{name}", allow_python=True, resolve=code.resolve).judge(
        PAGE
    )


@pytest.mark.parametrize("limit", [None, pytest.param(60.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exits", "failed on http://a.example/: SystemExit: 3"),
        ("odd", "failed on http://a.example/: Odd: not an Exception"),
        ("huge", "gave 1000.*… for http://a.example/: it must return"),
        ("vast", r"gave something \(int\) for .* it must return"),
        ("unshown", r"gave something \(Unshown\) for .* it must return"),
    ],
)
def test_whatever_a_function_does_is_told_in_a_sentence(name, said, limit):
    with pytest.raises(ClewError, match=f"py:clew_user_rules:{name} {said}"):
        judge(name, UserCode(limit))


@pytest.mark.slow
def test_a_function_that_ends_its_process_or_takes_too_long_does_nothing_to_the_crawl():
    code = UserCode(60.0)
    with pytest.raises(ClewError, match=r"ended its process on http://a.example/ \(exit code 7\)"):
        judge("exits_at_once", code)
    assert judge("yes", code).satisfied
    late = UserCode(0.01)
    assert judge("sleeps", late).score == 0.0
    assert late.slow()["py:clew_user_rules:sleeps"]["late"] == 1


def test_a_function_is_interrupted_only_while_it_runs():
    code = UserCode()
    code.interrupt("time")
    asked = compile_predicate("py:clew_user_rules:yes", allow_python=True, resolve=code.resolve)
    assert asked.judge(PAGE).satisfied

    def interrupts(page):
        code.interrupt("time")

    sys.modules["clew_user_rules"].yes = interrupts
    with pytest.raises(Interruption) as ended:
        judge("yes", code)
    assert (ended.value.reason, code.running) == ("time", "")


def test_slow_functions_are_written_down_with_the_page_that_took_longest():
    ticks = iter([0.0, 0.5, 1.0, 4.0])
    code = UserCode(clock=lambda: next(ticks))
    store = MemoryStore()
    observer = SlowFunctions(store, code)
    for _ in range(2):
        judge("yes", code)
        observer.settled((), None)
    told = store.meta()["slow"]["py:clew_user_rules:yes"]
    assert told == {"pages": 2, "seconds": 3.5, "longest": 3.0, "url": PAGE.url, "late": 0}


@pytest.mark.slow
def test_time_and_ctrl_c_end_a_crawl_whose_function_sleeps():
    check = Path(__file__).parents[2] / "checks" / "predicates.py"
    done = subprocess.run(
        [sys.executable, str(check), "--only", "sleeps"], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "predicates: 4 tried, 0 failed", done.stdout
