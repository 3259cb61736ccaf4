"""What README.md tells a newcomer to type is understood, and its formulas parse."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from clew.cli.app import build
from clew.predicate import parse

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", README, re.M | re.S)
SHELL = "\n".join(BLOCKS).replace("\\\n", " ")
COMMANDS = sorted(
    set(re.findall(r"^(?:\$ )?clew ((?:crawl|lab|status|search|export|explain|check)\b.*)$", SHELL, re.M))
)
FORMULAS = next(block for block in BLOCKS if "atleast(" in block)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_one_that_clew_understands(line):
    """Verb, options and values are those of the command line; nothing is run."""
    words = shlex.split(line, comments=True)
    build().parse_args(words, exit_on_error=False, print_error=False)


def test_the_tour_has_every_verb_of_the_tour():
    verbs = {line.split()[0] for line in COMMANDS}
    assert verbs == {"crawl", "lab", "status", "search", "export", "explain", "check"}


@pytest.mark.parametrize("line", FORMULAS.splitlines())
def test_a_formula_of_the_summary_parses_and_prints_back_equal(line):
    for text in re.split(r" {2,}", line[:35].strip()):
        formula = parse(text, allow_python=True)
        assert parse(str(formula), allow_python=True) == formula


def test_the_library_example_is_python_that_uses_what_there_is():
    (block,) = re.findall(r"```python\n(.*?)```", README, re.S)
    compile(block, "README.md", "exec")
    import clew

    assert all(hasattr(clew, name) for name in re.findall(r"\bclew\.(\w+)", block))
    assert all(hasattr(clew.Run, name) or name == "finished" for name in re.findall(r"\brun\.(\w+)", block))
