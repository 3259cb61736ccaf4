"""Where settings come from: the command line, `CLEW_*` variables, the nearest `clew.toml`, the defaults.

`load_config` puts them together for a new crawl and remembers which one won for each key, so that a
complaint can name the place to mend. `resume_config` does it for a crawl that exists: there the
stored settings stand, and those that decide what the crawl *is* cannot change.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from clew.errors import ConfigError, StoreForeign
from clew.run.checks import nearest, not_one_of
from clew.run.config import FORMER, SETTINGS, CrawlConfig, current_names

FILE = "clew.toml"
PREFIX = "CLEW_"
#: Variables that are read elsewhere and are no settings of a crawl.
OTHER_VARIABLES = frozenset(
    f"CLEW_{name}"
    for name in (
        *("CACHE_HOME", "CORPORA", "DEBUG", "LAW_EXAMPLES", "PURE", "SUITES"),
        *("REQUIRE_BROWSER", "REQUIRE_DATA", "REQUIRE_NATIVE"),
    )
)
KEYS = tuple(SETTINGS)
#: These make a crawl what it is; another value needs another directory.
FIXED = tuple(key for key, item in SETTINGS.items() if item.setting.fixed)
#: By these a directory that came from a stranger would reach beyond itself; why each is to be given again.
OUTWARD = {
    "browser_path": "no program is run",
    "cache": "nothing is written elsewhere",
    "cookie_file": "no cookies are sent",
    "fetcher": "no other way to the web is taken",
}

_WANTED = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration, and for each key where its value came from."""

    config: CrawlConfig
    sources: dict[str, str]


def load_config(cli: Mapping[str, object], *, cwd: Path, environ: Mapping[str, str]) -> Loaded:
    """The settings of a new crawl.

    `cli` has the options that were given, and only those (None counts as not given).

    >>> loaded = load_config({"seeds": ("https://example.org/",), "match": "wind"}, cwd=Path("/"), environ={})
    >>> loaded.config.pages, loaded.sources["match"], loaded.sources["pages"]
    (1000, 'command line', 'default')
    """
    values: dict[str, object] = {}
    sources = dict.fromkeys(KEYS, "default")
    file = find_file(cwd)
    layers = [read_file(file) if file else {}, read_environment(environ), _from_cli(cli)]
    for layer in layers:
        for key, (value, source) in layer.items():
            values[key] = value
            sources[key] = source
    for key in ("seeds", "match"):
        values.setdefault(key, () if key == "seeds" else "")
    return Loaded(make_config(values, sources), sources)


def resume_config(stored: CrawlConfig, cli: Mapping[str, object], *, environ: Mapping[str, str]) -> Loaded:
    """The settings of a crawl that goes on: as stored, with budgets and manners changed on request.

    The environment may change what may change; `clew.toml` had its say when the crawl began.
    """
    values: dict[str, object] = stored.model_dump()
    sources = dict.fromkeys(KEYS, "the crawl directory")
    given = _from_cli(cli)
    for key, (value, source) in read_environment(environ).items():
        if key not in FIXED:
            values[key], sources[key] = value, source
    for key, (value, source) in given.items():
        values[key], sources[key] = value, source
    for key, harm in OUTWARD.items():
        if values[key] is not None and sources[key] == "the crawl directory":
            raise ConfigError(
                f"this crawl was started with {_dashed(key)} = {_shown(values[key])}, and {harm} on a "
                f"directory's word: to go on, give {_option(key)} again, or {_option(key)} none"
            )
    if values["threshold"] == "start":
        # What the start pages gave stands.
        values["threshold"] = stored.threshold
    config = make_config(values, sources)
    for key in FIXED:
        if key in given and getattr(config, key) != getattr(stored, key):
            raise ConfigError(
                f"this crawl was started with {_dashed(key)} = {_shown(getattr(stored, key))}: leave out "
                f"{_option(key)} to go on with it, or give another --directory to start a new crawl"
            )
    if missing := config.missing_secrets():
        again = " ".join("--proxy …" if name == "proxy" else f"--header '{name}: …'" for name in missing)
        raise ConfigError(f"secrets are not stored with a crawl; to go on, give them again: {again}")
    return Loaded(config, sources)


def stored_config(meta: Mapping[str, Any]) -> CrawlConfig:
    """The settings a crawl was started with, from what its store keeps about it."""
    stored = meta.get("config")
    if not isinstance(stored, dict):
        raise StoreForeign("the crawl directory has no settings in it: it was not made by `clew crawl`")
    try:
        return CrawlConfig.from_json(json.dumps(stored))
    except (ValidationError, ValueError, TypeError, OverflowError) as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) if isinstance(error, ValidationError) else error
        raise StoreForeign(
            f"the settings in the crawl directory cannot be read ({place}): "
            "was it written by another version of clew?"
        ) from None


