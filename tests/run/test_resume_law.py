"""Stopped anywhere and taken up again, a crawl decides what it would have decided in one session.

The law is held over small generated webs with what makes crawls differ: depth limits, sitemaps, redirects and
chains of them, copies, mirrors, pages of few words, error pages served as successes, pages that a browser
rendered, canonical and refresh links, failures; and over settings: every strategy, ways to weigh factors,
knowledge of an earlier crawl, people's visits, several interests, pages of a host, a bounded list, traps,
directions that are suspended, rules to stop by an estimate of recall.
A session ends by its budget, or as if it were killed: then nothing but what each batch saved is left.
What was learned is taken up from a checkpoint, made every so many pages, or learned again from the first
page on. A second law holds the same of crawls that are steered: to other formulas, weights, strategies and
boosts, and by feedback; to a formula in one step, or at once, and the strategy is taught some pages later.

`CLEW_LAW_EXAMPLES` sets how many examples are tried.
"""

import asyncio
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from visit_database import visited

from clew.engine import BanHost, Feedback, SetBoost, SetMatch, SetStrategy, SetWeights
from clew.errors import FetchError, Reason
from clew.fetch import Response
from clew.fetch.replay import ReplayFetcher
from clew.messages import Learned
from clew.policy import recall
from clew.run import CrawlConfig, Session, VirtualClock, checkpoint, driver
from clew.run import session as sessions_of
from clew.store import SqliteStore, open_reader
from clew.strategy import STRATEGIES

HOSTS = ("http://a.example", "http://b.example")
KINDS = (
    "page",
    "page",
    "page",
    "find",
    "find",
    "copy",
    "error",
    "redirect",
    "refresh",
    "canonical",
    "dead",
    "gone",
    "thin",
    "own",
    "rendered",
)
#: What makes traps, empty pages and mirrors of a web that is full of it.
WASTE = ("copy", "copy", "error", "thin", "thin", "own", "redirect", "page")
WORDS = ("river", "stone", "valley", "bridge", "wind", "turbine", "harbour", "meadow")


class Web:
    """Pages by number; what each is, and where it leads, is drawn."""

    name = "drawn"

    def __init__(self, kinds, links, sitemap):
        self.kinds, self.links, self.sitemap = kinds, links, sitemap

    def url(self, number):
        place = number % len(self.kinds)
        return f"{HOSTS[place % 2]}/{WORDS[place % len(WORDS)]}/{place}"

    def urls(self):
        return iter(map(self.url, range(len(self.kinds))))

    def get(self, url):
        host, _, path = url.removeprefix("http://").partition("/")
        if path == "robots.txt":
            said = f"User-agent: *\nSitemap: http://{host}/sitemap.xml\n"
            return Response(
                url=url, status=200, headers=(("Content-Type", "text/plain"),), body=said.encode()
            )
        if path == "sitemap.xml":
            listed = "".join(f"<url><loc>{self.url(i)}</loc></url>" for i in self.sitemap)
            body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
            return Response(url=url, status=200, headers=(("Content-Type", "text/xml"),), body=body.encode())
        known = {self.url(i): i for i in range(len(self.kinds))}
        if url not in known:
            return None
        return self._page(url, known[url])

    def _page(self, url, number):
        kind, links = self.kinds[number], self.links[number]
        first = self.url(links[0]) if links else self.url(0)
        if kind == "gone":
            raise FetchError(Reason.CONNECT, "nobody there")
        if kind == "dead":
            return Response(url=url, status=404)
        if kind == "redirect":
            return Response(url=url, status=301, headers=(("Location", first),))
        words = " ".join(WORDS[(number * 3 + i * i) % len(WORDS)] + str(number * i) for i in range(60))
        text = {
            "find": f"turbine {words}",
            "copy": "the very text " * 30,
            "error": "Page not found",
            "thin": f"more of {WORDS[number % 3]}",
            "own": f"of {WORDS[number % 8]} and {WORDS[number // 8 % 8]}",
        }.get(kind, words)
        title = "404 Not Found" if kind == "error" else f"{WORDS[number % len(WORDS)]} {number}"
        head = {
            "refresh": f'<meta http-equiv="refresh" content="0; url={first}">',
            "canonical": f'<link rel="canonical" href="{first}">',
        }.get(kind, "")
        anchors = "".join(f'<p><a href="{self.url(i)}">{WORDS[i % len(WORDS)]} {i}</a></p>' for i in links)
        body = f"<html><head><title>{title}</title>{head}</head><body><p>{text}</p>{anchors}</body></html>"
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        if kind == "rendered":
            shell = b"<div id=app></div>"
            return Response(url=url, status=200, headers=headers, body=shell, rendered=body.encode(), wire=9)
        return Response(url=url, status=200, headers=headers, body=body.encode(), wire=len(body))


