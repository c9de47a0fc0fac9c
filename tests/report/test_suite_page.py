"""The page of a suite: its figures drawn from stored trials, gaps with their reasons, published values marked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from streamgauge.lab.suite import LAPTOP, QUICK, Scale, Suite
from streamgauge.lab.suite_figures import KINDS
from streamgauge.lab.suite_file import FOLDER, read_suite, suite_names
from streamgauge.report import page, suite_page, write_report
from streamgauge.report.charts import engine_colours
from streamgauge.store import StoredRun
from tests.report.suite_run import Change, store_suite, suite_run
from tests.report.test_page import own_markup


def sections(name: str, scale: Scale = QUICK, change: Change | None = None) -> dict[str, str]:
    """Title → the part of the page for each figure of the suite."""
    run, trials = suite_run(suite_of(name), scale, change)
    colours = engine_colours([trial.record["engine"] for trial in trials])
    parts = suite_page.suite_parts(run, trials, colours, page.drawn_figures)
    return {title: part.html for _, title, part in parts if part is not None}


def suite_of(name: str) -> Suite:
    return read_suite(FOLDER / f"{name}.toml")


def charts(part: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in re.findall(r'type="application/json"[^>]*>(.*?)</script>', part, re.DOTALL)]


def without_data(part: str) -> str:
    return re.sub(r"<script.*?</script>", "", part, flags=re.DOTALL)


def test_every_kind_of_figure_has_its_drawing() -> None:
    assert set(suite_page._DRAWERS) == set(KINDS)


@pytest.mark.parametrize("name", suite_names())
def test_every_suite_has_its_page(name: str) -> None:
    suite, found = suite_of(name), sections(name)
    assert list(found) == [figure.title for figure in suite.figures]
    for figure, part in zip(suite.figures, found.values(), strict=True):
        assert charts(part) or "<table" in part or "No trial of it" in part or "Not shown" in part, figure.title
        for drawn in charts(part):
            assert drawn["data"], figure.title
        if figure.published:
            assert "Published by others, on other machines" in part


def test_throughput_by_scale_is_the_stored_figure() -> None:
    part = sections("streambench-performance", LAPTOP)["Throughput by number of records"]
    first = charts(part)[0]
    identity = next(line for line in first["data"] if line["name"] == "identity")
    assert identity["x"] == [100_000, 200_000, 400_000, 1_000_000]
    assert len(first["data"]) == 7
    assert first["layout"]["xaxis"]["type"] == "log"
    assert identity["y"] == sorted(identity["y"])


def test_published_numbers_are_grey_and_called_theirs() -> None:
    part = sections("ospbench-latency", LAPTOP)["Latency by stage"]
    (drawn,) = charts(part)
    theirs = [trace for trace in drawn["data"] if "theirs: Structured Streaming" in str(trace["y"][0])]
    marks = [trace for trace in theirs if trace["mode"] == "markers"]
    assert marks[0]["x"] == [105]
    assert {trace["marker"]["color"] for trace in marks} == {"#8a8f94"}
    words = without_data(part)
    assert "on other machines" in words and "OS, C 292" in words and "2,807 ms" in words


def test_repeats_are_a_median_with_the_interval_of_the_mean() -> None:
    part = sections("parallelism", LAPTOP)["Messages per minute against tasks"]
    (drawn,) = charts(part)
    (line,) = drawn["data"]
    assert line["x"] == [1, 2, 4, 6, 8]
    assert all(
        up > 0 and down > 0 for up, down in zip(line["error_y"]["array"], line["error_y"]["arrayminus"], strict=True)
    )
    # The rule of the made-up rate for one partition and the second of three repeats, sixty times.
    pace = 20_000 + 3_000 * (sum(map(ord, "threat-detection")) % 7)
    assert line["y"][0] == pytest.approx(60 * (pace * 1.02 + 20.0))


def test_what_is_missing_is_named_with_its_reason() -> None:
    def failing(record: dict[str, Any]) -> dict[str, Any]:
        if record["application"] != "grep":
            return record
        error = {"cause": "the job died of <b>heat</b>", "way_out": "", "exit_code": 5, "kind": "EngineError"}
        empty = {"latency_ms": None, "throughput": None, "verdict": None, "valid": False}
        return {**record, **empty, "status": "failed", "error": error}

    part = sections("applications", QUICK, failing)["Every application flat out"]
    assert "failed: the job died of &lt;b&gt;heat&lt;/b&gt;" in part
    (drawn,) = charts(part)
    (bars,) = drawn["data"]
    assert dict(zip(bars["x"], bars["text"], strict=True))["grep"] == "failed"
    assert dict(zip(bars["x"], bars["y"], strict=True))["grep"] == 0


def test_the_largest_that_held_leaves_out_what_broke() -> None:
    def broken(record: dict[str, Any]) -> dict[str, Any]:
        if record["load"] not in ("constant:2000/s", "constant:4000/s"):
            return record
        return {**record, "thresholds": [{"ok": False, "text": "✗ p50<10s: 12,000 ms"}]}

    part = sections("ospbench-sustainable", LAPTOP, broken)["The highest rate that held"]
    rows = re.findall(r"<tr class=\"\">(.*?)</tr>", without_data(part), re.DOTALL)
    cells = [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td.*?</td>", rows[0], re.DOTALL)]
    assert cells[:2] == ["spark-microbatch", "1,000"]
    assert cells[-2:] == ["2,000", "p50&lt;10s: 12,000 ms"]
    (drawn,) = charts(part)
    theirs = [bar for bar in drawn["data"] if bar["y"][0].startswith("theirs")]
    assert max(bar["x"][0] for bar in theirs) == 115_000


def test_the_largest_that_held_is_drawn_for_an_engine_that_is_not_sparks() -> None:
    def elsewhere(record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "engine": "flink"} if record["engine"] == "spark-realtime" else record

    (drawn,) = charts(sections("ospbench-sustainable", LAPTOP, elsewhere)["The highest rate that held"])
    ours = {bar["y"][0]: bar["marker"]["color"] for bar in drawn["data"] if not bar["y"][0].startswith("theirs")}
    assert any("flink" in name for name in ours) and len(set(ours.values())) == 2


def test_knobs_are_told_in_percent_of_the_baseline() -> None:
    def slower(record: dict[str, Any]) -> dict[str, Any]:
        if record["trial"]["settings"].get("trigger") != "1s":
            return record
        return {**record, "throughput": {**record["throughput"], "events_per_s": events(record) / 2}}

    def events(record: dict[str, Any]) -> float:
        return float(record["throughput"]["events_per_s"])

    found = sections("knobs", LAPTOP, slower)
    throughput, latency = charts(found["Trigger interval"])
    assert throughput["data"][0]["x"] == ["as it is", "1s", "5s"]
    assert throughput["data"][0]["text"][1].endswith("<br>-50 %")
    assert throughput["data"][0]["text"][2].endswith("<br>+0 %")
    assert "%" not in throughput["data"][0]["text"][0]
    assert latency["data"][0]["x"] == ["as it is", "1s", "5s"]
    delay, _ = charts(found["Trigger interval × rate"])
    grid = delay["data"][0]
    assert (grid["type"], grid["x"], grid["y"]) == ("heatmap", ["1,000", "5,000", "10,000"], ["1s", "2s", "5s"])
    assert grid["z"][0] == [40.0 * len(f"constant:{rate}/s") for rate in (1000, 5000, 10000)]


@pytest.mark.parametrize("name", suite_names())
def test_bars_of_one_chart_are_told_apart(name: str) -> None:
    drawn = [chart["data"] for part in sections(name, LAPTOP).values() for chart in charts(part)]
    for data in drawn:
        # What others published is grey, and named beside its bar.
        ours = [bar for bar in data if "name" in bar and bar["type"] == "bar" and not bar["name"].startswith("theirs")]
        looks = {(bar["marker"]["color"], bar["marker"]["pattern"]["shape"]) for bar in ours}
        assert len(looks) == len(ours), [bar["name"] for bar in ours]


def test_charts_of_single_trials_are_folded_away(tmp_path: Path) -> None:
    folder = store_suite(tmp_path, suite_of("ospbench-startup-burst"), QUICK)
    text = own_markup(write_report(StoredRun.open(folder)).read_text())
    assert text.index('id="figure-1"') < text.index('id="summary"'), "the suite's figures come first"
    assert "OSPBench: burst at start-up" in text
    (part,) = re.findall(r'<section id="over-time">(.*?)</section>', text, re.DOTALL)
    assert "<details" in part and "<details open" not in part and "data-figure" in part
    assert "scale quick · 2 trials" in text
