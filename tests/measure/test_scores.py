"""OSPBench's scores: the rule on literal figures, and rows from records."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.scores import relative, scores


@pytest.mark.parametrize(
    ("values", "more", "expected"),
    [
        ({"a": 10, "b": 100}, False, {"a": 2, "b": 1}),
        ({"a": 10, "b": 100}, True, {"a": 1, "b": 2}),
        ({"a": 100, "b": 105}, False, {"a": 2, "b": 2}),
        ({"a": 10, "b": 10.5, "c": 50, "d": 52}, False, {"a": 4, "b": 4, "c": 2, "d": 2}),
    ],
)
def test_an_engine_loses_a_point_to_each_that_is_clearly_better(values, more, expected) -> None:
    assert relative(values, more_is_better=more) == expected


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0.1, 1e6), min_size=1, max_size=6), st.booleans())
def test_the_best_always_has_the_full_score_and_nobody_less_than_one(values, more) -> None:
    found = relative(values, more_is_better=more)
    best = (max if more else min)(values, key=values.__getitem__)
    assert found[best] == len(values)
    assert min(found.values()) >= 1


def record(engine: str, stage: str, *, load="constant:200/s", variant="default", **figures: Any) -> dict[str, Any]:
    held = figures.pop("held", True)
    valid = figures.pop("valid", True)
    return {
        "status": "done",
        "engine": engine,
        "load": load,
        "trial": {"stop_after": stage},
        "variants": {stage: variant},
        "valid": valid,
        "verdict": {"correct": True},
        "thresholds": [{"ok": held}],
        "latency_ms": {"n": 1000, **figures},
        "throughput": {"time_to_first_output_s": figures.get("first")},
    }


def test_stages_are_told_apart_by_state_and_by_variant() -> None:
    found = scores(
        "ospbench-latency",
        [
            *(record("fast", stage, p50=p50) for stage, p50 in (("ingest", 2), ("parse", 8), ("join", 50))),
            *(record("slow", stage, p50=p50) for stage, p50 in (("ingest", 20), ("parse", 80), ("join", 51))),
            record("fast", "tumbling", variant="customised-aggregate", p50=5),
            record("slow", "tumbling", variant="customised", p50=4),
        ],
    )
    assert [(s.factor, s.scores) for s in found] == [
        ("stateless stages", {"fast": 2, "slow": 1}),
        ("built-in stateful API", {"fast": 2, "slow": 2}),
        ("customised stateful API", {"fast": 1, "slow": 2}),
    ]
    assert found[0].values == {"fast": pytest.approx(4), "slow": pytest.approx(40)}


def test_only_stages_that_all_engines_ran_and_the_median_repeat_count() -> None:
    found = scores(
        "ospbench-periodic-bursts",
        [
            *(record("a", "join", p95=v) for v in (10, 12, 900)),
            record("a", "sliding", p95=9_000),
            record("b", "join", p95=12),
            record("b", "join", p95=1, valid=False),
        ],
    )
    assert [(s.factor, dict(s.values)) for s in found] == [
        ("built-in stateful API", {"a": pytest.approx(12), "b": pytest.approx(12)})
    ]


def test_the_sustainable_rate_and_the_latency_at_the_rate_that_all_held() -> None:
    rates = {"constant:500/s": (20, 200), "constant:1000/s": (30, 180), "constant:2000/s": (40, 5_000)}
    records = [
        record(engine, "tumbling", load=load, p50=p50, held=p50 < 1_000)
        for load, pair in rates.items()
        for engine, p50 in zip(("flow", "batch"), pair, strict=True)
    ]
    rate, latency = scores("ospbench-sustainable", records)
    assert (rate.values, rate.scores) == ({"flow": 2000, "batch": 1000}, {"flow": 2, "batch": 1})
    assert dict(latency.values) == {"flow": pytest.approx(30), "batch": pytest.approx(180)}


def test_there_is_no_score_without_another_engine_or_in_another_suite() -> None:
    alone = [record("a", "ingest", p50=3)]
    assert scores("ospbench-latency", alone) == []
    assert scores("knobs", [*alone, record("b", "ingest", p50=3)]) == []
    assert len(scores("ospbench-latency", [*alone, record("b", "ingest", p50=3)])) == 1


def test_a_single_burst_is_scored_by_its_first_output_and_its_mean_latency() -> None:
    found = scores(
        "ospbench-startup-burst",
        [record("a", "tumbling", first=0.5, mean=900.0), record("b", "tumbling", first=2.0, mean=500.0)],
    )
    assert [(s.factor, s.scores) for s in found] == [
        ("initial output", {"a": 2, "b": 1}),
        ("processing time", {"a": 1, "b": 2}),
    ]