@st.composite
def webs(draw):
    size = draw(st.integers(8, 60))
    kind = st.sampled_from(draw(st.sampled_from([KINDS, KINDS, WASTE])))
    kinds = ["page", *draw(st.lists(kind, min_size=size - 1, max_size=size - 1))]
    links = draw(st.lists(st.lists(st.integers(0, size - 1), max_size=7), min_size=size, max_size=size))
    links[0] = [*links[0], 1, 2, 3, 4]
    sitemap = draw(st.lists(st.integers(0, size - 1), max_size=8, unique=True))
    return Web(kinds, links, sitemap)


WEIGHTS = ("learned", "learned", "balanced", "product", {"content": 1.0, "url": 0.5, "sibling": 2.0})
SETTINGS = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["intelligent"] * 8 + ["topic-driven"] * 2 + sorted(STRATEGIES)),
        # Where the strategy can do without; visits of two people tell of a page.
        "visits": st.sampled_from([False, False, True]),
        "weights": st.sampled_from(WEIGHTS),
        "depth": st.sampled_from([None, None, 1, 2, 3]),
        "sitemaps": st.sampled_from(["off", "robots", "on"]),
        "traps": st.booleans(),
        "prune": st.sampled_from([False, False, False, True]),
        "max_size": st.sampled_from([None, None, None, 10]),
        "per_host": st.sampled_from([None, None, 12]),
        "use": st.booleans(),
        # At a level that so few finds come to.
        "confidence": st.sampled_from([None, None, 0.3, 0.6]),
        "match": st.sampled_from(["turbine", "turbine", "t=turbine\nv=valley7 OR url:stone\nt2=url:meadow"]),
        "share": st.sampled_from(["even", "greedy"]),
        # Looked at every fetch or two, so that these webs come to it; a rule of several clauses goes by the
        # last look for a while.
        "stop": st.sampled_from(["", "", "recall >= 0.5", "recall >= 0.7 and pages >= 20 or stale >= 25"]),
    }
)


class Kill(SqliteStore):
    """A store that is left as a kill leaves it: without what is saved at the end of a session."""

    def save(self, effects):
        super().save([effect for effect in effects if not isinstance(effect, Learned)])


MARK = ".steered.example"


class Steering:
    """An observer that steers, after so many pages each, by what the journal does not have yet."""

    def __init__(self, steps, done):
        self.steps, self.session = steps[done:], None

    def started(self, progress):
        self.settled((), progress)

    def settled(self, effects, progress):
        while self.steps and progress.pages >= self.steps[0][0]:
            # The last of each says how many were taken in.
            changes = self.steps.pop(0)[1]
            self.session.command(*changes, BanHost(f"{len(self.steps)}{MARK}"))

    def finished(self, progress, reason): ...


