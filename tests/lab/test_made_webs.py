"""Made webs: the planted dead directions, and what turning round in them is worth."""

import pytest

from clew.lab.made_webs import SHAPES, MadeWeb
from clew.lab.metrics import area
from clew.lab.parsed_web import ParsedWeb
from clew.lab.predicates import Blind
from clew.lab.simulate import simulate
from clew.strategy import make

TOPIC = "wind"


def test_most_of_the_planted_web_leads_nowhere():
    web = MadeWeb("detours", seed=1, pages=600)
    articles = [url for url in web.urls() if web.labels(url)]
    assert len(articles) < len(web) / 5
    assert "detours" in SHAPES


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["breadth-first", "best-first", "focused"])
def test_confidence_gains_fifteen_per_cent_among_planted_dead_directions(strategy):
    """The whole of it, with intervals and more strategies: bench/confidence.py."""
    areas = {None: 0, 0.9: 0}
    for seed in (1, 2):
        web = MadeWeb("detours", seed=seed)
        parsed = ParsedWeb(web, dead_links=False, robots=False)
        wanted = Blind(TOPIC, frozenset(url for url in web.urls() if TOPIC in web.labels(url)))
        for level in areas:
            crawl = simulate(parsed, wanted, make(strategy, wanted), web.seeds(), 600, confidence=level)
            areas[level] += area(crawl.finds, 600)
    assert areas[0.9] >= 1.15 * areas[None]
