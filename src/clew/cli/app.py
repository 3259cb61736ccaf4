"""The application: which verbs there are, and how a run of one ends."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterable

from cyclopts import (
    App,
    Argument,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from clew import __version__
from clew.cli.exits import DONE, USAGE, code_of, complain
from clew.spelling import closest

#: Verb, where it lives, what it does in a line, and at length. Kept as text here, so that only the verb asked
#: for is imported.
VERBS = (
    (
        "crawl",
        "clew.cli.crawl:crawl",
        "Crawl towards the pages a formula describes, or resume a crawl.",
        "Give seeds and a formula to start. Give the directory alone to go on with a crawl that was "
        "interrupted or whose budget is used up (with a larger one, such as --pages 5000). Settings come "
        "from the command line, then CLEW_* variables, then the nearest clew.toml.",
    ),
    (
        "status",
        "clew.cli.status:status",
        "Say how far a crawl is.",
        "It may be running: the figures are those of its last checkpoint.",
    ),
    (
        "steer",
        "clew.cli.steer:steer",
        "Change a crawl while it runs, or before it goes on.",
        "Another formula, strategy or budget, a host banned, pages boosted or judged by you, a pause. A "
        "running crawl takes it in between two pages; one at rest does when it goes on. --preview says what "
        "would move, and moves nothing.",
    ),
    (
        "export",
        "clew.cli.export:export",
        "Write the pages of a crawl as jsonl, csv, warc or parquet.",
        "Each record has url, status, title, score, matched, depth, source, fetched_at, lang and text; warc "
        "has the replies as received.",
    ),
    (
        "search",
        "clew.cli.search:search",
        "Search the text of a crawl's pages.",
        'Best first. All words must occur; "quotes" make a phrase, turbin* a prefix, -word excludes. '
        "Exits with 3 when nothing was found.",
    ),
    (
        "explain",
        "clew.cli.explain:explain",
        "Say why a URL was fetched, is waiting, or was left out.",
        "How it was found, what it was worth and why, what came of it.",
    ),
    (
        "check",
        "clew.cli.check:check",
        "Read a formula back and score a page with it, term by term.",
        "Without a page, only the formula is read. Exits with 3 when the page does not satisfy it.",
    ),
    (
        "report",
        "clew.cli.report:report",
        "Write a crawl's report.html anew.",
        "One file with curve, finds, hosts and settings, that needs no network. Prints where it is.",
    ),
    (
        "compare",
        "clew.cli.compare:compare",
        "Put two crawls side by side; by what both found, say how much there is.",
        "Figures of each, finds in common, and Chapman's estimate with its interval, for two crawls that "
        "look for the same and are as independent as can be: other seeds, another strategy.",
    ),
    (
        "trace",
        "clew.cli.trace:trace",
        "Print every decision of a crawl, one a line.",
        "Without --json the lines leave out the times, so that two crawls can be compared with diff.",
    ),
    (
        "dash",
        "clew.cli.dash:dash",
        "Show crawls in a browser, start new ones and steer them.",
        "On 127.0.0.1, until interrupted; prints the address to open. Works on crawls that run, are paused, "
        "are over or crashed, and none waits for it. Needs the extra clew[dash].",
    ),
    (
        "init",
        "clew.cli.init:init",
        "Write a commented clew.toml.",
        "In this directory; prints where it is.",
    ),
    (
        "doctor",
        "clew.cli.doctor:doctor",
        "Say what is installed, what is missing, what the limits are; or what is damaged in a crawl.",
        "With DIR, reads every row and every archived reply of a crawl and says what is lost; --repair "
        "queues it again. Asks nothing of the network. Exits with 1 when something must be mended.",
    ),
    (
        "demo",
        "clew.cli.demo:demo",
        "Crawl an embedded web on this machine, three ways, side by side.",
        "A made-up web of many hosts is served on 127.0.0.1 and crawled breadth-first and best-first with "
        "the same budget. Prints how many fetches each needed per find, and writes report.html.",
    ),
)
LAB_VERBS = (
    (
        "serve",
        "clew.cli.lab:serve",
        "Serve a recorded web as an HTTP forward proxy, for any crawler.",
        "On 127.0.0.1, until interrupted. Crawl it with: clew crawl SEED -m FORMULA -d DIR "
        "--proxy http://127.0.0.1:PORT --own '*' --delay 0",
    ),
    (
        "run",
        "clew.cli.lab_run:run",
        "Run an experiment: topics, seed sets and strategies on recorded webs.",
        "Goes on where it was interrupted. Prints a table for each corpus and budget, and writes runs.jsonl, "
        "summary.json and report.html.",
    ),
    (
        "show",
        "clew.cli.lab_run:show",
        "Print the tables of an experiment, finished or not.",
        "Mean nAUC with its interval, recall, requests to 50, 80 and 90 %, and p against a baseline.",
    ),
    (
        "reproduce",
        "clew.cli.lab_reproduce:reproduce",
        "Do the experiments of the 2001 paper, or of the 2002 one, again, on recorded webs.",
        "A figure, table or section by name, or all of them. Writes plots as SVG and tables as markdown and "
        "JSON. Goes on where it was interrupted; figures share their crawls.",
    ),
    (
        "report",
        "clew.cli.lab_run:report",
        "Write an experiment's report.html and summary.json anew.",
        "Curves, tables and tests in one file that needs no network. Prints where it is.",
    ),
)

KNOWLEDGE_VERBS = (
    (
        "show",
        "clew.cli.knowledge:show",
        "Show what a crawl learned: rates, links, the most telling words and tokens.",
        "Of a crawl directory, or a file saved with clew knowledge save.",
    ),
    (
        "diff",
        "clew.cli.knowledge:diff",
        "Show where two crawls' knowledge differs most.",
        "Words and tokens whose interest ratio differs, the largest difference first.",
    ),
    (
        "merge",
        "clew.cli.knowledge:merge",
        "Put the knowledge of several crawls together, in one file.",
        "Counts are added. Prints where the file is.",
    ),
    (
        "save",
        "clew.cli.knowledge:save",
        "Save a crawl's knowledge as a file of its own.",
        "Plain JSON, for clew crawl --use, for keeping and for sharing. Prints where the file is.",
    ),
)
VISITS_VERBS = (
    (
        "import",
        "clew.cli.visits:import_",
        "Take logs of proxies, servers and browsers into a database of visits.",
        "Squid, Apache, nginx, W3C, HAR, Chrome's and Firefox's history, and tables by their columns; plain, "
        "gzip or zstd. People are hashed with a secret of yours. Says what became of every line; goes on "
        "where it was interrupted.",
    ),
    (
        "audit",
        "clew.cli.visits:audit",
        "Show what a database of visits keeps, and of how many people.",
        "With --identity, what is kept of one person, and the hash that stands for them.",
    ),
    (
        "forget",
        "clew.cli.visits:forget",
        "Remove the visits of a person, or those before a date.",
        "And the pages that nobody else visited. What is removed is overwritten.",
    ),
)
TOPIC_VERBS = (
    (
        "new",
        "clew.cli.topic:new",
        "Make a topic, to be learned from examples.",
        "In the folder topics, or the one --topics names, which is made if it is not there. Prints where the "
        "topic is. tourism.rügen is a topic under tourism.",
    ),
    (
        "add",
        "clew.cli.topic:add",
        "Add examples to a topic: files, folders, URLs, the finds of a crawl.",
        "A folder with positive/ and negative/ in it is examples of both kinds. crawl:DIR is the finds of a "
        "crawl, corpus:NAME/LABEL the pages of a recorded web with a label. Examples of any are pages about "
        "nothing in particular.",
    ),
    (
        "train",
        "clew.cli.topic:train",
        "Train topics, and say how well they do on examples they were not shown.",
        "Those named, or those without a model and those whose own examples changed. A topic that is added "
        "changes no other. Kinds other than keyword need the extra clew[topics].",
    ),
    (
        "list",
        "clew.cli.topic:list_topics",
        "List the topics as a tree.",
        "With their examples, and how good their models are.",
    ),
    (
        "show",
        "clew.cli.topic:show",
        "Show a topic: its telling words and its examples.",
        "Words are shown by their stems.",
    ),
    (
        "test",
        "clew.cli.topic:hold_out",
        "Test topics: who is taken for whom, and whether degrees can be believed.",
        "By cross-validation: each example is judged by a model that was not shown it. Saves nothing.",
    ),
    (
        "remove",
        "clew.cli.topic:remove",
        "Remove a topic with its examples, model and subtopics.",
        "Asks for --yes if it has any.",
    ),
)
GROUPS = {
    "lab": ("Recorded webs, for experiments and tests.", LAB_VERBS),
    "topic": ("Topics: what pages are about, learned from examples.", TOPIC_VERBS),
    "knowledge": ("What crawls learned, to look at and to use again.", KNOWLEDGE_VERBS),
    "visits": ("People's logs, to follow those who wanted what you want.", VISITS_VERBS),
}

HELP = "clew: say what pages you want, and it learns which links lead there."
EPILOGUE = "Start with: clew demo"


def build() -> App:
    """The whole command line."""
    app = App(
        name="clew",
        help=HELP,
        help_epilogue=EPILOGUE,
        version=__version__,
        help_format="plaintext",
        default_parameter=Parameter(show_default=False),
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, place, brief, more in VERBS:
        app.command(place, name=name, help=f"{brief}\n\n{more}", help_epilogue="")
    for group, (what, verbs) in GROUPS.items():
        inner = App(name=group, help=what, version_flags=[], help_epilogue="")
        for name, place, brief, more in verbs:
            inner.command(place, name=name, help=f"{brief}\n\n{more}")
        app.command(inner)
    return app


def run(argv: list[str] | None = None) -> int:
    """Run one command and give its exit code; complaints go to stderr."""
    _reopen()
    _spell()
    try:
        result = build()(_with_stdin(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except CycloptsError as error:
        complain(f"{_words(error)}\nclew: see {_help_for(error)}")
        return USAGE
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else DONE
    except BaseException as error:
        return code_of(error)
    return result if isinstance(result, int) else DONE


def _with_stdin(words: list[str]) -> list[str]:
    """`clew crawl -` as `clew crawl @-`: a hyphen alone would be read as an option without a name."""
    return ["@-" if word == "-" else word for word in words] if words[:1] == ["crawl"] else words


def _reopen() -> None:
    """Streams that were closed lead nowhere: a file opened later must not take their place."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: SIM115 - as long as we run


