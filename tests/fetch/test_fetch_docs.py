"""What docs/fetching.md says of limits is what the code does."""

from __future__ import annotations

from pathlib import Path

from clew.errors import Reason
from clew.fetch import HttpSettings
from clew.fetch.decode import MAX_MEMBERS, MAX_STAGES
from clew.fetch.plain_http import MAX_HEADER_COUNT
from clew.frontier.robots import DELAY_LIMIT, SIZE_LIMIT

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "fetching.md").read_text("utf-8")


def test_the_table_of_limits_is_true():
    settings = HttpSettings()
    for row in (
        f"| time for the whole request | {settings.timeout:g} s |",
        f"| time to connect | {settings.connect_timeout:g} s |",
        f"| body on the wire | {settings.max_body // 10**6} MB |",
        f"| body unpacked | {settings.max_body // 10**6} MB |",
        f"| all reply headers | {settings.max_headers // 1024} KiB, {MAX_HEADER_COUNT} of them |",
        f"| stacked encodings | {MAX_STAGES} |",
        f"| gzip members, zstd frames | {MAX_MEMBERS:,} |",
        f"| robots.txt | {SIZE_LIMIT // 1024} KiB |",
        f"up to {DELAY_LIMIT:g} s",
    ):
        assert row in TEXT, row


def test_the_reasons_it_names_exist():
    for reason in ("bad-url", "forbidden-address", "timeout", "bad-reply"):
        assert f"`{reason}`" in TEXT
        assert Reason(reason)
