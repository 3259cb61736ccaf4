"""The dashboard's routes. Each handler reads a request, asks the module whose matter it is, and puts a reply.

Whatever blocks (a database, a process, a page that is tried) is done in a thread, so that no page waits for
another.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import jinja2
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from clew import __version__
from clew.dashboard import compare, form
from clew.dashboard.finds import list_finds, one_page
from clew.dashboard.folder import CrawlFolder, ListedCrawl, key_of
from clew.dashboard.gate import LONGEST, AccessRules, Gate
from clew.dashboard.launch import Launcher
from clew.dashboard.live import LiveCrawl, as_json
from clew.dashboard.steer import SteerDesk
from clew.errors import ClewError, UsageError
from clew.report.find_graph import graph_of
from clew.run.explain import explain
from clew.store import export

#: Seconds between two updates of a page; while a long crawl is taken in for the first time; of one that
#: stands.
BEAT, CATCHING_UP, STANDING = 1.0, 0.02, 2.0
_KINDS = {
    "jsonl": "application/jsonl",
    "csv": "text/csv",
    "warc": "application/warc",
    "parquet": "application/vnd.apache.parquet",
}
_PIECE = 1 << 16


@dataclass(slots=True)
class Dashboard:
    """What the handlers share.

    Parameters: the folder with the crawls; who is admitted.
    """

    folder: CrawlFolder
    admitted: AccessRules
    first: ListedCrawl | None = None
    """The crawl to open with."""
    launcher: Launcher = field(default_factory=Launcher)
    desk: SteerDesk = field(default_factory=SteerDesk)
    live: dict[str, LiveCrawl] = field(default_factory=dict)

    def crawl(self, key: str) -> LiveCrawl:
        """The crawl of that key; `HTTPException` 404 where the folder has none."""
        known = self.live.get(key)
        if known is not None and (known.path / "clew.db").is_file():
            return known
        listed = self.folder.crawls().get(key)
        if listed is None:
            raise HTTPException(404, "there is no such crawl in the folder")
        self.live[key] = LiveCrawl(listed.path, listed.name)
        return self.live[key]


def make_app(dashboard: Dashboard) -> Starlette:
    """The application, behind its gate."""
    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Gate, admitted=dashboard.admitted)],
        exception_handlers={ClewError: _complaint, HTTPException: _refused, 500: _broken},
    )
    app.state.dashboard = dashboard
    app.state.templates = _templates()
    return app


def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("clew.dashboard", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    shared: Dashboard = request.app.state.dashboard
    writes = bool(request.scope.get("writes"))
    html = request.app.state.templates.get_template(template).render(
        token=shared.admitted.token if writes else "", writes=writes, version=__version__, **values
    )
    return Response(html.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


def _shared(request: Request) -> Dashboard:
    found: Dashboard = request.app.state.dashboard
    return found


def _json(value: Any, status: int = 200) -> Response:
    return Response(as_json(value).encode("ascii"), status, media_type="application/json")


async def _complaint(request: Request, error: Exception) -> Response:
    return _said(request, str(error), 400)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    wrong = error.status_code == 404 and error.detail == "Not Found"
    return _said(request, "there is no such page" if wrong else error.detail, error.status_code)


async def _broken(request: Request, error: Exception) -> Response:
    told = f"something unexpected happened: {type(error).__name__}; what clew dash printed says where"
    return _said(request, told, 500)


def _said(request: Request, text: str, status: int) -> Response:
    """What is wrong, for the script of a page or, where a person opened an address, as a page."""
    if "text/html" in request.headers.get("accept", ""):
        return _page(request, "wrong.html.j2", status, text=text)
    return _json({"error": text}, status)


async def _body(request: Request) -> dict[str, Any]:
    """The body of a change: a JSON object of a sensible size."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "a change is said in JSON")
    data = b""
    async for piece in request.stream():
        data += piece
        if len(data) > LONGEST:
            raise HTTPException(413, "too long")
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        raise HTTPException(400, "that is no JSON") from None
    if not isinstance(found, dict):
        raise HTTPException(400, "a JSON object is wanted")
    return found


# pages


async def index(request: Request) -> Response:
    """The crawls of the folder."""
    shared = _shared(request)
    crawls = await run_in_threadpool(shared.folder.crawls)
    experiments = await run_in_threadpool(shared.folder.experiments)
    return _page(
        request,
        "index.html.j2",
        crawls=crawls.values(),
        experiments=experiments.values(),
        root=shared.folder.root,
    )


