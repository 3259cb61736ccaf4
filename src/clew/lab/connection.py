"""One connection to the recorded server, and the line it leaves in the request log."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from clew.errors import FetchError, Reason
from clew.fetch.base import Response
from clew.lab.http1 import HEAD_LIMIT, BadRequest, Head, plain, read_head, write_head

if TYPE_CHECKING:
    from clew.lab.serve import RecordedServer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One line of the request log. `status` 0 is a request that got no reply, on purpose or because the
    crawler hung up first."""

    time: float
    """When it came in, seconds since the epoch."""
    method: str
    url: str
    """As the crawler sent it."""
    status: int
    bytes: int
    """Of the body, as sent."""
    client: str
    agent: str
    seconds: float
    """From the request's arrival to the reply's departure."""

    def line(self) -> str:
        """The hit as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


class ServerConnection(asyncio.Protocol):
    """One connection: requests are answered in turn; a slow answer holds back the ones behind it."""

    transport: asyncio.Transport

    def __init__(self, server: RecordedServer, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self.loop = loop
        self.buffer = b""
        self.client = ""
        self.waiting: asyncio.TimerHandle | None = None
        self.pending: Head | None = None
        """The request that the timer is for."""
        self.arrived = 0.0
        self.full = False
        self.last = False
        self.gone: asyncio.Future[None] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self.client = f"{peer[0]}:{peer[1]}" if peer else ""
        self.server.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.open.discard(self)
        if not self.gone.done():
            self.gone.set_result(None)
        if self.waiting is not None and self.pending is not None:
            self.waiting.cancel()
            self.note(self.pending, 0, 0)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if len(self.buffer) > 4 * HEAD_LIMIT:
            self.transport.pause_reading()
        self.advance()

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        self.advance()

    def finish(self) -> None:
        """Close once the request under way is answered."""
        self.last = True
        if self.waiting is None:
            self.transport.close()

    def advance(self) -> None:
        """Answer as many whole requests as have come in."""
        while self.waiting is None and not self.full and not self.transport.is_closing():
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0 or end > HEAD_LIMIT:
                if len(self.buffer) > HEAD_LIMIT:
                    self.refuse(431, "The head of the request is too long.\n")
                return
            data, self.buffer = self.buffer[:end].lstrip(b"\r\n"), self.buffer[end + 4 :]
            if not self.transport.is_reading():
                self.transport.resume_reading()
            self.arrived = time.time()
            try:
                head = read_head(data)
            except BadRequest as error:
                self.refuse(400, f"Bad request: {error}.\n")
                return
            self.reply(head)

    def refuse(self, status: int, text: str) -> None:
        self.send(Head("?", "", "", "", False, False), plain("", status, text))

    def reply(self, head: Head) -> None:
        try:
            response = self.server.answer(head)
        except FetchError as error:
            stall = self.server.stall if error.reason is Reason.TIMEOUT else 0.0
            self.pending, self.waiting = head, self.loop.call_later(stall, self.transport.abort)
            return
        except Exception as error:
            _log.exception("the recorded web failed on %s", head.url)
            response = plain(head.url, 500, f"The recorded web failed: {type(error).__name__}.\n")
        if wait := response.elapsed * self.server.pace:
            self.pending, self.waiting = head, self.loop.call_later(wait, self.send_late, head, response)
        else:
            self.send(head, response)

    def send_late(self, head: Head, response: Response) -> None:
        self.waiting = None
        self.send(head, response)
        self.advance()

    def send(self, head: Head, response: Response) -> None:
        body, coding = response.body, ""
        if self.server.compress and head.gzip and _is_text(response):
            body, coding = gzip.compress(body, 1, mtime=0), "gzip"
        keep = head.keep and not self.last
        start = write_head(response, len(body), keep=keep, coding=coding)
        if head.method == "HEAD" or response.status in (204, 304):
            body = b""
        self.note(head, response.status, len(body))
        self.transport.write(start + body)
        if not keep:
            self.transport.close()

    def note(self, head: Head, status: int, size: int) -> None:
        self.server.requests += 1
        if self.server.log is not None:
            took = round(time.time() - self.arrived, 6)
            hit = LoggedRequest(
                self.arrived, head.method, head.url, status, size, self.client, head.agent, took
            )
            self.server.log(hit)


def _is_text(response: Response) -> bool:
    kind = response.header("content-type").lower()
    return len(response.body) > 512 and kind.startswith(("text/", "application/x", "application/json"))
