"""`Chromium`: a browser that can reach nothing, and shows what a page becomes when its scripts have run.

Every request of a page is caught before it leaves the browser and answered with what clew's own door brought,
so vetted addresses, limits, robots.txt and TLS are the door's, and there is one door. What might get past the
catching (web sockets, prefetches, WebRTC, the browser's own calls home) finds no way out: names resolve to
nothing, and the only proxy is a port on this machine where nobody listens.
"""

from __future__ import annotations

import asyncio
import html
import json
import os
import shutil
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.errors import ConfigError, FetchError, Reason
from clew.fetch.base import Response
from clew.fetch.subrequests import PageVisit, Subrequests, web_address

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FETCHED = frozenset({"script", "xhr", "fetch"})
"""What a page is given besides itself; everything else is refused, or is empty."""
QUIET = 0.5
"""A page that has asked for nothing for so many seconds has settled."""
LAST_WORD = 2.0
"""Seconds to hand over what is there when the time is up."""
_STEP = 0.05

_ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-gpu",
    "--mute-audio",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=512",
)
# Of a reply's headers, those that a page can see the working of and that start nothing.
_PASSED = ("content-type", "content-language", "content-security-policy", "cross-origin-", "access-control-")
# Of no use to a reader, and the one thing that asks the local network for names and routes.
_WITHOUT = """for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"])
  delete self[name]"""
_SNAPSHOT = """(() => {
  const text = String(document.documentElement ? document.documentElement.outerHTML : "");
  return JSON.stringify([text.slice(0, LIMIT), text.length > LIMIT, String(document.baseURI),
                         document.querySelector("base[href]") !== null]);
})()"""


def find_chromium(given: Path | None = None) -> Path:
    """The browser to use: the one named, or the first found on the path. It is never downloaded."""
    if given is not None:
        if given.is_file() and os.access(given, os.X_OK):
            return given
        raise ConfigError(f"{given} is not a program: give --browser-path the path of Chromium or Chrome")
    found = next((place for name in NAMES if (place := shutil.which(name)) is not None), None)
    if found is None:
        raise ConfigError(
            "--browser needs Chromium or Chrome on this machine: install it with the system's package "
            "manager (apt-get install chromium), or say where it is with --browser-path FILE"
        )
    return Path(found)


def playwright_at_hand() -> Any:
    """playwright's entrance; a `ConfigError` that says what to install when it is not there."""
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        raise ConfigError("--browser needs playwright: install it with pip install 'clew[browser]'") from None
    return async_playwright


@dataclass(frozen=True, slots=True)
class Rendering:
    """A page after its scripts have run."""

    html: bytes
    cut: bool
    """It was too long, or the page had not settled when its time was up."""


@dataclass(slots=True)
class _Tab:
    """What is known of one page while it is in the browser."""

    reply: Response
    visit: PageVisit
    main: Any = None
    opened: bool = False
    moved_at: float = field(default_factory=time.monotonic)
    jump: str = ""
    crashed: bool = False
    work: set[asyncio.Task[None]] = field(default_factory=set)


