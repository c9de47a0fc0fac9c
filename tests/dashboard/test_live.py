"""A run while it is measured: its stream of events over a folder that grows, and its page."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from streamgauge.dashboard.feeds import Feeds
from streamgauge.dashboard.following import MOST_SENT
from streamgauge.dashboard.live import status_of
from streamgauge.dashboard.server import application
from streamgauge.store import RunStore, RunWriter
from streamgauge.store.live import LIVE, WATCHERS, LiveWriter
from tests.dashboard.streaming import Reading

QUICK_S = 0.02
USE = {"job": [1.5, 300 << 20, 100 << 20], "broker": [0.2, 50 << 20, None]}


class GrowingRun:
    """A run folder that a test lets grow."""

    def __init__(self, root: Path) -> None:
        self.writer: RunWriter = RunStore(root).create(command="streamgauge run <b>wordcount</b>", trials=1)
        self.live = LiveWriter(self.writer.folder)
        self.live.say("plan", run=self.writer.id, pid=os.getpid(), trials=[self.facts(1)])

    @staticmethod
    def facts(number: int) -> dict[str, Any]:
        facts = {"trial": number, "title": "<b>wordcount</b> · spark-adaptive", "application": "<b>wordcount</b>"}
        return {**facts, "engine": "spark-adaptive", "load": "constant:500/s", "details": "", "faults": []}

    def begin(self, number: int = 1) -> None:
        self.live.say("trial", **self.facts(number))

    def sample(self, trial: int = 1, **change: Any) -> None:
        sample = {"phase": "measuring", "done": 10, "total": 40, "in_per_s": 500.0, "out_per_s": 900.5, "backlog": 7}
        sample |= {"consumed_per_s": 498.0, "p50_ms": 0, "p99_ms": 40, "late_ms": 1.5, "use": USE, "watched": True}
        self.live.say("sample", trial=trial, **{**sample, **change})


@pytest.fixture
def run(tmp_path: Path) -> GrowingRun:
    return GrowingRun(tmp_path)


def serve(root: Path) -> Any:
    app = application(root)
    app.state.feeds = Feeds(status_of, QUICK_S)
    return app


def played(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 30))


def address(run: GrowingRun) -> str:
    return f"/runs/{run.writer.id}/live"


def test_a_stream_begins_with_what_is_there_and_goes_on_to_the_end(run: GrowingRun, tmp_path: Path) -> None:
    async def story() -> None:
        app = serve(tmp_path)
        run.begin()
        run.sample(p99_ms=None)
        reading = Reading(app, address(run))
        await reading.until(lambda: reading.records("sample"))
        assert [each["what"] for each in reading.records()] == ["plan", "trial", "sample"]
        first = reading.records("sample")[0]
        assert first["share"] == 0.25 and first["v"]["p99"] is None
        assert (first["v"]["p50"], first["v"]["rss-job"], first["v"]["rss-publisher"]) == (0.5, 300.0, None)
        assert (run.writer.folder / WATCHERS).exists() and run.live.watched()
        run.sample()
        run.live.say("event", trial=None, kind="note", text="<script>")
        await reading.until(lambda: reading.records("event"))
        assert len(reading.records("sample")) == 2
        run.writer.finish("complete")
        run.live.close("complete")
        await reading.until(reading.ended.is_set)
        assert reading.events[-1][:2] == ("end", {"status": "complete"})
        assert app.state.feeds.open == {}

    played(story())


def test_a_browser_that_comes_back_is_told_only_what_is_new(run: GrowingRun, tmp_path: Path) -> None:
    async def story() -> None:
        app = serve(tmp_path)
        run.begin()
        for _ in range(3):
            run.sample()
        first = Reading(app, address(run))
        await first.until(lambda: len(first.records("sample")) == 3)
        last = first.events[-1][2]
        await first.leave()
        run.sample(backlog=99)
        run.live.say("event", trial=1, kind="fault", text="kill driver")
        for reading in (
            Reading(app, address(run), {"last-event-id": last}),
            Reading(app, address(run), query=f"after={last}"),
        ):
            await reading.until(lambda r=reading: r.records("event"))
            assert [each["v"]["backlog"] for each in reading.records("sample")] == [99]
            await reading.leave()
        for nonsense in ("-1", "x", "9" * 40, "１"):
            reading = Reading(app, address(run), query=f"after={nonsense}")
            await reading.until(lambda r=reading: len(r.records("sample")) == 4)
            await reading.leave()

    played(story())


def test_fifty_tabs_share_one_reader_and_leave_nothing(run: GrowingRun, tmp_path: Path) -> None:
    async def story() -> None:
        app = serve(tmp_path)
        run.begin()
        run.sample()
        tabs = [Reading(app, address(run)) for _ in range(50)]
        for tab in tabs:
            await tab.until(lambda t=tab: t.records("sample"))
        (feed,) = app.state.feeds.open.values()
        assert feed.listeners == 50
        looks = feed.looks
        run.sample(backlog=1)
        for tab in tabs:
            await tab.until(lambda t=tab: len(t.records("sample")) == 2)
        assert feed.looks - looks < 25, "one reads for all"
        for tab in tabs[:49]:
            await tab.leave()
        assert feed.listeners == 1
        await tabs[49].leave()
        assert app.state.feeds.open == {} and feed.listeners == 0
        await asyncio.sleep(5 * QUICK_S)
        looks = feed.looks
        await asyncio.sleep(5 * QUICK_S)
        assert feed.looks == looks, "nobody reads for nobody"
        assert not run.live.watched(), "and the run knows at once that nobody looks"

    played(story())


def test_a_page_opened_late_is_given_a_decimated_past_with_its_peaks(run: GrowingRun, tmp_path: Path) -> None:
    async def story() -> None:
        run.begin()
        for number in range(1_500):
            run.sample(p99_ms=9_000 if number == 777 else 40)
        reading = Reading(serve(tmp_path), address(run))
        await reading.until(lambda: reading.records("sample"))
        found = reading.records("sample")
        assert 300 < len(found) <= MOST_SENT
        assert [each["n"] for each in found] == sorted(each["n"] for each in found)
        assert max(each["v"]["p99"] for each in found) == 9_000
        await reading.leave()

    played(story())


def test_a_folder_that_vanishes_ends_the_stream(run: GrowingRun, tmp_path: Path) -> None:
    async def story() -> None:
        reading = Reading(serve(tmp_path), address(run))
        await reading.until(lambda: reading.records("plan"))
        shutil.rmtree(run.writer.folder)
        await reading.until(reading.ended.is_set)
        assert reading.events[-1][:2] == ("end", {"status": "gone"})

    played(story())


def test_one_who_does_not_read_is_let_go_and_the_others_are_not(
    run: GrowingRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamgauge.dashboard.feeds.MOST_WAITING", 3)

    async def story() -> None:
        feeds = Feeds(status_of, QUICK_S)
        slow, quick = feeds.frames(run.writer.folder), feeds.frames(run.writer.folder)
        assert b"retry" in await anext(slow) and b"retry" in await anext(quick)
        assert b'"plan"' in await anext(slow) and b'"plan"' in await anext(quick)
        (feed,) = feeds.open.values()
        for number in range(6):
            run.sample(backlog=number)
            while b'"sample"' not in await anext(quick):
                pass
        assert feed.listeners == 1
        with pytest.raises(StopAsyncIteration):
            while True:
                await anext(slow)
        await quick.aclose()  # type: ignore[attr-defined]

    played(story())


def test_faults_phases_and_paradigms_are_drawn_by_the_reports_own_code(run: GrowingRun, tmp_path: Path) -> None:
    async def story() -> None:
        run.begin()
        now_ms = time.time_ns() // 1_000_000
        fault = {"fault": 0, "label": "kill <i>driver</i>", "planned_at_ms": now_ms + 1_000, "planned_until_ms": None}
        run.live.say("fault", trial=1, **fault, at_ms=None, until_ms=None, problem=None)
        reading = Reading(serve(tmp_path), address(run))
        await reading.until(lambda: reading.records("marks"))
        assert [each["name"] for each in reading.records("marks")[0]["shapes"]] == ["planned"]
        run.live.say("fault", trial=1, **fault, at_ms=now_ms + 1_004, until_ms=now_ms + 3_000, problem=None)
        run.live.say("event", trial=1, kind="phase", text="measuring")
        run.live.say("band", trial=1, segment="count<", paradigm="data stream", from_ms=now_ms)
        run.sample()
        run.live.say("band", trial=1, segment="count<", paradigm="switching", from_ms=now_ms)
        run.sample()
        await reading.until(lambda: len(reading.records("sample")) == 2)
        marks = reading.records("marks")[-1]
        assert [each.get("name", each["type"]) for each in marks["shapes"]] == ["rect", "fault", "phase"]
        assert marks["annotations"][0]["text"] == "kill &lt;i&gt;driver&lt;/i&gt;"
        (drawn,) = reading.records("paradigms")
        assert [each["meta"]["paradigm"] for each in drawn["figure"]["data"]] == [
            *("operation stream", "data stream", "switching")
        ]
        assert [each["bands"] for each in reading.records("sample")] == [
            {"count<": "data stream"},
            {"count<": "switching"},
        ]
        await reading.leave()

    played(story())


def test_lines_of_another_version_or_damaged_ones_are_passed_over(run: GrowingRun, tmp_path: Path) -> None:
    async def story() -> None:
        run.live.say("later-kind", anything=1)
        run.live.say("sample", trial="x")
        run.live.say("fault", trial=1)
        with (run.writer.folder / LIVE).open("ab") as file:
            file.write(b"\x00\xff not json\n")
        run.begin()
        reading = Reading(serve(tmp_path), address(run))
        await reading.until(lambda: reading.records("trial"))
        assert reading.status == 200
        await reading.leave()

    played(story())


def test_a_run_that_fell_silent_is_said_to_be(run: GrowingRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamgauge.dashboard.feeds.SILENT_S", 0.1)

    async def story() -> None:
        reading = Reading(serve(tmp_path), address(run))
        await reading.until(lambda: reading.records("silent"))
        run.begin()
        await reading.until(lambda: reading.records("trial"))
        await reading.leave()

    played(story())


@pytest.mark.parametrize("name", ["nosuch", "..%2f..%2fetc%2fpasswd", "%2e%2e", "a" * 300, "%00"])
def test_a_stream_of_no_run_is_not_found(tmp_path: Path, name: str) -> None:
    client = TestClient(application(tmp_path), base_url="http://127.0.0.1")
    assert client.get(f"/runs/{name}/live").status_code == 404


def test_the_page_of_a_run_under_way_is_live_and_afterwards_it_is_not(run: GrowingRun, tmp_path: Path) -> None:
    client = TestClient(application(tmp_path), base_url="http://127.0.0.1")
    run.begin()
    assert client.head(address(run)).headers["content-type"].startswith("text/event-stream")
    page = client.get(f"/runs/{run.writer.id}")
    assert page.status_code == 200 and 'id="live"' in page.text and "/static/live.js" in page.text
    assert "<b>wordcount</b>" not in page.text and "&lt;b&gt;wordcount" in page.text
    assert 'id="live"' not in client.get(f"/runs/{run.writer.id}?stored=1").text
    old = time.time() - 60
    os.utime(run.writer.folder / LIVE, (old, old))
    assert 'id="live"' not in client.get(f"/runs/{run.writer.id}").text, "a run that was killed is not under way"
    run.live.beat()
    run.writer.finish("complete")
    run.live.close("complete")
    assert 'id="live"' not in client.get(f"/runs/{run.writer.id}").text