def _spell() -> None:
    """Where a stream has no such letter it gets the number of it, in a way that JSON reads as the letter."""
    codecs.register_error("clew-number", _numbered)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="clew-number")


def _numbered(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    pairs = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join([f"\\u{pairs[at : at + 2].hex()}" for at in range(0, len(pairs), 2)]), error.end


def _words(error: CycloptsError) -> str:
    """What is wrong. For a mistyped verb the library's own words would import every verb there is."""
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        return _missing(error.argument, error.command_chain)
    if isinstance(error, UnknownOptionError):
        return _no_option(error)
    if not isinstance(error, UnknownCommandError) or not error.unused_tokens:
        unused = error.unused_tokens if isinstance(error, UnusedCliTokensError) else None
        return f"there is one word too many: {unused[0]!r}" if unused else str(error)
    typed = error.unused_tokens[0]
    chain = error.command_chain or ()
    group = next((name for name in GROUPS if name in chain), None)
    names = [name for name, *_ in (GROUPS[group][1] if group else VERBS)] + ([] if group else list(GROUPS))
    close = closest(typed, names)
    hint = f"did you mean {close!r}?" if close else f"choose {', '.join(names)}"
    return f"there is no verb {typed!r}: {hint}"


def _no_option(error: UnknownOptionError) -> str:
    typed = (error.token.keyword or error.token.value).partition("=")[0]
    shown = [name for argument in error.argument_collection if argument.show for name in argument.names]
    close = closest(typed, [name for name in shown if name.startswith("--")])
    return f"there is no option {typed}{f': did you mean {close}?' if close else ''}"


def _missing(argument: Argument, chain: Iterable[str] | None) -> str:
    name, said = argument.name, argument.parameter
    shown = f"{name} {said.metavar or ''}".strip() if name.startswith("-") else said.metavar or name
    return f"{' '.join(chain or ())} needs {shown}: {said.help or 'it cannot be left out.'}"


def _help_for(error: CycloptsError) -> str:
    chain = " ".join(error.command_chain or ())
    return f"clew {chain} --help" if chain else "clew --help"
