"""Another package brings a factor, strategies, a field, a store, a fetcher and a corpus: one file each."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from clew import factor, fetch, predicate, strategy
from clew.errors import ConfigError
from clew.lab import corpora
from clew.plugins import Registry
from clew.store import backends, open_reader
from clew.testing import BackendContract, DemoWeb, StoreContract, StrategyContract, serving

HOME = Path(__file__).parents[1]
PLUGIN = HOME / "examples" / "plugin"
DOCS = HOME / "docs" / "bring-your-own.md"


def points():
    """Entry points as docs/bring-your-own.md has them, in the form of an installed distribution."""
    declared = tomllib.loads(DOCS.read_text("utf-8").partition("```toml\n")[2].partition("```")[0])
    groups = declared["project"]["entry-points"]
    return "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in groups.items()
    )


#: The demo web by the fetcher that is brought, which asks no proxy and waits for nobody.
DEMO = ("--fetcher", "demo", "--own", "*", "--proxy", "http://127.0.0.1:9", "--delay", "0")


@pytest.fixture
def installed(tmp_path):
    """A folder for the path, in which the examples are an installed distribution."""
    for file in PLUGIN.iterdir():
        if file.is_dir():
            continue
        (tmp_path / file.name).write_text(file.read_text("utf-8"), "utf-8")
    info = tmp_path / "toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points())
    return tmp_path


def module_of(name):
    """A module of the examples, as its package would have it."""
    spec = importlib.util.spec_from_file_location(name, PLUGIN / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ledger():
    return module_of("ledger_store")


def clew(installed, *words, code=(0,)):
    """Run the command line with the distribution on the path; gives what it printed."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    path = os.pathsep.join([str(installed), *filter(None, [mine.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "clew.cli", *map(str, words)],
        env={**mine, "PYTHONPATH": path},
        cwd=installed,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in code, done.stderr
    return done.stdout + done.stderr


def crawl(installed, directory, *words):
    """Forty pages of the demo web; gives a page that a link led to."""
    web = DemoWeb()
    with serving(web) as proxy:
        plain = (
            "--own",
            "*",
            "--delay",
            "0",
            "--ordered",
            "--pages",
            "40",
            "--proxy",
            proxy,
            "-d",
            directory,
        )
        # 3: nothing was found, which is no matter here.
        clew(installed, "crawl", *web.seeds(), "-m", web.formula(), *plain, *words, code=(0, 3))
    with open_reader(directory) as reader:
        return next(d.url for d in reader.decisions() if d.result == "miss" and d.url not in web.seeds())


def test_a_factor_from_outside_is_heard_and_explained(installed, tmp_path):
    """Its column is stored with every candidate, and its evidence is part of an explanation."""
    factors = ("--factors", "content", "--factors", "url", "--factors", "pdf")
    url = crawl(installed, tmp_path / "one", *factors)
    told = json.loads(clew(installed, "explain", tmp_path / "one", url, "--json"))
    assert list(told["parts" if "parts" in told else "terms"]) == ["content", "url", "pdf", "chance"]
    assert set(told["learned"]["factors"]) == {"content", "url", "pdf"}


def test_a_strategy_from_outside_takes_its_options(installed, tmp_path):
    url = crawl(installed, tmp_path / "two", "--strategy", "short-first", "--option", "slope=2")
    told = json.loads(clew(installed, "explain", tmp_path / "two", url, "--json"))
    assert told["score"] == -2.0 * len(url)
    wrong = ("--strategy", "short-first", "--option", "slope=99")
    said = clew(installed, "crawl", url, "-m", "wind", "-d", tmp_path / "no", *wrong, code=(2,))
    assert "takes a number from 0.1 to 10" in said


def test_a_field_from_outside_judges_pages(installed):
    page = installed / "page.html"
    page.write_text('<p><a href="http://a.example/">one</a> <a href="http://b.example/">two</a>')
    assert "outlinks:2" in clew(installed, "check", "outlinks:2", page)
    assert "outlinks:3" in clew(installed, "check", "outlinks:3", page, code=(3,))


@pytest.mark.slow
def test_a_store_and_a_fetcher_from_outside_serve_every_verb(installed, tmp_path):
    """Crawled into, stopped, read in every way, resumed: nothing asks what kind of store it is."""
    web, place = DemoWeb(), f"ledger:{tmp_path}/farms.ledger"
    plain = (*DEMO, "--ordered", "-d", place)
    clew(installed, "crawl", *web.seeds(), "-m", web.formula(), *plain, "--pages", "150")
    status = json.loads(clew(installed, "status", place, "--json"))
    assert (status["pages"], status["stopped"]) == (150, "pages")
    assert len(clew(installed, "export", place).splitlines()) == 150
    assert len(clew(installed, "trace", place).splitlines()) >= 150
    page = json.loads(clew(installed, "export", place, "--matched").splitlines()[0])
    # Other pages may have the same words.
    hits = [
        json.loads(line) for line in clew(installed, "search", place, page["title"], "--json").splitlines()
    ]
    assert page["title"] in {hit["title"] for hit in hits}
    assert json.loads(clew(installed, "explain", place, page["url"], "--json"))["fate"] == "fetched"
    assert json.loads(clew(installed, "knowledge", "show", place, "--json"))["pages"] >= 150
    assert "give --output" in clew(installed, "report", place, code=(2,))
    clew(installed, "report", place, "-o", tmp_path / "report.html")
    assert "150" in (tmp_path / "report.html").read_text("utf-8")
    clew(installed, "crawl", "-d", place, "--fetcher", "demo", "--pages", "200")
    assert json.loads(clew(installed, "status", place, "--json"))["pages"] == 200


