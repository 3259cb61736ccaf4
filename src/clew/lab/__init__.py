"""The lab: webs that hold still.

A corpus, a crawl of one's own, a WARC or the demo web becomes a `LabelledWeb` by `open_web`: canonical URLs
go in, recorded replies come out, with labels to judge by and places to start. A crawler reads it in process
(`clew.fetch.ReplayFetcher`) or, whatever crawler it is, over loopback (`RecordedServer`). The invariant: the
same URL gets the same reply every time and both ways, and what was not recorded is a 404.

On top of it, experiments: an `Experiment` (TOML) becomes cases, each case an oracle and, for every strategy,
a run of the real engine (`run_experiment`); runs become tables (`summarise`). The second invariant: results
are a function of the experiment and of the versions of the libraries alone, whatever the processor, the
number of processes or the order in which they finish (docs/architecture.md, "What makes a crawl repeatable").
"""

from clew.lab.connection import LoggedRequest
from clew.lab.corpora import CORPORA, names, open_web
from clew.lab.demo import DemoWeb
from clew.lab.experiment import Experiment
from clew.lab.results import Results
from clew.lab.runner import run_experiment
from clew.lab.serve import RecordedServer, serve_forever, serving
from clew.lab.summary import summarise
from clew.lab.webs import CorpusWeb, LabelledWeb, PlainWeb

__all__ = [
    "CORPORA",
    "CorpusWeb",
    "DemoWeb",
    "Experiment",
    "LabelledWeb",
    "LoggedRequest",
    "PlainWeb",
    "RecordedServer",
    "Results",
    "names",
    "open_web",
    "run_experiment",
    "serve_forever",
    "serving",
    "summarise",
]
