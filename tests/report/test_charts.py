"""Figures: valid for Plotly, one colour per engine, readable colours."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import plotly.graph_objects as go

from streamgauge.measure.repeats import groups
from streamgauge.report import charts, drawing
from streamgauge.report.drawing import DrawnTrial
from streamgauge.report.series import Line
from tests.report.sample_run import record, tables, trials


def drawn() -> list[DrawnTrial]:
    """The sample run's trials with their tables."""
    return [DrawnTrial(r, t) for r, t in trials()]


def colours() -> dict[str, str]:
    """The sample run's engines with their colours."""
    return charts.engine_colours(t.record["engine"] for t in drawn())


def test_every_figure_is_one_that_plotly_accepts() -> None:
    found = [f for s in drawing.sections(drawn()) for f in drawing.section_figures(s, colours())]
    found += drawing.overview(groups([t.record for t in drawn()]), colours(), 1.4)
    preloaded = {**record("identity", "spark-realtime"), "load": "preloaded"}
    found += drawing.overview(groups([preloaded]), colours(), None)
    assert len(found) == 4 * 5 + 2
    for each in found:
        assert go.Figure(each.figure).data


def test_an_engine_keeps_its_colour_in_every_chart() -> None:
    section = drawing.sections(drawn())[0]
    for each in drawing.section_figures(section, colours()):
        for trace in each.figure["data"]:
            engine = trace["name"].split(" ")[0]
            assert trace["line"]["color"] == colours()[engine]


def test_colours_do_not_depend_on_who_else_is_there_and_differ() -> None:
    alone = charts.engine_colours(["spark-realtime"])
    many = charts.engine_colours(["mine", "spark-realtime", "flink", "spark-microbatch"])
    assert alone["spark-realtime"] == many["spark-realtime"]
    assert len(set(many.values())) == 4


def test_engines_may_be_named_one_after_another() -> None:
    named = ["flink", "spark-realtime", "mine"]
    assert charts.engine_colours(iter(named)) == charts.engine_colours(named) and len(charts.engine_colours(named)) == 3


def test_colours_are_readable_on_both_backgrounds() -> None:
    style = files("streamgauge.report").joinpath("page.css").read_text("utf-8")
    backgrounds = re.findall(r"--card: (#[0-9a-f]{6})", style)
    assert len(backgrounds) == 2
    for background in backgrounds:
        for colour in charts.PALETTE:
            assert contrast(colour, background) >= 3, (colour, background)


def contrast(one: str, other: str) -> float:
    """The contrast ratio as the web's accessibility guidelines define it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_no_chart_has_more_points_than_a_screen_shows() -> None:
    for section in drawing.sections(drawn()):
        for each in drawing.section_figures(section, colours()):
            assert all(len(trace["x"]) <= 601 for trace in each.figure["data"])


def test_zero_milliseconds_are_drawn_on_a_logarithmic_axis_and_told_as_zero() -> None:
    line = Line(np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    figure = charts.latency_chart([charts.Trace("a", "a p50", line)], {"a": "#000000"})
    assert figure["data"][0]["y"] == [0.5, 4]
    assert figure["data"][0]["customdata"] == [0, 4]


def test_trials_that_were_not_measured_have_no_section_and_a_missing_table_no_chart() -> None:
    titles = [s.title for s in drawing.sections(drawn())]
    assert titles == ["wordcount", "grep", "projection", "statistics"]
    bare = DrawnTrial(record("grep", "spark-realtime"), {"throughput": tables("spark-realtime", 1)["throughput"]})
    section = drawing.sections([bare])[0]
    assert [f.heading for f in drawing.section_figures(section, colours())] == ["Throughput over time"]


def test_different_loads_are_different_sections_and_rows() -> None:
    two = [{**record("grep", "spark-realtime"), "load": load} for load in ("constant:500/s", "ramp:1/s-9/s")]
    assert [s.title for s in drawing.sections([DrawnTrial(r) for r in two])] == [
        "grep · constant:500/s",
        "grep · ramp:1/s-9/s",
    ]
    rows = drawing.overview(groups(two), colours(), None)[0].figure["layout"]["yaxis"]["categoryarray"]
    assert len(set(rows)) == 2


def test_a_linear_axis_of_milliseconds_has_few_round_steps_and_tells_seconds() -> None:
    assert charts.duration_axis([14_800, 300])["ticktext"][:4] == ["0 ms", "5 s", "10 s", "15 s"]
    assert charts.duration_axis([700.0])["ticktext"][:3] == ["0 ms", "200 ms", "400 ms"]
    assert charts.duration_axis([1500])["ticktext"][1:5] == ["500 ms", "1 s", "1.5 s", "2 s"]
    for highest in (0.04, 1, 61, 999_999, 2e8):
        axis = charts.duration_axis([highest])
        assert sum(v <= highest for v in axis["tickvals"]) in range(2, 9)
        assert max(axis["tickvals"]) >= highest
    assert charts.duration_axis([])["tickvals"]
