"""Why no seed could be reached: one sentence for each, whatever it was that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from clew import url as urls
from clew.run.build import seeds_of
from clew.run.explain import REASONS

if TYPE_CHECKING:
    from clew.messages import Decision
    from clew.run.config import CrawlConfig
    from clew.store.base import Reader

_PROXIES = ("https_proxy", "http_proxy", "all_proxy")
#: Failures that a proxy may help against, or may be the cause of.
_NO_WAY = frozenset({"connect", "unknown-host", "dns", "timeout"})


def unreached(reader: Reader, config: CrawlConfig) -> list[tuple[str, str]]:
    """Each seed with what stood in the way; a page that a seed redirects to stands for itself.

    A host is asked for its addresses and for robots.txt before a page is: where one of these failed, that is
    told of the seed.
    """
    pages: dict[str, Decision] = {}
    places: dict[str, Decision] = {}
    for line in reader.decisions():
        if line.kind in ("page", "drop") and line.result != "redirect":
            pages[line.url] = line
        elif line.kind in ("robots", "resolve"):
            # the trace has a look-up under http, for it is the host that is looked up
            place = urls.host(line.url) if line.kind == "resolve" else urls.origin(line.url)
            places.pop(place, None)
            if line.result in ("failed", "parked"):
                places[place] = line
    found = []
    for url in dict.fromkeys([*seeds_of(config), *pages]):
        told = (pages.get(url), places.get(urls.host(url)), places.get(urls.origin(url)))
        known = [line for line in told if line is not None]
        if known:
            # that a page was left out is told by what led to it, where that is known
            last = max(known, key=lambda line: (line.kind != "drop", line.seq))
            found.append((url, _why(last, url, config)))
    return found


def proxy_hint(reader: Reader, config: CrawlConfig, environ: Mapping[str, str]) -> str:
    """That the environment names a proxy, which is not used, where one may have been needed."""
    named = next((name for name in environ if name.lower() in _PROXIES and environ[name]), None)
    if named is None or config.proxy or not any(_code(line) in _NO_WAY for line in reader.decisions()):
        return ""
    return f"{named} is set, but proxy variables are not used: if a proxy is needed, give --proxy URL"


def _code(line: Decision) -> str:
    return line.reasons[0] if line.reasons else line.result


def _why(line: Decision, seed: str, config: CrawlConfig) -> str:
    code = _code(line)
    detail = ": ".join(part for part in line.reasons[1:] if part)
    if code == "connect":
        # what the system says of it is an address in brackets, or tells something
        shown = f" ({detail})" if detail and "Connect call failed" not in detail else ""
        if config.proxy:
            # a proxy is asked for everything, and says itself what it could not do
            return detail
        return f"no connection to {_place(seed)} can be made{shown}: check the address, and that it serves"
    if line.status >= 400:
        asked = " when asked for robots.txt" if line.kind == "robots" else ""
        return f"the server answers HTTP {line.status}{asked}"
    return detail or REASONS.get(code, code)


def _place(address: str) -> str:
    """Host and port of an address, without a password."""
    return urlsplit(address).netloc.rpartition("@")[2]
