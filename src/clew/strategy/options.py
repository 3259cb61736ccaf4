"""Options of strategies: what may be said, within which bounds, and an error that names the nearest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from clew.errors import ConfigError
from clew.spelling import closest


@dataclass(frozen=True, slots=True)
class NumberOption:
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
class ChoiceOption:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, value: object) -> str:
        """The word; ValueError says which there are."""
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(f"one of {', '.join(self.words)}")
        return value


@dataclass(frozen=True, slots=True)
class NamesOption:
    """Some of a few words, as a list or with commas between them.

    Parameters: what gives the words there are, asked when there is something to read; `canonical`, which
    gives the present word for one of earlier times.
    """

    words: Callable[[], tuple[str, ...]]
    canonical: Callable[[str], str] = str

    def read(self, value: object) -> tuple[str, ...]:
        """The words; ValueError says which there are."""
        given = value.replace(",", " ").split() if isinstance(value, str) else value
        words = self.words()
        if isinstance(given, list | tuple):
            found = [self.canonical(word) if isinstance(word, str) else word for word in given]
            if found and all(word in words for word in found):
                return tuple(dict.fromkeys(found))
        raise ValueError(f"some of {', '.join(words)}")


Option = NumberOption | ChoiceOption | NamesOption


def nearest(word: str, known: tuple[str, ...]) -> str:
    """`: did you mean 'x'?` for the closest known word, else the choice there is.

    >>> nearest("decoy", ("decay", "beta"))
    ": did you mean 'decay'?"
    """
    close = closest(word, known)
    if close:
        return f": did you mean {close!r}?"
    return f": choose from {', '.join(known)}" if known else ""


def read(
    strategy: str, table: Mapping[str, Option], given: Mapping[str, object]
) -> dict[str, float | int | str | tuple[str, ...]]:
    """The given options, checked against a strategy's table.

    >>> read("shark", {"decay": NumberOption(0, 1)}, {"decay": "0.25"})
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
