"""`made_log`: people with interests browse a recorded web, and a proxy writes down what they asked for."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence

from clew.lab.parsed_web import ParsedWeb
from clew.lab.webs import LabelledWeb

_BROWSER = "Mozilla/5.0 (X11; Linux x86_64)"
_ROBOT = "ExampleBot/2.1 (+http://bot.example/)"


def made_log(
    web: LabelledWeb | ParsedWeb,
    interests: Mapping[str, Collection[str]],
    *,
    people: int = 100,
    sessions: int = 4,
    clicks: int = 12,
    focus: float = 0.7,
    noise: float = 0.1,
    robots: int = 2,
    start: int = 1_700_000_000,
    seed: int = 0,
) -> Iterator[str]:
    """Lines of a Squid log, in order of time.

    Parameters: the web, parsed or not; the pages of each interest, one of which every other person has; how
    many `people`, their `sessions` and `clicks` in each; how often a person with an interest chooses a link
    to it (`focus`), and anybody a page at random (`noise`); how many `robots`, one of two of which says so;
    the beginning, in seconds since 1970; the dice.

    >>> from clew.lab import DemoWeb
    >>> len(list(made_log(DemoWeb(hosts=16, pages=128), {}, people=2, sessions=1, clicks=2, robots=0)))
    4
    """
    dice = random.Random(seed)
    parsed = web if isinstance(web, ParsedWeb) else ParsedWeb(web)
    pages = [parsed.urls[number] for number, _ in parsed.pages()]
    links = _Links(parsed)
    wanted = [sorted(found) for _, found in sorted(interests.items()) if found]
    made: list[tuple[float, str]] = []
    for person in range(people):
        liked = wanted[person // 2 % len(wanted)] if wanted and person % 2 == 0 else []
        address = f"10.{person >> 16 & 255}.{person >> 8 & 255}.{person & 255}"
        for session in range(sessions):
            at = start + session * 86_400 + dice.uniform(0.0, 36_000.0)
            for url in _walk(dice, pages, links, liked, clicks, focus, noise):
                made.append((at, _line(at, address, url, _BROWSER)))
                at += dice.expovariate(1 / 40.0) + 1.0
    for robot in range(robots):
        at = float(start)
        agent = _ROBOT if robot % 2 == 0 else _BROWSER
        for url in dice.sample(pages, min(len(pages), 60)):
            made.append((at, _line(at, f"172.16.0.{robot + 1}", url, agent)))
            at += 30.0
    return iter([line for _, line in sorted(made)])


class _Links:
    """The links of pages within a web, read when they are needed."""

    def __init__(self, parsed: ParsedWeb) -> None:
        self._parsed = parsed
        self._known: dict[str, list[str]] = {}

    def of(self, url: str) -> list[str]:
        if url not in self._known:
            page = self._parsed.page(url)
            targets = () if page is None else page.links.targets
            self._known[url] = [target for target in dict.fromkeys(targets) if target in self._parsed.number]
        return self._known[url]


def _walk(
    dice: random.Random,
    pages: Sequence[str],
    links: _Links,
    liked: Sequence[str],
    clicks: int,
    focus: float,
    noise: float,
) -> Iterator[str]:
    """One session: a page, a link of it, and so on."""
    here = dice.choice(liked if liked and dice.random() < focus else pages)
    among = frozenset(liked)
    for _ in range(clicks):
        yield here
        onward = links.of(here)
        near = [target for target in onward if target in among]
        if liked and dice.random() < focus:
            # Whoever wants something finds it again: by a link, or by a bookmark.
            here = dice.choice(near or liked)
        else:
            here = dice.choice(onward if onward and dice.random() >= noise else pages)


def _line(at: float, address: str, url: str, agent: str) -> str:
    return (
        f'{at:.3f} 120 {address} TCP_MISS/200 5120 GET {url} - HIER_DIRECT/192.0.2.1 text/html "-" "{agent}"'
    )
