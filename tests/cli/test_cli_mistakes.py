"""What typical mistakes are answered with: what is wrong, why, and what to do; never a traceback."""

from __future__ import annotations

import json
import random
import re
import string
from pathlib import Path

import pytest

from clew import crawl
from clew.cli.crawl_options import OPTIONS
from clew.errors import UsageError
from clew.predicate import compile as compile_predicate
from clew.predicate.atoms import fields

SEED = "http://a.example/"
CRAWL = ["crawl", SEED, "-d", "new", "-m", "wind"]

#: Words typed, exit code, what the answer says is wrong and what it says to do (regular expressions).
MISTAKES = [
    # verbs and what they need
    (["crwal"], 2, "no verb 'crwal'", "did you mean 'crawl'"),
    (["finds", "new"], 2, "no verb 'finds'", "choose crawl"),
    (["lab", "sevre"], 2, "no verb 'sevre'", "did you mean 'serve'"),
    (["crawl"], 2, "needs --directory DIR", "see clew crawl --help"),
    (["crawl", SEED, "-m", "wind"], 2, "needs --directory DIR", "see clew crawl --help"),
    (["crawl", "-m", "wind", "-d", "new"], 2, "at least one page to start from", "such as https://"),
    (["crawl", SEED, "-d", "new"], 2, "which pages to find", "such as --match"),
    (["crawl", "-d", "none"], 2, "say which pages to find", "such as --match"),
    (["init", "none"], 2, "one word too many: 'none'", "see clew init --help"),
    ([*CRAWL, "--pages"], 2, "needs --pages N", "see clew crawl --help"),
    # seeds
    (
        ["crawl", "ftp://a.example/", "-m", "x", "-d", "n"],
        2,
        "'ftp://a.example/' is not a web address",
        "start with http",
    ),
    (["crawl", "htp://a.example", "-m", "x", "-d", "n"], 2, "is not a web address", "start with http"),
    (["crawl", "seeds.txt", "-m", "x", "-d", "n"], 2, "'seeds.txt' is a file", "write @seeds.txt"),
    (["crawl", "@none.txt", "-m", "x", "-d", "n"], 2, "none.txt cannot be read: No such file", "one a line"),
    (["crawl", "@empty.txt", "-m", "x", "-d", "n"], 2, "no address in empty.txt", "one a line"),
    (["crawl", "http://", "-m", "x", "-d", "n"], 2, "names no host", "write https://example.org/"),
    (
        ["crawl", "http://a b/", "-m", "x", "-d", "n"],
        2,
        "is not an http or https address",
        "check how it is spelt",
    ),
    (["crawl", "http://u:p@a.example/", "-m", "x", "-d", "n"], 2, "carries a password", "--header"),
    (["crawl", "http://a.example:99999/", "-m", "x", "-d", "n"], 2, "is not a URL", "0-65535"),
    (["crawl", "wind", "-m", "x", "-d", "n"], 2, "'wind' is not a full URL", "did you mean https://"),
    # formulas
    (["crawl", SEED, "-d", "n", "-m", "wind AND"], 2, "expected a term after AND", "column 9"),
    (["crawl", SEED, "-d", "n", "-m", "(wind"], 2, "missing closing parenthesis", "column 1"),
    (["crawl", SEED, "-d", "n", "-m", "titel:wind"], 2, "unknown field 'titel'", "did you mean 'title'"),
    (["crawl", SEED, "-d", "n", "-m", "words:>x"], 2, "words", "column"),
    (
        ["crawl", SEED, "-d", "n", "-m", "wind -wind"],
        2,
        "no page can satisfy|never",
        "column|leave|remove|NOT",
    ),
    (["crawl", SEED, "-d", "n", "-m", ""], 2, "match", "such as|say which"),
    (["crawl", SEED, "-d", "n", "-m", "lang:english"], 2, "english", "en\\b"),
    (["crawl", SEED, "-d", "n", "-m", "/(/"], 2, "regular expression", "column"),
    (["crawl", SEED, "-d", "n", "-m", "py:clew_none:f"], 2, "cannot import clew_none", "PYTHONPATH"),
    (["crawl", SEED, "-d", "n", "-m", "py:os:clew_none"], 2, "os has no clew_none", "py:os:clew_none"),
    (["crawl", SEED, "-d", "n", "-m", '"wind'], 2, "quot", "column"),
    (["check", "wind AND"], 2, "expected a term after AND", "column 9"),
    (["check", "wind", "none.html"], 2, "no file 'none.html'", "write https://"),
    # options
    ([*CRAWL, "--page", "10"], 2, "no option --page", "did you mean --pages"),
    ([*CRAWL, "--verbose"], 2, "no option --verbose", "see clew crawl --help"),
    ([*CRAWL, "--pages", "ten"], 2, "pages: must be a whole number", "not 'ten'"),
    ([*CRAWL, "--pages", "0"], 2, "pages: must be", "greater than or equal to 1"),
    ([*CRAWL, "--time", "5x"], 2, "'5x' is not a duration", "write 90s"),
    ([*CRAWL, "--bytes", "5XB"], 2, "'5XB' is not a size", "write 500MB"),
    ([*CRAWL, "--delay", "0"], 2, "for hosts of your own", "--own HOST"),
    ([*CRAWL, "--strategy", "inteligent"], 2, "'inteligent' is not one of", "did you mean 'intelligent'"),
    ([*CRAWL, "--scope", "hosts"], 2, "'hosts' is not one of", "did you mean 'host'"),
    ([*CRAWL, "--threshold", "2"], 2, "threshold: must be", "above 0 and at most 1, or start"),
    ([*CRAWL, "--semantics", "minmx"], 2, "'minmx' is not one of", "did you mean 'minmax'"),
    ([*CRAWL, "--proxy", "localhost:80"], 2, "is not a proxy address", "write http://host:port"),
    ([*CRAWL, "--header", "Foo"], 2, "header: 'Foo'", "'Name: value'"),
    ([*CRAWL, "--own", "*"], 2, "claims the whole web", "give --proxy"),
    ([*CRAWL, "--ignore-robots"], 2, "hosts of your own only", "--own HOST"),
    ([*CRAWL, "--include", "/[/"], 2, "is not a regular expression", "position"),
    ([*CRAWL, "--depth", "-1"], 2, "depth: must be", "greater than or equal to 0"),
    ([*CRAWL, "--weights", "content"], 2, "is not a list of weights", "write name=number"),
    ([*CRAWL, "--weights", "contents=1"], 2, "no weight 'contents'", "did you mean 'content'"),
    ([*CRAWL, "--weights", "content=nan"], 2, "weight of 'content'", "must be a number from"),
    ([*CRAWL, "--factors", "contents"], 2, "'factors' of 'intelligent'", "takes some of content"),
    ([*CRAWL, "--option", "x"], 2, "'x' is not an option", "write name=value"),
    ([*CRAWL, "--option", "decay=2"], 2, "no option 'decay'", "choose from"),
    ([*CRAWL, "--types", "htm"], 2, "'htm' is not one of", "did you mean 'html'"),
    ([*CRAWL, "--metrics-port", "99999"], 2, "metrics-port: must be", "65535"),
    (
        [*CRAWL, "--interest", "2", "--strategy", "breadth-first"],
        2,
        "cannot tell interest",
        "choose a strategy",
    ),
    (
        [*CRAWL, "--cookie-file", "none.txt"],
        2,
        "none.txt cannot be read: No such file",
        "check --cookie-file",
    ),
    # knowledge
    ([*CRAWL, "--use", "nowhere"], 2, "neither a crawl nor a knowledge file", "nowhere"),
    ([*CRAWL, "--use", "other.json"], 1, "other.json is not knowledge", "clew knowledge save"),
    ([*CRAWL, "--use", "huge.json"], 1, "huge.json is damaged", "not a count from 0"),
    (["knowledge", "merge"], 2, "needs --output FILE", "see clew knowledge merge --help"),
    # directories and permissions
    (["crawl", SEED, "-d", "full", "-m", "x"], 1, "full is not empty", "give a new or empty directory"),
    (
        ["crawl", SEED, "-d", "seeds.txt", "-m", "x"],
        1,
        "seeds.txt is a file",
        "give a new or empty directory",
    ),
    (["crawl", SEED, "-d", "seeds.txt/in", "-m", "x"], 1, "seeds.txt", "check the path|directory"),
    (["status", "none"], 1, "none does not exist", "give the directory of a crawl"),
    (["status", "full"], 1, "full is not a crawl directory", "give that of a crawl"),
    (["status", "seeds.txt"], 1, "seeds.txt is not a directory", "give the directory of a crawl"),
    (["export", "none", "-o", "x.csv"], 1, "none does not exist", "give the directory of a crawl"),
    (["search", "full", "wind"], 1, "full is not a crawl directory", "give that of a crawl"),
    (["explain", "none", SEED], 1, "none does not exist", "give the directory of a crawl"),
    # the lab
    (["lab", "serve", "minweb"], 2, "no recorded web called 'minweb'", "did you mean 'miniweb'"),
    (["lab", "run", "none.toml"], 2, "no experiment none.toml", "docs/lab.md"),
    (["lab", "run", "bad.toml"], 2, "is missing|no setting", "docs/lab.md|pagse"),
    (["lab", "reproduce", "fig99"], 2, "no figure 'fig99'", "choose figure-3"),
]
#: A clew.toml with a mistake in it, and what is said of it.
FILES = [
    ("pagse = 3", "no setting 'pagse'", "did you mean 'pages'"),
    ("pages = 'x'", "pages: must be a whole number", "clew.toml"),
    ("pages == 3", "clew.toml cannot be read", "line 1"),
    ("delay = -1", "delay: ", "zero or more"),
    ("[crawl]\npages = 3", "no setting 'crawl'", "clew.toml"),
    ("max_bdoy = 3", "no setting 'max_bdoy'", "did you mean 'max-body'"),
]
VARIABLES = [
    ("CLEW_PAGSE", "3", "CLEW_PAGSE is no setting", "did you mean 'CLEW_PAGES'"),
    ("CLEW_PAGES", "x", "pages: must be a whole number", "CLEW_PAGES"),
    ("CLEW_DELAY", "fast", "'fast' is not a duration", "write 90s"),
]


