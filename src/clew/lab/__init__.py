"""The lab: webs that hold still.

A corpus, a crawl of one's own, a WARC or the demo web becomes a `LabelledWeb` by `open_web`: canonical URLs
go in, recorded replies come out, with labels to judge by and places to start. A crawler reads it in process
(`clew.fetch.ReplayFetcher`) or, whatever crawler it is, over loopback (`RecordedServer`). The invariant: the
same URL gets the same reply every time and both ways, and what was not recorded is a 404.
"""

from clew.lab.conversation import Hit
from clew.lab.corpora import CORPORA, names, open_web
from clew.lab.demo import DemoWeb
from clew.lab.serve import RecordedServer, serve_forever, serving
from clew.lab.webs import CorpusWeb, LabelledWeb, PlainWeb

__all__ = [
    "CORPORA",
    "CorpusWeb",
    "DemoWeb",
    "Hit",
    "LabelledWeb",
    "PlainWeb",
    "RecordedServer",
    "names",
    "open_web",
    "serve_forever",
    "serving",
]
