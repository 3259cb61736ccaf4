"""What is kept of people, what leaves, and an attack on it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from visit_lines import SECRET, Take, rows, squid

from clew.errors import ConfigError
from clew.url import keys
from clew.visits import Secret, VisitsDatabase, read_visits
from clew.visits.privacy import is_personal, public_url, secret_place

T = 1_700_000_000.0


def test_the_secret_is_made_once_for_its_owner_alone_and_never_beside_the_data(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    first = Secret.of_user(beside=tmp_path / "data" / "visits.db")
    assert stat.S_IMODE(os.stat(secret_place()).st_mode) == 0o600
    assert Secret.of_user() == first
    assert first.key.hex() not in repr(first)
    with pytest.raises(ConfigError, match="beside the data"):
        Secret.of_user(beside=tmp_path / "config" / "clew" / "visits.db")
    secret_place().chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        Secret.of_user()
    secret_place().chmod(0o600)
    secret_place().write_text("no key")
    with pytest.raises(ConfigError, match="no secret"):
        Secret.of_user()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://ann:secret@a.example/x#me", "http://a.example/x"),
        ("http://a.example/?page=2&Email=ann%40b.example&utm_source=z", "http://a.example/?page=2"),
        ("http://a.example/?access_token=1&x-auth=2&x=3", "http://a.example/?x=3&x-auth=2"),
        ("http://a.example/?ref=ann@b.example", "http://a.example/"),
        ("http://a.example/?h=0123456789abcdef0123456789abcdef&q=wind", "http://a.example/?q=wind"),
        ("http://a.example/?t=eyJhbGciOiJI.eyJzdWIiOiIx.abc", "http://a.example/"),
        ("chrome://settings/", None),
    ],
)
def test_what_is_personal_in_a_url_is_taken_out(given, kept):
    assert public_url(given) == kept


def test_a_page_with_a_token_or_an_address_in_its_path_is_left_out_whole(take: Take, visits: Path):
    found = take(
        squid(T, "192.0.2.7", "http://a.example/u/ann@b.example/")
        + squid(T, "192.0.2.7", "http://a.example/" + "0a" * 16)
    )
    assert found.counts.left_out["personal address"] == 2
    assert rows(visits) == []
    assert not is_personal("http://a.example/wiki/Wind_farm")


def test_no_address_user_or_agent_is_ever_written(take: Take, visits: Path):
    take(
        b'192.0.2.77 - annabel [14/Nov/2023:22:13:20 +0000] "GET /a" 200 1 "http://from.example/" "Qux"\n'
        b'198.51.100.5 - - [14/Nov/2023:22:13:20 +0000] "GET /b HTTP/1" 404 1 "-" "Qux"\n'
        b"broken annabel line\n",
        site="http://s.example/",
    )
    written = b"".join([path.read_bytes() for path in visits.parent.iterdir()])
    for secret in (b"192.0.2.77", b"198.51.100.5", b"annabel", b"Qux", b"from.example", b"s.example/b"):
        assert secret not in written
    assert b"s.example/a" in written


def test_what_is_forgotten_is_gone_with_what_was_derived(take: Take, visits: Path):
    take(
        squid(T, "192.0.2.1", "http://a.example/shared") + squid(T, "192.0.2.2", "http://a.example/shared")
        + squid(T + 90000, "192.0.2.1", "http://a.example/onlyone") + squid(T, "192.0.2.1", "http://a.example/robots.txt")
    )  # fmt: skip
    with VisitsDatabase(visits, SECRET) as database:
        assert database.forget(person=SECRET.person(b"192.0.2.1")) == 2
        assert database.one("SELECT count(*) FROM robots") == 0
    assert [url for _, _, url in rows(visits)] == ["http://a.example/shared"]
    assert b"onlyone" not in visits.read_bytes()
    with VisitsDatabase(visits, SECRET) as database:
        assert database.forget(before=1_700_000_000_001) == 1
    assert rows(visits) == []


def redirected(person: int, page: str, target: str, at: float = T) -> bytes:
    """Somebody asks for a page, and is led on to another."""
    client = f"192.0.2.{person}"
    return squid(at, client, page, status=302) + squid(at + 1, client, target)


def test_a_page_that_led_a_forgotten_person_on_is_forgotten(take: Take, visits: Path):
    """The address that only they asked for was kept for as long as anybody visited where it led."""
    secret, shared = "http://a.example/clinic", "http://a.example/shared"
    take(b"".join([redirected(1, secret, shared), squid(T + 9, "192.0.2.2", shared)]))
    with VisitsDatabase(visits, SECRET) as database:
        database.forget(person=SECRET.person(b"192.0.2.1"))
        assert [url for (url,) in database.rows("SELECT url FROM pages")] == [shared]
    assert b"clinic" not in visits.read_bytes()
    visits.unlink()
    take(b"".join([redirected(1, secret, shared), squid(T + 9, "192.0.2.1", shared)]))
    with VisitsDatabase(visits, forgets=True) as database:
        assert database.forget(before=round(T * 1000) + 5000) == 1
    assert b"clinic" not in visits.read_bytes()


@pytest.mark.parametrize(("people", "known"), [(2, False), (3, True)])
def test_a_page_that_led_fewer_than_k_people_on_is_unknown(
    take: Take, visits: Path, people: int, known: bool
):
    """A crawl that met a link to it would speak of it by the visits of where it leads."""
    secret, shared = "http://a.example/clinic", "http://a.example/shared"
    take(
        b"".join([redirected(person, secret, shared, T + person) for person in range(people)])
        + b"".join([squid(T + person, f"198.51.100.{person}", shared) for person in range(9)])
    )
    log = read_visits(visits, 3).log
    assert log.urls == (shared,)
    assert log.find(keys((secret,))).tolist() == [0 if known else -1]


def test_whoever_has_no_secret_can_forget_and_not_add(take: Take, visits: Path):
    """Once the key is deleted, for good, what is old must still go."""
    take(squid(T, "192.0.2.1", "http://a.example/"))
    with VisitsDatabase(visits, forgets=True) as database:
        assert database.forget(before=round(T * 1000) + 1) == 1


def world(take: Take, visits: Path, secret_visit: str) -> object:
    """Ten people and a victim; all of the victim's visits are the same but one. Gives what leaves."""
    lines = []
    for person in range(1, 11):
        lines += [
            squid(T + person, f"192.0.2.{person}", f"http://a.example/{page}")
            for page in range(person % 3, 6)
        ]
    lines += [squid(T + 20 + i, "192.0.2.99", f"http://a.example/{i}") for i in range(4)]
    lines.append(squid(T + 50, "192.0.2.99", secret_visit))
    take(b"".join(lines))
    log = read_visits(visits, 3).log
    return (log.urls, log.people, log.person.tolist(), log.page.tolist(), log.session.tolist(), log.digest)


