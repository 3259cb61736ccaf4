"""Write experiments/tune.toml and experiments/judge.toml: a suite, half to tune on, half to judge by.

    python tools/suite.py [--check]

No topic is chosen by hand, and none by how well anything does on it:

- *Formulas* (the mini-web, open). Pages are taken in the order of a hash of their address. A word of a title
  counts if it has four letters or more and stands in at most a tenth of all pages. In turn a formula is the
  first two such words that stand side by side, as a phrase, the first two with AND, or the first alone. It is
  taken if 20 to 400 pages satisfy it and none of its words is in an earlier one. By turns it tunes or judges.
- *Subjects* (both Wikispeedia variants, blind). Subjects of 40 to 400 articles, in the order of a hash of
  their name. A whole branch of the taxonomy goes to one half, the next branch to the half with fewer topics:
  no topic that judges lies within one that tunes. The first twelve of each half.
- *Classes* (WebKB, blind). Classes of 15 pages or more but `other`. Cornell tunes, Washington judges, and of
  Texas every second class does, in the order of a hash.
- *Made webs* (blind). The four shapes, with a seed of its own for each half and other shares of dead links;
  three topics each, by a hash.

`--check` writes nothing and fails where the files are not what the rule gives.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import xxhash

from clew.lab.corpora import open_web, topics_of
from clew.lab.made_webs import TOPICS
from clew.lab.parsed_web import ParsedWeb
from clew.predicate import compile as compile_predicate

HOME = Path(__file__).resolve().parents[1] / "experiments"
HALVES = ("tune", "judge")
FORMULAS, LEAST, MOST = 40, 20, 400
SUBJECTS, SMALLEST, LARGEST = 24, 40, 400
CLASS = 15
SHAPED = ("directories", "hubs", "social", "hosts")
DEAD = {"tune": (0, 40, 20, 60), "judge": (20, 80, 0, 40)}
WORD = re.compile(r"[a-z]{4,}")
STRATEGIES = """
[[strategies]]
name = "random"

[[strategies]]
name = "breadth-first"

[[strategies]]
name = "best-first"

[[strategies]]
name = "shark"

[[strategies]]
label = "sibling"
name = "intelligent"
factors = ["sibling"]
weights = "product"

[[strategies]]
label = "balanced"
name = "intelligent"
weights = "balanced"

[[strategies]]
name = "intelligent"
"""


def hashed(name: str) -> int:
    """The order in which things are taken."""
    return xxhash.xxh3_64_intdigest(name.encode())


def formulas() -> dict[str, list[str]]:
    """Formulas over the mini-web by half."""
    web = ParsedWeb(open_web("miniweb"))
    _ = web.graph  # reads the pages at once, from the cache if they are there
    pages = [page for _, page in web.pages()]
    spread: Counter[str] = Counter()
    for page in pages:
        spread.update(set(WORD.findall(f"{page.title} {page.text}".lower())))
    common = len(pages) // 10
    found: list[str] = []
    used: set[str] = set()
    for page in sorted(pages, key=lambda page: hashed(page.url)):
        if len(found) == FORMULAS:
            break
        title = page.title.lower()
        words = [word for word in WORD.findall(title) if LEAST <= spread[word] <= common and word not in used]
        formula = formed(len(found) % 3, words, title)
        if not formula:
            continue
        predicate = compile_predicate(formula)
        if LEAST <= sum(predicate.judge(one).satisfied for one in pages) <= MOST:
            found.append(formula)
            used.update(WORD.findall(formula))
    return {half: found[number::2] for number, half in enumerate(HALVES)}


def formed(turn: int, words: list[str], title: str) -> str:
    """A formula of a title's words; nothing where it has too few."""
    if turn == 0:
        return words[0] if words else ""
    if turn == 1:
        sides = [f"{a} {b}" for a, b in pairwise(words) if f"{a} {b}" in title and a != b]
        return f'"{sides[0]}"' if sides else ""
    return f"{words[0]} AND {words[1]}" if len(words) > 1 and words[0] != words[1] else ""


