"""`clew topic new|add|train|list|show|test|remove`: topics of one's own, from examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import clean, put, put_json, put_table, say
from clew.cli.directories import Json
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.topic import Example, HeldOut
    from clew.training import TaxonomyFolder

Name = Annotated[
    str, Parameter(metavar="NAME", help="A topic: sailing, or tourism.rügen for one under another.")
]
Names = Annotated[str, Parameter(metavar="NAME", help="Topics; all of them if none is named.")]
Topics = Annotated[Path | None, Parameter(metavar="DIR", help="The folder of the topics (topics).")]
Kind = Annotated[str | None, Parameter(metavar="NAME", help="The kind of model: linear, bayes or keyword.")]
Keyword = Annotated[
    tuple[str, ...],
    Parameter(
        metavar="WORD=WEIGHT", negative=(), help="A word and its weight; 0 keeps it out; can be repeated."
    ),
]
Limit = Annotated[int, Parameter(metavar="N", help="How many words and examples (20).")]
Private = Annotated[
    tuple[str, ...], Parameter(negative=(), metavar="HOST|CIDR", help="A private host that may be asked.")
]
Proxy = Annotated[str | None, Parameter(metavar="URL", help="An HTTP proxy, http://host:port.")]
_CORPUS = "corpus:"


def new(name: Name, /, *, kind: Kind = None, keyword: Keyword = (), topics: Topics = None) -> None:
    """Make a topic, and the folder of topics if there is none."""
    from clew.training import TaxonomyFolder
    from clew.training.folder import NAME, TopicSettings

    words = _keywords(keyword)
    # Words without documents are a keyword list; what else could they be?
    chosen = _kind(kind) or ("keyword" if words else "linear")
    folder = TaxonomyFolder.create(topics or Path(NAME)).add(name, TopicSettings(chosen, words))
    path = folder.taxonomy.find(name)
    put(str(folder.folder.joinpath(*path.split("."))))
    say(
        f"next: clew topic add {path} FILE|FOLDER|URL|crawl:DIR"
        if not words
        else f"next: clew topic train {path}"
    )


def add(
    name: Name,
    /,
    *sources: Annotated[
        str, Parameter(metavar="SOURCE", help="Files, folders, URLs, crawl:DIR, corpus:NAME/LABEL.")
    ],
    negative: Annotated[bool, Parameter(negative=(), help="They show what the topic is not.")] = False,
    limit: Annotated[int | None, Parameter(metavar="N", help="At most so many from each source.")] = None,
    keyword: Keyword = (),
    topics: Topics = None,
    allow_private: Private = (),
    proxy: Proxy = None,
) -> None:
    """Add examples to a topic, or to any: pages about nothing in particular."""
    folder = _folder(topics)
    path = folder.find(name)
    words = _keywords(keyword)
    if not sources and not words:
        raise UsageError(
            "say where examples are: files, folders, http(s) URLs, crawl:DIR or corpus:NAME/LABEL"
        )
    if words:
        folder.change(path, keywords=words)
    for source in sources:
        for side, examples in _read(source, allow_private, proxy, limit).items():
            other = negative or side == "negative"
            count, known = folder.keep(path, examples[:limit], negative=other)
            again = f", {known} of them there already" if known else ""
            say(f"{clean(source)}: {count} {'negative ' if other else ''}examples{again}")
    if path != "any":
        say(f"next: clew topic train {path}")


def train(
    *names: Names,
    kind: Kind = None,
    every: Annotated[
        bool, Parameter(name="--all", negative=(), help="Also those whose examples have not changed.")
    ] = False,
    topics: Topics = None,
    json: Json = False,
) -> None:
    """Train topics that have no model, or whose own examples changed."""
    from clew.training.taxonomy_training import TopicTrainer
    from clew.training.train import advice

    folder = _folder(topics)
    chosen = _chosen(folder, names)
    for path in chosen if _kind(kind) else ():
        folder.change(path, kind=kind)
    trainer = TopicTrainer(folder)
    rows = []
    for path in chosen:
        if not (names or every or trainer.is_stale(path)):
            continue
        if not names and not trainer.positives(path) and not folder.settings(path).keywords:
            say(f"note: {path} has no examples yet: clew topic add {path} FILE")
            continue
        model = trainer.train(path).model
        folder.save(path, model)
        rows.append({"topic": path, "kind": model.kind, **_figures(model.held_out)})
        for sentence in advice(path, model):
            say(f"note: {sentence}")
    if json:
        put_json(rows)
    elif rows:
        _put_figures(rows)
    else:
        say("every topic is trained on the examples it has (--all trains them again)")


def list_topics(*, topics: Topics = None, json: Json = False) -> None:
    """List the topics, their examples, and how good their models are."""
    from clew.topic.taxonomy import walk_down

    folder = _folder(topics)
    rows = []
    for path, depth in walk_down(folder.taxonomy):
        if path not in folder.paths:
            continue
        model = folder.model(path)
        figures = _figures(model.held_out if model else None)
        rows.append(
            {
                "topic": path,
                "depth": depth,
                "kind": model.kind if model else None,
                "examples": folder.count(path),
                "negative": folder.count(path, "negative"),
                "auc": figures["auc"],
                "calibration_error": figures["calibration_error"],
            }
        )
    if json:
        put_json(rows)
        return
    shown = [
        (
            "  " * row["depth"] + row["topic"].rpartition(".")[2],
            row["kind"] or "not trained",
            *(row["examples"], row["negative"], _share(row["auc"]), _share(row["calibration_error"])),
        )
        for row in rows
    ]
    put_table(("topic", "model", "examples", "negative", "AUC", "off by"), shown, right=(2, 3, 4, 5))


def show(name: Name, /, *, limit: Limit = 20, topics: Topics = None, json: Json = False) -> None:
    """Show a topic: its telling words, its examples, its model."""
    folder = _folder(topics)
    path = folder.find(name)
    if path == "any":
        raise UsageError("any is every page: name a topic, such as those of clew topic list")
    model = folder.model(path)
    examples = {side: folder.own_examples(path, side) for side in ("positive", "negative")}
    result: dict[str, Any] = {
        "topic": path,
        "kind": model.kind if model else None,
        **_figures(model.held_out if model else None),
        "words": [
            {"stem": stem, "weight": weight} for stem, weight in (model.telling(limit) if model else ())
        ],
        "keywords": dict(folder.settings(path).keywords),
        "subtopics": list(folder.taxonomy.below(path)),
        "examples": {side: [_described(one) for one in found] for side, found in examples.items()},
    }
    if json:
        put_json(result)
        return
    kind = result["kind"] or "not trained: clew topic train " + path
    put(f"{path}  {kind}")
    if model and model.held_out and model.held_out.auc is not None:
        put(
            f"on examples it was not shown: AUC {_share(result['auc'])}, "
            f"degrees off by {_share(result['calibration_error'])}"
        )
    if result["words"]:
        put()
        put_table(
            ("telling word (stem)", "weight"),
            [(w["stem"], f"{w['weight']:.2f}") for w in result["words"]],
            right=(1,),
        )
    for side, found in result["examples"].items():
        if found:
            put()
            put(f"{side} examples: {len(found)}")
            for one in found[:limit]:
                put(f"  {clean(one['title'], 50) or '(no title)'}  {clean(one['file'])}")
            if len(found) > limit:
                put(f"  and {len(found) - limit} more")


def hold_out(*names: Names, kind: Kind = None, topics: Topics = None, json: Json = False) -> None:
    """Test topics on examples that are held out: who is taken for whom, and whether degrees can be
    believed."""
    from clew.training.taxonomy_training import TopicTrainer, held_out_tables

    folder = _folder(topics)
    trainer = TopicTrainer(folder)
    chosen = [path for path in _chosen(folder, names) if trainer.positives(path)]
    trained = {path: trainer.train(path, _kind(kind)) for path in chosen}
    result = held_out_tables(trained, {path: folder.own_examples(path) for path in folder.paths})
    rows = [{"topic": path, **_figures(held)} for path, held in result.held_out.items()]
    if json:
        confusion = [{"is": a, "taken_for": b, "count": n} for (a, b), n in sorted(result.confusion.items())]
        bins = [{"degree": mean, "share": share, "of_all": mass} for mean, share, mass in result.reliability]
        put_json({"topics": rows, "confusion": confusion, "reliability": bins})
        return
    _put_figures(rows)
    if result.confusion:
        put()
        _put_confusion(result.confusion)
    if result.reliability:
        put()
        shown = [(f"{mean:.2f}", f"{share:.2f}", f"{mass:.1%}") for mean, share, mass in result.reliability]
        put_table(("degree", "are about it", "of all"), shown, right=(0, 1, 2))


def remove(
    name: Name,
    /,
    *,
    topics: Topics = None,
    yes: Annotated[bool, Parameter(negative=(), help="Also if it has examples or subtopics.")] = False,
) -> None:
    """Remove a topic with its examples, model and subtopics."""
    folder = _folder(topics)
    path = folder.find(name)
    if path == "any":
        raise UsageError("any cannot be removed: it is the root of every taxonomy")
    count = folder.count(path) + folder.count(path, "negative")
    below = [topic for topic in folder.taxonomy.below(path) if topic in folder.paths]
    if (count or below) and not yes:
        raise UsageError(
            f"{path} has {count} examples and {len(below)} subtopics: give --yes to remove them all"
        )
    folder.remove(path)
    put(path)


def _folder(topics: Path | None) -> TaxonomyFolder:
    from clew.training import TaxonomyFolder
    from clew.training.folder import NAME

    return TaxonomyFolder.open(topics or Path(NAME))


def _chosen(folder: TaxonomyFolder, names: tuple[str, ...]) -> list[str]:
    found = list(dict.fromkeys(folder.find(name) for name in names)) if names else list(folder.paths)
    return [path for path in found if path != "any"]


def _kind(kind: str | None) -> str | None:
    from clew.topic import KINDS

    if kind is not None and kind not in KINDS:
        raise UsageError(f"there is no kind {kind!r}: choose {', '.join(KINDS)}")
    return kind


def _keywords(given: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in given:
        word, _, weight = text.partition("=")
        try:
            value = float(weight or 1)
        except ValueError:
            value = -1.0
        if not word.strip() or not 0 <= value <= 1000:
            raise UsageError(f"{text!r} is not a word with a weight from 0 to 1000: write sail=2")
        found[word.strip()] = value
    return found


def _read(
    source: str, allow_private: tuple[str, ...], proxy: str | None, limit: int | None
) -> dict[str, list[Example]]:
    from clew.run.settings import make_config
    from clew.run.topics import asker
    from clew.training.sources import is_url, read_source

    if source.startswith(_CORPUS):
        from clew.lab.corpus_examples import examples_of

        return {"positive": examples_of(source.removeprefix(_CORPUS), limit)}
    seed = source if is_url(source) else "https://example.org/"
    config = make_config({"seeds": (seed,), "match": "topic", "allow_private": allow_private, "proxy": proxy})
    return read_source(source, asker(config))


def _figures(held: HeldOut | None) -> dict[str, Any]:
    return {
        "positives": held.positives if held else None,
        "negatives": held.negatives if held else None,
        "auc": held.auc if held else None,
        "calibration_error": held.calibration_error if held else None,
    }


def _put_figures(rows: list[dict[str, Any]]) -> None:
    shown = [
        (
            row["topic"],
            row["positives"],
            row["negatives"],
            _share(row["auc"]),
            _share(row["calibration_error"]),
        )
        for row in rows
    ]
    put_table(("topic", "examples", "others", "AUC", "off by"), shown, right=(1, 2, 3, 4))
    measured = [row["auc"] for row in rows if row["auc"] is not None]
    if len(measured) > 1:
        put(f"mean AUC {sum(measured) / len(measured):.3f} on examples held out, of {len(measured)} topics")


def _put_confusion(confusion: Any) -> None:
    names = sorted({name for pair in confusion for name in pair})
    heads = [str(number) for number in range(1, len(names) + 1)]
    rows = [
        (f"{head} {name}", *(confusion.get((name, other), "") or "" for other in names))
        for head, name in zip(heads, names, strict=True)
    ]
    put_table(("is, taken for", *heads), rows, right=tuple(range(1, len(names) + 1)))


def _described(example: Example) -> dict[str, str]:
    return {"title": example.page.title, "url": example.page.url, "file": example.place}


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
