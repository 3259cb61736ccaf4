"""Logs of every format become visits; every line is accounted for; twice is once; interrupted is whole."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pytest
import zstandard
from visit_lines import SECRET, Take, rows, squid

from clew.errors import StoreForeign, UsageError
from clew.visits import ImportSettings, Secret, VisitsDatabase, import_log
from clew.visits import importing as module

T = 1_700_000_000.0
COMBINED = (
    b'192.0.2.7 - ann [14/Nov/2023:22:13:20 +0000] "GET /a?utm_source=x HTTP/1.1" 200 12 "-" "Mozilla/5.0"\n'
    b'192.0.2.7 - - [14/Nov/2023:23:13:25 +0100] "GET /b HTTP/1.1" 304 - "-" "Mozilla/5.0 \\"quoted\\""\n'
)


def test_squid_lines_are_visits_and_the_rest_is_counted_by_reason(take: Take, visits: Path):
    found = take(
        squid(T, "192.0.2.7", "http://a.example/x?utm_source=y#z")
        + squid(T + 1, "192.0.2.7", "a.example:443", method="CONNECT")
        + squid(T + 2, "192.0.2.7", "http://a.example/form", method="POST")
        + squid(T + 3, "192.0.2.7", "http://a.example/gone", status=404)
        + squid(T + 4, "192.0.2.7", "http://a.example/logo", kind="image/png")
        + squid(T + 5, "192.0.2.7", "http://a.example/style.css", kind="-")
        + squid(T + 6, "192.0.2.7", "ftp://a.example/")
        + b"The rat the cat the dog chased killed ate the malt!\n"
    )
    assert found.format == "squid"
    assert found.counts.visits == 1
    assert dict(found.counts.left_out) == {
        "CONNECT": 1, "not GET": 1, "error": 1, "embedded": 2, "no web address": 1,
    }  # fmt: skip
    assert found.counts.examples == {
        "not in the format": "The rat the cat the dog chased killed ate the malt!"
    }
    assert rows(visits) == [(1_700_000_000_000, SECRET.person(b"192.0.2.7"), "http://a.example/x")]


@pytest.mark.parametrize(
    "line",
    [
        b"Nov 14 22:13:20 gate squid[71]: " + squid(T, "192.0.2.7", "http://a.example/").rstrip(),
        squid(T, "192.0.2.7", "http://a.example/").rstrip() + b' "-" "Mozilla/5.0"',
        squid(T, "192.0.2.7", "http://a.example/").rstrip() + b" [User-Agent: x] [Age: 1]",
        b'192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] "GET http://a.example/ HTTP/1" 200 5 "-" "Moz" HIT:-',
        b'192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] "GET http://a.example/ HTTP/1" 200 5 HIT:-',
        b"1700000000.000 192.0.2.7 http://b.example/ http://a.example/",
        b'a.example:80 192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] "GET / HTTP/1.1" 200 5 "-" "Mozilla"',
    ],
)
def test_customised_formats_are_recognised(take: Take, visits: Path, line: bytes):
    assert take(line).counts.visits == 1
    assert rows(visits) == [(1_700_000_000_000, SECRET.person(b"192.0.2.7"), "http://a.example/")]


def test_combined_and_common_logs_need_the_site_and_say_so(take: Take, visits: Path):
    with pytest.raises(UsageError, match="--site"):
        take(COMBINED)
    found = take(COMBINED, site="http://s.example/")
    assert found.format == "combined"
    assert [(at, url) for at, _, url in rows(visits)] == [
        (1_700_000_000_000, "http://s.example/a"),
        (1_700_000_005_000, "http://s.example/b"),
    ]
    assert {person for _, person, _ in rows(visits)} == {
        SECRET.person(b"user ann"),
        SECRET.person(b"192.0.2.7"),
    }
    common = b'192.0.2.9 - - [14/Nov/2023:22:13:20 +0000] "GET /c HTTP/1.0" 200 12\n'
    assert take(common, site="http://s.example/").format == "common"


def test_w3c_fields_may_change_within_a_file(take: Take, visits: Path):
    take(
        b"#Version: 1.0\n"
        b"#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent)\n"
        b"2023-11-14 22:13:20 192.0.2.7 GET /a x=1 200 Mozilla/5.0+(X11)\n"
        b"#Fields: date time cs-method cs-uri-stem c-ip cs-host\n"
        b"2023-11-14 22:13:21 GET /b 192.0.2.7 t.example\n",
        site="http://s.example/",
    )
    assert [url for _, _, url in rows(visits)] == ["http://s.example/a?x=1", "http://t.example/b"]


def test_lines_of_a_w3c_log_without_a_date_are_of_the_day_it_names(take: Take, visits: Path, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 90)
    log = (
        b"#Version: 1.0\n#Date: 2023-11-14 00:00:00\n#Fields: time c-ip cs-method\n"
        b"#Fields: time c-ip cs-uri-stem\n"
        b"22:13:20 192.0.2.7 /a\n#Date: 2023-11-15 00:00:00\n22:13:20 192.0.2.7 /b\n"
    )
    found = take(log, site="http://s.example/")
    assert (found.counts.visits, found.counts.left_out["directive"]) == (2, 5)
    day = 86_400_000
    expected = [(1_700_000_000_000, "http://s.example/a"), (1_700_000_000_000 + day, "http://s.example/b")]
    assert [(at, url) for at, _, url in rows(visits)] == expected
    # Read on, it is still the last day that was named.
    take(log + b"22:13:21 192.0.2.7 /c\n", site="http://s.example/")
    assert rows(visits)[-1][0] == 1_700_000_001_000 + day


def test_times_that_no_log_can_be_of_are_malformed(take: Take, visits: Path):
    times = (b"9" * 30, b"9" * 20, b"0", b"-5", b"9999-12-31T23:59:59Z", b"0001-01-01T00:00:00+14:00")
    table = b"who,when,page\n" + b"".join([b"ann,%s,http://a.example/\n" % at for at in times])
    found = take(table, columns={"person": "who", "time": "when", "url": "page"})
    assert (found.counts.visits, found.counts.malformed["no such time"]) == (0, len(times))
    assert rows(visits) == []


def test_a_table_is_read_by_its_columns(take: Take, visits: Path):
    table = (
        b"when;who;page\n2023-11-14T22:13:20Z;ann;http://a.example/\n1700000001;bob;http://b.example/\nx;y\n"
    )
    with pytest.raises(UsageError, match="--columns"):
        take(table)
    with pytest.raises(UsageError, match="no column 'whom'"):
        take(table, columns={"person": "whom", "time": "when", "url": "page"})
    found = take(table, columns={"person": "who", "time": "when", "url": "page"})
    assert (found.counts.visits, found.counts.malformed["not in the format"]) == (2, 1)
    assert [(at, url) for at, _, url in rows(visits)] == [
        (1_700_000_000_000, "http://a.example/"),
        (1_700_000_001_000, "http://b.example/"),
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
def test_har_recordings_give_the_pages_and_join_redirects(take: Take, visits: Path, pack):
    def entry(at: int, url: str, status: int = 200, kind: str = "text/html") -> dict[str, object]:
        return {
            "startedDateTime": f"2023-11-14T22:13:2{at}.000Z",
            "request": {"method": "GET", "url": url},
            "response": {"status": status, "content": {"mimeType": kind}},
        }

    entries = [
        entry(0, "http://a.example/", 302),
        entry(1, "http://a.example/b"),
        entry(2, "http://a.example/c", kind="image/gif"),
    ]
    found = take(pack(json.dumps({"log": {"entries": [*entries, None, 7]}}).encode()))
    assert (found.format, found.counts.visits, found.counts.lines) == ("har", 1, 5)
    with VisitsDatabase(visits) as database:
        joined = (
            "SELECT a.url, b.url FROM redirects r JOIN pages a ON a.page = r.page "
            "JOIN pages b ON b.page = r.target"
        )
        assert list(database.rows(joined)) == [("http://a.example/", "http://a.example/b")]


def test_histories_of_chrome_and_firefox_are_one_persons(take: Take, visits: Path, tmp_path: Path):
    chrome, firefox = tmp_path / "History", tmp_path / "places.sqlite"
    at = 1_700_000_000_000_000
    with sqlite3.connect(chrome) as database:
        database.executescript(
            "CREATE TABLE urls (id INTEGER, url TEXT); CREATE TABLE visits (id, url, visit_time, transition)"
        )
        database.executemany(
            "INSERT INTO urls VALUES (?, ?)",
            [(1, "http://a.example/"), (2, "http://b.example/"), (3, "chrome://x/")],
        )
        since = at + 11_644_473_600_000_000
        end = 0x20000000
        database.executemany(
            "INSERT INTO visits VALUES (?, ?, ?, ?)",
            [
                (1, 1, since, 0),
                (2, 2, since + 1000, end),
                (3, 3, since + 9000, end),
                (4, 2, since + 2, end + 3),
            ],
        )
    database.close()
    with sqlite3.connect(firefox) as database:
        database.executescript(
            "CREATE TABLE moz_places (id, url);"
            "CREATE TABLE moz_historyvisits (id, from_visit, place_id, visit_date, visit_type)"
        )
        database.execute("INSERT INTO moz_places VALUES (1, 'http://c.example/?token=abc')")
        database.execute("INSERT INTO moz_historyvisits VALUES (1, 0, 1, ?, 1)", (at,))
    database.close()
    assert (take(chrome).format, take(firefox).format) == ("chrome", "firefox")
    assert [(person, url) for _, person, url in rows(visits)] == [
        (SECRET.person(b"me"), "http://c.example/"), (SECRET.person(b"me"), "http://b.example/"),
    ]  # fmt: skip
    assert take(chrome).known


def test_any_other_database_is_refused_in_a_sentence(take: Take, tmp_path: Path):
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE x (y)")
    database.close()
    with pytest.raises(UsageError, match="no history"):
        take(other)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compressed_logs_are_read_and_known_as_the_plain_ones(take: Take, visits: Path, pack):
    plain = squid(T, "192.0.2.7", "http://a.example/")
    assert take(pack(plain)).counts.visits == 1
    assert take(plain).known
    assert len(rows(visits)) == 1


def test_a_broken_archive_is_told_in_a_sentence_and_read_as_far_as_it_goes(take: Take, visits: Path):
    packed = gzip.compress(b"".join([squid(T + i, "192.0.2.7", f"http://a.example/{i}") for i in range(500)]))
    with pytest.raises(UsageError, match=r"cannot be read to its end.*what came before is kept"):
        take(packed[: len(packed) // 2])
    taken = len(rows(visits))
    assert 50 < taken < 500
    found = take(packed)
    assert (found.resumed, found.counts.lines, len(rows(visits))) == (True, 500, 500)
    with pytest.raises(UsageError, match="cannot be read: "):
        take(packed[:5])


def test_an_empty_log_is_no_mistake(take: Take):
    assert (take(b"").format, take(gzip.compress(b"")).counts.lines) == ("empty", 0)


def test_a_packed_database_is_to_be_unpacked_first(take: Take):
    with pytest.raises(UsageError, match="unpack it first"):
        take(gzip.compress(b"SQLite format 3\0" + bytes(100)))


def test_a_log_that_grew_is_read_on_from_its_old_end(take: Take, visits: Path):
    old = squid(T, "192.0.2.7", "http://a.example/")
    take(old)
    found = take(old + squid(T + 1, "192.0.2.7", "http://a.example/b"))
    assert (found.resumed, found.counts.lines, found.counts.visits) == (True, 2, 2)
    assert len(rows(visits)) == 2


def test_a_last_line_that_was_being_written_is_read_again_when_it_is_whole(take: Take, visits: Path):
    """As a log is found while a proxy writes it: cut in the middle of a line."""
    old, new = squid(T, "192.0.2.7", "http://a.example/"), squid(T + 1, "192.0.2.7", "http://a.example/b")
    for cut in (30, len(new) - 12, len(new) - 1):
        visits.unlink(missing_ok=True)
        assert take(old + new[:cut]).counts.lines == 2
        again = take(old + new[:cut])
        assert (again.known, again.counts.lines) == (True, 2)
        found = take(old + new + squid(T + 2, "192.0.2.7", "http://a.example/c"))
        assert (found.resumed, found.counts.lines, found.counts.malformed.total()) == (True, 3, 0)
        assert [url[17:] for _, _, url in rows(visits)] == ["", "b", "c"]


def test_another_log_with_the_same_beginning_is_not_mistaken_for_it(take: Take, visits: Path, monkeypatch):
    start = squid(T, "192.0.2.7", "http://a.example/")
    monkeypatch.setattr(module, "_HEAD", len(start))
    take(start + squid(T + 1, "192.0.2.7", "http://a.example/b"))
    found = take(start + squid(T + 1, "192.0.2.7", "http://a.example/c"))
    assert found.counts.left_out["already known"] == 1
    assert len(rows(visits)) == 3


@pytest.mark.parametrize("stop_at", range(1, 6))
def test_an_import_that_was_interrupted_goes_on_to_the_same_end(tmp_path: Path, monkeypatch, stop_at: int):
    monkeypatch.setattr(module, "PIECE", 600)
    log = tmp_path / "some.log"
    lines = [
        squid(T + i, f"192.0.2.{i % 5}", f"http://a.example/{i % 7}", status=302 if i % 6 == 0 else 200)
        for i in range(40)
    ]
    log.write_bytes(b"".join(lines) + b"junk\n")

    def done(name: str) -> tuple[object, ...]:
        with VisitsDatabase(tmp_path / name, SECRET) as database:
            tables = ("visits", "pages", "redirects", "robots", "logs")
            return tuple([list(database.rows(f"SELECT * FROM {table}")) for table in tables])

    with VisitsDatabase(tmp_path / "whole.db", SECRET, create=True) as database:
        import_log(database, SECRET, log, ImportSettings())
    told: list[int] = []

    def interrupt(at: int, total: int) -> None:
        told.append(at)
        if len(told) == stop_at:
            raise KeyboardInterrupt

    with VisitsDatabase(tmp_path / "parts.db", SECRET, create=True) as database:
        with pytest.raises(KeyboardInterrupt):
            import_log(database, SECRET, log, ImportSettings(), tell=interrupt)
        assert import_log(database, SECRET, log, ImportSettings()).resumed
    assert done("parts.db") == done("whole.db")


def test_giant_lines_and_control_characters_are_harmless(take: Take, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 100_000)
    good = squid(T, "192.0.2.7", "http://a.example/")
    found = take(
        good
        + b"x" * 350_000
        + b"\n"
        + b"y" * 70_000
        + b"\n"
        + good[:-1]
        + b"\x00\x1b[31m\n"
        + good.replace(b".example/", b".example/2")
    )
    assert found.counts.visits == 2
    assert dict(found.counts.malformed) == {"too long": 2, "control characters": 1}
    assert found.counts.lines == 5


def test_robots_are_left_out_by_their_agent_and_remembered_by_robots_txt(take: Take, visits: Path):
    line = b'192.0.2.%d - - [14/Nov/2023:22:13:20 +0000] "GET /%s HTTP/1.1" 200 5 "-" "%s"\n'
    found = take(
        line % (1, b"a", b"Mozilla/5.0")
        + line % (2, b"a", b"ExampleBot/2.1")
        + line % (3, b"robots.txt", b"Mozilla"),
        site="http://s.example/",
    )
    assert (found.counts.visits, found.counts.left_out["robot"], found.counts.left_out["robots.txt"]) == (
        1,
        1,
        1,
    )
    with VisitsDatabase(visits) as database:
        assert list(database.rows("SELECT person FROM robots")) == [(SECRET.person(b"192.0.2.3"),)]


def test_people_behind_one_address_are_told_apart_by_browser_if_wanted(take: Take, visits: Path):
    line = b'192.0.2.1 - - [14/Nov/2023:22:13:20 +0000] "GET /a HTTP/1.1" 200 5 "-" "%s"\n'
    take(line % b"Mozilla one" + line % b"Mozilla two", site="http://s.example/", by_agent=True)
    assert len(rows(visits)) == 2


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "layout", "visits_found"),
    [
        ("apache_logs", "combined", 2215),
        ("netdata_squid_access.log", "squid", 0),
        ("plaso_squid_access.log", "squid", 1),
    ],
)
def test_the_public_logs_are_read_to_the_last_line(
    suite, take: Take, name: str, layout: str, visits_found: int
):
    path = suite(f"logs/{name}")
    found = take(path, site="http://www.semicomplete.example/")
    assert (found.format, found.counts.visits) == (layout, visits_found)
    assert found.counts.lines == len(path.read_bytes().splitlines())
    assert take(path, site="http://www.semicomplete.example/").known


@pytest.mark.data
def test_naughty_strings_in_any_field_break_nothing(suite, take: Take):
    naughty = [
        text.encode("utf-8", "replace") for text in json.loads(suite("html/blns.json").read_text("utf-8"))
    ]
    good = squid(T, "192.0.2.7", "http://a.example/")
    fields = (b"192.0.2.7", b"http://a.example/", b"text/html", b"GET", b"1700000000.000", b"200")
    changed = [good.replace(at, text.replace(b"\n", b" "), 1) for text in naughty for at in fields]
    lines = [good, *changed]
    found = take(b"".join(lines))
    assert found.counts.lines == len(lines)
    combined = COMBINED.splitlines(keepends=True)[0]
    changed = [combined] + [combined.replace(b"Mozilla/5.0", text.replace(b"\n", b" ")) for text in naughty]
    assert take(b"".join(changed), "other.log", site="http://s.example/").counts.lines == len(changed)


def test_a_database_of_another_secret_is_not_added_to(visits: Path, take: Take):
    take(squid(T, "192.0.2.7", "http://a.example/"))
    with pytest.raises(StoreForeign, match="another secret"):
        VisitsDatabase(visits, Secret(b"x" * 32))


def test_a_file_that_is_no_database_of_visits_is_refused(tmp_path: Path):
    (tmp_path / "x.db").write_bytes(b"no database" * 100)
    with pytest.raises(StoreForeign):
        VisitsDatabase(tmp_path / "x.db", SECRET)
    with pytest.raises(UsageError, match="clew visits import"):
        VisitsDatabase(tmp_path / "none.db")
