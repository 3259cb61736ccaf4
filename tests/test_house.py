"""The house rules that no linter knows: names, docstrings, links in documents, no traces of a machine."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
#: Spelled apart, so that this file passes its own test.
FOREIGN = re.compile("|".join(("/" + r"(?:work|root|opt|home)/\w", "pypi" + r"\.org")))
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.M | re.S)
_LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")


@cache
def tracked() -> list[Path]:
    """The files of the project, as the version control has them."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=HOME, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is not a git checkout: nothing says which files belong to the project")
    names = [name for name in listed.decode().split("\0") if name]
    return [HOME / name for name in names if (HOME / name).is_file()]


def documents() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".md"]


def prose(path: Path) -> str:
    """A document without its code blocks."""
    return _FENCE.sub("", path.read_text("utf-8"))


def anchors(path: Path) -> set[str]:
    """What `#…` may follow the document's name: its headings, as they are shown on the web."""
    headings = re.findall(r"^#+ +(.+?) *$", prose(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_no_file_names_a_place_on_somebodys_machine():
    """Paths and hosts of the machine a file was written on mean nothing on the next."""
    found = []
    for path in tracked():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(HOME)}: {hit.group()}" for hit in FOREIGN.finditer(text)]
    assert found == []


@cache
def sources() -> dict[str, ast.Module]:
    """The modules of the package, parsed, by their path below `src/clew`."""
    root = HOME / "src" / "clew"
    found = [path for path in tracked() if path.suffix == ".py" and root in path.parents]
    return {str(path.relative_to(root)): ast.parse(path.read_text("utf-8")) for path in found}


def test_no_public_class_name_stands_twice():
    """A name means one thing: whoever reads it need not ask which of several it is."""
    places: dict[str, list[str]] = {}
    for name, module in sources().items():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name)
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert twice == {}


def test_no_docstring_leans_on_the_one_before_it():
    """A docstring says what the thing is; it is read alone, in an editor or in `help`."""
    leaning = []
    for name, module in sources().items():
        for node in ast.walk(module):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                text = node.value.value
                if isinstance(text, str) and text.startswith(("The same", "As above")):
                    leaning.append(f"{name}:{node.lineno}: {text.splitlines()[0]}")
    assert leaning == []


def test_every_document_is_on_the_map():
    docs = HOME / "docs"
    targets = _LINK.findall(prose(docs / "index.md"))
    linked = {(docs / target.partition("#")[0]).resolve() for target in targets}
    below = [path for path in documents() if docs in path.parents and path != docs / "index.md"]
    assert [str(path.relative_to(docs)) for path in below if path not in linked] == []


def test_every_link_between_documents_leads_somewhere():
    dead = []
    for path in documents():
        for target in _LINK.findall(prose(path)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            goal = (path.parent / name).resolve() if name else path
            if not goal.exists() or (anchor and goal.suffix == ".md" and anchor not in anchors(goal)):
                dead.append(f"{path.relative_to(HOME)}: {target}")
    assert dead == []


def test_a_dead_link_would_be_seen(tmp_path):
    """Guards the test above: what it looks for is found where it is."""
    page = tmp_path / "page.md"
    page.write_text("# Two words: `code`\n\n[a](gone.md) and [b](#two-words-code)\n```\n[c](no)\n```\n")
    assert _LINK.findall(prose(page)) == ["gone.md", "#two-words-code"]
    assert anchors(page) == {"two-words-code"}