def make_config(values: Mapping[str, object], sources: Mapping[str, str] | None = None) -> CrawlConfig:
    """A checked configuration; what is wrong is said in one `ConfigError`, with the place it came from."""
    try:
        return CrawlConfig.model_validate(dict(values))
    except ValidationError as error:
        raise ConfigError("\n".join(_complaints(error, sources or {}))) from None


def find_file(cwd: Path) -> Path | None:
    """The nearest `clew.toml`, looking upwards."""
    here = cwd.resolve()
    return next((file for folder in (here, *here.parents) if (file := folder / FILE).is_file()), None)


def _complaints(error: ValidationError, sources: Mapping[str, str]) -> list[str]:
    lines = []
    for item in error.errors(include_url=False):
        place = [str(part) for part in item["loc"] if isinstance(part, str) and part in KEYS]
        text = item["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        key = place[0] if place else ""
        if item["type"] == "extra_forbidden":
            name = str(item["loc"][0])
            lines.append(f"there is no setting {name!r}{nearest(name, KEYS)}")
            continue
        source = sources.get(key, "default")
        where = f" (from {source})" if source not in ("default", "command line") else ""
        if item["type"] == "literal_error":
            text = not_one_of(item["input"], get_args(SETTINGS[key].field.annotation))
        elif not item["msg"].startswith("Value error"):
            wanted = _WANTED.get(item["type"], f"{text[:1].lower()}{text[1:]}")
            text = f"must be {wanted}{_given(key, item['input'])}"
        lines.append(f"{_dashed(key)}: {text}{where}" if key else text)
    return lines


def _given(key: str, value: object) -> str:
    """What was given instead, unless it may be a secret or is too much to repeat."""
    plain = key not in ("header", "proxy") and isinstance(value, str | int | float)
    return f", not {value!r}" if plain and len(str(value)) <= 80 else ""


def _from_cli(cli: Mapping[str, object]) -> dict[str, tuple[object, str]]:
    given = current_names(cli)
    for key in given:
        if key not in KEYS:
            raise ConfigError(f"there is no setting {key!r}{nearest(key, KEYS)}")
    return {
        key: (_listed(key, value), "command line")
        for key, value in given.items()
        if value is not None and not (key == "seeds" and not value)
    }


def read_environment(environ: Mapping[str, str]) -> dict[str, tuple[object, str]]:
    """Settings from `CLEW_*` variables, each with its variable's name; an unknown one is an error."""
    known = {PREFIX + key.upper(): key for key in KEYS}
    former = {PREFIX + name.upper(): key for name, key in FORMER.items()}
    found: dict[str, tuple[object, str]] = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in OTHER_VARIABLES:
            continue
        key = known.get(name) or former.get(name)
        if key is None:
            hint = nearest(name, [*known, *sorted(OTHER_VARIABLES)])
            raise ConfigError(f"the environment variable {name} is no setting of clew's{hint}")
        if name in known or PREFIX + key.upper() not in environ:
            found[key] = (_listed(key, environ[name]), name)
    return found


def read_file(file: Path) -> dict[str, tuple[object, str]]:
    """Settings from a `clew.toml`, each with the file's path; an unknown one is an error."""
    try:
        table: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from None
    found: dict[str, tuple[object, str]] = {}
    for key, value in current_names({name.replace("-", "_"): table[name] for name in table}).items():
        if key not in KEYS:
            name = next(name for name in table if name.replace("-", "_") == key)
            raise ConfigError(f"{file}: there is no setting {name!r}{nearest(name, map(_dashed, KEYS))}")
        if SETTINGS[key].is_path and isinstance(value, str) and value != "none":
            value = file.parent / value
        found[key] = (_listed(key, value), str(file))
    return found


def _listed(key: str, value: object) -> object:
    """Text for a setting that is a list: words, but lines for headers, whose values have spaces."""
    if not SETTINGS[key].is_list:
        return value
    if not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    if key == "header":
        return tuple(line.strip() for line in value.splitlines() if line.strip())
    return tuple(value.replace(",", " ").split() if key == "types" else value.split())


def _dashed(key: str) -> str:
    return key.replace("_", "-")


def _option(key: str) -> str:
    return "the seeds" if key == "seeds" else f"--{_dashed(key)}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
