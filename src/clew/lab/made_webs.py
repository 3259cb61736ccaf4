"""`MadeWeb`: made-up webs of different shapes, the same to the byte on every machine, with labels.

A crawler that was tuned on one site has learned its shape. These differ in what matters to one: how deep
pages lie, whether lists lead to them, whether pages about a thing link to each other, how many hosts there
are, and how many links are dead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape

from clew.errors import UsageError
from clew.fetch.base import Response
from clew.lab.demo.dice import Dice
from clew.lab.demo.prose import ArticleWriter, slug, title, vocabulary

TOPICS = tuple(name for name, words in vocabulary()[1].items() if words.lang == "en")
#: How a web made up from a seed is named: `made:SHAPE`, `made:SHAPE:SEED`, `made:SHAPE:SEED:DEAD`.
MADE = "made:"
_RARE = 0.35
"""Every second topic has this share of the pages of the others, so that topics differ in size."""


@dataclass(slots=True)
class _Leaf:
    """A page to be written: about a topic, or a list of others."""

    url: str
    topic: str
    name: str
    links: list[tuple[str, str]] = field(default_factory=list)
    """Addresses and anchors."""
    listing: bool = False


class MadeWeb:
    """A web of one shape; a page about a topic has its name as label, a page that only lists others has none.

    Parameters: the shape, one of `SHAPES`; the seed; how many pages there are, about; `dead`, the share of
    the links in articles that lead to nothing.

    >>> web = MadeWeb("directories", seed=3, pages=300)
    >>> web.name, web.seeds(), web.get(web.seeds()[0]).status
    ('made:directories:3:0', ('http://archive.example/',), 200)
    """

    def __init__(self, shape: str, seed: int = 1, pages: int = 2000, dead: float = 0.0) -> None:
        if shape not in SHAPES:
            raise UsageError(f"there is no made web {shape!r}: choose {', '.join(SHAPES)}")
        if not 0 <= dead < 1 or pages < 100:
            raise UsageError("a made web has at least 100 pages, and a share of dead links below 1")
        self.name = f"{MADE}{shape}:{seed}:{round(100 * dead)}"
        self.shape, self.seed, self.dead = shape, seed, dead
        made = SHAPES[shape](Dice(seed, shape), pages)
        self._pages = {page.url: page for page in made}
        self._seeds = (made[0].url,)

    def get(self, url: str) -> Response | None:
        """The page of a canonical URL."""
        page = self._pages.get(url)
        if page is None:
            return None
        body = self._written(page).encode()
        return Response(
            url=url, status=200, headers=(("Content-Type", "text/html; charset=utf-8"),), body=body
        )

    def urls(self) -> Iterator[str]:
        """Every URL."""
        return iter(self._pages)

    def labels(self, url: str) -> tuple[str, ...]:
        """The topic of an article."""
        page = self._pages.get(url)
        return () if page is None or page.listing else (page.topic,)

    def seeds(self) -> tuple[str, ...]:
        """The first page."""
        return self._seeds

    def __len__(self) -> int:
        return len(self._pages)

    def __repr__(self) -> str:
        return f"MadeWeb({self.shape!r}, seed={self.seed}, {len(self)} pages, dead={self.dead})"

    def _written(self, page: _Leaf) -> str:
        dice = Dice(self.seed, page.url)
        writer = ArticleWriter(vocabulary()[1][page.topic], dice)
        sentences = 2 if page.listing else dice.between(6, 20)
        text = "".join(
            f"<p>{escape(part)}</p>\n" for part in writer.paragraphs(sentences, core=not page.listing)
        )
        links = list(page.links)
        if not page.listing and self.dead:
            # So many dead ones beside the live that they are the share asked for.
            missing = round(len(links) * self.dead / (1 - self.dead))
            folder = page.url.rpartition("/")[0]
            for number in range(missing):
                place = folder if dice.chance(0.5) else f"http://gone{dice.below(40)}.example"
                anchor = title(writer.topic, dice)[1]
                links.insert(dice.below(len(links) + 1), (f"{place}/old{number}-{slug(anchor)}.html", anchor))
        items = "".join(f'<li><a href="{escape(to)}">{escape(said)}</a></li>\n' for to, said in links)
        head = (
            f"<!doctype html><html lang=en><title>{escape(page.name)}</title><h1>{escape(page.name)}</h1>\n"
        )
        return f"{head}{text}<ul>\n{items}</ul></html>\n"


def made_web(spec: str) -> MadeWeb:
    """The made web of a name.

    >>> made_web("made:hubs:2:40").dead
    0.4
    """
    shape, *numbers = spec.removeprefix(MADE).split(":")
    if len(numbers) > 2 or not all(number.isdecimal() for number in numbers):
        raise UsageError(
            f"{spec!r} is no made web: write made:SHAPE:SEED:DEAD, as in made:hubs:2:40 (per cent)"
        )
    seed, dead = [*map(int, numbers), *(1, 0)[len(numbers) :]]
    return MadeWeb(shape, seed, dead=dead / 100)


def _topic(dice: Dice) -> str:
    """A topic; every second one is rarer."""
    while True:
        number = dice.below(len(TOPICS))
        if number % 2 == 0 or dice.chance(_RARE):
            return TOPICS[number]


def _article(dice: Dice, folder: str, number: int, topic: str) -> _Leaf:
    name = title(vocabulary()[1][topic], dice)[0]
    return _Leaf(f"{folder}{number}-{slug(name)[:40]}.html", topic, name)


def _list(dice: Dice, url: str, name: str) -> _Leaf:
    return _Leaf(url, TOPICS[dice.below(len(TOPICS))], name, listing=True)


def _join(dice: Dice, page: _Leaf, others: list[_Leaf], count: int) -> None:
    page.links += [(other.url, other.name) for other in dice.some(others, count) if other is not page]


def _directories(dice: Dice, pages: int) -> list[_Leaf]:
    """One host, a tree of directories five deep; a directory deep down is about one thing, mostly."""
    root = _list(dice, "http://archive.example/", "The archive")
    made, level, number = [root], [root], 0
    for depth in range(1, 5):
        below: list[_Leaf] = []
        for parent in level:
            for _ in range(dice.between(2, 4)):
                child = _list(dice, f"{parent.url}d{len(made)}/", f"Section {len(made)}")
                child.links.append((parent.url, "Up"))
                parent.links.append((child.url, child.name))
                made.append(child)
                below.append(child)
        level = below if depth < 4 else level
    leaves, articles = below, max(1, pages - len(made))
    while number < articles:
        folder = leaves[dice.below(len(leaves))]
        own = [
            _article(dice, folder.url, number + i, folder.topic if dice.chance(0.8) else _topic(dice))
            for i in range(dice.between(8, 30))
        ]
        number += len(own)
        for before, page in zip(own[-1:] + own[:-1], own, strict=True):
            page.links += [(folder.url, "Index"), (root.url, "Home"), (before.url, before.name)]
            folder.links.append((page.url, page.name))
        made += own
    return made


def _hubs(dice: Dice, pages: int) -> list[_Leaf]:
    """Thirty hosts of mixed articles that hardly link to each other, and lists elsewhere that know them."""
    root = _list(dice, "http://start.example/", "Start")
    homes = [_list(dice, f"http://site{i}.example/", f"Site {i}") for i in range(30)]
    articles: dict[str, list[_Leaf]] = {name: [] for name in TOPICS}
    made: list[_Leaf] = []
    for number in range(pages):
        home, topic = homes[dice.below(30)], _topic(dice)
        page = _article(dice, home.url, number, topic)
        page.links += [(home.url, "Home"), ("http://start.example/", "Start")]
        _join(dice, page, made[-200:], dice.between(0, 2))
        articles[topic].append(page)
        made.append(page)
        if dice.chance(0.1):
            home.links.append((page.url, page.name))
    hubs: list[_Leaf] = []
    for topic, about in articles.items():
        for number in range(max(2, len(about) // 25)):
            hub = _Leaf(f"http://lists.example/{len(hubs)}", topic, f"Links, part {number + 1}", listing=True)
            _join(dice, hub, about, dice.between(20, 50))
            hubs.append(hub)
            _join(dice, homes[dice.below(30)], [hub], 1)
            for page in dice.some(about, 3):
                page.links.append((hub.url, "More"))
    root.links = [(home.url, home.name) for home in homes]
    return [root, *homes, *hubs, *made]


def _social(dice: Dice, pages: int) -> list[_Leaf]:
    """One host where people who like the same know each other; every page is a few steps from every other."""
    root = _list(dice, "http://people.example/", "People")
    names = vocabulary()[0]
    people = [
        _Leaf(f"http://people.example/u/{slug(names.person(dice))}-{i}", _topic(dice), f"Profile {i}")
        for i in range(max(20, pages // 4))
    ]
    alike = {topic: [one for one in people if one.topic == topic] for topic in TOPICS}
    made = [root, *people]
    for one in people:
        _join(dice, one, alike[one.topic], dice.between(3, 8))
        _join(dice, one, people, dice.between(3, 8))
        for number in range(dice.between(1, 5)):
            post = _article(dice, f"{one.url}/", number, one.topic if dice.chance(0.7) else _topic(dice))
            post.links += [(one.url, one.name), (root.url, "People")]
            _join(dice, post, people, 2)
            one.links.append((post.url, post.name))
            made.append(post)
    _join(dice, root, people, 25)
    return made


def _hosts(dice: Dice, pages: int) -> list[_Leaf]:
    """Hundreds of small hosts, each about one thing, which link to a few others, mostly of their kind."""
    root = _list(dice, "http://portal.example/", "Portal")
    homes = [
        _Leaf(f"http://{slug(dice.pick(vocabulary()[0].places))}{i}.example/", _topic(dice), f"Welcome {i}")
        for i in range(max(20, pages // 7))
    ]
    alike = {topic: [home for home in homes if home.topic == topic] for topic in TOPICS}
    made = [root]
    for home in homes:
        own = [
            _article(dice, home.url, number, home.topic if dice.chance(0.85) else _topic(dice))
            for number in range(dice.between(3, 9))
        ]
        home.links += [(page.url, page.name) for page in own]
        _join(dice, home, alike[home.topic], 2)
        _join(dice, home, homes, 3)
        for page in own:
            page.links.append((home.url, "Home"))
            _join(dice, page, own, 2)
            _join(dice, page, alike[page.topic] if dice.chance(0.4) else homes, 1)
        made += [home, *own]
    _join(dice, root, homes, 40)
    return made


def _detours(dice: Dice, pages: int) -> list[_Leaf]:
    """Clusters of articles, each a list away from the next of its topic, and planted dead directions: where
    an article leads on, it may as well lead to lists that lead to lists and never come to an article. They
    are six of seven pages, and look like the others."""
    made = [_list(dice, "http://gate.example/", "Gate")]

    def page(topic: str = "") -> _Leaf:
        host, number = f"http://site{dice.below(400)}.example/", len(made)
        listing = f"{host}more/{number}", f"More, part {number}"
        made.append(_article(dice, host, number, topic) if topic else _list(dice, *listing))
        return made[-1]

    edge: list[_Leaf] = []
    for topic in TOPICS[:3]:
        leading_on = [made[0]]
        for _ in range(max(2, pages // 270)):
            index = page()
            leading_on[dice.below(len(leading_on))].links.append((index.url, index.name))
            own = [page(topic) for _ in range(12)]
            index.links += [(one.url, one.name) for one in own]
            for one in own:
                one.links.append((index.url, index.name))
            for one in dice.some(own, 3):
                dead = page()
                one.links.append((dead.url, dead.name))
                edge.append(dead)
            leading_on = own
    while len(made) < pages:
        parent = edge.pop(dice.below(len(edge)))
        for _ in range(dice.between(1, 2)):
            dead = page()
            parent.links.append((dead.url, dead.name))
            edge.append(dead)
    return made


SHAPES: dict[str, Callable[[Dice, int], list[_Leaf]]] = {
    "directories": _directories,
    "hubs": _hubs,
    "social": _social,
    "hosts": _hosts,
    "detours": _detours,
}
