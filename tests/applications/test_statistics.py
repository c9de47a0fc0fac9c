"""Statistics: running figures of one numeric field."""

from __future__ import annotations

import pytest

from streamgauge.applications import statistics
from streamgauge.model import UserError

FLOWS = [
    # partition, offset, append_ms, packet_size, packet_share_percent, first_packet_ns
    (0, 0, 1000, 40, 0.5, 1_379_595_600_000_000_001),
    (0, 1, 1003, 1500, None, 1_379_595_600_000_000_002),
    (1, 0, 1001, None, 2.25, 1_379_595_600_000_000_003),
    (1, 1, 1002, 60, 0.25, 1_379_595_600_000_000_004),
    (1, 2, 1004, 40, 0.0, 1_379_595_600_000_000_005),
    (1, 3, 1005, 40, 0.0, 1_379_595_600_000_000_006),
    (1, 4, 1006, 40, 0.0, 1_379_595_600_000_000_007),
]

CASES = [
    ("packet_size", (6, 1500, 40, 1720.0, 1720 / 6)),
    ("packet_share_percent", (6, 2.25, 0.0, 3.0, 0.5)),
    (
        "first_packet_ns",
        (7, 1_379_595_600_000_000_007, 1_379_595_600_000_000_001, 7 * 1.3795956e18, 1_379_595_600_000_000_004.0),
    ),
]


@pytest.fixture
def flow_frame(spark, origin_type):
    rows = [(size, share, first, (ms, p, o, 0)) for p, o, ms, size, share, first in FLOWS]
    columns = "packet_size bigint, packet_share_percent double, first_packet_ns bigint"
    return spark.createDataFrame(rows, f"{columns}, {origin_type}")


@pytest.fixture
def flow_events(literal_events):
    rows = [(p, o, ms, "", size, share, first) for p, o, ms, size, share, first in FLOWS]
    literal_events.add("flows", "packet_size bigint, packet_share_percent double, first_packet_ns bigint", rows)
    return literal_events


FIGURES = ("field", "seen", "maximum", "minimum", "total", "average")


@pytest.mark.spark
@pytest.mark.parametrize(("field", "figures"), CASES)
def test_the_stages_give_the_figures(flow_frame, rows_of, field, figures):
    found = statistics.summarise(statistics.extract(flow_frame, field=field))
    [(name, *values)] = rows_of(found, *FIGURES)
    assert name == field
    assert values == pytest.approx(list(figures), rel=1e-15)


@pytest.mark.spark
def test_the_stages_carry_the_latest_origin_that_has_the_field(flow_frame, rows_of):
    found = statistics.summarise(statistics.extract(flow_frame.filter("origin.append_ms <= 1003"), field="packet_size"))
    assert rows_of(found, "origin") == [((1003, 0, 1, 0),)]
    found = statistics.summarise(
        statistics.extract(flow_frame.filter("origin.append_ms in (1000, 1003)"), field="packet_share_percent")
    )
    assert rows_of(found, "origin") == [((1000, 0, 0, 0),)]


@pytest.mark.parametrize(("field", "figures"), CASES)
def test_the_oracle_expects_the_figures(flow_events, rows_of, field, figures):
    [(name, *values)] = rows_of(statistics.figures(flow_events, field=field).rows, *FIGURES)
    assert name == field
    assert values == pytest.approx(list(figures), rel=1e-15)


def test_every_event_with_the_field_touches_the_figures(flow_events, rows_of):
    touches = statistics.figures(flow_events, field="packet_size").touches
    assert rows_of(touches, "partition", '"offset"', "field") == [
        (0, 0, "packet_size"),
        (0, 1, "packet_size"),
        (1, 1, "packet_size"),
        (1, 2, "packet_size"),
        (1, 3, "packet_size"),
        (1, 4, "packet_size"),
    ]


@pytest.mark.spark
def test_extract_leaves_out_events_without_the_field(flow_frame, rows_of):
    found = statistics.extract(flow_frame.filter("origin.append_ms < 1002"), field="packet_size")
    assert rows_of(found, "field", "value", "origin") == [("packet_size", 40, (1000, 0, 0, 0))]


def test_the_oracle_of_extract_does_too(flow_events, rows_of):
    found = statistics.field_of_every_event(flow_events, field="packet_share_percent").rows
    assert rows_of(found, "partition", '"offset"', "value") == [
        (0, 0, 0.5),
        (1, 0, 2.25),
        (1, 1, 0.25),
        (1, 2, 0.0),
        (1, 3, 0.0),
        (1, 4, 0.0),
    ]


def test_an_unknown_field_is_refused_before_anything_starts():
    with pytest.raises(UserError, match=r"unknown field of packet-flows 'packet_sice'\. Did you mean 'packet_size'"):
        statistics.APPLICATION.bind({"field": "packet_sice"})
