"""Charts of a run under way: every line has its field, every field its line, marks come from the one drawing code."""

from __future__ import annotations

import json
from typing import Any

from streamgauge.report.charts import PALETTE
from streamgauge.report.live_charts import figures, marked, paradigm_figure, values
from streamgauge.report.load_chart import load_chart
from streamgauge.report.series import Mark

SAMPLE: dict[str, Any] = {
    **{"in_per_s": 500.0, "consumed_per_s": 490.0, "out_per_s": None, "backlog": 12, "p50_ms": 0, "p99_ms": 31},
    **{"late_ms": 0.4, "use": {"job": [1.25, 256 << 20, None], "broker": [0.5, 64 << 20, 1 << 20]}},
}


def test_every_line_has_a_field_and_every_field_a_line() -> None:
    fields = [trace["meta"]["field"] for each in figures().values() for trace in each.figure["data"]]
    assert sorted(fields) == sorted(values(SAMPLE))
    assert len(set(fields)) == len(fields)
    assert all(not trace["x"] and not trace["y"] for each in figures().values() for trace in each.figure["data"])
    json.dumps({name: each.figure for name, each in figures().items()}, allow_nan=False)


def test_values_are_in_the_units_of_their_axes_and_what_is_unknown_breaks_the_line() -> None:
    found = values(SAMPLE)
    assert (found["p50"], found["p99"]) == (0.5, 31), "a logarithmic axis has no zero"
    assert (found["rss-job"], found["heap-job"], found["cpu-job"]) == (256.0, None, 1.25)
    assert (found["out"], found["rss-publisher"]) == (None, None)
    assert set(values({}).values()) == {None}
    assert values({"backlog": True, "in_per_s": "<b>"})["in"] is None


def test_latency_finds_its_own_range() -> None:
    axis = figures()["latency"].figure["layout"]["yaxis"]
    assert axis["type"] == "log" and axis["autorange"] and "range" not in axis


def test_faults_are_dotted_until_they_come_and_named_when_they_have() -> None:
    planned = {"label": "kill driver", "planned_at_ms": 6_000, "at_ms": None, "problem": None}
    came = {**planned, "at_ms": 6_100, "until_ms": 9_000}
    failed = {**planned, "problem": "there was none"}
    assert [each["name"] for each in marked([planned], [], 1_000, "x")["shapes"]] == ["planned"]
    assert marked([planned], [], 1_000, "x")["shapes"][0]["x0"] == 5.0
    drawn = marked([came], [(2.0, "measuring")], 1_000, "spark-realtime")
    assert [(each.get("name"), each["x0"]) for each in drawn["shapes"]] == [(None, 5.1), ("fault", 5.1), ("phase", 2.0)]
    assert [each["text"] for each in drawn["annotations"]] == ["kill driver", "measuring"]
    assert marked([failed], [], 1_000, "x")["shapes"] == []


def test_a_segment_has_a_line_for_each_paradigm_and_the_legend_each_once() -> None:
    drawn = paradigm_figure(["split", "<count>"]).figure
    assert len(drawn["data"]) == 6 and sum(each["showlegend"] for each in drawn["data"]) == 3
    assert drawn["data"][3]["meta"] == {"segment": "<count>", "row": "&lt;count&gt;", "paradigm": "operation stream"}
    assert drawn["layout"]["yaxis"]["categoryarray"] == ["&lt;count&gt;", "split"]


def test_the_load_is_stepped_with_its_warm_up_and_faults() -> None:
    drawn = load_chart([-10.0, 0.0, 5.0, 10.0], [100.0, 100.0, 900.0], [Mark(5.0, 7.0, "suspend broker", "fault")])
    (line,) = drawn["data"]
    assert line["line"] == {"color": PALETTE[0], "width": 2, "shape": "hv"}
    assert (line["x"], line["y"]) == ([-10, 0, 5, 10], [100, 100, 900, 900])
    assert [each.get("name") for each in drawn["layout"]["shapes"]] == ["the warm-up", None, "fault"]
    assert load_chart([0.0, 1.0], [5.0], [])["layout"]["shapes"] == []
