"""What is known of a run that is under way, from the lines that it tells: bounded, and as its page shows it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamgauge.report import live_charts

PHASES = ("preparing", "warming up", "measuring", "draining", "verifying")
MOST_POINTS = 1_200
"""Of the trial under way: ten minutes as they come, then every second one, and so on."""
MOST_OF_A_FINISHED = 120
MOST_SENT = 600
"""Points of a trial that a page is given when it is opened."""
MOST_SENT_OF_OTHERS = 2_400
"""Of all trials before it together."""
MOST_EVENTS = 500
MOST_MARKS = 200

Message = dict[str, Any]


@dataclass
class FollowedTrial:
    """One trial as far as it has come."""

    number: int
    facts: Message
    began_ms: int | None = None
    points: list[Message] = field(default_factory=list)
    faults: dict[int, Message] = field(default_factory=dict)
    phases: list[tuple[float, str]] = field(default_factory=list)
    bands: dict[str, str] = field(default_factory=dict)
    """Segment → the paradigm that it runs in now."""
    marks: Message | None = None
    paradigms: Message | None = None
    outcome: Message | None = None

    def since_s(self, at_ms: float) -> float:
        """An instant on the axis of the trial's charts."""
        return round((at_ms - (at_ms if self.began_ms is None else self.began_ms)) / 1000, 2)


