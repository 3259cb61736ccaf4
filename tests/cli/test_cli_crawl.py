"""`clew crawl`, through the loopback proxy: start, stop, resume, and every way it can end."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from clew.cli import main
from clew.cli.console import ProgressNotice
from clew.errors import RETRY, Reason, Retry
from clew.store import open_store


def test_a_crawl_stops_at_its_budget_and_leaves_db_archive_log_and_report(clew, site, tmp_path: Path):
    said = clew(*site.crawl(tmp_path / "farms", 120), "--ordered", "--json")
    assert said.code == 0, said.err
    summary = said.json()
    assert summary["reason"] == "pages"
    assert summary["pages"] == 120
    assert summary["matches"] > 0
    assert summary["requests"] >= 120
    names = {file.name for file in (tmp_path / "farms").iterdir()}
    assert {"clew.db", "pages", "clew.log", "report.html"} <= names
    assert "120 pages" in said.err
    assert "\x1b" not in said.err, "plain lines when stderr is no terminal"


def test_a_crawl_begins_with_the_formula_read_back_and_what_may_be_meant_otherwise(
    clew, site, tmp_path: Path
):
    begun = clew(
        "crawl", *site.seeds, "-m", "“wind farm” or turbine", "-d", tmp_path / "farms", *site.options(3)
    )
    first, second = begun.err.splitlines()[:2]
    assert first == "note: 'or' is looked for as a word: in capitals, OR joins two terms (column 13)"
    assert second == 'looking for: "wind farm" AND or AND turbine'
    assert "looking for" not in clew("crawl", "-d", tmp_path / "farms").err
    never = clew("crawl", *site.seeds, "-m", "wind -wind", "-d", tmp_path / "never", *site.options(3))
    assert never.code == 2
    assert "wind is wanted and excluded at column 7" in never.err
    assert not (tmp_path / "never").exists()


def test_without_json_nothing_goes_to_stdout(clew, site, tmp_path: Path):
    assert clew(*site.crawl(tmp_path / "farms", 5)).out == ""


def test_the_directory_alone_resumes_with_a_larger_budget(clew, site, tmp_path: Path):
    farms = tmp_path / "farms"
    clew(*site.crawl(farms, 20))
    again = clew("crawl", "-d", farms, "--json")
    assert again.json()["pages"] == 20, "the budget is used up already"
    more = clew("crawl", "-d", farms, "--pages", "35", "--json")
    assert more.code in (0, 3), more.err  # whether 35 pages hold a find, the order of the replies decides
    assert more.json()["pages"] == 35
    urls = [record["url"] for record in clew("export", farms).lines()]
    assert len(urls) == len(set(urls)) == 35


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (["-m", "solar"], "--match"),
        (["--strategy", "random"], "--strategy"),
        (["http://other.example/"], "the seeds"),
    ],
)
def test_what_the_crawl_is_cannot_be_changed(clew, site, tmp_path: Path, change, name):
    farms = tmp_path / "farms"
    clew(*site.crawl(farms, 3))
    said = clew("crawl", "-d", farms, *change)
    assert said.code == 2
    assert f"leave out {name} to go on with it, or give another --directory" in said.err


def test_a_crawl_that_wants_no_more_of_any_host_says_how_to_go_on(clew, site, tmp_path: Path):
    said = clew(*site.crawl(tmp_path / "farms", 300), "--scope", "host", "--per-host", "1")
    assert "per-host used up" in said.err
    assert "--per-host MORE" in said.err


def test_the_same_settings_may_be_given_again(clew, site, tmp_path: Path):
    farms = tmp_path / "farms"
    clew(*site.crawl(farms, 3))
    assert clew(*site.crawl(farms, 6), "--json").json()["pages"] == 6


def test_settings_come_from_clew_toml_and_the_environment(clew, site, tmp_path: Path, monkeypatch):
    seeds = ", ".join(f'"{seed}"' for seed in site.seeds)
    (tmp_path / "clew.toml").write_text(
        f"seeds = [{seeds}]\nmatch = '{site.formula}'\nproxy = '{site.proxy}'\nown = ['*']\ndelay = 0\n"
        "parse-workers = 0\npages = 99\n"
    )
    monkeypatch.setenv("CLEW_PAGES", "7")
    said = clew("crawl", "-d", "farms", "--json")
    assert said.code == 0 or said.code == 3, said.err
    assert said.json()["pages"] == 7


def test_a_crawl_without_finds_exits_3(clew, site, tmp_path: Path):
    said = clew("crawl", *site.seeds, "-m", "zyzzyva", "-d", tmp_path / "none", *site.options(5))
    assert said.code == 3


def test_a_crawl_whose_seeds_cannot_be_reached_exits_4(clew, site, tmp_path: Path):
    said = clew("crawl", "http://nowhere.example/", "-m", "x", "-d", tmp_path / "none", *site.options(5))
    assert said.code == 4, said.err
    assert "no seed reachable" in said.err


@pytest.mark.parametrize(
    ("seed", "more", "says"),
    [
        ("https://nowhere.invalid/a", [], "\n  https://nowhere.invalid/a  "),
        ("http://127.0.0.1:{port}/a", [], "http://127.0.0.1:{port}/a  127.0.0.1 is not on the public web"),
        (
            "http://127.0.0.1:{port}/a",
            ["--allow-private", "127.0.0.1"],
            "http://127.0.0.1:{port}/a  no connection to 127.0.0.1:{port} can be made",
        ),
        (
            "https://a.example/",
            ["--proxy", "http://me:hunter2@127.0.0.1:{port}", "--own", "*"],
            "https://a.example/  no connection to the proxy 127.0.0.1:{port} can be made: check --proxy",
        ),
    ],
)
def test_a_seed_out_of_reach_is_told_in_one_way(clew, monkeypatch, tmp_path: Path, seed, more, says):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    for reason in (Reason.UNKNOWN_HOST, Reason.DNS, Reason.CONNECT):
        monkeypatch.setitem(RETRY, reason, Retry(1, 0.0))
    with socket.socket() as taken:
        # bound but not listening: a port that nobody else can open meanwhile
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        words = [word.replace("{port}", port) for word in (seed, *more)]
        said = clew("crawl", *words, "-m", "x", "-d", tmp_path / "none")
    assert said.code == 4, said.err
    assert says.replace("{port}", port) in said.err
    assert "robots.txt" not in said.err
    assert "hunter2" not in said.err
    hinted = "HTTPS_PROXY is set, but proxy variables are not used" in said.err
    assert hinted == ("--proxy" not in more and "public web" not in says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["http://a.example/", "-m", "wind AND"], "column"),
        (["http://a.example/", "-m", "hots:a.example"], "host"),
        (["http://a.example/"], "--match"),
        (["-m", "wind"], "at least one page to start from"),
        (["wind", "-m", "wind"], "did you mean https://wind?"),
        (["http://a.example/", "-m", "wind", "--delay", "0"], "--own HOST"),
        (["http://a.example/", "-m", "wind", "--own", "*"], "--proxy http://127.0.0.1:PORT"),
        (["http://a.example/", "-m", "wind", "--own", "*.co.uk"], "name your own hosts"),
        (["http://a.example/", "-m", "wind", "--own", "10.0.0.0/8"], "one by one"),
        (["http://a.example/", "-m", "wind", "--weights", "sibbling=1"], "did you mean 'sibling'"),
    ],
)
def test_mistakes_exit_2_say_what_to_do_and_write_nothing(clew, tmp_path: Path, arguments, says):
    said = clew("crawl", *arguments, "-d", "farms")
    assert said.code == 2
    assert says in said.err
    assert not list(tmp_path.iterdir())


def test_a_directory_of_something_else_is_left_alone(clew, site, tmp_path: Path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("precious")
    said = clew(*site.crawl(tmp_path / "thesis", 3))
    assert said.code == 1
    assert [file.name for file in (tmp_path / "thesis").iterdir()] == ["chapter1.txt"]


def test_a_metrics_port_in_use_is_said_before_anything_is_written(clew, site, tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = clew(*site.crawl(tmp_path / "farms", 3), "--metrics-port", port)
    assert said.code == 2
    assert "choose another port" in said.err
    assert not (tmp_path / "farms").exists()


def test_a_secret_header_is_nowhere_in_the_directory_and_must_be_given_again(clew, site, tmp_path: Path):
    farms = tmp_path / "farms"
    secret = "Bearer hunter2-hunter2"
    clew(*site.crawl(farms, 5), "--header", f"Authorization: {secret}")
    held = [file for file in farms.rglob("*") if file.is_file() and b"hunter2" in file.read_bytes()]
    assert not held
    refused = clew("crawl", "-d", farms, "--pages", "8")
    assert refused.code == 2
    assert "--header 'Authorization: …'" in refused.err
    given = clew("crawl", "-d", farms, "--pages", "8", "--header", f"Authorization: {secret}", "--json")
    assert given.json()["pages"] == 8


def test_code_named_by_a_crawl_directory_is_not_imported_on_its_word(clew, site, tmp_path: Path, monkeypatch):
    (tmp_path / "mine.py").write_text("def turbines(page):\n    return 'turbine' in page.text\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    farms = tmp_path / "farms"
    formula = "py:mine:turbines"
    first = clew("crawl", *site.seeds, "-m", formula, "-d", farms, *site.options(5))
    assert first.code in (0, 3), first.err
    refused = clew("crawl", "-d", farms, "--pages", "8")
    assert refused.code == 2
    assert "--match" in refused.err
    assert clew("crawl", "-d", farms, "--pages", "8", "-m", formula, "--json").json()["pages"] == 8


def test_the_log_is_json_and_tells_beginning_and_end(clew, site, tmp_path: Path):
    clew(*site.crawl(tmp_path / "farms", 10))
    lines = [json.loads(line) for line in (tmp_path / "farms" / "clew.log").read_text().splitlines()]
    assert lines[0]["event"] == "started"
    assert (lines[-1]["event"], lines[-1]["reason"]) == ("finished", "pages")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.slow
def test_the_first_signal_stops_at_a_checkpoint_and_the_crawl_resumes(clew, site, tmp_path: Path, number):
    farms = tmp_path / "farms"
    # a delay keeps it from being over before the signal comes
    slow = [*site.crawl(farms, 10_000, delay=0.3), "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "clew.cli", *slow], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ran:
        assert ran.stderr is not None
        assert "looking for" in ran.stderr.readline()
        assert "0 finds" in ran.stderr.readline()
        ran.send_signal(number)
        out, err = ran.communicate(timeout=300)
    assert ran.returncode == 128 + number, err
    assert json.loads(out)["reason"] == "interrupted"
    assert "resume  clew crawl -d" in err
    pages = json.loads(out)["pages"]
    more = clew("crawl", "-d", farms, "--pages", str(pages + 5), "--delay", "0", "--json")
    assert more.json()["pages"] == pages + 5


def test_the_second_signal_ends_at_once_even_when_the_loop_is_busy(monkeypatch, capsys):
    from clew.cli import runner

    class Running:
        stops = 0

        def stop(self) -> None:
            self.stops += 1

    class Ended(Exception):
        """The process would be gone."""

    def leave(code: int) -> None:
        raise Ended(code)

    async def twice() -> None:
        with runner.Signals([session]):  # type: ignore[list-item]
            signal.raise_signal(signal.SIGINT)
            assert "press Ctrl-C again" in capsys.readouterr().err
            with pytest.raises(Ended, match="143"):
                signal.raise_signal(signal.SIGTERM)
            await asyncio.sleep(0)

    monkeypatch.setattr(runner.os, "_exit", leave)
    before = signal.getsignal(signal.SIGTERM)
    session = Running()
    asyncio.run(twice())
    assert session.stops == 1
    assert "can be resumed" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_command_in_the_report_does_the_crawl_again(clew, site, tmp_path: Path):
    import shlex

    from clew.cli.directories import reading

    farms = tmp_path / "farms"
    clew(*site.crawl(farms, 15), "--ordered", "--seed", "3")
    with reading(farms) as reader:
        command = reader.meta()["command"]
    words = shlex.split(command)
    assert words[:2] == ["clew", "crawl"]
    words[words.index("--directory") + 1] = str(tmp_path / "again")
    clew(*words[1:])
    assert clew("trace", farms).out == clew("trace", tmp_path / "again").out


class Deaf(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_crawl_goes_on_when_nobody_reads_what_it_says(clew, site, tmp_path: Path):
    with contextlib.redirect_stderr(Deaf()):
        code = main(site.crawl(tmp_path / "farms", 10))
    assert code in (0, 3)
    assert clew("status", tmp_path / "farms", "--json").json()["stopped"] == "pages"


def test_learning_again_is_said_when_it_takes_long(capsys):
    times = iter([0.0, 1.0, 4.0, 4.0, 5.0, 8.0, 8.0])
    again = ProgressNotice("learning again from what was fetched", lambda: next(times))
    for done in (16, 32, 48, 64):
        again.tell(done, 2000)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "learning again from what was fetched: 32 of 2,000 pages",
        "learning again from what was fetched: 64 of 2,000 pages",
    ]


def test_a_second_crawl_on_one_directory_names_the_directory_and_not_the_port(clew, site, tmp_path: Path):
    farms = tmp_path / "farms"
    clew(*site.crawl(farms, 3))
    store = open_store(farms)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = clew("crawl", "-d", farms, "--pages", "5", "--metrics-port", port)
        store.close()
        alone = clew("crawl", "-d", farms, "--pages", "5", "--metrics-port", port)
    assert said.code != 0
    assert "already open" in said.err
    assert "metrics-port" not in said.err
    assert "metrics-port" in alone.err


def test_variables_of_other_parts_are_no_settings_and_no_mistakes(clew, site, monkeypatch, tmp_path: Path):
    for name in ("CLEW_CACHE_HOME", "CLEW_PURE", "CLEW_REQUIRE_BROWSER", "CLEW_REQUIRE_NATIVE"):
        monkeypatch.setenv(name, "0")
    assert clew(*site.crawl(tmp_path / "farms", 3)).code in (0, 3)