@pytest.mark.slow
def test_a_corpus_and_a_baseline_from_outside_make_an_experiment(installed, tmp_path):
    """Opened by name in the processes of the lab too; the others are compared with the baseline."""
    clew(installed, "lab", "run", "fables.toml", "-o", tmp_path / "out")
    (told,) = json.loads(clew(installed, "lab", "show", tmp_path / "out", "--json"))["tables"]
    rows = {row["strategy"]: row for row in told["rows"]}
    assert set(rows) == {"backlink-count", "breadth-first", "learned"}
    assert told["baseline"] == "backlink-count"
    assert rows["learned"]["nauc"] > rows["backlink-count"]["nauc"] > 0


def test_every_example_is_a_row_of_the_page_and_every_row_has_one():
    table = DOCS.read_text("utf-8").partition("\n## ")[0]
    linked = set(re.findall(r"\]\(\.\./examples/(?:plugin/)?([a-z_]+\.py)\)", table))
    assert linked == {file.name for file in PLUGIN.glob("*.py")} | {"reading_time.py"}
    assert all(f"{file.stem}:" in table for file in PLUGIN.glob("*.py"))


def test_a_way_to_the_web_is_not_taken_on_a_directorys_word(installed, tmp_path):
    web = DemoWeb()
    plain = (*DEMO, "-d", tmp_path / "one", "--pages", "5")
    clew(installed, "crawl", *web.seeds(), "-m", web.formula(), *plain, code=(0, 3))
    assert "give --fetcher again" in clew(
        installed, "crawl", "-d", tmp_path / "one", "--pages", "9", code=(2,)
    )


def test_a_store_that_is_not_installed_is_named_with_those_that_are(installed):
    assert "no store for postgresql" in (said := clew(installed, "status", "postgresql://a/b", code=(2,)))
    assert "ledger" in said


class TestShortFirst(StrategyContract):
    def make(self):
        return module_of("short_first").ShortFirst()


class TestBacklinkCount(StrategyContract):
    def make(self):
        return module_of("backlink_count").BacklinkCount()


class TestLedger(StoreContract):
    @pytest.fixture
    def store(self, tmp_path, ledger):
        with ledger.BACKEND.open(f"ledger:{tmp_path}/one") as store:
            yield store


class TestLedgerBackend(BackendContract):
    @pytest.fixture
    def backend(self, ledger):
        return ledger.BACKEND

    @pytest.fixture
    def place(self, tmp_path):
        return f"ledger:{tmp_path}/one"


def test_what_is_not_there_is_named_with_all_there_is(installed, tmp_path):
    odd = ("--strategy", "nonsuch")
    said = clew(installed, "crawl", "http://a.example/", "-m", "wind", "-d", tmp_path / "no", *odd, code=(2,))
    assert "short-first" in said


def test_without_the_distribution_nothing_is_left_of_it():
    assert "pdf" not in factor.FACTORS
    assert "short-first" not in strategy.STRATEGIES


@pytest.mark.parametrize(
    ("group", "own"),
    [
        ("clew.factors", factor.OWN),
        ("clew.strategies", strategy.OWN),
        ("clew.predicates", predicate.atoms.OWN),
        ("clew.stores", backends.OWN),
        ("clew.fetchers", fetch.OWN),
        ("clew.corpora", corpora.OWN),
    ],
)
def test_our_own_are_registered_like_those_of_others(group, own):
    declared = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    assert declared[group] == own


def test_a_name_of_ours_cannot_be_taken(monkeypatch):
    registry = Registry("clew.nothing", {"content": "os:sep"}, lambda name, found: "")
    monkeypatch.setattr(Registry, "foreign", {"content": "os:linesep"})
    with pytest.raises(ConfigError, match="takes the name"):
        list(registry)


def test_what_cannot_be_loaded_says_which_package_to_mend(monkeypatch):
    registry = Registry("clew.nothing", {}, lambda name, found: "")
    monkeypatch.setattr(Registry, "foreign", {"odd": "no_such_module:x"})
    with pytest.raises(ConfigError, match=r"'odd'.*no_such_module"):
        list(registry)
