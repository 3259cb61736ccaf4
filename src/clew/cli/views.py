"""What a person sees while a crawl runs: a picture that redraws itself, or plain lines when piped."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clew.cli.console import clean, say, stderr_console
from clew.cli.progress_figures import (
    Speed,
    busiest,
    elapsed,
    harvest_bars,
    interests_text,
    pages_of,
    recall_text,
    waiting_text,
)
from clew.units import duration_text, size_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

    from clew.messages import Effect
    from clew.run.observe import Observer, Progress

#: Redraws a second; more than this is work nobody sees.
REDRAWS = 4


def choose_views(names: Sequence[str]) -> list[Observer]:
    """A view for each of some crawls: lanes of one picture when stderr is a terminal, else lines."""
    if sys.stderr.isatty():
        screen = Screen(stderr_console())
        return [screen.lane(name) for name in names]
    return [PlainView(name) for name in names]


def _after(recall: str) -> str:
    return f"  recall {recall}" if recall else ""


class PlainView:
    """One line for every 100 pages, and at least one every 10 seconds in which something came."""

    def __init__(self, name: str = "", every_pages: int = 100, every_seconds: float = 10.0) -> None:
        self.name = name
        self.every_pages = every_pages
        self.every_seconds = every_seconds
        self.speed_ = Speed()
        self.pages_ = 0
        self.at_ = time.monotonic()
        self.shown_ = (-1, -1)
        self.waited_ = 0.0

    def started(self, progress: Progress) -> None:
        self.pages_ = progress.pages
        self.speed_.tick(progress.pages)
        over = progress.budget is not None and progress.pages > progress.budget
        pages = pages_of(progress.pages, progress.budget)
        begun = f"pages {pages}" if over else f"from {pages} pages"
        self._say(f"{begun}, {progress.matches} finds, {progress.queued} queued")

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        now = time.monotonic()
        if progress.pages - self.pages_ >= self.every_pages or now - self.at_ >= self.every_seconds:
            self.pages_, self.at_ = progress.pages, now
            self.shown_ = (progress.pages, progress.requests)
            self._say(self.line(progress))
        if progress.waiting and progress.in_flight == 0 and now >= self.waited_:
            self.waited_ = now + self.every_seconds
            self._say(f"waiting: {waiting_text(progress.waiting, progress.now, 1)[0]}")

    def finished(self, progress: Progress, reason: str) -> None:
        if self.shown_ != (progress.pages, progress.requests):
            self._say(self.line(progress))

    def _say(self, line: str) -> None:
        say(f"{self.name:<15}{line}" if self.name else line)

    def line(self, progress: Progress) -> str:
        """The figures on one line."""
        return (
            f"{duration_text(elapsed(progress)):>6}  {progress.pages} pages  {progress.matches} finds  "
            f"harvest {progress.harvest:.3f}  {self.speed_.tick(progress.pages):.1f}/s  "
            f"{progress.queued} queued  {progress.failed} failed{_after(recall_text(progress))}"
            f"{_after(interests_text(progress))}"
        )


class Screen:
    """One picture with a lane for each crawl, redrawn in place on its own beat."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.lanes: list[Lane] = []
        self.live_: Live | None = None

    def lane(self, name: str = "") -> Lane:
        """A view for one more crawl."""
        lane = Lane(self, name)
        self.lanes.append(lane)
        return lane

    def start(self) -> None:
        """Begin to draw, if it has not begun."""
        from rich.live import Live

        if self.live_ is None:
            self.live_ = Live(
                console=self.console,
                refresh_per_second=REDRAWS,
                get_renderable=self._frame,
                transient=True,
                redirect_stdout=False,
            )
            self.live_.start()

    def stop(self) -> None:
        """End drawing when no lane moves any more, and leave the last picture standing."""
        if self.live_ is not None and all(lane.over_ for lane in self.lanes):
            live, self.live_ = self.live_, None
            live.stop()
            self.console.print(self.draw())

    def _frame(self) -> RenderableType:
        """What is drawn over and over; nothing at the end. A picture that is too tall for the terminal is cut
        while it is drawn over, but at the end it would be drawn whole, and scroll out of reach."""
        from rich.text import Text

        return Text("") if self.live_ is None else self.draw()

    def draw(self) -> RenderableType:
        """The whole picture."""
        from rich.console import Group

        return Group(*(lane.draw() for lane in self.lanes))


