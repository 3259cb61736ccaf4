"""Scrapy as its documentation teaches it, at 64 concurrent: a crawl spider that follows every link."""

from __future__ import annotations

import sys

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class Everything(CrawlSpider):
    name = "everything"
    rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)
    pages = 0

    def parse_item(self, response):
        Everything.pages += 1


if __name__ == "__main__":
    start, pages = sys.argv[1], int(sys.argv[2])
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": 64,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
            "DOWNLOAD_DELAY": 0,
            "CLOSESPIDER_PAGECOUNT": pages,
            "ROBOTSTXT_OBEY": True,
            "LOG_LEVEL": "WARNING",
        }
    )
    process.crawl(Everything, start_urls=[start], allowed_domains=["127.0.0.1"])
    process.start()
    print(Everything.pages + 1)
