"""The form of a new crawl: what may be set there, what is wrong with what was typed, and the `clew.toml` it
makes.

Fields, their groups and their words are those of `CrawlConfig`: a setting that is added there is in the form.
What would let a page in a browser reach beyond the folder, or run code, is not.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from clew.dashboard.folder import WRITTEN, CrawlFolder
from clew.errors import ClewError, ConfigError, UsageError
from clew.page import Page
from clew.predicate import FormulaPredicate, Interests, Predicate, notes
from clew.predicate import compile as compile_predicate
from clew.predicate.atoms.python import Python as PythonAtom
from clew.predicate.formula import walk
from clew.predicate.interests import formulas, written
from clew.predicate.judge import parse_each
from clew.run.build import rules_of, strategy_of
from clew.run.config import SETTINGS, CrawlConfig
from clew.run.declare import GROUPS, Declared
from clew.run.settings import FILE, OUTWARD, load_config, make_config
from clew.run.topics import asker, library_of
from clew.strategy import STRATEGIES, find
from clew.strategy.options import read
from clew.topic import TopicLibrary
from clew.training import read_library

#: Settings that are not offered: they name programs and places beyond the folder, or hold secrets.
LEFT_OUT = frozenset({*OUTWARD, "header", "insecure", "metrics_port", "predicate_timeout", "topics"})
#: Settings that have a place of their own in the page; all others are listed by group.
_OWN_PLACE = frozenset({"seeds", "match", "strategy", "weights", "use", "visits"})
#: The levels of importance of paper 002, and the weight each is here.
LEVELS = {"most": 1.0, "second": 0.5, "off": 0.0}
_WHOLE, _DECIMAL = re.compile(r"-?\d{1,15}"), re.compile(r"-?\d{1,15}\.\d{1,15}")
#: A key of a table that needs no quotes.
_BARE = re.compile(r"[A-Za-z0-9_-]+")
#: Characters of a text that is tried.
_PASTED = 200_000


@dataclass(frozen=True, slots=True)
class FormField:
    """A setting as the form shows it."""

    key: str
    label: str
    help: str
    kind: str
    """`text`, `lines`, `switch` or `choice`."""
    choices: tuple[str, ...]
    default: str


def fields_by_group() -> list[tuple[str, list[FormField]]]:
    """The settings that have no place of their own, by group."""
    return [
        (
            group.title,
            [
                _field(item)
                for key, item in SETTINGS.items()
                if item.setting.group is group and key not in LEFT_OUT and key not in _OWN_PLACE
            ],
        )
        for group in GROUPS
    ]


def _field(item: Declared) -> FormField:
    choices = _choices(item)
    kind = "switch" if item.is_switch else "choice" if choices else "lines" if item.is_list else "text"
    return FormField(item.key, item.dashed, item.plain_help, kind, choices, item.default)


def _choices(item: Declared) -> tuple[str, ...]:
    kind = item.field.annotation
    return tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()


def strategies() -> list[dict[str, Any]]:
    """What each strategy is and the names of the parts of its score, which can be weighed."""
    found = []
    for name in STRATEGIES:
        kind = find(name)
        try:
            parts = kind.parts_of({}, read(name, kind.options, {}), reuses=False, visits=False)
        except ClewError:
            parts = kind.parts
        told = (kind.__doc__ or "").strip().partition("\n\n")[0]
        found.append({"name": name, "about": " ".join(told.split()), "parts": list(parts)})
    return found


def topic_tree(folder: Path) -> list[dict[str, Any]]:
    """The topics of a folder's taxonomy, as a tree."""
    try:
        library = read_library(folder / "topics") if (folder / "topics").is_dir() else TopicLibrary()
    except ClewError:
        return []
    tree: list[dict[str, Any]] = []
    nodes: dict[str, list[dict[str, Any]]] = {"": tree}
    for path in sorted(library.taxonomy.topics):
        above, _, name = path.rpartition(".")
        node: dict[str, Any] = {"path": path, "name": name, "trained": path in library.models, "below": []}
        nodes[path] = node["below"]
        nodes.get(above, tree).append(node)
    return tree


def given_values(data: Mapping[str, Any], folder: CrawlFolder, place: Path) -> dict[str, Any]:
    """What was filled in, as settings; `UsageError` for what may not be set from the page.

    Parameters: key -> text, list or table, as the page sends it; the folder; where the crawl will be.
    """
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key not in SETTINGS or key in LEFT_OUT:
            raise UsageError(f"{key} cannot be set from the page: write it into the clew.toml yourself")
        if value in ("", None, [], {}):
            continue
        values[key] = _plain(key, value)
    if "match" in values and "topic:" in written(values["match"]) and (folder.root / "topics").is_dir():
        values["topics"] = _from(place, folder.root / "topics")
    crawls = folder.crawls()
    if "use" in values:
        unknown = [key for key in values["use"] if key not in crawls]
        if unknown:
            raise UsageError(f"there is no crawl {unknown[0]!r} in the folder to begin with")
        values["use"] = [_from(place, crawls[key].path) for key in values["use"]]
    if "visits" in values:
        if values["visits"] not in folder.visits():
            raise UsageError("visits: choose one of the databases in the folder")
        values["visits"] = _from(place, folder.root / values["visits"])
    return values


