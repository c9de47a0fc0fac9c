"""What a probe says of its rate: literal series, and engines that serve so much and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.sustainability import (
    OSPBENCH,
    Series,
    judge_probe,
    median_by_second,
    parse_slo,
    probe_series,
    rising,
)
from streamgauge.measure.trend import Trend
from streamgauge.model import UserError
from tests.measure.probes import simulated_tables


def record(p50: float = 100, drain: float = 0.5, cpu: float = 0.5, **facts: Any) -> dict[str, Any]:
    return {
        "status": "done",
        "latency_ms": {"n": 5000, "p50": p50, "p99": 2 * p50},
        "throughput": {"drain_s": drain, "events_per_s": 990.0},
        "resources": {"job": {"cpu_share": cpu}},
        "publisher": {"kept_up": True},
        "verdict": {"correct": True},
        "end": {"reached": True},
        "invalid_reasons": [],
        "error": None,
        **facts,
    }


def series(latency_rise: float = 0.0, queue_rise: float = 0.0, p_value: float = 0.001, level: float = 100.0) -> Series:
    return Series(
        latency=Trend(30, latency_rise / 29, latency_rise, level, p_value),
        queue=Trend(30, queue_rise / 29, queue_rise, level, p_value),
        interval_s=1.0,
        rate_per_s=1_000,
    )


OS5 = parse_slo(OSPBENCH)


def test_an_objective_is_thresholds_with_commas_between() -> None:
    assert [(t.figure, t.op, t.value) for t in OS5.thresholds] == [
        ("p50", "<", 10_000),
        ("drain", "<", 10),
        ("cpu", "<", 80),
    ]
    assert parse_slo(" p99 < 100ms ").text == "p99 < 100ms"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not an objective"),
        ("p50<1s,,drain<1s", "is not an objective"),
        ("p98<1s", "Did you mean 'p99'"),
        ("p50<1s,p50<2s", "two thresholds on p50"),
        ("fast", "is not a threshold"),
    ],
)
def test_a_mistake_in_an_objective_is_said(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse_slo(text)


def test_only_what_is_significant_and_large_enough_rises() -> None:
    assert rising(series()) == []
    assert rising(series(latency_rise=999, queue_rise=999)) == [], "one interval: a second, or a second's events"
    assert rising(series(latency_rise=5_000, queue_rise=5_000, p_value=0.06)) == []
    assert rising(series(latency_rise=1_500, level=20_000)) == [], "less than 10 % of its level"
    assert rising(series(latency_rise=1_500)) == ["median latency rises by 1,500 ms over the probe"]
    assert rising(series(queue_rise=1_500)) == ["the input queue grows by 1,500 events over the probe"]
    assert rising(series(latency_rise=-5_000, queue_rise=-5_000)) == []


def test_a_longer_batch_interval_allows_more() -> None:
    from dataclasses import replace

    slow = replace(series(latency_rise=3_000, queue_rise=3_000), interval_s=5.0)
    assert rising(slow) == []
    assert len(rising(replace(slow, interval_s=2.0))) == 2


@pytest.mark.parametrize(
    ("facts", "says", "reasons"),
    [
        ({}, "holds", ()),
        ({"p50": 10_000}, "breaks", ("p50<10s: 10,000 ms",)),
        ({"drain": 12.5}, "breaks", ("drain<10s: 12.5 s",)),
        ({"verdict": {"correct": False}}, "breaks", ("the answer is wrong",)),
        (
            {"end": {"reached": False}, "verdict": {"correct": False}},
            "breaks",
            ("the input was not consumed in the time allowed",),
        ),
        (
            {"publisher": {"kept_up": False, "kept_up_reason": "p99 lateness 80 ms"}, "p50": 20_000},
            "nothing",
            ("the publisher fell behind: p99 lateness 80 ms",),
        ),
        (
            {"invalid_reasons": ["100 events were published, but 99 are in the log"]},
            "nothing",
            ("100 events were published, but 99 are in the log",),
        ),
    ],
)
def test_a_record_is_judged(facts: dict[str, Any], says: str, reasons: tuple[str, ...]) -> None:
    outcome = judge_probe(1_000, record(**facts), series(), OS5)
    assert (outcome.says, outcome.reasons) == (says, reasons)


def test_cpu_is_said_and_decides_only_where_that_is_asked() -> None:
    said = judge_probe(1_000, record(cpu=0.93), series(), OS5)
    assert (said.says, said.remarks) == ("holds", ("cpu<80%: 93 %",))
    gated = judge_probe(1_000, record(cpu=0.93), series(), parse_slo(OSPBENCH, gates_cpu=True))
    assert (gated.says, gated.reasons, gated.remarks) == ("breaks", ("cpu<80%: 93 %",), ())
    assert said.figures is not None and said.figures["cpu_share"] == 0.93


def test_an_engine_that_fails_breaks_and_a_log_that_fails_says_nothing() -> None:
    died = record(status="failed", error={"kind": "EngineError", "cause": "the job process died"})
    assert judge_probe(5, died, None, OS5).says == "breaks"
    lost = record(status="failed", error={"kind": "LogError", "cause": "the publisher lost the log"})
    assert judge_probe(5, lost, None, OS5).says == "nothing"


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=40),
)
def test_medians_by_second_are_those_of_the_expanded_samples(rows: list[tuple[int, int, int]]) -> None:
    table = pa.table({"kind": ["event"] * len(rows), "second": [r[0] for r in rows], "latency_ms": [r[1] for r in rows],
                      "count": [r[2] for r in rows]})  # fmt: skip
    other = table.set_column(0, "kind", pa.array(["due"] * len(rows)))
    seconds, medians = median_by_second(pa.concat_tables([table, other]))
    assert seconds.tolist() == sorted({r[0] for r in rows})
    for second, median in zip(seconds, medians, strict=True):
        sample = np.sort(np.concatenate([[r[1]] * r[2] for r in rows if r[0] == second]))
        assert median == np.quantile(sample, 0.5, method="inverted_cdf")


def test_no_sample_is_no_trend() -> None:
    latency, throughput, *_ = simulated_tables(100, 200)
    found = probe_series(latency.slice(0, 0), throughput, 100, 0)
    assert (found.latency.points, found.latency.significant) == (0, False)


def test_the_queue_counts_what_waited_at_the_start() -> None:
    throughput = pa.table(
        {
            "second": [0, 1, 2, 3],
            "in_events": [10, 10, 10, 0],
            "consumed_events": [8, 10, 10, 7],
            "out_records": [0] * 4,
        }
    )
    found = probe_series(simulated_tables(10, 20)[0], throughput, 10, 0)
    assert found.queue.level == 7.0
    assert found.queue.points == 2, "the second in which the load ended is not whole"


@given(
    capacity=st.integers(500, 50_000),
    share=st.one_of(st.floats(0.05, 0.99), st.floats(1.08, 3.0)),
    batch_s=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    seed=st.integers(0, 5),
)
def test_an_engine_holds_what_it_can_serve_and_nothing_more(
    capacity: int, share: float, batch_s: float, seed: int
) -> None:
    rate = round(capacity * share)
    latency, throughput, p50, drain = simulated_tables(rate, capacity, batch_s, seed=seed)
    outcome = judge_probe(rate, record(p50=p50, drain=drain), probe_series(latency, throughput, rate, batch_s), OS5)
    assert outcome.says == ("holds" if share < 1 else "breaks"), outcome
