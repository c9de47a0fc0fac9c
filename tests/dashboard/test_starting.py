"""Start and stop from the page, with a program in the command's place, and the guard before it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from streamgauge.dashboard.commands import Commands
from streamgauge.dashboard.guard import TOKEN_HEADER, Control
from streamgauge.dashboard.server import application
from streamgauge.store import RunStore
from streamgauge.store.live import LiveWriter
from tests.waiting import until

HOME = "http://127.0.0.1"
GOOD = {"applications": ["wordcount"], "load": "constant:500/s", "for": "15s"}
RUNS = """
import os, signal, sys, time
from pathlib import Path
from streamgauge.store import RunStore
from streamgauge.store.live import LiveWriter
writer = RunStore(Path(sys.argv[1])).create(command="x", trials=1)
live = LiveWriter(writer.folder)
live.say("plan", run=writer.id, pid=os.getpid(), trials=[])
print("arguments", sys.argv[2:], flush=True)
if {deaf!r}:
    for number in {deaf!r}:
        signal.signal(number, signal.SIG_IGN)
else:
    signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    while True:
        live.beat()
        time.sleep(0.05)
except KeyboardInterrupt:
    writer.finish("interrupted")
    live.close("interrupted")
    sys.exit(130)
"""


def program(root: Path, deaf: tuple[int, ...] = ()) -> tuple[str, ...]:
    return (sys.executable, "-c", RUNS.replace("{deaf!r}", repr(deaf)), str(root))


@pytest.fixture(autouse=True)
def _at_usual_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may be run behind others; what they are about is not."""
    monkeypatch.setattr(os, "nice", lambda change: 0)


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    found = Commands(RunStore(tmp_path), program(tmp_path), polite_s=3.0)
    yield found
    found.close()


def test_a_command_is_started_in_a_session_of_its_own_and_its_run_is_found(commands: Commands) -> None:
    started = commands.start(["run", "wordcount", "--fault", "kill driver at 5s; rm -rf $HOME"])
    assert os.getsid(started.process.pid) == started.process.pid
    run = until(lambda: commands.list()[0].run)
    assert commands.under_way() == run
    assert "['run', 'wordcount', '--fault', 'kill driver at 5s; rm -rf $HOME']" in started.last_words()
    stopped = commands.stop(started.id)
    assert stopped.state in ("stopping", "ended")
    until(lambda: started.state == "ended")
    assert started.process.returncode == 130, "it was interrupted as by Ctrl-C"
    assert commands.under_way() is None


def test_two_at_once_are_refused_whoever_started_the_first(commands: Commands, tmp_path: Path) -> None:
    from streamgauge.dashboard.commands import BusyError

    started = commands.start([])
    with pytest.raises(BusyError, match="is under way"):
        commands.start([])
    until(lambda: commands.list()[0].run)
    commands.stop(started.id)
    until(lambda: started.state == "ended")
    other = RunStore(tmp_path).create(command="elsewhere", trials=1)
    live = LiveWriter(other.folder)
    with pytest.raises(BusyError, match=other.id):
        commands.start([])
    live.close("complete")
    commands.start([])


@pytest.mark.parametrize(("deaf", "code"), [((2,), -15), ((2, 15), -9)])
def test_a_command_that_does_not_listen_is_told_more_plainly(tmp_path: Path, deaf: tuple[int, ...], code: int) -> None:
    commands = Commands(RunStore(tmp_path), program(tmp_path, deaf), polite_s=0.3)
    started = commands.start([])
    until(lambda: commands.list()[0].run)
    commands.close()
    assert started.process.returncode == code


def test_closing_leaves_nothing(commands: Commands) -> None:
    started = commands.start([])
    until(lambda: commands.list()[0].run)
    commands.close()
    assert not psutil.pid_exists(started.process.pid) or started.process.poll() is not None
    assert commands.list() == []


