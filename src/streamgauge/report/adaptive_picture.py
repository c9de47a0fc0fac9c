"""The picture of docs/adaptive.md, simulated and drawn: `python -m streamgauge.report.adaptive_picture > FILE`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

from streamgauge.paradigms.equations import SegmentFigures
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.simulated_segment import EPOCH_S, SegmentWorld
from streamgauge.paradigms.simulation import Simulated, simulate, simulate_adaptive
from streamgauge.report.charts import PALETTE
from streamgauge.report.paradigm_charts import BAND_COLOURS

WIDTH_PX, LEFT_PX, RIGHT_PX = 760, 70, 16
LATENCY_PX, BAND_PX, QUEUE_PX = (34, 214), (226, 244), (276, 396)
"""Top and bottom of the three panels."""
SHOWN_S = (15.0, 45.0)
LOAD = ((20.0, 500.0), (10.0, 80_000.0), (30.0, 500.0))
FIGURES = SegmentFigures(40_000, 150_000, 0.35, 0.05, 0.005)

_STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1d2529; }
  text.soft { fill: #5a666d; }
  .grid { stroke: #dfe3e2; }
  .paper { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6ebec; } text.soft { fill: #a9b6bb; } .grid { stroke: #2d373c; } .paper { fill: #12171a; }
  }
"""
Points = Sequence[tuple[float, float]]


def picture() -> str:
    """One burst at twice the data stream's speed: latency of all three, the scheduler's paradigm, and its queue."""
    world = SegmentWorld("count", FIGURES)
    lasting_s = sum(part[0] for part in LOAD)
    fixed = {paradigm: simulate(_events_by, lasting_s, [world], paradigm=paradigm) for paradigm in Paradigm}
    adaptive = simulate_adaptive(_events_by, lasting_s, [world], keep_ticks=True)
    parts = [_frame(), *_latencies(fixed, adaptive), *_band(adaptive), *_queue(adaptive), *_switches(adaptive)]
    height = QUEUE_PX[1] + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_PX} {height}" role="img" '
        f'aria-label="Latency, paradigm and queue over one burst">\n<style>{_STYLE}</style>\n'
        f'<rect class="paper" width="{WIDTH_PX}" height="{height}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _events_by(at_s: float) -> float:
    edges = np.cumsum([0.0, *(part[0] for part in LOAD)])
    return float(np.interp(at_s, edges, np.cumsum([0.0, *(seconds * rate for seconds, rate in LOAD)])))


def _x(at_s: float) -> float:
    share = (at_s - SHOWN_S[0]) / (SHOWN_S[1] - SHOWN_S[0])
    return LEFT_PX + min(1.0, max(0.0, share)) * (WIDTH_PX - LEFT_PX - RIGHT_PX)


def _logarithmic(panel: tuple[int, int], low: float, high: float) -> Callable[[float], float]:
    def y(value: float) -> float:
        share = np.log10(min(max(value, low), high) / low) / np.log10(high / low)
        return float(panel[1] - share * (panel[1] - panel[0]))

    return y


def _line(points: Points, y: Callable[[float], float], colour: str, dash: str = "") -> str:
    kept = " ".join(f"{_x(at_s):.1f},{y(value):.1f}" for at_s, value in points if SHOWN_S[0] <= at_s <= SHOWN_S[1])
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{kept}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>'


def _words(x: float, y: float, text: str, *, anchor: str = "start", style: str = "", colour: str = "") -> str:
    coloured = f' style="fill:{colour}"' if colour else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{style}"{coloured}>{text}</text>'


def _frame() -> str:
    ticks = [
        _words(_x(at_s), QUEUE_PX[1] + 16, f"{at_s:.0f} s", anchor="middle", style="soft")
        for at_s in np.arange(SHOWN_S[0], SHOWN_S[1] + 1, 5)
    ]
    burst = f'<rect x="{_x(20):.1f}" y="{LATENCY_PX[0]}" width="{_x(30) - _x(20):.1f}" '
    burst += f'height="{QUEUE_PX[1] - LATENCY_PX[0]}" fill="#8a9499" opacity="0.12"/>'
    return "\n".join([burst, _words(_x(20) + 6, LATENCY_PX[0] - 6, "80,000/s on 500/s", style="soft"), *ticks])