def _plain(key: str, value: Any) -> Any:
    if key == "match":
        return _formula(value)
    if key == "weights" and isinstance(value, dict):
        return {str(name): _weight(name, level) for name, level in value.items()}
    if isinstance(value, bool) and SETTINGS[key].is_switch:
        return value
    if SETTINGS[key].is_list:
        lines = value.splitlines() if isinstance(value, str) else value
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise UsageError(f"{key}: a list of lines is wanted")
        return [line.strip() for line in lines if line.strip()]
    if not isinstance(value, str | int | float):
        raise UsageError(f"{key}: a text or number is wanted")
    return value.strip() if isinstance(value, str) else value


def _weight(name: object, level: object) -> float:
    if isinstance(level, str) and level in LEVELS:
        return LEVELS[level]
    try:
        return float(level)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise UsageError(f"weights: {name} is most, second, off or a number, not {level!r}") from None


def _formula(given: Any) -> str | dict[str, str]:
    """A formula, or several by name, as they stand in a `clew.toml`. `PredicateSyntaxError`, or `UsageError`
    for one that names Python code: a page runs none.

    Parameters: a text, or pairs of a name and a formula.

    >>> _formula([["wind", "turbine"], ["solar", "panel"]])
    {'wind': 'turbine', 'solar': 'panel'}
    """
    text = written(given.strip() if isinstance(given, str) else _by_name(given))
    for formula in parse_each(text, allow_python=True).values():
        for atom, _, _ in walk(formula):
            if isinstance(atom, PythonAtom):
                raise UsageError(
                    f"{atom} names Python code to run, and that is not done from a page: use clew crawl"
                )
    each = formulas(text)
    return each.get("", each)


def _by_name(pairs: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs if isinstance(pairs, list) else [pairs]:
        match pair:
            case [str(name), str(text)]:
                if not name.strip():
                    raise UsageError("each of several formulas needs a name, such as wind: give it one")
                if name.strip() in found:
                    raise UsageError(f"the name {name.strip()!r} is there twice: give each formula its own")
                found[name.strip()] = text
            case _:
                raise UsageError("match: a formula, or pairs of a name and a formula, are wanted")
    return found


def _from(place: Path, other: Path) -> str:
    """Another place of the folder as a path from a crawl's directory, so that the folder can be moved."""
    root = place.parent
    try:
        return str(Path("..") / other.relative_to(root))
    except ValueError:
        return str(other)


def checked(values: Mapping[str, Any], place: Path) -> CrawlConfig:
    """The settings that a `clew.toml` of these values would give there, checked as `clew crawl` checks
    them."""
    paths = {
        key: str((place / value).resolve()) if SETTINGS[key].is_path else value
        for key, value in values.items()
    }
    listed = {key: tuple(value) if isinstance(value, list) else value for key, value in paths.items()}
    config = make_config({"seeds": (), "match": "", **listed})
    rules_of(config)
    return config


def check(data: Mapping[str, Any], folder: CrawlFolder, name: str) -> dict[str, Any]:
    """What the page shows while somebody types: what is wrong, by setting, and the file that would be
    written."""
    errors: dict[str, str] = {}
    place = folder.root / (name or "new")
    try:
        if name:
            place = folder.place_for(name)
    except UsageError as error:
        errors["name"] = str(error)
    try:
        values = given_values(data, folder, place)
    except ClewError as error:
        message = str(error)
        key = message.partition(":")[0]
        return {
            "errors": {**errors, (key if key in SETTINGS else "match"): message},
            "toml": "",
            "ready": False,
        }
    try:
        config = checked(values, place)
        predicate = compile_predicate(
            config.match, threshold=0.5, topics=_library(config, place), semantics=config.semantics
        )
        strategy_of(config, predicate)
    except ConfigError as error:
        errors |= _by_key(str(error))
    except ClewError as error:
        errors.setdefault("match", str(error))
    return {"errors": errors, "toml": toml_of(values), "ready": not errors and bool(name)}


def _library(config: CrawlConfig, place: Path) -> TopicLibrary:
    # Examples that a formula names are fetched when the crawl begins, not with every key that is pressed.
    return library_of(config, config.match) if "like:" not in config.match else TopicLibrary()


def _by_key(complaint: str) -> dict[str, str]:
    """Lines of a `ConfigError`, by the setting each begins with."""
    found: dict[str, str] = {}
    for line in complaint.splitlines():
        key, colon, text = line.partition(": ")
        key = key.replace("-", "_")
        known = bool(colon) and key in SETTINGS
        where = (
            key
            if known
            else "seeds"
            if "start from" in line
            else "match"
            if "formula" in line
            else "settings"
        )
        found.setdefault(where, text if known else line)
    return found


def toml_of(values: Mapping[str, Any]) -> str:
    """The values as a `clew.toml`.

    >>> print(toml_of({"match": '"wind farm"', "pages": "500", "own": ["*"], "traps": False}))
    # Written by clew dash. In this folder: clew crawl -d .
    match = "\\"wind farm\\""
    pages = 500
    traps = false
    own = ["*"]
    <BLANKLINE>
    """
    lines = [f"{WRITTEN} In this folder: clew crawl -d ."]
    lines += [
        f"{SETTINGS[key].dashed} = {_toml(values[key], number=_is_number(key))}"
        for key in SETTINGS
        if key in values
    ]
    return "\n".join(lines) + "\n"


def _is_number(key: str) -> bool:
    """Whether a setting, or what its table has, is a number: `2020` is one as `pages`, a word as `match`."""
    return bool(re.search(r"\b(int|float)\b", str(SETTINGS[key].field.annotation)))


def _toml(value: Any, *, number: bool = False) -> str:
    if isinstance(value, dict):
        named = (
            f"{name if _BARE.fullmatch(str(name)) else _toml(str(name))} = {_toml(item, number=number)}"
            for name, item in value.items()
        )
        return "{ " + ", ".join(named) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item, number=number) for item in value) + "]"
    if isinstance(value, str) and not (number and (_WHOLE.fullmatch(value) or _DECIMAL.fullmatch(value))):
        # JSON's way to write a text is TOML's, but for one sign; half a pair of surrogates is in neither.
        text = value.encode("utf-8", "replace").decode()
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return value if isinstance(value, str) else json.dumps(value)