@pytest.fixture
def place(clew):
    Path("full").mkdir()
    Path("full/x").write_text("x")
    Path("seeds.txt").write_text(f"{SEED}\n")
    Path("empty.txt").write_text("\n")
    Path("bad.toml").write_text("pagse = 3\n")
    Path("other.json").write_text("{}")
    counts = {"format": "clew-knowledge", "version": 1, "pages": 1e308, "satisfied": 0, "links": [0] * 4}
    Path("huge.json").write_text(json.dumps({**counts, "tables": {}}))
    return clew


def answered(said, code, what, do):
    assert said.code == code, said.err
    assert "Traceback" not in said.err
    assert "unexpected" not in said.err
    assert re.search(what, said.err), said.err
    assert re.search(do, said.err), said.err
    assert not Path("new").exists(), "a mistake leaves nothing behind"


@pytest.mark.parametrize(("words", "code", "what", "do"), MISTAKES, ids=[" ".join(m[0]) for m in MISTAKES])
def test_a_mistake_is_told_with_what_to_do(place, words, code, what, do):
    answered(place(*words), code, what, do)


@pytest.mark.parametrize(("text", "what", "do"), FILES)
def test_a_mistake_in_a_file_of_settings_is_told_with_what_to_do(place, text, what, do):
    Path("clew.toml").write_text(text)
    answered(place(*CRAWL), 2, what, do)


