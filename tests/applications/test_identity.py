"""Identity: lines through unchanged, whatever is in them."""

from __future__ import annotations

import pytest

from streamgauge.applications import identity

EVENTS = [
    (0, 0, 1000, "142\tfree maps\t2006-03-01 07:17:12\t1\thttp://maps.example"),
    (1, 0, 1001, "217\t\t2006-03-01 11:58:51\t\t"),
    (1, 1, 1002, "993\tcafé 東京\t2006-03-02 23:59:59\t\t"),
]


@pytest.mark.spark
def test_every_line_goes_through_with_its_origin(search_frame, rows_of):
    assert rows_of(identity.identity(search_frame(EVENTS)), "line", "origin") == [
        ("142\tfree maps\t2006-03-01 07:17:12\t1\thttp://maps.example", (1000, 0, 0, 0)),
        ("217\t\t2006-03-01 11:58:51\t\t", (1001, 1, 0, 0)),
        ("993\tcafé 東京\t2006-03-02 23:59:59\t\t", (1002, 1, 1, 0)),
    ]


def test_the_oracle_expects_every_line_once(search_events, rows_of):
    assert rows_of(identity.every_line(search_events(EVENTS)).rows, "partition", '"offset"', "line") == [
        (0, 0, "142\tfree maps\t2006-03-01 07:17:12\t1\thttp://maps.example"),
        (1, 0, "217\t\t2006-03-01 11:58:51\t\t"),
        (1, 1, "993\tcafé 東京\t2006-03-02 23:59:59\t\t"),
    ]
