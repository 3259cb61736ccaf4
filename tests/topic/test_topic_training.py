"""Topics learned from examples: what tells them apart, what is honest about the figures, what is refused."""

from __future__ import annotations

import builtins
import json
import os

import numpy as np
import pytest
from two_subjects import LAND, SEA, words_about

from clew.errors import StoreForeign, UsageError
from clew.page import Page
from clew.topic import Example, TopicScorers
from clew.training import TaxonomyFolder, read_library
from clew.training.documents import MAX_FILE, files_of, read_file, read_folder
from clew.training.folder import TopicSettings
from clew.training.sources import read_source
from clew.training.taxonomy_training import TopicTrainer, held_out_tables
from clew.training.train import ENOUGH, advice, like, reliability, roc_auc, train

COMMON = ["people", "morning", "road", "house", "weather", "number", "friend", "story", "market"]


def document(words: list[str], number: int) -> Example:
    """A page of some of the words, and of words that every page has; others for every number."""
    common = [COMMON[(number + i * 3) % len(COMMON)] for i in range(15)]
    text = " ".join([*words_about(words, number), *common, f"page{number}"])
    return Example(
        f"{words[0]}-{number}.txt", Page(url=f"http://a.example/{number}", text=text, language="en")
    )


def documents(words: list[str], count: int) -> list[Example]:
    return [document(words, number) for number in range(count)]


def ask(url: str) -> Page:
    return Page(url=url, title="Regatta", text="boat sail regatta")


@pytest.mark.parametrize("kind", ["linear", "bayes", "keyword"])
def test_every_kind_tells_the_topic_from_the_rest_on_examples_it_was_not_shown(kind):
    trained = train(documents(SEA, 24), documents(LAND, 24), kind=kind)
    held = trained.model.held_out
    assert held.auc > 0.95
    assert held.calibration_error < 0.1
    scorers = TopicScorers({"sea": trained.model})
    inside, outside = (scorers.page(document(words, 99).page).degrees[0] for words in (SEA, LAND))
    assert inside > 0.5 > outside
    assert {stem for stem, _ in trained.model.telling(5)} <= {*SEA}


def test_labels_that_mean_nothing_are_told_as_such():
    """The estimate is held out: a model that has learned its examples by heart does no better than chance."""
    mixed = documents(SEA + LAND, 40)
    trained = train(mixed[::2], mixed[1::2], kind="linear")
    assert trained.model.held_out.auc < 0.8


def test_positives_alone_train_a_keyword_list_and_nothing_else():
    trained = train(documents(SEA, 12), [], kind="keyword")
    scorers = TopicScorers({"sea": trained.model})
    assert scorers.page(document(SEA, 99).page).degrees[0] > 0.5
    assert scorers.page(Page(url="http://a.example/", text="something else entirely")).degrees[0] < 0.1
    assert trained.model.held_out.auc is None
    with pytest.raises(UsageError, match="--kind keyword"):
        train(documents(SEA, 12), [], kind="linear")


def test_words_alone_make_a_topic_and_a_weight_of_zero_keeps_a_word_out():
    model = train([], [], kind="keyword", keywords={"sailing": 2.0, "boats": 1.0}).model
    assert dict(zip(model.stems, model.weights, strict=True)).keys() == {"boat", "sail"}
    assert TopicScorers({"a": model}).page(Page(url="u", text="sailing boats " * 3)).degrees[0] > 0.5
    for kind in ("keyword", "linear"):
        without = train(documents(SEA, 24), documents(LAND, 24), kind=kind, keywords={"boat": 0.0}).model
        assert "boat" not in dict(without.telling(1000))
    with pytest.raises(UsageError, match="not one word"):
        train([], [], kind="keyword", keywords={"wind farm": 1.0})


def test_only_the_keyword_kind_is_trained_without_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] in ("sklearn", "scipy"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert train(documents(SEA, 12), documents(LAND, 12), kind="keyword").model.held_out.auc > 0.9
    with pytest.raises(UsageError, match=r"pip install 'clew\[topics\]', or use --kind keyword"):
        train(documents(SEA, 12), documents(LAND, 12), kind="linear")


def test_the_order_of_examples_changes_nothing():
    sea, land = documents(SEA, 12), documents(LAND, 12)
    one, other = train(sea, land, kind="keyword").model, train(sea[::-1], land[::-1], kind="keyword").model
    assert one.stems == other.stems
    assert one.weights == pytest.approx(other.weights, rel=1e-4)


def test_too_few_examples_are_told_with_how_many_would_do():
    few = train(documents(SEA, 6), documents(LAND, 24)).model
    assert advice("sea", few) == [f"sea has 6 examples: add {ENOUGH - 6} more, {ENOUGH} would do"]
    assert advice("sea", train(documents(SEA, 24), documents(LAND, 24)).model) == []


def test_like_is_one_for_the_example_and_nothing_for_another_subject():
    examples = documents(SEA, 1)
    scorers = TopicScorers({"a": like(examples)})
    assert scorers.page(examples[0].page).degrees[0] == pytest.approx(1.0, abs=1e-3)
    assert scorers.page(Page(url="u", text=" ".join(LAND))).degrees[0] == 0.0


def test_the_area_and_the_bins_by_hand():
    assert roc_auc(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, True, False, True])) == 0.875
    rows = reliability(np.array([0.05, 0.05, 0.95, 0.91]), np.array([False, True, True, True]))
    assert rows == [(0.05, 0.5, 0.5), (pytest.approx(0.93), 1.0, 0.5)]


