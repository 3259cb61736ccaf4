"""Settings: conversion, checks, precedence, what is stored, what may change on resume."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import units
from clew.errors import ConfigError
from clew.fetch.cookies import CookieFetcher
from clew.run.build import check_fetcher, fetcher_of
from clew.run.config import CrawlConfig
from clew.run.settings import load_config, make_config, resume_config

BASIC = {"seeds": ("https://a.example/",), "match": "wind"}


def config(**values: object) -> CrawlConfig:
    return make_config({**BASIC, **values})


def complaint(**values: object) -> str:
    with pytest.raises(ConfigError) as caught:
        config(**values)
    return str(caught.value)


def test_text_is_converted_as_people_write_it():
    made = config(
        time="1h30m", bytes="500MB", delay="2s", pages="none", weights="source=1,hint=0.5", depth="0"
    )
    assert (made.time, made.bytes, made.delay, made.pages, made.depth) == (5400, 500_000_000, 2, None, 0)
    assert made.weights == {"source": 1.0, "hint": 0.5}


def test_a_config_cannot_be_changed():
    with pytest.raises(Exception, match="frozen"):
        config().pages = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"seeds": ("example.org/a",)}, "did you mean https://example.org/a?"),
        ({"seeds": ("ftp://example.org/",)}, "seeds start with http:// or https://"),
        ({"seeds": ("mailto:me@example.org",)}, "seeds start with http:// or https://"),
        ({"seeds": ("https:///path",)}, "names no host"),
        ({"seeds": ("http://u:p@a.example/",)}, "--header"),
        ({"seeds": ("http://a.example:99999/",)}, "is not a URL"),
        ({"seeds": ()}, "at least one page to start from"),
        ({"match": "  "}, "--match"),
        ({"strategy": "bestfirst"}, "did you mean 'best-first'?"),
        ({"semantics": "max"}, "did you mean 'minmax'?"),
        ({"scope": "domains"}, "did you mean 'domain'?"),
        ({"types": ("htm",)}, "did you mean 'html'?"),
        ({"delay": 0}, "--own HOST"),
        ({"delay": "-1"}, "zero or more"),
        ({"delay": "soon"}, "is not a duration"),
        ({"bytes": "many"}, "is not a size"),
        ({"own": ("*",)}, "--proxy http://127.0.0.1:PORT"),
        ({"own": ("*",), "proxy": "http://proxy.example:3128"}, "--proxy http://127.0.0.1:PORT"),
        ({"own": ("http://a.example/",)}, "did you mean 'a.example'?"),
        ({"ignore_robots": True}, "--own HOST"),
        ({"insecure": ("*",)}, "not switched off for the whole web"),
        ({"allow_private": ("10.0.0.0/99",)}, "10.0.0.0/8"),
        ({"proxy": "socks5://127.0.0.1:9"}, "http://host:port"),
        ({"header": ("Authorization",)}, "'Name: value'"),
        ({"header": ("X: a\r\nY: b",)}, "on one line"),
        ({"header": ("Host: b.example",)}, "set by the client"),
        ({"user_agent": "a\nb"}, "one line"),
        ({"include": ("/[/",)}, "regular expression"),
        ({"pages": 0}, "pages: must be greater than or equal to 1, not 0"),
        ({"concurrency": "many"}, "concurrency: must be a whole number, not 'many'"),
        ({"traps": "perhaps"}, "traps: must be true or false, not 'perhaps'"),
        ({"concurency": 3}, "did you mean 'concurrency'?"),
    ],
)
def test_a_bad_value_is_refused_with_what_to_do(values, says):
    assert says in complaint(**values)


def test_a_header_without_colon_is_not_repeated_in_full_for_it_may_be_a_secret():
    assert "hunter2" not in complaint(header=("X: a", "Authorization : hunter2"))


@pytest.mark.parametrize(
    "proxy", ["http://127.0.0.1:8089", "http://[::1]:1", "http://localhost:1", "http://127.9.9.9:1"]
)
def test_the_whole_web_is_ones_own_behind_a_loopback_proxy_only(proxy):
    made = config(own=("*",), proxy=proxy, delay=0)
    assert made.owns("any.example")
    assert made.delay_for("any.example") == 0


def test_a_short_delay_holds_for_own_hosts_and_others_keep_the_default():
    made = config(own=("*.a.example", "b.example"), delay=0)
    assert made.delay_for("www.a.example") == 0
    assert made.delay_for("b.example") == 0
    assert made.delay_for("a.example") == 1.0
    assert made.delay_for("nota.example") == 1.0
    assert made.delay_for("www.b.example") == 1.0


def test_the_command_line_beats_the_environment_beats_the_file_beats_the_default(tmp_path: Path):
    (tmp_path / "clew.toml").write_text(
        'seeds = ["https://file.example/"]\nmatch = "file"\n'
        'pages = 1\ndelay = "3s"\nuser-agent = "filebot/1"\n'
    )
    below = tmp_path / "x" / "y"
    below.mkdir(parents=True)
    loaded = load_config(
        {"match": "cli"}, cwd=below, environ={"CLEW_MATCH": "env", "CLEW_PAGES": "2", "HOME": "/"}
    )
    made = loaded.config
    assert (made.match, made.pages, made.delay, made.user_agent) == ("cli", 2, 3.0, "filebot/1")
    assert made.seeds == ("https://file.example/",)
    assert made.timeout == 30
    assert loaded.sources["match"] == "command line"
    assert loaded.sources["pages"] == "CLEW_PAGES"
    assert loaded.sources["delay"] == str(tmp_path / "clew.toml")
    assert loaded.sources["timeout"] == "default"


def test_the_nearest_file_counts(tmp_path: Path):
    (tmp_path / "clew.toml").write_text("pages = 1\n")
    near = tmp_path / "near"
    near.mkdir()
    (near / "clew.toml").write_text("matches = 2\n")
    made = load_config(BASIC, cwd=near, environ={}).config
    assert (made.pages, made.matches) == (1000, 2)


def test_a_mistyped_key_names_the_right_one_wherever_it_stands(tmp_path: Path):
    (tmp_path / "clew.toml").write_text("user-agnet = 'x'\n")
    with pytest.raises(ConfigError, match="did you mean 'user-agent'"):
        load_config(BASIC, cwd=tmp_path, environ={})
    with pytest.raises(ConfigError, match=r"CLEW_DELAI .*did you mean 'CLEW_DELAY'"):
        load_config(BASIC, cwd=Path("/"), environ={"CLEW_DELAI": "1"})
    with pytest.raises(ConfigError, match="did you mean 'pages'"):
        load_config({**BASIC, "page": 1}, cwd=Path("/"), environ={})


def test_a_bad_value_says_where_it_came_from(tmp_path: Path):
    (tmp_path / "clew.toml").write_text("delay = 'soon'\n")
    with pytest.raises(ConfigError, match=r"clew\.toml"):
        load_config(BASIC, cwd=tmp_path, environ={})
    with pytest.raises(ConfigError, match="from CLEW_DELAY"):
        load_config(BASIC, cwd=Path("/"), environ={"CLEW_DELAY": "soon"})


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path):
    (tmp_path / "clew.toml").write_text("pages = = 3")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(BASIC, cwd=tmp_path, environ={})


def test_lists_from_the_environment():
    environ = {
        "CLEW_SEEDS": "https://a.example/ https://b.example/",
        "CLEW_HEADER": "Accept-Language: en, de\nX-Own: 1",
        "CLEW_TYPES": "html,text",
        "CLEW_DEBUG": "1",
    }
    made = load_config({"match": "x"}, cwd=Path("/"), environ=environ).config
    assert made.seeds == ("https://a.example/", "https://b.example/")
    assert made.headers() == (("Accept-Language", "en, de"), ("X-Own", "1"))
    assert made.types == ("html", "text")


def test_a_cache_in_the_file_is_relative_to_the_file(tmp_path: Path):
    (tmp_path / "clew.toml").write_text('cache = "pages"\n')
    (tmp_path / "below").mkdir()
    assert load_config(BASIC, cwd=tmp_path / "below", environ={}).config.cache == tmp_path / "pages"


def test_stored_settings_come_back_equal_and_without_secrets():
    made = config(
        header=("Authorization: Bearer hunter2", "X-Api-Key: hunter2", "Accept-Language: en"),
        proxy="http://me:hunter2@proxy.example:3128",
        cache="somewhere",
        weights={"source": 2.0},
        time="2h",
    )
    text = made.to_json()
    assert "hunter2" not in text
    back = CrawlConfig.from_json(text)
    assert back.missing_secrets() == ("Authorization", "X-Api-Key", "proxy")
    same = {"header", "proxy"}
    assert back.model_dump(exclude=same) == made.model_dump(exclude=same)
    assert CrawlConfig.from_json(config().to_json()) == config()


def test_resume_keeps_the_crawl_and_takes_new_budgets():
    stored = config(pages=10, strategy="random", own=("a.example",))
    loaded = resume_config(
        stored, {"pages": "20", "match": "wind"}, environ={"CLEW_DELAY": "3", "CLEW_RANDOM_SEED": "9"}
    )
    assert (loaded.config.pages, loaded.config.delay, loaded.config.strategy) == (20, 3.0, "random")
    assert loaded.config.random_seed == 0, "the environment cannot change what the crawl is"


def test_the_dice_are_taken_by_their_former_name_wherever_it_may_stand(tmp_path: Path):
    (tmp_path / "clew.toml").write_text("seed = 3\n")
    file = load_config(BASIC, cwd=tmp_path, environ={})
    assert (file.config.random_seed, file.sources["random_seed"]) == (3, str(tmp_path / "clew.toml"))
    assert load_config(BASIC, cwd=tmp_path, environ={"CLEW_SEED": "4"}).config.random_seed == 4
    assert (
        load_config({**BASIC, "seed": "5"}, cwd=tmp_path, environ={"CLEW_SEED": "4"}).config.random_seed == 5
    )
    both = {"CLEW_SEED": "4", "CLEW_RANDOM_SEED": "6"}
    assert load_config(BASIC, cwd=tmp_path, environ=both).config.random_seed == 6, "the name of now holds"
    (tmp_path / "clew.toml").write_text("random-seed = 2\nseed = 3\n")
    assert load_config(BASIC, cwd=tmp_path, environ={}).config.random_seed == 2
    stored = json.loads(config(random_seed=7).to_json())
    stored["seed"] = stored.pop("random_seed")
    assert CrawlConfig.from_json(json.dumps(stored)).random_seed == 7
    resumed = resume_config(config(random_seed=7), {"seed": "7"}, environ={"CLEW_SEED": "9"}).config
    assert resumed.random_seed == 7
    with pytest.raises(ConfigError, match="started with random-seed = 7"):
        resume_config(config(random_seed=7), {"seed": "8"}, environ={})


@pytest.mark.parametrize(
    ("key", "value"),
    [("match", "solar"), ("seeds", ("https://b.example/",)), ("strategy", "random"), ("depth", "2")],
)
def test_resume_refuses_to_change_what_the_crawl_is(key, value):
    with pytest.raises(ConfigError, match="another --directory"):
        resume_config(config(), {key: value}, environ={})


def test_resume_asks_for_secrets_again():
    stored = CrawlConfig.from_json(config(header=("Cookie: s=1",)).to_json())
    with pytest.raises(ConfigError, match="--header 'Cookie: …'"):
        resume_config(stored, {}, environ={})
    assert resume_config(stored, {"header": ("Cookie: s=1",)}, environ={}).config.header == ("Cookie: s=1",)


@given(st.floats(min_value=1, max_value=1e7))
def test_a_duration_as_text_is_close_to_itself(value):
    back = units.seconds(units.duration_text(value))
    assert abs(back - value) <= max(0.5, value / 24)


@given(st.text(max_size=12))
def test_no_text_makes_units_fail_otherwise_than_by_value_error(text):
    for convert in (units.seconds, units.size):
        with contextlib.suppress(ValueError):
            assert convert(text) >= 0


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"cookies": "always"}, "'always' is not one of off, session"),
        ({"cookies": "session", "cache": "c"}, "meant for you alone"),
        ({"cookie_file": "c.txt", "header": ("Cookie: a=1",)}, "one way"),
    ],
)
def test_cookies_are_kept_apart_from_what_is_shared(values, says):
    assert says in complaint(**values)
    assert config(cookies=False).cookies == "off"
    assert not config(header=("Cookie: a=1",)).sends_cookies()


def test_a_cookie_file_is_read_when_the_crawl_begins(tmp_path):
    file = tmp_path / "cookies.txt"
    file.write_text("a.example\tFALSE\t/\tFALSE\t0\tlogin\ts3cret\n")
    made = config(cookie_file=file)
    assert "s3cret" not in made.to_json()
    fetcher = fetcher_of(made, lambda: 0.0)
    assert isinstance(fetcher, CookieFetcher)
    assert fetcher.jar.header("http://a.example/", 0.0) == "login=s3cret"
    assert not fetcher.jar.keep
    assert fetcher_of(config(cookies="session"), lambda: 0.0).jar.keep
    with pytest.raises(ConfigError, match="cannot be read"):
        fetcher_of(config(cookie_file=tmp_path / "none"), lambda: 0.0)


def test_a_browser_is_for_hosts_or_for_pages_that_look_empty():
    assert config(browser=("auto", "*.app.example", "*")).browser == ("auto", "*.app.example", "*")
    assert "did you mean 'app.example'?" in complaint(browser=("http://app.example/",))
    loaded = load_config(BASIC, cwd=Path("/"), environ={"CLEW_BROWSER": "auto app.example"})
    assert loaded.config.browser == ("auto", "app.example")


def test_a_browser_that_is_not_there_is_missed_before_the_crawl_begins(tmp_path, monkeypatch):
    monkeypatch.setattr("clew.fetch.chromium.playwright_at_hand", lambda: None)
    check_fetcher(config())
    with pytest.raises(ConfigError, match="--browser-path"):
        check_fetcher(config(browser=("auto",), browser_path=tmp_path / "none"))


def test_examples_are_short_for_a_formula_of_them():
    config = CrawlConfig(seeds=("https://a.example/",), like=("good pages", "https://b.example/x"))
    assert config.match == 'like:"good pages" OR like:"https://b.example/x"'
    assert config.threshold == 0.3
    assert CrawlConfig.from_json(config.to_json()) == config
    assert CrawlConfig(seeds=("https://a.example/",), like=("x",), threshold=0.4).threshold == 0.4


@pytest.mark.parametrize("more", [{"match": "wind"}, {"like": ('a"b',)}, {"like": (" ",)}])
def test_examples_and_another_formula_are_refused(more):
    with pytest.raises(ValueError, match="like"):
        CrawlConfig(**{"seeds": ("https://a.example/",), "like": ("x",)} | more)
