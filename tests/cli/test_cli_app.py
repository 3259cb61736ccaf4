"""The program itself: quick to start, clear about mistakes, quiet about closed pipes."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clew import __version__
from clew.cli import exits, main
from clew.cli.app import LAB_VERBS, VERBS
from clew.errors import ConfigError, StorageFull

HEAVY = ("numpy", "aiohttp", "lark", "pydantic", "turbohtml", "sqlite3", "asyncio", "jinja2", "structlog")


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_load_nothing_heavy(argument):
    code = (
        f"import sys; from clew.cli import main; main([{argument!r}]); print(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stderr.split())
    # --help draws with rich, which may bring asyncio-free parts of the standard library only
    assert not loaded & set(HEAVY)
    assert ran.stdout.strip()


def test_version(clew):
    assert clew("--version").out.strip() == __version__


def test_help_names_every_verb(clew):
    said = clew("--help")
    assert said.code == 0
    for name, *_ in VERBS:
        assert name in said.out


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["craw"], "'crawl'"),
        (["statsu", "x"], "'status'"),
        (["lab", "serv"], "'serve'"),
        (["crawl", "-d", "x", "--pagse", "3"], "--pages"),
        (["crawl", "-d", "x", "--allow-privat", "10.0.0.0/8"], "--allow-private"),
        (["export", "x", "--formt", "csv"], "--format"),
    ],
)
def test_a_mistyped_verb_or_option_names_the_right_one_and_exits_2(clew, typed, meant):
    said = clew(*typed)
    assert said.code == 2
    assert meant in said.err
    assert said.out == ""


def test_a_missing_argument_is_a_usage_error(clew):
    said = clew("crawl", "https://a.example/", "-m", "x")
    assert said.code == 2
    assert "--directory" in said.err or "-d" in said.err


def test_errors_become_a_sentence_and_their_exit_code(capsys):
    assert exits.code_of(ConfigError("mend it")) == 2
    assert exits.code_of(StorageFull("no room")) == 5
    assert capsys.readouterr().err == "clew: mend it\nclew: no room\n"


def test_an_unexpected_error_says_how_to_see_more(capsys, monkeypatch):
    monkeypatch.delenv("CLEW_DEBUG", raising=False)
    assert exits.code_of(RuntimeError("odd")) == 1
    err = capsys.readouterr().err
    assert "RuntimeError: odd" in err
    assert "CLEW_DEBUG=1" in err
    assert "Traceback" not in err


def test_debug_shows_the_traceback(capsys, monkeypatch):
    monkeypatch.setenv("CLEW_DEBUG", "1")
    try:
        raise RuntimeError("odd")
    except RuntimeError as error:
        exits.code_of(error)
    assert "Traceback" in capsys.readouterr().err


def test_a_closed_pipe_ends_quietly(crawled: Path):
    clew = [sys.executable, "-m", "clew.cli", "trace", str(crawled), "--json"]
    with subprocess.Popen(clew, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        assert ran.stdout is not None
        assert ran.stderr is not None
        ran.stdout.readline()
        ran.stdout.close()
        assert ran.stderr.read() == b""
    assert ran.returncode == 0


def test_no_colour_when_asked_for_none(clew, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in clew("crawl", "--help").out


def test_every_verb_has_a_place_that_exists():
    import importlib

    for _, place, *_ in (*VERBS, *LAB_VERBS):
        module, _, function = place.partition(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_init_writes_a_file_that_loads_and_is_not_replaced_unasked(clew, tmp_path: Path):
    from clew.run.settings import KEYS, make_config, read_file

    assert clew("init").code == 0
    file = tmp_path / "clew.toml"
    assert read_file(file) == {}
    text = file.read_text()
    file.write_text(re.sub(r"^#(?=\w)", "", text, flags=re.M))
    uncommented = read_file(file)
    assert set(uncommented) == set(KEYS), "every setting is in the template, by its right name"
    alone = {"cookie_file", "cache", "like"}  # the first two exclude each other, as do examples and a formula
    assert (
        make_config({key: value for key, (value, _) in uncommented.items() if key not in alone}).pages == 1000
    )
    refused = clew("init")
    assert refused.code == 2
    assert "--force" in refused.err
    assert clew("init", "--force").code == 0
    assert file.read_text() == text


def test_doctor_says_what_is_there_and_finds_a_bad_file(clew, tmp_path: Path):
    said = clew("doctor", "--json")
    found = {finding["name"]: finding for finding in said.json()["findings"]}
    assert said.code == 0
    assert said.json()["ok"] is True
    assert "FTS5" in found["SQLite"]["detail"]
    assert found["clew"]["detail"] == __version__
    assert {"open files", "disk", "aiohttp", "pyarrow", "clew.toml"} <= set(found)
    (tmp_path / "clew.toml").write_text("pagse = 3\n")
    bad = clew("doctor")
    assert bad.code == 1
    assert "did you mean 'pages'" in bad.out


def test_doctor_says_whether_there_is_a_browser(clew, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install chromium" in clew("doctor").out
    program = tmp_path / "google-chrome"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert str(program) in clew("doctor").out


def test_doctor_names_proxies_of_the_environment_as_unused(clew, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    assert "HTTPS_PROXY" in clew("doctor").out


def test_doctor_and_the_project_agree_on_the_libraries():
    import tomllib

    from clew.cli.doctor import EXTRAS, HELPFUL, LIBRARIES

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    needed = [line for line in project["dependencies"] if ";" not in line]
    where_there_is = [line for line in project["dependencies"] if ";" in line]
    assert set(LIBRARIES) == {line.split(">")[0].split("=")[0] for line in needed}
    assert set(HELPFUL) == {line.split(">")[0].split("=")[0] for line in where_there_is}
    for package, extra, _ in EXTRAS:
        assert any(line.startswith(package) for line in project["optional-dependencies"][extra])


def test_the_exit_codes_are_those_of_the_reference():
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    for code, meaning in exits.MEANING.items():
        assert f"| {code} | {meaning.split(',')[0]}" in text


def test_the_environment_is_not_needed_to_start(tmp_path: Path):
    bare = {"PATH": os.environ["PATH"]}
    ran = subprocess.run(
        [sys.executable, "-m", "clew.cli", "--version"],
        env=bare,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, __version__)


def test_output_that_finds_no_room_exits_5(capsys):
    assert exits.code_of(OSError(errno.ENOSPC, "No space left on device")) == 5
    assert "free some space" in capsys.readouterr().err


def test_closed_streams_are_replaced_and_data_goes_nowhere_else(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["statsu"]) == 2
    assert capsys.readouterr().out == ""


def test_letters_that_the_output_does_not_have_are_numbers_that_json_reads():
    code = (
        "import json, sys; from clew.cli import console, main; main(['--version']); "
        "console.put(json.dumps({'title': 'é😀'}, ensure_ascii=False))"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    said = ran.stdout.decode("ascii").splitlines()[-1]
    assert json.loads(said) == {"title": "é😀"}
