"""What a scheduler decided, on the page: bands, lines at switches, queues, and every input of a decision."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest

from streamgauge.paradigms.decisions import to_lines
from streamgauge.paradigms.paradigm import How, Paradigm
from streamgauge.paradigms.ticks import Tick, ticks_table
from streamgauge.report import adaptive, charts, write_report
from streamgauge.report.adaptive_picture import picture
from streamgauge.report.drawing import DrawnTrial
from streamgauge.report.paradigm_charts import BAND_COLOURS
from streamgauge.store import RunStore, StoredRun
from tests.paradigms.hand_made import decision
from tests.paradigms.recorded import word_count
from tests.report.broken_run import broken
from tests.report.sample_run import STARTED_MS, record, tables

COLOURS = charts.engine_colours(["spark-adaptive", "spark-realtime"])


def ticks() -> list[Tick]:
    """Two segments over 20 s: the second is in the operation stream from 6 to 12 s, and switching for a second each."""
    found = []
    for at in range(0, 200):
        for segment in ("split", "count"):
            burst = segment == "count" and 50 <= at < 120
            paradigm = Paradigm.OPERATION_STREAM if burst else Paradigm.DATA_STREAM
            switching = segment == "count" and (50 <= at < 60 or 120 <= at < 130)
            queue = 50_000.0 if burst else 0.0
            found.append(
                Tick(
                    STARTED_MS + at * 100,
                    segment,
                    paradigm.value,
                    switching,
                    500,
                    queue,
                    0,
                    30_000,
                    20_000,
                    4e4,
                    15e4,
                    0.27,
                    0.6,
                )
            )
    return found


def drawn(lines: str = "") -> DrawnTrial:
    text = lines or to_lines([decision(5.0), decision(12.0, to=Paradigm.DATA_STREAM, how=How.DRAIN)])
    return DrawnTrial(
        record("wordcount", "spark-realtime"), {**tables("spark-realtime", 1), "scheduler": ticks_table(ticks())}, text
    )


def test_bands_follow_the_paradigm_of_every_segment() -> None:
    figure, *_ = adaptive.figures(drawn(), COLOURS)
    bands = [d for d in figure.figure["data"] if d.get("yaxis") == "y2"]
    assert [(b["y"][0], b["name"], b["x"]) for b in bands] == [
        ("split", "data stream", [0.0, 19.9]),
        ("count", "data stream", [0.0, 5.0]),
        ("count", "switching", [5.0, 6.0]),
        ("count", "operation stream", [6.0, 12.0]),
        ("count", "switching", [12.0, 13.0]),
        ("count", "data stream", [13.0, 19.9]),
    ]
    assert {b["line"]["color"] for b in bands if b["name"] == "data stream"} == {BAND_COLOURS["data stream"]}
    assert [b["showlegend"] for b in bands] == [True, False, True, True, False, False]


def test_switches_are_lines_in_both_charts_of_their_segment_only() -> None:
    latency, split, count = adaptive.figures(drawn(), COLOURS)
    assert [s["x0"] for s in latency.figure["layout"]["shapes"]] == [5.0, 12.0]
    assert [s["x0"] for s in count.figure["layout"]["shapes"]] == [5.0, 12.0]
    assert split.figure["layout"]["shapes"] == []
    assert (split.heading, count.heading) == ("Queue of split", "Queue of count")


def test_a_driver_that_was_away_is_a_gap_in_the_band_and_its_fault_a_line_in_every_chart() -> None:
    seen = [each for each in ticks() if not 80 <= (each.at_ms - STARTED_MS) / 100 < 150]
    trial = DrawnTrial(broken("spark-realtime"), {"scheduler": ticks_table(seen)}, to_lines([decision(5.0)]))
    latency, *queues = adaptive.figures(trial, COLOURS)
    bands = [(b["name"], b["x"]) for b in latency.figure["data"] if b.get("yaxis") == "y2" and b["y"][0] == "count"]
    assert bands[-2:] == [("operation stream", [6.0, 7.9]), ("data stream", [15.0, 19.9])]
    for each in (latency, *queues):
        assert [s["x0"] for s in each.figure["layout"]["shapes"] if s.get("name") == "fault"] == [10.012]
    assert [s["x0"] for s in latency.figure["layout"]["shapes"] if s.get("name") == "switch"] == [5.0]


def test_the_queue_stands_against_its_limits() -> None:
    *_, count = adaptive.figures(drawn(), COLOURS)
    lines = {d["name"]: d for d in count.figure["data"]}
    assert set(lines) == {"L", "L_up", "L_down"}
    assert (min(lines["L"]["y"]), max(lines["L"]["y"])) == (1, 50_000)
    assert (set(lines["L_up"]["y"]), set(lines["L_down"]["y"])) == ({30_000}, {20_000})


def test_plotly_accepts_the_charts() -> None:
    for each in adaptive.figures(drawn(), COLOURS):
        assert go.Figure(each.figure).data
        json.dumps(each.figure, allow_nan=False)


def test_every_input_of_a_decision_is_in_the_table() -> None:
    text = adaptive.decisions_section(drawn()).html
    for said in (
        "5.0 s", "to operation stream, replay, ≤ 120,000 a batch", "80,000/s", "62,000", "40,800", "61,200", "0.27",
        "820 ms", "40,000/s", "150,000/s", "32.70 → 7.30 s²", "3, 1", "count", "a burst goes on",
        "to data stream, drain",
    ):  # fmt: skip
        assert said in text, said


def test_a_trial_without_decisions_or_with_damaged_ones_says_so() -> None:
    quiet = DrawnTrial(record("wordcount", "spark-realtime"), {"scheduler": ticks_table(ticks())}, "")
    assert "Nothing was decided" in adaptive.decisions_section(quiet).html
    damaged = drawn('{"at_s": 1}\n')
    assert "cannot be read" in adaptive.decisions_section(damaged).html
    assert len(adaptive.figures(damaged, COLOURS)) == 3
    assert not adaptive.has_scheduler(DrawnTrial(record("wordcount", "spark-realtime"), {}))


def test_the_page_of_a_stored_run_has_it_all(tmp_path: Path) -> None:
    lines = tmp_path / "decisions.jsonl"
    lines.write_text(to_lines([decision(5.0)]), encoding="utf-8")
    writer = RunStore(tmp_path / "runs").create(command="streamgauge run wordcount", trials=1)
    writer.add_trial(
        record("wordcount", "spark-realtime"),
        {**tables("spark-realtime", 1), "scheduler": ticks_table(ticks()), "decisions": lines},
    )
    writer.add_calibration(word_count().as_dict())
    writer.finish("complete")
    stored = StoredRun.open(writer.folder)
    assert stored.problems == []
    text = re.sub(r"<script>/\*\*.*?</script>", "", write_report(stored).read_text(), count=1, flags=re.DOTALL)
    for said in (
        *("Paradigms of wordcount", "Latency and paradigm over time", "Queue of count", "Decisions"),
        *("a burst goes on", "Calibration of both paradigms", "210,000/s", "split (λ 3) → count (λ 1)"),
    ):
        assert said in text, said


def test_a_long_trial_keeps_its_peaks() -> None:
    line = adaptive._thinned(
        *(adaptive.np.arange(5000.0), adaptive.np.where(adaptive.np.arange(5000) == 3333, 9.0, 1.0))
    )
    assert line.x.size <= 600
    assert line.y.max() == pytest.approx(9.0)


def test_the_picture_of_the_page_is_current() -> None:
    made = picture()
    ElementTree.fromstring(made)
    kept = Path(__file__).parents[2] / "docs" / "adaptive.svg"
    assert kept.read_text(encoding="utf-8") == made, "run: make docs"
