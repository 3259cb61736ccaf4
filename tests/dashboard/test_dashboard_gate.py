"""Who may ask the dashboard for what: a sweep over its table of routes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import Served, key_of, serving
from starlette.routing import Mount

from clew.dashboard.app import ROUTES
from clew.dashboard.gate import HEADERS, AccessRules
from clew.errors import UsageError

KEY = key_of("wind")


def addresses() -> list[tuple[str, str]]:
    """Method and path of every route, parameters filled in with what is there."""
    found = []
    for route in ROUTES:
        if isinstance(route, Mount):
            found.append(("GET", f"{route.path}/clew.css"))
            continue
        path = route.path.replace("{key}", KEY).replace("{candidate:int}", "0")
        query = {"export": "?format=csv", "explain": "?url=http://a.example/", "compare": f"?c={KEY}"}
        path += query.get(path.rpartition("/")[2], "")
        found += [(method, path) for method in sorted(route.methods or ()) if method != "HEAD"]
    return found


ADDRESSES = addresses()
CHANGES = [item for item in ADDRESSES if item[0] == "POST"]


def test_the_sweep_knows_the_routes():
    assert len(ADDRESSES) == len(ROUTES)
    assert len(CHANGES) >= 5


@pytest.fixture(scope="module")
def swept(crawls: Path) -> Iterator[Served]:
    with serving(crawls) as served:
        yield served


@pytest.fixture(scope="module")
def abroad(crawls: Path) -> Iterator[Served]:
    """A dashboard that thinks others can reach it."""
    with serving(crawls, address="0.0.0.0", names=("127.0.0.1",)) as served:
        yield served


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_a_wrong_host_is_refused(swept: Served, method: str, path: str):
    port = swept.admitted.port
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1.evil.example:{port}",
    ):
        reply = swept.ask(path, method, {}, Host=host, X_Clew_Token=swept.admitted.token)
        assert 400 <= reply.status < 500, host


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_a_foreign_origin_is_refused(swept: Served, method: str, path: str):
    port = swept.admitted.port
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1:1", ""):
        reply = swept.ask(path, method, {}, Origin=origin, X_Clew_Token=swept.admitted.token)
        assert 400 <= reply.status < 500, origin
    reply = swept.ask(path, method, {}, Sec_Fetch_Site="cross-site", X_Clew_Token=swept.admitted.token)
    assert reply.status == 403


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_a_change_without_the_token_of_now_is_refused(swept: Served, method: str, path: str):
    stale = AccessRules.make("127.0.0.1", swept.admitted.port).token
    cookie = f"{swept.admitted.cookie}={swept.admitted.token}"
    assert swept.ask(path, method, {}).status == 403
    assert swept.ask(path, method, {}, X_Clew_Token=stale).status == 403
    assert swept.ask(path, method, {}, X_Clew_Token="").status == 403
    assert swept.ask(path, method, {}, Cookie=cookie).status == 403, "a cookie alone is sent by any page"


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_a_stale_token_is_refused_everywhere(swept: Served, method: str, path: str):
    assert swept.ask(path, method, {}, X_Clew_Token="stale").status == 403
    mark = "&" if "?" in path else "?"
    assert swept.ask(f"{path}{mark}token=stale", method, {}).status == 403


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_where_others_can_ask_nothing_is_shown_without_the_token(abroad: Served, method: str, path: str):
    assert abroad.ask(path, method, {}).status in (401, 403)
    assert abroad.ask(path, method, {}, Cookie=f"{abroad.admitted.cookie}=stale").status in (401, 403)


@pytest.mark.parametrize(("method", "path"), [item for item in ADDRESSES if item[0] == "GET"])
def test_what_is_asked_for_as_it_should_be_is_shown(swept: Served, abroad: Served, method: str, path: str):
    """Guards the tests above: it is not the path that is refused."""
    assert swept.ask(path, method).status == 200
    cookie = f"{abroad.admitted.cookie}={abroad.admitted.token}"
    assert abroad.ask(path, method, Cookie=cookie).status == 200


@pytest.mark.parametrize(("method", "path"), [*ADDRESSES, ("GET", "/nothing-here"), ("DELETE", "/")])
def test_every_reply_has_the_policy(swept: Served, method: str, path: str):
    for headers in ({}, {"Host": "evil.example"}):
        reply = swept.ask(path, method, {} if method == "POST" else None, **headers)
        for name, value in HEADERS.items():
            assert reply.headers[name] == value


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere():
    policy = HEADERS["content-security-policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "data:" not in policy


def test_the_token_becomes_a_cookie_that_no_script_reads_and_no_other_site_sends(swept: Served):
    reply = swept.ask(f"/?token={swept.admitted.token}")
    assert (reply.status, reply.headers["location"]) == (303, "/")
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_the_page_has_the_token_only_for_who_showed_it(swept: Served):
    token = swept.admitted.token.encode()
    assert token not in swept.ask("/").body
    assert token in swept.ask("/", Cookie=f"{swept.admitted.cookie}={swept.admitted.token}").body


def test_pages_have_no_inline_script_style_or_handler(swept: Served):
    for path in ("/", "/new", "/compare", f"/crawl/{KEY}"):
        html = swept.ask(path).body.decode()
        assert "<style" not in html
        assert not re.search(r"<script(?![^>]*\bsrc=)", html)
        assert not re.search(r"\s(on\w+|style)=", html)


def test_what_is_too_long_or_no_json_is_refused(swept: Served):
    token = {"X_Clew_Token": swept.admitted.token}
    assert swept.ask("/api/settings", "POST", {"values": "x" * (1 << 20)}, **token).status == 413
    assert swept.ask("/api/settings", "POST", [], **token).status == 400
    assert swept.ask("/api/settings", "POST", {"values": 3}, **token).status == 400
    assert swept.ask("/api/settings", "POST", {}, Content_Type="text/plain", **token).status == 415


def test_every_address_of_a_machine_needs_a_name():
    with pytest.raises(UsageError, match="--name"):
        AccessRules.make("0.0.0.0", 80)


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/crawl/..%2f..%2fetc"]
)
def test_no_path_leads_out(swept: Served, path: str):
    assert swept.ask(path).status == 404
