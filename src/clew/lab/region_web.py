"""`RegionWeb`: a made-up web of towns and what people do there, in which finds lie behind other pages.

It has the shape that Ester, Groß and Kriegel (2001) suppose: pages on a general topic lead to pages on a
special one more often than other pages do, and pages that are about two things at once lie far apart. Towns
lie in regions, pursuits belong to fields. A *club* is a host about one pursuit in one town; a *portal* is
about a town, whatever is done there; a *magazine* about a pursuit, wherever it is done. Clubs of one town and
pursuit never link to each other: from one to the next a crawl has to go by way of the region's other clubs,
of portals, or of magazines, among links to anywhere. Addresses say nothing, and most anchors say little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import count

from clew.errors import UsageError
from clew.fetch.base import Response
from clew.lab.demo.dice import Dice
from clew.lab.demo.prose import ArticleWriter, TopicWords, slug, vocabulary

#: How one is named: `regions`, or `regions:SEED`.
REGIONS = "regions"
#: Pursuits by field; regions have this many towns each, in the order of the vocabulary.
FIELDS = {
    "outdoors": ("gardening", "bees"),
    "games": ("chess", "football"),
    "travel": ("railways", "sailing"),
    "knowledge": ("astronomy", "medieval"),
    "household": ("cooking", "wind"),
}
_TOWNS = 5
_CLUBS = 3
"""Clubs of each pursuit in each town."""
_VAGUE = ("More", "Read on", "Next", "Here", "Continue", "See also")


@dataclass(slots=True)
class _RegionPage:
    """A page to be written: about a pursuit, a town, or both."""

    url: str
    town: str = ""
    pursuit: str = ""
    links: list[_RegionPage] = field(default_factory=list, repr=False)


class RegionWeb:
    """A web of clubs, portals and magazines; a page's labels are its town and its pursuit, as paths of a
    tree.

    Parameters: the seed.

    >>> web = RegionWeb(2)
    >>> web.name, web.labels("http://h80.example/")
    ('regions:2', ('subject.region1.halden', 'subject.outdoors.gardening'))
    """

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed
        self.name = f"{REGIONS}:{seed}"
        self._pages = {page.url: page for page in _plan(Dice(seed, REGIONS))}

    def get(self, url: str) -> Response | None:
        """The page of a canonical URL."""
        page = self._pages.get(url)
        if page is None:
            return None
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        return Response(url=url, status=200, headers=headers, body=self._written(page).encode())

    def urls(self) -> Iterator[str]:
        """Every URL."""
        return iter(self._pages)

    def labels(self, url: str) -> tuple[str, ...]:
        """Town and pursuit of a page, as far as it has them."""
        page = self._pages.get(url)
        if page is None:
            return ()
        towns = (f"subject.region{_region(page.town)}.{slug(page.town)}",) if page.town else ()
        pursuits = (f"subject.{_field(page.pursuit)}.{page.pursuit}",) if page.pursuit else ()
        return towns + pursuits

    def seeds(self) -> tuple[str, ...]:
        """The first town's portal."""
        return (next(iter(self._pages)),)

    def __len__(self) -> int:
        return len(self._pages)

    def __repr__(self) -> str:
        return f"RegionWeb({self.seed}, {len(self)} pages)"

    def _written(self, page: _RegionPage) -> str:
        dice = Dice(self.seed, page.url)
        topics = vocabulary()[1]
        sentences = dice.between(8, 16)
        if page.pursuit:
            text = _writer(topics[page.pursuit], dice, page.town).paragraphs(sentences, core=True)
        else:
            pursuits = dice.some(_PURSUITS, 4)
            text = [
                part
                for pursuit in pursuits
                for part in _writer(topics[pursuit], dice, page.town).paragraphs(sentences // 4, core=False)
            ]
        name = _title(page, dice)
        items = "".join(
            f'<li><a href="{escape(other.url)}">{escape(self._anchor(other, dice))}</a></li>\n'
            for other in page.links
        )
        body = "".join(f"<p>{escape(part)}</p>\n" for part in text)
        head = f"<!doctype html><html lang=en><title>{escape(name)}</title><h1>{escape(name)}</h1>\n"
        return f"{head}{body}<ul>\n{items}</ul></html>\n"

    def _anchor(self, page: _RegionPage, dice: Dice) -> str:
        """What a link says: in one case of four what the page is called, otherwise nothing."""
        if dice.chance(0.75):
            return dice.pick(_VAGUE)
        return _title(page, Dice(self.seed, page.url))


def region_web(spec: str) -> RegionWeb:
    """The web of a name.

    >>> region_web("regions:7").seed
    7
    """
    _, _, seed = spec.partition(":")
    if seed and not seed.isdecimal():
        raise UsageError(f"{spec!r} is no made web: write {REGIONS}:SEED, as in {REGIONS}:7")
    return RegionWeb(int(seed or 1))


_PURSUITS = tuple(pursuit for field in FIELDS.values() for pursuit in field)


def _region(town: str) -> int:
    return vocabulary()[0].places.index(town) // _TOWNS + 1


def _field(pursuit: str) -> str:
    return next(name for name, pursuits in FIELDS.items() if pursuit in pursuits)


def _writer(words: TopicWords, dice: Dice, town: str) -> ArticleWriter:
    """Somebody who writes of a town, mostly; of some, where none is given."""
    writer = ArticleWriter(words, dice)
    if town:
        writer.places = [town, town, town, *writer.places[:1]]
    return writer


def _title(page: _RegionPage, dice: Dice) -> str:
    words = vocabulary()[1][page.pursuit or dice.pick(_PURSUITS)]
    thing = dice.pick(words.objects)
    return f"{page.town}: {thing}" if page.town else thing


def _host(dice: Dice, number: int, pages: int, town: str, pursuit: str) -> list[_RegionPage]:
    """A host: its home first. Every page links home and to two others of it."""
    home = f"http://h{number}.example/"
    made = [_RegionPage(f"{home}{page}.html" if page else home, town, pursuit) for page in range(pages)]
    for page in made[1:]:
        page.links += [made[0], *dice.some(made[1:], 2)]
    made[0].links += made[1:]
    return made


def _plan(dice: Dice) -> list[_RegionPage]:
    towns = vocabulary()[0].places
    number = count()
    portals = {town: _host(dice, next(number), dice.between(12, 20), town, "") for town in towns}
    magazines = {
        pursuit: [_host(dice, next(number), dice.between(20, 40), "", pursuit) for _ in range(4)]
        for pursuit in _PURSUITS
    }
    clubs = {
        (town, pursuit): [
            _host(dice, next(number), dice.between(6, 16), town, pursuit) for _ in range(_CLUBS)
        ]
        for town in towns
        for pursuit in _PURSUITS
    }
    homes = [club[0] for many in clubs.values() for club in many]
    alike = {pair: {club[0].url for club in many} for pair, many in clubs.items()}
    for (town, pursuit), many in clubs.items():
        near = [
            other
            for name in towns
            if _region(name) == _region(town)
            for kind in FIELDS[_field(pursuit)]
            if (name, kind) != (town, pursuit)
            for other in clubs[name, kind]
        ]
        anywhere = [home for home in homes if home.url not in alike[town, pursuit]]
        for club in many:
            for home in (club[0], dice.pick(club)):
                home.links += [other[0] for other in dice.some(near, 2)]
                home.links += dice.some(anywhere, 3)
            club[0].links += [dice.pick(portals[town])] * dice.chance(0.5)
            club[0].links += [dice.pick(dice.pick(magazines[pursuit]))] * dice.chance(0.5)
    _join_portals(dice, towns, portals, clubs)
    for pursuit, many in magazines.items():
        own = [club[0] for town in towns for club in clubs[town, pursuit]]
        for magazine in many:
            for page in dice.some(magazine, 8):
                page.links += dice.some(own, 2)
            magazine[0].links += [dice.pick(magazines[kind])[0] for kind in FIELDS[_field(pursuit)]]
            magazine[0].links += dice.some(homes, 5)
    hosts = [*portals.values(), *(one for many in magazines.values() for one in many)]
    hosts += [one for many in clubs.values() for one in many]
    return [page for host in hosts for page in host]


def _join_portals(
    dice: Dice,
    towns: Sequence[str],
    portals: dict[str, list[_RegionPage]],
    clubs: dict[tuple[str, str], list[list[_RegionPage]]],
) -> None:
    """Portals know each other within a region, and a third of their town's clubs."""
    for town in towns:
        portal = portals[town]
        near = [name for name in towns if name != town and _region(name) == _region(town)]
        portal[0].links += [portals[name][0] for name in near]
        for pursuit in _PURSUITS:
            for club in clubs[town, pursuit]:
                if dice.chance(0.33):
                    dice.pick(portal).links.append(club[0])
        portal[0].links += [portals[name][0] for name in dice.some(towns, 3) if name != town]
