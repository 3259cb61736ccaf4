"""A factor of one's own: links to PDF files lead to finds more, or less, often than others.

    [project.entry-points."clew.factors"]
    pdf = "pdf_factor:Pdf"

It is heard when it is named: `clew crawl --factors content --factors url --factors pdf …`.
"""

import numpy as np

from clew.factor import Discovery, EvidenceTerm, Factor, FactorSpec, FetchOutcome, log_ratio


class Pdf(Factor):
    """The log interest ratio of candidates whose URL ends in `.pdf`, from those that were fetched."""

    spec = FactorSpec(name="pdf", prior=0.5)

    def __init__(self, state):
        super().__init__(state)
        self.ends: set[int] = set()
        self.seen = self.hits = 0.0
        self.ratio = 0.0

    def meet(self, found: Discovery) -> None:
        for number, target in zip(found.ids.tolist(), found.links.targets, strict=True):
            if target.endswith(".pdf"):
                self.ends.add(number)

    def learn(self, outcome: FetchOutcome) -> None:
        if outcome.candidate in self.ends:
            self.seen += 1
            self.hits += outcome.satisfied

    def estimate(self) -> None:
        rate = self.state.chance
        self.ratio = float(log_ratio(np.array([self.seen]), np.array([self.hits]), rate, 1.0)[0])

    def evidence(self, ids):
        return np.array([self.ratio if number in self.ends else 0.0 for number in ids.tolist()])

    def support(self, ids):
        return np.array([self.seen if number in self.ends else 0.0 for number in ids.tolist()])

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        return (
            [EvidenceTerm("ends in .pdf", self.ratio, self.seen, self.hits)] if candidate in self.ends else []
        )
