"""Comparisons of stored runs: the changes that were put in are found, and shown in words."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from streamgauge.measure.comparison import NO_DIFFERENCE
from streamgauge.measure.figures import get_figure
from streamgauge.report.comparison import (
    ComparedPair,
    about_pair,
    answer,
    comparison_sheet,
    comparison_table,
    default_figures,
    footnotes,
    match_runs,
)
from tests.report.compared_runs import repeats, store_run


def compared(root: Path, baseline: list, candidate: list) -> ComparedPair:
    """The only pair of two stored runs."""
    matched = match_runs(store_run(root, baseline), store_run(root, candidate))
    assert matched.reasons == []
    (found,) = matched.compare(default_figures())
    return found


def text_of(found: ComparedPair, width: int = 200) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(comparison_table(found, width=width))
    return out.getvalue()


def test_a_slower_run_is_found_where_it_is_slower_and_nowhere_else(tmp_path: Path) -> None:
    found = compared(tmp_path, repeats(seed=1), repeats(seed=2, factor=1.2))
    verdicts = {change.figure.name: change.verdict for change in found.changes}
    assert {verdicts[name] for name in ("p50", "p95", "p99", "max", "output.p50", "events_per_s")} == {"worse"}
    assert {verdicts[name] for name in ("cpu", "rss_bytes_max", "p5_events_per_s")} == {NO_DIFFERENCE}
    p50 = found.change(get_figure("p50"))
    assert p50.percent == pytest.approx(20, abs=5)
    assert p50.low_percent < 20 < p50.high_percent
    said = answer(found)
    assert said.startswith("wordcount on spark-microbatch: slower in p50, p95, p99, max")
    row = next(line for line in text_of(found).splitlines() if line.startswith(" p50 "))
    assert " ".join(row.split()) == "p50 485 ms 582 ms +20.1 % +16.0 … +24.4 % slower"


def test_one_repeat_has_an_interval_over_its_seconds_where_there_are_samples(tmp_path: Path) -> None:
    found = compared(tmp_path, repeats(n=1), repeats(n=1, factor=2, seed=5))
    bases = {change.figure.name: (change.basis, change.verdict) for change in found.changes}
    assert bases["p50"] == bases["output.p99"] == ("seconds", "worse")
    assert bases["max"] == bases["cpu"] == (None, NO_DIFFERENCE)
    assert "no difference shown (no interval: one repeat)" in text_of(found)
    assert "%*" in text_of(found)
    assert footnotes([found])[0].startswith("* over the seconds of one repeat")


def test_one_repeat_against_several_takes_what_each_side_knows(tmp_path: Path) -> None:
    found = compared(tmp_path, repeats(n=5), repeats(n=1, factor=2, seed=5))
    p50 = found.change(get_figure("p50"))
    assert (p50.basis, p50.verdict) == ("seconds", "worse")
    assert found.change(get_figure("cpu")).note == "no interval: one repeat"


def test_a_damaged_table_costs_the_interval_and_not_the_comparison(tmp_path: Path) -> None:
    baseline = store_run(tmp_path, repeats(n=1))
    damaged = baseline.folder / "trials/001/latency.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-30])
    matched = match_runs(type(baseline).open(baseline.folder), store_run(tmp_path, repeats(n=1)))
    (found,) = matched.compare([get_figure("p50")])
    assert found.changes[0].note == "no interval: one repeat"
    assert "truncated or damaged" in matched.runs[0].problems[0]


def test_versions_and_engines_name_the_columns(tmp_path: Path) -> None:
    found = compared(tmp_path, repeats(version="4.2.0"), repeats(version="4.3.0", seed=2))
    assert found.names == ("spark-microbatch 4.2.0", "spark-microbatch 4.3.0")
    assert [line.plain for line in about_pair(found)][2:] == [
        "differs: engine: spark-microbatch 4.2.0 against spark-microbatch 4.3.0"
    ]
    run = store_run(tmp_path, repeats(), repeats(engine="spark-realtime"))
    matched = match_runs(run, run, ("spark-microbatch", "spark-realtime"))
    (pair,) = matched.compare([get_figure("p50")])
    assert pair.names == ("spark-microbatch", "spark-realtime")
    assert answer(pair) == "wordcount on spark-realtime against spark-microbatch: faster in p50."


@pytest.mark.parametrize("width", [80, 120, 160])
def test_a_terminal_of_any_width_shows_every_figure_in_a_line(tmp_path: Path, width: int) -> None:
    found = compared(tmp_path, repeats(n=1, version="4.2.0"), repeats(n=1, seed=2))
    lines = text_of(found, width).splitlines()[4:]
    assert [line.split()[0] for line in lines if line.strip()] == [
        *("p50", "p95", "p99", "max", "output.p50", "output.p95", "output.p99", "events_per_s", "p5_events_per_s"),
        *("cpu", "rss_bytes_max", "gc_ms"),
    ]
    assert "…" not in "".join(lines).replace(" … ", "")
    assert (" no interval: one repeat" in "".join(lines).replace("(", " ")) == (width == 160)


def test_the_sheet_has_numbers_for_programs_and_words_for_people(tmp_path: Path) -> None:
    found = compared(tmp_path, repeats(), repeats(factor=1.2, seed=2))
    sheet = comparison_sheet([found])
    first = sheet.numbers.to_pylist()[0]
    assert (first["figure"], first["unit"], first["verdict"], first["interval_over"]) == (
        "p50",
        "ms",
        "worse",
        "repeats",
    )
    assert (first["baseline_repeats"], first["candidate_repeats"], first["baseline_version"]) == (5, 5, "4.3.0")
    assert first["candidate_mean"] / first["baseline_mean"] == pytest.approx(1 + first["change_percent"] / 100)
    assert len(sheet.rows) == sheet.numbers.num_rows
    assert {len(row) for row in sheet.rows} == {len(sheet.headings)}
    json.dumps(found.as_dict(), allow_nan=False)
