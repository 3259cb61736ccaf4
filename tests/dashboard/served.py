"""A dashboard as a user has it: served on the loopback address, asked over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from clew.dashboard.app import Dashboard, make_app
from clew.dashboard.folder import CrawlFolder, key_of
from clew.dashboard.gate import AccessRules
from clew.dashboard.serve import _listen
from clew.fetch.replay import ReplayFetcher
from clew.lab.demo import DemoWeb
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import SqliteStore
from clew.store.inbox import Inbox

WEB = DemoWeb(seed=7)
#: Three interests that pages of it satisfy.
SEVERAL = {"wind": WEB.formula(), "stars": "telescope OR nebula", "football": "goalkeeper OR striker"}
#: Milliseconds that a browser may take for a step, and seconds for an answer: a busy machine is slow.
WAIT = 60_000
PATIENCE = 60.0


def crawl_demo(directory: Path, pages: int = 60, **more: Any) -> None:
    """A short crawl of the demo web, by replay."""
    settings: dict[str, Any] = {
        "match": WEB.formula(),
        "pages": pages,
        "own": ("*",),
        "delay": 0,
        "ordered": True,
    }
    config = CrawlConfig(seeds=WEB.seeds(), proxy="http://127.0.0.1:9", **(settings | more))
    with contextlib.closing(SqliteStore(directory)) as store:
        store.set_meta(config=json.loads(config.to_json()))
        inbox = Inbox(directory)
        session = Session(config, store, fetcher=ReplayFetcher(WEB), clock=VirtualClock(1e9), inbox=inbox)
        # In a thread of its own: the one of the test may have the loop of the browser's driver.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, session.run()).result()


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Served:
    """A dashboard that runs."""

    dashboard: Dashboard
    folder: Path

    @property
    def admitted(self) -> AccessRules:
        return self.dashboard.admitted

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.admitted.port}"

    def ask(
        self,
        path: str,
        method: str = "GET",
        data: Any = None,
        timeout: float = PATIENCE,
        **headers: str | None,
    ) -> Reply:
        """One request; a header that is None is not sent."""
        sent = {"Host": f"127.0.0.1:{self.admitted.port}"}
        body = None
        if data is not None:
            body = json.dumps(data).encode()
            sent |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        sent |= {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        connection = http.client.HTTPConnection("127.0.0.1", self.admitted.port, timeout=timeout)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            reply = connection.getresponse()
            # Events have no end: their first lines are enough.
            streamed = "event-stream" in (reply.headers.get("content-type") or "")
            return Reply(
                reply.status,
                {k.lower(): v for k, v in reply.headers.items()},
                b"" if streamed else reply.read(),
            )
        finally:
            connection.close()

    def change(self, path: str, data: Any = None) -> Reply:
        """A change with the token, as the page sends it."""
        return self.ask(path, "POST", data or {}, X_Clew_Token=self.admitted.token, Origin=self.base)

    def steer(self, key: str, wanted: dict[str, Any], *, preview: bool = False) -> dict[str, Any]:
        """What came of a request, as the page asks for it; one that is refused at once has only `error`."""
        now = self.change(f"/crawl/{key}/steer", {"wanted": wanted, "preview": preview}).json()
        while "over" in now and not now["over"]:
            time.sleep(0.02)
            now = next(job for job in self.ask(f"/crawl/{key}/steered").json() if job["job"] == now["job"])
        return now

    def read(self, key: str) -> str:
        """The page of a crawl that has been read to its end: all it will ever show is what it shows first."""
        live = self.dashboard.crawl(key)
        while live.catching_up:
            live.update()
        return f"/crawl/{key}"

    def events(self, key: str, wanted: set[str]) -> dict[str, Any]:
        """The first event of each of these names."""
        found: dict[str, Any] = {}
        connection = http.client.HTTPConnection("127.0.0.1", self.admitted.port, timeout=PATIENCE)
        connection.request("GET", f"/crawl/{key}/events")
        reply = connection.getresponse()
        name = ""
        while not wanted <= found.keys():
            line = reply.readline().decode().rstrip()
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: ") and name:
                found[name] = json.loads(line[6:])
        connection.close()
        return found


@contextlib.contextmanager
def serving(folder: Path, *, address: str = "127.0.0.1", names: tuple[str, ...] = ()) -> Iterator[Served]:
    """A dashboard of a folder, for as long as this is entered."""
    listening = _listen("127.0.0.1", 0)
    admitted = AccessRules.make(address, listening.getsockname()[1], names)
    dashboard = Dashboard(CrawlFolder(folder), admitted)
    server = uvicorn.Server(
        uvicorn.Config(make_app(dashboard), log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield Served(dashboard, folder)
    finally:
        # Streams of events have no end of their own, and nobody listens any more.
        server.should_exit = server.force_exit = True
        thread.join(PATIENCE)
        for live in dashboard.live.values():
            live.close()
        listening.close()


__all__ = ["PATIENCE", "SEVERAL", "WAIT", "WEB", "Reply", "Served", "crawl_demo", "key_of", "serving"]