def crawled(web, store, pages, more, clock, steps=()):
    config = CrawlConfig(
        seeds=(web.url(0),),
        pages=pages,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
        **{"match": "turbine", **more},
    )
    # Those that a strategy refused left no mark; they are no more tried again than those before a later mark.
    entries = [json.loads(entry.entry) for entry in store.journal() if MARK in entry.entry]
    left = min((int(entry["host"].removesuffix(MARK)) for entry in entries), default=len(steps))
    steering = Steering(list(steps), len(steps) - left)
    session = Session(config, store, fetcher=ReplayFetcher(web), clock=clock, observers=[steering])
    steering.session = session
    asyncio.run(session.run())
    return session


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """What a crawl of another such web learned."""
    kinds = [KINDS[(7 * i) % len(KINDS)] if i else "page" for i in range(50)]
    web = Web(kinds, [[(i * 3 + j * j) % 50 for j in range(6)] for i in range(50)], [])
    path = tmp_path_factory.mktemp("law") / "earlier"
    with SqliteStore(path) as store:
        crawled(web, store, 30, {"strategy": "intelligent"}, VirtualClock(1e9))
    return path


CHECKPOINTS = st.sampled_from([None, 1, 3, 7])
"""Pages between two checkpoints; None for none at all."""
STOPS = st.lists(st.tuples(st.integers(1, 35), st.booleans()), min_size=1, max_size=3)


def traces_of(tmp_path_factory, earlier, web, more, stops, every):
    """The trace of one session, and that of the same crawl stopped and taken up again."""
    more = dict(more)
    weighs = more["strategy"] == "intelligent"
    learns = STRATEGIES[more["strategy"]].capabilities.relearns
    more["use"] = (str(earlier),) if more["use"] and weighs else ()
    if not weighs:
        del more["weights"]
    if (more.pop("visits") and weighs) or more["strategy"] == "collaborative":
        more |= {"visits": visited(tmp_path_factory.mktemp("law"), list(web.urls())), "k": 2}
    traces = []
    for sessions in ([(60, False)], [*sorted(stops), (60, False)]):
        path = tmp_path_factory.mktemp("law") / "crawl"
        clock = VirtualClock(1e9)
        for pages, killed in sessions:
            # What other strategies learned is saved now and then, not with every batch.
            with (
                pytest.MonkeyPatch.context() as patched,
                (Kill if killed and learns else SqliteStore)(path) as store,
            ):
                patched.setattr(checkpoint, "LEAST", every or 1_000)
                patched.setattr(recall, "FEWEST_FINDS", 1)
                patched.setattr(recall, "FEWEST_FETCHES", 4)
                patched.setattr(checkpoint, "FEW", 0 if every and not killed else 1_000)
                crawled(web, store, pages, more, clock)
        with open_reader(path) as reader:
            looks = [entry.entry for entry in reader.journal() if entry.entry.startswith('{"recall"')]
            traces.append([*(decision.line() for decision in reader.decisions()), *looks])
    return traces


@settings(
    max_examples=int(os.environ.get("CLEW_LAW_EXAMPLES", "12")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(web=webs(), more=SETTINGS, stops=STOPS, every=CHECKPOINTS)
def test_stopped_anywhere_and_resumed_is_one_session(tmp_path_factory, earlier, web, more, stops, every):
    one, resumed = traces_of(tmp_path_factory, earlier, web, more, stops, every)
    assert resumed == one


CHANGES = st.sampled_from(
    [
        (SetMatch("bridge OR url:stone"),),
        (SetMatch("meadow"),),
        (SetMatch("turbine AND valley"), SetBoost("*b.example*", 3.0)),
        (SetMatch("a=meadow\nb=turbine"),),
        (SetWeights({"hint": 2.0}),),
        (SetWeights({"hint": 0.5}), SetMatch("harbour")),
        (SetStrategy("intelligent"),),
        (SetStrategy("best-first"), SetMatch("stone OR wind")),
        (Feedback(f"{HOSTS[0]}/river/0", True),),
        (Feedback(f"{HOSTS[0]}/river/0", False), SetBoost("*river*", 0.2)),
    ]
)
STEERED = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["intelligent", "intelligent", "best-first", "shark"]),
        "depth": st.sampled_from([None, None, 3]),
        "sitemaps": st.sampled_from(["off", "on"]),
        "traps": st.booleans(),
        "max_size": st.sampled_from([None, None, 10]),
        "match": st.sampled_from(["turbine", "turbine", "t=turbine\nv=valley7"]),
    }
)


