"""The experiments of Aggarwal, Al-Garawi and Yu (2001), section 5, and of others, done again.

A `Figure` of the paper is spelled out into `Trial`s (who looks for what, where, from where); `perform` crawls
those that were not crawled yet; outcomes become `Sheet`s, and markdown. The invariant: every number and curve
is a function of the trials alone, so that a document made of them can be made again. What is no matter of
harvest curves is a `Study`.
"""

from clew.lab.reproduce.ariadne import ariadne_figures
from clew.lab.reproduce.catalogue import figures
from clew.lab.reproduce.collaborative import collaborative_figures
from clew.lab.reproduce.document import block, fill
from clew.lab.reproduce.figure import Figure, Line, Panel, Sheet, points
from clew.lab.reproduce.perform import perform
from clew.lab.reproduce.sheets import sheets
from clew.lab.reproduce.statements import statements
from clew.lab.reproduce.study import Study
from clew.lab.reproduce.trial import Crawled, Trial

__all__ = [
    "Crawled",
    "Figure",
    "Line",
    "Panel",
    "Sheet",
    "Study",
    "Trial",
    "ariadne_figures",
    "block",
    "collaborative_figures",
    "figures",
    "fill",
    "perform",
    "points",
    "sheets",
    "statements",
]
