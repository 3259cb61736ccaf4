"""Options of strategies: what may be said, within which bounds, and an error that names the nearest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from clew.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Number:
    """A number between two bounds, both allowed."""

    low: float
    high: float
    whole: bool = False

    def read(self, value: object) -> float | int:
        """The value as a number; ValueError says what was expected."""
        kind = "a whole number" if self.whole else "a number"
        wanted = f"{kind} from {self.low:g} to {self.high:g}"
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(wanted)
        try:
            number = float(value)
        except ValueError:
            raise ValueError(wanted) from None
        if not self.low <= number <= self.high or (self.whole and number != int(number)):
            raise ValueError(wanted)
        return int(number) if self.whole else number


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, value: object) -> str:
        """The word; ValueError says which there are."""
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(f"one of {', '.join(self.words)}")
        return value


@dataclass(frozen=True, slots=True)
class Names:
    """Some of a few words, as a list or with commas between them."""

    words: tuple[str, ...]

    def read(self, value: object) -> tuple[str, ...]:
        """The words; ValueError says which there are."""
        given = value.replace(",", " ").split() if isinstance(value, str) else value
        if not isinstance(given, list | tuple) or not given or not all(word in self.words for word in given):
            raise ValueError(f"some of {', '.join(self.words)}")
        return tuple(dict.fromkeys(given))


Option = Number | Choice | Names


def nearest(word: str, known: tuple[str, ...]) -> str:
    """`: did you mean 'x'?` for the closest known word, else the choice there is.

    >>> nearest("decoy", ("decay", "beta"))
    ": did you mean 'decay'?"
    """
    close = get_close_matches(word, known, 1)
    if close:
        return f": did you mean {close[0]!r}?"
    return f": choose from {', '.join(known)}" if known else ""


def read(
    strategy: str, table: Mapping[str, Option], given: Mapping[str, object]
) -> dict[str, float | int | str | tuple[str, ...]]:
    """The given options, checked against a strategy's table.

    >>> read("shark", {"decay": Number(0, 1)}, {"decay": "0.25"})
    {'decay': 0.25}
    """
    checked: dict[str, float | int | str | tuple[str, ...]] = {}
    for name, value in given.items():
        option = table.get(name)
        if option is None:
            raise ConfigError(
                f"the strategy {strategy!r} has no option {name!r}{nearest(name, tuple(table))}"
            )
        try:
            checked[name] = option.read(value)
        except ValueError as problem:
            raise ConfigError(f"the option {name!r} of {strategy!r} takes {problem}, not {value!r}") from None
    return checked
