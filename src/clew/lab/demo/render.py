"""Pages of the demo web as HTML: text with links in it, wrapped in the furniture of its host."""

from __future__ import annotations

from html import escape

from clew.lab.demo.dice import Dice
from clew.lab.demo.plan import DemoPlan, Node, PageKind, Role, Site
from clew.lab.demo.prose import ArticleWriter, vocabulary

GENERIC = ("read more", "this page", "field notes", "here", "annex", "the full report", "details", "continue")
TRACKING = ("utm_source=site&utm_medium=link", "fbclid=IwAR0demo", "gclid=demo123", "utm_campaign=spring")
LEGAL = (
    "All rights reserved. Terms of use, privacy and imprint apply to every page of this site. "
    "We use cookies to remember that you do not like cookies."
)


class PageRenderer:
    """Writes the pages of a plan. The same node always gives the same bytes."""

    def __init__(self, plan: DemoPlan) -> None:
        self.plan = plan
        self.topics = vocabulary()[1]
        self.hubs = [plan.of(i, PageKind.HUB) for i in range(len(plan.sites))]
        self.homes = {node.site: node for node in plan.nodes if node.kind is PageKind.HOME}
        self.short = next(site.name for site in plan.sites if site.role is Role.SHORTENER)
        self.mirror = next(site.name for site in plan.sites if site.role is Role.MIRROR)

    def page(self, node: Node, *, printed: bool = False) -> str:
        """The page; `printed` is its version for the printer: the same text, no furniture."""
        site = self.plan.sites[node.site]
        dice = Dice(self.plan.seed, "text", node.url)
        writer = ArticleWriter(self.topics[node.topic], dice)
        article = node.kind in (PageKind.ARTICLE, PageKind.PRIVATE)
        length = dice.between(9, 24) if article else dice.between(2, 4)
        text = writer.paragraphs(length, core=article)
        body = self._body(node, site, text, Dice(self.plan.seed, "anchors", node.url))
        if printed:
            return self._print(node, body)
        return self._frame(node, site, body, writer.topic.lang)

    def _body(self, node: Node, site: Site, text: list[str], dice: Dice) -> str:
        links = [self._link(node, self.plan.nodes[n], site, dice) for n in self.plan.links[node.n]]
        if node.kind not in (PageKind.ARTICLE, PageKind.PRIVATE):
            items = "".join(f"<li>{link}</li>\n" for link in links)
            return f"<p>{escape(' '.join(text))}</p>\n<ul class=listing>\n{items}</ul>\n"
        inline, listed = links[::2], links[1::2]
        if dice.chance(0.06):
            listed.append(
                f'<a href="{self._href(f"http://{site.name}/gone/{node.n}", site)}">an older note</a>'
            )
        paragraphs = [escape(paragraph) for paragraph in text]
        for i, link in enumerate(inline):
            paragraphs[i % len(paragraphs)] += dice.pick((" See {}.", " ({})", " Compare {}.", " {}")).format(
                link
            )
        related = "".join(f"<li>{link}</li>" for link in listed)
        shown = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        return f"{shown}\n<h2>{dice.pick(('Related', 'Elsewhere', 'See also'))}</h2>\n<ul>{related}</ul>\n"

    def _link(self, source: Node, target: Node, site: Site, dice: Dice) -> str:
        same = source.topic == target.topic and source.kind in (PageKind.ARTICLE, PageKind.PRIVATE)
        anchor = target.title if same else target.shy
        if not same and dice.chance(0.2):
            anchor = dice.pick(GENERIC)
        url = target.url
        if dice.chance(0.3):
            url = self.alias(target) or url
        elif dice.chance(0.08):
            url += ("&" if "?" in url else "?") + dice.pick(TRACKING)
        elif dice.chance(0.05):
            url += "#top"
        return f'<a href="{escape(self._href(url, site))}">{escape(anchor)}</a>'

    def alias(self, node: Node) -> str | None:
        """An address that redirects to the page: an older one, or a short one."""
        if node.kind is PageKind.ARTICLE and node.n % 17 == 5:
            return f"http://{self.plan.sites[node.site].name}/old/{node.n}"
        if node.kind is PageKind.ARTICLE and node.n % 10 == 3:
            return f"http://{self.short}/{node.n:x}"
        return None

    def _href(self, url: str, site: Site) -> str:
        start = f"http://{site.name}"
        return url[len(start) :] if site.relative and url.startswith(start + "/") else url

    def _frame(self, node: Node, site: Site, body: str, lang: str) -> str:
        nav = [(self.homes[node.site].url, self.homes[node.site].title)]
        nav += [(hub.url, hub.title) for hub in self.hubs[node.site][:8]]
        menu = " | ".join(f'<a href="{self._href(url, site)}">{escape(name)}</a>' for url, name in nav)
        foot = f"<p>{LEGAL}</p>" + self._extras(node, site)
        head = f"<title>{escape(node.title)}</title>{self._meta(node, site)}"
        heading = f"<h1>{escape(node.title)}</h1>"
        shell = SHELLS[site.style]
        return shell.format(lang=lang, head=head, menu=menu, heading=heading, body=body, foot=foot)

    def _meta(self, node: Node, site: Site) -> str:
        charset = "windows-1252" if site.role is Role.GERMAN else "utf-8"
        robots = (
            '<meta name="robots" content="noindex">' if node.kind is PageKind.HUB and site.style == 3 else ""
        )
        return f'<meta charset="{charset}">{robots}'

    def _extras(self, node: Node, site: Site) -> str:
        """What a host's home page offers besides articles; articles may offer a version to print."""
        links: list[tuple[str, str]] = []
        if node.kind is PageKind.HOME:
            links = [(path, path.rsplit("/", 1)[1]) for path in extra_paths(site)]
            if site.role is Role.PORTAL:
                links.append((f"http://{self.mirror}/", "Mirror"))
        elif has_print(node, site):
            links = [(node.url.partition(site.name)[2] + "?print=1", "Print")]
        return "".join(f'<a href="{path}">{escape(name)}</a> ' for path, name in links)

    def _print(self, node: Node, body: str) -> str:
        canonical = f'<link rel="canonical" href="{node.url}">'
        return (
            f"<html><head><title>{escape(node.title)}</title>{canonical}</head><body>\n"
            f"<h1>{escape(node.title)}</h1>\n{body}<p>Printed version.</p></body></html>"
        )