class Lane:
    """The figures of one crawl, the hosts asked most and the last finds."""

    def __init__(self, screen: Screen, name: str) -> None:
        self.screen = screen
        self.name = name
        self.progress_: Progress | None = None
        self.over_ = False
        self.speed_ = Speed()
        self.lock_ = threading.Lock()

    def started(self, progress: Progress) -> None:
        self.progress_ = progress
        self.screen.start()

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        """Nothing: the picture redraws on its own beat, however fast pages come."""

    def finished(self, progress: Progress, reason: str) -> None:
        self.close()

    def close(self) -> None:
        """This crawl moves no more, however it ended."""
        self.over_ = True
        self.screen.stop()

    def draw(self) -> RenderableType:
        """The lane."""
        from rich.console import Group
        from rich.text import Text

        if self.progress_ is None:
            return Text(f"{self.name} …", style="dim")
        with self.lock_:
            pace = self.speed_.tick(self.progress_.pages)
        title = [Text(self.name, style="bold")] if self.name else []
        several = len(self.screen.lanes) > 1
        hosts, finds = (3, 3) if several else (5, 6)
        return Group(
            *title,
            self._figures(self.progress_, pace),
            self._hosts(self.progress_, hosts),
            self._waits(self.progress_, hosts),
            self._finds(self.progress_, finds),
        )

    def _figures(self, progress: Progress, pace: float) -> RenderableType:
        from rich.text import Text

        budget = f" / {progress.budget}" if progress.budget else ""
        dropped = sorted(progress.dropped.copy().items(), key=lambda item: -item[1])[:4]
        left_out = ", ".join(f"{reason} {count}" for reason, count in dropped) or "nothing"
        bars = harvest_bars(list(progress.curve), 30)
        rows = (
            (
                ("finds", f"{progress.matches:<6}", "bold green"),
                ("pages", f"{progress.pages}{budget}", "bold"),
                ("harvest", f"{progress.harvest:.3f} {bars}", "green"),
                *([("recall", recall, "green")] if (recall := recall_text(progress)) else []),
            ),
            *([(("of them", finds, "green"),)] if (finds := interests_text(progress)) else []),
            (
                ("speed", f"{pace:.1f}/s", ""),
                ("queue", f"{progress.queued}, {progress.in_flight} in flight", ""),
                ("received", size_text(progress.wire), ""),
                ("time", duration_text(elapsed(progress)), ""),
            ),
            (
                ("requests", str(progress.requests), ""),
                ("failed", str(progress.failed), ""),
                ("duplicates", str(progress.duplicates), ""),
                ("left out", left_out, ""),
            ),
        )
        lines = Text(no_wrap=True, overflow="ellipsis")
        for row in rows:
            for name, value, style in row:
                lines.append(f"{name} ", style="dim").append(f"{value}   ", style=style)
            lines.append("\n")
        return lines

    def _hosts(self, progress: Progress, count: int) -> RenderableType:
        from rich.text import Text

        lines = Text(no_wrap=True, overflow="ellipsis")
        for host, (pages, matches, requests) in busiest(progress, count):
            lines.append(f"  {clean(host, 34):<34} ", style="cyan")
            lines.append(f"{requests:>6} requests {pages:>6} pages {matches:>5} finds\n", style="dim")
        return lines

    def _waits(self, progress: Progress, count: int) -> RenderableType:
        from rich.text import Text

        lines = Text(no_wrap=True, overflow="ellipsis", style="yellow")
        for line in waiting_text(progress.waiting, time.time(), count):
            lines.append(f"  waiting  {line}\n")
        return lines

    def _finds(self, progress: Progress, count: int) -> RenderableType:
        from rich.text import Text

        width = max(40, self.screen.console.width)
        lines = Text(no_wrap=True, overflow="ellipsis")
        for score, url, title in list(progress.finds)[-count:]:
            shown = clean(title, 40)
            lines.append(f"  {score:.2f} ", style="green")
            lines.append(f"{clean(url, max(20, width - 12 - len(shown)))}  ")
            lines.append(f"{shown}\n", style="dim")
        return lines