# folders


@pytest.fixture
def taxonomy(tmp_path) -> TaxonomyFolder:
    folder = TaxonomyFolder.create(tmp_path / "topics")
    folder = folder.add("sports.sailing", TopicSettings()).add("farming", TopicSettings())
    folder.keep("sports.sailing", documents(SEA, 12))
    folder.keep("farming", documents(LAND, 12))
    return folder


def degrees_of(folder: TaxonomyFolder, page: Page) -> dict[str, float]:
    scorers = folder.library().scorers(folder.paths)
    return dict(zip(scorers.names, scorers.page(page).degrees.tolist(), strict=True))


def trained_all(folder: TaxonomyFolder) -> None:
    trainer = TopicTrainer(folder)
    for path in folder.paths:
        if trainer.is_stale(path):
            folder.save(path, trainer.train(path).model)


def test_a_taxonomy_that_is_sent_scores_as_it_did_where_it_was_made(taxonomy, tmp_path):
    trained_all(taxonomy)
    there = tmp_path / "colleague"
    taxonomy.folder.rename(there)
    library = read_library(there)
    assert library.taxonomy.topics == ("farming", "sports", "sports.sailing")
    scorers = library.scorers(library.models)
    degrees = dict(zip(scorers.names, scorers.page(document(SEA, 50).page).degrees, strict=True))
    assert degrees["sports.sailing"] > 0.5 > degrees["farming"]
    assert degrees["sports"] > 0.5, "an inner topic without examples takes those of its subtopics"


def test_a_topic_added_and_trained_later_changes_no_other(taxonomy):
    trained_all(taxonomy)
    before = {path: taxonomy.model(path).digest for path in taxonomy.paths}
    pages = [document(words, number).page for words in (SEA, LAND, COMMON) for number in range(20, 25)]
    alone = [degrees_of(taxonomy, page) for page in pages]
    larger = taxonomy.add("cooking", TopicSettings())
    larger.keep(
        "cooking",
        documents(["pan", "spice", "oven", "flour", "butter", "recipe", "onion", "soup", "salt"], 12),
    )
    trainer = TopicTrainer(larger)
    assert [path for path in larger.paths if trainer.is_stale(path)] == ["cooking"]
    trained_all(larger)
    assert {path: larger.model(path).digest for path in before} == before
    assert larger.model("cooking") is not None
    for page, told in zip(pages, alone, strict=True):
        among = degrees_of(larger, page)
        assert {path: among[path] for path in told} == told, "to the last bit"


def test_own_examples_kind_and_keywords_make_a_model_stale(taxonomy):
    trained_all(taxonomy)
    taxonomy.keep("farming", documents(LAND, 13))
    assert TopicTrainer(taxonomy).is_stale("farming")
    trained_all(taxonomy)
    taxonomy.change("farming", keywords={"cow": 2.0})
    assert TopicTrainer(taxonomy).is_stale("farming")
    assert not TopicTrainer(taxonomy).is_stale("sports.sailing")


def test_a_shared_example_is_refused_with_both_files(taxonomy):
    taxonomy.keep("farming", documents(SEA, 1))
    with pytest.raises(UsageError) as caught:
        TopicTrainer(taxonomy)
    assert "farming/positive/" in str(caught.value)
    assert "sports/sailing/positive/" in str(caught.value)


def test_the_test_counts_who_is_taken_for_whom(taxonomy):
    trainer = TopicTrainer(taxonomy)
    trained = {path: trainer.train(path) for path in ("farming", "sports.sailing")}
    found = held_out_tables(trained, {path: taxonomy.own_examples(path) for path in taxonomy.paths})
    assert sum(found.confusion.values()) == 24
    assert found.confusion["farming", "farming"] >= 11
    assert sum(mass for _, _, mass in found.reliability) == pytest.approx(1.0)


def test_examples_of_any_teach_what_a_topic_is_not(taxonomy):
    taxonomy.keep("any", documents(COMMON, 5))
    assert len(TopicTrainer(taxonomy).negatives("sports.sailing")) == 17