def has_print(node: Node, site: Site) -> bool:
    """Every so many articles have a second version to print."""
    return node.kind is PageKind.ARTICLE and node.n % 23 == 7 and site.style != 3


def extra_paths(site: Site) -> tuple[str, ...]:
    """Paths of a host that are not pages of the plan, linked from its home page."""
    paths = (
        ("/feed.xml", "/moved.html"),
        ("/notes.txt",),
        ("/feed.xml", "/hop/1", "/loop/a"),
        ("/files/brochure", "/files/photo.html", "/files/plain.html"),
    )[site.style]
    return (*paths, "/calendar/2024/05") if site.role is Role.CALENDAR else paths


#: Four ways to lay a page out.
SHELLS = (
    "<!doctype html>\n<html lang={lang}><head>{head}</head><body>\n<header><nav>{menu}</nav></header>\n"
    "<main>{heading}\n{body}</main>\n<footer>{foot}</footer>\n</body></html>",
    "<!doctype html>\n<html lang={lang}><head>{head}</head><body>\n<div id=top>{menu}</div>\n"
    "<div class=content>{heading}\n{body}</div>\n<div id=bottom>{foot}</div>\n</body></html>",
    "<html lang={lang}><head>{head}</head><body>\n<table><tr><td colspan=2>{heading}</td></tr>\n"
    "<tr><td>{menu}</td><td>{body}</td></tr>\n<tr><td colspan=2>{foot}</td></tr></table>\n</body></html>",
    "<!doctype html>\n<html lang={lang}><head>{head}</head><body>\n<article>{heading}\n{body}</article>\n"
    "<aside>{menu}</aside><section>{foot}</section>\n</body></html>",
)
