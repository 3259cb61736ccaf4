"""Several interests, one crawl: finds carry names, over sessions, steering, exports and reports."""

import asyncio
import csv
import io
import json

import pytest

from clew import crawl
from clew.errors import ConfigError, UsageError
from clew.fetch.replay import ReplayFetcher
from clew.lab import open_web
from clew.report import write_report
from clew.run import CrawlConfig, Session, VirtualClock
from clew.run.explain import explain
from clew.run.knowledge_files import read_knowledge
from clew.run.settings import load_config
from clew.run.steering import Steer, send, steered
from clew.store import SqliteStore, export, open_reader
from clew.store.inbox import Inbox

BOTH = {"wind": "wind AND turbine", "stars": "telescope"}
OWN = {"own": ("*",), "proxy": "http://127.0.0.1:9", "delay": 0, "concurrency": 1}


def crawled(path, match=BOTH, pages=60, **more):
    web = open_web("demo")
    config = CrawlConfig(seeds=web.seeds(), match=match, pages=pages, **OWN, **more)
    with SqliteStore(path) as store:
        store.set_meta(config=json.loads(config.to_json()))
        session = Session(
            config, store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9), inbox=Inbox(path)
        )
        return asyncio.run(session.run())


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("interests") / "crawl"
    crawled(path)
    return path


def finds_of(reader):
    return {page.url: page.interests for page in reader.pages(matched=True, text=False)}


def test_finds_carry_the_names_they_match_and_are_counted_by_name(path):
    with open_reader(path) as reader:
        finds, counts = finds_of(reader), reader.counts()
        assert finds
        assert all(finds.values())
        assert counts.by_interest == {
            name: sum(name in names for names in finds.values()) for name in counts.by_interest
        }
        assert sum(counts.by_interest.values()) >= counts.matched


def test_a_crawl_that_goes_on_counts_on(tmp_path):
    one = crawled(tmp_path / "one", pages=70)
    crawled(tmp_path / "two", pages=40)
    two = crawled(tmp_path / "two", pages=70)
    assert two.by_interest == one.by_interest
    with open_reader(tmp_path / "two") as reader:
        assert reader.counts().by_interest == {
            name: count for name, count in two.by_interest.items() if count
        }


def test_exports_have_the_names_and_one_interests_finds_alone(path):
    with open_reader(path) as reader:
        finds = finds_of(reader)
    stars = [url for url, names in finds.items() if "stars" in names]
    stream = io.BytesIO()
    assert export(path, stream, "jsonl", interest="stars") == len(stars)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["url"] for line in lines] == stars
    assert all("stars" in line["interests"] for line in lines)
    stream = io.BytesIO()
    export(path, stream, "csv", matched=True)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue().decode())))
    assert {row["url"]: tuple(row["interests"].split()) for row in rows} == finds
    with pytest.raises(UsageError, match="it has stars, wind"):
        export(path, io.BytesIO(), interest="sun")


def test_the_report_has_a_line_and_a_row_for_each(path, tmp_path):
    with open_reader(path) as reader:
        write_report(reader, tmp_path / "report.html", command="")
        count = reader.counts().by_interest["stars"]
    html = (tmp_path / "report.html").read_text()
    assert "stars: " + str(count) in html
    assert '<table id="interests">' in html
    assert "telescope" in html


def test_an_explanation_names_the_interest_behind_every_contribution(path):
    with open_reader(path) as reader:
        url = next(iter(finds_of(reader)))
        told = explain(reader, url)
        assert "(a find for " in str(told)
        assert {name.partition(".")[0] for name in told.as_dict()["parts"]} <= {*BOTH}


def test_what_was_learned_is_used_by_the_name_of_the_interest(path):
    assert read_knowledge(f"{path}#wind").pages == read_knowledge(f"{path}#stars").pages
    with pytest.raises(UsageError, match="several interests"):
        read_knowledge(path)
    with pytest.raises(UsageError, match="no interest 'sun'"):
        read_knowledge(f"{path}#sun")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("wind", BOTH),
        pytest.param(BOTH, "telescope", marks=pytest.mark.slow),
        (BOTH, {"stars": "telescope", "bees": "hive"}),
    ],
)
def test_steering_may_change_how_many_interests_there_are(tmp_path, before, after):
    crawled(tmp_path / "c", match=before, pages=40)
    send(tmp_path / "c", Steer.of(match=after, pages=70))
    crawled(tmp_path / "c", match=before, pages=40)
    with open_reader(tmp_path / "c") as reader:
        counts, finds = reader.counts(), finds_of(reader)
        assert counts.pages == 70
        names = {*after} if isinstance(after, dict) else set()
        assert {name for names in finds.values() for name in names} <= names
        assert bool(counts.by_interest) == bool(names)
        assert steered(reader).match == Steer.of(match=after).match


def test_feedback_is_kept_for_the_interests_whose_formulas_agree(tmp_path):
    crawled(tmp_path / "c", pages=40)
    with open_reader(tmp_path / "c") as reader:
        url, names = next(iter(finds_of(reader).items()))
        before = reader.counts().by_interest
    send(tmp_path / "c", Steer.of(feedback={url: False}, pages=41))
    crawled(tmp_path / "c", pages=40)
    with open_reader(tmp_path / "c") as reader:
        assert reader.page(url).interests == ()
        after = reader.counts().by_interest
    assert all(before[name] - 1 <= after.get(name, 0) <= before[name] for name in names)


def test_settings_take_a_table_of_formulas(tmp_path):
    (tmp_path / "clew.toml").write_text('match = { wind = "turbine", solar = "panel AND roof" }\n')
    config = load_config({"seeds": ("http://a.example/",)}, cwd=tmp_path, environ={}).config
    assert config.match == "wind=turbine\nsolar=panel AND roof"
    assert CrawlConfig.from_json(config.to_json()).match == config.match


@pytest.mark.parametrize(
    ("match", "said"),
    [(("wind=a", "wind=b"), "there twice"), (("wind=a", "b"), "has no name"), (("a", "b"), "has no name")],
)
def test_wrong_names_are_told_before_anything_is_fetched(match, said, tmp_path):
    with pytest.raises(ConfigError, match=said):
        load_config({"seeds": ("http://a.example/",), "match": match}, cwd=tmp_path, environ={})


def test_the_library_takes_formulas_and_functions_by_name():
    web = open_web("demo")
    match = {"wind": "wind AND turbine", "long": lambda page: len(page.text) > 2000}
    run = crawl(
        web.seeds(), match=match, pages=40, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9), **OWN
    )
    finds = list(run)
    assert finds
    assert {name for find in finds for name in find.interests} <= {*match}
    assert finds[0].as_dict()["interests"] == list(finds[0].interests)
    assert sum(run.finished.by_interest.values()) == sum(len(find.interests) for find in finds)


def test_tunnelling_of_several_formulas_is_refused():
    from clew.run.build import rules_of

    config = CrawlConfig(seeds=("http://a.example/",), match=BOTH, tunnel="drop")
    with pytest.raises(ConfigError, match="--tunnel off"):
        rules_of(config)