def test_a_folder_of_both_kinds_a_file_and_a_url_are_sources(tmp_path):
    for side, words in (("positive", SEA), ("negative", LAND)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.txt").write_text(" ".join(words))
    found = read_source(str(tmp_path), ask)
    assert {side: len(examples) for side, examples in found.items()} == {"positive": 1, "negative": 1}
    assert read_source(str(tmp_path / "positive" / "a.txt"), ask)["positive"][0].page.text == " ".join(SEA)
    assert read_source("https://a.example/", ask)["positive"][0].page.title == "Regatta"


# hostile input: one sentence that says what to do


def refused(work, *said: str) -> None:
    with pytest.raises((UsageError, StoreForeign)) as caught:
        work()
    message = str(caught.value)
    assert "\n" not in message
    for part in said:
        assert part in message


def test_an_empty_file_a_binary_and_a_huge_text_are_no_examples(tmp_path):
    empty, binary, huge = (tmp_path / name for name in ("empty.txt", "picture.html", "huge.txt"))
    empty.write_bytes(b" \n")
    binary.write_bytes(bytes(range(256)) * 10)
    with huge.open("wb") as file:
        file.truncate(5 * MAX_FILE)
    refused(lambda: read_file(empty), "empty.txt is empty", "remove it")
    refused(lambda: read_file(binary), "picture.html is no text", "give HTML, plain text or PDF")
    # Compressed or encrypted: a byte of 0 may come late, or not at all.
    for late in (b"x" * 2000 + b"\0", bytes(range(1, 256)) * 4):
        binary.write_bytes(late)
        refused(lambda: read_file(binary), "picture.html is no text", "give HTML, plain text or PDF")
    refused(lambda: read_file(huge), "huge.txt has more than 10 MB", "cut it into documents")
    refused(lambda: read_file(tmp_path / "gone.txt"), "cannot be read", "check the name")
    signs = tmp_path / "signs.txt"
    signs.write_text("... --- ...")
    refused(lambda: read_file(signs), "has no words")
    refused(lambda: read_folder(tmp_path / "nowhere"), "cannot be read")
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps({"url": 3}))
    refused(lambda: read_file(kept), "is no example kept by clew", "remove it")


def test_a_folder_that_leads_back_to_itself_is_told(tmp_path):
    folder = tmp_path / "loop"
    folder.mkdir()
    (folder / "a.txt").write_text("sail")
    os.symlink(folder, folder / "again")
    refused(lambda: files_of(folder), "leads back to a folder it lies in: remove the link")


def test_a_taxonomy_with_a_cycle_is_told(taxonomy):
    os.symlink(taxonomy.folder / "sports", taxonomy.folder / "sports" / "sailing" / "sports")
    refused(
        lambda: TaxonomyFolder.open(taxonomy.folder), "leads back to a folder it lies in: remove the link"
    )


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("taxonomy.toml", "clew-taxonomy = 7", "does not say clew-taxonomy = 1"),
        ("taxonomy.toml", "[[[", "cannot be read"),
        ("taxonomy.toml", "clew-taxonomy = 1\nprior = 3", "prior is a share between 0 and 1"),
        ("farming/topic.toml", 'kind = "magic"', "kind is one of keyword, bayes, linear"),
        ("farming/topic.toml", "[keywords]\nsail = nan", "weights from 0 to 1000"),
        ("farming/model.json", '{"clew-topic-model": 2}', "is of version 2"),
        ("farming/model.json", '{"clew-topic-model": 1, "bias": NaN}', "holds NaN"),
        ("farming/model.json", "\x00\x01", "is damaged"),
    ],
)
def test_damaged_files_of_a_taxonomy_are_told_in_a_sentence(taxonomy, file, text, said):
    (taxonomy.folder / file).write_text(text)

    def read() -> None:
        folder = TaxonomyFolder.open(taxonomy.folder)
        folder.settings("farming")
        folder.library()

    refused(read, said, file.rpartition("/")[2])


def test_a_topic_without_examples_says_how_to_add_some(taxonomy):
    folder = taxonomy.add("cooking", TopicSettings())
    refused(lambda: TopicTrainer(folder).train("cooking"), "cooking", "clew topic add cooking FILE")


def test_names_that_are_no_topics_are_refused(taxonomy):
    for name in ("a..b", "..", "a/b", "positive", "x" * 100, ".".join("abcdefghijklmnopqrstuvw")):
        refused(lambda name=name: taxonomy.add(name, TopicSettings()), "topic")
    refused(lambda: taxonomy.add("farming", TopicSettings()), "is there already")
    refused(lambda: taxonomy.find("farmin"), "did you mean 'farming'?")
