"""The real corpora as experiments see them."""

from __future__ import annotations

import pytest

from clew.lab import open_web, parse_cache
from clew.lab.experiment import CorpusSpec, Experiment
from clew.lab.experiment_plan import ExperimentCorpus, ExperimentPlan
from clew.lab.parsed_web import ParsedWeb
from clew.lab.runner import do_oracle, do_run

pytestmark = [pytest.mark.slow, pytest.mark.data]


def test_index_pages_are_never_targets(corpus):
    corpus("wikispeedia_pages.jsonl.zst")
    field = ExperimentCorpus(CorpusSpec.model_validate("wikispeedia"))
    assert len(field.labelled) > 100
    assert not [url for urls in field.labelled.values() for url in urls if "/wp/index/" in url]
    assert set(field.labelled["subject.IT.Software"]) < set(field.labelled["subject.IT"])
    assert "subject" not in field.labelled


def test_pages_from_the_cache_are_the_pages(corpus, tmp_path, monkeypatch):
    """What was kept is equal to what is parsed; a damaged file and another parser's are not."""
    corpus("webkb_dev_pages.jsonl.zst")
    monkeypatch.setenv("CLEW_CACHE_HOME", str(tmp_path))
    web = open_web("webkb:texas")
    fresh = parse_cache.pages_of(web)
    (kept,) = tmp_path.glob("*.pages.zst")
    assert parse_cache.pages_of(web) == fresh
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    assert parse_cache.pages_of(web) == fresh
    monkeypatch.setattr(parse_cache, "code_mark", lambda: "another")
    assert parse_cache.pages_of(web) == fresh
    (other,) = tmp_path.glob("*.pages.zst")
    assert other != kept
    parsed_web = ParsedWeb(web)
    assert len(parsed_web.graph) == len(fresh)


def test_a_whole_department_can_be_crawled_and_no_run_beats_the_bound(corpus):
    corpus("webkb_dev_pages.jsonl.zst")
    given = {"name": "x", "corpora": "webkb:texas", "topics": ["faculty"], "seeds": {"kind": "entry"}}
    plan = ExperimentPlan(Experiment.parse(given | {"budget": 150, "strategies": ["breadth-first"]}))
    oracle, _ = do_oracle(plan, (0, -1, 0))
    run, _ = do_run(plan, (0, 0, 1), oracle)
    assert (oracle.reachable, oracle.targets) == (45, 46)
    assert run.requests == 150
    assert run.nauc_bound <= run.nauc < 1
    assert len(oracle.bound) >= len(oracle.finds) >= len(run.finds) > 0