def subjects() -> dict[str, list[str]]:
    """Subjects of Wikispeedia by half, whole branches of the taxonomy together."""
    web = open_web("wikispeedia")
    sizes = Counter(topic for url in web.urls() for topic in topics_of(web, url))
    branches: dict[str, list[str]] = {}
    for name in sorted((n for n, size in sizes.items() if SMALLEST <= size <= LARGEST), key=hashed):
        if name.startswith("subject."):
            branches.setdefault(name.split(".")[1], []).append(name)
    halves: dict[str, list[str]] = {half: [] for half in HALVES}
    for branch in sorted(branches, key=hashed):
        least = min(HALVES, key=lambda half: len(halves[half]))
        halves[least] += branches[branch]
    return {half: sorted(names, key=hashed)[: SUBJECTS // 2] for half, names in halves.items()}


def classes() -> dict[str, list[tuple[str, list[str]]]]:
    """Departments with their classes by half."""
    found: dict[str, list[tuple[str, list[str]]]] = {half: [] for half in HALVES}
    for name in ("cornell", "texas", "washington"):
        web = open_web(f"webkb:{name}")
        sizes = Counter(label for url in web.urls() for label in web.labels(url))
        labels = sorted((x for x, size in sizes.items() if size >= CLASS and x != "other"), key=hashed)
        if name == "texas":
            for number, half in enumerate(HALVES):
                found[half].append((name, labels[number::2]))
        else:
            found["tune" if name == "cornell" else "judge"].append((name, labels))
    return found


def text(half: str, found: dict[str, Any]) -> str:
    """One of the two files."""
    lines = [
        f"# The half to {half} by. Written by `python tools/suite.py`, which says how topics are chosen.",
        f"#   clew lab run experiments/{half}.toml -o out/{half}",
        "# The whole of what a bar asks for, some hours:",
        f"#   clew lab run experiments/{half}.toml -o out/{half} --dice 5 --sets 5",
        "# One web of it: --part miniweb",
        "dice = 2",
        'baseline = "intelligent"',
    ]
    if half == "judge":
        lines += ["# Every look leaves a line there; commit it.", 'log = "judged.jsonl"']
    starts = 'seeds = [{ kind = "random", sets = 2, pages = 1 }, { kind = "warm", sets = 1 }]'
    webkb = starts.replace("[{", '[{ kind = "entry" }, {', 1)
    # The mini-web is islands: from no page can half of what a common word stands on be reached.
    islands = starts.replace(" }", ", reach = 0.1 }")
    lines.append(STRATEGIES)
    open_ones = [f"  {{ formula = {json.dumps(one)} }}," for one in found["formulas"][half]]
    lines += [
        "[[parts]]",
        'name = "miniweb"',
        'corpora = "miniweb"',
        'predicate = "open"',
        "budget = 300",
        islands,
    ]
    lines += ["topics = [", *open_ones, "]", ""]
    for name, corpus in (("wikispeedia", "wikispeedia"), ("hard", "wikispeedia:hard")):
        lines += ["[[parts]]", f'name = "{name}"', f'corpora = "{corpus}"', "budget = 300", starts]
        lines += ["topics = [", *(f"  {json.dumps(one)}," for one in found["subjects"][half]), "]", ""]
    for name, labels in found["classes"][half]:
        lines += [
            "[[parts]]",
            f'name = "{name}"',
            f'corpora = {{ name = "webkb:{name}", robots = "ignore" }}',
        ]
        lines += ["budget = 600", webkb, f"topics = {json.dumps(labels)}", ""]
    for shape, dead in zip(SHAPED, DEAD[half], strict=True):
        web = f"made:{shape}:{1 + HALVES.index(half)}:{dead}"
        chosen = sorted(TOPICS, key=lambda topic: hashed(f"{web}/{topic}"))[:3]
        lines += ["[[parts]]", f'name = "{shape}"', f'corpora = {{ name = "{web}", robots = "ignore" }}']
        lines += ["budget = 300", starts, f"topics = {json.dumps(chosen)}", ""]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Write the files, or compare them."""
    found = {"formulas": formulas(), "subjects": subjects(), "classes": classes()}
    wrong = []
    for half in HALVES:
        path = HOME / f"{half}.toml"
        if "--check" in sys.argv:
            wrong += [] if path.read_text("utf-8") == text(half, found) else [path.name]
        else:
            path.write_text(text(half, found), encoding="utf-8")
    if wrong:
        print(f"not what the rule gives: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
