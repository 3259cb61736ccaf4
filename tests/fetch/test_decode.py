"""Content encodings: exact, bounded, and forgiving of damage."""

from __future__ import annotations

import gzip
import random
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from clew.fetch.decode import MAX_MEMBERS, PIECE, Decoder

TEXT = b"".join(b"<p>wind farm number %d</p>\n" % i for i in range(4000))


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


ENCODE = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
PACKED = {coding: encode(TEXT) for coding, encode in ENCODE.items()}
CODINGS = st.sampled_from(sorted(ENCODE))


def decode(encoding: str, data: bytes, limit: int = 10**7, step: int = 10**9) -> Decoder:
    decoder = Decoder(encoding, limit)
    for start in range(0, len(data), step):
        if not decoder.feed(data[start : start + step]):
            break
    return decoder


@given(st.binary(max_size=3000), st.lists(CODINGS, max_size=4), st.integers(1, 500))
def test_stacked_encodings_are_undone_however_the_bytes_arrive(data, codings, step):
    packed = data
    for coding in codings:
        packed = ENCODE[coding](packed)
    decoder = decode(", ".join(codings), packed, step=step)
    assert decoder.body() == data
    assert not decoder.truncated()


@given(CODINGS, st.integers(0, len(TEXT) + 10), st.sampled_from([1, 7, 1000, 10**9]))
def test_the_limit_is_exact(coding, limit, step):
    decoder = decode(coding, PACKED[coding], limit, step)
    assert decoder.body() == TEXT[:limit]
    assert decoder.truncated() == (limit < len(TEXT))


@given(CODINGS, st.data())
def test_a_stream_that_breaks_off_gives_a_beginning_and_is_marked(coding, data):
    packed = PACKED[coding]
    decoder = decode(coding, packed[: data.draw(st.integers(1, len(packed) - 1))])
    assert TEXT.startswith(decoder.body())
    assert decoder.truncated()


@given(CODINGS, st.binary(min_size=1, max_size=200))
def test_garbage_never_raises(coding, data):
    decode(coding, data).truncated()


@given(CODINGS, st.integers(20, 2000), st.integers(0, 255))
def test_damage_in_the_middle_never_raises(coding, where, byte):
    packed = bytearray(PACKED[coding])
    packed[where % len(packed)] = byte
    decoder = decode(coding, bytes(packed))
    assert decoder.truncated() or len(decoder.body()) > 0


def test_bare_deflate_is_understood():
    assert decode("deflate", raw_deflate(TEXT), step=1).body() == TEXT


@pytest.mark.parametrize("encoding", ["", "identity", "utf-8", "none", "aws-chunked", " , "])
def test_encodings_that_are_none_leave_the_body_alone(encoding):
    decoder = decode(encoding, TEXT)
    assert decoder.body() == TEXT
    assert not decoder.encoded
    assert not decoder.truncated()


def test_output_left_behind_by_a_full_piece_is_not_lost():
    """All input can be used up while the last bytes of output are still to come."""
    for extra in range(0, 600, 7):
        decoder = decode("deflate", raw_deflate(bytes(PIECE + extra)))
        assert len(decoder) == PIECE + extra
        assert not decoder.truncated()


def test_a_wrong_checksum_costs_nothing_but_the_mark():
    packed = bytearray(gzip.compress(TEXT))
    packed[-8] ^= 1
    decoder = decode("gzip", bytes(packed))
    assert decoder.body() == TEXT
    assert decoder.damaged
    assert decoder.truncated()


def test_members_and_frames_are_joined_and_rubbish_behind_gzip_is_ignored():
    half = len(TEXT) // 2
    for coding in ("gzip", "zstd"):
        assert decode(coding, ENCODE[coding](TEXT[:half]) + ENCODE[coding](TEXT[half:])).body() == TEXT
    decoder = decode("gzip", gzip.compress(TEXT) + b"\0" * 100)
    assert decoder.body() == TEXT
    assert not decoder.truncated()


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_flood_of_empty_members_is_given_up(coding):
    decoder = decode(coding, ENCODE[coding](b"") * (MAX_MEMBERS + 10))
    assert decoder.damaged


def test_absurd_stacks_are_refused():
    assert decode("gzip, " * 5 + "gzip", b"x").useless()


def test_a_body_that_is_not_what_it_says_is_useless_and_an_empty_one_is_not():
    assert decode("gzip", b"<html>").useless()
    assert not decode("gzip", b"").useless()
    assert not decode("gzip", b"").truncated()


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate"])
def test_memory_is_bounded_within_one_chunk(coding):
    """64 MB of zeros in one chunk, with a limit of 1 MB: never more than a few pieces are held.

    Only what Python allocates is traced here; the suites' test measures the whole process.
    """
    zeros = bytes(64 * 2**20)
    bomb = brotli.compress(zeros, quality=1) if coding == "br" else ENCODE[coding](zeros)
    tracemalloc.start()
    try:
        decoder = decode(coding, bomb, limit=2**20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(decoder) == 2**20
    assert decoder.full
    assert peak < 16 * 2**20


def test_a_bomb_within_a_bomb_stops_at_the_outer_limit():
    inner = gzip.compress(bytes(64 * 2**20))
    assert len(decode("gzip, br", brotli.compress(inner), limit=1000)) == 1000
    # Nothing comes out of the inner stream, yet the outer one must not run on for ever.
    outer = brotli.compress(b"\x1f\x8b\x08\x00" + bytes(6) + b"\x00\x00\x00\xff\xff" * 10**6)
    decoder = decode("gzip, br", outer, limit=10_000)
    assert len(decoder) == 0
    assert decoder.full


@pytest.mark.parametrize("coding", ["br", "gzip", "zstd"])
@pytest.mark.slow
def test_what_unfolds_beyond_reason_is_cut_early_and_a_page_that_packs_well_is_not(coding):
    """A bomb stops at a megabyte though ten are allowed; text at a tenth of its size stays whole."""
    decoder = decode(coding, ENCODE[coding](bytes(8 * 2**20)), limit=10_000_000)
    assert 2**20 <= len(decoder) < 2**21
    assert decoder.full
    dice = random.Random(1)
    words = [dice.randbytes(4).hex() for _ in range(500)]
    text = " ".join(f"<td>{dice.choice(words)}</td>" * 8 for _ in range(30_000)).encode()
    decoder = decode(coding, ENCODE[coding](text), limit=10_000_000)
    assert decoder.body() == text
