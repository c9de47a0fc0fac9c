"""Thresholds: spelling, values and outcomes."""

import pytest

from streamgauge.measure.thresholds import check, parse_threshold
from streamgauge.model import UserError

RECORD = {
    "latency_ms": {"n": 500, "mean": 8.0, "p50": 6, "p95": 20, "p99": None, "p99.9": None, "max": 90},
    "output_latency_ms": {"n": 5000, "p99": 33},
    "due_latency_ms": None,
    "throughput": {"events_per_s": 9_999.5, "drain_s": 0.4},
    "publisher": {"lateness_ms": {"n": 500, "p99": 4}},
    "resources": {"job": {"cpu_share": 0.8}},
    "verdict": {"lost": 0, "duplicated": 2},
}


@pytest.mark.parametrize(
    ("text", "figure", "op", "value"),
    [
        ("p99<500ms", "p99", "<", 500),
        ("p95<=1s", "p95", "<=", 1000),
        ("p99.9 < 2min", "p99.9", "<", 120_000),
        ("p50<7", "p50", "<", 7),
        ("events_per_s>=10000", "events_per_s", ">=", 10_000),
        ("p5_events_per_s>10k/s", "p5_events_per_s", ">", 10_000),
        ("mb_per_s>1.5", "mb_per_s", ">", 1.5),
        ("cpu<80%", "cpu", "<", 80),
        ("rss_bytes_max<1.5GB", "rss_bytes_max", "<", 1.5e9),
        ("heap_used_bytes_max<=1GiB", "heap_used_bytes_max", "<=", 2**30),
        ("rx_bytes_per_s<20MB/s", "rx_bytes_per_s", "<", 2e7),
        ("gc_ms<1s", "gc_ms", "<", 1000),
        ("output.p99<40ms", "output.p99", "<", 40),
        ("lateness.p99<5ms", "lateness.p99", "<", 5),
        ("drain<2s", "drain", "<", 2),
        ("lost==0", "lost", "==", 0),
    ],
)
def test_spellings(text, figure, op, value) -> None:
    found = parse_threshold(text)
    assert (found.text, found.figure, found.op) == (text, figure, op)
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p98<500ms", "Did you mean 'p9"),
        ("p99", "is not a threshold"),
        ("p99=5ms", "is not a threshold"),
        ("p99<fast", "Write the value like 500ms"),
        ("events_per_s>many", "Write the value like 10k"),
        ("cpu<high%", "'high%' is not a number"),
        ("rss_bytes_max<much", "Write the value like 1.5GB"),
        ("lost==some", "Write the value like 0"),
    ],
)
def test_mistakes_are_one_line_with_a_way_out(text, said) -> None:
    with pytest.raises(UserError) as caught:
        parse_threshold(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "ok", "seen"),
    [
        ("p95<20ms", False, 20),
        ("p95<=20ms", True, 20),
        ("event.p50<7ms", True, 6),
        ("output.p99<33ms", False, 33),
        ("lateness.p99<5ms", True, 4),
        ("events_per_s>=10000", False, 9_999.5),
        ("cpu<80%", False, 80),
        ("cpu<=80%", True, 80),
        ("drain<1s", True, 0.4),
        ("lost==0", True, 0),
        ("duplicated==0", False, 2),
    ],
)
def test_outcomes(text, ok, seen) -> None:
    found = check(parse_threshold(text), RECORD)
    assert found.ok is ok
    assert found.seen == pytest.approx(seen)
    assert found.text.startswith(("✓ " if ok else "✗ ") + text)


def test_a_figure_that_the_sample_does_not_carry_breaks_the_threshold() -> None:
    found = check(parse_threshold("p99<500ms"), RECORD)
    assert (found.ok, found.seen) == (False, None)
    assert found.text == "✗ p99<500ms: a sample of 500 does not carry p99"


def test_a_trial_without_the_figure_breaks_the_threshold() -> None:
    assert check(parse_threshold("due.p99<5ms"), RECORD).text.endswith("the trial has no such figure")
    assert not check(parse_threshold("lost==0"), {"verdict": None}).ok