class Chromium:
    """A browser process, started by the first page and again after a crash.

    Parameters: the program; what makes the subrequests; the name it goes by; seconds for a page, all told;
    bytes of a rendered page; pages at once.
    """

    def __init__(
        self,
        program: Path,
        subrequests: Subrequests,
        user_agent: str,
        timeout: float,
        max_body: int,
        tabs: int = 2,
    ) -> None:
        self.program = program
        self.subrequests = subrequests
        self.user_agent = user_agent
        self.timeout = timeout
        self.max_body = max_body
        self.crashes = 0
        self.launches = 0
        self._gate = asyncio.Semaphore(tabs)
        self._starting = asyncio.Lock()
        self._nowhere: socket.socket | None = None
        self._driver: Any = None
        self._browser: Any = None

    async def open(self) -> None:
        """Start the browser; a `ConfigError` when it cannot be."""
        start = playwright_at_hand()
        async with self._starting:
            if self._browser is not None and self._browser.is_connected():
                return
            await self._end()
            # Bound, so that nobody else can have the port, and not listening, so that nobody answers.
            self._nowhere = socket.socket()
            self._nowhere.bind(("127.0.0.1", 0))
            try:
                self._driver = await start().start()
                self._browser = await self._launch(self._nowhere.getsockname()[1])
                self.launches += 1
            except Exception as error:
                await self._end()
                first = (str(error).strip() or type(error).__name__).splitlines()[0]
                raise ConfigError(
                    f"{self.program} does not start ({first[:200]}); to see why, try it by hand: "
                    f"{self.program} --headless --dump-dom about:blank"
                ) from error

    async def _launch(self, port: int) -> Any:
        return await self._driver.chromium.launch(
            executable_path=str(self.program),
            headless=True,
            # Root cannot have the sandbox; anybody else cannot do without.
            chromium_sandbox=os.geteuid() != 0,
            args=list(_ARGUMENTS),
            proxy={"server": f"http://127.0.0.1:{port}", "bypass": "<-loopback>"},
            env={name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )

    async def render(self, reply: Response, visit: PageVisit) -> Rendering:
        """What a page becomes; a `FetchError` when the browser did not survive it, twice."""
        async with self._gate:
            for last in (False, True):
                try:
                    await self.open()
                    return await self._render(_Tab(reply, visit))
                except FetchError:
                    raise
                except Exception as error:
                    # Another page may have taken the browser with it: in a fresh one this gets one more try.
                    self.crashes += 1
                    await self._reset()
                    if last:
                        first = (str(error).strip() or type(error).__name__).splitlines()[0]
                        raise FetchError(Reason.BROWSER, f"the browser failed: {first[:200]}") from error
            raise AssertionError("not reached")

    async def close(self) -> None:
        """End the browser."""
        async with self._starting:
            await self._end()

    def __repr__(self) -> str:
        return f"Chromium({str(self.program)!r}, {self.crashes} crashes)"

    async def _reset(self) -> None:
        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                await self._end()

    async def _end(self) -> None:
        browser, self._browser = self._browser, None
        driver, self._driver = self._driver, None
        nowhere, self._nowhere = self._nowhere, None
        for step in (browser and browser.close, driver and driver.stop):
            if step is not None:
                with suppress(Exception):
                    async with asyncio.timeout(10):
                        await step()
        if nowhere is not None:
            nowhere.close()

    async def _render(self, tab: _Tab) -> Rendering:
        browser = self._browser
        context = await browser.new_context(
            user_agent=self.user_agent, service_workers="block", accept_downloads=False, locale="en-US"
        )
        try:
            await context.route("**/*", lambda route: self._answer(route, tab))
            await context.route_web_socket("**/*", _hang_up)
            await context.add_init_script(_WITHOUT)
            tab.main = await context.new_page()
            context.on("page", _close)
            tab.main.on("crash", lambda _: setattr(tab, "crashed", True))
            settled = await self._let_run(tab)
            return await self._take(context, tab, settled)
        finally:
            for work in tab.work:
                work.cancel()
            with suppress(Exception):
                async with asyncio.timeout(LAST_WORD):
                    await context.close()

    async def _let_run(self, tab: _Tab) -> bool:
        """Open the page and wait until it has settled; False when its time was up before."""
        try:
            async with asyncio.timeout(self.timeout):
                await tab.main.goto(tab.reply.url, wait_until="commit", timeout=0)
                while tab.work or time.monotonic() - tab.moved_at < QUIET:
                    if tab.crashed or not self._browser.is_connected():
                        raise RuntimeError("the page crashed")
                    await asyncio.sleep(_STEP)
        except TimeoutError:
            return False
        return True

    async def _take(self, context: Any, tab: _Tab, settled: bool) -> Rendering:
        """The page as it is now, read in a world where its scripts have changed nothing."""
        try:
            async with asyncio.timeout(LAST_WORD):
                link = await context.new_cdp_session(tab.main)
                frame = (await link.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
                world = await link.send("Page.createIsolatedWorld", {"frameId": frame})
                found = await link.send(
                    "Runtime.evaluate",
                    {
                        "expression": _SNAPSHOT.replace("LIMIT", str(self.max_body)),
                        "contextId": world["executionContextId"],
                        "returnByValue": True,
                    },
                )
        except TimeoutError:
            detail = f"the page's scripts did not let go within {self.timeout:g} s"
            raise FetchError(Reason.BROWSER, detail) from None
        text, long, base, fixed = json.loads(found["result"]["value"])
        return Rendering(_document(tab, text, "" if fixed else base), long or not settled)

    async def _answer(self, route: Any, tab: _Tab) -> None:
        """Answer one request of a page, unless the page is over before that."""
        work = asyncio.create_task(self._fulfil(route, tab))
        tab.work.add(work)
        await asyncio.wait([work])
        tab.work.discard(work)
        tab.moved_at = time.monotonic()
        if not work.cancelled():
            # An error is that of a page that is gone by the time its part is there.
            work.exception()

    async def _fulfil(self, route: Any, tab: _Tab) -> None:
        request = route.request
        kind = request.resource_type
        if request.is_navigation_request():
            await self._navigate(route, tab)
        elif kind == "stylesheet":
            # Nothing to read in it; but scripts may wait for its arrival.
            await route.fulfill(status=200, headers={"content-type": "text/css"}, body="")
        elif kind not in FETCHED or request.method != "GET":
            tab.visit.refuse(request.url, f"{request.method} {kind}")
            await route.abort("blockedbyclient")
        else:
            try:
                found = await self.subrequests.get(request.url, tab.visit, script=kind == "script")
            except FetchError:
                await route.abort("failed")
                return
            await route.fulfill(status=found.status, headers=_headers(found), body=found.body)

    async def _navigate(self, route: Any, tab: _Tab) -> None:
        """The page itself, once. Wherever it goes from there is a link; and frames stay empty."""
        request = route.request
        top = tab.main is not None and request.frame == tab.main.main_frame
        if top and not tab.opened:
            tab.opened = True
            await route.fulfill(status=200, headers=_headers(tab.reply), body=tab.reply.body)
            return
        if top and not tab.jump and request.method == "GET":
            tab.jump = web_address(request.url) or ""
        tab.visit.refuse(request.url, "navigation" if top else "frame")
        # A page without content leaves the one that is shown as it is.
        await route.fulfill(status=204, body="")


def _headers(reply: Response) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in reply.headers:
        lowered = name.lower()
        if lowered.startswith(_PASSED):
            kept[lowered] = f"{kept[lowered]}, {value}" if lowered in kept else value
    return kept


def _document(tab: _Tab, text: str, base: str) -> bytes:
    """The rendered page, with what it needs to be read by itself."""
    notes: list[str] = []
    if base.partition("#")[0] not in ("", tab.reply.url) and web_address(base):
        notes.append(f'<base href="{html.escape(base, quote=True)}">')
    if tab.jump and tab.jump != tab.reply.url:
        notes.append(f'<meta http-equiv="refresh" content="0;url={html.escape(tab.jump, quote=True)}">')
    return ("<!DOCTYPE html>" + _with_notes(text, notes)).encode("utf-8", "replace")


def _with_notes(text: str, notes: Sequence[str]) -> str:
    """Put notes at the beginning of the head, or of the page where it has none."""
    at = text.find("<head")
    end = text.find(">", at) + 1 if at >= 0 else text.find(">") + 1
    return text[:end] + "".join(notes) + text[end:]


async def _close(page: Any) -> None:
    """A window that a page opens is closed."""
    with suppress(Exception):
        await page.close()


async def _hang_up(link: Any) -> None:
    with suppress(Exception):
        await link.close(code=1008, reason="not allowed")
