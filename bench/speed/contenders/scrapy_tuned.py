"""Scrapy in the hands of an expert, at 64 concurrent.

aiohttp on uvloop in place of Twisted's client, turbohtml and can_ada in place of lxml and w3lib, links
reduced to distinct new ones before a request is made of any, so that Scrapy's own duplicate filter is not
needed; cookies, logs, console, caches and throttling off. Each page gives an item: title, text, and its links
with their anchors. With `lean` as third argument it gives none and looks at nothing but hrefs; with `bare`
it also does without middlewares and statistics: then it retries nothing, decompresses nothing and obeys
no robots.txt.
"""

from __future__ import annotations

import sys

import aiohttp
import can_ada
import scrapy
import turbohtml
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse


class AiohttpHandler:
    lazy = False

    def __init__(self, *_):
        self.session = None

    @classmethod
    def from_crawler(cls, crawler):
        return cls()

    async def download_request(self, request):
        if self.session is None:
            self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=64))
        async with self.session.get(request.url, allow_redirects=False) as reply:
            body = await reply.read()
        return HtmlResponse(request.url, status=reply.status, body=body, request=request, encoding="utf-8")

    async def close(self):
        if self.session is not None:
            await self.session.close()


class Everything(scrapy.Spider):
    name = "everything"
    pages = 0
    lean = False

    async def start(self):
        self.seen = {self.first}
        self.raw = {}
        self.home = self.first[: self.first.index("/", 8)]
        yield scrapy.Request(self.first, dont_filter=True)

    def parse(self, response):
        Everything.pages += 1
        base = can_ada.parse(response.url)
        tree = turbohtml.parse(response.body.decode("utf-8", "replace"))
        if self.lean:
            hrefs = {element.attr("href") for element in tree.iter_elements("a")}
        else:
            links = {element.attr("href"): element.text for element in tree.iter_elements("a")}
            title = tree.select_one("title")
            yield {
                "url": response.url,
                "title": title.text if title else "",
                "text": tree.to_text(),
                "links": links,
            }
            hrefs = links
        for href in hrefs:
            if not href:
                continue
            target = (base + href).href.partition("#")[0]
            if target not in self.seen and target.startswith(self.home):
                self.seen.add(target)
                yield scrapy.Request(target, dont_filter=True)


if __name__ == "__main__":
    first, pages = sys.argv[1], int(sys.argv[2])
    settings = {
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "DOWNLOAD_DELAY": 0,
        "CLOSESPIDER_PAGECOUNT": pages,
        "DOWNLOAD_HANDLERS": {"http": AiohttpHandler},
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        "TELNETCONSOLE_ENABLED": False,
        "COOKIES_ENABLED": False,
        "AUTOTHROTTLE_ENABLED": False,
        "HTTPCACHE_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "LOG_ENABLED": False,
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    }
    if sys.argv[3:] == ["bare"]:
        settings |= {
            "DOWNLOADER_MIDDLEWARES_BASE": {},
            "SPIDER_MIDDLEWARES_BASE": {},
            "EXTENSIONS_BASE": {"scrapy.extensions.closespider.CloseSpider": 0},
            "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
            "ROBOTSTXT_OBEY": False,
        }
    process = CrawlerProcess(settings)
    process.crawl(Everything, first=first, lean=bool(sys.argv[3:]))
    process.start()
    print(Everything.pages)
