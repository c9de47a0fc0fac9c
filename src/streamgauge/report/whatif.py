"""A prediction as a table on a console, a chart on a page, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from streamgauge.paradigms.calibration import Calibration
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.whatif import HeldAgainst, LoadPrediction, Prediction
from streamgauge.report.drawing import Figure
from streamgauge.report.markup import Column, Markup, element, joined
from streamgauge.report.markup import table as page_table
from streamgauge.report.page import document, drawn_figures
from streamgauge.report.paradigm_charts import Dot, Signpost, prediction_chart
from streamgauge.report.series import Line
from streamgauge.report.tables import console, plain_table
from streamgauge.report.words import NOTHING, count, milliseconds, per_second

RISES = "rises"
_HEADINGS = ("rate", "data stream", "operation stream", "better", "L_down", "L_switch", "L_up")
_MEASURED = ("rate", "paradigm", "for", "measured p50", "predicted p50", "off by")
_CALIBRATED = ("segment", "PD", "PO", "K", "t_s", "t_ot", "t_dt", "λ")
_SIMULATED = ("engine", "mean of one-second medians", "switches")


@dataclass(frozen=True)
class Answer:
    """Everything that was asked of a calibration."""

    calibration: Calibration
    where: str
    """The run or file that it was read from."""
    predictions: tuple[Prediction, ...]
    crossing_per_s: float | None
    held: tuple[HeldAgainst, ...]
    for_s: float
    load: LoadPrediction | None = None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "schema": 1,
            "application": self.calibration.application,
            "calibration": self.where,
            "segments": [segment.as_dict() for segment in self.calibration.segments],
            "for_s": self.for_s,
            "predictions": [each.as_dict() for each in self.predictions],
            "crossing_per_s": self.crossing_per_s,
            "points": [
                {**each.point.as_dict(), "predicted_p50_ms": each.predicted_ms, "off": each.off} for each in self.held
            ],
            "load": None if self.load is None else self.load.as_dict(),
        }


def rows(answer: Answer) -> list[list[str]]:
    """A row for every rate."""
    return [
        [
            per_second(each.rate_per_s),
            _latency(each.data_ms, each.data_carries),
            _latency(each.operation_ms, each.operation_carries),
            each.better.value,
            *(count(length) for length in (each.l_down, each.l_switch, each.l_up)),
        ]
        for each in answer.predictions
    ]


def measured_rows(answer: Answer) -> list[list[str]]:
    """A row for every measured point."""
    return [
        [
            per_second(each.point.rate_per_s),
            each.point.paradigm.value,
            f"{each.point.for_s:g} s",
            milliseconds(each.point.p50_ms),
            milliseconds(each.predicted_ms),
            f"{100 * each.off:+.0f} %" if np.isfinite(each.off) else NOTHING,
        ]
        for each in answer.held
    ]


def load_rows(load: LoadPrediction) -> list[list[str]]:
    """A row for every engine under a load."""
    found = {
        Paradigm.DATA_STREAM.value: load.data,
        Paradigm.OPERATION_STREAM.value: load.operation,
        "adaptive": load.adaptive,
    }
    return [
        [name, milliseconds(each.mean_s * 1000), str(each.switches) if name == "adaptive" else NOTHING]
        for name, each in found.items()
    ]


def words(answer: Answer) -> str:
    """The answer in one sentence."""
    name = answer.calibration.application
    low, high = answer.predictions[0].rate_per_s, answer.predictions[-1].rate_per_s
    if answer.crossing_per_s is None:
        return f"{name}: the data stream is expected to be faster at every rate from {_span(low, high)}."
    if answer.crossing_per_s <= low:
        return f"{name}: the operation stream is expected to be faster at every rate from {_span(low, high)}."
    return f"{name}: from {per_second(answer.crossing_per_s)} on the operation stream is expected to be faster."


def load_words(load: LoadPrediction) -> str:
    """What a load is expected to come to."""
    switches = load.adaptive.switches
    return (
        f"Under {load.load} for {load.lasting_s:g} s the adaptive mean is {load.ratio:.2f} of the better fixed "
        f"paradigm's, with {switches} switch{'' if switches == 1 else 'es'} (simulated)."
    )


def print_answer(answer: Answer) -> None:
    """The tables on the console, and the answer in a sentence."""
    out = console()
    conditions = f"from {answer.where}; p50 of {answer.for_s:g} s at a constant rate, '{RISES}' where it is not carried"
    out.print(Text(conditions, "dim"))
    out.print(_console_table("Predicted latency and queue lengths", _HEADINGS, rows(answer), {"better"}))
    if answer.held:
        out.print(_console_table("Held against measured points", _MEASURED, measured_rows(answer), {"paradigm"}))
    if answer.load is not None:
        title = f"Simulated: {answer.load.load}"
        out.print(_console_table(title, _SIMULATED, load_rows(answer.load), {"engine"}))
        out.print(Text(load_words(answer.load)))
    out.print(Text(words(answer), "bold"))


def print_calibration(calibration: Calibration, where: str) -> None:
    """What a calibration found: the figures of every segment, and λ of every stage."""
    out = console()
    shown = [
        [
            segment.name,
            per_second(segment.figures.data_per_s),
            per_second(segment.figures.operation_per_s),
            f"{segment.figures.k:.2f}",
            *(
                milliseconds(1000 * seconds)
                for seconds in (
                    segment.figures.schedule_s,
                    segment.figures.operation_transfer_s,
                    segment.figures.data_transfer_s,
                )
            ),
            ", ".join(f"{stage} {value:.3g}" for stage, value in segment.magnifications.items()),
        ]
        for segment in calibration.segments
    ]
    title = f"Calibration of {calibration.application}, {where}"
    out.print(_console_table(title, _CALIBRATED, shown, {"segment", "λ"}))


def answer_page(answer: Answer) -> str:
    """The same with the chart, as a page of its own."""
    parts: list[Markup] = [
        element("h1", f"streamgauge · what if · {answer.calibration.application}"),
        element("p", words(answer), class_="answer"),
        element("p", f"predicted from the calibration {answer.where}", class_="soft"),
        drawn_figures("whatif", [prediction_figure(answer)]),
        _table(_HEADINGS, rows(answer)),
    ]
    if answer.held:
        parts += [element("h2", "Held against measured points"), _table(_MEASURED, measured_rows(answer))]
    if answer.load is not None:
        parts += [element("h2", "A load in simulation"), element("p", load_words(answer.load))]
        parts.append(_table(_SIMULATED, load_rows(answer.load)))
    return document(f"streamgauge · what if · {answer.calibration.application}", joined(parts))


def prediction_figure(answer: Answer) -> Figure:
    """Both paradigms over the rate, with the measured points and the rate at which they cross."""
    rates = np.array([each.rate_per_s for each in answer.predictions])
    lines = [
        (Paradigm.DATA_STREAM.value, Line(rates, np.array([each.data_ms for each in answer.predictions]))),
        (Paradigm.OPERATION_STREAM.value, Line(rates, np.array([each.operation_ms for each in answer.predictions]))),
    ]
    dots = [
        Dot(
            each.point.rate_per_s,
            each.point.p50_ms,
            each.point.paradigm.value,
            f"{milliseconds(each.point.p50_ms)} measured at {per_second(each.point.rate_per_s)}",
        )
        for each in answer.held
    ]
    crossing = answer.crossing_per_s
    inside = crossing is not None and rates[0] < crossing < rates[-1]
    marks = [Signpost(crossing, f"{per_second(crossing)} ")] if crossing is not None and inside else []
    caption = (
        "Median latency at a constant rate, as predicted (lines) and as measured (rings); both axes are logarithmic."
    )
    return Figure("Latency over the rate", caption, prediction_chart(lines, dots, marks))


def _span(low: float, high: float) -> str:
    return f"{per_second(low)} to {per_second(high)}"


def _latency(value_ms: float, carried: bool) -> str:
    return milliseconds(value_ms) if carried else f"{milliseconds(value_ms)}, {RISES}"


def _console_table(title: str, headings: Sequence[str], cells: Sequence[Sequence[str]], left: set[str]) -> Table:
    made = plain_table(title)
    for heading in headings:
        made.add_column(heading, justify="left" if heading in left else "right", overflow="fold")
    for row in cells:
        made.add_row(*map(Text, row))
    return made


def _table(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> Markup:
    columns = [Column(each, "number title" if at == 0 else "number") for at, each in enumerate(headings)]
    return page_table(columns, [("", row) for row in cells], cards=True)
