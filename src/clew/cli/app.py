"""The application: which verbs there are, and how a run of one ends."""

from __future__ import annotations

import sys

from cyclopts import App, CycloptsError

from clew import __version__
from clew.cli.exits import DONE, USAGE, code_of, complain

#: Verb, where it lives, what it does. Kept as text so that only the verb asked for is imported.
VERBS = (
    ("crawl", "clew.cli.crawl:crawl", "Crawl towards the pages a formula describes, or resume a crawl."),
    ("status", "clew.cli.status:status", "Say how far a crawl is."),
    ("export", "clew.cli.export:export", "Write the pages of a crawl as jsonl, csv, warc or parquet."),
    ("search", "clew.cli.search:search", "Search the text of a crawl's pages."),
    ("explain", "clew.cli.explain:explain", "Say why a URL was fetched, is waiting, or was left out."),
    ("check", "clew.cli.check:check", "Read a formula back and score a page with it, term by term."),
    ("report", "clew.cli.report:report", "Write a crawl's report.html anew."),
    ("trace", "clew.cli.trace:trace", "Print every decision of a crawl, one a line."),
    ("init", "clew.cli.init:init", "Write a commented clew.toml."),
    ("doctor", "clew.cli.doctor:doctor", "Say what is installed, what is missing, what the limits are."),
    ("demo", "clew.cli.demo:demo", "Crawl an embedded web on this machine, two ways, side by side."),
)  # fmt: skip
LAB_VERBS = (
    ("serve", "clew.cli.lab:serve", "Serve a recorded web as an HTTP forward proxy, for any crawler."),
)  # fmt: skip

HELP = "clew: say what pages you want, and it learns which links lead there."
EPILOGUE = "Start with: clew demo, or: clew crawl https://example.org/ -m 'FORMULA' -d DIRECTORY"


def build() -> App:
    """The whole command line."""
    app = App(
        name="clew",
        help=HELP,
        help_epilogue=EPILOGUE,
        version=__version__,
        help_format="plaintext",
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, place, says in VERBS:
        app.command(place, name=name, help=says)
    lab = App(name="lab", help="Recorded webs, for experiments and tests.", version_flags=[])
    for name, place, says in LAB_VERBS:
        lab.command(place, name=name, help=says)
    app.command(lab)
    return app


def run(argv: list[str] | None = None) -> int:
    """Run one command and give its exit code; complaints go to stderr."""
    try:
        result = build()(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except CycloptsError as error:
        complain(f"{error}\nclew: see {_help_for(error)}")
        return USAGE
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else DONE
    except BaseException as error:
        return code_of(error)
    return result if isinstance(result, int) else DONE


def _help_for(error: CycloptsError) -> str:
    chain = " ".join(error.command_chain or ())
    return f"clew {chain} --help" if chain else "clew --help"
