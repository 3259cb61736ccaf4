"""Topics from the labels of a recorded web."""

from __future__ import annotations

from clew.fetch import Response
from clew.lab.label_topics import label_examples, label_library
from clew.lab.parsed_web import ParsedWeb

WORDS = {
    "Sea.Boats": "boat sail mast keel",
    "Sea.Fish": "trout salmon gill fin",
    "Land": "barn wheat plough cow",
}


class Web:
    """Twelve pages of each label, and one that has two."""

    name = "labelled"

    def urls(self):
        names = [*WORDS, "both"]
        return iter(
            [f"http://a.example/{name}/{i}" for name in names for i in range(12 if name in WORDS else 1)]
        )

    def labels(self, url):
        name = url.split("/")[3]
        return (f"subject.{name}",) if name in WORDS else ("subject.Land", "subject.Sea.Boats")

    def get(self, url):
        name, number = url.split("/")[3:]
        text = f"{WORDS.get(name, 'boat barn')} of number{number} and more"
        headers = (("Content-Type", "text/plain"),)
        return Response(url=url, status=200, headers=headers, body=text.encode())


def test_labels_become_a_tree_of_topics_that_tell_their_pages_from_others():
    web = ParsedWeb(Web(), dead_links=False, robots=False)
    examples = label_examples(web, 10)
    assert {path: len(found) for path, found in examples.items()} == dict.fromkeys(
        ("sea.boats", "sea.fish", "land"), 10
    )
    assert not any("both" in one.place for found in examples.values() for one in found)
    library = label_library(examples)
    assert library.taxonomy.topics == ("land", "sea", "sea.boats", "sea.fish")
    scorers = library.scorers(library.models)
    for path in ("Sea.Boats/3", "Sea.Fish/3", "Land/3"):
        page = web.page(f"http://a.example/{path}")
        told = dict(zip(scorers.names, scorers.page(page).degrees >= 0.5, strict=True))
        mine = path.partition("/")[0].casefold()
        assert {name for name, yes in told.items() if yes} == {mine, mine.partition(".")[0]}
    assert {*label_library(examples, ["sea.fish"]).models} == {"sea", "sea.fish"}
