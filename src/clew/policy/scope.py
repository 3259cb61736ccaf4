"""`Scope`: which URLs may be fetched at all, and, of each that may not, why."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from clew import url as urls
from clew.errors import ConfigError

#: What a file name's ending says about the type of the page behind it; endings not listed say nothing.
_ENDINGS: dict[str, str] = {
    ending: kind
    for kind, endings in {
        "image": "png jpg jpeg jpe gif webp svg ico bmp tif tiff avif heic psd eps",
        "audio": "mp3 ogg oga opus wav flac m4a aac wma mid midi",
        "video": "mp4 m4v avi mov mkv webm wmv flv mpg mpeg ogv 3gp",
        "archive": "zip gz tgz bz2 xz zst 7z rar tar jar war iso dmg deb rpm apk whl cab",
        "binary": "exe msi bin dll so o a pyc class swf woff woff2 ttf otf eot wasm db sqlite",
        "style": "css less scss",
        "script": "js mjs map",
        "office": "doc docx xls xlsx ppt pptx odt ods odp rtf epub mobi",
        "data": "json csv tsv parquet yaml yml",
        "postscript": "ps dvi",
        "pdf": "pdf",
        "text": "txt md text",
        "feed": "rss atom",
    }.items()
    for ending in endings.split()
}

#: Media types behind each name a user can give with --types.
KINDS: dict[str, frozenset[str]] = {
    "html": frozenset({"text/html"}),
    "xhtml": frozenset({"application/xhtml+xml"}),
    "text": frozenset({"text/plain", "text/markdown"}),
    "feed": frozenset(
        {
            "application/rss+xml",
            "application/atom+xml",
            "application/rdf+xml",
            "application/xml",
            "text/xml",
            "application/feed+json",
        }
    ),
    "pdf": frozenset({"application/pdf"}),
}

DEFAULT_KINDS = ("html", "xhtml", "text", "feed", "pdf")


def pattern(text: str) -> re.Pattern[str]:
    """A user's URL pattern: `/regex/` as it is (searched), anything else a glob over the whole URL.

    A glob without a wildcard matches as a prefix.

    >>> bool(pattern("*/blog/*").search("http://a.example/blog/1"))
    True
    >>> bool(pattern("/page=[0-9]+/").search("http://a.example/?page=3"))
    True
    >>> bool(pattern("http://a.example/x").search("http://a.example/x/y"))
    True
    """
    try:
        if len(text) > 2 and text.startswith("/") and text.endswith("/"):
            return re.compile(text[1:-1])
        glob = text if any(c in text for c in "*?[") else text + "*"
        return re.compile(fnmatch.translate(glob))
    except re.error as problem:
        raise ConfigError(f"the URL pattern {text!r} is not a regular expression: {problem}") from None


class Scope:
    """The borders of a crawl.

    `check` gives None for a URL inside, or the reason it is left out: `scope`, `include`,
    `exclude`, `depth` or `type`.

    >>> scope = Scope("host", ["http://a.example/start"], exclude=["*/private/*"])
    >>> [scope.check(url, 1) for url in ("http://b.example/", "http://a.example/private/x", "http://a.example/")]
    ['scope', 'exclude', None]
    """

    def __init__(
        self,
        mode: str = "all",
        seeds: Sequence[str] = (),
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        depth: int | None = None,
        types: Sequence[str] = DEFAULT_KINDS,
    ) -> None:
        unknown = [t for t in types if t not in KINDS and "/" not in t]
        if unknown:
            raise ConfigError(
                f"unknown page type {unknown[0]!r}: choose from {', '.join(KINDS)}, or give a media type"
            )
        self.mode = mode
        self.depth = depth
        self.types = tuple(types)
        self._include = [pattern(p) for p in include]
        self._exclude = [pattern(p) for p in exclude]
        self._media = frozenset[str]().union(*(KINDS.get(t, (t,)) for t in types))
        # With media types of the user's own, an ending can only be trusted where it never is a page.
        doubtful = {"office", "data", "postscript"} if any("/" in t for t in types) else set[str]()
        self._skipped = {e for e, kind in _ENDINGS.items() if kind not in types and kind not in doubtful}
        self._homes: frozenset[str] = frozenset()
        self._prefixes: tuple[str, ...] = ()
        if mode == "domain":
            self._homes = frozenset(urls.site(urls.host(s)) for s in seeds)
        elif mode == "host":
            self._homes = frozenset(urls.host(s) for s in seeds)
        elif mode == "prefix":
            self._prefixes = tuple(s.split("?")[0].rsplit("/", 1)[0] + "/" for s in seeds)
        elif mode != "all":
            raise ConfigError(f"unknown scope {mode!r}: choose from all, domain, host, prefix")

    def __repr__(self) -> str:
        return f"Scope({self.mode!r}, depth={self.depth}, types={','.join(self.types)})"

    def check(self, url: str, depth: int) -> str | None:
        """None when the URL may be fetched, else the reason in a word."""
        if self.depth is not None and depth > self.depth:
            return "depth"
        if self.mode != "all" and not self._home(url):
            return "scope"
        if self._exclude and any(p.search(url) for p in self._exclude):
            return "exclude"
        if self._include and not any(p.search(url) for p in self._include):
            return "include"
        if self._ending(url) in self._skipped:
            return "type"
        return None

    def keeps(self, media: str) -> bool:
        """Whether a fetched page of this media type is one the user wants."""
        return media in self._media or media.partition("/")[0] + "/*" in self._media

    def _home(self, url: str) -> bool:
        if self.mode == "domain":
            return urls.site(urls.host(url)) in self._homes
        if self.mode == "host":
            return urls.host(url) in self._homes
        return url.startswith(self._prefixes)

    @staticmethod
    def _ending(url: str) -> str:
        name = url.split("?", 1)[0].rsplit("/", 1)
        # `http://host.zip` has no path but a slash, so a host's own ending is never taken for a file's.
        return name[1].rpartition(".")[2].lower() if "." in name[1] else ""
