"""Visits by the command line: logs taken in, looked at, forgotten."""

LINE = "1700000000.000 12 192.0.2.7 TCP_MISS/{} 5 GET http://a.example/{} - HIER_DIRECT/192.0.2.1 text/html\n"


def test_logs_are_taken_in_audited_and_forgotten(clew, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "logs").mkdir()
    log = tmp_path / "logs" / "access.log"
    log.write_text(LINE.format(200, "x") + LINE.format(404, "y") + "a \x1b[31mbroken line\n")
    said = clew("visits", "import", log, "-o", "visits.db")
    assert said.code == 0, said.err
    assert "squid, 3 lines, 1 visits" in said.out
    assert "left out: error" in said.out
    assert "malformed: control characters, such as a [31mbroken line" in said.out
    again = clew("visits", "import", log, "-o", "visits.db", "--json").json()
    assert (again["state"], again["lines"], again["visits"]) == ("known", 3, 1)
    audited = clew("visits", "audit", "visits.db", "--identity", "192.0.2.7", "--json").json()
    assert (audited["visits"], audited["people"], audited["person"]["visits"]) == (1, 1, 1)
    assert "not kept: addresses" in clew("visits", "audit", "visits.db").out
    gone = clew("visits", "forget", "visits.db", "--person", audited["person"]["person"], "--json").json()
    assert gone == {"forgotten": 1}
    assert clew("visits", "audit", "visits.db", "--json").json()["visits"] == 0


def test_what_is_wrong_is_said_with_what_to_do(clew, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "x.log").write_text("neither this\nnor that\n")
    for words, hint in (
        (("import", "x.log", "-o", "v.db"), "--columns"),
        (("import", "none.log", "-o", "v.db"), "cannot be read"),
        (("import", "-o", "v.db"), "give the logs"),
        (("audit", "none.db"), "clew visits import"),
        (("audit", "v.db", "--visits-a-day", "0"), "from 1 on"),
        (("audit", "v.db", "--session-gap", "soon"), "not a duration"),
        (("forget", "v.db"), "--person HASH or --before DATE"),
        (("forget", "v.db", "--before", "soon"), "a date such as"),
        (("forget", "v.db", "--person", "f" * 20), "a hash such as"),
        (("forget", "v.db", "--person", "123"), "a hash such as"),
        (("audit", "v.db", "--k", "0"), "from 1 on"),
        (("audit", "v.db", "--agent", "Mozilla"), "--identity"),
        (("audit", "v.db", "--identity", "x", "--key", tmp_path / "none" / "key"), "cannot be read"),
        (("audit", "."), "is a folder"),
        (("audit", "x.log"), "no database of visits"),
        (("import", "x.log", "-o", tmp_path / "none" / "v.db"), "there is no folder"),
        (("import", "x.log", "-o", tmp_path / "config" / "clew" / "v.db"), "beside the data"),
    ):
        said = clew("visits", *words)
        assert said.code != 0
        assert hint in said.err
    assert not (tmp_path / "none").exists()


def test_a_log_that_cannot_be_read_does_not_keep_the_others_out(clew, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "logs").mkdir()
    names = [tmp_path / "logs" / name for name in ("a.log", "empty.log", "junk.log", "b.log", "none.log")]
    names[0].write_text(LINE.format(200, "x"))
    names[1].write_text("")
    names[2].write_text("neither this\nnor that\n")
    names[3].write_text(LINE.format(200, "y"))
    said = clew("visits", "import", *names, "-o", "visits.db")
    assert said.code == 2
    assert "junk.log has no known format" in said.err
    assert "2 of 5 logs were not read to their end" in said.err
    assert clew("visits", "audit", "visits.db", "--json").json()["visits"] == 2


def test_whoever_is_told_apart_by_browser_is_found_by_it_and_forgotten_without_the_secret(
    clew, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "logs").mkdir()
    line = '192.0.2.1 - - [14/Nov/2023:22:13:20 +0000] "GET /a HTTP/1.1" 200 5 "-" "{}"\n'
    (tmp_path / "logs" / "a.log").write_text(line.format("Mozilla one") + line.format("Mozilla two"))
    asked = ("import", tmp_path / "logs" / "a.log", "-o", "v.db", "--site", "http://s.example/", "--by-agent")
    assert clew("visits", *asked).code == 0
    who = ("--identity", "192.0.2.1", "--agent", "Mozilla one")
    found = clew("visits", "audit", "v.db", *who, "--json").json()["person"]
    assert found["visits"] == 1
    (tmp_path / "config" / "clew" / "visits.key").unlink()
    assert clew("visits", "audit", "v.db", *who).code != 0
    assert clew("visits", "forget", "v.db", "--person", found["person"], "--json").json() == {"forgotten": 1}
    assert not (tmp_path / "config" / "clew" / "visits.key").exists()


def test_who_is_a_person_is_a_matter_of_limits(clew, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    line = "{}.000 12 192.0.2.{} TCP_MISS/200 5 GET http://a.example/{} - HIER_DIRECT/192.0.2.1 text/html\n"
    # Of two people, one has five visits within a minute, then two an hour later.
    times = [(0, 7), (2, 7), (5, 7), (11, 7), (17, 7), (3600, 7), (3609, 7), (0, 8), (9, 8)]
    said = "".join(line.format(1_700_000_040 + at, who, n) for n, (at, who) in enumerate(sorted(times)))
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "access.log").write_text(said)
    assert clew("visits", "import", tmp_path / "logs" / "access.log", "-o", "visits.db").code == 0

    def audited(*words):
        found = clew("visits", "audit", "visits.db", *words, "--json").json()
        return [found[name] for name in ("people", "groups by day", "groups by minute", "sessions")]

    assert audited() == [2, 0, 0, 3]
    assert audited("--visits-a-day", "6") == [1, 1, 0, 1]
    assert audited("--visits-a-minute", "4") == [1, 0, 1, 1]
    assert audited("--session-gap", "2h") == [2, 0, 0, 2]
