"""`clew lab reproduce` through the real entry, on the demo web."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from clew.cli.app import run

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A figure that was reproduced."""
    place = tmp_path_factory.mktemp("reproduction")
    assert run(["lab", "reproduce", "figure-9", "--quick", "--out", str(place), "--workers", "1"]) == 0
    return place


def test_a_figure_leaves_plots_and_tables(out):
    names = sorted(file.name for file in out.iterdir())
    assert names == [
        "figure-9-hard.svg",
        "figure-9-wikispeedia.svg",
        "figure-9.json",
        "figure-9.md",
        "quick.jsonl",
    ]
    written = json.loads((out / "figure-9.json").read_text())
    table = written["tables"][0]
    assert table["headings"] == ["harvest from", "8 pages", "20 pages", "40 pages", "80 pages"]
    assert [row[0] for row in table["rows"]][-2:] == ["mean", "spread"]
    text = (out / "figure-9.md").read_text()
    assert "| harvest from | 8 pages |" in text
    assert "![" in text


def test_a_plot_is_a_document_of_its_own(out):
    root = ET.fromstring((out / "figure-9-hard.svg").read_text())
    assert root.tag == f"{SVG}svg"
    lines = root.findall(f".//{SVG}polyline")
    assert len(lines) == 5
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for line in lines:
        places = [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
    names = [text.text for text in root.findall(f"{SVG}text[@class='name']")]
    assert names == ["Art", "Market", "University", "Newspaper", "Internet"]
    assert not [element for element in root.iter() if "href" in element.attrib]


def test_it_is_the_same_again_and_goes_on(out, tmp_path, capsys):
    again = ["lab", "reproduce", "figure-9", "--quick", "--workers", "1", "--json"]
    crawls = (out / "quick.jsonl").read_bytes()
    assert run([*again, "--out", str(out)]) == 0
    assert (out / "quick.jsonl").read_bytes() == crawls
    assert run([*again, "--out", str(tmp_path)]) == 0
    for file in out.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert json.loads(first)[0]["name"] == "figure-9"


def test_a_document_is_filled(out, tmp_path, capsys, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("<!-- figure-9 -->\n<!-- /figure-9 -->\n")
    refused = ["lab", "reproduce", "figure-9", "--quick", "--out", str(tmp_path), "--docs", str(page)]
    assert run(refused) == 2
    assert "--quick" in capsys.readouterr().err
    # the full catalogue, made small behind the command's back
    from clew.lab import reproduce

    small = reproduce.figures(small=True)
    monkeypatch.setattr(reproduce, "figures", lambda small=False, made=small: made)
    (tmp_path / "crawls.jsonl").write_bytes((out / "quick.jsonl").read_bytes())
    assert run([word for word in refused if word != "--quick"]) == 0
    text = page.read_text()
    assert text.startswith("<!-- figure-9 -->\n\n*The paper.*")
    assert "](page/figure-9-hard.svg)" in text
    assert (tmp_path / "page" / "figure-9-hard.svg").is_file()


def test_a_wrong_name_lists_the_names(tmp_path, capsys):
    assert run(["lab", "reproduce", "figure-1", "--out", str(tmp_path / "none")]) == 2
    said = capsys.readouterr().err
    assert "figure-3" in said
    assert "statements" in said
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_the_2002_papers_order_is_reproduced_on_the_demo_web(tmp_path, capsys):
    """Following people does better than following links at random, and both together better than either."""
    asked = ["lab", "reproduce", "collaborative", "--quick", "--workers", "1", "--json"]
    assert run([*asked, "--out", str(tmp_path)]) == 0
    (figure,) = json.loads(capsys.readouterr().out)
    assert (tmp_path / "collaborative.md").is_file()
    for sheet in figure["tables"]:
        harvest = {row[0]: float(row[4].removesuffix(" %")) for row in sheet["rows"]}
        assert harvest["collaborative"] > harvest["breadth-first"]
        assert harvest["collaborative + linkage"] > max(harvest["collaborative"], harvest["learned"])
