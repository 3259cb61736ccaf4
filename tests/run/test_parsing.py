"""Parse workers: replies go to them several at a time, and each gets its own answer."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clew.errors import ParseError
from clew.fetch.base import Response
from clew.run.parsing import HybridParser, InlineParser, WorkerParser


def _reply(number: int, body: bytes = b"") -> Response:
    body = body or b"<title>%d</title><p>see <a href=/%d>page %d</a>" % (number, number + 1, number + 1)
    kind = "application/xml" if body.startswith(b"<?xml") else "text/html"
    return Response(
        url=f"http://a.example/{number}", status=200, headers=(("Content-Type", kind),), body=body
    )


def die(response: Response) -> None:
    """A page that takes the parser down with it."""
    os._exit(1)


async def test_many_replies_come_back_as_if_read_on_the_spot() -> None:
    replies = [_reply(i) for i in range(40)]
    replies[7] = _reply(7, b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>')
    parser, here = WorkerParser(1), InlineParser()
    try:
        found = await asyncio.gather(*(parser.parse(r, 3) for r in replies), return_exceptions=True)
    finally:
        await parser.close()
    for number, (reply, page) in enumerate(zip(replies, found, strict=True)):
        if number == 7:
            assert isinstance(page, ParseError)
        else:
            assert page == await here.parse(reply, 3)


async def test_a_page_that_crashes_a_worker_takes_no_other_with_it() -> None:
    parser = WorkerParser(1)
    try:
        # The first is on its way alone; the others wait together.
        work = [parser.parse(_reply(i), 0) for i in range(4)]
        found = await asyncio.gather(
            *work, parser._work(die, _reply(9)), parser.parse(_reply(5), 0), return_exceptions=True
        )
    finally:
        await parser.close()
    assert [page.title for page in (*found[:4], found[5])] == ["0", "1", "2", "3", "5"]
    assert isinstance(found[4], ParseError)


def spin(response: Response) -> None:
    """A page that keeps the processor busy for ever."""
    while True:
        pass


def doze(response: Response, seconds: float) -> str:
    """A page that takes long by the wall, but hardly any processor time, as on a busy machine."""
    time.sleep(seconds)
    return "awake"


@pytest.mark.slow
async def test_a_page_may_use_so_much_processor_time_and_no_more() -> None:
    parser = WorkerParser(1, cpu_limit=1)
    try:
        with pytest.raises(ParseError, match="more than 1 s of processor time"):
            await parser._work(spin, _reply(1))
        assert (await parser.parse(_reply(2), 0)).title == "2"
    finally:
        await parser.close()


async def test_waiting_is_not_held_against_a_page() -> None:
    """Wall time beyond the limit, in the queue and in the worker, fails nothing."""
    parser = WorkerParser(1, cpu_limit=1)
    try:
        work = [parser._work(doze, _reply(i), 0.4) for i in range(3)]
        assert await asyncio.gather(*work) == ["awake"] * 3
    finally:
        await parser.close()


async def test_a_worker_that_never_answers_is_tried_once_more_and_given_up() -> None:
    parser = WorkerParser(1, stuck=0.5)
    try:
        with pytest.raises(ParseError, match=r"no answer within 0\.5 s"):
            await parser._work(doze, _reply(1), 1000.0)
    finally:
        await parser.close()


async def test_a_worker_inherits_a_blocked_interrupt() -> None:
    """Ctrl-C reaches the whole group: a worker that still imports must not die of it with a traceback."""
    parser = WorkerParser(1)
    try:
        blocked, handler = await parser._work(interrupts, _reply(1))
    finally:
        await parser.close()
    assert blocked
    assert handler == signal.SIG_IGN
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def interrupts(response: Response) -> tuple[bool, object]:
    """In a worker: whether SIGINT is blocked, and who handles it."""
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getsignal(signal.SIGINT)


async def test_closing_ends_what_is_under_way() -> None:
    parser = WorkerParser(1)
    work = asyncio.ensure_future(parser.parse(_reply(1), 0))
    await asyncio.sleep(0)
    await parser.close()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


SCRIPT = """
print("begun", flush=True)
import asyncio
from clew.fetch.base import Response
from clew.run.parsing import WorkerParser

async def title():
    parser = WorkerParser(1)
    try:
        reply = Response(url="http://a.example/", status=200, body=b"<title>T</title>")
        return (await parser.parse(reply, 0)).title
    finally:
        await parser.close()

print(asyncio.run(title()), __file__.endswith("plain.py"))
"""


def test_a_worker_does_not_run_the_script_that_crawls_again(tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["begun", "T", "True"], done.stderr


async def test_a_page_whose_worker_cannot_be_started_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = WorkerParser(1)

    def refused(*_: object) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(parser._pool, "submit", refused)
    try:
        with pytest.raises(ParseError, match="no process"):
            await parser.parse(_reply(1), 0)
    finally:
        await parser.close()


@pytest.mark.parametrize(("body", "here"), [(b"<p>", True), (b"%PDF-1.7", False), (b"\x1f\x8b\x08", False)])
def test_what_may_unfold_is_not_read_on_the_spot(body, here):
    assert HybridParser(1).at_once(Response(url="http://a.example/", status=200, body=body)) is here