async def overview(request: Request) -> Response:
    """The figures of every crawl of the folder, for the list."""
    shared = _shared(request)

    def figures() -> list[dict[str, Any]]:
        found = []
        for key in shared.folder.crawls():
            live = shared.crawl(key)
            try:
                live.update()
            except ClewError as error:
                found.append({"key": key, "status": "unreadable", "why": str(error)})
                continue
            found.append({"key": key, **json.loads(live.sections["state"][1])})
        return found

    return _json(await run_in_threadpool(figures))


async def new(request: Request) -> Response:
    """The form of a new crawl."""
    shared = _shared(request)

    def values() -> dict[str, Any]:
        return {
            "groups": form.fields_by_group(),
            "strategies": form.strategies(),
            "levels": form.LEVELS,
            "topics": form.topic_tree(shared.folder.root),
            "crawls": list(shared.folder.crawls().values()),
            "visits": shared.folder.visits(),
            "root": shared.folder.root,
        }

    return _page(request, "new.html.j2", **await run_in_threadpool(values))


async def crawl(request: Request) -> Response:
    """One crawl's page."""
    key = request.path_params["key"]
    live = _shared(request).crawl(key)
    return _page(request, "crawl.html.j2", key=key, name=live.name, path=live.path)


async def comparison(request: Request) -> Response:
    """Several crawls, one chart."""
    shared = _shared(request)
    crawls = await run_in_threadpool(shared.folder.crawls)
    experiments = await run_in_threadpool(shared.folder.experiments)
    chosen = request.query_params.getlist("c")
    return _page(
        request, "compare.html.j2", crawls=crawls.values(), experiments=experiments.values(), chosen=chosen
    )


# what pages ask for


async def events(request: Request) -> Response:
    """A crawl's sections as they change, as server-sent events."""
    key = request.path_params["key"]
    live = _shared(request).crawl(key)
    return EventSourceResponse(_updates(_shared(request), live), ping=15)


async def _updates(shared: Dashboard, live: LiveCrawl) -> AsyncIterator[dict[str, str]]:
    sent: dict[str, str] = {}
    told = ""
    while True:
        problem = ""
        try:
            await run_in_threadpool(live.update)
        except ClewError as error:
            problem = str(error)
        problem = problem or shared.launcher.failure(live.path) or live.problem
        if problem != told:
            told = problem
            yield {"event": "trouble", "data": as_json({"text": problem})}
        for name, (digest, text) in list(live.sections.items()):
            if sent.get(name) != digest:
                sent[name] = digest
                yield {"event": name, "data": text}
        yield {
            "event": "update",
            "data": as_json({"ms": round(1000 * live.took, 2), "behind": live.catching_up}),
        }
        running = live.pid is not None or shared.launcher.is_starting(live.path)
        await asyncio.sleep(CATCHING_UP if live.catching_up else BEAT if running else STANDING)


async def finds(request: Request) -> Response:
    """Some of a crawl's finds."""
    live = _shared(request).crawl(request.path_params["key"])
    asked = request.query_params

    def found() -> dict[str, Any]:
        live.update()
        with live.reading() as reader:
            return list_finds(
                reader,
                live.fold.finds,
                live.formula,
                search=asked.get("q", "")[:500],
                host=asked.get("host", "")[:300],
                only=live.interests.finds_of(interest) if (interest := asked.get("interest", "")) else None,
                least=_number(asked.get("least"), 0.0),
                best=asked.get("sort") == "best",
                offset=max(0, int(_number(asked.get("offset"), 0))),
                limit=max(1, int(_number(asked.get("limit"), 20))),
            )

    return _json(await run_in_threadpool(live.locked, found))


async def one_find(request: Request) -> Response:
    """One fetched page, whole."""
    live = _shared(request).crawl(request.path_params["key"])

    def found() -> dict[str, Any] | None:
        with live.reading() as reader:
            return one_page(reader, request.path_params["candidate"], live.formula)

    page = await run_in_threadpool(live.locked, found)
    if page is None:
        raise HTTPException(404, "there is no such page in the crawl")
    return _json(page)