class Page:
    """The page with a program in the command's place."""

    def __init__(self, root: Path, control: Control | None = None) -> None:
        self.control = control or Control.at("127.0.0.1", 80)
        self.app = application(root, self.control)
        self.commands = Commands(RunStore(root), program(root), polite_s=3.0)
        self.app.state.commands = self.commands
        self.client = TestClient(self.app, base_url=HOME)

    def post(self, path: str, body: Any, **headers: str) -> Any:
        token = {TOKEN_HEADER: self.control.token}
        return self.client.post(path, json=body, headers={**token, **headers})


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    found = Page(tmp_path)
    yield found
    found.commands.close()


def test_the_form_offers_what_there_is(page: Page) -> None:
    text = page.client.get("/start").text
    for each in ('value="wordcount"', 'value="spark-adaptive"', "constant:500/s", "<option>suspend</option>"):
        assert each in text


def test_what_is_typed_is_planned_and_the_command_shown(page: Page, tmp_path: Path) -> None:
    found = page.post("/api/start/check", {**GOOD, "faults": ["kill driver at 5s"]}).json()
    assert found["problems"] == [] and found["expected"].startswith("1 trial, in about")
    assert found["command"].startswith("streamgauge run wordcount --load constant:500/s --for 15s --fault")
    assert str(tmp_path) in found["command"]
    assert [each["name"] for each in found["figure"]["layout"]["shapes"]] == ["the warm-up", "fault"]


def test_a_run_is_started_found_and_stopped(page: Page) -> None:
    started = page.post("/api/start", GOOD).json()

    def mine() -> Any:
        return next(each for each in page.client.get("/api/control").json()["started"] if each["id"] == started["id"])

    until(lambda: mine()["run"])
    busy = page.post("/api/start", GOOD)
    assert busy.status_code == 409 and "is under way" in busy.json()["error"]
    assert page.post("/api/stop", {"id": started["id"]}).status_code == 200
    until(lambda: mine()["state"] == "ended")
    assert mine()["exit_code"] == 130


def test_nothing_is_started_where_anything_is_wrong(page: Page) -> None:
    refused = page.post("/api/start", {**GOOD, "load": "constant:much"})
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["field"] == "load" and "'much' is not a rate" in refused.json()["error"]
    assert page.post("/api/start", {"applications": "wordcount"}).status_code == 422
    assert page.post("/api/stop", {"id": "none"}).status_code == 422
    assert page.client.get("/api/control").json()["started"] == []


@pytest.mark.parametrize("path", ["/api/start", "/api/start/check", "/api/stop"])
def test_without_token_or_from_elsewhere_nothing_happens(page: Page, path: str) -> None:
    assert page.client.post(path, json=GOOD).status_code == 403
    assert page.post(path, GOOD, **{TOKEN_HEADER: "wrong"}).status_code == 403
    assert page.post(path, GOOD, origin="http://elsewhere.example").status_code == 403
    assert page.post(path, GOOD, host="elsewhere.example").status_code == 403
    assert page.client.get(path).status_code == 405
    assert page.client.get("/api/control").json()["started"] == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.dictionaries(st.sampled_from([*GOOD, "engines", "faults", "events", "repeat", "x"]), JSON, max_size=6)


@given(JSON | FIELDS | FIELDS.map(lambda given: {**GOOD, **given}))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_sent_is_planned_or_refused_and_never_a_mistake_of_ours(page: Page, body: Any) -> None:
    assert page.post("/api/start/check", body).status_code in (200, 422)
    assert page.post("/api/stop", body).status_code == 422
    assert page.commands.list() == []


def test_away_from_loopback_nothing_is_started_unless_it_is_allowed(tmp_path: Path) -> None:
    closed = Page(tmp_path, Control.at("0.0.0.0", 80))
    refused = closed.post("/api/start", GOOD)
    assert refused.status_code == 403 and "--allow-control" in refused.json()["error"]
    assert "Nothing can be started from here" in closed.client.get("/start").text
    allowed = Page(tmp_path, Control.at("0.0.0.0", 80, allow_control=True))
    assert allowed.post("/api/start/check", GOOD).status_code == 200


def test_a_page_at_low_priority_starts_nothing(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "nice", lambda change: 10)
    with pytest.raises(Exception, match="low priority"):
        commands.start([])