@pytest.mark.parametrize(("name", "value", "what", "do"), VARIABLES)
def test_a_mistake_in_a_variable_is_told_with_what_to_do(place, monkeypatch, name, value, what, do):
    monkeypatch.setenv(name, value)
    answered(place(*CRAWL), 2, what, do)


PARAMETERS = [
    ({"pagse": 3}, "no setting 'pagse'", "did you mean 'pages'"),
    ({"pages": 0}, "pages: must be", "greater than or equal to 1"),
    ({"max_body": "5XB"}, "max_body: '5XB' is not a size", "write 500MB"),
    ({"delay": 0}, "for hosts of your own", "own HOST"),
    ({"strategy": "brave"}, "'brave' is not one of", "breadth-first"),
    ({"match": "titel:wind"}, "unknown field 'titel'", "did you mean 'title'"),
    ({"seeds": "ftp://a.example/"}, "is not a web address", "start with http"),
]


@pytest.mark.parametrize(("given", "what", "do"), PARAMETERS)
def test_a_mistake_in_a_parameter_is_told_in_the_librarys_words(given, what, do):
    with pytest.raises(UsageError) as told:
        crawl(**{"seeds": SEED, "match": "wind", **given})
    assert re.search(what, str(told.value)), told.value
    assert re.search(do, str(told.value)), told.value
    assert "--" not in str(told.value)


