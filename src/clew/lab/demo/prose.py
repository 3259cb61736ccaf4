"""Sentences that read like somebody's, made of a topic's words: titles, paragraphs, whole articles."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from clew.lab.demo.dice import Dice

#: Sentence shapes by language. `a` and `b` are whole clauses, the rest are words.
SHAPES: dict[str, tuple[str, ...]] = {
    "en": (
        "{a} {how}.",
        "In {place}, {a} {how}.",
        "{name} of {place} remembers that {a}.",
        "Since {year}, {a}, and {b}.",
        "Although {a}, {b} {how}.",
        "By the spring of {year} {a}, which surprised nobody in {place}.",
        "According to {name}, {a} at least {count} times {how}.",
        "When {a}, {b}, as the records of {place} show.",
        "{count} people from {place} watched while {a}.",
        "Nobody asked why {a} until {b} in {year}.",
        "{a} first; only then {b}.",
        "“{a} {how},” said {name}, “and later {b}.”",
    ),
    "de": (
        "{a} {how}.",
        "In {place} hieß es im Jahr {year}: {a}.",
        "{name} aus {place} berichtet: {a}, und {b}.",
        "{a}, und {b} {how}.",
        "Seit {year} ist bekannt: {a}.",
        "„{a} {how}“, sagte {name}, „und {b}.“",
        "Rund {count} Menschen aus {place} waren dabei; {a}.",
        "{a}, aber {b}, wie {name} schreibt.",
    ),
}


@dataclass(frozen=True, slots=True)
class TopicWords:
    """The words of one topic."""

    name: str
    lang: str
    core: tuple[str, str]
    """The terms that its articles have and no other page has."""
    sites: tuple[str, ...]
    sections: tuple[str, ...]
    subjects: tuple[str, ...]
    verbs: tuple[str, ...]
    objects: tuple[str, ...]
    manners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InventedNames:
    """Invented places and people, shared by all topics."""

    places: tuple[str, ...]
    given: tuple[str, ...]
    family: tuple[str, ...]

    def person(self, dice: Dice) -> str:
        """A full name."""
        return f"{dice.pick(self.given)} {dice.pick(self.family)}"


@cache
def vocabulary() -> tuple[InventedNames, dict[str, TopicWords]]:
    """All names and topics."""
    data: dict[str, Any] = tomllib.loads(
        resources.files(__package__).joinpath("vocabulary.toml").read_text("utf-8")
    )
    names = InventedNames(tuple(data["places"]), tuple(data["given"]), tuple(data["family"]))
    topics = {}
    for name, words in data["topic"].items():
        lists = {key: tuple(value) for key, value in words.items() if key != "lang"}
        topics[name] = TopicWords(name=name, lang=words.get("lang", "en"), **lists)
    return names, topics


def title(topic: TopicWords, dice: Dice) -> tuple[str, str]:
    """A full title, which may have a core term, and a shy one for readers elsewhere, which never has.

    >>> full, shy = title(vocabulary()[1]["wind"], Dice(1))
    >>> any(core in shy.lower() for core in ("wind farm", "turbine"))
    False
    """
    names, _ = vocabulary()
    place = dice.pick(names.places)
    joint = "in" if topic.lang == "de" else "at"
    subject, thing = dice.pick(topic.subjects), dice.pick(topic.objects)
    shy = f"{_bare(subject)} {joint} {place}"
    if dice.chance(0.5):
        shy = f"{place}: {_bare(thing)}"
    full = f"{dice.pick(topic.core)} {joint} {place}: {_bare(thing)}" if dice.chance(0.6) else shy
    return _capital(full), _capital(shy)


def slug(text: str) -> str:
    """A title as part of a URL.

    >>> slug("The gust profile: Marlow Point")
    'the-gust-profile-marlow-point'
    """
    plain = text.lower()
    for letter, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        plain = plain.replace(letter, letters)
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


class ArticleWriter:
    """Writes one page: it favours some of its topic's words over others, as people do."""

    def __init__(self, topic: TopicWords, dice: Dice) -> None:
        self.topic = topic
        self.dice = dice
        self.names = vocabulary()[0]
        self.subjects = dice.some(topic.subjects, dice.between(5, 9))
        self.verbs = dice.some(topic.verbs, dice.between(6, 9))
        self.objects = dice.some(topic.objects, dice.between(7, 12))
        self.places = dice.some(self.names.places, dice.between(2, 5))

    def paragraphs(self, sentences: int, *, core: bool) -> list[str]:
        """Running text; with `core`, both core terms occur, and about every third sentence has one."""
        marks = set(self.dice.some(range(sentences), max(2, sentences // 3))) if core else set()
        written, seen = [], 0
        for i in range(sentences):
            term = ""
            if i in marks:
                term = self.topic.core[seen] if seen < 2 else self.dice.pick(self.topic.core)
                seen += 1
            written.append(self.sentence(term))
        return self._grouped(written)

    def sentence(self, term: str = "") -> str:
        """One sentence, about `term` if there is one."""
        dice = self.dice
        clauses = [self._clause(term), self._clause()]
        text = dice.pick(SHAPES[self.topic.lang]).format(
            a=clauses[0],
            b=clauses[1],
            how=dice.pick(self.topic.manners),
            place=dice.pick(self.places),
            name=self.names.person(dice),
            year=dice.between(1950, 2024),
            count=dice.between(3, 900),
        )
        return _capital(text)

    def _clause(self, term: str = "") -> str:
        dice = self.dice
        subject, thing = dice.pick(self.subjects), dice.pick(self.objects)
        if term and self.topic.lang == "de":
            thing = f"beim {term} {thing}"
        elif term:
            named = f"the {term} near {dice.pick(self.places)}"
            subject, thing = (named, thing) if dice.chance(0.5) else (subject, named)
        return f"{subject} {dice.pick(self.verbs)} {thing}"

    def _grouped(self, sentences: list[str]) -> list[str]:
        paragraphs = []
        while sentences:
            n = self.dice.between(2, 5)
            paragraphs.append(" ".join(sentences[:n]))
            sentences = sentences[n:]
        return paragraphs


def _bare(phrase: str) -> str:
    return re.sub(r"^(the|a|an|our|die|der|das|den) ", "", phrase)


def _capital(text: str) -> str:
    start = 1 if text[:1] in "“„" else 0
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]
