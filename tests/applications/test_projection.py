"""Projection: one field's text as on the wire."""

from __future__ import annotations

import pytest

from streamgauge.applications import projection
from streamgauge.model import UserError

EVENTS = [
    (0, 0, 1000, "142\tfree  maps\t2006-03-01 07:17:12\t1\thttp://maps.example"),
    (0, 1, 1001, "217\t\t2006-12-31 23:59:59\t\t"),
    (1, 0, 1002, "993\tcafé 東京\t2006-03-02 00:00:00\t12\thttp://a.example"),
]

CASES = [
    ("user_id", ["142", "217", "993"]),
    ("query", ["free  maps", "", "café 東京"]),
    ("query_time", ["2006-03-01 07:17:12", "2006-12-31 23:59:59", "2006-03-02 00:00:00"]),
    ("item_rank", ["1", "", "12"]),
    ("click_url", ["http://maps.example", "", "http://a.example"]),
]


@pytest.mark.spark
@pytest.mark.parametrize(("field", "values"), CASES)
def test_the_stage_takes_the_field_out(search_frame, rows_of, field, values):
    found = rows_of(
        projection.projection(search_frame(EVENTS), field=field), "origin.partition", "origin.offset", "value"
    )
    assert found == [(0, 0, values[0]), (0, 1, values[1]), (1, 0, values[2])]


@pytest.mark.parametrize(("field", "values"), CASES)
def test_the_oracle_reads_it_from_the_payload(search_events, rows_of, field, values):
    expected = projection.field_of_every_line(search_events(EVENTS), field=field).rows
    assert rows_of(expected, "partition", '"offset"', "value") == [
        (0, 0, values[0]),
        (0, 1, values[1]),
        (1, 0, values[2]),
    ]


def test_an_unknown_field_is_refused_before_anything_starts():
    with pytest.raises(UserError, match=r"unknown field of aol-search 'querry'\. Did you mean 'query'") as refused:
        projection.APPLICATION.bind({"field": "querry"})
    for name in ("user_id", "query", "query_time", "item_rank", "click_url"):
        assert name in str(refused.value)
