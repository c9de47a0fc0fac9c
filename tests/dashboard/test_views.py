"""What the pages show, built without a server."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from streamgauge.dashboard import run_view
from streamgauge.dashboard.compare_view import (
    Choice,
    Chosen,
    choices,
    comparison_view,
    matches,
    named_sides,
    narrowed,
)
from streamgauge.dashboard.reading import RunReader
from streamgauge.dashboard.runs_view import RunRow, Tally, run_row
from streamgauge.measure.quantiles import quantiles_of_counts
from streamgauge.measure.spans import SpanQuantiles
from streamgauge.model.errors import UserError
from streamgauge.report.overlay import MOST_NAMES, overlay_figures, trial_names
from streamgauge.report.run_figures import figures_table
from streamgauge.report.series import TIMELINE_POINTS
from streamgauge.store import ListedRun, Notes, RunStore, StoredRun
from tests.report.compared_runs import repeats, store_run
from tests.report.sample_run import STARTED_MS, record, run_facts, store_sample, tables, trials

MILLION = 1_000_000
NO_NOTES = Notes()


def row(run: dict[str, object], records: list[dict[str, object]], notes: Notes = NO_NOTES) -> RunRow:
    """The row of a run that was never on disk."""
    return run_row(ListedRun(Path("20250101-120000-abcd"), run), records, 0, notes)


def test_a_row_counts_answers_thresholds_and_what_was_not_measured() -> None:
    found = row({**run_facts(), "trials": 20}, [each for each, _ in trials()], Notes(("nightly",), "Slow"))
    assert found.answers == Tally(good=13, bad=1)
    assert found.thresholds == Tally(good=14, bad=0)
    assert (found.trials, found.remarks) == ("16 of 20", ["1 gap", "1 failed", "1 not valid"])
    assert found.what == "wordcount, grep, projection, statistics"
    assert found.detail == "spark-microbatch, spark-realtime, spark-continuous"
    assert found.machine.replace("\u00a0", " ") == "x86-64 · 2 cores · 8.0 GiB"
    assert found.when == "2025-10-09 08:53:20"
    for word in ("nightly", "slow", "spark-realtime", "not valid", "2 cores"):
        assert word in found.searched


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        ({"suite": {"name": "knobs"}}, "suite knobs"),
        ({"command": "streamgauge search grep --slo 'p99<1s'"}, "search: grep"),
        ({"command": "streamgauge run grep"}, "grep"),
    ],
)
def test_a_row_says_what_was_run(facts: dict[str, object], what: str) -> None:
    assert row(facts, [record("grep", "spark-realtime")]).what == what


def test_a_run_without_trials_is_told_by_its_command() -> None:
    assert row({"command": "streamgauge characterize grep"}, []).what == "characterize: grep"
    assert row({"command": "streamgauge run grep"}, []).what == "streamgauge run grep"
    assert row({}, []).what == "–"


def test_what_went_wrong_sorts_before_what_went_well() -> None:
    ordered = sorted([Tally(3, 0), Tally(100, 1), Tally(), Tally(0, 2)], key=lambda tally: tally.rank)
    assert ordered == [Tally(0, 2), Tally(100, 1), Tally(), Tally(3, 0)]


def test_rows_are_read_again_only_where_a_file_changed(tmp_path: Path) -> None:
    store_sample(tmp_path, [])
    reader = RunReader(RunStore(tmp_path))
    (first,), (second,) = reader.rows(), reader.rows()
    assert first is second
    (tmp_path / first.id / "notes.json").write_text('{"tags": ["new"], "note": ""}')
    assert reader.rows()[0].notes.tags == ("new",)


def test_a_name_is_as_short_as_it_can_be_and_never_the_same() -> None:
    numbered = [{**each, "number": at} for at, (each, _) in enumerate(trials(), 1)]
    assert trial_names(numbered[:1]) == ["spark-microbatch"]
    assert trial_names(numbered[:4]) == [
        "spark-microbatch",
        "spark-microbatch · #2",
        "spark-microbatch · #3",
        "spark-realtime",
    ]
    twins = [{**record("grep", "spark-realtime"), "number": n} for n in (1, 2)]
    assert trial_names(twins) == ["spark-realtime (trial 1)", "spark-realtime (trial 2)"]
    assert len(set(trial_names(numbered))) == len(numbered)


def test_at_first_the_engines_of_one_application_are_chosen(tmp_path: Path) -> None:
    rows = run_view.trial_rows(StoredRun.open(store_sample(tmp_path)))
    assert [(each.application, each.engine, each.name) for each in rows if each.chosen] == [
        ("wordcount", "spark-microbatch", "wordcount · spark-microbatch"),
        ("wordcount", "spark-realtime", "wordcount · spark-realtime"),
    ]
    assert [each.number for each in rows] == list(range(1, 15)), "a gap and a failure have nothing to draw"


def test_a_legend_has_one_entry_for_each_trial(tmp_path: Path) -> None:
    stored = StoredRun.open(store_sample(tmp_path, trials()[:4]))
    drawn = run_view.named_trials(stored, [1, 4])
    for figure in overlay_figures(drawn):
        shown = [each for each in figure.figure["data"] if each["showlegend"]]
        assert len(shown) == 2
        assert len({each["legendgroup"] for each in figure.figure["data"]}) == 2


def test_a_span_in_words() -> None:
    found = SpanQuantiles(quantiles_of_counts([5, 1200], [9000, 1000]), exact=True)
    (shown,) = run_view.span_json([(3, "grep", found)])
    assert (shown["trial"], shown["n"], shown["p50"], shown["exact"]) == (3, 10_000, 5, True)
    assert (shown["words"]["n"], shown["words"]["p95"], shown["words"]["p99.999"]) == ("10,000", "1.2 s", "–")


def test_a_run_of_a_million_slots_is_decimated(tmp_path: Path) -> None:
    seconds = np.arange(MILLION)
    resources = tables("spark-realtime", 1)["resources"]
    long = {
        "latency": pa.table(
            {
                "kind": pa.array(["event"]).take(pa.array(np.zeros(MILLION, np.int8))),
                **{"second": seconds, "latency_ms": seconds % 97, "count": np.full(MILLION, 3)},
            }
        ),
        "throughput": pa.table(
            {n: np.full(MILLION, 500) for n in ("in_events", "consumed_events", "out_records")}
        ).append_column("second", pa.array(seconds)),
        "resources": resources.set_column(0, "at_ms", pa.array(STARTED_MS + np.arange(resources.num_rows) * 1000)),
    }
    stored = StoredRun.open(store_sample(tmp_path, [(record("grep", "spark-realtime"), long)]))
    found = run_view.overlaid(stored, [1])
    for figure in found["figures"]:
        assert all(len(line["x"]) <= TIMELINE_POINTS + 1 for line in figure["figure"]["data"])
    over_time = found["figures"][0]["figure"]["data"][0]
    assert over_time["x"][-1] > 0.99 * MILLION
    assert len(json.dumps(found)) < 300_000


def test_every_figure_of_a_run_is_in_its_table_in_its_own_unit(tmp_path: Path) -> None:
    stored = StoredRun.open(store_sample(tmp_path))
    found = figures_table(stored.run, stored.trials)
    first = found.to_pylist()[0]
    assert found.num_rows == 16
    assert (first["p50_ms"], first["cpu_percent"], first["correct"]) == (
        stored.trials[0]["latency_ms"]["p50"],
        45.5,
        True,
    )
    assert "event.p50_ms" not in found.column_names
    assert found.to_pylist()[-1]["p50_ms"] is None
    assert figures_table(stored.run, []).num_rows == 0


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("a", Choice("a")),
        ("a:3", Choice("a", 3)),
        ("a:b:3", Choice("a:b", 3)),
        ("a:", Choice("a:")),
        (":", Choice(":")),
    ],
)
def test_a_choice_is_a_run_or_a_trial_of_it(text: str, choice: Choice) -> None:
    assert Choice.parse(text) == choice
    assert str(choice) == text


def test_choices_are_taken_once_and_are_not_too_many() -> None:
    assert choices(["a", "b:1", "a", ""]) == [Choice("a"), Choice("b", 1)]
    with pytest.raises(UserError, match="13 runs and trials are too many"):
        choices([f"run{n}" for n in range(13)])


def chosen(*runs: StoredRun) -> list[Chosen]:
    """Whole runs as they are chosen."""
    return [Chosen(Choice(run.folder.name), run) for run in runs]


def test_the_first_run_stands_against_every_other(tmp_path: Path) -> None:
    base, slow, same = (store_run(tmp_path, repeats(factor=f, seed=s)) for f, s in ((1, 1), (1.5, 2), (1, 3)))
    view = comparison_view(chosen(base, slow, same))
    assert [pair.reasons for pair in view.pairs] == [[], []]
    assert "slower in p50" in view.pairs[0].answer
    assert "no difference shown" in view.pairs[1].answer
    assert "slower" in view.pairs[0].table.html
    assert (
        view.pairs[0].sides
        == f"spark-microbatch 4.3.0 of run {slow.id} against spark-microbatch 4.3.0 of run {base.id}"
    )


def test_engines_of_one_run_stand_against_the_first(tmp_path: Path) -> None:
    stored = StoredRun.open(store_sample(tmp_path, trials()[:6]))
    (found,) = matches(chosen(stored))
    assert [(pair.baseline.engine, pair.candidate.engine) for pair in found.pairs] == [
        ("spark-microbatch", "spark-realtime")
    ]
    alone = StoredRun.open(store_sample(tmp_path, trials()[:3]))
    assert matches(chosen(alone)) == []


def test_trials_of_different_engines_stand_against_each_other(tmp_path: Path) -> None:
    stored = store_run(tmp_path, repeats(n=1), repeats(engine="spark-realtime", n=1))
    both = [narrowed(Choice(stored.folder.name, number), stored) for number in (1, 2)]
    view = comparison_view(both)
    (pair,) = view.pairs
    assert pair.reasons == []
    assert pair.answer.startswith("wordcount on spark-realtime against spark-microbatch: faster in p50")
    assert view.footnotes[0].startswith("* over the seconds of one repeat")
    assert [name for name, _, _ in named_sides(both)] == ["spark-microbatch · trial 1", "spark-realtime · trial 2"]


def test_what_is_not_comparable_says_why(tmp_path: Path) -> None:
    one = store_run(tmp_path, repeats())
    other = store_run(tmp_path, repeats(seed=2), machine={"cpu": "another", "cores": 64})
    (pair,) = comparison_view(chosen(one, other)).pairs
    assert any("the machines differ in cores: 2 against 64" in reason for reason in pair.reasons)
    third = store_run(tmp_path, repeats("grep"))
    view = comparison_view(chosen(one, third))
    assert view.pairs == []
    assert "no trial of the same application and engine" in view.unmatched[0]


def test_a_trial_that_a_run_does_not_have_is_refused(tmp_path: Path) -> None:
    stored = store_run(tmp_path, repeats(n=1))
    with pytest.raises(UserError, match="has no trial 7"):
        narrowed(Choice(stored.folder.name, 7), stored)


def test_more_sides_than_colours_are_counted_and_not_drawn(tmp_path: Path) -> None:
    many = [chosen(store_run(tmp_path, repeats(n=1, seed=n)))[0] for n in range(1, 2)] * (MOST_NAMES + 2)
    view = comparison_view([dataclasses.replace(each, choice=Choice(f"run{n}")) for n, each in enumerate(many)])
    assert view.left_out == 2