async def explained(request: Request) -> Response:
    """Why a link was fetched, is waiting, or was left out; learning again what was known then may take a
    while."""
    live = _shared(request).crawl(request.path_params["key"])
    url = request.query_params.get("url", "")

    def story() -> dict[str, Any]:
        from clew.store import open_reader

        with open_reader(str(live.path)) as reader:
            return {"lines": explain(reader, url).lines()}

    return _json(await run_in_threadpool(story))


async def moved(request: Request) -> Response:
    """The links that one contribution moved most."""
    live = _shared(request).crawl(request.path_params["key"])
    return _json(live.moved(request.query_params.get("factor", "")))


async def suspended(request: Request) -> Response:
    """Directions that are suspended by `--confidence`; to count them takes the whole crawl, so it is asked
    for."""
    live = _shared(request).crawl(request.path_params["key"])

    def told() -> dict[str, Any]:
        from clew.run.recall_confidence import counted
        from clew.store import open_reader

        live.update()
        level = live.confidence
        if level is None:
            return {"level": None}
        with open_reader(str(live.path)) as reader:
            found, waiting = counted(reader, level)
        return {"level": level, "suspended": waiting, **found.as_dict()}

    return _json(await run_in_threadpool(told))


async def graph(request: Request) -> Response:
    """The link graph around the finds."""
    live = _shared(request).crawl(request.path_params["key"])

    def drawn() -> dict[str, Any]:
        live.update()
        with live.reading() as reader:
            found = graph_of(reader, live.fold.finds)
            return asdict(found) | {"drawn": found.drawn}

    return _json(await run_in_threadpool(live.locked, drawn))


async def exported(request: Request) -> Response:
    """A crawl's pages, or its finds, as a file to keep."""
    live = _shared(request).crawl(request.path_params["key"])
    kind = request.query_params.get("format", "jsonl")
    if kind not in _KINDS:
        raise UsageError(f"there is no format {kind[:40]!r}: choose {', '.join(_KINDS)}")
    matched = request.query_params.get("all") != "1"
    interest = request.query_params.get("for", "")

    def written() -> IO[bytes]:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it was sent
        export(str(live.path), file, format=kind, matched=matched, interest=interest)
        file.seek(0)
        return file

    file = await run_in_threadpool(written)
    suffix = "warc.gz" if kind == "warc" else kind
    name = f"{request.path_params['key']}{'' if matched else '-all'}.{suffix}"
    return _attachment(file, name, _KINDS[kind])


async def report(request: Request) -> Response:
    """The crawl's report as one file to keep."""
    live = _shared(request).crawl(request.path_params["key"])

    def written() -> IO[bytes]:
        from clew.report import write_report
        from clew.store import open_reader

        with tempfile.TemporaryDirectory() as folder, open_reader(str(live.path)) as reader:
            path = Path(folder) / "report.html"
            write_report(reader, path, command=str(live.meta.get("command") or ""))
            file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it was sent
            file.write(path.read_bytes())
        file.seek(0)
        return file

    file = await run_in_threadpool(written)
    return _attachment(file, f"{request.path_params['key']}-report.html", "application/octet-stream")


def _attachment(file: IO[bytes], name: str, kind: str) -> Response:
    def pieces() -> Iterator[bytes]:
        with file:
            while piece := file.read(_PIECE):
                yield piece

    disposition = f'attachment; filename="{name}"'
    return StreamingResponse(pieces(), media_type=kind, headers={"content-disposition": disposition})


async def compared(request: Request) -> Response:
    """The lines and rows of a comparison."""
    shared = _shared(request)
    chosen = request.query_params.getlist("c")[: compare.MOST]

    def rows() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        experiments = shared.folder.experiments()
        for key in dict.fromkeys(chosen):
            if key in experiments:
                found += compare.experiment_rows(experiments[key])
                continue
            live = shared.crawl(key)
            try:
                live.update()
                while live.catching_up:
                    live.update()
            except ClewError as error:
                found.append(compare.crawl_row(live, key) | {"status": str(error)})
                continue
            found.append(compare.crawl_row(live, key))
        return found[: compare.MOST]

    return _json(await run_in_threadpool(rows))


# changes


async def check_settings(request: Request) -> Response:
    """What is wrong with a form, and the file it would make."""
    data = await _body(request)
    shared = _shared(request)
    return _json(
        await run_in_threadpool(
            form.check, _table(data, "values"), shared.folder, str(data.get("name") or "")
        )
    )


