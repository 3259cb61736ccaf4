"""`clew.crawl`: it waits for its reader, says at once what is wrong, and speaks of parameters."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading

import pytest

import clew
from clew.api import AHEAD
from clew.errors import ConfigError, PredicateSyntaxError, UsageError
from clew.fetch import ReplayFetcher
from clew.lab.demo import DemoWeb
from clew.testing import VirtualClock


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb()


def begin(web: DemoWeb, match=lambda page: True, **settings) -> clew.Run:
    settings = {"pages": 120, "strategy": "breadth-first", "parse_workers": 0} | settings
    return clew.crawl(web.seeds(), match=match, fetcher=ReplayFetcher(web), clock=VirtualClock(), **settings)


def test_the_crawl_stands_still_while_its_reader_thinks(web):
    async def read() -> int:
        run = begin(web)
        seen = 0
        async for _ in run:
            seen += 1
            if seen in (1, 5):
                for _ in range(20_000):  # every turn of the loop is a chance for the crawl to go on
                    await asyncio.sleep(0)
                found = sum(1 for _ in run.store.pages(matched=True, text=False))
                assert found == seen + AHEAD, "as many as may wait, and not one more"
        return seen

    assert asyncio.run(read()) > 2 * AHEAD


def test_a_reader_in_a_thread_is_waited_for_too(web):
    run = begin(web)
    finds = iter(run)
    next(finds)
    crawling = next(thread for thread in threading.enumerate() if thread.name == "clew")
    rest = list(finds)
    assert not crawling.is_alive()
    assert run.finished is not None
    assert run.finished.matches == 1 + len(rest) > AHEAD


def test_a_crawl_that_waits_decides_as_one_that_does_not(web):
    def trace(run: clew.Run) -> list[str]:
        return [decision.url for decision in run.store.decisions()]

    async def slowly(run: clew.Run) -> None:
        async for _ in run:
            for _ in range(50):
                await asyncio.sleep(0)

    fast, slow = begin(web, ordered=True), begin(web, ordered=True)
    fast.run()
    asyncio.run(slowly(slow))
    assert trace(fast) == trace(slow)


def test_leaving_the_loop_while_the_crawl_waits_ends_it(web):
    run = begin(web)
    for _ in run:
        break
    assert run.finished is not None
    assert run.finished.reason == "interrupted"


def test_a_text_is_one_seed(web):
    assert clew.crawl("https://a.example/", match="wind").config.seeds == ("https://a.example/",)


def test_what_is_wrong_is_said_by_the_call_itself():
    with pytest.raises(PredicateSyntaxError, match="column 9"):
        clew.crawl("https://a.example/", match="wind AND")
    with pytest.raises(PredicateSyntaxError, match="wanted and excluded"):
        clew.crawl("https://a.example/", match="wind -wind")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"delay": 0}, "name them with own HOST"),
        ({"max_body": 0}, "max_body: must be"),
        ({"own": ["*"]}, "give proxy http://127.0.0.1:PORT"),
        ({"pagse": 3}, "did you mean 'pages'"),
    ],
)
def test_complaints_name_parameters_and_no_options(settings, says):
    with pytest.raises(ConfigError) as caught:
        clew.crawl("https://a.example/", match="wind", **settings)
    assert says in str(caught.value)
    assert "--" not in str(caught.value)


def test_finds_and_explanations_can_be_kept_and_printed(web):
    run = begin(web, match=web.formula(), pages=60, strategy="best-first")
    find = next(iter(list(run)))
    assert json.loads(json.dumps(find.as_dict()))["url"] == find.url
    assert set(find.as_dict()) >= {"title", "score", "reasons", "text", "depth"}
    explanation = run.explain(find.url)
    assert str(explanation).splitlines() == explanation.lines()


def test_finds_become_a_data_frame_where_there_is_pandas(web):
    run = begin(web, match=web.formula(), pages=60, strategy="best-first")
    finds = list(run)
    if importlib.util.find_spec("pandas"):
        frame = run.to_dataframe()
        assert sorted(frame["url"]) == sorted(find.url for find in finds)
        assert str(frame["fetched_at"].dtype).startswith("datetime64[")
    else:
        with pytest.raises(UsageError, match=r"pip install clew\[pandas\]"):
            run.to_dataframe()
