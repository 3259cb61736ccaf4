"""Edit a crawl directory in every way a stranger could, and run every command on it.

Each edit (`directory_edits.py`) is made to a fresh copy of a crawl; every reading command is run on it, then
the crawl is resumed, repaired, and resumed again. A command must end in a sentence, and nothing outside the
directory may change: what lies around it is compared before and after, and every file that Python opens for
writing and every program it starts is looked at as it happens.

    python checks/foreign_directory.py [--edits N] [--seed S] [--first N] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from directory_edits import EDITS
from verdict import arguments, ended

PAGES = 12
CHUNK = 250
"""Edits to a process: what one leaves behind in it cannot be blamed on edits without end."""
PATIENCE = 60
"""Seconds after which a command hangs."""
ROOM = 2 << 30
"""Bytes of address space beyond what the process has when it begins."""


# the web that is crawled


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        number = self.path.strip("/")
        found = number.isdigit() and int(number) < PAGES
        body = page(int(number)) if found else b"User-agent: *\nAllow: /\n"
        self.send_response(200 if found or self.path == "/robots.txt" else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8" if found else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        pass


def page(number: int) -> bytes:
    """A page of the web: a word of its own, some of everyone's, links in a tree and across it."""
    dice = random.Random(number)
    words = " ".join(dice.choices(("wind", "farm", "turbine", "sea", "oil", "größe", "coast"), k=60))
    targets = [2 * number + 1, 2 * number + 2, dice.randrange(PAGES)]
    links = " ".join(
        f'<a href="/{target}">to {dice.choice(words.split())} {target}</a>' for target in targets
    )
    return (
        f"<!doctype html><html lang=en><title>Page {number}</title><p>w{number} {words}</p>{links}".encode()
    )


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """The web on loopback; gives its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


# running commands


class Hung(BaseException):
    """A command took too long."""


def _hung(*_: object) -> None:
    raise Hung


@functools.cache
def parsed(*words: str) -> tuple[Callable[..., Any], Any]:
    """A command line taken apart: once, since the lines are the same for every edit."""
    from clew.cli.app import build

    call, bound, _ = build().parse_args(words)
    return call, bound


def command(*words: object) -> tuple[int, str, str]:
    """Run `clew` in this process, as its entry point does; gives exit code, output and complaints."""
    from clew.cli.exits import code_of

    call, bound = parsed(*map(str, words))
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    signal.alarm(PATIENCE)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                result = call(*bound.args, **bound.kwargs)
                code = result if isinstance(result, int) else 0
            except Hung:
                raise
            except BaseException as error:
                code = code_of(error)
    finally:
        signal.alarm(0)
    for stream in (out, err):
        stream.flush()
    said = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err)]  # type: ignore[attr-defined]
    return code, said[0], said[1]


def manners() -> list[str]:
    """Options for a web on this machine."""
    line = ["--delay", "0", "--own", "127.0.0.1", "--allow-private", "127.0.0.1", "--parse-workers", "0"]
    return [*line, "--timeout", "2s", "--sitemaps", "off"]


def make(directory: Path, port: int) -> None:
    """The crawl that is edited: half of the web, with report and search index."""
    start = ("crawl", f"http://127.0.0.1:{port}/0", "-m", "wind AND coast", "-d", directory)
    code, _, said = command(*start, "--pages", PAGES // 2, *manners())
    assert code in (0, 3), said
    assert command("search", directory, "wind")[0] == 0
    assert command("report", directory)[0] == 0


def commands(directory: Path, port: int, out: Path) -> list[tuple[object, ...]]:
    """Every command that takes a crawl directory: those that read, then those that write."""
    url = f"http://127.0.0.1:{port}/"
    read: list[tuple[object, ...]] = [
        ("status", directory),
        ("status", directory, "--json"),
        ("export", directory, "-f", "jsonl"),
        ("export", directory, "-f", "csv", "-o", out / "pages.csv"),
        ("export", directory, "-f", "warc", "-o", out / "pages.warc.gz"),
        ("search", directory, "wind"),
        ("explain", directory, f"{url}0"),
        ("explain", directory, f"{url}{PAGES - 1}"),
        ("explain", directory, f"{url}nowhere"),
        ("trace", directory),
        ("trace", directory, "--json"),
        ("report", directory),
        ("knowledge", "show", directory),
        ("doctor", directory, "--json"),
    ]
    again = ("crawl", "-d", directory, "--pages", PAGES // 2 + 2, "--time", "2s", *manners())
    return [*read, again, ("doctor", directory, "--repair"), again]


# watching


class Watch:
    """What Python opens for writing, removes, renames or starts, outside a directory."""

    def __init__(self) -> None:
        self.inside: tuple[str, ...] | None = None
        self.escapes: list[str] = []
        sys.addaudithook(self._heard)

    @contextlib.contextmanager
    def confined(self, *inside: Path) -> Iterator[None]:
        self.escapes = []
        self.inside = tuple(os.path.realpath(path) for path in inside)
        try:
            yield
        finally:
            self.inside = None

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.inside is None:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                self._look(event, path)
        elif event in (
            "os.remove",
            "os.rename",
            "os.mkdir",
            "os.rmdir",
            "os.truncate",
            "os.link",
            "os.symlink",
        ):
            self._look(event, arguments[0])
            if event == "os.rename":
                self._look(event, arguments[1])
        elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork"):
            self.escapes.append(f"{event} {arguments!r:.100}")

    def _look(self, event: str, path: object) -> None:
        if isinstance(path, int) or path == os.devnull:
            return
        inside, self.inside = self.inside, None
        try:
            # the folder it is in: what is renamed or removed is the name, not what it leads to
            text = os.fsdecode(path)  # type: ignore[arg-type]
            parent = os.path.realpath(os.path.dirname(os.path.abspath(text)))
            real = os.path.realpath(text) if event in ("open", "os.truncate") else parent
            if not any(place == real or real.startswith(place + os.sep) for place in inside or ()):
                self.escapes.append(f"{event} {text}")
        finally:
            self.inside = inside


def state(*places: Path) -> str:
    """What is in some folders, names and bytes."""
    digest = hashlib.sha256()
    for place in places:
        for path in sorted(place.rglob("*")):
            digest.update(f"{path} {path.is_symlink()}\n".encode())
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def judged(code: int, out: str, said: str) -> str:
    """What is wrong with how a command ended; empty when it ended in a sentence, or in findings on stdout."""
    for bad in ("Traceback", "unexpected", "Exception", "out of memory", "Error:"):
        if bad in said:
            return f"said {bad!r}"
    if code not in (0, 1, 2, 3, 4, 5):
        return f"exit code {code}"
    if code in (1, 2, 5) and "clew: " not in said and not (code == 1 and out):
        return f"exit code {code} without a word"
    return ""


def one(number: int, seed: int, base: Path, work: Path, port: int, watch: Watch) -> dict[str, Any]:
    """Make one edit, run every command; gives what was done and what went wrong."""
    dice = random.Random(f"{seed}:{number}")
    spot = work / "spot"
    shutil.rmtree(spot, ignore_errors=True)
    directory, victims, out = spot / "a" / "crawl", spot, spot / "out"
    made = ""
    while not made:
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(base, directory)
        for place in (spot / "cwd", spot / "folder", out):
            place.mkdir(exist_ok=True)
        (spot / "victim.txt").write_text(
            "the only copy of something precious, longer than twenty bytes\n" * 9
        )
        shutil.copy(base / "clew.db", spot / "victim.db")
        (edit,) = dice.choices([edit for edit, _ in EDITS], [weight for _, weight in EDITS])
        made = edit(directory, dice, victims)
    os.chdir(spot / "cwd")
    around = [path for path in spot.iterdir() if path.name not in ("a", "out")]
    everything = [place for place in around if place.is_dir()]
    failures: list[dict[str, Any]] = []
    for line in commands(directory, port, out):
        before = state(*everything), {path: path.read_bytes() for path in around if path.is_file()}
        began = time.monotonic()
        with watch.confined(directory, out):
            try:
                code, told, said = command(*line)
                wrong = judged(code, told if line[0] == "doctor" else "", said)
            except Hung:
                code, said, wrong = -1, "", f"hung after {time.monotonic() - began:.0f} s"
            except BaseException as error:
                code, said, wrong = -1, repr(error), "escaped as an exception"
        after = state(*everything), {path: path.read_bytes() for path in around if path.is_file()}
        escapes = [*watch.escapes, *(["something outside changed"] if before != after else [])]
        if wrong or escapes:
            shown = [str(word).replace(str(directory), "DIR") for word in line[:3]]
            failures.append(
                {"command": " ".join(shown), "wrong": wrong, "escapes": escapes, "said": said[-400:]}
            )
    return {"number": number, "kind": edit.__name__, "edit": made, "failures": failures}


def chunk(first: int, count: int, seed: int, base: Path, work: Path, port: int) -> None:
    """Some edits, a line of JSON for each; run as a process of its own."""
    signal.signal(signal.SIGALRM, _hung)
    watch = Watch()
    command("status", base)  # what is loaded once is no escape later
    command("explain", base, f"http://127.0.0.1:{port}/0")
    with open("/proc/self/statm") as stream:
        used = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
    for number in range(first, first + count):
        print(json.dumps(one(number, seed, base, work, port, watch)), flush=True)


def memory() -> str | None:
    """A folder in memory, where there is one: a disk that must sync after every command takes the time."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def run(
    edits: int, seed: int, first: int = 0, tell: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """Try so many edits; gives the figures."""
    kinds: Counter[str] = Counter()
    failed: list[dict[str, Any]] = []
    done = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=memory()) as place, serving() as port:
        work = Path(place)
        base = work / "base"
        signal.signal(signal.SIGALRM, _hung)
        make(base, port)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("CLEW_")}
        environment |= {"HOME": str(work / "home"), "TMPDIR": str(work / "tmp"), "PYTHONHASHSEED": "0"}
        (work / "home").mkdir()
        (work / "tmp").mkdir()
        at, end = first, first + edits
        while at < end:
            count = min(CHUNK, end - at)
            line = [
                sys.executable,
                __file__,
                "--chunk",
                f"{at}:{count}",
                "--seed",
                str(seed),
                "--work",
                place,
            ]
            child = subprocess.Popen(
                [*line, "--port", str(port)], stdout=subprocess.PIPE, text=True, env=environment, cwd=place
            )
            assert child.stdout is not None
            reached = at
            for text in child.stdout:
                result = json.loads(text)
                kinds[result["kind"]] += 1
                done, reached = done + 1, result["number"] + 1
                if result["failures"]:
                    failed.append(result)
                    tell(json.dumps(result, indent=1))
            if child.wait() and reached < at + count:
                died = [{"wrong": f"the process died: {child.returncode}"}]
                failed.append({"number": reached, "kind": "?", "edit": "?", "failures": died})
                tell(json.dumps(failed[-1]))
                done, reached = done + 1, reached + 1
            at = reached if reached > at else at + count
    escapes = sum(1 for result in failed for failure in result["failures"] if failure.get("escapes"))
    return {
        "edits": done,
        "commands": len(commands(Path(), 0, Path())),
        "failed": len(failed),
        "escapes": escapes,
        "kinds": dict(sorted(kinds.items())),
        "seconds": round(time.monotonic() - began, 1),
        "failures": failed,
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments(__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--edits", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first edit, to do one again")
    parser.add_argument("--chunk", help=argparse.SUPPRESS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.chunk:
        first, count = map(int, given.chunk.split(":"))
        work = Path(given.work)
        chunk(first, count, given.seed, work / "base", work, given.port)
        return 0
    found = run(
        given.edits, given.seed, given.first, lambda text: None if given.json else print(text, flush=True)
    )
    wrong = [f"edit {result['number']} ({result['kind']}): {result['edit']}" for result in found["failures"]]
    lines = [
        f"{found['edits']} edits, {found['commands']} commands on each: {found['kinds']}",
        f"  changes outside the directory: {found['escapes']}; {found['seconds']} s",
    ]
    return ended(given, "foreign_directory", found["edits"], wrong, found, lines)


if __name__ == "__main__":
    sys.exit(main())
