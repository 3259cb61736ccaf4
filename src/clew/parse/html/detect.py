"""Guessing what bytes and texts are written in."""

from __future__ import annotations

import re
from functools import lru_cache

import turbohtml
from turbohtml import detect as _detect

_LATE_META = re.compile(
    rb"""<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE
)
_TWO_LETTERS = """
    afr:af aka:ak amh:am arb:ar ara:ar aze:az azj:az bel:be ben:bn bul:bg cat:ca ces:cs cmn:zh zho:zh dan:da
    deu:de ell:el eng:en epo:eo est:et fin:fi fra:fr guj:gu hau:ha heb:he hin:hi hrv:hr hun:hu hye:hy ind:id
    isl:is ita:it jav:jv jpn:ja kan:kn kat:ka kaz:kk khm:km kin:rw kor:ko lat:la lav:lv lit:lt mal:ml mar:mr
    mkd:mk mya:my nep:ne nld:nl nno:nn nob:no nor:no nya:ny ori:or orm:om pan:pa pes:fa fas:fa pol:pl por:pt
    ron:ro run:rn rus:ru sin:si slk:sk slv:sl sna:sn som:so spa:es srp:sr swe:sv swh:sw tam:ta tel:te tgl:tl
    tha:th tuk:tk tur:tr uig:ug ukr:uk urd:ur uzb:uz uzn:uz vie:vi yid:yi ydd:yi yor:yo zul:zu msa:ms zlm:ms
    bos:bs lao:lo
"""
#: ISO 639-3, as the detector speaks, to ISO 639-1.
_CODES = dict(pair.split(":") for pair in _TWO_LETTERS.split())


@lru_cache(maxsize=256)
def charset_name(label: str) -> str:
    """The standard's name for a charset label, lower case; empty for a label it does not know.

    >>> charset_name("latin1"), charset_name("utf8"), charset_name("klingon")
    ('windows-1252', 'utf-8', '')
    """
    try:
        return (turbohtml.parse(b"", encoding=label.strip()).encoding or "").lower()
    except (LookupError, ValueError):
        return ""


def detect_charset(body: bytes) -> str:
    """The charset a document without a label is in: its own `<meta>`, else the likeliest.

    >>> detect_charset(b"<meta charset=euc-jp>"), detect_charset("grün".encode())
    ('euc-jp', 'utf-8')
    """
    found = _detect.detect(body)
    name = (found.encoding or "windows-1252").lower()
    # The library reads declarations in the first kilobyte only. A later one beats a guess, and beats the
    # name that plain ASCII goes under.
    if found.confidence < 1 or (name == "windows-1252" and b"charset" not in body[:1024].lower()):
        late = _LATE_META.search(body, 1024, 16_384)
        if late:
            return charset_name(late[1].decode("ascii")) or name
    return name


def decode(body: bytes, name: str) -> str:
    """Bytes in one of the standard's charsets as text; what is not in it becomes U+FFFD."""
    return body.decode(f"whatwg-{name}", "replace")


def detect_language(text: str) -> tuple[str, float]:
    """Two-letter code of the language a text is in, and the detector's confidence; empty when it cannot tell.

    >>> detect_language("Windmühlen drehen sich im Wind")[0]
    'de'
    """
    found = _detect.detect_language(text)
    return _CODES.get(found.language or "", ""), found.confidence
