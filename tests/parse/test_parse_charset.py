"""Charsets and languages."""

from __future__ import annotations

import pytest

from clew.parse import decode, language, parse_page

GERMAN = (
    "Der Wind weht über das Meer, und die Mühlen drehen sich nicht mit der Zeit, das ist ein Gesetz von hier."
)
RUSSIAN = (
    "Ветряная электростанция — несколько ветрогенераторов, собранных в одном или нескольких местах и "
    "объединённых в единую сеть. Крупные ветряные электростанции могут состоять из ста и более установок."
)


@pytest.mark.parametrize(
    ("body", "header", "text", "charset"),
    [
        ("\ufeffgrün".encode(), "text/html; charset=latin1", "grün", "utf-8"),
        ("\ufeffgrün".encode("utf-16-le"), "", "grün", "utf-16le"),
        ("grün".encode("latin1"), 'text/html; charset="ISO-8859-1"', "grün", "windows-1252"),
        ("grün".encode(), "text/html; charset=klingon", "grün", "utf-8"),
        ("grün".encode(), "", "grün", "utf-8"),
        (b"<meta charset=iso-8859-2>\xb3", "", "<meta charset=iso-8859-2>ł", "iso-8859-2"),
        (
            b"<meta charset=iso-8859-2>\xb3",
            "text/html; charset=windows-1252",
            "<meta charset=iso-8859-2>³",
            None,
        ),
        (b"", "", "", "windows-1252"),
    ],
)
def test_mark_then_header_then_meta_then_detection(body, header, text, charset):
    """The order of authority."""
    found, name = decode(body, header)
    assert found == text
    assert charset in (None, name)


def test_a_late_meta_is_believed_over_a_guess():
    """A declaration behind a long comment still counts when the bytes alone are ambiguous."""
    body = b"<!--" + b"x" * 2000 + b"--><meta charset=iso-8859-2><p>\xb3\xf3d\xbc"
    assert decode(body)[1] == "iso-8859-2"


def test_xml_declarations_count_for_xml():
    """And UTF-8 is XML's default."""
    assert decode(b"<?xml version='1.0' encoding='iso-8859-2'?><a>\xb3</a>", xml=True)[1] == "iso-8859-2"
    assert decode("<a>ł</a>".encode(), xml=True)[1] == "utf-8"
    assert decode(b"<?xml version='1.0' encoding='utf-16'?><a>x</a>", xml=True)[0].endswith("<a>x</a>")


def test_undecodable_bytes_never_fail():
    """They become replacement characters."""
    assert decode(b"a\xff\xfe b", "text/html; charset=utf-8")[0] == "a\ufffd\ufffd b"
    page = parse_page(b"<p>\x81\x8d", url="http://a.example/", content_type="text/html; charset=shift_jis")
    assert page.charset == "shift_jis"


@pytest.mark.data
@pytest.mark.parametrize(("name", "passing"), [("tests1", 59), ("tests2", 22), ("test-yahoo-jp", 1)])
def test_charset_sniffing_suite(suite, name, passing):
    """All of html5lib's cases."""
    total, passed = 0, 0
    for block in suite(f"html/encoding/{name}.dat").read_bytes().split(b"#data\n")[1:]:
        data, _, expected = block.partition(b"\n#encoding\n")
        total += 1
        passed += decode(data)[1] == expected.split(b"\n")[0].decode().lower()
    assert (passed, total) == (passing, passing)


@pytest.mark.parametrize(
    ("text", "declared", "expected"),
    [
        (GERMAN, "", "de"),
        (GERMAN, "en", "de"),
        (RUSSIAN, "en", "ru"),
        (RUSSIAN, "", "ru"),
        ("too short", "fr-CA", "fr"),
        ("", "", ""),
        (GERMAN, "x-nonsense", "de"),
        (
            "The wind is in the sails of the ship and that was good for all of us with time to spare.",
            "",
            "en",
        ),
    ],
)
def test_language_is_the_declared_one_unless_the_text_says_otherwise(text, declared, expected):
    """Declared, detected, contradicted, unknown."""
    assert language(text, declared) == expected


def test_language_from_the_header():
    """Where the document says nothing."""
    page = parse_page(
        b"ok", url="http://a.example/", content_type="text/html", headers=[("Content-Language", "sv")]
    )
    assert page.language == "sv"
