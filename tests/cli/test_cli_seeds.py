"""Seeds as users give them: addresses without a scheme, files, the standard input, sitemaps and feeds."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from clew.store import open_reader

SITEMAP = "<urlset><url><loc>{}</loc></url><url><loc>{}</loc></url></urlset>"
FEED = "<rss><channel><item><link>{}</link></item><item><link>{}</link></item></channel></rss>"


def seeds_of(directory: Path) -> list[str]:
    reader = open_reader(directory)
    try:
        return list(reader.meta()["config"]["seeds"])
    finally:
        reader.close()


def crawl(clew, site, *seeds):
    return clew("crawl", *seeds, "-m", site.formula, "-d", "farms", *site.options(2))


@pytest.mark.parametrize("way", ["--seeds-file", "@", "-", "--seeds-file -"])
def test_seeds_come_from_a_file_or_the_standard_input(clew, site, tmp_path, monkeypatch, way):
    text = f"# where to begin\n\n  {site.seeds[0]}\n{site.seeds[1]}\n{site.seeds[0]}\n"
    (tmp_path / "seeds.txt").write_text("\ufeff" + text, "utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    given = {"--seeds-file": "--seeds-file seeds.txt", "@": "@seeds.txt"}.get(way, way)
    said = crawl(clew, site, *given.split())
    assert said.code in (0, 3), said.err
    assert seeds_of(tmp_path / "farms") == list(site.seeds[:2])


@pytest.mark.parametrize("form", [SITEMAP, FEED])
@pytest.mark.parametrize("packed", [False, True])
def test_a_sitemap_or_feed_is_a_list_of_seeds(clew, site, tmp_path, form, packed):
    body = form.format(*site.seeds[:2]).encode()
    (tmp_path / "list.xml").write_bytes(gzip.compress(body) if packed else body)
    assert crawl(clew, site, "@list.xml").code in (0, 3)
    assert seeds_of(tmp_path / "farms") == list(site.seeds[:2])


def test_the_obvious_scheme_is_taken_and_that_is_said(clew, site, tmp_path):
    given = ["example.org", "localhost:8000/a", "10.0.0.1", "www.example.org:80", "a.example?b=1"]
    said = crawl(clew, site, *given, "--time", "1s")
    assert "note: example.org is taken as https://example.org/\n" in said.err
    assert "note: 2 more without a scheme" in said.err
    assert seeds_of(tmp_path / "farms") == [
        "https://example.org/",
        "http://localhost:8000/a",
        "http://10.0.0.1/",
        "http://www.example.org:80/",
        "https://a.example?b=1",
    ]
    assert crawl(clew, site, "example.org").code == 2, "other seeds than the crawl began with"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("seeds.txt", "'seeds.txt' is a file, not an address: to take seeds from it, write @seeds.txt"),
        ("@none.txt", "the seeds in none.txt cannot be read: No such file or directory"),
        ("@empty.txt", "there is no address in empty.txt"),
        ("@bad.txt", "'not an address' is not a web address (line 2 of bad.txt)"),
        ("@index.xml", "index.xml is a list of sitemaps, not of pages"),
        ("@page.xml", "the seeds in page.xml cannot be read: <html> is not a sitemap"),
        ("@latin.txt", "it is no text in UTF-8"),
        ("wind", "'wind' is not a full URL"),
        ("ftp://example.org/", "seeds start with http:// or https://"),
    ],
)
def test_what_gives_no_seed_says_why(clew, site, tmp_path, given, says):
    (tmp_path / "seeds.txt").write_text(site.seeds[0])
    (tmp_path / "empty.txt").write_text("# nothing yet\n")
    (tmp_path / "bad.txt").write_text(f"{site.seeds[0]}\nnot an address\n")
    (tmp_path / "latin.txt").write_bytes("https://example.org/\xe9".encode("latin-1"))
    (tmp_path / "index.xml").write_text(
        "<sitemapindex><sitemap><loc>https://example.org/a.xml</loc></sitemap></sitemapindex>"
    )
    (tmp_path / "page.xml").write_text("<html><body>a</body></html>")
    said = crawl(clew, site, given)
    assert (said.code, says in said.err) == (2, True), said.err
    assert not (tmp_path / "farms").exists()


def test_the_dice_have_a_name_of_their_own_and_their_former_one_is_taken(clew, site, tmp_path):
    for name in ("--random-seed", "--seed"):
        said = clew(
            "crawl", *site.seeds, "-m", site.formula, "-d", name.strip("-"), *site.options(2), name, "3"
        )
        assert said.code in (0, 3), said.err
        reader = open_reader(tmp_path / name.strip("-"))
        assert reader.meta()["config"]["random_seed"] == 3
        reader.close()
    shown = clew("crawl", "--help").out
    assert "--random-seed" in shown
    assert "--seed " not in shown