def test_the_missing_visit_of_a_victim_cannot_be_told(tmp_path: Path, visits: Path, take: Take):
    """Whoever has what leaves, and all of a victim's visits but one, sees the same whichever page that one
    was, among pages that too few others saw: to the last bit."""
    seen = set()
    for page in (
        "http://secret.example/clinic",
        "http://secret.example/lawyer",
        "http://secret.example/union",
    ):
        visits.unlink(missing_ok=True)
        seen.add(repr(world(take, visits, page)))
    assert len(seen) == 1
    assert "secret.example" not in seen.pop()


def test_the_attack_would_succeed_without_k(visits: Path, take: Take):
    """Guards the test above: what it compares does tell the visit where a page of one person is spoken of."""
    world(take, visits, "http://secret.example/clinic")
    assert "http://secret.example/clinic" in read_visits(visits, 1).log.urls


def known_pages(take: Take, visits: Path, people: tuple[int, ...]) -> tuple[str, ...]:
    """The pages that leave where just these people visited one page more than everybody else."""
    visits.unlink(missing_ok=True)
    lines = [squid(T + who, f"192.0.2.{who}", "http://a.example/all") for who in range(6)]
    take(b"".join([*lines, *[squid(T + 9, f"192.0.2.{who}", "http://a.example/some") for who in people]]))
    return read_visits(visits, 3).log.urls


def test_k_does_not_hide_a_visit_from_whoever_knows_all_others(take: Take, visits: Path):
    """As docs/visits.md says: people 1 and 2 were there; that the page is spoken of says that a third was."""
    assert "http://a.example/some" not in known_pages(take, visits, (1, 2))
    assert "http://a.example/some" in known_pages(take, visits, (1, 2, 5))


def test_k_hides_a_visit_from_whoever_knows_all_others_but_one(take: Take, visits: Path):
    """People 1 and 2 were there; whether 4 or 5 was the third is the same to the last bit."""
    seen = {known_pages(take, visits, (1, 2, third)) for third in (4, 5)}
    assert len(seen) == 1
    assert sorted(len(read_visits(visits, 3).log.people_of.row(page)) for page in range(2)) == [3, 6]


def test_k_is_one_at_home_and_three_where_others_are(take: Take, visits: Path, tmp_path: Path):
    visit = {"startedDateTime": "2023-11-14T22:13:20Z", "request": {"url": "http://a.example/"}}
    take(json.dumps({"log": {"entries": [{**visit, "response": {"status": 200}}]}}).encode())
    assert (read_visits(visits).log.k, read_visits(visits).log.urls) == (1, ("http://a.example/",))
    take(squid(T, "192.0.2.1", "http://a.example/"), "proxy.log")
    assert (read_visits(visits).log.k, read_visits(visits).log.urls) == (3, ())
