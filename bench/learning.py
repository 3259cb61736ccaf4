"""Does learning find more? The experiments of `experiments/` over the recorded webs, each by `clew lab run`.

    python bench/learning.py [--experiment wikispeedia webkb] [--budget 100] [--json]

Blind predicates: the crawler learns only yes or no after each fetch. Every experiment is run anew, in a
directory that goes away; figures are those of `clew lab show --json`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent.parent
CLEW = [sys.executable, "-m", "clew.cli"]
NAMES = ("wikispeedia", "wikispeedia-hard", "webkb")


def measure(name: str, budget: int | None) -> dict[str, Any]:
    """Run one experiment, with a smaller budget if one is given; gives its tables."""
    text = (HOME / "experiments" / f"{name}.toml").read_text("utf-8")
    if budget is not None:
        text = re.sub(r"^budget = .*$", f"budget = [{budget}]", text, flags=re.M)
    with tempfile.TemporaryDirectory() as place:
        plan, out = Path(place) / f"{name}.toml", Path(place) / "out"
        plan.write_text(text, "utf-8")
        began = time.monotonic()
        subprocess.run([*CLEW, "lab", "run", str(plan), "-o", str(out)], check=True, stdout=sys.stderr)
        seconds = time.monotonic() - began
        shown = subprocess.run([*CLEW, "lab", "show", str(out), "--json"], check=True, capture_output=True)
    return {"experiment": name, "seconds": round(seconds), **json.loads(shown.stdout)}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--experiment", nargs="*", default=NAMES)
    parser.add_argument("--budget", type=int, help="requests of each crawl, instead of the experiment's own")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    found = [measure(name, asked.budget) for name in asked.experiment]
    if asked.json:
        print(json.dumps(found))
        return 0
    for one in found:
        print(f"{one['experiment']}: {one['seconds']} s")
        for table in one["tables"]:
            for row in table["rows"]:
                print(f"  {table['setting']:<40}{row['strategy']:<16}{row['nauc']:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