class Followed:
    """Takes the lines of a run and gives messages for its page; not safe for several threads."""

    def __init__(self) -> None:
        self.plan: Message | None = None
        self.trials: dict[int, FollowedTrial] = {}
        self.events: deque[Message] = deque(maxlen=MOST_EVENTS)
        self.number = 0
        """Of the newest line."""
        self.status: str | None = None
        """How the run ended, once it has said so."""

    def take(self, line: Mapping[str, Any]) -> list[Message]:
        """What a page is told of a line; nothing of a kind that nobody knows."""
        self.number = line["n"]
        say = getattr(self, f"_take_{line['what']}", None)
        try:
            return [{**message, "n": line["n"]} for message in say(line)] if say is not None else []
        except (KeyError, TypeError, ValueError, AttributeError):
            # Written by another version, or damaged: what can be shown is shown.
            return []

    def snapshot(self, after: int = 0) -> list[Message]:
        """What a page that knows all up to line `after` must be told to know all: few points, the newest last."""
        found: list[Message] = []
        if self.plan is not None:
            found.append(self.plan)
        current = max(self.trials, default=0)
        each_of_others = max(10, MOST_SENT_OF_OTHERS // max(1, len(self.trials) - 1))
        for number, trial in sorted(self.trials.items()):
            found.append(trial.facts)
            found += [told for told in (trial.paradigms, trial.marks, trial.outcome) if told is not None]
            newer = [point for point in trial.points if point["n"] > after]
            found += decimated(newer, MOST_SENT if number == current else each_of_others)
        found += [event for event in self.events if event["n"] > after]
        return found

    def _trial(self, number: int) -> FollowedTrial:
        facts = {"what": "trial", "trial": number, "title": f"trial {number}", "n": self.number}
        return self.trials.setdefault(number, FollowedTrial(number, facts))

    def _take_plan(self, line: Mapping[str, Any]) -> list[Message]:
        self.plan = {"what": "plan", "trials": [_facts(each) for each in line["trials"]], "n": line["n"]}
        return [self.plan]

    def _take_trial(self, line: Mapping[str, Any]) -> list[Message]:
        for number, other in self.trials.items():
            if number != line["trial"]:
                other.points = decimated(other.points, MOST_OF_A_FINISHED)
        trial = self._trial(int(line["trial"]))
        trial.facts = {"what": "trial", **_facts(line), "n": line["n"]}
        trial.began_ms = int(line["said_ms"])
        return [trial.facts]

    def _take_sample(self, line: Mapping[str, Any]) -> list[Message]:
        trial = self._trial(int(line["trial"]))
        point = {
            "what": "sample",
            "trial": trial.number,
            "t": trial.since_s(line["said_ms"]),
            "phase": str(line["phase"]),
            "share": _share(line.get("done"), line.get("total")),
            "done": line.get("done"),
            "total": line.get("total"),
            "watched": bool(line.get("watched")),
            "v": live_charts.values(line),
            "n": line["n"],
        }
        if trial.bands:
            point["bands"] = dict(trial.bands)
        trial.points.append(point)
        if len(trial.points) > MOST_POINTS:
            trial.points = decimated(trial.points, MOST_POINTS // 2)
        return [point]

    def _take_event(self, line: Mapping[str, Any]) -> list[Message]:
        number = line.get("trial")
        trial = None if number is None else self._trial(int(number))
        at_s = None if trial is None else trial.since_s(line.get("at_ms") or line["said_ms"])
        event = {"what": "event", "trial": number, "t": at_s, "said_ms": line["said_ms"]}
        event |= {"kind": str(line["kind"]), "text": str(line["text"]), "n": line["n"]}
        self.events.append(event)
        found: list[Message] = [event]
        if trial is not None and line["kind"] == "phase" and at_s is not None:
            trial.phases = [*trial.phases, (at_s, str(line["text"]))][-MOST_MARKS:]
            found.append(self._marked(trial))
        return found

    def _take_fault(self, line: Mapping[str, Any]) -> list[Message]:
        trial = self._trial(int(line["trial"]))
        if len(trial.faults) < MOST_MARKS:
            trial.faults[int(line["fault"])] = dict(line)
        return [self._marked(trial)]

    def _take_band(self, line: Mapping[str, Any]) -> list[Message]:
        trial = self._trial(int(line["trial"]))
        new = line["segment"] not in trial.bands
        trial.bands[str(line["segment"])] = str(line["paradigm"])
        if not new:
            return []
        figure = live_charts.paradigm_figure(list(trial.bands))
        trial.paradigms = {"what": "paradigms", "trial": trial.number, "figure": figure.figure, "n": line["n"]}
        trial.paradigms |= {"heading": figure.heading, "caption": figure.caption}
        return [trial.paradigms]

    def _take_outcome(self, line: Mapping[str, Any]) -> list[Message]:
        trial = self._trial(int(line["trial"]))
        trial.outcome = {name: line[name] for name in ("what", "trial", "text", "good", "n")}
        event = {"what": "event", "trial": trial.number, "t": trial.since_s(line["said_ms"]), "kind": "outcome"}
        event |= {"text": str(line["text"]), "said_ms": line["said_ms"], "n": line["n"]}
        self.events.append(event)
        return [trial.outcome, event]

    def _take_end(self, line: Mapping[str, Any]) -> list[Message]:
        self.status = str(line["status"])
        return []

    def _marked(self, trial: FollowedTrial) -> Message:
        engine = str(trial.facts.get("engine", ""))
        drawn = live_charts.marked(list(trial.faults.values()), trial.phases, trial.began_ms or 0, engine)
        trial.marks = {"what": "marks", "trial": trial.number, **drawn, "n": self.number}
        return trial.marks


def decimated(points: list[Message], most: int) -> list[Message]:
    """At most so many points in order: of each stretch the one with the largest p99, and always the last."""
    if len(points) <= most:
        return points
    width = -(-len(points) // most)
    found = [max(points[at : at + width], key=_peak) for at in range(0, len(points), width)]
    found[-1] = points[-1]
    return found


def _peak(point: Message) -> float:
    value = point["v"].get("p99")
    return -1.0 if value is None else float(value)


def _share(done: Any, total: Any) -> float | None:
    """How much of a phase is done; None where nobody knows."""
    if not isinstance(done, int | float) or not isinstance(total, int | float) or total <= 0:
        return None
    return round(min(1.0, max(0.0, done / total)), 3)


def _facts(line: Mapping[str, Any]) -> Message:
    names = ("trial", "title", "application", "engine", "load", "details", "faults")
    return {name: line[name] for name in names if name in line}
