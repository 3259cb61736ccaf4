"""SIGKILLs over a crawl whose pages are shown to a browser: nothing is lost, and no browser left behind.

    .venv/bin/python checks/browser_kills.py [--pages 60] [--kills 8]

`checks/kills.py --browser`, smaller: a page takes half a second. Needs playwright and Chromium.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import kills


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else list(argv)
    return kills.main(
        ["--browser", "--pages", "60", "--kills", "8", "--learning", "0", "--concurrency", "4", *words]
    )


if __name__ == "__main__":
    sys.exit(main())
