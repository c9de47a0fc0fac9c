"""The report tells what was done to a job and how it came back, on the page, in its charts and on the console."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge.measure.figures import get_figure
from streamgauge.report import charts, write_report
from streamgauge.report.drawing import DrawnTrial, section_figures, sections
from streamgauge.report.fault_words import injection_words, kept_words, recovery_words, story
from streamgauge.report.faults import fault_marks, faults_section
from streamgauge.report.tables import print_summary, recovery_table
from streamgauge.store import StoredRun, public_json
from tests.report.broken_run import FAULT, broken, injected, recovery
from tests.report.sample_run import STARTED_MS, record, store_sample, tables

COLOURS = charts.engine_colours(["spark-microbatch", "spark-realtime"])


def printed(*records: dict[str, Any]) -> str:
    stream = io.StringIO()
    print_summary(records, stream=stream)
    return stream.getvalue()


def test_an_injection_is_told_with_planned_and_actual_time_and_effect() -> None:
    assert injection_words(broken(), injected()) == "kill driver at 10.0 s (planned 10.0 s): gone (transient)"
    worker = injected(target="worker", number=2, verb="suspend", effect="stopped", until_ms=STARTED_MS + 20_000)
    assert injection_words(broken(), worker) == (
        "suspend worker 2 at 10.0 s (planned 10.0 s): stopped; back at 20.0 s (transient)"
    )
    missed = injected(at_ms=None, effect=None, problem="there was no driver running to kill")
    assert "planned at 10.0 s: not injected, there was no driver running to kill" in injection_words(broken(), missed)


def test_a_recovery_is_told_in_a_sentence() -> None:
    (each,) = recovery()["each"]
    assert recovery_words(each) == (
        "noticed after 0.4 s, longest silence 5.2 s (before the fault 0.5 s), latency as before after 8.0 s, "
        "backlog of 2,600 events drained after 7.3 s at up to 1,800/s, at least 240 events taken again"
    )
    never = {**each, "detect_s": None, "output_gap_s": None, "latency_back_s": None, "drained_s": None}
    said = recovery_words(never)
    for words in ("nobody noticed", "output did not come back", "latency did not come back", "was not drained"):
        assert words in said


def test_what_was_kept_is_told_in_the_words_of_the_guarantee() -> None:
    assert kept_words(broken()) == "nothing lost or wrong; 12 outputs repeated, allowed"
    worse = broken()
    worse["verdict"] |= {"lost": 3, "duplicated": 0}
    assert kept_words(worse) == "3 lost; nothing repeated"
    assert any("rollback recovery: nothing lost" in line for line in story(broken()))


def test_a_switch_that_was_broken_off_is_part_of_the_story() -> None:
    assert not any("broken off" in line for line in story(broken()))
    switch = {"segment": "count", "to": "data stream", "how": "replay", "stopped_s": (STARTED_MS + 9_800) / 1000}
    told = story(broken(scheduler={"broken_off": [switch]}))
    assert "the switch of count to data stream at 9.8 s was broken off" in told


def test_the_page_has_the_recoveries_and_the_phases_and_the_story() -> None:
    shown = faults_section([broken(), broken("spark-realtime"), record("grep", "spark-realtime")], COLOURS)
    assert shown is not None
    for words in (FAULT, "rollback", "5.2 s", "1,800/s", "during", "Loss over the repeats", "noticed after 0.4 s"):
        assert words in shown.html
    assert "Penalty factors" not in shown.html
    assert faults_section([record("grep", "spark-realtime")], COLOURS) is None


def test_penalty_factors_are_on_the_page_where_their_partners_are() -> None:
    trials = [broken(), record("wordcount", "spark-microbatch"), record("wordcount", "spark-microbatch")]
    for each, place in zip(trials, ("cluster:3", "cluster:3", "cluster:2"), strict=True):
        each["trial"]["place"] = place
    shown = faults_section(trials, COLOURS)
    assert shown is not None and "Penalty factors" in shown.html


def test_trials_with_the_same_fault_are_told_apart() -> None:
    trials = [broken(), broken()]
    for each, events in zip(trials, (200_000, 8_000_000), strict=True):
        each["trial"] |= {"load": "preloaded", "events": events, "warmup_events": 0}
    shown = faults_section(trials, COLOURS)
    assert shown is not None
    for words in (f"{FAULT}, 200,000 events", f"{FAULT}, 8,000,000 events"):
        assert shown.html.count(words) >= 3


def test_faults_are_lines_in_every_chart_over_time() -> None:
    suspended = broken()
    suspended["faults"] = [injected(verb="suspend", until_ms=STARTED_MS + 12_000), injected(at_ms=None)]
    assert [(mark.at_s, mark.until_s) for mark in fault_marks(suspended)] == [(10.012, 12.0)]
    (section,) = sections([DrawnTrial(suspended, tables("spark-microbatch", 1))])
    assert section.title == f"wordcount · {FAULT}"
    figures = {each.heading: each.figure["layout"] for each in section_figures(section, COLOURS)}
    for heading in ("Latency over time", "Throughput over time", "CPU over time", "Memory over time"):
        span, line = figures[heading]["shapes"]
        assert (line["x0"], line["x1"], span["x0"], span["x1"]) == (10.012, 10.012, 10.012, 12.0)
        assert [note["text"] for note in figures[heading]["annotations"]] == ["suspend driver"]
    assert "shapes" not in figures["Latency by percentile"]


def test_a_trial_with_a_fault_and_one_without_are_sections_of_their_own() -> None:
    both = [DrawnTrial(broken(), tables("spark-microbatch", 1)), DrawnTrial(record("wordcount", "spark-microbatch"))]
    assert [section.title for section in sections(both)] == [f"wordcount · {FAULT}", "wordcount"]


def test_the_console_has_a_table_of_recoveries() -> None:
    said = printed(broken(), record("grep", "spark-realtime"))
    row = next(line for line in said.splitlines() if FAULT in line and "rollback" in line)
    assert [word for word in row.split() if word.count(".") == 1] == ["0.4", "5.2", "8.0", "7.3"]
    assert recovery_table([record("grep", "spark-realtime")]) is None


def test_a_fault_that_could_not_be_injected_is_a_remark() -> None:
    missed = broken(valid=False, invalid_reasons=["a fault could not be injected"])
    missed["faults"] = [injected(at_ms=None, effect=None, problem="there was no driver running to kill")]
    assert "! wordcount · spark-microbatch: kill driver, planned at 10.0 s: not injected" in printed(missed)


def test_a_trial_without_figures_breaks_nothing() -> None:
    failed = broken(status="failed", error={"cause": "died", "way_out": "", "exit_code": 5})
    assert "failed" in printed(failed)
    assert faults_section([failed], COLOURS) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("output_gap", 5.25),
        ("detect", 0.4),
        ("latency_back", 8),
        ("drained", 7.3),
        ("catch_up_per_s", 1800),
        ("lost_share", 0),
    ],
)
def test_recovery_has_figures_for_thresholds_and_comparisons(name: str, value: float) -> None:
    assert get_figure(name).value(broken()) == value
    assert get_figure(name).value(record("grep", "spark-realtime")) is None


def test_scripts_get_faults_recovery_and_phases() -> None:
    (shown,) = json.loads(json.dumps(public_json({"run": "r"}, [broken()])))["trials"]
    assert shown["faults"][0]["effect"] == "gone"
    assert shown["recovery"]["class"] == "rollback"
    assert shown["phases"]["after"]["duplicated"] == 12


def test_a_stored_run_with_faults_becomes_a_page(tmp_path: Path) -> None:
    folder = store_sample(tmp_path, [(broken(), tables("spark-microbatch", 1))])
    page = write_report(StoredRun.open(folder)).read_text(encoding="utf-8")
    assert "Faults and recovery" in page and "dashdot" in page
