"""The demo web: the same to the byte everywhere, and built as its documentation says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter, deque

import pytest
from xxhash import xxh64

import clew
from clew.errors import FetchError, Reason, UsageError
from clew.fetch import ReplayFetcher
from clew.lab.demo import DemoWeb
from clew.lab.demo.dice import Dice
from clew.lab.demo.plan import Role
from clew.lab.demo.prose import vocabulary
from clew.page import Page
from clew.parse import parse_page
from clew.policy.duplicates import Duplicates
from clew.predicate import compile as compile_formula
from clew.testing import VirtualClock
from clew.url import canonical

#: Every byte of the web of seed 7. A change here changes what everybody's demo shows: do it on purpose.
PINNED = "52cf249ef169222f"


def digest(web: DemoWeb) -> str:
    total = xxh64()
    for url in web.urls():
        reply = web.get(url)
        total.update(repr((url, reply.status, reply.headers, reply.elapsed)).encode() + reply.body)
    return total.hexdigest()


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb()


@pytest.fixture(scope="module")
def pages(web) -> dict[str, Page]:
    """Every page of the web that is text, parsed."""
    parsed = {}
    for url in web.urls():
        reply = web.get(url)
        if reply.status == 200 and not url.endswith(("robots.txt", "sitemap.xml")) and "/files/" not in url:
            kind = reply.header("content-type")
            parsed[url] = parse_page(reply.body, url=url, content_type=kind, headers=reply.headers)
    return parsed


def site(web: DemoWeb, role: Role) -> str:
    return next(site.name for site in web.plan.sites if site.role is role)


def _host(url: str) -> str:
    return url.split("/")[2] if "://" in url else ""


def test_every_byte_of_seed_7_is_pinned(web):
    assert digest(web) == PINNED


def test_another_process_with_other_hash_seeds_sees_the_same_web():
    script = (
        "from test_demo_web import digest\nfrom clew.lab.demo import DemoWeb\n"
        "print(digest(DemoWeb(seed=3, hosts=16, pages=160)))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": __file__.rpartition("/")[0]},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert seen == {digest(DemoWeb(seed=3, hosts=16, pages=160)) + "\n"}


def test_another_seed_is_another_web(web):
    other = DemoWeb(seed=8)
    assert not set(other.relevant()) & set(web.relevant())


def test_the_web_has_the_size_asked_for():
    for hosts, pages in ((16, 128), (40, 2000), (90, 1000)):
        made = DemoWeb(seed=1, hosts=hosts, pages=pages)
        assert len(made.plan.sites) == hosts
        assert len({s.name for s in made.plan.sites}) == hosts
        assert len(made.plan.nodes) == pytest.approx(pages, rel=0.02)


def test_every_url_is_canonical_listed_once_and_answered(web):
    urls = list(web.urls())
    assert len(urls) == len(set(urls))
    assert all(canonical(url) == url for url in urls)
    statuses = Counter(web.get(url).status for url in urls)
    assert set(statuses) == {200, 301, 302, 503}


@pytest.mark.parametrize("topic", ["wind", "medieval"])
def test_the_formula_selects_the_relevant_pages_and_no_other_readable_one(topic):
    made = DemoWeb(seed=5, hosts=24, pages=600, topic=topic)
    predicate = compile_formula(made.formula())
    satisfied = set()
    for url in made.urls():
        reply = made.get(url)
        if reply.status == 200 and not url.endswith("robots.txt") and "/files/" not in url:
            page = parse_page(reply.body, url=url, content_type=reply.header("content-type"))
            if predicate.judge(page).satisfied:
                satisfied.add(made.copies().get(url, url))
    forbidden = {site(made, role) for role in (Role.CLOSED, Role.FORBIDDEN)}
    readable = {u for u in satisfied if "/private/" not in u and u.split("/")[2] not in forbidden}
    assert readable == made.relevant()


def test_the_relevant_share_is_small_but_not_tiny(web):
    share = len(web.relevant()) / len(web.plan.nodes)
    assert 0.05 < share < 0.10


def test_every_relevant_page_can_be_reached_by_following_the_rules(web, pages):
    """Breadth-first from the seeds over parsed links and redirects, keeping out of /private/."""
    seen, queue = set(web.seeds()), deque(web.seeds())
    while queue:
        url = queue.popleft()
        found = pages[url].links.targets if url in pages else ()
        if found == ():
            try:
                reply = web.get(url)
            except FetchError:
                continue
            found = (canonical(reply.header("location"), url),) if reply and reply.header("location") else ()
        fresh = [to for to in dict.fromkeys(found) if to not in seen and "/private/" not in to]
        seen.update(fresh)
        queue.extend(fresh)
    assert web.relevant() <= seen


def test_hidden_hosts_are_entered_only_over_off_topic_bridges(web):
    plan = web.plan
    hidden = {i for i, s in enumerate(plan.sites) if s.hidden}
    assert len(hidden) == 2
    doors = [
        source
        for source, targets in enumerate(plan.links)
        if plan.nodes[source].site not in hidden and any(plan.nodes[t].site in hidden for t in targets)
    ]
    assert doors
    assert set(doors) <= plan.bridges
    assert not any(plan.nodes[n].topic == "wind" for n in plan.bridges)


def test_only_copies_and_the_calendar_look_like_duplicates(web, pages):
    known, repeats = Duplicates(), Counter()
    for number, (url, page) in enumerate(pages.items()):
        if known.find(page.digest, page.sketch):
            kind = "copy" if url in web.copies() else "calendar" if "/calendar/" in url else "other"
            repeats[kind] += 1
        else:
            known.add(number, page.digest, page.sketch)
    assert repeats["other"] == 0
    assert repeats["copy"] > 0.8 * len(web.copies())


def test_german_pages_are_german_and_written_in_an_old_encoding(web, pages):
    german = [url for url in pages if web.labels(url)[:1] in (("windkraft",), ("kueche",))]
    articles = [url for url in german if web.labels(url)[1] == "article"]
    assert len(articles) > 40
    assert {pages[url].language for url in articles} == {"de"}
    assert any("ü" in pages[url].text for url in articles)
    assert web.get(articles[0]).header("content-type") == "text/html"


def test_hosts_that_fail_do_so_in_their_own_way(web):
    for role, reason in ((Role.SILENT, Reason.TIMEOUT), (Role.BREAKING, Reason.RESET)):
        with pytest.raises(FetchError) as caught:
            web.get(f"http://{site(web, role)}/")
        assert caught.value.reason is reason
    busy = web.get(f"http://{site(web, Role.BUSY)}/robots.txt")
    assert (busy.status, busy.header("retry-after")) == (503, "120")
    slow = web.get(f"http://{site(web, Role.SLOW)}/")
    assert (slow.status, slow.elapsed > 1) == (200, True)


def test_robots_rules_of_every_kind_are_there(web):
    texts = [
        reply.body.decode()
        for s in web.plan.sites
        if s.role not in (Role.SILENT, Role.BREAKING)
        and (reply := web.get(f"http://{s.name}/robots.txt")) is not None
        and reply.status == 200
    ]
    joined = "\n".join(texts)
    for rule in ("Disallow: /private/\n", "Disallow: /\n", "Crawl-delay: 0.5\n", "Sitemap: http://"):
        assert rule in joined
    assert web.get(f"http://{site(web, Role.CLOSED)}/robots.txt").status == 503
    assert web.get(f"http://{site(web, Role.NEWS)}/robots.txt") is None
    sitemap = re.search(r"Sitemap: (\S+)", joined)
    assert web.get(sitemap[1]).body.count(b"<loc>") > 20


def test_redirects_lead_to_pages_over_several_hops_or_in_circles(web):
    def follow(url: str) -> list[str]:
        way = [url]
        while len(way) < 8 and (to := web.get(way[-1]).header("location")):
            way.append(canonical(to, way[-1]))
        return way

    broken = {site(web, role) for role in (Role.SILENT, Role.BREAKING, Role.BUSY)}
    moved = [url for url in web.urls() if (to := web.get(url).header("location")) and _host(to) not in broken]
    ends = Counter(min(len(follow(url)), 8) - 1 for url in moved)
    assert set(ends) == {1, 2, 3, 7}
    assert all(web.get(follow(url)[-1]).status == 200 for url in moved if len(follow(url)) < 8)


def test_the_calendar_is_long_linked_and_finite(web, pages):
    months = [url for url in pages if "/calendar/" in url]
    assert len(months) == 50 * 12 * 3
    assert all(set(pages[url].links.targets) <= set(months) for url in months[::97])


def test_links_carry_tracking_parameters_that_make_no_difference(web):
    raw = set()
    for url in web.relevant():
        raw.update(re.findall(rb'href="([^"]*(?:utm_|clid)[^"]*)"', web.get(url).body))
    assert len(raw) > 10


def test_a_best_first_crawl_finds_clearly_more_than_a_breadth_first_one(web):
    finds = {}
    for strategy in ("breadth-first", "best-first"):
        run = clew.crawl(
            web.seeds(),
            match=web.formula(),
            pages=300,
            strategy=strategy,
            fetcher=ReplayFetcher(web),
            clock=VirtualClock(),
            parse_workers=0,
        )
        finds[strategy] = len(list(run))
    assert finds["best-first"] > 2 * finds["breadth-first"] > 0
    assert finds["best-first"] < 0.5 * len(web.relevant())


def test_core_terms_stand_in_no_other_words_of_the_vocabulary():
    _, topics = vocabulary()
    for topic in topics.values():
        for other in topics.values():
            words = " ".join((*other.subjects, *other.verbs, *other.objects, *other.manners, *other.sections))
            assert not [core for core in topic.core if core.lower() in words.lower()]


def test_dice_of_one_name_fall_alike_and_stay_in_range():
    one, two = Dice(7, "a"), Dice(7, "a")
    assert [one.below(6) for _ in range(50)] == [two.below(6) for _ in range(50)]
    assert {Dice(1).between(2, 4) for _ in range(3)} <= {2, 3, 4}
    assert sorted(Dice(1).some(range(10), 10)) == list(range(10))
    assert len(set(Dice(1).some(range(10), 4))) == 4


@pytest.mark.parametrize("wrong", [{"topic": "windy"}, {"hosts": 3}, {"hosts": 40, "pages": 100}])
def test_what_cannot_be_made_is_refused_with_a_hint(wrong):
    with pytest.raises(UsageError, match=r"choose one of|at least"):
        DemoWeb(**wrong)
