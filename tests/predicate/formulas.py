"""Random formulas and pages for the laws."""

from __future__ import annotations

from hypothesis import strategies as st

from clew.page import Page
from clew.predicate import And, AtLeast, Formula, Not, Or, Weighted
from clew.predicate.atoms import HostAtom, Lang, LikeAtom, Number, Python, Regex, Text, TopicAtom, Type, Url

WORDS = ["wind", "farm", "turbine", "turbines", "noise", "sea", "the", "of", "Straße", "été", "风力"]
ODD = [
    "AND",
    "OR",
    "NOT",
    "atleast",
    "-x",
    "a-b",
    'say "x"',
    "back\\slash",
    "a:b",
    "x^2",
    "(y)",
    "a,b",
    "/z/",
]
ODD += ["~3 t", "don't", "t*", "*t", "a * b", "title:x", "é…", "x~2", "! x", "\u2028 q", "0", "_ u _", "\\*x"]

words = st.sampled_from(WORDS + ODD)
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(lambda s: s + "w")
phrases = st.lists(words | any_text, min_size=1, max_size=3).map(" ".join)
patterns = st.sampled_from(
    [
        "wind",
        "a/b",
        r"\d+",
        "[/]",
        r"x\\",
        r"a\\/b",
        "(a|b)+c",
        r"\bwind\b",
        "^w",
        "d$",
        r"w.*d",
        "é",
        '"',
        ")(",
    ]
).filter(lambda p: p != ")(")
addresses = st.sampled_from(
    [
        "*/blog/*",
        "https://a.example/",
        "a b",
        "/x/",
        "?q=1&r=2",
        "~user",
        "(p)",
        'q"',
        "\\",
        "é",
        "^",
        "-a",
        "*",
    ]
)


def texts() -> st.SearchStrategy[Text]:
    near = st.none() | st.integers(0, 9)
    fields = st.sampled_from(["", "", "title", "text", "main", "desc"])
    return st.builds(_text, phrases, fields, near)


def _text(text: str, field: str, near: int | None) -> Text:
    try:
        return Text(text, field, near)
    except ValueError:
        return Text("wind " + text + " w", field, near)


numbers = st.builds(
    Number,
    st.sampled_from(["words", "depth", "status"]),
    st.sampled_from(["=", "<", "<=", ">", ">="]),
    st.integers(0, 20),
) | st.builds(lambda low, more: Number("words", "..", low, low + more), st.integers(0, 9), st.integers(0, 9))

crisp = (
    st.builds(HostAtom, st.sampled_from(["a.example", "*.example", "*", "bücher.example", "x:80", "[::1]"]))
    | st.builds(Url, addresses)
    | numbers
    | st.builds(Lang, st.sampled_from(["en", "de", "*", "fr-CA"]))
    | st.builds(Type, st.sampled_from(["html", "text/*", "pdf", "application/xhtml+xml"]))
)
regexes = st.builds(
    Regex, patterns, st.sampled_from(["", "i", "ims"]), st.sampled_from(["", "url", "host", "title", "main"])
)
pure_atoms = texts() | crisp | regexes
bounds = st.none() | st.sampled_from([0.0, 0.5, 0.25, 1e-6]) | st.floats(0.0, 0.999)
topics = st.builds(TopicAtom, st.sampled_from(["any", "sailing", "Tourism.Rügen", "a-b.c_d", "风力"]), bounds)
likes = st.builds(LikeAtom, addresses.filter(str.strip) | phrases, bounds)
atoms = (
    pure_atoms
    | topics
    | likes
    | st.builds(Python, st.sampled_from(["m", "a.b"]), st.sampled_from(["f", "C.g"]))
)

weights = st.sampled_from([0.001, 0.5, 1.0, 2.0, 3.0, 1000.0]) | st.floats(0.001, 1000.0)


def _nodes(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(parts, min_size=2, max_size=4).map(tuple)
    return (
        st.builds(And, several)
        | st.builds(Or, several)
        | st.builds(Not, parts)
        | st.builds(Weighted, parts, weights)
        | st.builds(_atleast, several, st.integers(1, 6))
    )


def _atleast(parts: tuple[Formula, ...], count: int) -> Formula:
    try:
        return AtLeast(count, parts)
    except ValueError:
        return AtLeast(min(count, len(parts)), tuple(Not(And((part, part))) for part in parts))


def formulas(leaves: st.SearchStrategy[Formula] = pure_atoms) -> st.SearchStrategy[Formula]:
    return st.recursive(leaves, _nodes, max_leaves=8)


prose = st.lists(st.sampled_from([*WORDS, "winds", "farms", "is", "\n"]), max_size=25).map(" ".join)
pages = st.builds(
    Page,
    url=st.sampled_from(
        ["http://a.example/", "https://x.a.example/blog/Wind%20Farm?q=1", "http://b.example:80/é"]
    ),
    status=st.sampled_from([200, 404]),
    type=st.sampled_from(["text/html", "application/pdf", "application/xhtml+xml", ""]),
    title=prose,
    description=prose,
    text=prose,
    main=prose,
    language=st.sampled_from(["", "en", "de", "xx"]),
    depth=st.integers(0, 5),
)
