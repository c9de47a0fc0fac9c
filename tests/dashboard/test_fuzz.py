"""Whatever is asked, an answer comes, nothing outside the store is read, and nothing changes without the token."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette

from streamgauge.dashboard.guard import TOKEN_HEADER, Control
from streamgauge.dashboard.server import application
from tests.dashboard.conftest import control
from tests.dashboard.raw import request
from tests.report.sample_run import record, store_sample, tables

SECRET = "what-lies-outside"
FEW = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run, in a folder that holds something secret and looks like a run itself."""
    outside = tmp_path_factory.mktemp("outside")
    trials = [(record("grep", engine), tables(engine, 1)) for engine in ("spark-realtime", "spark-microbatch")]
    folder = store_sample(outside / "runs", trials)
    for where in (outside, outside / "other"):
        where.mkdir(exist_ok=True)
        (where / "run.json").write_text(json.dumps({"schema": 1, "run": SECRET, "command": SECRET}))
        (where / "secret.csv").write_text(SECRET)
    return folder


@pytest.fixture(scope="module")
def known() -> Control:
    """The control of the application below."""
    return control()


@pytest.fixture(scope="module")
def app(inside: Path, known: Control) -> Starlette:
    """The page over that store."""
    return application(inside.parent, known)


PIECES = st.sampled_from(
    [
        *(
            "runs",
            "api",
            "compare",
            "static",
            "compare.csv",
            "report.html",
            "figures.csv",
            "trials",
            "1",
            "2",
            "-1",
            "9" * 30,
        ),
        *(
            "live",
            "start",
            "check",
            "control",
            "stop",
            "overlay",
            "span",
            "notes",
            "delete",
            "latency.csv",
            "RUN",
            "RUN:1",
            "..",
            ".",
            "...",
            "",
            "~",
            "%2e%2e",
            "..\\",
        ),
        *("other", "run.json", "secret.csv", "etc", "passwd", "\x00", "plotly.js", "dashboard.js", "\u2025", "C:"),
    ]
)
PATHS = st.lists(PIECES | st.text(max_size=12), max_size=7).map(lambda parts: "/" + "/".join(parts))
QUERIES = st.lists(
    st.tuples(
        st.sampled_from(["trial", "from", "to", "kind", "with", ""]),
        PIECES | st.text(max_size=10) | st.floats().map(str) | st.integers().map(str),
    ),
    max_size=5,
)


def query_of(pairs: list[tuple[str, str]], run: str) -> bytes:
    """Pairs as a query string, as loosely written as they are."""
    return "&".join(f"{name}={value.replace('RUN', run)}" for name, value in pairs).encode("utf-8", "replace")


def files_of(run: Path) -> dict[str, int]:
    """Every file around a run and when it was written."""
    return {str(path): path.stat().st_mtime_ns for path in run.parent.parent.rglob("*") if path.is_file()}


@FEW
@given(PATHS, QUERIES)
def test_any_address_is_answered_and_nothing_outside_is_shown(
    app: Starlette, inside: Path, path: str, pairs: list[tuple[str, str]]
) -> None:
    answer = request(app, path.replace("RUN", inside.name), query=query_of(pairs, inside.name))
    assert answer.status < 500
    assert SECRET.encode() not in answer.body


@FEW
@given(st.sampled_from(["overlay", "span"]), QUERIES)
def test_any_question_about_a_run_is_answered_in_json(
    app: Starlette, inside: Path, what: str, pairs: list[tuple[str, str]]
) -> None:
    query = b"trial=1&" + query_of(pairs, inside.name)
    answer = request(app, f"/api/runs/{inside.name}/{what}", query=query)
    assert answer.status in (200, 422)
    # Not-a-number is no JSON, and a browser does not read it.
    json.loads(answer.body, parse_constant=lambda name: pytest.fail(f"{name} in the answer"))


@FEW
@given(st.sampled_from(["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]), PATHS, st.binary(max_size=200))
def test_nothing_is_changed_without_the_token(
    app: Starlette, inside: Path, method: str, path: str, body: bytes
) -> None:
    before = files_of(inside)
    for where in (
        path.replace("RUN", inside.name),
        f"/api/runs/{inside.name}/delete",
        f"/api/runs/{inside.name}/notes",
    ):
        confirmed = body if where.startswith(path) else json.dumps({"confirm": inside.name, "note": "x"}).encode()
        assert request(app, where, method=method, body=confirmed).status == 403
    assert files_of(inside) == before


@FEW
@given(
    PATHS,
    st.binary(max_size=200)
    | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(
        lambda value: json.dumps({"tags": value, "note": value, "confirm": value}).encode()
    ),
)
def test_whatever_is_sent_with_the_token_the_run_stays_and_can_be_read(
    app: Starlette, inside: Path, known: Control, path: str, body: bytes
) -> None:
    token = ((TOKEN_HEADER.encode(), known.token.encode()),)
    for where in (
        path.replace("RUN", inside.name),
        f"/api/runs/{inside.name}/delete",
        f"/api/runs/{inside.name}/notes",
    ):
        assert request(app, where, method="POST", headers=token, body=body).status < 500
    assert (inside / "run.json").exists()
    assert (inside.parent.parent / "secret.csv").read_text() == SECRET
    assert request(app, "/").status == 200