def write(data: Mapping[str, Any], folder: CrawlFolder, name: str) -> Path:
    """Make the directory of a new crawl with its `clew.toml`; gives the directory. Nothing is written if
    anything is wrong with what was filled in."""
    place = folder.place_for(name)
    values = given_values(data, folder, place)
    config = checked(values, place)
    text = toml_of(values)
    tomllib.loads(text)
    try:
        place.mkdir(exist_ok=True)
        (place / FILE).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{place} cannot be written ({error.strerror}): start clew dash on a folder where it can"
        ) from error
    read_back = load_config({}, cwd=place, environ={}).config
    if read_back != config:
        differing = [key for key in SETTINGS if getattr(read_back, key) != getattr(config, key)]
        raise UsageError(f"{', '.join(differing)} cannot be written to a clew.toml as typed: change it")
    return place


def try_formula(
    data: Mapping[str, Any], folder: CrawlFolder, text: str = "", url: str = ""
) -> dict[str, Any]:
    """A formula read back, and what each of its terms says of a page or a pasted text."""
    place = folder.root / "new"
    values = given_values({key: value for key, value in data.items() if key in _ASKING}, folder, place)
    config = checked({"seeds": ["https://example.org/"], **values}, place)
    threshold = config.threshold if isinstance(config.threshold, float) else 0.5
    predicate = compile_predicate(
        config.match, threshold=threshold, semantics=config.semantics, topics=library_of(config, config.match)
    )
    page = None if not text and not url else asker(config)(url) if url else _pasted(text)
    found: dict[str, Any] = {
        "notes": [str(note) for note in notes(config.match)],
        "threshold": threshold,
        "formulas": [
            _told(name, one, page)
            for name, one in (predicate.each if isinstance(predicate, Interests) else {"": predicate}).items()
        ],
    }
    return found if page is None else found | {"title": page.title, "url": page.url}


def _told(name: str, predicate: Predicate, page: Page | None) -> dict[str, Any]:
    """One formula read back, and what it makes of a page."""
    assert isinstance(predicate, FormulaPredicate)
    found: dict[str, Any] = {"name": name, "text": predicate.text()}
    if page is None:
        terms = walk(predicate.formula)
        return found | {"terms": [{"term": str(t), "negated": not_, "weight": w} for t, not_, w in terms]}
    verdict = predicate.judge(page)
    return found | {
        "score": verdict.score,
        "satisfied": verdict.satisfied,
        "terms": [
            {
                "term": term.text,
                "degree": term.degree,
                "negated": term.negated,
                "weight": term.weight,
                "words": list(term.words),
            }
            for term in predicate.terms(page)
        ],
    }


#: Settings that say how one page is asked for and judged.
_ASKING = frozenset(
    {"match", "threshold", "semantics", "proxy", "own", "allow_private", "user_agent", "timeout", "max_body"}
)


def _pasted(text: str) -> Page:
    from clew.parse import parse_page

    kind = "text/html" if "<" in text and ">" in text else "text/plain"
    body = text[:_PASTED].encode("utf-8", "replace")
    return parse_page(
        body,
        url="https://example.org/pasted",
        status=200,
        content_type=f"{kind}; charset=utf-8",
        headers=(),
        depth=0,
    )