async def check_formula(request: Request) -> Response:
    """A formula read back and tried."""
    data = await _body(request)
    shared = _shared(request)
    text, url = str(data.get("text") or ""), str(data.get("url") or "")
    return _json(await run_in_threadpool(form.try_formula, _table(data, "values"), shared.folder, text, url))


async def start(request: Request) -> Response:
    """Write a new crawl's `clew.toml` and start it."""
    data = await _body(request)
    shared = _shared(request)

    def begun() -> dict[str, Any]:
        place = form.write(_table(data, "values"), shared.folder, str(data.get("name") or ""))
        if data.get("start") is not False:
            shared.launcher.start(place)
        return {"key": key_of(place.name), "path": str(place)}

    return _json(await run_in_threadpool(begun))


async def started(request: Request) -> Response:
    """Whether a crawl that was just started is there yet, or why it is not."""
    shared = _shared(request)
    key = request.path_params["key"]

    def state() -> dict[str, Any]:
        if key in shared.folder.crawls():
            return {"there": True, "failure": ""}
        failures = [why for path, why in shared.launcher.failures() if key_of(path.name) == key]
        return {"there": False, "failure": failures[0] if failures else ""}

    return _json(await run_in_threadpool(state))


async def go_on(request: Request) -> Response:
    """Go on with a crawl that is not running."""
    await _body(request)
    shared = _shared(request)
    live = shared.crawl(request.path_params["key"])
    await run_in_threadpool(shared.launcher.start, live.path)
    return _json({"done": "started"})


async def stop(request: Request) -> Response:
    """Stop a running crawl at a checkpoint."""
    await _body(request)
    shared = _shared(request)
    live = shared.crawl(request.path_params["key"])
    await run_in_threadpool(shared.launcher.stop, live.path)
    return _json({"done": "stopping"})


async def steer(request: Request) -> Response:
    """Change a crawl as `clew steer` does, or say what would move."""
    data = await _body(request)
    shared = _shared(request)
    live = shared.crawl(request.path_params["key"])
    preview = data.get("preview") is True
    job = await run_in_threadpool(
        lambda: shared.desk.begin(live.path, _table(data, "wanted"), preview=preview)
    )
    return _json(job.told())


async def steered(request: Request) -> Response:
    """How far the changes are that were asked for from pages."""
    shared = _shared(request)
    return _json(shared.desk.jobs(shared.crawl(request.path_params["key"]).path))


async def unwanted(request: Request) -> Response:
    """Nobody waits for a preview any more."""
    data = await _body(request)
    shared = _shared(request)
    shared.desk.cancel(shared.crawl(request.path_params["key"]).path, str(data.get("job") or ""))
    return _json({"done": "cancelled"})


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    found = data.get(key)
    if not isinstance(found, dict):
        raise HTTPException(400, f"{key} is wanted")
    return found


def _number(text: str | None, default: float) -> float:
    try:
        found = float(text or default)
    except ValueError:
        return default
    return found if abs(found) < 1e9 else default


ROUTES: list[Route | Mount] = [
    Route("/", index),
    Route("/new", new),
    Route("/compare", comparison),
    Route("/api/overview", overview),
    Route("/api/compare", compared),
    Route("/api/settings", check_settings, methods=["POST"]),
    Route("/api/formula", check_formula, methods=["POST"]),
    Route("/api/start", start, methods=["POST"]),
    Route("/api/started/{key}", started),
    Route("/crawl/{key}", crawl),
    Route("/crawl/{key}/events", events),
    Route("/crawl/{key}/finds", finds),
    Route("/crawl/{key}/find/{candidate:int}", one_find),
    Route("/crawl/{key}/explain", explained),
    Route("/crawl/{key}/moved", moved),
    Route("/crawl/{key}/graph", graph),
    Route("/crawl/{key}/suspended", suspended),
    Route("/crawl/{key}/export", exported),
    Route("/crawl/{key}/report", report),
    Route("/crawl/{key}/resume", go_on, methods=["POST"]),
    Route("/crawl/{key}/stop", stop, methods=["POST"]),
    Route("/crawl/{key}/steer", steer, methods=["POST"]),
    Route("/crawl/{key}/steered", steered),
    Route("/crawl/{key}/unwanted", unwanted, methods=["POST"]),
    Mount("/static", StaticFiles(packages=[("clew.dashboard", "static")])),
]
