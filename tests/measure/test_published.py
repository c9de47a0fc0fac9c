"""Published values: every one names its system, its source and a figure that exists."""

from __future__ import annotations

import re

import pytest

from streamgauge.measure.facets import get_facet
from streamgauge.measure.figures import get_figure
from streamgauge.measure.published import PublishedValue, get_published, published_groups
from streamgauge.model import UserError


@pytest.mark.parametrize("name", published_groups())
def test_every_value_says_whose_it_is_and_where_it_stands(name: str) -> None:
    group = get_published(name)
    assert group.about and group.paper and group.machines and group.values
    for value in group.values:
        assert value.who and value.text
        assert re.fullmatch(r"(SB|QI|OS|MA|LO|BO|DO)( Table [IV\d.]+)?, [A-E] \d+(–\d+)?", value.source), value.source
        assert (value.value is None) == bool(value.words), "a number or words"
        for facet in value.at:
            get_facet(facet)
        if value.value is not None:
            assert value.figure is not None and get_figure(value.figure) and value.unit


def test_numbers_are_shown_in_their_unit_and_drawn_in_ours() -> None:
    trident = PublishedValue("Storm Trident", "QI Table IV, A 692", value=20, unit="s", figure="mean")
    assert (trident.text, trident.in_our_unit) == ("20 s", 20_000.0)
    rate = PublishedValue("Structured Streaming", "OS, C 324", value=115_000, unit="/s", figure="events_per_s")
    assert (rate.text, rate.in_our_unit) == ("115,000/s", 115_000)
    words = PublishedValue("Storm", "SB, A 207", words="less than 20 ms")
    assert (words.text, words.in_our_unit) == ("less than 20 ms", None)
    with pytest.raises(UserError, match="Did you mean 'ospbench-latency'"):
        get_published("ospbench-latencies")