def test_there_are_as_many_kinds_of_mistakes_as_a_look_at_new_users_found():
    assert len(MISTAKES) + len(FILES) + len(VARIABLES) + len(PARAMETERS) >= 63


# mistypes

NEIGHBOURS = dict(zip(string.ascii_lowercase, "snvdrgfuijokmpboetyrucvxtz", strict=False))


def mistyped(word: str, dice: random.Random) -> str:
    """A word with one slip of the hand: two letters swapped, one left out, doubled, or its neighbour's
    key."""
    at = dice.randrange(len(word) - 1)
    slip = dice.choice(("swap", "drop", "double", "neighbour"))
    if slip == "swap":
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if slip == "drop":
        return word[:at] + word[at + 1 :]
    if slip == "double":
        return word[: at + 1] + word[at:]
    return word[:at] + NEIGHBOURS.get(word[at], "x") + word[at + 1 :]


@pytest.mark.slow
def test_of_200_mistypes_the_right_name_is_suggested_in_95_of_100(clew, monkeypatch, capsys):
    """Options, fields, keys of clew.toml and environment variables, as many of each."""
    dice = random.Random(8)
    keys = [name for option in OPTIONS if option.shown and len(name := option.names[0][2:]) > 2]
    kinds = {
        "option": keys,
        "field": [name for name in fields() if len(name) > 2],
        "key": keys,
        "variable": [key.upper().replace("-", "_") for key in keys],
    }
    tried = missed = 0
    while tried < 200:
        kind, names = list(kinds.items())[tried % len(kinds)]
        meant = dice.choice(names)
        typed = mistyped(meant, dice).upper() if kind == "variable" else mistyped(meant, dice)
        if typed in names or typed.startswith("-") or len(meant) < 3:
            continue
        tried += 1
        answer = SUGGESTED[kind](clew, monkeypatch, typed)
        if not re.search(rf"did you mean '?(--|CLEW_)?{re.escape(meant)}'?\?", answer):
            missed += 1
            print(f"  {kind} {typed!r}, meant {meant!r}: {answer.splitlines()[0]}")
    print(f"mistypes: {tried} tried, {missed} missed")
    assert missed <= tried * 0.05


def _option(clew, monkeypatch, typed):
    return clew(*CRAWL, f"--{typed}", "1").err


def _field(clew, monkeypatch, typed):
    try:
        compile_predicate(f"{typed}:x")
    except Exception as error:
        return str(error)
    return "taken"


def _key(clew, monkeypatch, typed):
    Path("clew.toml").write_text(f'"{typed}" = 1\n')
    answer = clew(*CRAWL).err
    Path("clew.toml").unlink()
    return answer


def _variable(clew, monkeypatch, typed):
    with monkeypatch.context() as patch:
        patch.setenv(f"CLEW_{typed}", "1")
        return clew(*CRAWL).err


SUGGESTED = {"option": _option, "field": _field, "key": _key, "variable": _variable}
