"""What a person sees: figures that are right, and never a control character from a page."""

from __future__ import annotations

import io
import unicodedata
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from clew.cli.console import clean, sparkline
from clew.cli.progress_figures import Speed, busiest, harvest_bars
from clew.cli.views import PlainView, Screen
from clew.run.observe import Progress
from clew.run.waits import Wait


def progress(**values: object) -> Progress:
    made = Progress(
        pages=50, matches=10, requests=60, queued=300, wire=5_000_000, started=0.0, now=90.0, budget=100
    )
    made.curve.extend([(0, 0), (25, 1), (50, 10)])
    made.hosts["a.example"] = [30, 8, 31]
    made.dropped.update(robots=4, scope=9)
    made.finds.append((0.9, "http://a.example/x", "A title"))
    for name, value in values.items():
        setattr(made, name, value)
    return made


def drawn(*lanes: Progress) -> str:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=120, force_terminal=False))
    for number, lane in enumerate(lanes):
        view = screen.lane(f"lane {number}" if len(lanes) > 1 else "")
        view.progress_ = lane
    screen.console.print(screen.draw())
    return out.getvalue()


def test_the_picture_has_all_that_a_person_watches():
    picture = drawn(progress())
    for expected in (
        "finds 10",
        "50 / 100",
        "0.200",
        "300",
        "5.0 MB",
        "1m30s",
        "a.example",
        "A title",
        "scope 9",
    ):
        assert expected in picture
    assert "█" in picture


def test_what_waits_is_told_with_how_long_and_why(capsys, monkeypatch):
    monkeypatch.setattr("clew.cli.views.time", SimpleNamespace(time=lambda: 90.0, monotonic=lambda: 90.0))
    waiting = [
        Wait("everything", 130.5, "the name server of this machine does not answer"),
        Wait("a.example", 120.0, "it asked for that (Retry-After)"),
    ]
    picture = drawn(progress(waiting=waiting))
    assert "waiting  everything  40s more: the name server of this machine does not answer" in picture
    assert "waiting  a.example" in picture
    view = PlainView()
    idle = progress(waiting=waiting, now=90.0, in_flight=0)
    view.settled((), idle)
    view.settled((), idle)
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("waiting:")]
    assert told == [
        "waiting: everything  40s more: the name server of this machine does not answer (and 1 more wait)"
    ]


def test_a_picture_too_tall_for_the_terminal_leaves_no_frame_behind():
    out = io.StringIO()
    screen = Screen(Console(file=out, width=80, height=6, force_terminal=True))
    lane = screen.lane()
    lane.started(progress())
    drawn_before = out.tell()
    lane.finished(progress(), "interrupted")
    assert out.getvalue()[drawn_before:].count("duplicates") == 1


def test_side_by_side_has_a_lane_for_each():
    picture = drawn(progress(), progress(matches=7))
    assert "lane 0" in picture
    assert "finds 7" in picture


def test_a_hostile_title_cannot_touch_the_terminal():
    picture = drawn(progress(finds=[(1.0, "http://a.example/\x1b]0;x\x07", "\x1b[2J[red]boo\u202e\r\nnext")]))
    assert "\x1b" not in picture
    assert "\u202e" not in picture
    assert "[red]boo next" in picture


def test_a_live_picture_starts_stops_and_leaves_the_last_state(capsys):
    out = io.StringIO()
    screen = Screen(Console(file=out, width=100, force_terminal=True, color_system=None))
    one, two = screen.lane("one"), screen.lane("two")
    tally = progress()
    one.started(tally)
    two.started(tally)
    one.settled([], tally)
    one.finished(tally, "pages")
    assert screen.live_ is not None, "the other still runs"
    two.close()
    two.close()
    assert screen.live_ is None
    assert "finds 10" in out.getvalue().rpartition("one")[2]


def test_plain_lines_come_by_pages_not_one_each(capsys):
    view = PlainView(every_pages=100, every_seconds=1e9)
    tally = progress(pages=0, budget=None)
    view.started(tally)
    for pages in range(1, 251):
        tally.pages = pages
        view.settled([], tally)
    view.finished(tally, "pages")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert "250 pages" in lines[-1]
    assert all(line.isprintable() for line in lines)


def test_plain_lines_come_by_time_too(capsys):
    view = PlainView(every_pages=10**9, every_seconds=0)
    view.settled([], progress())
    assert "10 finds" in capsys.readouterr().err


@given(st.text())
def test_clean_text_is_one_printable_line(text):
    shown = clean(text, 40)
    assert len(shown) <= 40
    assert all(unicodedata.category(c)[0] != "C" for c in shown)
    assert shown == clean(shown, 40)


@given(st.lists(st.floats(0, 1e9), max_size=50))
def test_a_sparkline_has_a_bar_for_each_value(values):
    assert len(sparkline(values)) == len(values)


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=60), st.integers(1, 60))
def test_harvest_bars_never_fail_and_never_exceed_the_width(steps, width):
    pages = matches = 0
    curve = [(0, 0)]
    for step, found in steps:
        pages += step
        matches += found
        curve.append((pages, matches))
    assert len(harvest_bars(curve, width)) <= width


def test_speed_looks_at_the_last_half_minute_only():
    now = iter([0.0, 100.0, 110.0])
    speed = Speed(lambda: next(now))
    speed.tick(0)
    speed.tick(1000)
    assert speed.tick(1020) == 2.0


def test_the_busiest_hosts_come_first():
    tally = progress(hosts={"b": [1, 0, 5], "a": [1, 0, 5], "c": [9, 9, 9]})
    assert [host for host, _ in busiest(tally, 2)] == ["c", "a"]
