"""A recorded web of a few pages, written down in a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clew.fetch.base import Response


class SmallWeb:
    """Pages by name, each a list of names it links to; `said` is its text, `labels` what it is about.

    A name that begins with `>` in the links of a page with nothing else is a redirect to it.
    """

    name = "small"

    def __init__(
        self,
        links: Mapping[str, Sequence[str]],
        labels: Mapping[str, tuple[str, ...]] | None = None,
        said: Mapping[str, str] | None = None,
        robots: str = "",
        host: str = "http://a.example",
    ) -> None:
        self.links = links
        self.given = labels or {}
        self.said = said or {}
        self.robots = robots
        self.host = host
        self.asked: list[str] = []

    def url(self, name: str) -> str:
        return f"{self.host}/{name}"

    def get(self, url: str) -> Response | None:
        self.asked.append(url)
        name = url.removeprefix(f"{self.host}/")
        if name == "robots.txt" and self.robots:
            return Response(url=url, status=200, body=self.robots.encode())
        if name not in self.links:
            return None
        links = self.links[name]
        if links and links[0].startswith(">"):
            return Response(url=url, status=301, headers=(("Location", self.url(links[0][1:])),))
        anchors = "".join(f'<p>a way to <a href="/{other}">page {other}</a>.</p>' for other in links)
        text = self.said.get(name, f"nothing but words about {name}")
        body = f"<title>{name}</title><p>{text}</p>{anchors}".encode()
        return Response(
            url=url, status=200, headers=(("Content-Type", "text/html"),), body=body, wire=len(body)
        )

    def urls(self) -> Iterator[str]:
        return iter([self.url(name) for name in self.links])

    def labels(self, url: str) -> tuple[str, ...]:
        return self.given.get(url.removeprefix(f"{self.host}/"), ())

    def seeds(self) -> tuple[str, ...]:
        return (self.url(next(iter(self.links))),)
