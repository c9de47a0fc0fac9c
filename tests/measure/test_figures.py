"""The registry of figures: names, where they are found, which way is better."""

import pytest

from streamgauge.measure.figures import FIGURES, get_figure
from streamgauge.model import UserError
from tests.report.sample_run import record

RECORD = record("wordcount", "spark-microbatch")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("p50", RECORD["latency_ms"]["p50"]),
        ("event.p50", RECORD["latency_ms"]["p50"]),
        ("output.p50", RECORD["output_latency_ms"]["p50"]),
        ("p99.999", None),
        ("events_per_s", 500.6),
        ("drain", 0.6),
        ("cpu", 45.5),
        ("rss_bytes_max", 943718400),
        ("gc_ms", 160),
        ("heap_used_bytes_min", None),
        ("lost", 0),
    ],
)
def test_a_figure_is_found_in_its_unit(name, value) -> None:
    assert get_figure(name).value(RECORD) == (None if value is None else pytest.approx(value))


def test_a_record_without_figures_has_none_of_them() -> None:
    failed = record("grep", "spark-realtime", status="failed", error={"cause": "died"})
    assert [name for name, figure in FIGURES.items() if figure.value(failed) is not None] == []


def test_an_unknown_figure_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"unknown figure 'event_per_s'\. Did you mean 'events_per_s'\?"):
        get_figure("event_per_s")


def test_which_way_is_better_and_how_that_is_said() -> None:
    assert (get_figure("p99").better, get_figure("p99").words) == ("less", ("faster", "slower"))
    assert (get_figure("mb_per_s").better, get_figure("mb_per_s").words) == ("more", ("faster", "slower"))
    assert (get_figure("cpu").better, get_figure("cpu").words) == ("less", ("less", "more"))
    assert get_figure("duplicated").better is None


def test_only_what_a_resample_can_tell_is_taken_from_seconds() -> None:
    assert get_figure("output.p99").counted == ("output", "p99")
    assert get_figure("mean").counted == ("event", "mean")
    assert get_figure("max").counted is None
    assert get_figure("cpu").counted is None
