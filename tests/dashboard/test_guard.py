"""Who may ask for what: the token, the origin, and the names under which the page is served."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from streamgauge.dashboard.guard import LARGEST_BODY_BYTES, Control, loopback
from streamgauge.dashboard.server import application
from tests.dashboard.conftest import HOME, control

RIGHT = {"host": "127.0.0.1:8000"}


def asked(guard: Control, method: str = "POST", **headers: str) -> str:
    """Why a request with those headers is refused; an underscore stands for a hyphen."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return guard.refusal(method, Headers({**RIGHT, **named}))


def test_reading_needs_nothing_and_changing_the_token() -> None:
    guard = control()
    assert asked(guard, "GET") == ""
    assert "token" in asked(guard)
    assert "token" in asked(guard, x_streamgauge_token="wrong")
    assert "token" in asked(guard, x_streamgauge_token="wröng")
    assert asked(guard, x_streamgauge_token=guard.token) == ""


def test_every_server_has_a_token_of_its_own_that_is_not_printed_with_it() -> None:
    one, other = control(), control()
    assert one.token != other.token
    assert len(one.token) >= 32
    assert one.token not in repr(one)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get"])
def test_all_but_get_and_head_is_changing(method: str) -> None:
    assert asked(control(), method) != ""


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:8001",
        "http://localhost:8000",
        "file://127.0.0.1:8000",
        "http://[",
    ],
)
def test_another_origin_may_not_change_anything_even_with_the_token(origin: str) -> None:
    guard = control()
    assert "origin" in asked(guard, x_streamgauge_token=guard.token, origin=origin)
    assert "origin" in asked(guard, x_streamgauge_token=guard.token, sec_fetch_site="cross-site")
    assert asked(guard, x_streamgauge_token=guard.token, origin="http://127.0.0.1:8000") == ""


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("127.0.0.1:8000", True),
        ("localhost:8000", True),
        ("LOCALHOST:8000", True),
        ("[::1]:8000", True),
        ("localhost", False),
        ("localhost:8001", False),
        ("evil.example:8000", False),
        ("127.0.0.1.evil.example:8000", False),
        ("10.0.0.7:8000", False),
        ("localhost:8000@evil.example", False),
        ("localhost:8000/", False),
        ("localhost:port", False),
        ("", False),
    ],
)
def test_a_name_that_was_rebound_to_loopback_is_not_served(host: str, served: bool) -> None:
    assert control().serves(host) is served
    assert (control().refusal("GET", Headers({"host": host})) == "") is served


def test_away_from_loopback_nothing_can_be_changed_unless_allowed() -> None:
    guard = Control.at("0.0.0.0", 8000)
    assert asked(guard, "GET") == ""
    assert "--allow-control" in asked(guard, x_streamgauge_token=guard.token)
    allowed = Control.at("0.0.0.0", 8000, allow_control=True)
    assert asked(allowed, x_streamgauge_token=allowed.token) == ""
    assert "token" in asked(allowed)


def test_away_from_loopback_an_address_in_figures_is_served_and_a_foreign_name_is_not() -> None:
    guard = Control.at("0.0.0.0", 8000)
    assert guard.serves("192.168.7.7:8000")
    assert not guard.serves("evil.example:8000")
    assert Control.at("lab.example", 8000).serves("lab.example:8000")


@pytest.mark.parametrize(
    ("host", "alone"), [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("0.0.0.0", False), ("lab", False)]
)
def test_what_loopback_is(host: str, alone: bool) -> None:
    assert loopback(host) is alone


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_whatever_is_sent_nothing_is_changed_without_the_token(host: str, origin: str, token: str) -> None:
    raw = [(n, v.encode("utf-8")) for n, v in ((b"host", host), (b"origin", origin), (b"x-streamgauge-token", token))]
    assert control().refusal("POST", Headers(raw=raw)) != ""


def test_a_page_without_control_is_for_reading(run: Path) -> None:
    client = TestClient(application(run.parent), base_url=HOME)
    assert client.get("/").status_code == 200
    answer = client.post(f"/api/runs/{run.name}/delete", json={"confirm": run.name})
    assert answer.status_code == 403
    assert "reading only" in answer.json()["error"]
    assert "Delete" not in client.get("/").text


@pytest.mark.parametrize("address", ["notes", "delete"])
def test_a_change_without_the_token_or_from_elsewhere_is_403(changing: TestClient, run: Path, address: str) -> None:
    where, body = f"/api/runs/{run.name}/{address}", {"confirm": run.name, "note": "x", "tags": []}
    for headers in ({"X-Streamgauge-Token": ""}, {"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        assert changing.post(where, json=body, headers=headers).status_code == 403
    assert run.is_dir()
    assert not (run / "notes.json").exists()


def test_a_request_that_is_too_long_is_413(changing: TestClient, run: Path) -> None:
    answer = changing.post(f"/api/runs/{run.name}/notes", content=b"x" * (LARGEST_BODY_BYTES + 1))
    assert answer.status_code == 413
    endless = changing.post(f"/api/runs/{run.name}/notes", content=iter([b"x", b"y"]))
    assert endless.status_code == 413


def test_every_answer_says_what_a_browser_may_do_with_it(reading: TestClient) -> None:
    for address in ("/", "/nothing", "/static/dashboard.js"):
        headers = reading.get(address).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
