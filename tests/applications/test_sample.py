"""Sample: the choice is the MD5 of the place in the log, whose digits are written out here."""

from __future__ import annotations

import pytest

from streamgauge.applications import sample
from streamgauge.model import UserError

LINE = "142\tfree maps\t2006-03-01 07:17:12\t\t"
EVENTS = [
    (0, 0, 1000, LINE),  # md5 of 0:0 begins with 3eac1f3c, a share of 0.24481
    (0, 1, 1001, LINE),  # 81c99680, 0.50698
    (0, 2, 1002, LINE),  # d04d9344, 0.81368
    (1, 0, 1003, LINE),  # 81b206a8, 0.50662
    (1, 1, 1004, LINE),  # d0bd571d, 0.81539
]
FIRST_SHARE = 0x3EAC1F3C / 2**32

CASES = [
    (0.1, []),
    (0.5, [(0, 0)]),
    (0.5068, [(0, 0), (1, 0)]),
    (0.814, [(0, 0), (0, 1), (0, 2), (1, 0)]),
    (1.0, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]),
    (FIRST_SHARE, []),
    (FIRST_SHARE + 2**-33, [(0, 0)]),
]


@pytest.mark.spark
@pytest.mark.parametrize(("probability", "places"), CASES)
def test_the_stage_keeps_the_places_below_the_probability(search_frame, rows_of, probability, places):
    found = sample.sample(search_frame(EVENTS), probability=probability)
    assert rows_of(found, "origin.partition", "origin.offset") == places
    assert set(found.columns) == {"line", "origin"}


@pytest.mark.parametrize(("probability", "places"), CASES)
def test_the_oracle_expects_the_same_places(search_events, rows_of, probability, places):
    expected = sample.sampled_lines(search_events(EVENTS), probability=probability).rows
    assert rows_of(expected, "partition", '"offset"') == places
    assert all(line == LINE for (line,) in rows_of(expected, "line"))


def test_the_share_of_a_large_sample_is_the_probability(literal_events):
    rows = literal_events.sql(
        "select (i % 4)::int as partition, (i // 4)::bigint as \"offset\", '' as raw from range(40000) t(i)"
    )
    rows.create("searches")
    found = sample.sampled_lines(literal_events, probability=0.1).rows
    assert 3_800 < len(found) < 4_200  # six standard deviations are 360


@pytest.mark.parametrize("text", ["0", "-0.1", "1.01", "nan"])
def test_a_probability_outside_its_range_is_refused(text):
    with pytest.raises(UserError, match=r"not above 0 and at most 1\. Write it like 0\.1"):
        sample.APPLICATION.bind({"probability": text})


def test_a_probability_that_is_no_number_is_refused():
    with pytest.raises(UserError, match="parameter 'probability' takes float, not 'half'"):
        sample.APPLICATION.bind({"probability": "half"})
