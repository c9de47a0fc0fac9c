"""From what a broken trial left to its recovery and its verdict by phase, in the order in which a trial is assessed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.engines.supervisor import Notice
from streamgauge.lab.fault_drill import Endured
from streamgauge.lab.recoveries import recoveries_of, recovery_record, span_ms
from streamgauge.measure.answering import Answer, answering
from streamgauge.measure.latency import measure_latencies
from streamgauge.measure.throughput import measure_throughput
from streamgauge.measure.window import measured_window
from streamgauge.model import Expected, Guarantee, PerEvent
from streamgauge.model.fault import InjectedFault
from streamgauge.verify.events import Events
from streamgauge.verify.phases import Spans
from streamgauge.verify.verdict import judge
from tests.measure.small_trial import events_of, outputs_of

START = 1_000_000
MATCHING = PerEvent(values=("word",))


def test_a_killed_job_is_measured_and_judged_before_during_and_after(tmp_path: Path) -> None:
    # Ten events a second for 20 s, each answered after 5 ms; from 10 s on nothing for 4 s; then all that waited at
    # once, with the ten events before the fault once more, and one event that is never answered.
    rows = [(0, n, START + n * 100, START + n * 100) for n in range(200)]
    answered = [(at + 5, at, 0, n, f"w{n}") for _, n, at, _ in rows if n < 100]
    back = START + 14_000
    answered += [(back + n - 90, START + n * 100, 0, n, f"w{n}") for n in range(90, 141) if n != 120]
    answered += [(at + 5, at, 0, n, f"w{n}") for _, n, at, _ in rows if n > 140]
    events, outputs = tmp_path / "events.parquet", tmp_path / "out.parquet"
    pq.write_table(events_of(rows), events)
    pq.write_table(outputs_of(answered), outputs)
    expected = Expected(
        pa.table({"partition": [0] * 200, "offset": list(range(200)), "word": [f"w{n}" for n in range(200)]})
    )
    killed = InjectedFault(
        *("kill driver at 10s", "kill", "driver", 1, 7, "transient", START + 10_000, START + 10_000, "gone")
    )
    endured = Endured((killed,), (Notice("died", START + 10_300, "gone"), Notice("runs", START + 13_500)), 1)
    with Events({"words": events}, tmp_path / "spill") as opened:
        connection = opened.connection
        answers = [Answer(outputs, MATCHING)]
        window = measured_window(connection, [events], 0)
        with answering(connection, [events], answers) as answered_by:
            latencies = measure_latencies(connection, answered_by, window)
        measure_throughput(connection, [events], [outputs], window)
        found, tenths = recoveries_of(endured, connection, [events], answers, latencies, window.start_ms)
        spans = Spans([span_ms(each) for each in found], [events])
        verdict = judge(expected, outputs, MATCHING, Guarantee(), 1, connection=connection, spans=spans, disturbed=True)
    assert tenths is not None and tenths.num_rows == 200
    recovery = recovery_record(endured, found, verdict)
    assert recovery["detect_s"] == 0.3
    assert recovery["output_gap_s"] == pytest.approx((14_000 - 9_905) / 1000)
    assert recovery["events_reprocessed"] == 10
    assert recovery["latency_back_s"] == 4.0, "of the events of second 14 only the first had waited"
    assert recovery["class"] == "gap" and recovery["lost_share"] == 1 / 200
    assert [notice["what"] for notice in recovery["notices"]] == ["died", "runs"]
    assert verdict.lost == 1 and verdict.duplicated == 10 and verdict.duplicates_allowed
    assert {name: (part["seen"], part["lost"], part["duplicated"]) for name, part in verdict.phases.items()} == {
        "before": (100, 0, 0),
        "during": (0, 1, 0),
        "after": (109, 0, 10),
    }
