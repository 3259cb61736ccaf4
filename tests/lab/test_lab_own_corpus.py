"""Corpora of one's own: files of pages, labels beside a WARC or a crawl, and what is wrong with them."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import clew
from clew.cli.app import run as cli
from clew.errors import UsageError
from clew.fetch import ReplayFetcher
from clew.lab import LabelledWeb, open_web
from clew.lab.experiment import Experiment
from clew.lab.experiment_plan import ExperimentPlan
from clew.lab.own_corpus import LONGEST, labels_in, open_pages, pages_in
from clew.lab.runner import run_experiment
from clew.testing import StaticWeb, VirtualClock, link_page

EXAMPLE = Path(__file__).parents[2] / "examples" / "corpus"
PAGES = [
    {"url": "http://a.example/#top", "labels": "list", "html": '<a href="/x">x</a> <a href="/y">y</a>'},
    {"url": "http://a.example/x", "labels": ["wind", "sea"], "html": "<title>X</title>wind"},
    {
        "url": "http://a.example/y",
        "html": "Œuvre",
        "headers": ["Content-Type: text/html; charset=ISO-8859-1"],
    },
    {"url": "ftp://a.example/z", "html": "gone"},
]
GIVEN = {"name": "own", "topics": ["wind"], "budget": 5, "strategies": ["breadth-first"]}


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE_HOME", str(tmp_path / "cache"))


def written(path: Path, rows: list) -> Path:
    """The rows as lines, compressed as the name says."""
    plain = "".join(json.dumps(row) + "\n" for row in rows).encode()
    pack = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}.get(path.suffix, bytes)
    path.write_bytes(pack(plain))
    return path


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz", "pages.jsonl.zst"])
def test_a_file_of_pages_is_a_web_however_it_is_compressed(name, tmp_path):
    web = open_web(str(written(tmp_path / name, PAGES)))
    assert isinstance(web, LabelledWeb)
    assert (web.name, len(web), web.not_http) == ("pages", 3, 1)
    assert web.seeds() == ("http://a.example/",)
    assert web.labels("http://a.example/") == ("list",)
    assert web.labels("http://a.example/x") == ("wind", "sea")
    assert web.labels("http://a.example/y") == ()
    assert web.get("http://a.example/x").header("content-type") == "text/html; charset=utf-8"
    # What its own header cannot write is written as HTML can.
    assert web.get("http://a.example/y").body == b"&#338;uvre"


@given(
    st.lists(
        st.fixed_dictionaries(
            {"url": st.just("http://a.example/"), "html": st.text(max_size=30)},
            optional={
                "labels": st.lists(st.text(max_size=5), max_size=3),
                "headers": st.dictionaries(
                    st.from_regex(r"X-[a-z]{1,5}", fullmatch=True),
                    st.from_regex(r"[ -~]{0,9}", fullmatch=True),
                ),
            },
        ),
        min_size=1,
        max_size=5,
    )
)
@settings(deadline=None, max_examples=40)
def test_what_is_written_comes_back(tmp_path_factory, rows):
    """Labels, text and headers of every page, whatever is in them."""
    path = written(tmp_path_factory.mktemp("law") / "pages.jsonl.zst", rows)
    found = list(pages_in(path))
    whole = [row["html"].encode("utf-8", "xmlcharrefreplace").decode() for row in rows]
    assert [page.body.decode() for page in found] == whole
    assert [page.labels for page in found] == [tuple(row.get("labels", ())) for row in rows]
    for page, row in zip(found, rows, strict=True):
        sent = {name: value.strip() for name, value in row.get("headers", {}).items()}
        assert dict(page.headers) == sent | {"Content-Type": "text/html; charset=utf-8"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "line 2: it is not JSON"),
        (b"[1]", "line 2: it is no JSON object"),
        (b'{"html": "x"}', "line 2: it has no url: a page needs url and html"),
        (b'{"url": "http://a.example/", "html": null}', "line 2: it has no html"),
        (b'{"url": "http://a.example/", "html": "", "labels": 3}', "line 2: its labels are neither"),
        (b'{"url": "http://a.example/", "html": "", "headers": 3}', "line 2: its headers are neither"),
        (b'{"url": "http://a.example/", "html": "", "headers": [["a"]]}', "line 2: .'a'. is no header"),
        (
            b'{"url": "http://a.example/", "html": "", "headers": {"Content-Type": "a/b; charset=none"}}',
            "line 2: its html cannot be written as its headers say",
        ),
        (b"\xff\xfe", "line 2: it is not JSON"),
    ],
)
def test_a_bad_line_is_named_and_leaves_nothing_behind(line, words, tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_bytes(json.dumps(PAGES[0]).encode() + b"\n" + line + b"\n")
    with pytest.raises(UsageError, match=words):
        open_pages(path)
    assert [file.name for file in (tmp_path / "cache").iterdir()] == []


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_file_that_was_cut_off_is_refused(suffix, tmp_path):
    """Also where it is cut between two lines: half a corpus would be measured as if it were whole."""
    path = written(tmp_path / f"pages.jsonl.{suffix}", [PAGES[1]] * 2000)
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) * 2 // 3, 9):
        path.write_bytes(whole[:size])
        with pytest.raises(UsageError, match="cannot be read beyond line"):
            open_pages(path)


def test_frames_that_follow_one_another_are_one_file(tmp_path):
    path = tmp_path / "pages.jsonl.zst"
    path.write_bytes(b"".join(zstandard.compress(json.dumps(row).encode() + b"\n") for row in PAGES))
    assert len(open_pages(path)) == 3


def test_a_line_that_unpacks_without_end_is_refused(tmp_path):
    path = tmp_path / "pages.jsonl.zst"
    path.write_bytes(zstandard.compress(b'{"html": "' + b"x" * (LONGEST + 10)))
    with pytest.raises(UsageError, match="line 1: it is longer than 64 MB"):
        open_pages(path)


@pytest.mark.parametrize("rows", [[], [PAGES[3]]])
def test_a_file_without_pages_says_so(rows, tmp_path):
    with pytest.raises(UsageError, match=r"is empty|no page with an http"):
        open_pages(written(tmp_path / "pages.jsonl", rows))


def test_a_changed_file_is_read_anew_and_its_runs_are_others(tmp_path):
    """Also when its size and its time stay the same; a file that was only moved is the same corpus."""
    path = written(tmp_path / "pages.jsonl", PAGES)
    experiment = tmp_path / "own.toml"
    experiment.write_text(
        'corpora = { path = "pages.jsonl" }\ntopics = ["wind"]\nbudget = 5\nstrategies = "random"\n'
        'seeds = { kind = "entry" }\n'
    )

    def keys(place: Path) -> list[str]:
        return list(run_experiment(Experiment.load(place), tmp_path / "out", workers=1).runs())

    first = keys(experiment)
    moved = tmp_path / "moved"
    moved.mkdir()
    for file in (path, experiment):
        shutil.copy2(file, moved / file.name)
    assert keys(moved / "own.toml") == first
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"sea", b"see"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert open_web(str(path)).labels("http://a.example/x") == ("wind", "see")
    assert keys(experiment) != first


def a_crawl(directory: Path) -> Path:
    web = StaticWeb(
        {
            "http://a.example/": link_page("A", "the start", next_page="http://b.example/"),
            "http://b.example/": link_page("B", "a wind farm at sea"),
        }
    )
    run = clew.crawl(
        ["http://a.example/"],
        match="wind",
        directory=directory,
        fetcher=ReplayFetcher(web),
        clock=VirtualClock(),
        parse_workers=0,
    )
    with run:
        assert len(list(run)) == 1
    return directory


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labels.tsv", "http://b.example/\twind\tsea\nhttp://b.example/#x\twind\n\n"),
        ("labels.jsonl", '{"url": "http://b.example/", "labels": ["wind", "sea"]}\n'),
        ("labels.py", "def of(page):\n    return ['wind', 'sea'] if 'wind' in page.text else None\n"),
    ],
)
def test_a_crawl_or_its_warc_gets_labels_from_a_file_or_a_function(name, text, tmp_path, monkeypatch):
    crawl = a_crawl(tmp_path / "crawl")
    (tmp_path / name).write_text(text)
    labels = name
    if name.endswith(".py"):
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(__import__("sys").modules, "labels", raising=False)
        labels = "py:labels:of"
    for place in (crawl, next(crawl.rglob("*.warc*"))):
        spec = {"path": str(place), "labels": labels, "name": "mine"}
        experiment = tmp_path / "own.toml"
        experiment.write_text(
            f"corpora = {{ path = {json.dumps(str(place))}, labels = {json.dumps(labels)}, name = 'mine' }}\n"
            'topics = ["wind"]\nbudget = 5\nstrategies = "breadth-first"\nseeds = { kind = "entry" }\n'
        )
        found = run_experiment(Experiment.load(experiment), tmp_path / f"out-{place.name}", workers=1)
        (run,) = found.runs().values()
        assert (run.corpus, run.targets, len(run.finds)) == (spec["name"], 1, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("http://b.example/ wind\n", "line 1: it has no tab"),
        ("mailto:a\twind\n", "line 1: 'mailto:a' is no http"),
        (
            "http://elsewhere.example/\twind\n",
            "no address in .* is one of mine: its first is http://elsewhere",
        ),
        ("", "no address in .* is one of mine"),
    ],
)
def test_labels_that_fit_no_page_are_told(text, words, tmp_path):
    path = written(tmp_path / "pages.jsonl", PAGES)
    (tmp_path / "labels.tsv").write_text(text)
    corpus = {"path": str(path), "labels": str(tmp_path / "labels.tsv"), "name": "mine"}
    with pytest.raises(UsageError, match=words):
        ExperimentPlan(Experiment.parse(GIVEN | {"corpora": corpus}))


@pytest.mark.parametrize(
    ("corpus", "words"),
    [
        ({"path": "none.jsonl"}, "there is no corpus"),
        ({"path": "pages.jsonl", "labels": "none.tsv"}, "there is no labels file"),
        ({"path": "pages.jsonl", "labels": "py:none"}, "write py:module:function"),
        ({"path": "pages.jsonl", "labels": "py:no_such_module:f"}, "cannot import no_such_module"),
        ({"path": "pages.jsonl", "entry": ["http://b.example/"]}, "has no page http://b.example/"),
        ({"name": "demo", "labels": "x.tsv"}, "labels and entry are for a corpus given by its path"),
        ([{"path": "pages.jsonl"}, {"path": "sub/pages.jsonl"}], "two corpora are called 'pages'"),
    ],
)
def test_a_mistake_about_a_corpus_is_named(corpus, words, tmp_path):
    written(tmp_path / "pages.jsonl", PAGES)

    def planned() -> None:
        found = Experiment.parse(GIVEN | {"corpora": corpus, "seeds": {"kind": "entry"}})
        ExperimentPlan(found.model_copy(update={"corpora": [c.located(tmp_path) for c in found.corpora]}))

    with pytest.raises(UsageError, match=words):
        planned()


def test_labels_said_twice_are_both_the_pages(tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text("http://a.example\twind\nhttp://a.example/#x\tsea\twind\n")
    assert labels_in(path) == {"http://a.example/": ("wind", "sea")}


def test_the_example_runs_as_its_first_lines_say(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(EXAMPLE)
    assert (
        cli(["lab", "run", str(EXAMPLE / "kitchen.toml"), "-o", str(tmp_path / "out"), "--workers", "1"]) == 0
    )
    shown = capsys.readouterr().out
    assert "kitchen from entry pages, 12 requests, 2 cases" in shown
    assert "kitchen by its words from warm pages, 12 requests, 4 cases" in shown
