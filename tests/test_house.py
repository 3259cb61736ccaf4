"""The house rules that no linter knows: module sizes, links between documents, no traces of a machine."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
#: Spelled apart, so that this file passes its own test.
FOREIGN = re.compile("|".join(("/" + r"(?:work|root|opt|home)/\w", "pypi" + r"\.org")))
LINES = 400
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


def test_no_module_is_longer_than_400_lines():
    modules = [path for path in tracked() if path.suffix == ".py" and HOME / "tests" not in path.parents]
    sizes = {str(path.relative_to(HOME)): len(path.read_text("utf-8").splitlines()) for path in modules}
    assert {name: size for name, size in sizes.items() if size > LINES} == {}


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
