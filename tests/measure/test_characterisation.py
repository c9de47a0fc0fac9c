"""From samples to figures, worked out by hand: differences of cuts, the instances of Equation 3.4, the families."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.measure.characterisation import batch_table, configurations, instances, operators, remarks
from streamgauge.measure.published_instances import TABLE_3_4, published_instances


def operator(name: str, role: str, before: list[str], rows: list[int], size: float, state: list[int] = ()) -> Any:  # type: ignore[assignment]
    return {
        "what": "operator",
        "name": name,
        "role": role,
        "before": before,
        "operator": [role],
        "pattern": ["forward"],
        "rows": rows,
        "bytes": size,
        "state": [{"operator": f"s{held}", "bytes": held, "rows": held // 10} for held in state],
    }


def batches(cut: str, *passes: list[int], rows_read: int = 1000) -> list[dict[str, Any]]:
    return [
        {"what": "batch", "cut": cut, "pass": p, "batch": b, "rows_read": rows_read, "rows_out": 0, "ms": ms}
        for p, times in enumerate(passes, 1)
        for b, ms in enumerate(times)
    ]


SAMPLES = [
    {"what": "step", "name": "x", "done": 0, "steps": 1},
    operator("lines", "source", [], [1000, 1000], 50),
    operator("split", "stage", ["lines"], [3000, 2000], 10),
    operator("count", "stage", ["split"], [500, 500], 20, state=[400]),
    operator("sink", "sink", ["count"], [500, 500], 20, state=[400]),
    {"what": "overhead", "ms": [9, 10, 30]},
    *batches("lines", [20, 99], [50, 20]),
    *batches("split", [25, 23], [40, 40]),
    *batches("count", [55, 53], [60, 60]),
    *batches("sink", [55, 50], [60, 60]),
]


def by_name() -> dict[str, Any]:
    return {each["name"]: each for each in operators(SAMPLES)}


def test_selectivity_is_rows_out_over_rows_in() -> None:
    found = by_name()
    assert [each["selectivity"] for each in found.values()] == [1.0, 2.5, 0.2, 1.0]
    assert found["count"]["rows_in"] == 5000


def test_a_record_comes_in_with_the_size_that_it_went_out_with() -> None:
    found = by_name()
    assert [each["bytes_in"] for each in found.values()] == [50, 50, 10, 20]
    assert [each["bytes_out"] for each in found.values()] == [50, 10, 20, 20]


def test_time_is_the_difference_to_the_cut_before_over_the_rows_that_came_in() -> None:
    found = by_name()
    # lines: the shorter pass of each batch is 20 ms; 10 of them are an empty batch's; over 1000 events.
    assert found["lines"]["time_us"] == {"p50": 10.0, "p99": 10.0, "batches": 2, "within_noise": False}
    # split: 25 − 20 and 23 − 20 ms over 1000 events each.
    assert (found["split"]["time_us"]["p50"], found["split"]["time_us"]["p99"]) == (3.0, 5.0)
    # count: 30 ms each, over 3000 and 2000 rows.
    assert (found["count"]["time_us"]["p50"], found["count"]["time_us"]["p99"]) == (10.0, 15.0)


def test_the_time_of_a_rest_is_not_divided_by_its_few_rows() -> None:
    (rest,) = batches("lines", [60], rows_read=4)
    samples = [
        operator("lines", "source", [], [1000, 1000, 4], 50),
        {"what": "overhead", "ms": [10]},
        *batches("lines", [20, 30]),
        {**rest, "batch": 2},
    ]
    (lines,) = operators(samples)
    assert (lines["rows_in"], lines["rows_out"]) == (2004, 2004)
    assert lines["time_us"] == {"p50": 10.0, "p99": 20.0, "batches": 2, "within_noise": False}


def test_a_difference_below_zero_is_noise_and_is_said() -> None:
    sink = by_name()["sink"]
    assert sink["time_us"] == {"p50": 0.0, "p99": 0.0, "batches": 2, "within_noise": True}
    assert remarks(operators(SAMPLES))[0].startswith("sink: no slower than the cut before it in the median")


def test_state_is_what_the_operator_added() -> None:
    found = by_name()
    assert found["split"]["state"] is None
    assert found["count"]["state"] == {"operators": ["s400"], "bytes": 400, "rows": 40}
    assert found["sink"]["state"] is None


def test_the_score_weighs_time_with_the_selectivity_of_the_sender() -> None:
    found = by_name()
    # s(lines) = 10, s(split) = 5 · 1, s(count) = 15 · 2.5, s(sink) = 0: Σ = 52.5.
    assert [each["score_us"] for each in found.values()] == [10.0, 5.0, 37.5, 0.0]
    assert [each["instances"] for each in found.values()] == [2, 1, 8, 1]


def test_a_stage_of_two_inputs_is_scored_once_per_input() -> None:
    samples = [
        operator("a", "source", [], [100], 1),
        operator("b", "source", [], [300], 1),
        operator("half", "stage", ["a"], [50], 1),
        operator("join", "stage", ["half", "b"], [10], 1),
        *batches("a", [10], rows_read=100),
        *batches("b", [20], rows_read=300),
        *batches("half", [12], rows_read=100),
        *batches("join", [46], rows_read=400),
    ]
    join = operators(samples)[-1]
    # 46 − 12 − 20 = 14 ms over 350 rows = 40 µs; selectivities 0.5 and 1.
    assert join["time_us"]["p99"] == pytest.approx(40.0)
    assert join["score_us"] == pytest.approx(60.0)


def test_equation_3_4() -> None:
    assert instances({"a": 1.0, "b": 2.0, "c": 7.0}) == {"a": 1, "b": 2, "c": 7}
    assert instances({"a": 0.05, "b": 9.95}) == {"a": 1, "b": 10}
    assert instances({"a": 0.0, "b": 0.0}) == {"a": 1, "b": 1}
    assert instances({"a": 0.1, "b": 0.2, "c": 0.7}) == {"a": 1, "b": 2, "c": 7}


def test_the_three_families() -> None:
    found = {(c["family"], c["multiplier"]): list(c["instances"].values()) for c in configurations(operators(SAMPLES))}
    assert found["computed", 2] == [4, 2, 16, 2]
    assert found["ones", 4] == [4, 4, 4, 4]
    assert found["source only", 4] == [8, 1, 8, 1]
    assert len(found) == 9


def test_the_samples_are_kept_as_a_table() -> None:
    table = batch_table(SAMPLES)
    assert table.column_names == ["cut", "pass", "batch", "rows_read", "rows_out", "ms"]
    assert len(table) == 16


def test_the_published_table_has_ten_applications() -> None:
    assert len(TABLE_3_4) == 10
    assert sum(sum(each.instances.values()) for each in TABLE_3_4.values()) == 128
    found = published_instances(("SB1", "BO1"))
    assert found is not None
    assert dict(found.instances) == {"source": 1, "splitter": 5, "counter": 6, "sink": 3}
    assert published_instances(("BO11",)) is None
