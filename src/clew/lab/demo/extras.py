"""What the demo web has besides pages: robots.txt, sitemaps, feeds, a calendar without end, odd files."""

from __future__ import annotations

from html import escape

from clew.lab.demo.dice import Dice
from clew.lab.demo.plan import Node, Role, Site
from clew.lab.demo.prose import ArticleWriter, vocabulary

_HALVES = (
    ("January", "February", "March", "April", "May", "June"),
    ("July", "August", "September", "October", "November", "December"),
)
MONTHS = (*_HALVES[0], *_HALVES[1])
FIRST_YEAR, LAST_YEAR = 2000, 2049
VIEWS = ("", "?view=grid", "?view=list")
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU"


def robots(site: Site, *, delay: bool, sitemap: bool) -> str:
    """A host's robots.txt."""
    if site.role is Role.FORBIDDEN:
        return "User-agent: *\nDisallow: /\n"
    lines = ["User-agent: *", "Disallow: /private/", "Allow: /"]
    if delay:
        lines.append("Crawl-delay: 0.5")
    lines += ["", "User-agent: BadBot", "Disallow: /"]
    if sitemap:
        lines += ["", f"Sitemap: http://{site.name}/sitemap.xml"]
    return "\n".join(lines) + "\n"


def sitemap(nodes: list[Node]) -> str:
    """The articles of a host as a sitemap."""
    entries = "".join(f"<url><loc>{escape(node.url)}</loc></url>\n" for node in nodes)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    )


def feed(site: Site, nodes: list[Node]) -> str:
    """The latest articles of a host as RSS."""
    items = "".join(
        f"<item><title>{escape(node.shy)}</title><link>{escape(node.url)}</link></item>\n" for node in nodes
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel><title>{site.name}</title>\n'
        f"<link>http://{site.name}/</link>\n{items}</channel></rss>\n"
    )


def notes(seed: int, site: Site) -> str:
    """Plain text of a host's topic."""
    writer = ArticleWriter(vocabulary()[1][site.topic], Dice(seed, "notes", site.name))
    return "\n\n".join(writer.paragraphs(12, core=False)) + f"\n\nHome page: http://{site.name}/\n"


def calendar_paths() -> list[str]:
    """Every path of a calendar."""
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    return [f"/calendar/{y}/{m:02}{view}" for y in years for m in range(1, 13) for view in VIEWS]


def calendar(seed: int, site: Site, path: str) -> str:
    """One month: a handful of events, and links to the months around it."""
    place, _, view = path.partition("?")
    year, month = int(place.split("/")[2]), int(place.split("/")[3])
    dice = Dice(seed, site.name, place)
    writer = ArticleWriter(vocabulary()[1][site.topic], dice)
    days = sorted(dice.some(range(1, 29), 4))
    name = MONTHS[month - 1]
    events = "".join(f"<li>{day} {name}: {escape(writer.sentence())}</li>\n" for day in days)
    around = [_month(year * 12 + month - 1 + step) for step in (-12, -1, 1, 12)]
    links = " ".join(f'<a href="{to}">{to[10:]}</a>' for to in [*around, *(place + v for v in VIEWS)] if to)
    title = f"Calendar: {name} {year} {view.partition('=')[2]}".strip()
    return (
        f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{title}</title></head><body>\n"
        f"<h1>{title}</h1>\n<ul>\n{events}</ul>\n<p>{links}</p>\n</body></html>"
    )


def _month(count: int) -> str:
    year, month = divmod(count, 12)
    return f"/calendar/{year}/{month + 1:02}" if FIRST_YEAR <= year <= LAST_YEAR else ""


def odd(seed: int, site: Site, path: str) -> tuple[str, bytes]:
    """A file whose content type is of no use, or a lie: (content type, body)."""
    dice = Dice(seed, site.name, path)
    noise = bytes(dice.below(256) for _ in range(600))
    text = "<p>" + "</p>\n<p>".join(notes(seed, site).split("\n\n")) + "</p>"
    return {
        "/files/brochure": ("application/octet-stream", b"%PDF-1.4\n" + noise),
        "/files/photo.html": ("text/html", PNG + noise),
        "/files/plain.html": ("text/plain", text.encode()),
    }[path]
