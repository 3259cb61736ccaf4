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


@pytest.mark.slow
def test_the_figures_of_ariadne_are_reproduced_on_the_demo_web(tmp_path, capsys):
    """A focused crawler finds more than breadth-first, and some of it behind pages that are no finds."""
    asked = ["lab", "reproduce", "ariadne", "--quick", "--workers", "1", "--json", "--out", str(tmp_path)]
    assert run(asked) == 0
    precision, distances = json.loads(capsys.readouterr().out)
    assert (precision["name"], distances["name"]) == ("ariadne-precision", "ariadne-distances")
    for name in ("broad", "narrow"):
        for figure in ("precision", "distances"):
            assert ET.fromstring((tmp_path / f"ariadne-{figure}-{name}.svg").read_text()).tag == f"{SVG}svg"
    for sheet in precision["tables"][:2]:
        finds = {row[0]: int(row[4].partition("(")[2].rstrip(")")) for row in sheet["rows"]}
        assert finds["breadth-first"] < finds["simple focused"] <= finds["oracle"]
        assert finds["breadth-first"] < finds["tunnelling"] <= finds["oracle"]
    links, behind = distances["tables"][:2]
    assert [row[0] for row in links["rows"]] == ["breadth-first", "simple focused", "tunnelling"]
    for row, crossed in zip(links["rows"], behind["rows"], strict=True):
        assert sum(int(cell or 0) for cell in row[1:]) == sum(int(cell or 0) for cell in crossed[1:])
        assert any(crossed[2:]), "finds behind pages that are none"


def test_one_figure_of_ariadne_can_be_asked_for(tmp_path, capsys):
    asked = ["lab", "reproduce", "ariadne-distances", "--quick", "--workers", "1", "--json"]
    assert run([*asked, "--out", str(tmp_path)]) == 0
    (figure,) = json.loads(capsys.readouterr().out)
    assert figure["name"] == "ariadne-distances"


def test_the_figures_of_the_confidence_paper_have_its_numbers(tmp_path, capsys):
    document = tmp_path / "page.md"
    document.write_text("<!-- confidence -->\n<!-- /confidence -->\n")
    words = ["lab", "reproduce", "confidence", "--out", str(tmp_path / "out")]
    assert run([*words, "--quick", "--json"]) == 0
    (study,) = json.loads(capsys.readouterr().out)
    rows = {row[0]: row[1:] for row in study["tables"][0]["rows"]}
    assert rows["E[S]"] == ["7.210", "8.652"]
    assert rows["likeliest beyond 1"] == ["9", "9"]
    recursion, formula, _ = study["tables"][1]["rows"]
    assert recursion[1:] == formula[1:]
    assert (tmp_path / "out" / "confidence-reliability-irrelevant.svg").exists()
    assert run([*words, "--quick", "--docs", str(document)]) == 2
    assert "leave out one of the two" in capsys.readouterr().err
