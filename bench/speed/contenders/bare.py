"""A bare loop: aiohttp, selectolax, urljoin, a set. No words, no judging, no scoring, nothing kept."""

from __future__ import annotations

import asyncio
import sys
from urllib.parse import urldefrag, urljoin

import aiohttp
from selectolax.lexbor import LexborHTMLParser

CONCURRENT = 64


async def main(start: str, pages: int) -> None:
    home = start[: start.index("/", 8)]
    seen = {start}
    todo: asyncio.Queue[str] = asyncio.Queue()
    todo.put_nowait(start)
    done = 0

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal done
        while True:
            url = await todo.get()
            async with session.get(url) as response:
                body = await response.read()
            for node in LexborHTMLParser(body).css("a[href]"):
                target = urldefrag(urljoin(url, node.attributes["href"] or ""))[0]
                if target not in seen and len(seen) < pages and target.startswith(home):
                    seen.add(target)
                    todo.put_nowait(target)
            done += 1
            todo.task_done()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONCURRENT)) as session:
        workers = [asyncio.create_task(work(session)) for _ in range(CONCURRENT)]
        await todo.join()
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    print(done)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
