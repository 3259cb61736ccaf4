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
        (("forget", "v.db"), "--person HASH or --before DATE"),
        (("forget", "v.db", "--before", "soon"), "a date such as"),
        (("import", "x.log", "-o", tmp_path / "config" / "clew" / "v.db"), "beside the data"),
    ):
        said = clew("visits", *words)
        assert said.code != 0
        assert hint in said.err
