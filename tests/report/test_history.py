"""One figure over stored runs."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from streamgauge.measure.figures import get_figure
from streamgauge.model import UserError
from streamgauge.report.history import history, history_sheet, history_table
from streamgauge.store import RunStore
from tests.report.compared_runs import repeats, store_run, with_trial

P50 = get_figure("p50")


def days(root: Path, *parts: list, first: int = 1) -> list[str]:
    """A run a day, and their names in the order of time."""
    return [
        store_run(root, part, created_at=f"2025-10-{day:02d}T08:00:00+00:00").id
        for day, part in enumerate(parts, first)
    ]


def shown(root: Path, **chosen: str) -> str:
    out = io.StringIO()
    for series in history(RunStore(root), P50, **chosen)[0]:
        Console(file=out, width=120).print(history_table(series))
    return out.getvalue()


def test_runs_come_in_the_order_of_time_with_their_interval(tmp_path: Path) -> None:
    later = days(tmp_path, repeats(factor=2, seed=3), first=9)
    names = days(tmp_path, repeats(seed=1), repeats(n=1, version="4.4.0"))
    (series,), problems = history(RunStore(tmp_path), P50)
    assert problems == []
    assert [point.side.run["run"] for point in series.points] == [*names, *later]
    first, second, third = (point.as_dict() for point in series.points)
    assert (first["repeats"], second["repeats"], second["half"], second["version"]) == (5, 1, None, "4.4.0")
    assert first["low"] < first["median"] < first["high"]
    assert third["mean"] == pytest.approx(2 * first["mean"], rel=0.05)
    lines = [line for line in shown(tmp_path).splitlines() if "spark" not in line and "█" in line]
    assert [line.count("█") for line in lines] == [8, 8, 16]
    assert " ± " in lines[0]
    assert " ± " not in lines[1]


def test_trials_that_differ_are_series_of_their_own_named_by_what_differs(tmp_path: Path) -> None:
    days(tmp_path, repeats(n=2), with_trial(repeats(n=2), partitions=4), repeats(n=2, engine="spark-realtime"))
    found, _ = history(RunStore(tmp_path), P50)
    assert [series.title for series in found] == [
        "wordcount · spark-microbatch · constant:500/s · partitions 2",
        "wordcount · spark-microbatch · constant:500/s · partitions 4",
        "wordcount · spark-realtime · constant:500/s · partitions 2",
    ]
    assert [s.points[0].side.engine for s in history(RunStore(tmp_path), P50, engine="spark-realtime")[0]] == [
        "spark-realtime"
    ]


def test_what_is_not_ranked_is_shown_without_a_figure(tmp_path: Path) -> None:
    wrong = repeats(n=1)
    wrong[0][0]["verdict"]["correct"] = False
    days(tmp_path, repeats(n=1), wrong, repeats(n=2, valid=False, invalid_reasons=["late"]))
    text = shown(tmp_path)
    assert "wrong answer" in text
    assert "0 of 2" in text
    assert "not valid" in text


def test_damaged_runs_and_trials_are_said_and_the_others_shown(tmp_path: Path) -> None:
    good, half, bad = days(tmp_path, repeats(n=2), repeats(n=2), repeats(n=2))
    (tmp_path / bad / "run.json").write_text('{"schema": 1, "ru')
    (tmp_path / half / "trials/001/trial.json").write_text("{")
    (series,), problems = history(RunStore(tmp_path), P50)
    assert [(p.side.run["run"], len(p.values)) for p in series.points] == [(good, 2), (half, 1)]
    assert len(problems) == 2
    assert {half, bad} == {name for name in (good, half, bad) if any(name in each for each in problems)}


def test_an_unknown_application_is_answered_with_the_nearest(tmp_path: Path) -> None:
    days(tmp_path, repeats(n=1))
    with pytest.raises(UserError, match="Did you mean 'wordcount'"):
        history(RunStore(tmp_path), P50, application="wordcont")


def test_the_sheet_has_a_row_per_point(tmp_path: Path) -> None:
    days(tmp_path, repeats(n=2), repeats(n=1))
    found, _ = history(RunStore(tmp_path), P50)
    sheet = history_sheet(P50, found)
    assert sheet.numbers.column("repeats").to_pylist() == [2, 1]
    assert sheet.numbers.column("half").to_pylist()[1] is None
    assert {len(row) for row in sheet.rows} == {len(sheet.headings)}
