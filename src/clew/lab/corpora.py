"""The recorded webs that have names, and `open_web`, which opens one by name or by path."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from clew.errors import UsageError
from clew.lab.corpus_index import RecordedPage, open_index
from clew.lab.corpus_readers import miniweb, webkb, wikispeedia
from clew.lab.made_webs import MADE, made_web
from clew.lab.own_corpus import holds_pages, open_pages
from clew.lab.region_web import REGIONS, region_web
from clew.lab.webs import Change, CorpusWeb, LabelledWeb, PlainWeb
from clew.plugins import Registry
from clew.spelling import closest

SCHOOLS = "http://schools-wikipedia.org/wp/"
TAXONOMY = "subject."
"""How a label begins that is a path in the corpus's taxonomy."""
SITE_SUB = re.compile(rb'<h3[^>]*\bid="siteSub"[^>]*>.*?</h3>', re.DOTALL)
"""The line of an article that names its subjects and links to their index pages."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """How a named web is made of corpus files."""

    about: str
    files: tuple[tuple[str, Callable[[Path], Iterator[RecordedPage]]], ...]
    seeds: tuple[str, ...]
    keep: Callable[[str], bool] = field(default=lambda kind: True)
    change: Change | None = None
    scheme: str = ""


_PAGES = ("wikispeedia_pages.jsonl.zst", wikispeedia)
_IMAGES = ("wikispeedia_imagepages.jsonl.zst", wikispeedia)
_WEBKB = (("webkb_dev_pages.jsonl.zst", webkb),)
_WASHINGTON = (("webkb_washington_pages.jsonl.zst", webkb),)
_MINIWEB = (("miniweb_pages.jsonl.zst", miniweb),)
_ARTICLES = tuple(f"{SCHOOLS}{path}.htm" for path in ("u/United_Kingdom", "s/Science", "m/Music", "a/Animal"))
_SUBJECTS = (f"{SCHOOLS}index/subject.htm", *_ARTICLES)
_CORNELL, _TEXAS = "http://www.cs.cornell.edu/", "http://www.cs.utexas.edu/"
_DOCS = (
    "https://docs.python.org/3/index.html",
    "https://www.debian.org/doc/debian-policy/index.html",
    "https://cmake.org/cmake/help/latest/index.html",
    "https://www.postfix.org/index.html",
    "https://www.sqlite.org/index.html",
    "https://git-scm.com/docs/git",
)


def _http_only(body: bytes) -> bytes:
    return body.replace(b"https://", b"http://")


#: Every corpus by name. Variants follow a colon.
CORPORA: dict[str, Corpus] = {
    "wikispeedia": Corpus("2007 Wikipedia Selection for Schools, whole", (_PAGES,), _SUBJECTS),
    "wikispeedia:hard": Corpus(
        "the same without index pages and subject lines",
        (_PAGES,),
        _ARTICLES,
        keep=lambda kind: kind != "index",
        change=lambda body: SITE_SUB.sub(b"", body),
    ),
    "wikispeedia:images": Corpus("the same with image pages as noise", (_PAGES, _IMAGES), _SUBJECTS),
    "webkb": Corpus(
        "computer science departments of Cornell and Texas, 1996",
        _WEBKB,
        (_CORNELL, _TEXAS),
        keep=lambda kind: kind != "misc",
    ),
    "webkb:cornell": Corpus("Cornell alone", _WEBKB, (_CORNELL,), keep=lambda kind: kind == "cornell"),
    "webkb:texas": Corpus("Texas alone", _WEBKB, (_TEXAS,), keep=lambda kind: kind == "texas"),
    "webkb:washington": Corpus("a third department", _WASHINGTON, ("http://www.cs.washington.edu/",)),
    "webkb:misc": Corpus("a scattered sample, to train on", _WEBKB, (), keep=lambda kind: kind == "misc"),
    "miniweb": Corpus("technical documentation on 68 hosts", _MINIWEB, _DOCS),
    "miniweb:http": Corpus(
        "the same with every https made http, for crawlers behind the proxy",
        _MINIWEB,
        tuple(seed.replace("https:", "http:") for seed in _DOCS),
        change=_http_only,
        scheme="http",
    ),
}


OWN = {"demo": "clew.lab.demo:DemoWeb"}
#: Webs that need no files of this project's, clew's own and those of other packages (`clew.corpora`): what is
#: called without arguments and gives a `LabelledWeb`.
WEBS: Registry[Callable[[], LabelledWeb]] = Registry(
    "clew.corpora",
    OWN,
    lambda name, found: "" if callable(found) else f"{found!r} cannot be called to open a web",
)


def corpora_home() -> Path:
    """The folder of the corpus files: `CLEW_CORPORA`, else `shared/corpora` next to the project."""
    if named := os.environ.get("CLEW_CORPORA"):
        return Path(named)
    near = Path.cwd().parent / "shared" / "corpora"
    project = Path(__file__).resolve().parents[4] / "shared" / "corpora"
    return near if near.is_dir() or not project.is_dir() else project


def topics_of(web: LabelledWeb, url: str) -> tuple[str, ...]:
    """The topics a page belongs to: its labels and, where they are paths in a taxonomy, all above them.

    >>> class Web:
    ...     def labels(self, url): return ("subject.IT.Software", "page")
    >>> topics_of(Web(), "http://a.example/")
    ('subject.IT', 'subject.IT.Software', 'page')
    """
    found: list[str] = []
    for label in web.labels(url):
        steps = label.split(".") if label.startswith(TAXONOMY) else []
        found.extend(".".join(steps[:length]) for length in range(2, len(steps)))
        found.append(label)
    return tuple(dict.fromkeys(found))


def names() -> tuple[str, ...]:
    """What `open_web` knows by name."""
    return (*CORPORA, *WEBS)


def open_web(spec: str) -> LabelledWeb:
    """Open a recorded web: a corpus by name or by its file, a file of pages, a crawl directory, or a WARC
    file or folder.

    >>> open_web("demo").name
    'demo'
    """
    if spec in CORPORA:
        return _open_corpus(spec, CORPORA[spec], corpora_home())
    if spec in WEBS:
        return WEBS[spec]()
    if spec.startswith(MADE):
        return made_web(spec)
    if spec.partition(":")[0] == REGIONS:
        return region_web(spec)
    path = Path(spec)
    if path.exists():
        return _open_path(path)
    near = closest(spec, names())
    hint = f"did you mean {near!r}? " if near else ""
    raise UsageError(
        f"no recorded web called {spec!r}: {hint}"
        f"give a crawl directory, a WARC file, a file of pages (.jsonl), or one of {', '.join(names())}."
    )


def _open_corpus(name: str, corpus: Corpus, home: Path) -> CorpusWeb:
    indexes = []
    for file, read in corpus.files:
        if not (home / file).is_file():
            raise UsageError(f"{home / file} is missing: set CLEW_CORPORA to the folder that has {file}.")
        indexes.append(open_index(file.partition(".")[0], home / file, read))
    return CorpusWeb(
        name,
        tuple(indexes),
        seeds=corpus.seeds,
        keep=corpus.keep,
        change=corpus.change,
        scheme=corpus.scheme,
    )


def _open_path(path: Path) -> LabelledWeb:
    from clew.store.recorded import CrawlWeb, WarcWeb  # SQLite and WARC readers, only where they are needed

    for name, corpus in CORPORA.items():
        if [path.name] == [file for file, _ in corpus.files] and path.is_file():
            return _open_corpus(name, corpus, path.parent)
    if path.is_file() and holds_pages(path):
        return open_pages(path)
    if (path / "clew.db").is_file():
        return PlainWeb(CrawlWeb(path))
    if path.is_file() or any(path.rglob("*.warc*")):
        return PlainWeb(WarcWeb(path))
    raise UsageError(f"{path} is neither a crawl directory (no clew.db) nor a folder of WARC files.")
