"""The command line: one verb a file, and nothing here that the library cannot do.

Words come in, a library call goes out; data leaves on stdout, everything said to a person (progress,
hints, complaints) on stderr. The invariant: a verb is imported only when it is the one asked for, so
that `clew --help` is quick, and whatever goes wrong ends as one of the exit codes of `clew.cli.exits`
with a sentence that says what to do.
"""

from __future__ import annotations

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Run one command; gives the exit code. `argv` is without the program's name."""
    from clew.cli.app import run
    from clew.cli.exits import leave_threads

    code = run(argv)
    if argv is None:
        leave_threads(code)
    return code