def _grid(y: Callable[[float], float], marks: Sequence[tuple[float, str]]) -> list[str]:
    found = []
    for value, text in marks:
        found.append(
            f'<line class="grid" x1="{LEFT_PX}" x2="{WIDTH_PX - RIGHT_PX}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
        )
        found.append(_words(LEFT_PX - 6, y(value) + 4, text, anchor="end", style="soft"))
    return found


def _latencies(fixed: dict[Paradigm, Simulated], adaptive: Simulated) -> list[str]:
    y = _logarithmic(LATENCY_PX, 0.003, 15.0)
    found = _grid(y, [(0.01, "10 ms"), (0.1, "100 ms"), (1.0, "1 s"), (10.0, "10 s")])
    drawn = [(p.value, each, BAND_COLOURS[p.value], "4 3") for p, each in fixed.items()]
    drawn.append(("adaptive", adaptive, PALETTE[3], ""))
    for place, (name, each, colour, dash) in enumerate(drawn):
        found.append(_line([(at + 0.5, value) for at, value in enumerate(each.seconds)], y, colour, dash))
        found.append(_words(LEFT_PX + 330 + 125 * place, LATENCY_PX[0] - 6, name, colour=colour))
    return [_words(4, LATENCY_PX[0] - 6, "latency"), *found]


def _band(adaptive: Simulated) -> list[str]:
    found = [_words(4, BAND_PX[1] - 5, "paradigm")]
    edges = [_x(tick.at_ms / 1000 - EPOCH_S) for tick in adaptive.ticks]
    kinds = ["switching" if tick.switching else tick.paradigm for tick in adaptive.ticks]
    starts = [0, *(place for place in range(1, len(kinds)) if kinds[place] != kinds[place - 1])]
    for first, last in zip(starts, [*starts[1:], len(kinds) - 1], strict=True):
        found.append(
            f'<rect x="{edges[first]:.1f}" y="{BAND_PX[0]}" width="{edges[last] - edges[first]:.1f}" '
            f'height="{BAND_PX[1] - BAND_PX[0]}" fill="{BAND_COLOURS[kinds[first]]}"/>'
        )
    return found


def _queue(adaptive: Simulated) -> list[str]:
    y = _logarithmic(QUEUE_PX, 100.0, 400_000.0)
    at = [tick.at_ms / 1000 - EPOCH_S for tick in adaptive.ticks]
    found = _grid(y, [(1e3, "1,000"), (1e4, "10,000"), (1e5, "100,000")])
    lines = (
        ("L", "queue", PALETTE[3], ""),
        ("L_up", "l_up", PALETTE[1], "6 3"),
        ("L_down", "l_down", PALETTE[2], "2 3"),
    )
    for place, (name, member, colour, dash) in enumerate(lines):
        values = [getattr(tick, member) for tick in adaptive.ticks]
        found.append(_line(list(zip(at, values, strict=True)), y, colour, dash))
        found.append(_words(LEFT_PX + 330 + 125 * place, QUEUE_PX[0] - 8, name, colour=colour))
    return [_words(4, QUEUE_PX[0] - 8, "queue"), *found]


def _switches(adaptive: Simulated) -> list[str]:
    return [
        f'<line x1="{_x(at_s):.1f}" x2="{_x(at_s):.1f}" y1="{LATENCY_PX[0]}" y2="{QUEUE_PX[1]}" '
        'stroke="#888" stroke-dasharray="2 3"/>'
        for at_s, _, _ in adaptive.switched_at_s
    ]


if __name__ == "__main__":
    sys.stdout.write(picture())
