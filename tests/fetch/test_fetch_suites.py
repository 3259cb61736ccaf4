"""Hostile and broken replies of the public suites, over real sockets."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
import subprocess
import sys
from functools import partial

import brotli
import pytest
import zstandard

from clew.errors import FetchError
from clew.fetch import Request, Response

pytestmark = pytest.mark.data


def replies(suite):
    """The 229 raw replies: name and bytes."""
    for name in ("http_llhttp_responses", "http_wpt_asis", "http_nutch_bad"):
        for number, line in enumerate(suite(f"http/{name}.jsonl").read_text().splitlines()):
            case = json.loads(line)
            yield f"{name} {number} {case['id']}", base64.b64decode(case["raw_b64"])
    cases = json.loads(suite("http/content-lengths.json").read_text())
    for number, case in enumerate(cases):
        head = "HTTP/1.1 200 OK\r\n" + case["input"] + "\r\n\r\n"
        yield f"content-lengths {number}", head.encode() + b"a" * 30 + b"b" * 12


@pytest.mark.parametrize("close", [True, False])
async def test_every_reply_gives_a_response_or_a_fetch_error_in_time(suite, serve, fetcher, close):
    """Whether the server hangs up afterwards or leaves the connection hanging."""
    one = fetcher(timeout=0.5)
    seen = 0

    async def ask(name: str, raw: bytes) -> str:
        server = await serve(raw, close=close)
        try:
            # The limit is far above the fetcher's own: reaching it is a hang.
            got = await asyncio.wait_for(one.fetch(Request(server.url())), 60.0)
        except FetchError:
            return ""
        except Exception as error:
            return f"{name}: {error!r}"
        return "" if isinstance(got, Response) and 100 <= got.status <= 999 else f"{name}: {got!r}"

    pending = []
    wrong = []
    for name, raw in replies(suite):
        seen += 1
        pending.append(ask(name, raw))
        if len(pending) == 32:
            wrong += await asyncio.gather(*pending)
            pending = []
    wrong += await asyncio.gather(*pending)
    assert seen == 229
    assert list(filter(None, wrong)) == []


ENCODING = re.compile(r"(?:html|bomb)-(.+)\.bin")
NAMES = {"rawdeflate": "deflate", "zlibdeflate": "deflate"}


def encoding(name: str) -> str:
    found = ENCODING.fullmatch(name)
    if found is None:
        return "gzip"
    coding = re.sub(r"zstd-.*", "zstd", found[1])
    return NAMES.get(coding) or ", ".join(coding.split("-"))


async def test_every_packed_file_is_unpacked_within_the_limit(suite, serve, fetcher, reply):
    pages = set()
    for path in sorted(suite("bombs").iterdir()):
        server = await serve(reply(path.read_bytes(), f"Content-Encoding: {encoding(path.name)}"))
        got = await fetcher().fetch(Request(server.url()))
        assert 0 < len(got.body) <= 10_000_000, path.name
        torn = path.name.startswith(("bomb", "truncated", "unexpected"))
        assert got.truncated == torn, path.name
        if path.name.startswith("html"):
            pages.add(got.body.replace(b"\r\n", b"\n").strip())
    assert len(pages) <= 2


CHILD = """
import asyncio, gzip, json, re, sys
from clew.fetch import HttpFetcher, HttpSettings, Request

def peak_kb():
    # Not getrusage: what that reports starts from the parent's size.
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

async def main(files):
    answers = {}
    for name, coding in files:
        answers[f"/{len(answers)}"] = (coding, open(name, "rb").read())

    async def handle(reader, writer):
        while True:
            try:
                head = await reader.readuntil(b"\\r\\n\\r\\n")
            except asyncio.IncompleteReadError:
                return writer.close()
            coding, body = answers[head.split()[1].decode()]
            status = "302 Found\\r\\nLocation: /" if coding == "br" else "200 OK"
            writer.write(f"HTTP/1.1 {status}\\r\\nContent-Encoding: {coding}\\r\\n"
                         f"Content-Length: {len(body)}\\r\\n\\r\\n".encode() + body)

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = HttpSettings(allow_private=("127.0.0.1",), timeout=60)
    async with HttpFetcher(settings) as fetcher:
        # What the process needs anyway is not growth.
        answers["/warm"] = ("gzip", gzip.compress(b"x"))
        await fetcher.fetch(Request(f"http://127.0.0.1:{port}/warm"))
        before = peak_kb()
        longest = 0
        for path in [p for p in answers if p != "/warm"]:
            got = await fetcher.fetch(Request(f"http://127.0.0.1:{port}{path}"))
            longest = max(longest, len(got.body))
        grown = peak_kb() - before
    server.close()
    print(json.dumps({"longest": longest, "grown_kb": grown}))

asyncio.run(main(json.loads(sys.argv[1])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc to know a process's peak memory")
@pytest.mark.slow
def test_bombs_do_not_grow_the_process(suite, tmp_path):
    """Peak memory of a fresh process over all packed files and 256 MiB of zeros in three encodings."""
    files = [(str(path), encoding(path.name)) for path in sorted(suite("bombs").iterdir())]
    zeros = bytes(256 * 2**20)
    for coding, pack in (
        ("br", partial(brotli.compress, quality=1)),
        ("gzip", partial(gzip.compress, compresslevel=1)),
        ("zstd", zstandard.ZstdCompressor(1).compress),
    ):
        (tmp_path / coding).write_bytes(pack(zeros))
        files.append((str(tmp_path / coding), coding))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(files)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert 0 < result["grown_kb"] <= 64 * 1024
    assert 2**20 <= result["longest"] <= 10_000_000
