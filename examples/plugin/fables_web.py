"""A corpus of one's own: a recorded web, with labels to judge by and pages to start from.

[project.entry-points."clew.corpora"]
fables = "fables_web:FablesWeb"

clew lab run fables.toml -o out
clew lab serve fables
"""

from collections.abc import Iterator

from clew.fetch import Response

ANIMALS = ("fox", "crow", "lion", "mouse", "hare", "tortoise", "wolf", "crane", "ant", "cricket")
MORALS = ("patience", "pride", "greed", "gratitude")


class FablesWeb:
    """A shelf, a list for each moral, and fables that link to two others; `MORALS` are the labels.

    A corpus of files would open them in `__init__` and read a page in `get`.
    """

    name = "fables"

    def __init__(self) -> None:
        self.size = 120

    def url(self, number: int) -> str:
        return f"http://fables.example/{self.moral(number)}/{number}"

    def moral(self, number: int) -> str:
        return MORALS[number % len(MORALS)]

    def urls(self) -> Iterator[str]:
        """Every URL, canonical."""
        yield "http://fables.example/"
        yield from (f"http://fables.example/{moral}/" for moral in MORALS)
        yield from map(self.url, range(self.size))

    def get(self, url: str) -> Response | None:
        """The recorded reply; None for a URL that was not recorded."""
        first, _, last = url.removeprefix("http://fables.example/").partition("/")
        if first == "":
            title, links = "A shelf of fables", [f"/{moral}/" for moral in MORALS]
        elif first in MORALS and last == "":
            links = [self.url(n) for n in range(self.size) if self.moral(n) == first]
            title = f"Fables of {first}"
        elif last.isdigit() and int(last) < self.size and self.moral(int(last)) == first:
            number = int(last)
            title = f"The {ANIMALS[number % 10]} and the {ANIMALS[number // 10 % 10]}, of {first}"
            links = [self.url((number + step) % self.size) for step in (4, 7)]
        else:
            return None
        anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
        body = f"<!doctype html><title>{title}</title><h1>{title}</h1><p>{anchors}</p>".encode()
        return Response(url=url, status=200, headers=(("Content-Type", "text/html"),), body=body)

    def labels(self, url: str) -> tuple[str, ...]:
        """What a page is about; none for a page that is no example of anything."""
        moral, _, number = url.removeprefix("http://fables.example/").partition("/")
        return (moral,) if number else ()

    def seeds(self) -> tuple[str, ...]:
        """Where an experiment starts unless it says otherwise."""
        return ("http://fables.example/",)