@settings(
    max_examples=int(os.environ.get("CLEW_LAW_EXAMPLES", "12")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    web=webs(),
    more=STEERED,
    steps=st.lists(st.tuples(st.integers(1, 20), CHANGES), min_size=1, max_size=2),
    later=st.sampled_from([None, 0, 3, 8]),
    stops=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    every=CHECKPOINTS,
)
def test_steered_stopped_anywhere_and_resumed_is_one_session(
    tmp_path_factory, web, more, steps, later, stops, every
):
    """`later` is after how many more pages a strategy is taught again for what was changed at once; None for
    crawls that stand still meanwhile."""
    traces = []

    def due(self):
        learner, tally = self.crawl.learner, self.crawl.tally
        behind = learner.behind and (tally.pages >= learner.learning.since + (later or 0))
        return self._refolding is not None or behind

    for sessions in ([60], [*sorted(stops), 60]):
        path = tmp_path_factory.mktemp("law") / "crawl"
        clock = VirtualClock(1e9)
        for pages in sessions:
            with pytest.MonkeyPatch.context() as patched, SqliteStore(path) as store:
                patched.setattr(checkpoint, "LEAST", every or 1_000)
                patched.setattr(checkpoint, "FEW", 0 if every else 1_000)
                patched.setattr(driver, "REFOLD_SECONDS", 1e9)
                patched.setattr(driver.Driver, "relearning", property(due))
                if later is not None:
                    patched.setattr(
                        sessions_of, "Driver", lambda **given: driver.Driver(**given | {"background": True})
                    )
                crawled(web, store, pages, more, clock, sorted(steps, key=lambda step: step[0]))
        with open_reader(path) as reader:
            judged = [(row.url, row.matched, row.satisfied, row.feedback) for row in reader.pages()]
            traces.append([*(decision.line() for decision in reader.decisions()), *judged])
    assert traces[1] == traces[0]


class Naming(Web):
    """Pages that link to nothing: they name what they lead to, in headers, attributes, text and scripts."""

    def _page(self, url, number):
        first, *rest = map(self.url, self.links[number])
        named = (
            f"<p data-next={rest[0]}>{rest[1]}</p><script>go('{rest[2]}')</script><cite>{WORDS[number % 8]}"
        )
        body = f"<title>{number}</title>{'turbine' * (number % 3)} {named} {number * 7}"
        headers = (("Content-Type", "text/html"), ("Link", f"<{first}>; rel=next"))
        return Response(url=url, status=200, headers=headers, body=body.encode())


def test_what_pages_only_name_is_followed_and_learned_from_again(tmp_path):
    """By default a Link header leads on; with --links more so does the rest, also when learning again."""
    web = Naming(["page"] * 30, [[(i + n) % 30 for n in (1, 7, 11, 13)] for i in range(30)], [])
    traces = {}
    for name, sessions, links in (
        ("few", [8], "pages"),
        ("one", [25], "more"),
        ("three", [3, 11, 25], "more"),
    ):
        clock = VirtualClock(1e9)
        for pages in sessions:
            with SqliteStore(tmp_path / name) as store:
                crawled(web, store, pages, {"links": links}, clock)
                traces[name] = [decision.line() for decision in store.decisions()]
                known = [web.url(i) for i in range(30) if store.candidate(web.url(i)) is not None]
        assert len(known) == (9 if links == "pages" else 30)
    assert traces["three"] == traces["one"]
