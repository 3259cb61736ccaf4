"""What a person sees while a crawl runs: a picture that redraws itself, or plain lines when piped."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clew.cli.console import clean, say, stderr_console
from clew.cli.figures import Speed, busiest, elapsed, harvest_bars
from clew.run.units import duration_text, size_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from clew.messages import Effect
    from clew.run.observe import Observer, Progress

#: Redraws a second; more than this is work nobody sees.
REDRAWS = 4


def choose_view() -> Observer:
    """The picture when stderr is a terminal, else lines."""
    return LiveView(stderr_console()) if sys.stderr.isatty() else PlainView()


class PlainView:
    """One line for every 100 pages, and at least one every 10 seconds in which something came."""

    def __init__(self, every_pages: int = 100, every_seconds: float = 10.0) -> None:
        self.every_pages = every_pages
        self.every_seconds = every_seconds
        self.speed_ = Speed()
        self.pages_ = 0
        self.at_ = time.monotonic()

    def started(self, progress: Progress) -> None:
        self.pages_ = progress.pages
        self.speed_.tick(progress.pages)
        budget = f" of {progress.budget}" if progress.budget else ""
        say(f"crawling: {progress.pages}{budget} pages, {progress.matches} finds, {progress.queued} queued")

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        now = time.monotonic()
        if progress.pages - self.pages_ >= self.every_pages or now - self.at_ >= self.every_seconds:
            self.pages_, self.at_ = progress.pages, now
            say(self.line(progress))

    def finished(self, progress: Progress, reason: str) -> None:
        say(self.line(progress))

    def line(self, progress: Progress) -> str:
        """The figures on one line."""
        return (
            f"{duration_text(elapsed(progress)):>6}  {progress.pages} pages  {progress.matches} finds  "
            f"harvest {progress.harvest:.3f}  {self.speed_.tick(progress.pages):.1f}/s  "
            f"{progress.queued} queued  {progress.failed} failed"
        )


class LiveView:
    """The figures, the hosts asked most and the last finds, redrawn in place."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.speed_ = Speed()
        self.lock_ = threading.Lock()

    def started(self, progress: Progress) -> None:
        from rich.live import Live

        self.live_ = Live(
            console=self.console,
            refresh_per_second=REDRAWS,
            get_renderable=lambda: self.draw(progress),
            transient=True,
            redirect_stdout=False,
        )
        self.live_.start()

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        """Nothing: the picture redraws on its own beat, however fast pages come."""

    def finished(self, progress: Progress, reason: str) -> None:
        self.live_.stop()
        self.console.print(self.draw(progress))

    def draw(self, progress: Progress) -> RenderableType:
        """The whole picture."""
        from rich.console import Group

        with self.lock_:
            pace = self.speed_.tick(progress.pages)
        return Group(self._figures(progress, pace), self._hosts(progress), self._finds(progress))

    def _figures(self, progress: Progress, pace: float) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        budget = f" / {progress.budget}" if progress.budget else ""
        grid = Table.grid(padding=(0, 2))
        for _ in range(4):
            grid.add_column(no_wrap=True)
        grid.add_row(
            Text.assemble(("finds ", "dim"), (str(progress.matches), "bold green")),
            Text.assemble(("pages ", "dim"), (f"{progress.pages}{budget}", "bold")),
            Text.assemble(("harvest ", "dim"), f"{progress.harvest:.3f}"),
            Text(harvest_bars(list(progress.curve), 30), style="green"),
        )
        grid.add_row(
            Text.assemble(("speed ", "dim"), f"{pace:.1f} pages/s"),
            Text.assemble(("queue ", "dim"), f"{progress.queued} ({progress.in_flight} in flight)"),
            Text.assemble(("received ", "dim"), size_text(progress.wire)),
            Text.assemble(("time ", "dim"), duration_text(elapsed(progress))),
        )
        dropped = sorted(progress.dropped.copy().items(), key=lambda item: -item[1])[:4]
        left_out = ", ".join(f"{reason} {count}" for reason, count in dropped) or "none"
        grid.add_row(
            Text.assemble(("failed ", "dim"), str(progress.failed)),
            Text.assemble(("duplicates ", "dim"), str(progress.duplicates)),
            Text.assemble(("requests ", "dim"), str(progress.requests)),
            Text.assemble(("left out ", "dim"), left_out),
        )
        return grid

    def _hosts(self, progress: Progress) -> RenderableType:
        from rich.text import Text

        lines = Text()
        for host, (pages, matches, requests) in busiest(progress):
            lines.append(f"  {clean(host, 44):<44} ", style="cyan")
            lines.append(f"{requests:>6} requests {pages:>6} pages {matches:>5} finds\n", style="dim")
        return lines

    def _finds(self, progress: Progress) -> RenderableType:
        from rich.text import Text

        width = max(40, self.console.width)
        lines = Text(no_wrap=True, overflow="ellipsis")
        for score, url, title in list(progress.finds)[-6:]:
            shown = clean(title, 40)
            lines.append(f"  {score:.2f} ", style="green")
            lines.append(f"{clean(url, max(20, width - 12 - len(shown)))}  ")
            lines.append(f"{shown}\n", style="dim")
        return lines
