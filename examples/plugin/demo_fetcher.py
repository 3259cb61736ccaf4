"""A fetcher of one's own: the demo web, without a network.

[project.entry-points."clew.fetchers"]
demo = "demo_fetcher:DemoFetcher"

clew crawl --fetcher demo …
"""

from clew.fetch import HttpSettings, ReplayFetcher
from clew.lab.demo import DemoWeb


class DemoFetcher(ReplayFetcher):
    """Answers from the made-up web of `clew demo`, whatever the settings say of a network."""

    def __init__(self, settings: HttpSettings) -> None:
        super().__init__(DemoWeb())
