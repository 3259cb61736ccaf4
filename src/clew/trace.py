"""`Tracer`: writes down each decision, numbered, with its reasons and what came of it."""

from __future__ import annotations

from collections.abc import Mapping

from clew.messages import Decision, Outcome, Record


class Tracer:
    """Makes the lines of the trace. Lift curves, reports and the live view are folds over them."""

    def __init__(self) -> None:
        self.count = 0
        self.renamed = 0
        """Tasks up to this one were chosen by contributions that have other names by now."""
        self._joins = False

    def begin_batch(self) -> None:
        """The next task that came back is the first of a batch."""
        self._joins = False

    def __repr__(self) -> str:
        return f"Tracer({self.count} decisions)"

    def settled(
        self,
        outcome: Outcome,
        now: float,
        queue: int,
        result: str,
        *,
        verdict: float = 0.0,
        reasons: tuple[str, ...] = (),
        new: int = 0,
        known: int = 0,
        dropped: Mapping[str, int] | None = None,
    ) -> Record:
        """A task came back."""
        task, joined, self._joins = outcome.task, self._joins, True
        return self._line(
            joined=joined,
            at=now,
            kind=task.kind.value,
            url=task.url,
            candidate=task.candidate,
            attempt=task.attempt,
            score=task.score,
            terms=task.terms if task.id > self.renamed else (),
            queue=queue,
            status=outcome.status,
            result=result,
            verdict=verdict,
            reasons=reasons,
            new=new,
            known=known,
            dropped=tuple(sorted((dropped or {}).items())),
        )

    def left_out(self, url: str, candidate: int, now: float, queue: int, reason: str) -> Record:
        """A candidate was chosen, and then left out without a request."""
        return self._unasked(url, candidate, now, queue, "drop", reason)

    def commanded(self, url: str, now: float, queue: int, name: str, *, reasons: tuple[str, ...]) -> Record:
        """The crawl was changed from outside."""
        return self._unasked(url, -1, now, queue, "command", name, reasons)

    def _unasked(
        self,
        url: str,
        candidate: int,
        now: float,
        queue: int,
        kind: str,
        result: str,
        reasons: tuple[str, ...] = (),
    ) -> Record:
        """A decision for which nothing was fetched."""
        return self._line(
            at=now,
            kind=kind,
            url=url,
            candidate=candidate,
            attempt=0,
            score=0.0,
            terms=(),
            queue=queue,
            status=0,
            result=result,
            verdict=0.0,
            reasons=reasons,
            new=0,
            known=0,
            dropped=(),
        )

    def _line(
        self,
        *,
        at: float,
        kind: str,
        url: str,
        candidate: int,
        attempt: int,
        score: float,
        terms: tuple[float, ...],
        queue: int,
        status: int,
        result: str,
        verdict: float,
        reasons: tuple[str, ...],
        new: int,
        known: int,
        dropped: tuple[tuple[str, int], ...],
        joined: bool = False,
    ) -> Record:
        self.count += 1
        return Record(
            Decision(
                seq=self.count,
                at=at,
                kind=kind,
                url=url,
                candidate=candidate,
                attempt=attempt,
                score=score,
                terms=terms,
                queue=queue,
                status=status,
                result=result,
                verdict=verdict,
                reasons=reasons,
                new=new,
                known=known,
                dropped=dropped,
                joined=joined,
            )
        )
