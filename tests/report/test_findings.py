"""Tables beyond the summary: the same words on the console and on the page, only where a run has them."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge.report import write_report
from streamgauge.report.charts import PALETTE
from streamgauge.report.drawing import component_figures
from streamgauge.report.findings import as_json, console_tables, grids
from streamgauge.report.grids import Said
from streamgauge.report.tables import print_summary
from streamgauge.store import StoredRun
from tests.report.sample_run import record, store_sample, tables, trials

SOAK = {"suite": {"name": "streambench-durability"}}


def parts(
    outside: float, wait: float, scheduling: float, processing: float, sent: float, latency: float
) -> dict[str, Any]:
    names = ("outside_ms", "batch_wait_ms", "scheduling_ms", "processing_ms", "transmission_ms")
    given = (outside, wait, scheduling, processing, sent)
    close = abs(sum(given) - latency) <= 0.1 * latency
    known = dict(zip(names, given, strict=True))
    return {**known, "latency_ms": latency, "sum_ms": sum(given), "adds_up": close, "covered": 1.0}


DURABLE = {
    "index": 17 / 18, "slot_s": 5, "slots": 18, "available": 17, "longest_outage_s": 5, "reprocessed": 40,
    "reprocessed_share": 0.0216, "memory_bytes": 900 * 2**20, "memory_bytes_per_h": -2 * 2**20,
    "memory_rise_bytes": -50_000.0, "memory_p_value": 0.9, "memory_grows": False,
}  # fmt: skip


def measured(engine: str, digest: str = "0123456789abcdef", **changes: Any) -> dict[str, Any]:
    made = record("wordcount", engine, 1, **changes)
    made["verdict"] |= {"digest": digest, "expected_digest": "0123456789abcdef"}
    return made


def both() -> list[dict[str, Any]]:
    return [
        measured("spark-microbatch", components=parts(0, 320.2, 140, 380, 2.1, 850), durability=DURABLE),
        measured("spark-realtime", components=parts(0, 1.2, 2, 4.5, 2.1, 20.0), durability=DURABLE),
    ]


def shown(run: dict[str, Any], records: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    print_summary(records, stream=out, further=console_tables(run, records))
    return out.getvalue()


def test_a_run_without_any_of_it_has_no_further_table() -> None:
    assert grids({}, [r for r, _ in trials()]) == []


def test_components_are_a_row_per_trial_and_say_whether_they_add_up() -> None:
    (grid, *_) = grids({}, both())
    assert [c.heading for c in grid.columns][2:] == [
        *("outside wait", "batch wait", "scheduling", "processing", "transmission"),
        *("sum", "mean latency", "adds up"),
    ]
    batch, flow = grid.rows
    assert batch[2:] == ["0 ms", "320 ms", "140 ms", "380 ms", "2.1 ms", "842 ms", "850 ms", Said(True, "99 %")]
    assert flow[-1] == Said(False, "49 %")
    text = shown({}, both())
    assert "✓ 99 %" in text and "✗ 49 %" in text


def test_a_trial_that_says_why_it_has_no_components_is_left_out() -> None:
    records = [measured("spark-microbatch", components={"reason": "preloaded"})]
    assert [g.heading for g in grids({}, records)] == []


def test_answers_are_shown_by_engine_with_a_short_digest() -> None:
    text = shown({}, both())
    assert "Answers across engines" in text
    assert "✓ 01234567" in text and "✓ same" in text
    other = [measured("spark-microbatch"), measured("spark-realtime", "fedcba98ffff")]
    assert "✗ fedcba98" in shown({}, other) and "✗ differs" in shown({}, other)


def test_durability_is_shown_for_its_suite_alone() -> None:
    assert "Durability" not in shown({}, both())
    text = shown(SOAK, both())
    for words in ("94.44 %", "17 of 18", "5 s", "40 (2.16 %)", "900.0 MiB", "-2.0 MiB", "✓ even"):
        assert words in text, words


def test_a_narrow_console_does_without_what_is_spared() -> None:
    wide, narrow = (console_tables(SOAK, both(), width) for width in (150, 80))
    assert [len(each.columns) for each in wide] == [10, 5, 9]
    assert [len(each.columns) for each in narrow] == [7, 5, 6]


def test_scores_are_shown_for_a_suite_of_ospbench() -> None:
    run = {"suite": {"name": "ospbench-latency"}}
    text = shown(run, both())
    assert "decision factor" in text and "built-in stateful API" in text
    assert "2 (6 ms)" in text


def test_the_same_for_scripts() -> None:
    found = json.loads(json.dumps(as_json({"suite": {"name": "ospbench-latency"}}, both())))
    (answer,) = found["answers"]
    assert answer["same"] is True and answer["engines"]["spark-realtime"]["as_expected"] is True
    assert found["scores"][0]["scores"] == {"spark-microbatch": 1, "spark-realtime": 2}
    assert as_json({}, [])["answers"] == []


def test_the_chart_stacks_every_component_in_its_order() -> None:
    (figure,) = component_figures(both())
    drawn = figure.figure["data"]
    assert [d["name"] for d in drawn] == ["outside wait", "batch wait", "scheduling", "processing", "transmission"]
    assert [d["marker"]["color"] for d in drawn] == list(PALETTE[:5])
    assert [sum(d["x"][row] for d in drawn) for row in (0, 1)] == pytest.approx([842.3, 9.8])
    assert figure.figure["layout"]["barmode"] == "stack"


def test_the_page_has_a_part_for_each_table(tmp_path: Path) -> None:
    chosen = [(r, tables(r["engine"], 1)) for r in both()]
    folder = store_sample(tmp_path, chosen, **SOAK)
    text = write_report(StoredRun.open(folder)).read_text()
    for identity in ("latency-by-component", "answers-across-engines", "durability"):
        assert f'id="{identity}"' in text and f'href="#{identity}"' in text
    assert 'data-figure="latency-by-component-chart-1"' in text
    assert "01234567" in text and "94.44 %" in text
