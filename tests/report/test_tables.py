"""Console tables: complete on a pipe, fitting on a terminal, coloured only there."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from streamgauge.report import tables
from tests.report.sample_run import record, trials


def test_a_pipe_gets_whole_lines_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = io.StringIO()
    tables.print_summary([r for r, _ in trials()], stream=out)
    text = out.getvalue()
    assert "\x1b" not in text
    assert "…" not in text
    row = next(line for line in text.splitlines() if "statistics" in line)
    assert "✗ 3 lost, 1 wrong" in row
    assert "0.91 cores (46%)" in row
    assert "could not be run." in text.splitlines()[-1]


@pytest.mark.parametrize("width", [80, 90, 100, 120])
def test_a_terminal_of_any_width_shows_names_and_medians_whole(width: int) -> None:
    out = io.StringIO()
    shown = [record("wordcount", "spark-microbatch"), record("wordcount", "spark-realtime")]
    Console(file=out, width=width, force_terminal=False).print(tables.summary_table(shown, width))
    assert "…" not in out.getvalue()
    assert "spark-microbatch" in out.getvalue()
    assert "481 ms" in out.getvalue()


def test_remarks_tell_why(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [r.plain for r in tables.remarks([r for r, _ in trials()])]
    behind = "not valid: the publisher fell behind its schedule: 212 ms at the end"
    assert f"! projection · spark-realtime · seed 40: {behind}" in found
    assert any("gap (never): continuous processing has no aggregates" in line for line in found)
    assert "✓ grep #2 · spark-realtime · seed 11: p99<5s: 15 ms" in found


def test_a_remark_tells_trials_apart_as_the_table_does() -> None:
    two = [record("grep", "spark-microbatch"), record("grep", "spark-microbatch")]
    two[1] = {**two[1], "load": "constant:9/s", "trial": {**two[1]["trial"], "load": "constant:9/s"}}
    found = [line.plain.partition(": p99")[0] for line in tables.remarks(two)]
    assert found == [f"✓ grep · spark-microbatch · {each['load']}" for each in two]


def test_what_is_said_of_many_trials_in_the_same_words_is_said_once() -> None:
    bursts = {"bursts": {"bursts": 1, "inflated_mean_s": 0.0, "inflated_max_s": 0.0}, "thresholds": []}
    several = [{**record(name, "spark-microbatch"), **bursts} for name in ("grep", "identity", "sample", "wordcount")]
    said = "latency is back within a second of every burst (1 burst)"
    assert [line.plain for line in tables.remarks(several)] == [f"· 4 trials: {said}"]
    assert [line.plain for line in tables.remarks(several[:1])] == [f"· grep · spark-microbatch: {said}"]


def test_a_name_with_console_markup_is_shown_as_it_is() -> None:
    out = io.StringIO()
    tables.print_summary([record("[red]mine[/red]", "spark-realtime")], stream=out)
    assert "[red]mine[/red]" in out.getvalue()


def test_the_two_requirements_are_printed_over_all_trials() -> None:
    def checked(*met: bool | None) -> dict[str, object]:
        names = ("publishing faster than consumption", "broker serves faster than consumption")
        return {"requirements": [{"name": n, "met": m, "detail": ""} for n, m in zip(names, met, strict=True)]}

    found = [line.plain for line in tables.requirements([checked(True, True), checked(False, None)])]
    assert found == [
        "✗ publishing faster than consumption: met in 1 of 2 trials",
        "✓ broker serves faster than consumption: met in 1 of 1 trial",
    ]
    assert tables.requirements([{"requirements": []}]) == []


def test_rows_say_what_tells_their_trials_apart_where_anything_does() -> None:
    one, two = record("wordcount", "spark-microbatch"), record("wordcount", "spark-microbatch")
    two["trial"] |= {"partitions": 4, "stop_after": "split"}
    out = io.StringIO()
    Console(file=out, width=160).print(tables.summary_table([one, two]))
    assert "differs in" in out.getvalue()
    assert "up to split, 4 partitions" in out.getvalue()
    alike = io.StringIO()
    Console(file=alike, width=160).print(tables.summary_table([one, record("grep", "spark-realtime")]))
    assert "differs in" not in alike.getvalue()
    old = {**one, "trial": {}}
    assert tables.summary_table([old]).row_count == 1
