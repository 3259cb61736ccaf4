"""Knowledge by the command line: learned in one crawl, looked at, saved, merged, used in another."""

import json

import pytest

from clew.cli.app import run
from clew.lab import open_web, serving


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A crawl of the demo web with `intelligent`, and the command that made it."""
    web = open_web("demo")
    folder = tmp_path_factory.mktemp("known")
    with serving(web) as proxy:
        base = [
            *web.seeds(),
            "-m",
            web.formula(),
            "--proxy",
            proxy,
            "--own",
            "*",
            "--delay",
            "0",
            "--pages",
            "80",
        ]
        assert run(["crawl", *base, "-d", str(folder / "one"), "--strategy", "intelligent"]) == 0
        yield folder, base


def test_show_names_the_telling_words(learned, capsys):
    folder, _ = learned
    assert run(["knowledge", "show", str(folder / "one"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["pages"] >= 80
    assert shown["satisfied"] >= 3
    words = [row["word"] for row in shown["tables"]["words"]]
    assert "turbin" in words or "wind" in words
    assert run(["knowledge", "show", str(folder / "one"), "--limit", "3"]) == 0
    said = capsys.readouterr().out
    assert f"{shown['satisfied']:.0f} of {shown['pages']:.0f} pages are finds (" in said
    assert (
        f"{shown['find-find']:.0f} of {shown['find-find'] + shown['find-other']:.0f} links of finds" in said
    )
    assert "words of pages" in said
    for internal in ("find-find", "inlinks", "satisfied", "ratio"):
        assert internal not in said


def test_save_merge_diff_and_use(learned, capsys):
    folder, base = learned
    saved, both = folder / "k.json", folder / "both.json"
    assert run(["knowledge", "save", str(folder / "one"), "-o", str(saved)]) == 0
    assert run(["knowledge", "save", str(folder / "one"), "-o", str(saved)]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["knowledge", "merge", str(saved), str(folder / "one"), "-o", str(both)]) == 0
    capsys.readouterr()
    assert run(["knowledge", "show", str(both), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == 2 * json.loads(saved.read_text())["pages"]
    assert run(["knowledge", "diff", str(saved), str(both), "--json"]) == 0
    capsys.readouterr()
    again = ["crawl", *base, "-d", str(folder / "two"), "--strategy", "intelligent", "--use", str(saved)]
    assert run(again) == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"{}", "is not knowledge: give a crawl's directory"), (b"\xff\xfe", "not text"), (b"junk", "not JSON")],
)
def test_what_is_no_knowledge_is_refused_before_a_crawl_begins(tmp_path, capsys, content, said):
    (tmp_path / "k.json").write_bytes(content)
    options = [
        "-m",
        "wind",
        "-d",
        str(tmp_path / "c"),
        "--strategy",
        "intelligent",
        "--use",
        str(tmp_path / "k.json"),
    ]
    assert run(["crawl", "http://a.example/", *options]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_a_missing_place_and_a_crawl_that_learned_nothing_are_said(tmp_path, capsys):
    assert run(["knowledge", "show", str(tmp_path / "none")]) == 2
    assert "neither a crawl nor a knowledge file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--factors", "sibbling"], "factors"),
        (["--weights", "learnd"], "one of balanced, learned, product"),
        (["--weights", "content=1,sibbling=2"], "did you mean 'sibling'"),
        (["--option", "refrsh=0.1"], "did you mean 'refresh'"),
        (["--option", "refresh"], "write name=value"),
    ],
)
def test_mistyped_options_of_the_strategy_name_the_right_ones(tmp_path, capsys, option, said):
    start = [
        "crawl",
        "http://a.example/",
        "-m",
        "wind",
        "-d",
        str(tmp_path / "c"),
        "--strategy",
        "intelligent",
    ]
    assert run([*start, *option]) == 2
    assert said in capsys.readouterr().err
